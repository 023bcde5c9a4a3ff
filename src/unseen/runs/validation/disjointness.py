"""Whether the sides of a study are as far apart as its protocols say, counted on the rows that were really used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unseen.duplicates import same_forms
from unseen.runs.validation.definition import PUBLISHED, RANDOM, capped_name
from unseen.runs.validation.folds import Fold, Rows, covered, on_both_sides
from unseen.runs.validation.materials import ValidationMaterials
from unseen.runs.validation.steps import ProtocolAnswers
from unseen.types import Dataset, Finding
from unseen.types.numbers import percent

SHOWN = 10


class FoldSides:
    """The sides of all folds of a study, and what is on both."""

    def __init__(self, materials: ValidationMaterials) -> None:
        self.materials = materials

    def findings(self, answers: Sequence[ProtocolAnswers]) -> list[Finding]:
        """What is on both sides under each protocol, in all folds from the worst seed; caps without effect."""
        found = []
        for protocol in self.materials.protocols:
            if protocol != PUBLISHED:  # its folds are the random ones, or the pipeline's own
                folds = {seed: self.materials.folds(protocol, seed) for seed in self.materials.study.seeds}
                found += [self._authors(protocol, folds), self._copies(protocol, folds)]
        found += [self._divided(each) for each in answers if each.protocol == PUBLISHED and self._own_part(each)]
        return found + self._idle_caps()

    @cached_property
    def texts(self) -> npt.NDArray[np.intp]:
        """A number per row, equal where texts are equal without case, handles, links and punctuation."""
        return same_forms(self.materials.pool.texts)

    def _authors(self, protocol: str, folds: Mapping[int, Sequence[Fold]]) -> Finding:
        shared, tested, which = _worst(folds, self.materials.authors)
        said = (
            f"{protocol}: {len(shared):,} of {tested:,} tested texts have an author who is also trained on "
            f"({percent(len(shared) / tested)}{which})."
        )
        if protocol == RANDOM:
            advice = "Compare with folds of whole authors: the score on random rows also counts knowing the author."
            return self._finding("authors on both sides", "warn" if len(shared) else "ok", said, shared, advice)
        return self._finding("authors on both sides", "fail" if len(shared) else "ok", said, shared, "")

    def _copies(self, protocol: str, folds: Mapping[int, Sequence[Fold]]) -> Finding:
        shared, tested, which = _worst(folds, self.texts)
        said = (
            f"{protocol}: {len(shared):,} of {tested:,} tested texts are also trained on, but for case, handles, links "
            f"and punctuation ({percent(len(shared) / tested)}{which})."
        )
        advice = "Keep copies on one side (unseen repair)." if len(shared) else ""
        return self._finding("copies on both sides", "warn" if len(shared) else "ok", said, shared, advice)

    def _own_part(self, answers: ProtocolAnswers) -> bool:
        return self.materials.study.pipelines[answers.learner].divides

    def _divided(self, answers: ProtocolAnswers) -> Finding:
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


def _worst(folds: Mapping[int, Sequence[Fold]], codes: npt.NDArray[np.integer]) -> tuple[Rows, int, str]:
    """Test rows on both sides from the seed that has most of them, how many it tests, and which it is of several."""
    found = {seed: np.concatenate([on_both_sides(fold, codes) for fold in some]) for seed, some in folds.items()}
    seed = max(found, key=lambda each: len(found[each]))
    which = f"; seed {seed}, the worst of {len(found)}" if len(found) > 1 else ""
    return found[seed], len(covered(folds[seed])), which


def _ids(data: Dataset, rows: Rows) -> tuple[str, ...]:
    return tuple(data.ids[int(row)].as_py() for row in np.unique(rows)[:SHOWN])
