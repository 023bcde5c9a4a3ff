"""Whether the sides of a study are as far apart as its protocols say, counted on the rows that were really used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unseen.duplicates import same_forms
from unseen.study.validation.definition import PUBLISHED, RANDOM, capped_name
from unseen.study.validation.folds import Fold, Rows, covered, on_both_sides
from unseen.study.validation.materials import Materials
from unseen.study.validation.steps import Answers
from unseen.types import Dataset, Finding

SHOWN = 10


class Sides:
    """The sides of all folds of a study, and what is on both."""

    def __init__(self, materials: Materials) -> None:
        self.materials = materials

    def findings(self, answers: Sequence[Answers]) -> list[Finding]:
        """What is on both sides under each protocol, in all folds from the first seed; caps without effect."""
        seed, found = self.materials.study.seeds[0], []
        for protocol in self.materials.protocols:
            if protocol != PUBLISHED:  # its folds are the random ones, or the pipeline's own
                folds = self.materials.folds(protocol, seed)
                found += [self._authors(protocol, folds), self._copies(protocol, folds)]
        found += [self._divided(each) for each in answers if each.protocol == PUBLISHED and self._own_part(each)]
        return found + self._idle_caps()

    @cached_property
    def texts(self) -> npt.NDArray[np.intp]:
        """A number per row, equal where texts are equal without case, handles, links and punctuation."""
        return same_forms(self.materials.pool.texts)

    def _authors(self, protocol: str, folds: Sequence[Fold]) -> Finding:
        tested = len(covered(folds))
        shared = np.concatenate([on_both_sides(fold, self.materials.authors) for fold in folds])
        said = (
            f"{protocol}: {len(shared):,} of {tested:,} tested texts have an author who is also trained on "
            f"({len(shared) / tested:.0%})."
        )
        if protocol == RANDOM:
            advice = "Compare with folds of whole authors: the score on random rows also counts knowing the author."
            return self._finding("authors on both sides", "warn" if len(shared) else "ok", said, shared, advice)
        return self._finding("authors on both sides", "fail" if len(shared) else "ok", said, shared, "")

    def _copies(self, protocol: str, folds: Sequence[Fold]) -> Finding:
        tested = len(covered(folds))
        shared = np.concatenate([on_both_sides(fold, self.texts) for fold in folds])
        said = (
            f"{protocol}: {len(shared):,} of {tested:,} tested texts are also trained on, but for case, handles, links "
            "and punctuation."
        )
        advice = "Keep copies on one side (unseen repair)." if len(shared) else ""
        return self._finding("copies on both sides", "warn" if len(shared) else "ok", said, shared, advice)

    def _own_part(self, answers: Answers) -> bool:
        return self.materials.study.pipelines[answers.learner].divides

    def _divided(self, answers: Answers) -> Finding:
        """Rows of which one copy was tested and another not: told by classes whose rows are tested several times."""
        rows, times = np.unique(answers.rows, return_counts=True)
        labels = self.materials.pool.labels[rows]
        most = np.zeros(len(self.materials.pool.label_names), np.intp)
        np.maximum.at(most, labels, times)
        shared = rows[times < most[labels]]
        said = (
            f"{answers.learner}, as published, seed {answers.seed}: of {len(rows):,} different texts tested, "
            f"at least {len(shared):,} have a copy that was trained on."
        )
        advice = "Divide first, then copy the training rows." if len(shared) else ""
        return self._finding("copied before the split", "fail" if len(shared) else "ok", said, shared, advice)

    def _idle_caps(self) -> list[Finding]:
        largest = int(np.bincount(self.materials.cells[self.materials.own]).max())
        return [
            Finding(
                "cap", "skipped",
                f"{capped_name(cap)} was not run: no author has more than {largest} texts of one class, so a cap of "
                f"{cap} leaves everything.",
                advice="Name a smaller cap.",
            )
            for cap in self.materials.study.caps if cap not in self.materials.caps
        ]  # fmt: skip

    def _finding(self, check: str, level: str, message: str, rows: Rows, advice: str) -> Finding:
        return Finding(check, level, message, len(rows), _ids(self.materials.pool, rows), advice)


def _ids(data: Dataset, rows: Rows) -> tuple[str, ...]:
    return tuple(data.ids[int(row)].as_py() for row in np.unique(rows)[:SHOWN])
