"""Training that goes on from a trained classifier: which recipes can, and what they check."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from unseen.errors import InputError, MismatchError
from unseen.inference import name_of
from unseen.training import RECIPES


def can_start_warm(recipe: Any) -> bool:
    """Whether the `fit` of a recipe takes a classifier to start from."""
    return "start" in inspect.signature(recipe.fit).parameters


def require_warm_start(recipe: Any, name: str) -> None:
    """Refuse a recipe that cannot go on, with the names of those that can."""
    if not can_start_warm(recipe):
        able = [other for other in RECIPES if can_start_warm(RECIPES.get(other))]
        raise InputError(
            f"{name} cannot go on from a trained classifier",
            expected=f"one of {', '.join(able)}, or a recipe of yours whose fit takes start=",
            fix="take one of these, or leave out what is trained twice",
        )


def check_start(start: Any, kind: type, shape: Mapping[str, Any]) -> None:
    """Refuse a classifier of another kind, or one whose settings are not those of `shape`."""
    if not isinstance(start, kind):
        raise InputError(
            "training cannot go on from this classifier", expected=f"a {kind.__name__}", got=name_of(start)
        )
    settings = getattr(start, "settings", {})
    has = settings if isinstance(settings, Mapping) else vars(settings)
    problems = [
        f"{name} is {has.get(name)} there and {value} here" for name, value in shape.items() if has.get(name) != value
    ]
    if problems:
        raise MismatchError("training cannot go on from a classifier of another shape", problems=problems)
