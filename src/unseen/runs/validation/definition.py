"""What a validation study is made of."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.pipelines import EXAMPLES
from unseen.errors import InputError
from unseen.evaluation.gates import Gate
from unseen.registry import VERSION
from unseen.runs.spaces import Model
from unseen.types import PARTS, Certificate, Dataset, Split

Rows = npt.NDArray[np.intp]
PUBLISHED, RANDOM, AUTHORS = "published", "random", "authors"
ENRICHED, FOREIGN, FOREIGN_ENRICHED = "enriched", "foreign", "foreign-enriched"
LEAK, TOTAL = "leak", "total"
"""Names of prices: what leaking buys, and leaking and known authors together."""


def capped_name(most: int) -> str:
    """How the protocol is called whose training rows are capped."""
    return f"capped-{most}"


def thinned_name(most: int) -> str:
    """How the control of a cap is called: as many training rows of the same labels left out, at random."""
    return f"thinned-{most}"


@dataclass(frozen=True)
class ValidationTexts:
    """A dataset of the study: what `unseen.load` takes, and how many rows of it."""

    source: str
    load: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    """At most so many rows, with the class mix of all."""
    per_label: int | None = None
    """At most so many rows of each label, which makes the mix more even."""
    only: tuple[str, ...] = ()
    """Rows of these labels alone; all when empty."""


@dataclass(frozen=True)
class PublishedPipeline:
    """One experiment as it was published, with its leak, and as it should have been done."""

    name: str
    leaking: str
    """`package.module:function`, or the name of a built-in example with its version."""
    corrected: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Given to both."""
    test: float | None = None
    """Share of the rows that a leaking form tests which makes its own test part; None: as many as a fold has."""

    @property
    def divides(self) -> bool:
        """Whether the leaking form makes its own test part; else it is given folds, as the corrected form always is."""
        return not takes_folds(self.leaking)


@dataclass(frozen=True)
class Validation:
    """A study file of the kind `validation`, checked."""

    path: Path
    title: str
    seed: int
    data: ValidationTexts
    author: str
    """Attribute that says who wrote a text."""
    enrich: ValidationTexts | None
    """Other texts to train on as well."""
    foreign: ValidationTexts | None
    """Other texts to be tested on."""
    pipelines: Mapping[str, PublishedPipeline]
    models: Mapping[str, Model]
    seeds: tuple[int, ...]
    """Each draws its own folds, and trains from it."""
    folds: int
    caps: tuple[int, ...]
    """Texts per author and class that are trained on, at most."""
    metric: str
    gates: tuple[Gate, ...] = ()

    @property
    def protocols(self) -> list[str]:
        """Ways of dividing rows that this study knows, in the order they are told."""
        found = [*([PUBLISHED] if self.pipelines else []), RANDOM, AUTHORS, *map(capped_name, self.caps)]
        found += map(thinned_name, self.caps) if self.models else []
        found += [ENRICHED] if self.enrich else []
        found += [FOREIGN] if self.foreign else []
        return found + ([FOREIGN_ENRICHED] if self.foreign and self.enrich else [])

    def protocols_of(self, learner: str) -> list[str]:
        """Those that a learner goes through.

        A model has no leaking form. The controls of caps are for models alone: for pipelines, which may train for
        hours, they would double the cost of every cap.
        """
        controls = set(map(thinned_name, self.caps))
        left_out = controls if learner in self.pipelines else {PUBLISHED}
        return [name for name in self.protocols if name not in left_out]

    @property
    def prices(self) -> list[str]:
        """Names of what is priced; most are those of the harder protocol. Only pipelines have a leaking form."""
        priced = [*map(capped_name, self.caps), ENRICHED, FOREIGN, FOREIGN_ENRICHED]
        leaking = [LEAK, AUTHORS, TOTAL] if self.pipelines else [AUTHORS]
        return [*leaking, *(name for name in priced if name in self.protocols)]

    def prices_of(self, learner: str) -> list[str]:
        """What is priced of a learner."""
        return [name for name in self.prices if learner in self.pipelines or name not in (LEAK, TOTAL)]


def takes_folds(place: str) -> bool:
    """Whether a function is given the folds to test: `(data, folds, seed, …)`, not `(data, test, seed, …)`."""
    return "folds" in inspect.signature(function(place)).parameters


def function(place: str) -> Callable[..., Any]:
    """The function at `package.module:function`, or the built-in example of this name.

    An example that is given one split is asked about each fold in turn, so that it takes folds like the others.
    """
    if VERSION.sub("", place) in list(EXAMPLES):
        found = EXAMPLES.get(place)
        return _asked_by_fold(found) if "split" in inspect.signature(found).parameters else found  # type: ignore[no-any-return]
    module, colon, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as cause:
        raise InputError(f"{place!r} cannot be imported: {cause}", expected="package.module:function") from cause
    if not colon or not callable(found):
        raise InputError(f"{place!r} is no function", expected="package.module:function")
    return found  # type: ignore[no-any-return]


def _asked_by_fold(run: Callable[..., Any]) -> Callable[..., Any]:
    """A pipeline `(data, split, seed, …)` that answers about every row, as one that is given folds."""

    def asked(data: Dataset, folds: Sequence[tuple[Rows, Rows]], seed: int, **settings: Any) -> list[Any]:
        return [(test, run(data, _as_split(data, train, test), seed, **settings)[test]) for train, test in folds]

    signature = inspect.signature(run)
    named = [each.replace(name="folds") if each.name == "split" else each for each in signature.parameters.values()]
    asked.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return asked


def _as_split(data: Dataset, train: Rows, test: Rows) -> Split:
    parts = np.full(len(data), PARTS.index("unused"), np.int8)
    parts[train], parts[test] = PARTS.index("train"), PARTS.index("test")
    clusters = np.full(len(data), -1, np.int32)
    return Split("fold", data.ids, parts, clusters, Certificate({}, {}), data.fingerprint)
