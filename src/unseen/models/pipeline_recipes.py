"""A scikit-learn pipeline as a recipe: the same steps and settings, fitted anew on texts."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.models.scikit_learn import PipelineClassifier, open_scikit_learn
from unseen.store import sha256_of
from unseen.training.labelled_texts import training_texts
from unseen.types import Dataset


class PipelineRecipe:
    """Fit a copy of a pipeline, from texts to labels; what it was fitted on before is forgotten.

    It has `fit(texts, labels)`, `classes_` after it, and `predict_proba` or `predict`; scikit-learn's estimators have.
    Every `random_state` in it is set to the seed. The validation part is not used.
    """

    has_space = False

    def __init__(self, pipeline: Any, name: str | None = None) -> None:
        self.file = name or type(pipeline).__name__
        self._pipeline = pipeline
        self.content = content_of_object(pipeline, self.file)

    def fit(self, train: Dataset, dev: Dataset, seed: int) -> PipelineClassifier:
        """The pipeline, fitted on the training texts and their labels by name."""
        texts, _ = training_texts(train, dev)
        model = _copy(self._pipeline, seed)
        try:
            model.fit(texts.texts, [train.label_names[code] for code in texts.labels])
        except Exception as cause:  # whatever a pipeline of the user's may raise
            raise InputError(f"{self.file} cannot be fitted: {type(cause).__name__}: {cause}") from cause
        return PipelineClassifier(model, None, self.file)


class PipelineFileRecipe(PipelineRecipe):
    """Fit a copy of the pipeline in a file; `trust` as for opening it."""

    def __init__(self, file: str | Path, *, trust: bool = False) -> None:
        self.file = Path(file).name
        self._pipeline = open_scikit_learn(str(file), trust=trust).model
        self.sha256 = sha256_of(file)


def content_of_object(model: Any, name: str) -> str:
    """Hash of everything that an object holds, so that another one is not taken for it."""
    import joblib

    try:
        return str(joblib.hash(model))
    except Exception as cause:  # whatever an object of the user's may hold
        raise InputError(
            f"{name} cannot be copied to other processes: {type(cause).__name__}: {cause}",
            fix="define its functions and classes in a module, not in place",
        ) from cause


def _copy(pipeline: Any, seed: int) -> Any:
    """A new one, without what was learnt where it is scikit-learn's, with the seed in every `random_state`."""
    if not hasattr(pipeline, "get_params"):
        return copy.deepcopy(pipeline)
    from sklearn.base import clone

    model = clone(pipeline)
    chance = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(chance, seed))
