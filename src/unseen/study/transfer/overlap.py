"""Whether what a model is tested on stands in what it was trained on, in its own data or in another dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from unseen.duplicates import Pairs, near_pairs, normal_forms, same
from unseen.study.transfer.corpus import Corpus, Rows
from unseen.study.transfer.training_sets import TrainingSet
from unseen.types import Finding, Measurement

Mask = npt.NDArray[np.bool_]
MUCH = 0.01
"""Share of the test texts from which on an overlap is a failure."""
SHOWN = 10


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
    """Those of `near` whose counterpart has another label."""
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


class Likeness:
    """Which texts of a corpus are the same, in three senses; looked for once."""

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self.corpus = corpus
        texts = corpus.data.texts
        forms = normal_forms(texts)
        self.exact: Rows = same(texts)
        self.normalised: Rows = same(forms)
        self.says_something: Mask = pc.not_equal(forms, "").to_numpy(zero_copy_only=False).astype(bool)
        self.near: Pairs = near_pairs(texts, seed=seed)

    def overlap(self, known: TrainingSet, test: str) -> Overlap:
        """The overlap of the test part of a dataset with what a model has seen."""
        rows, seen = self.corpus.rows(test, "test"), known.known
        exact = np.isin(self.exact[rows], self.exact[seen])
        telling = self.says_something[rows]
        normalised = exact | (telling & np.isin(self.normalised[rows], self.normalised[seen]))
        like, agrees = self._near(rows, seen)
        near = normalised | (like & telling)
        same_label = self._with_label(self.exact, rows, seen) | (
            telling & self._with_label(self.normalised, rows, seen)
        )
        conflicting = near & ~np.where(normalised, same_label, agrees)
        ids = self.corpus.data.ids.take(rows[near][:SHOWN]).to_pylist()
        return Overlap(known.name, test, exact, normalised, near, conflicting, tuple(ids))

    def _with_label(self, codes: Rows, rows: Rows, seen: Rows) -> Mask:
        """Rows with an equal text among `seen` that has their label too."""
        labels, k = self.corpus.data.labels.astype(np.int64), len(self.corpus.data.label_names)
        keys = codes.astype(np.int64) * k + labels
        return np.isin(keys[rows], keys[seen])

    def _near(self, rows: Rows, seen: Rows) -> tuple[Mask, Mask]:
        """Rows with a near text among `seen`, and whether the nearest has their label."""
        sides = np.zeros((2, len(self.corpus.data)), bool)
        sides[0, rows] = sides[1, seen] = True
        found, partner, _ = self.near.across(sides[0], sides[1])
        labels = self.corpus.data.labels
        like, agrees = np.zeros(len(sides[0]), bool), np.zeros(len(sides[0]), bool)
        like[found] = True
        agrees[found] = labels[found] == labels[partner]
        return like[rows], agrees[rows]


def overlaps(corpus: Corpus, sets: Sequence[TrainingSet], seed: int) -> dict[tuple[str, str], Overlap]:
    """The overlap of every test part with every training set, by the names of the two."""
    likeness = Likeness(corpus, seed)
    return {(each.name, test): likeness.overlap(each, test) for each in sets for test in corpus.names}


def overlap_findings(corpus: Corpus, found: dict[tuple[str, str], Overlap]) -> list[Finding]:
    """One finding for each training dataset and each test part."""
    return [found[train, test].finding() for train in corpus.names for test in corpus.names]
