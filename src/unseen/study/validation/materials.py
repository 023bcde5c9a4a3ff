"""The texts of a validation study, and which of them each protocol trains on and asks about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unseen.engines.steps import key_of
from unseen.errors import InputError, UnknownNameError
from unseen.study.aside import joined
from unseen.study.source import Wanted, load_source
from unseen.study.validation.definition import (
    AUTHORS,
    ENRICHED,
    FOREIGN,
    FOREIGN_ENRICHED,
    PUBLISHED,
    RANDOM,
    Texts,
    Validation,
    capped_name,
)
from unseen.study.validation.folds import Fold, Rows, as_folds, author_codes, capped, fold_of
from unseen.types import Dataset


@dataclass(frozen=True, eq=False)
class Materials:
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
        idle = {capped_name(cap) for cap in self.study.caps if cap not in self.caps}
        return [name for name in self.study.protocols if name not in idle]

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
        cap = next(each for each in self.study.caps if capped_name(each) == protocol)
        return tuple(Fold(self.within(cap, each.train, seed), each.test) for each in self.folds(AUTHORS, seed))

    def _remedied(self, rows: Rows, seed: int) -> Rows:
        """Rows under the strictest cap, with those of the other dataset."""
        kept = self.within(self.caps[-1], rows, seed) if self.caps else rows
        return np.concatenate([kept, self.added])

    def key(self, folds: tuple[Fold, ...]) -> str:
        """What tells rows apart: their content and how they are divided."""
        rows: list[npt.NDArray[np.intp]] = [part for fold in folds for part in (fold.train, fold.test)]
        return key_of("folds", [self.pool.fingerprint, self.pool.order, [each.tolist() for each in rows]])


def load_materials(study: Validation) -> Materials:
    """The texts of a study, loaded, limited and joined; the order of files decides nothing."""
    pool = _load(study.data, study.seed, [study.author])
    parts = [np.arange(len(pool))]
    for mark, other in (("added", study.enrich), ("foreign", study.foreign)):
        before = len(pool)
        if other is not None:
            pool = joined(pool, _load(other, study.seed, []), mark)
        parts.append(np.arange(before, len(pool)))
    found = Materials(study, pool, *parts)
    if len(np.unique(found.authors[found.own])) == len(found.own):
        raise InputError(
            f"no author has written two texts, as {study.author!r} tells", fix="name the attribute of authors"
        )
    return found


def _load(texts: Texts, seed: int, attributes: list[str]) -> Dataset:
    wanted = Wanted(limit=texts.limit, independent=0, slices=tuple(attributes))
    data = load_source(texts.source, texts.load, wanted, seed).data
    for name in texts.only:
        if name not in data.label_names:
            raise UnknownNameError.of("label", name, data.label_names)
    codes = [data.label_names.index(name) for name in texts.only or data.label_names]
    rows = np.flatnonzero(np.isin(data.labels, codes))
    if texts.per_label is not None:
        rows = capped(rows, data.labels.astype(np.intp), texts.per_label, seed)
    return data.take(rows)
