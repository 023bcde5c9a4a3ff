"""What the names that users type stand for: recipes, encoders and splitters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, UnknownNameError
from unseen.models import PIPELINES, open_model
from unseen.models.pipeline_recipes import PipelineFileRecipe, PipelineRecipe, content_of_object
from unseen.registry import VERSION, check_numbers, check_parameters, source_of
from unseen.representations import ENCODERS
from unseen.representations.checkpoints import PACKAGED, may_be_checkpoint
from unseen.roles import Recipe
from unseen.splits import SPLITTERS
from unseen.store.files import content_of
from unseen.training import RECIPES

DEFAULT_TEST = 0.1


def recipe_of(model: Any, **params: Any) -> Any:
    """The recipe that `model` names; whatever is not the name of a recipe is a transformer to fine-tune.

    A recipe or a pipeline as an object is taken as it is; a place may name either, its class, or a function that
    makes it.
    """
    if isinstance(model, ObjectName):
        model = model.model
    if not isinstance(model, str):
        if params:
            raise InputError("a recipe object has its own settings", fix="set them when you make it")
        return _as_recipe(model, type(model).__name__)
    if model.startswith(("http://", "https://")):
        raise InputError(
            "an endpoint cannot be trained",
            fix="ask it (unseen model predict) and measure the answers (unseen model score)",
        )
    if Path(model).suffix in PIPELINES:
        check_parameters(f"the pipeline {model!r}", PipelineFileRecipe, params)
        return PipelineFileRecipe(model, **params)
    if ":" in model or VERSION.sub("", model) in RECIPES:
        return _as_recipe(RECIPES.make(model, **params), model)
    if not may_be_checkpoint(model):
        raise UnknownNameError.of("model", model, [*RECIPES, *PACKAGED], fix="'unseen model ls recipes' lists them")
    return RECIPES.make("transformer", encoder=model, **params)


def _as_recipe(made: Any, name: str) -> Any:
    if isinstance(made, type) or not isinstance(made, Recipe):
        raise InputError(f"{name!r} is not a recipe", expected="an object with fit", got=type(made).__name__)
    return PipelineRecipe(made, name) if is_pipeline(made) else made


def is_pipeline(model: Any) -> bool:
    """Whether an object, or a class, learns and answers by itself, unlike a Recipe, which gives a classifier."""
    return hasattr(model, "fit") and (hasattr(model, "predict_proba") or hasattr(model, "predict"))


class ObjectName(str):
    """The name of a recipe or a pipeline that was passed as an object, which comes along to other processes.

    Its content is part of the name, so whatever is kept under the name belongs to this very object.
    """

    model: Any

    @classmethod
    def of(cls, model: Any) -> str:
        """The name of an object; a name as it is."""
        if isinstance(model, str):
            return model
        kind = type(model).__name__
        name = cls(f"python:{kind}-{content_of_object(model, kind)[:12]}")
        name.model = model
        recipe_of(name)
        return name


def is_place(name: str) -> bool:
    """Whether a name is `package.module:attribute`."""
    return ":" in name and "://" not in name and not isinstance(name, ObjectName)


def outline_of(model: str, **params: Any) -> Any:
    """The recipe that `model` names, or what stands at its place, looked at and not called."""
    return RECIPES.outline(model, params) if is_place(model) else recipe_of(model, **params)


def content_of_name(name: str) -> dict[str, str]:
    """What a name stands for today: hashes of a folder's files, or of the file that defines a place.

    Of an encoder of ours that gave other vectors before, its version; else nothing.
    """
    content = {"folder": content_of(name)} if Path(name).is_dir() else {}
    content |= {"code": source_of(name)} if is_place(name) else {}
    if VERSION.sub("", name) in ENCODERS and not (full := ENCODERS.full_name(name)).endswith(".v1"):
        content |= {"version": full}
    return content


def encoder_of(using: Any, seed: int, params: Mapping[str, Any]) -> tuple[Any, str]:
    """An object with `encode`, and the name of what it is."""
    if not isinstance(using, str | Path):
        if not hasattr(using, "encode"):
            raise InputError(
                "this model has no latent space", expected="an object with encode", got=type(using).__name__
            )
        if params:
            raise InputError(f"{', '.join(params)} has no effect on a model that is there already", fix="leave it out")
        return using, str(getattr(using, "name", type(using).__name__))
    if (Path(using) / "unseen.json").is_file():
        params = dict(params)
        model = open_model(str(using), trust=params.pop("trust", False))
        if set(params) == {"layer"} and "layer" in inspect.signature(getattr(model, "encode", len)).parameters:
            return Layer(model, params["layer"]), f"{model.name}-{params['layer']}"
        return encoder_of(model, seed, params)
    name = str(using)
    if ":" in name or VERSION.sub("", name) in ENCODERS:
        return ENCODERS.make(name, **accepted(ENCODERS.get(name), seed=seed), **params), ENCODERS.full_name(name)
    if not may_be_checkpoint(name):
        raise UnknownNameError.of("encoder", name, ENCODERS, fix="'unseen model ls encoders' lists them")
    return ENCODERS.make("transformer", checkpoint=name, **params), f"transformer.v1:{Path(name).name}"


class Layer:
    """What a model's `encode` gives at the layer of that name."""

    def __init__(self, model: Any, layer: str) -> None:
        self.model, self.layer = model, layer
        self.rowwise = getattr(model, "rowwise", False)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One vector per text."""
        return np.asarray(self.model.encode(texts, self.layer), np.float32)


def splitter_of(method: Any, test: float | None, seed: int, knobs: Mapping[str, Any]) -> tuple[Any, str]:
    """A splitter object, and the name of what it is."""
    if not isinstance(method, str):
        if test is not None or knobs:
            raise InputError(
                "a splitter object has its own settings", fix="set test_size and the rest when you make it"
            )
        return method, type(method).__name__
    made = SPLITTERS.get(method)
    for knob, argument in (("test_size", "test"), ("random_state", "seed")):
        if knob in knobs:
            raise InputError(f"{knob} is called {argument} here", fix=f"{argument}={knobs[knob]!r}")
    taken = accepted(made, test_size=DEFAULT_TEST if test is None else test, random_state=seed)
    if test is not None and "test_size" not in taken:
        raise InputError(f"test={test} has no effect on the splitter {method!r}", fix="leave it out")
    check_numbers(f"splitter {method!r}", SPLITTERS.outline(method, knobs), knobs)
    return SPLITTERS.make(method, **taken | dict(knobs)), SPLITTERS.full_name(method)


def settings_of(splitter: Any) -> dict[str, Any]:
    """The resolved knobs of a splitter, as values that can be written down."""
    try:
        names = [name for name in inspect.signature(type(splitter)).parameters if hasattr(splitter, name)]
    except ValueError:  # a builtin type tells nothing about itself
        return {}
    return {name: _shown(getattr(splitter, name)) for name in names if name != "using"}


def _shown(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | Mapping) or value is None:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, set | frozenset):
        return sorted(value)
    return list(value) if isinstance(value, range | list | tuple) else f"{type(value).__name__} {np.shape(value)}"


def accepted(made: Any, **params: Any) -> dict[str, Any]:
    """Those of `params` that `made` takes."""
    known = inspect.signature(made).parameters if callable(made) else {}
    return {name: value for name, value in params.items() if name in known}
