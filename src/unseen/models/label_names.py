"""What the labels of a model are called: its own names, names that were given, or those of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import MismatchError, UnknownNameError
from unseen.inference import name_of
from unseen.label_maps import ALL_OTHERS, renamed
from unseen.types import some


def names_for(own: Sequence[Any], given: tuple[str, ...] | None, who: str) -> tuple[str, ...]:
    """The labels of a model: its `own`, or the `given` ones where its own are mere numbers (`0`, `LABEL_0`)."""
    names = tuple(str(name) for name in own)
    if given is None or given == names:
        return names
    if not all(name.removeprefix("LABEL_").isdigit() for name in names):
        raise MismatchError(
            f"{who} has names for its labels",
            got=some(names, 20),
            fix="rename={'theirs': 'ours'} instead of label_names",
        )
    if len(given) != len(names):
        raise MismatchError(f"{who} has {len(names)} labels, label_names has {len(given)}", got=some(given, 20))
    return given


class RenamedClassifier:
    """A classifier whose labels have other names; probabilities of labels that become one are added.

    `*` stands for all labels that are not named.
    """

    def __init__(self, classifier: Any, names: Mapping[str, str]) -> None:
        self.classifier = classifier
        self.names = {str(theirs): str(ours) for theirs, ours in names.items()}
        self.source = name_of(classifier)
        if classifier.classes_ is not None:
            known = [str(label) for label in classifier.classes_]
            for theirs in self.names:
                if theirs not in (*known, ALL_OTHERS):
                    raise UnknownNameError.of("label of this model", theirs, known)

    @property
    def classes_(self) -> tuple[str, ...] | None:
        """Names of the data's, each once."""
        if self.classifier.classes_ is None:
            return None
        return tuple(dict.fromkeys(self._ours()))

    @property
    def hard(self) -> bool:
        """Whether the model gives labels only."""
        return bool(getattr(self.classifier, "hard", False))

    def _ours(self) -> list[str]:
        return renamed(map(str, self.classifier.classes_), self.names)

    def for_labels(self, label_names: Sequence[str]) -> RenamedClassifier:
        """The same for a model that answers with names of its own."""
        names = {theirs: ours for theirs, ours in self.names.items() if ours in label_names}
        same = [label for label in label_names if label not in self.names.values()]
        return RenamedClassifier(self.classifier.for_labels((*names, *same)), names)

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        return self._renamed(self.classifier.predict_proba(texts))

    def _with_depth(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int16]]:
        theirs, depths = self.classifier.predict_with_depth(texts)
        return self._renamed(theirs), depths

    def _renamed(self, answer: npt.ArrayLike) -> npt.NDArray[np.float64]:
        theirs = np.asarray(answer, dtype=np.float64)
        classes = list(self.classes_ or ())
        ours = np.zeros((len(theirs), len(classes)))
        for column, name in enumerate(self._ours()):
            ours[:, classes.index(name)] += theirs[:, column]
        return ours

    def __getattr__(self, name: str) -> Any:
        if name == "encode":  # offered where the model has a latent space
            return getattr(self.classifier, name)
        if name == "predict_with_depth" and hasattr(self.classifier, name):
            return self._with_depth
        raise AttributeError(name)
