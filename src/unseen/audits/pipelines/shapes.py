"""The shapes that a pipeline can have, told apart by the names of its parameters.

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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.pipelines.answered import PipelineAnswer, Rows, read_answer
from unseen.errors import InputError, UnknownNameError
from unseen.registry import check_parameters
from unseen.types import PARTS, Dataset, Split

SHAPES = ("recipe", "protocol", "own split", "estimator")
RECIPES_SAY = ("train", "training", "train_data", "train_set")
SPLITS_SAY = ("split", "folds")


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
        found = shape_of(fit, shape)
        if settings and found in ("recipe", "estimator"):
            raise InputError(f"settings have no effect on a pipeline of the shape {found!r}", got=str(settings))
        if settings:
            check_parameters(f"the pipeline {_name(fit)}", fit, settings)
        return cls(fit, found, _name(fit), dict(settings or {}))

    def run(self, data: Dataset, split: Split | None, seed: int, asked: Dataset | None = None) -> PipelineAnswer:
        """Run it once; a classifier that comes of it is asked about `asked` (default: `data`)."""
        try:
            answer = self._called(data, split, seed)
        except InputError:
            raise
        except Exception as cause:  # whatever a pipeline of the user's may raise
            raise InputError(f"the pipeline {self.name} failed: {type(cause).__name__}: {cause}") from cause
        test = None if split is None or self.shape == "own split" else split.rows("test")
        return read_answer(answer, data, test, data if asked is None else asked)

    def _called(self, data: Dataset, split: Split | None, seed: int) -> Any:
        if self.shape == "own split":
            return self.fit(data, **self._seed(seed), **self.settings)
        assert split is not None
        if self.shape == "recipe":
            fit = getattr(self.fit, "fit", self.fit)
            chance = (seed,) if len(inspect.signature(fit).parameters) > 2 else ()
            return fit(data.take(split.rows("train")), data.take(split.rows("dev")), *chance)
        if "folds" in list(inspect.signature(self.fit).parameters)[:2]:
            folds = [(trained_on(split), split.rows("test"))]
            return self.fit(data, folds, **self._seed(seed), **self.settings)
        return self.fit(data, split, **self._seed(seed), **self.settings)

    def _seed(self, seed: int) -> dict[str, int]:
        """The seed, for a pipeline that takes one; one that does not may still be repeatable."""
        parameters = inspect.signature(self.fit).parameters.values()
        takes = any(each.name == "seed" or each.kind is each.VAR_KEYWORD for each in parameters)
        return {"seed": seed} if takes else {}


def shape_of(fit: Any, said: str | None = None) -> str:
    """What kind of pipeline this is: what is said, or what it shows."""
    if said is not None:
        if said not in SHAPES:
            raise UnknownNameError.of("shape", said, SHAPES)
        return said
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


def _name(fit: Any) -> str:
    named = getattr(fit, "func", fit)  # of functools.partial
    return str(getattr(named, "__name__", type(named).__name__))


def trained_on(split: Split) -> Rows:
    """Rows for training and for tuning."""
    return np.sort(np.concatenate([split.rows("train"), split.rows("dev")]))


def split_like(split: Split, data: Dataset, parts: npt.NDArray[np.int8]) -> Split:
    """A split of changed `data`, whose rows are in these parts."""
    clusters = np.full(len(data), -1, np.int32)
    return replace(split, ids=data.ids, parts=parts, clusters=clusters, dataset=data.fingerprint)


TEST = PARTS.index("test")
