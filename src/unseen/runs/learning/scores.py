"""Covered and held-out scores of a suite that was trained on, as Luz de Araujo and Roth (2022) count them.

Covered is the mean over plans of the accuracy on covered test cases; held-out is the accuracy over the held-out cases
of all plans together. Intervals draw whole templates, the same ones for both, so their difference has one too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from unseen.evaluation.bootstrap import DRAWS, percentiles, times_drawn
from unseen.evaluation.contrasts import holm, mcnemar
from unseen.functional.holdout import TASK, HoldoutPlan
from unseen.functional.rates import difference, rate
from unseen.runs.learning.answers import Floats, LearningAnswers
from unseen.seeding import generator
from unseen.types import Measurement
from unseen.types.arrays import Rows

COVERED, HELD_OUT, TESTED = "covered", "held-out", "test"


def suite_scores(answers: LearningAnswers, seed: int = 42) -> list[Measurement]:
    """All scores on cases of the suite, scheme by scheme."""
    found: list[Measurement] = []
    for scheme, plans in answers.materials.schemes().items():
        found += _of_all(answers, plans[0], seed) if scheme == "all" else _of_scheme(answers, plans, seed)
    return found


def _of_all(answers: LearningAnswers, plan: HoldoutPlan, seed: int) -> list[Measurement]:
    """Accuracy on the test cases of the random split, and every two configurations compared."""
    rows, units = plan.test_covered, answers.units[plan.test_covered]
    right = {each: answers.right(each, plan, rows) for each in answers.configurations}
    found = [
        rate("accuracy", said, units, tags={"scheme": "all", "part": TESTED, "configuration": each})
        for each, said in right.items()
    ]
    for than, each in combinations(right, 2):
        tags = {"scheme": "all", "part": TESTED, "configuration": each, "than": than}
        found.append(compared(right[each], right[than], units, tags, seed=seed))
    return found


def _of_scheme(answers: LearningAnswers, plans: Sequence[HoldoutPlan], seed: int) -> list[Measurement]:
    """Covered, held-out, their gap, and held-out against the task model, which saw no case."""
    before = Outcomes.of(answers, TASK, plans)
    found = [*before.scores(seed)]
    for configuration in answers.configurations[1:]:
        after = Outcomes.of(answers, configuration, plans)
        tags = after.tags | {"part": HELD_OUT, "than": TASK}
        found += [*after.scores(seed), compared(after.held_out, before.held_out, after.units, tags, seed=seed)]
        found += _by_value(after, before, seed)
    return found


def compared(
    after: Floats, before: Floats, units: Rows, tags: dict[str, Any], slice: str = "all", seed: int = 42
) -> Measurement:
    """`difference.accuracy` on the same cases: interval and `p` by templates, `p.mcnemar` exact by cases.

    The exact binomial test is the published one; it takes cases to be independent, which siblings are not.
    """
    row = difference("accuracy", after, before, units, slice=slice, tags=tags, seed=seed)
    return replace(row, tags=dict(row.tags) | {"p.mcnemar": mcnemar(after == 1, before == 1)})


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Right or wrong on the test cases of all plans of a scheme, of one configuration."""

    scheme: str
    configuration: str
    values: tuple[str, ...]
    """What each plan holds out."""
    covered: tuple[Floats, ...]
    """One array per plan."""
    covered_units: tuple[Rows, ...]
    held_out: Floats
    """Of all plans together."""
    units: Rows
    """Templates of the held-out cases."""
    plan: Rows
    """Which plan each held-out case is of."""

    @classmethod
    def of(cls, answers: LearningAnswers, configuration: str, plans: Sequence[HoldoutPlan]) -> Outcomes:
        """Those of the models of these plans."""
        held_out = [answers.right(configuration, plan, plan.test_held_out) for plan in plans]
        return cls(
            plans[0].scheme, configuration, tuple(plan.held_out for plan in plans),
            tuple(answers.right(configuration, plan, plan.test_covered) for plan in plans),
            tuple(answers.units[plan.test_covered] for plan in plans),
            np.concatenate(held_out), answers.units[np.concatenate([plan.test_held_out for plan in plans])],
            np.repeat(np.arange(len(plans)), [len(each) for each in held_out]),
        )  # fmt: skip

    @property
    def tags(self) -> dict[str, Any]:
        """What tells its rows apart."""
        return {"scheme": self.scheme, "configuration": self.configuration}

    def scores(self, seed: int) -> Iterator[Measurement]:
        """Covered, held-out, and the gap between them."""
        known = [float(each.mean()) for each in self.covered if len(each)]
        if not known:
            yield rate("accuracy", self.held_out, self.units, tags=self.tags | {"part": HELD_OUT})
            return
        covered, n = float(np.mean(known)), sum(map(len, self.covered))
        drawn = self._drawn(seed)
        low, high = percentiles(drawn[0]) or (None, None)
        if covered in (0.0, 1.0):  # resamples say nothing where all is alike
            alike = rate("accuracy", np.concatenate(self.covered), np.concatenate(self.covered_units))
            low, high = alike.low, alike.high
        yield Measurement("accuracy", covered, n, low, high, tags=self.tags | {"part": COVERED})
        yield rate("accuracy", self.held_out, self.units, tags=self.tags | {"part": HELD_OUT})
        low, high = percentiles(drawn[0] - drawn[1]) or (None, None)
        gap = covered - float(self.held_out.mean())
        yield Measurement("gap.accuracy", gap, len(self.held_out), low, high, tags=self.tags)

    def _drawn(self, seed: int) -> tuple[Floats, Floats]:
        """Covered and held-out scores of resampled templates, the same ones for both."""
        sums, sizes = self._tables
        covered, held_out = [], []
        for times in times_drawn(len(sums), DRAWS, generator(seed, "templates")):
            with np.errstate(invalid="ignore"):  # no template of a plan was drawn
                shares = (times @ sums) / (times @ sizes)
                known = np.isfinite(shares[:, :-1])
                covered.append(np.where(known, shares[:, :-1], 0).sum(axis=1) / known.sum(axis=1))
            held_out.append(shares[:, -1])
        return np.concatenate(covered), np.concatenate(held_out)

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """Right answers and cases [templates, plans and, last, all held-out cases]."""
        columns = [*zip(self.covered_units, self.covered, strict=True), (self.units, self.held_out)]
        n = max(int(units.max(initial=0)) for units, _ in columns) + 1
        sums = np.column_stack([np.bincount(units, right, minlength=n) for units, right in columns]).astype(np.float64)
        sizes = np.column_stack([np.bincount(units, minlength=n) for units, _ in columns]).astype(np.float64)
        present = sizes.any(axis=1)
        return sums[present], sizes[present]


def _by_value(after: Outcomes, before: Outcomes, seed: int) -> list[Measurement]:
    """Held-out accuracy after and before for each value, and the difference.

    `p.holm` is `p`, by whole templates, adjusted for all values; `p.mcnemar.holm` is the exact test, which is by cases.
    """
    found, apart = [], []
    for code, value in enumerate(after.values):
        here = after.plan == code
        name, units = f"{after.scheme}={value}", after.units[here]
        for each in (after, before):
            tags = each.tags | {"part": HELD_OUT, "of": after.configuration}
            found.append(rate("accuracy", each.held_out[here], units, slice=name, tags=tags))
        tags = after.tags | {"part": HELD_OUT, "than": TASK}
        apart.append(compared(after.held_out[here], before.held_out[here], units, tags, name, seed))
    for test in ("p", "p.mcnemar"):
        adjusted = holm([float(row.tags[test]) for row in apart])
        apart = [
            replace(row, tags=dict(row.tags) | {f"{test}.holm": p}) for row, p in zip(apart, adjusted, strict=True)
        ]
    return found + apart
