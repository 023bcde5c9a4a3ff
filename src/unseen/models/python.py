"""A function, class or object of the user's own, named by its place: `package.module:attribute`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, UnseenError
from unseen.models.answers import names_for, probabilities_of
from unseen.registry import Registry

PLACES = Registry("model", {})


def open_python(source: str, *, label_names: tuple[str, ...] | None = None) -> Any:
    """The classifier at `module:attribute`: anything with `predict_proba`, a class of it, or a function of texts."""
    found = PLACES.get(source)
    if isinstance(found, type):
        found = _made(found, source)
    if hasattr(found, "predict_proba"):
        return ObjectClassifier(found, label_names, source)
    if not callable(found):
        raise InputError(
            f"{source} is not a model",
            expected="a function of a list of texts, or something with predict_proba",
            got=type(found).__name__,
        )
    return FunctionClassifier(found, label_names or _own_names(found), source)


class FunctionClassifier:
    """A function from texts to probabilities or labels; `unseen.models.answers` has the forms.

    Without declared labels `classes_` is None, and the answers must carry names.
    """

    def __init__(
        self, function: Callable[[list[str]], Any], label_names: Sequence[str] | None = None, source: str = "function"
    ) -> None:
        self.function = function
        self.classes_ = None if label_names is None else tuple(label_names)
        self.source = source
        self.hard = False
        self._declared = label_names is not None

    def for_labels(self, label_names: Sequence[str]) -> FunctionClassifier:
        """The same function, whose answers are named after these labels."""
        bound = FunctionClassifier(self.function, label_names, self.source)
        bound._declared = False
        return bound

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]; `hard` is set once the function has answered with labels."""
        if self.classes_ is None:
            raise InputError(f"{self.source} does not say its labels", fix="open it with label_names=[…]")
        answer = _asked(self.function, texts, self.source)
        found, hard = probabilities_of(answer, len(texts), self.classes_, self.source, self._declared)
        self.hard = self.hard or hard
        return found


class ObjectClassifier:
    """An object with `predict_proba`, and `classes_` unless the labels are declared."""

    def __init__(self, model: Any, label_names: tuple[str, ...] | None = None, source: str = "object") -> None:
        own = _own_names(model)
        self.model = model
        if own is None and label_names is None:
            raise InputError(f"{source} does not say its labels", fix="give it classes_, or label_names=[…]")
        self.classes_ = label_names if own is None else names_for(own, label_names, source)
        self.source = source

    def predict_proba(self, texts: Sequence[str]) -> Any:
        """Probabilities [texts, classes]."""
        return _asked(self.model.predict_proba, texts, self.source)

    def __getattr__(self, name: str) -> Any:
        if name == "encode":  # offered where the object has a latent space
            return self.model.encode
        raise AttributeError(name)


def _own_names(found: Any) -> tuple[str, ...] | None:
    own = getattr(found, "classes_", None)
    return None if own is None else tuple(str(each) for each in own)


def _made(kind: type, source: str) -> Any:
    try:
        return kind()
    except Exception as cause:
        raise InputError(
            f"the class {source} cannot be made without arguments: {cause}", fix="name an object of it instead"
        ) from cause


def _asked(function: Callable[[list[str]], Any], texts: Sequence[str], source: str) -> Any:
    try:
        return function(list(texts))
    except UnseenError:
        raise
    except Exception as cause:
        raise InputError(f"{source} failed on {len(texts)} texts: {type(cause).__name__}: {cause}") from cause
