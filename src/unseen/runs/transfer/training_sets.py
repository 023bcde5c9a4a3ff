"""What models are trained on: each dataset, all together, and both with few texts of each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unseen import api
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.measurements import drawn_groups
from unseen.runs.transfer.corpus import Corpus, Rows
from unseen.runs.transfer.members import CAPPED, MERGED, Member
from unseen.seeding import generator
from unseen.splits.quotas import within_cap
from unseen.types import Finding

CAP = 250
"""Texts per group and label, as Arango et al. (2019) cut theirs."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows of the corpus to learn from."""

    name: str
    of: tuple[str, ...]
    """Datasets that it is made of."""
    train: Rows
    dev: Rows
    uncapped: str | None = None
    """Name of the set that it was cut from."""

    @property
    def known(self) -> Rows:
        """Everything that its model has seen."""
        return np.concatenate([self.train, self.dev])


@dataclass(frozen=True)
class Extras:
    """Training sets besides the datasets themselves."""

    merge: bool = False
    cap: int | None = None
    cap_by: str | None = None
    matched: bool = False

    def __post_init__(self) -> None:
        if self.cap is not None and self.cap < 1:
            raise InputError("cap is how many texts of each group and label may stay", got=str(self.cap))
        if self.cap_by is not None and self.cap is None:
            raise InputError("cap_by has no effect without cap", fix=f"cap={CAP} (--cap {CAP})")


def training_sets(corpus: Corpus, extras: Extras, seed: int) -> tuple[list[TrainingSet], list[Finding]]:
    """The sets that models are trained on, and what was found when texts were taken out of them."""
    own = [TrainingSet(name, (name,), *_parts(corpus, [name])) for name in corpus.names]
    found = [*own, TrainingSet(MERGED, tuple(corpus.names), *_parts(corpus, corpus.names))] if extras.merge else own
    findings: list[Finding] = []
    if extras.cap is not None:
        kept = {each.name: rows for each in corpus.members if (rows := _kept(each, extras, seed)) is not None}
        _refuse_nothing_to_cap(corpus, kept, extras)
        findings = [_told(corpus.member(name), kept[name], extras) for name in kept]
        found = [*found, *(made for each in found if (made := _capped(corpus, each, kept)) is not None)]
    return (_matched(corpus, found, seed) if extras.matched else list(found)), findings


def _parts(corpus: Corpus, names: Sequence[str]) -> tuple[Rows, Rows]:
    train, dev = (np.concatenate([corpus.rows(name, part) for name in names]) for part in ("train", "dev"))
    return train, dev


def _kept(member: Member, extras: Extras, seed: int) -> Rows | None:
    """Training rows that stay under the cap, drawn at random; None for data without groups."""
    by = extras.cap_by or member.entry.groups
    if by is None or by not in member.data.attributes:
        return None
    rows = member.rows("train")
    groups = drawn_groups(member.data.attribute(by))[rows].astype(np.int64)
    cells = groups * len(member.data.label_names) + member.data.labels[rows]
    assert extras.cap is not None
    return np.sort(rows[within_cap(cells, extras.cap, generator(seed, "cap", member.name))])


def _refuse_nothing_to_cap(corpus: Corpus, kept: dict[str, Rows], extras: Extras) -> None:
    if not kept and extras.cap_by is not None:
        known = dict.fromkeys(name for each in corpus.members for name in each.data.attributes)
        raise UnknownNameError.of("attribute of any dataset", extras.cap_by, known)
    if not kept:
        raise InputError(
            "cap has no effect: no dataset has groups", fix="name the attribute: groups=… or cap_by=… (--cap-by)"
        )


def _told(member: Member, kept: Rows, extras: Extras) -> Finding:
    train = len(member.rows("train"))
    by, out = extras.cap_by or member.entry.groups, train - len(kept)
    if not out:
        said = f"No value of {by} has more than {extras.cap} texts of one label in what {member.name} trains on"
        return Finding(f"cap[{member.name}]", "skipped", f"{said}, so nothing was capped.", advice="Lower the cap.")
    said = f"At most {extras.cap} texts per {by} and label leave {len(kept):,} of {train:,} training texts"
    return Finding(f"cap[{member.name}]", "ok", f"{said} of {member.name}.", out)


def _capped(corpus: Corpus, whole: TrainingSet, kept: dict[str, Rows]) -> TrainingSet | None:
    parts = [
        corpus.starts[name] + kept[name] if name in kept else corpus.rows(name, "train") for name in whole.of
    ]  # fmt: skip
    train = np.concatenate(parts)
    if len(train) == len(whole.train):
        return None
    return replace(whole, name=f"{whole.name}{CAPPED}", train=train, uncapped=whole.name)


def _matched(corpus: Corpus, sets: Sequence[TrainingSet], seed: int) -> list[TrainingSet]:
    """All sets with as many training texts as the smallest, each with its own mix of labels."""
    size = min(len(each.train) for each in sets)
    return [replace(each, train=_fewer(corpus, each.train, size, seed)) for each in sets]


def _fewer(corpus: Corpus, rows: Rows, size: int, seed: int) -> Rows:
    if len(rows) == size:
        return rows
    drawn = api.split(corpus.data.take(rows), "random", test=size, seed=seed, name="matched").rows("test")
    return rows[drawn]
