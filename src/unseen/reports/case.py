"""The case a verdict rests on: the hardest family of splits of a run, and its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from unseen.audits.hardness import FAR
from unseen.reports.run import BASELINE, Run, SplitCard
from unseen.reports.wording import higher_is_better
from unseen.types import Measurement

FAIL_ABOVE = 0.2
"""A fall this large fails, unless the run's settings say `fail_above`."""
VISIBLE = 0.0005
"""Smaller falls would be written as nought."""


@dataclass(frozen=True)
class Case:
    """The numbers a verdict rests on."""

    run: Run
    family: str
    random: Measurement
    hard: Measurement
    fall: Measurement

    @property
    def drop(self) -> float:
        """The fall as a number; positive is worse."""
        return self.fall.value or 0.0

    @property
    def certain(self) -> bool | None:
        """Whether the interval of the fall leaves out zero; None without an interval."""
        if self.fall.low is None or self.fall.high is None:
            return None
        return not self.fall.low <= 0 <= self.fall.high

    @property
    def fell(self) -> bool:
        """Whether there is a fall at all, as far as one can tell."""
        return self.drop >= VISIBLE and self.certain is not False

    @property
    def limit(self) -> float:
        """The largest fall that does not fail."""
        given = self.run.about["settings"].get("fail_above")
        return FAIL_ABOVE if given is None else float(given)

    @property
    def open(self) -> bool:
        """Whether zero and a fall above the limit are both within the interval."""
        return self.certain is False and (self.fall.high or 0.0) > self.limit

    @property
    def lost(self) -> float | None:
        """How much worse the independent score is than after training on a random split; None when not measured."""
        found = self.run.fall(self.family, "independent")
        return None if found is None else found.value

    @property
    def broken(self) -> bool:
        """Whether the task was not learnt: the independent score lost much, and half of the fall or more."""
        return self.lost is not None and self.lost > FAR and self.lost >= self.drop / 2

    @property
    def place(self) -> str:
        """What the hardest split is, in a sentence."""
        clustered = any(split.certificate.n_clusters for split in self.run.of_family(self.family))
        return f"{'region' if clustered else 'split'} this model finds hardest (“{self.family}”)"


def hardest(run: Run) -> Case | None:
    """The family that falls most, with its numbers; None when there is nothing to compare."""
    random = run.score(BASELINE)
    cases = []
    for family in run.families:
        hard, fall = run.score(family), run.fall(family)
        if family != BASELINE and random is not None and hard is not None and fall is not None:
            cases.append(Case(run, family, random, hard, fall))
    return max(cases, key=lambda case: case.drop, default=None)


def chance(run: Run, family: str) -> float | None:
    """The score of guessing by the class mix on the test part; None where that was not measured."""
    found = run.found(f"chance.{run.metric}", family)
    return None if found is None else found.value


def hardest_split(case: Case) -> SplitCard:
    """The split of the family on which the runs score worst."""
    sign = 1 if higher_is_better(case.run.metric) else -1

    def mean(split: SplitCard) -> float:
        values = [
            row.value for row in case.run.measurements
            if row.metric == case.run.metric and row.slice == "all" and row.value is not None
            and row.tags.get("split") == split.name and row.tags.get("part") == "test"
        ]  # fmt: skip
        return sign * sum(values) / len(values) if values else float("inf")

    return min(case.run.of_family(case.family), key=mean)
