"""The models of a study, and the latent spaces they are asked for."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unseen import api
from unseen.errors import InputError, UnknownNameError
from unseen.models import PIPELINES
from unseen.naming import ObjectName, content_of_name, is_pipeline, outline_of, recipe_of
from unseen.registry import VERSION
from unseen.representations.reduction import REDUCTIONS
from unseen.representations.tfidf import TfidfEncoder
from unseen.store.files import sha256_of
from unseen.training import RECIPES
from unseen.types import Dataset

MODEL = "model"
"""The folder of a step in which it leaves its model."""
OWN = "own"
"""The space that a model has by itself; of a model without one, that of the features it reads."""
REPRESENTATION = re.compile(rf"own|full|pretrained|bottleneck-(\d+)|(pretrained-)?({'|'.join(REDUCTIONS)})-(\d+)")
EXAMPLES = ("full", "bottleneck-50", "pca-50", "umap-50", "pretrained", "pretrained-umap-50")
TRANSFORMERS = ("transformer", "adaptive")
"""Recipes that fine-tune a transformer."""


@dataclass(frozen=True)
class Model:
    """What is trained: a recipe or a transformer, with its parameters."""

    use: str
    """Name of a recipe, of a transformer or of its folder."""
    params: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    """How the study calls it; `use` when empty."""
    add: str = ""
    """Data of the study whose rows are trained on beside those of every split."""
    lexicon: str = ""
    """Data of the study by whose telling words texts are marked."""

    @classmethod
    def of(cls, model: Any) -> Model:
        """The model that was passed: a name, or an object, which is given one."""
        return cls(ObjectName.of(model))

    @property
    def called(self) -> str:
        """Its name in tables and files."""
        return self.name or Path(self.use).name.replace(":", ".")

    @property
    def is_transformer(self) -> bool:
        """Whether it is a transformer to fine-tune."""
        known = VERSION.sub("", self.use)
        elsewhere = ":" in self.use or Path(self.use).suffix in PIPELINES
        return known in TRANSFORMERS or (not elsewhere and known not in RECIPES)

    def recipe(self) -> Any:
        """A new recipe object."""
        return recipe_of(self.use, **self.params)

    def check(self) -> None:
        """Refuse a model that cannot be made."""
        outline_of(self.use, **self.params)

    @cached_property
    def outline(self) -> Any:
        """What can be known without running code of the user's: the recipe, or what stands at its place, uncalled."""
        return outline_of(self.use, **self.params)

    @cached_property
    def described(self) -> dict[str, Any]:
        """Everything that decides what it learns: the resolved settings of its recipe, its files, its code."""
        own: dict[str, Any] = {}
        if ":" not in self.use:
            resolved = getattr(self.outline, "settings", None)
            own = asdict(resolved) if resolved is not None else _public(self.outline)
        decisive = {"model": self.use, "params": dict(self.params), "recipe": own}
        decisive |= content_of_name(str(own["encoder"]) if self.is_transformer else self.use)
        vectors = own.get("vectors")
        decisive |= {"vectors": sha256_of(vectors)} if vectors and Path(vectors).is_file() else {}
        # results stored while clipping and dev undid class weights are not taken up
        return decisive | ({"weighting": 2} if own.get("class_weights") else {})

    @property
    def noted(self) -> dict[str, Any]:
        """What run.json says besides its name: the recipe's settings, and hashes of files and code that decide it."""
        return {name: value for name, value in self.described.items() if name not in ("model", "params")}

    def trusted(self) -> Model:
        """The same, with the user's trust where opening it can run code: a pipeline file, a transformer's folder."""
        brings = self.is_transformer or Path(self.use).suffix in PIPELINES
        return replace(self, params=dict(self.params) | {"trust": True}) if brings else self

    @property
    def opening(self) -> dict[str, Any]:
        """A setting of steps that open it again: the trust of whoever asked for it, where it was given."""
        return {"opening": {"trust": True}} if self.is_transformer and self.params.get("trust") else {}

    @property
    def epochs(self) -> int:
        """How often it reads every training text, at most."""
        settings = getattr(self.outline, "settings", None)
        return int(getattr(settings, "epochs", 1)) + int(getattr(settings, "halting_epochs", 0))


def refuse_function(model: Model) -> None:
    """Refuse a model of a file that cannot be made, or that only calling it would show to be one."""
    if inspect.isfunction(model.outline):
        raise InputError(f"{model.use!r} is a function", expected="in a file, a class or an object with fit")


def _public(recipe: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(recipe).items() if name[0] != "_"}


@dataclass(frozen=True)
class Space:
    """A latent space: whose, and which vectors of it."""

    of: Model
    representation: str = ""
    """full, bottleneck-D, pca-D, umap-D, pretrained, pretrained-pca-D, pretrained-umap-D, own; empty: the default."""

    def __post_init__(self) -> None:
        named = self.representation
        if self.of.add or self.of.lexicon:
            raise InputError(f"{self.of.called!r} learns from other data too, so it has no space in this study")
        if named and not REPRESENTATION.fullmatch(named):
            near = "; a bottleneck is learnt in training, so pretrained vectors have none" if (
                named.startswith("pretrained") and "bottleneck" in named
            ) else ""  # fmt: skip
            raise UnknownNameError.of("representation", named + near, EXAMPLES)
        if self.of.is_transformer:
            return
        if self.bottleneck or named == "full":
            raise InputError(
                f"the representation {named!r} is of transformers; {self.of.called!r} is none",
                expected="own, pca-D or umap-D",
                fix="leave it out: the model's own vectors are taken",
            )
        if self.reduction and self.reduction[1] >= self._width:
            raise InputError(
                f"the vectors of {self.of.called!r} have {self._width} numbers and cannot be reduced to {named!r}",
                expected=f"fewer than {self._width}",
            )

    @property
    def _width(self) -> int:
        """Numbers of a vector of a model that is no transformer, where that is known before it is trained."""
        own = getattr(self.of.outline, "bottleneck", None)
        if isinstance(own, int):
            return own
        return TfidfEncoder().dimensions if self.encoder == api.DEFAULT_ENCODER else sys.maxsize

    @property
    def resolved(self) -> str:
        """The representation that is meant when none is named."""
        return self.representation or ("bottleneck-50" if self.of.is_transformer else OWN)

    @property
    def called(self) -> str:
        """Its name in tables and files."""
        return f"{self.of.called}-{self.resolved}"

    @property
    def bottleneck(self) -> int | None:
        """Numbers in the bottleneck of the model, None without one."""
        match = re.fullmatch(r"bottleneck-(\d+)", self.resolved)
        return int(match.group(1)) if match else None

    @property
    def reduction(self) -> tuple[str, int] | None:
        """The reduction of the vectors and its dimensions."""
        match = re.fullmatch(rf"(?:pretrained-)?({'|'.join(REDUCTIONS)})-(\d+)", self.resolved)
        return (match.group(1), int(match.group(2))) if match else None

    @property
    def is_pretrained(self) -> bool:
        """Whether the vectors are those of the model before any training."""
        return self.resolved.startswith("pretrained")

    @property
    def model(self) -> Model:
        """The model that is trained to get it, and again on its splits: with the bottleneck where there is one."""
        if not self.bottleneck:
            return self.of
        called = self.of.name and f"{self.of.name}-{self.resolved}"
        return replace(self.of, params=dict(self.of.params) | {"bottleneck": self.bottleneck}, name=called)

    @property
    def encodes_untrained(self) -> bool:
        """Whether the vectors come from a model that has not seen the labels."""
        return self.is_pretrained or is_pipeline(self.of.outline) or not getattr(self.of.outline, "has_space", True)

    @property
    def encoder(self) -> str:
        """The encoder of a space that nothing is trained for, or that stands in for a model without vectors."""
        if self.of.is_transformer:
            return str(self.of.outline.settings.encoder)
        features = getattr(self.of.outline, "features", None)
        return features if isinstance(features, str) else api.DEFAULT_ENCODER


def fit(model: Mapping[str, Any], train: Dataset, dev: Dataset, seed: int, scratch: Path, **more: Any) -> Any:
    """A trained model, of what `Model.described` says; one that can go on after an interruption keeps its progress."""
    recipe = recipe_of(model["model"], **model["params"])
    resumable = "scratch" in inspect.signature(recipe.fit).parameters
    return recipe.fit(train, dev, seed, **more, **{"scratch": scratch} if resumable else {})
