"""The texts of a validation study, and which of them each protocol trains on and asks about.

Folds are random or of whole authors, with the same size and class mix in each; caps are per author and class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unseen.audits.price import random_removals
from unseen.errors import InfeasibleError, InputError, UnknownNameError
from unseen.evaluation.measurements import drawn_groups
from unseen.runs.source import DataSettings, joined, load_source
from unseen.runs.validation.file import (
    AUTHORS,
    ENRICHED,
    FOREIGN,
    FOREIGN_ENRICHED,
    PUBLISHED,
    RANDOM,
    Fold,
    Validation,
    ValidationTexts,
    capped_name,
    thinned_name,
)
from unseen.seeding import generator
from unseen.splits.hard_kfold import fold_quotas
from unseen.splits.problem import pose
from unseen.splits.quotas import within_cap
from unseen.store.results import key_of
from unseen.types import Dataset
from unseen.types.arrays import Rows


def fold_of(labels: npt.NDArray[np.integer], units: Rows | None, folds: int, seed: int) -> Rows:
    """The fold of every row; rows of one unit share it. Without units rows go singly.

    Each class is spread as evenly as possible. Units are drawn at random, then exchanged until a fold is as near
    to its share as any choice among the units left can bring it; the last fold takes the rest.
    """
    problem = pose(labels, units, len(labels), test_size=max(1, len(labels) // folds))
    if problem.n_units < folds:
        raise InfeasibleError(
            f"{problem.n_units} authors cannot make {folds} folds", fix="ask for fewer folds, or a finer attribute"
        )
    draw, quotas = generator(seed, "folds"), fold_quotas(problem, folds)
    of_unit, free = np.full(problem.n_units, folds - 1), np.ones(problem.n_units, bool)
    for fold in range(folds - 1):
        chosen = problem.fill(quotas[fold], draw.permutation(np.flatnonzero(free))).chosen
        of_unit[chosen] = fold
        free &= ~chosen
    return of_unit[problem.units]


def as_folds(numbers: Rows) -> tuple[Fold, ...]:
    """Each fold tested once, learnt from all others."""
    return tuple(
        Fold(np.flatnonzero(numbers != number), np.flatnonzero(numbers == number))
        for number in range(int(numbers.max()) + 1)
    )


def divided(rows: Rows, labels: npt.NDArray[np.integer], units: Rows | None, seed: int) -> tuple[Rows, Rows]:
    """About nine tenths of `rows` to train on and one to choose the training's length by; units stay whole.

    With fewer than ten units it is one unit or so.
    """
    whole = None if units is None else units[rows]
    numbers = fold_of(labels[rows], whole, 10 if whole is None else min(10, len(np.unique(whole))), seed)
    return rows[numbers > 0], rows[numbers == 0]


def capped(rows: Rows, cells: Rows, most: int, seed: int) -> Rows:
    """Of `rows`, at most so many of each cell (an author's texts of one class), drawn at random; in their order."""
    return rows[within_cap(cells[rows], most, generator(seed, "cap"))]


@dataclass(frozen=True, eq=False)
class ValidationMaterials:
    """All texts in one dataset: the study's own first, then those to add, then the foreign ones."""

    study: Validation
    pool: Dataset
    own: Rows
    added: Rows
    foreign: Rows

    @cached_property
    def authors(self) -> Rows:
        """A number per row of the pool, equal for one author; a row without an author is one of its own."""
        return drawn_groups(self.pool.attribute(self.study.file.data.author))

    @cached_property
    def cells(self) -> Rows:
        """A number per author and class."""
        return self.authors * len(self.pool.label_names) + self.pool.labels

    @cached_property
    def largest_cell(self) -> int:
        """How many texts of one class the most prolific author has."""
        return int(np.bincount(self.cells[self.own]).max())

    @cached_property
    def active(self) -> Validation:
        """The study without caps that leave everything, which have no effect."""
        return replace(self.study, caps=tuple(cap for cap in self.study.caps if cap < self.largest_cell))

    def within(self, cap: int, rows: Rows, seed: int) -> Rows:
        """Rows that a cap leaves."""
        return capped(rows, self.cells, cap, seed)

    def folds(self, protocol: str, seed: int) -> tuple[Fold, ...]:
        """How a protocol divides the rows, from one seed."""
        if protocol in (FOREIGN, FOREIGN_ENRICHED):
            return (Fold(self.own if protocol == FOREIGN else self._remedied(self.own, seed), self.foreign),)
        if protocol in (PUBLISHED, RANDOM, AUTHORS):
            units = self.authors[self.own] if protocol == AUTHORS else None
            return as_folds(fold_of(self.pool.labels[self.own], units, self.study.file.rules.folds, seed))
        folds = self.folds(AUTHORS, seed)
        if protocol == ENRICHED:
            return tuple(Fold(self._remedied(train, seed), test) for train, test in folds)
        cap = next(cap for cap in self.study.caps if protocol in (capped_name(cap), thinned_name(cap)))
        made = []
        for number, (train, test) in enumerate(folds):
            kept = self.within(cap, train, seed)
            if protocol == thinned_name(cap):
                kept = self._thinned(train, kept, generator(seed, protocol, number))
            made.append(Fold(kept, test))
        return tuple(made)

    def _thinned(self, rows: Rows, kept: Rows, draw: np.random.Generator) -> Rows:
        """As many rows of each label as `kept` has, drawn at random from `rows`."""
        gone = next(random_removals(self.pool.labels[rows], ~np.isin(rows, kept), 1, draw))
        return rows[~gone[0]]

    def _remedied(self, rows: Rows, seed: int) -> Rows:
        """Rows under the strictest cap, with those of the other dataset."""
        caps = self.active.caps
        return np.concatenate([self.within(caps[-1], rows, seed) if caps else rows, self.added])

    def key(self, folds: Sequence[Fold]) -> str:
        """What tells rows apart: their content and how they are divided."""
        rows = [part.tolist() for fold in folds for part in fold]
        return key_of("folds", [self.pool.fingerprint, self.pool.order, rows])


def load_materials(study: Validation) -> ValidationMaterials:
    """The texts of a study, loaded, limited and joined; the order of files decides nothing."""
    file = study.file
    pool = _load(file.data, file.seed, (file.data.author,))
    parts = [np.arange(len(pool))]
    for mark, other in (("added", file.enrich), ("foreign", file.foreign)):
        before = len(pool)
        if other is not None:
            pool = joined(pool, _load(other, file.seed), mark)
        parts.append(np.arange(before, len(pool)))
    materials = ValidationMaterials(study, pool, *parts)
    if len(np.unique(materials.authors[materials.own])) == len(materials.own):
        raise InputError(
            f"no author has written two texts, as {file.data.author!r} tells", fix="name the attribute of authors"
        )
    return materials


def _load(texts: ValidationTexts, seed: int, attributes: tuple[str, ...] = ()) -> Dataset:
    settings = DataSettings(limit=texts.limit, independent=0, slices=attributes)
    data = load_source(texts.source, texts.load, settings, seed).data
    for name in texts.only:
        if name not in data.label_names:
            raise UnknownNameError.of("label", name, data.label_names)
    codes = [data.label_names.index(name) for name in texts.only or data.label_names]
    rows = np.flatnonzero(np.isin(data.labels, codes))
    if texts.per_label is not None:
        rows = capped(rows, data.labels.astype(np.intp), texts.per_label, seed)
    return data.take(rows)
