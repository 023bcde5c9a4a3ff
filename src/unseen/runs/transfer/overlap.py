"""Whether what a model is tested on stands in what it was trained on, in its own data or in another dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.audits.leaks import contradicted, leak
from unseen.audits.subject import Subject
from unseen.runs.transfer.corpus import Corpus, Rows
from unseen.runs.transfer.training_sets import TrainingSet
from unseen.types import PARTS, Certificate, Finding, Measurement, Split

Mask = npt.NDArray[np.bool_]
MUCH = 0.01
"""Share of the test texts from which on an overlap is a failure."""
SHOWN = 10
KINDS = ("exact", "normalised", "near")
"""Ways for a test text to stand in training data, from the strictest to the loosest."""


@dataclass(frozen=True, eq=False)
class Overlap:
    """Which test rows of one dataset have a counterpart in one training set."""

    train: str
    test: str
    exact: Mask
    """Word for word."""
    normalised: Mask
    """Word for word, or but for case, punctuation, handles and links."""
    near: Mask
    """Those, or nearly the same text."""
    conflicting: Mask
    """Those of `near` with a counterpart of another label."""
    ids: tuple[str, ...]
    """Of a few of them."""

    @property
    def count(self) -> int:
        """Test rows with a counterpart."""
        return int(self.near.sum())

    def measurements(self) -> list[Measurement]:
        """Shares of the test rows."""
        tags, n = {"train": self.train, "test": self.test}, len(self.near)
        kinds = {"exact": self.exact, "normalised": self.normalised, "near": self.near, "conflict": self.conflicting}
        return [Measurement(f"overlap.{kind}", float(rows.mean()), n, tags=dict(tags)) for kind, rows in kinds.items()]

    def finding(self) -> Finding:
        """What that means."""
        check, n = f"overlap[{self.train} → {self.test}]", len(self.near)
        where = "its own training data" if self.train == self.test else f"what {self.train} trains on"
        if not self.count:
            return Finding(check, "ok", f"None of the {n:,} test texts of {self.test} is in {where}.")
        exact, normalised, conflicts = (int(each.sum()) for each in (self.exact, self.normalised, self.conflicting))
        said = (
            f"{self.count:,} of {n:,} test texts of {self.test} are in {where}: {exact:,} word for word, "
            f"{normalised - exact:,} but for case, punctuation, handles and links, {self.count - normalised:,} nearly"
        )
        said += f"; {conflicts:,} of them with another label there." if conflicts else "."
        return Finding(check, "fail" if self.count >= MUCH * n else "warn", said, self.count, self.ids, self._advice())

    def _advice(self) -> str:
        if self.train == self.test:
            return "They raise the score that others are compared with: read scores without them, or repair the split."
        return "Read the scores without these texts, or take them out of one of the datasets."


def overlaps(corpus: Corpus, sets: Sequence[TrainingSet], seed: int) -> dict[tuple[str, str], Overlap]:
    """The overlap of every test part with every training set, by the names of the two."""
    subject = Subject(corpus.data, seed=seed)
    for kind in KINDS:
        subject.alike(kind)  # looked for once, known to all cells
    return {(each.name, test): _overlap(corpus, subject, each, test) for each in sets for test in corpus.names}


def _overlap(corpus: Corpus, subject: Subject, known: TrainingSet, test: str) -> Overlap:
    """The overlap of the test part of a dataset with what a model has seen: what an audit of the two would find."""
    rows = corpus.rows(test, "test")
    cell = subject.of(_as_split(corpus, known, rows))
    exact, normalised, near = (cell.mask(_leaking(cell, kind))[rows] for kind in KINDS)
    conflicting = cell.mask(contradicted(cell, "near"))[rows]
    ids = corpus.data.ids.take(rows[near][:SHOWN]).to_pylist()
    return Overlap(known.name, test, exact, normalised, near, conflicting, tuple(ids))


def _as_split(corpus: Corpus, known: TrainingSet, asked: Rows) -> Split:
    """What a model has seen and what it is asked, as parts of the corpus."""
    parts = np.full(len(corpus.data), PARTS.index("unused"), np.int8)
    parts[known.known], parts[asked] = PARTS.index("train"), PARTS.index("test")
    clusters = np.full(len(parts), -1, np.int32)
    return Split(known.name, corpus.data.ids, parts, clusters, Certificate({}, {}), corpus.data.fingerprint)


def _leaking(cell: Subject, kind: str) -> Rows:
    """Test rows with a counterpart in training."""
    found = leak(cell, kind)
    assert found is not None
    return found.test


def overlap_findings(corpus: Corpus, found: dict[tuple[str, str], Overlap]) -> list[Finding]:
    """One finding for each training dataset and each test part."""
    return [found[train, test].finding() for train in corpus.names for test in corpus.names]
