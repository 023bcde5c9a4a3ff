"""What a user can plug in: each role is one method.

A role is satisfied by shape; nothing has to be inherited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from unseen.types import Dataset


@runtime_checkable
class Encoder(Protocol):
    """Texts to vectors."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One vector per text, in order."""


@runtime_checkable
class Splitter(Protocol):
    """scikit-learn's protocol: knobs in the constructor, usable as `cv=`."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[npt.NDArray[np.intp], ...]]:
        """Pairs of train and test row positions."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of pairs `split` yields."""


@runtime_checkable
class Classifier(Protocol):
    """Anything that gives class probabilities."""

    classes_: Sequence[str]

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes], columns in the order of `classes_`."""


@runtime_checkable
class Recipe(Protocol):
    """A way to train a classifier."""

    def fit(self, train: Dataset, dev: Dataset, seed: int) -> Classifier:
        """A classifier trained on `train`, tuned on `dev`."""


@runtime_checkable
class Engine(Protocol):
    """Where work runs."""

    def run(self, steps: Sequence[Any], results: Any, shared: Mapping[str, Any]) -> Iterator[Any]:
        """Do what `results` does not have of `steps`, needs first, and yield the outcome of each as it ends.

        `shared` are objects that steps ask for by name.
        """
