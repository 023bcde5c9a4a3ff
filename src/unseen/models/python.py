"""A function, class or object of the user's own, named by its place: `package.module:attribute`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, UnseenError
from unseen.models.answers import probabilities_of
from unseen.models.label_names import names_for
from unseen.registry import Registry

PLACES = Registry("model", {})


def open_python(source: str, *, label_names: tuple[str, ...] | None = None) -> Any:
    """The classifier at `module:attribute`: anything with `predict_proba`, a class of it, or a function of texts."""
    model = PLACES.get(source)
    if isinstance(model, type):
        try:
            model = model()
        except Exception as cause:
            raise InputError(
                f"the class {source} cannot be made without arguments: {cause}", fix="name an object of it instead"
            ) from cause
    if hasattr(model, "predict_proba"):
        return ObjectClassifier(model, label_names, source)
    if not callable(model):
        raise InputError(
            f"{source} is not a model",
            expected="a function of a list of texts, or something with predict_proba",
            got=type(model).__name__,
        )
    return FunctionClassifier(model, label_names or _own_names(model), source)


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
        probabilities, hard = probabilities_of(answer, len(texts), self.classes_, self.source, self._declared)
        self.hard = self.hard or hard
        return probabilities


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


def _own_names(model: Any) -> tuple[str, ...] | None:
    own = getattr(model, "classes_", None)
    return None if own is None else tuple(str(name) for name in own)


def _asked(function: Callable[[list[str]], Any], texts: Sequence[str], source: str) -> Any:
    try:
        return function(list(texts))
    except UnseenError:
        raise
    except Exception as cause:
        raise InputError(f"{source} failed on {len(texts)} texts: {type(cause).__name__}: {cause}") from cause
