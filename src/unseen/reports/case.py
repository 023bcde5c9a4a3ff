"""The cases a verdict rests on: the hard families of splits of a run, and what the fall of each is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from unseen.audits.hardness import FAR
from unseen.evaluation.gates import Gate
from unseen.evaluation.intervals import widened
from unseen.evaluation.wording import farthest, higher_is_better
from unseen.reports.record import BASELINE, RunRecord, SplitFile
from unseen.types import Measurement

FAIL_ABOVE = 0.2
"""A fall this large fails, unless a gate of the run says otherwise."""
VISIBLE = 0.0005
"""Smaller falls would be written as nought."""
MOST = 0.5
"""A part of a fall that is at least half of it is what the fall mostly is."""


@dataclass(frozen=True, eq=False)
class Case:
    """One hard family against random splits."""

    run: RunRecord
    family: str
    random: Measurement
    hard: Measurement
    """The test part, unseen."""
    measured: Measurement
    """The fall as it was measured."""
    families: int = 1
    """Hard families among which the worst is looked for."""

    @cached_property
    def fall(self) -> Measurement:
        """The fall, its interval wide enough for the worst of so many families."""
        return _worst_of(self.measured, self.families, self.run.metric)

    @property
    def drop(self) -> float:
        """The fall as a number; positive is worse."""
        return self.fall.value or 0.0

    @property
    def seeds(self) -> int:
        """Trainings of the hard family with different seeds."""
        return len(self.run.single(self.family))

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
        gates = [Gate.parsed(outcome["gate"]) for outcome in self.run.about.get("gates") or ()]
        fall = replace(self.measured, tags={"family": self.family, "part": "test", **self.measured.tags})
        return min((gate.limit for gate in gates if "<" in gate.bound and gate.is_about(fall)), default=FAIL_ABOVE)

    @property
    def open(self) -> bool:
        """Whether zero and a fall above the limit are both within the interval."""
        return self.certain is False and (self.fall.high or 0.0) > self.limit

    @property
    def lost(self) -> float | None:
        """How much worse the independent score is than after training on a random split; None when not measured."""
        fall = self.run.fall(self.family, "independent")
        return None if fall is None else fall.value

    @property
    def broken(self) -> bool:
        """Whether the task was not learnt: the independent score lost much, and half of the fall or more."""
        return self.lost is not None and self.lost > FAR and self.lost >= self.drop / 2

    # -- what the fall is made of --------------------------------------------------------------------------------

    @cached_property
    def seen(self) -> Measurement | None:
        """The same test rows with the rest of their region in training."""
        return self.run.score(self.family, metric=f"seen.{self.run.metric}")

    @cached_property
    def selection(self) -> Measurement | None:
        """What the test rows lose even when the rest of their region is in training."""
        return self.run.measured(f"fall.selection.{self.run.metric}", self.family)

    @cached_property
    def novelty(self) -> Measurement | None:
        """What they lose by being unseen, its interval wide enough for the worst of the families."""
        row = self.run.measured(f"fall.novelty.{self.run.metric}", self.family)
        return None if row is None else _worst_of(row, self.families, self.run.metric)

    @property
    def is_new(self) -> bool:
        """Whether being unseen certainly costs something."""
        novelty = self.novelty
        return novelty is not None and (novelty.value or 0) >= VISIBLE and novelty.low is not None and novelty.low > 0

    @cached_property
    def noise(self) -> Measurement | None:
        """Share of mislabelled test rows; None where it was not measured or cannot be told."""
        return self.run.measured("label_noise", self.family)

    @cached_property
    def usual_noise(self) -> Measurement | None:
        """The same in random test parts."""
        return self.run.measured("label_noise.control", self.family)

    @property
    def suspects(self) -> Measurement | None:
        """Share of test rows whose label is suspect, whether or not noise can be told."""
        return self.run.measured("suspect_labels", self.family)

    @cached_property
    def corrected(self) -> Measurement | None:
        """The fall among right labels alone."""
        return self.run.measured(f"fall.corrected.{self.run.metric}", self.family)

    @cached_property
    def reviewed(self) -> Measurement | None:
        """The fall against what people say is right, its interval wide enough for the worst of the families."""
        row = self.run.measured(f"fall.reviewed.{self.run.metric}", self.family)
        return None if row is None else _worst_of(row, self.families, self.run.metric)

    @property
    def mislabelled(self) -> float | None:
        """Points of the fall that wrong labels account for; None where that cannot be told, or where it is none."""
        if self.corrected is None or self.corrected.value is None or self.noise is None:
            return None
        gone = self.drop - self.corrected.value
        return gone if gone >= VISIBLE else None

    @property
    def is_noisier(self) -> bool:
        """Whether more labels are wrong than in random test parts, by intervals."""
        noise, usual = self.noise, self.usual_noise
        if noise is None or noise.low is None:
            return False
        return noise.low > (0.0 if usual is None or usual.high is None else usual.high)

    @property
    def cause(self) -> str:
        """What the fall mostly is: mislabelled, new, hard, mixed; unclear, or unknown without the seen control."""
        if self.is_noisier and (self.mislabelled or 0) >= MOST * self.drop:
            return "mislabelled"
        if self.novelty is None or self.novelty.value is None:
            return "unknown"
        share = self.novelty.value / self.drop
        if share >= MOST and self.is_new:
            return "new"
        if share < MOST / 2 and (self.novelty.high is None or self.novelty.high < MOST * self.drop):
            return "hard"
        return "mixed" if self.is_new else "unclear"

    @property
    def overlap(self) -> Measurement | None:
        """Share of test rows that stay when the space is made from another seed."""
        return self.run.measured("test_overlap.space_seeds", self.family)

    @property
    def place(self) -> str:
        """What the split is, in a sentence; hardest only where it is harder at all."""
        clustered = any(split.certificate.n_clusters for split in self.run.of_family(self.family))
        what = "region" if clustered else "split"
        return f"{what} it finds hardest (“{self.family}”)" if self.drop >= VISIBLE else f"{what} “{self.family}”"


def _worst_of(row: Measurement, families: int, metric: str) -> Measurement:
    """The fall with an interval that allows for its being the worst of so many families, no farther than scores go."""
    error, df = row.tags.get("standard_error"), row.tags.get("df")
    if row.low is None or row.high is None or error is None or df is None:
        return row
    low, high = widened(row.low, row.high, float(error), float(df), families)
    most = farthest(metric)
    return replace(row, low=max(-most, low), high=min(most, high))


def cases(run: RunRecord) -> list[Case]:
    """Every hard family that was compared with random splits, the largest fall first."""
    random = run.score(BASELINE)
    compared = [
        (family, hard, fall)
        for family in run.families
        if family != BASELINE and (hard := run.score(family)) is not None and (fall := run.fall(family)) is not None
    ]
    if random is None:
        return []
    falls = [Case(run, family, random, hard, fall, len(compared)) for family, hard, fall in compared]
    return sorted(falls, key=lambda case: -case.drop)


def hardest(run: RunRecord) -> Case | None:
    """The family that falls most, with its numbers; None when there is nothing to compare."""
    return next(iter(cases(run)), None)


def newest(run: RunRecord) -> Case | None:
    """The family that loses most by being unseen; None where the seen control was not carried out."""
    known = [(row.value or 0.0, case) for case in cases(run) if (row := case.novelty) is not None]
    return max(known, key=lambda measured: measured[0], default=(0.0, None))[1]


def chance(run: RunRecord, family: str) -> float | None:
    """The score of guessing by the class mix on the test part; None where that was not measured."""
    row = run.measured(f"chance.{run.metric}", family)
    return None if row is None else row.value


def hardest_split(case: Case) -> SplitFile:
    """The split of the family on which the runs score worst."""
    sign = 1 if higher_is_better(case.run.metric) else -1

    def mean(split: SplitFile) -> float:
        values = [
            row.value for row in case.run.measurements
            if row.metric == case.run.metric and row.slice == "all" and row.value is not None
            and row.tags.get("split") == split.name and row.tags.get("part") == "test"
        ]  # fmt: skip
        return sign * sum(values) / len(values) if values else float("inf")

    return min(case.run.of_family(case.family), key=mean)
