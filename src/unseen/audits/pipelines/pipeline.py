"""Somebody's pipeline: by its name, place or file; its shape, told by the names of its parameters; how it is run.

::

    recipe      fit(train, dev, seed) -> classifier           an object with this `fit`, or the function
    protocol    fit(data, split, seed) -> answers             a whole notebook: given all rows, it must keep apart
                fit(data, folds, seed) -> answers             the same, given pairs of training and test rows
    own split   fit(data, seed=…) -> (rows tested, scores)    makes its own test part
    estimator   a scikit-learn estimator or Pipeline          from texts to labels, fitted or not
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unseen.audits.pipelines.answers import PipelineAnswer, read_answer
from unseen.audits.pipelines.examples import EXAMPLES
from unseen.errors import InputError, UnknownNameError
from unseen.models import PIPELINES
from unseen.models.scikit_learn import open_scikit_learn
from unseen.registry import Registry, check_parameters
from unseen.splits.random import RandomSplit
from unseen.splits.split_records import split_records
from unseen.training import RECIPES
from unseen.types import Dataset, Split

SHAPES = ("recipe", "protocol", "own split", "estimator")
RECIPES_SAY = ("train", "training", "train_data", "train_set")
SPLITS_SAY = ("split", "folds")
DEFAULT_TEST = 0.2
"""Share of rows that a random split tests."""
PLACES = Registry("pipeline", {})


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Somebody's pipeline, its shape, and the settings to run it with."""

    fit: Any
    shape: str
    name: str
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, fit: Any, shape: str | None = None, settings: Mapping[str, Any] | None = None) -> Pipeline:
        """The pipeline with the shape that it shows, or the one that is said."""
        shape = shape_of(fit, shape)
        named = getattr(fit, "func", fit)  # of functools.partial
        name = str(getattr(named, "__name__", type(named).__name__))
        if settings and shape in ("recipe", "estimator"):
            raise InputError(f"settings have no effect on a pipeline of the shape {shape!r}", got=str(settings))
        if settings:
            check_parameters(f"the pipeline {name}", fit, settings)
        return cls(fit, shape, name, dict(settings or {}))

    def run(self, data: Dataset, split: Split | None, seed: int, asked: Dataset) -> PipelineAnswer:
        """Run it once; a classifier that comes of it is asked about `asked`."""
        try:
            answer = self._called(data, split, seed)
        except InputError:
            raise
        except Exception as cause:  # whatever a pipeline of the user's may raise
            raise InputError(f"the pipeline {self.name} failed: {type(cause).__name__}: {cause}") from cause
        test = None if split is None or self.shape == "own split" else split.rows("test")
        return read_answer(answer, data, test, asked)

    def _called(self, data: Dataset, split: Split | None, seed: int) -> Any:
        if self.shape == "own split":
            return self.fit(data, **self._seed(seed), **self.settings)
        assert split is not None
        if self.shape == "recipe":
            fit = getattr(self.fit, "fit", self.fit)
            chance = (seed,) if len(inspect.signature(fit).parameters) > 2 else ()
            return fit(data.take(split.rows("train")), data.take(split.rows("dev")), *chance)
        if "folds" in list(inspect.signature(self.fit).parameters)[:2]:
            folds = [(split.rows("train", "dev"), split.rows("test"))]
            return self.fit(data, folds, **self._seed(seed), **self.settings)
        return self.fit(data, split, **self._seed(seed), **self.settings)

    def _seed(self, seed: int) -> dict[str, int]:
        """The seed, for a pipeline that takes one; one that does not may still be repeatable."""
        parameters = inspect.signature(self.fit).parameters.values()
        takes = any(parameter.name == "seed" or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        return {"seed": seed} if takes else {}


def shape_of(fit: Any, shape: str | None = None) -> str:
    """What kind of pipeline this is: what is said, or what it shows."""
    if shape is not None:
        if shape not in SHAPES:
            raise UnknownNameError.of("shape", shape, SHAPES)
        return shape
    if hasattr(fit, "fit") and hasattr(fit, "get_params"):
        return "estimator"
    if hasattr(fit, "fit"):
        return "recipe"
    if not callable(fit) or isinstance(fit, type):
        raise InputError(
            "this is not a pipeline",
            expected="fit(data, split, seed), fit(train, dev, seed), fit(data, seed), or a scikit-learn estimator",
            got=type(fit).__name__ if not isinstance(fit, type) else f"the class {fit.__name__}",
        )
    names = list(inspect.signature(fit).parameters)
    if names[:1] and names[0] in RECIPES_SAY:
        return "recipe"
    return "protocol" if names[1:2] and names[1] in SPLITS_SAY else "own split"


def open_pipeline(pipeline: Any, *, trust: bool = False) -> Any:
    """The pipeline of this name, at this place (`module:function`) or in this file.

    What is no name comes back as it is. A .joblib file runs any code it holds when it is opened, so it needs `trust`.
    """
    if not isinstance(pipeline, str | Path):
        return pipeline
    name = str(pipeline)
    if Path(name).suffix in PIPELINES:
        return open_scikit_learn(name, trust=trust).model
    if trust:
        raise InputError("trust has no effect without a pipeline file", got=name)
    if ":" in name:
        opened = PLACES.get(name)
        return PLACES.make(name) if isinstance(opened, type) else opened
    known = name.partition(".v")[0]
    if known in list(EXAMPLES):
        return EXAMPLES.get(name)
    if known in list(RECIPES):
        return RECIPES.make(name)
    raise UnknownNameError.of("pipeline", name, [*EXAMPLES, *RECIPES], fix="or module:function of your own")


def default_split(
    fit: Any, data: Dataset, *, shape: str | None = None, test: float | None = None, seed: int = 42
) -> Split | None:
    """A random split for a pipeline that needs one; None for one that makes its own."""
    if shape_of(fit, shape) == "own split":
        if test is not None:
            raise InputError(
                "test has no effect on a pipeline that makes its own split", fix="a setting of its own: --set test=0.15"
            )
        return None
    splitter = RandomSplit(DEFAULT_TEST if test is None else test, random_state=seed)
    params = {"test_size": splitter.test_size, "random_state": seed}
    return split_records(splitter, data, seed=seed, name="random", step="random.v1", params=params)[0]
