"""Another model's labels under the names of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import UnknownNameError
from unseen.inference import name_of
from unseen.store.predictions import ALL_OTHERS


class Renamed:
    """A classifier whose labels have other names; probabilities of labels that become one are added.

    `*` stands for all labels that are not named.
    """

    def __init__(self, classifier: Any, names: Mapping[str, str]) -> None:
        self.classifier = classifier
        self.names = {str(theirs): str(ours) for theirs, ours in names.items()}
        self.source = name_of(classifier)
        if classifier.classes_ is not None:
            known = [str(each) for each in classifier.classes_]
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
        other = self.names.get(ALL_OTHERS)
        return [self.names.get(str(each), other or str(each)) for each in self.classifier.classes_]

    def for_labels(self, label_names: Sequence[str]) -> Renamed:
        """The same for a model that answers with names of its own."""
        theirs = [each for each, ours in self.names.items() if ours in label_names]
        same = [each for each in label_names if each not in self.names.values()]
        return Renamed(self.classifier.for_labels((*theirs, *same)), {each: self.names[each] for each in theirs})

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        said = np.asarray(self.classifier.predict_proba(texts), dtype=np.float64)
        classes = list(self.classes_ or ())
        found = np.zeros((len(said), len(classes)))
        for column, name in enumerate(self._ours()):
            found[:, classes.index(name)] += said[:, column]
        return found

    def __getattr__(self, name: str) -> Any:
        if name == "encode":  # offered where the model has a latent space
            return getattr(self.classifier, name)
        raise AttributeError(name)
