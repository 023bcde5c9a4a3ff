"""Going on from a trained classifier instead of from the beginning: which recipes can, and what they check."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unseen.errors import InputError, MismatchError
from unseen.inference import matched, name_of
from unseen.training import RECIPES

if TYPE_CHECKING:
    from unseen.training.classifier import TransformerClassifier


def can_go_on(recipe: Any) -> bool:
    """Whether the `fit` of a recipe takes a classifier to start from."""
    return "start" in inspect.signature(recipe.fit).parameters


def refuse_who_cannot(recipe: Any, name: str) -> None:
    """Refuse a recipe that cannot go on, with the names of those that can."""
    if not can_go_on(recipe):
        able = [each for each in RECIPES if can_go_on(RECIPES.get(each))]
        raise InputError(
            f"{name} cannot go on from a trained classifier",
            expected=f"one of {', '.join(able)}, or a recipe of yours whose fit takes start=",
            fix="take one of these, or leave out what is trained twice",
        )


def check_start(start: Any, kind: type, wanted: Mapping[str, Any]) -> None:
    """Refuse a classifier of another kind, or one whose settings are not the `wanted` ones."""
    if not isinstance(start, kind):
        raise InputError(
            "training cannot go on from this classifier", expected=f"a {kind.__name__}", got=name_of(start)
        )
    settings = getattr(start, "settings", {})
    has = settings if isinstance(settings, Mapping) else vars(settings)
    problems = [
        f"{name} is {has.get(name)} there and {value} here" for name, value in wanted.items() if has.get(name) != value
    ]
    if problems:
        raise MismatchError("training cannot go on from a classifier of another shape", problems=problems)


def copy_weights(start: TransformerClassifier, classifier: TransformerClassifier) -> str:
    """Put the weights of one transformer into another, labels matched by name; returns a hash of them."""
    check_start(
        start, type(classifier), {name: getattr(classifier.settings, name) for name in ("encoder", "bottleneck")}
    )
    tensors = {name: each.detach().clone() for name, each in start.modules.state_dict().items()}
    labels = matched(start.classes_, classifier.classes_)
    for name in ("head.classifier.weight", "head.classifier.bias"):
        tensors[name] = tensors[name][labels]
    classifier.modules.load_state_dict(tensors)
    digest = hashlib.sha256()
    for name, each in tensors.items():
        digest.update(name.encode())
        digest.update(each.float().cpu().numpy().tobytes())
    return digest.hexdigest()
