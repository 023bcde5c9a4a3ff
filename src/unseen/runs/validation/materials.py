"""The texts of a validation study, and which of them each protocol trains on and asks about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unseen.audits.price import random_removals
from unseen.errors import InputError, UnknownNameError
from unseen.runs.source import DataSettings, joined, load_source
from unseen.runs.validation.definition import (
    AUTHORS,
    ENRICHED,
    FOREIGN,
    FOREIGN_ENRICHED,
    LEAK,
    PUBLISHED,
    RANDOM,
    TOTAL,
    Validation,
    ValidationTexts,
    capped_name,
    thinned_name,
)
from unseen.runs.validation.folds import Fold, Rows, as_folds, author_codes, capped, fold_of
from unseen.seeding import generator
from unseen.store.results import key_of
from unseen.types import Dataset


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
        """A number per row of the pool, equal for one author."""
        return author_codes(self.pool, self.study.author)

    @cached_property
    def cells(self) -> Rows:
        """A number per author and class."""
        return self.authors * len(self.pool.label_names) + self.pool.labels

    @cached_property
    def caps(self) -> tuple[int, ...]:
        """Those caps of the study that leave anything out, the strictest last."""
        largest = int(np.bincount(self.cells[self.own]).max())
        return tuple(cap for cap in self.study.caps if cap < largest)

    @property
    def protocols(self) -> list[str]:
        """The study's protocols without caps that have no effect."""
        return self._without_idle_caps(self.study.protocols)

    def protocols_of(self, learner: str) -> list[str]:
        """Those of them that a learner goes through."""
        return self._without_idle_caps(self.study.protocols_of(learner))

    def _without_idle_caps(self, protocols: list[str]) -> list[str]:
        caps = [cap for cap in self.study.caps if cap not in self.caps]
        idle = {name for cap in caps for name in (capped_name(cap), thinned_name(cap))}
        return [name for name in protocols if name not in idle]

    def compared(self, learner: str) -> dict[str, tuple[str, str]]:
        """What each price of a learner compares: the easier protocol and the harder one.

        A cap is compared with as many random rows left out where that was trained. Enriching is compared with the
        same cap without it; on the foreign texts there is no such training, and the price is that of both.
        """
        control = AUTHORS if learner in self.study.pipelines else None
        found = {LEAK: (PUBLISHED, RANDOM), AUTHORS: (RANDOM, AUTHORS), TOTAL: (PUBLISHED, AUTHORS)}
        found |= {capped_name(cap): (control or thinned_name(cap), capped_name(cap)) for cap in self.caps}
        found[ENRICHED] = (capped_name(self.caps[-1]) if self.caps else AUTHORS, ENRICHED)
        found |= {FOREIGN: (AUTHORS, FOREIGN), FOREIGN_ENRICHED: (FOREIGN, FOREIGN_ENRICHED)}
        protocols = set(self.protocols_of(learner))
        return {name: both for name, both in found.items() if protocols.issuperset(both)}

    def within(self, cap: int, rows: Rows, seed: int) -> Rows:
        """Rows that a cap leaves."""
        return capped(rows, self.cells, cap, seed)

    def folds(self, protocol: str, seed: int) -> tuple[Fold, ...]:
        """How a protocol divides the rows, from one seed."""
        if protocol == FOREIGN:
            return (Fold(self.own, self.foreign),)
        if protocol == FOREIGN_ENRICHED:
            return (Fold(self._remedied(self.own, seed), self.foreign),)
        if protocol in (PUBLISHED, RANDOM):
            return as_folds(fold_of(self.pool.labels[self.own], None, self.study.folds, seed))
        if protocol == AUTHORS:
            units = self.authors[self.own]
            return as_folds(fold_of(self.pool.labels[self.own], units, self.study.folds, seed))
        if protocol == ENRICHED:
            return tuple(Fold(self._remedied(each.train, seed), each.test) for each in self.folds(AUTHORS, seed))
        cap = next(each for each in self.study.caps if protocol in (capped_name(each), thinned_name(each)))
        found = []
        for number, each in enumerate(self.folds(AUTHORS, seed)):
            kept = self.within(cap, each.train, seed)
            if protocol == thinned_name(cap):
                kept = self._thinned(each.train, kept, generator(seed, protocol, number))
            found.append(Fold(kept, each.test))
        return tuple(found)

    def _thinned(self, rows: Rows, kept: Rows, draw: np.random.Generator) -> Rows:
        """As many rows of each label as `kept` has, drawn at random from `rows`."""
        gone = next(random_removals(self.pool.labels[rows], ~np.isin(rows, kept), 1, draw))
        return rows[~gone[0]]

    def _remedied(self, rows: Rows, seed: int) -> Rows:
        """Rows under the strictest cap, with those of the other dataset."""
        kept = self.within(self.caps[-1], rows, seed) if self.caps else rows
        return np.concatenate([kept, self.added])

    def key(self, folds: tuple[Fold, ...]) -> str:
        """What tells rows apart: their content and how they are divided."""
        rows: list[npt.NDArray[np.intp]] = [part for fold in folds for part in (fold.train, fold.test)]
        return key_of("folds", [self.pool.fingerprint, self.pool.order, [each.tolist() for each in rows]])


def load_materials(study: Validation) -> ValidationMaterials:
    """The texts of a study, loaded, limited and joined; the order of files decides nothing."""
    pool = _load(study.data, study.seed, [study.author])
    parts = [np.arange(len(pool))]
    for mark, other in (("added", study.enrich), ("foreign", study.foreign)):
        before = len(pool)
        if other is not None:
            pool = joined(pool, _load(other, study.seed, []), mark)
        parts.append(np.arange(before, len(pool)))
    found = ValidationMaterials(study, pool, *parts)
    if len(np.unique(found.authors[found.own])) == len(found.own):
        raise InputError(
            f"no author has written two texts, as {study.author!r} tells", fix="name the attribute of authors"
        )
    return found


def _load(texts: ValidationTexts, seed: int, attributes: list[str]) -> Dataset:
    wanted = DataSettings(limit=texts.limit, independent=0, slices=tuple(attributes))
    data = load_source(texts.source, texts.load, wanted, seed).data
    for name in texts.only:
        if name not in data.label_names:
            raise UnknownNameError.of("label", name, data.label_names)
    codes = [data.label_names.index(name) for name in texts.only or data.label_names]
    rows = np.flatnonzero(np.isin(data.labels, codes))
    if texts.per_label is not None:
        rows = capped(rows, data.labels.astype(np.intp), texts.per_label, seed)
    return data.take(rows)
