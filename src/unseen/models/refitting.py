"""A scikit-learn pipeline as a recipe: the same steps and settings, fitted anew."""

from __future__ import annotations

from pathlib import Path

from unseen.errors import InputError
from unseen.models.scikit_learn import PipelineClassifier, open_scikit_learn
from unseen.store import sha256_of
from unseen.training.examples import training_examples
from unseen.types import Dataset


class PipelineRecipe:
    """Fit a copy of the pipeline in a file; what it was fitted on before is forgotten.

    `trust` as for opening it. Every `random_state` in the pipeline is set to the seed. The validation part
    is not used.
    """

    has_space = False

    def __init__(self, file: str | Path, *, trust: bool = False) -> None:
        self.file = Path(file).name
        self._pipeline = open_scikit_learn(str(file), trust=trust).model
        self.sha256 = sha256_of(file)

    def fit(self, train: Dataset, dev: Dataset, seed: int) -> PipelineClassifier:
        """The pipeline, fitted on the training texts and their labels by name."""
        from sklearn.base import clone

        examples, _ = training_examples(train, dev)
        model = clone(self._pipeline)
        chance = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
        model.set_params(**dict.fromkeys(chance, seed))
        try:
            model.fit(examples.texts, [train.label_names[code] for code in examples.labels])
        except Exception as cause:  # whatever a pipeline of the user's may raise
            raise InputError(f"{self.file} cannot be fitted: {type(cause).__name__}: {cause}") from cause
        return PipelineClassifier(model, None, self.file)
