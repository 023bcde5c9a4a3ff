"""What leaving certain rows out of training costs, against leaving out as many random ones.

Models differ with the rows that are left out, whichever these are. So the question is not only whether two means
differ on these test rows, but whether certain rows move the score further than random rows do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, bootstrap, percentiles
from unseen.evaluation.falls import Run
from unseen.evaluation.metrics import Metric, metric
from unseen.seeding import generator
from unseen.types import Measurement
from unseen.types.arrays import Floats

ENOUGH = 20
"""With fewer random removals `p` cannot get below .05."""


def cost_of_removal(
    random: Sequence[Run],
    without: Sequence[Run],
    name: str,
    *,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Measurement:
    """`fall.METRIC`: by how much the mean of `without` is worse than that of `random`; positive is worse.

    `without` are trainings without certain rows, `random` each without other random ones; all are asked about the
    same test rows. The interval draws test rows (or whole units) and adds what one removal differs from another: a
    draw of Student's t with the spread of the random ones. Drawn from so few scores as they are, it would hold the
    truth at most (R − 1) / (R + 1) of the time. From one random removal no spread is known, and there is no interval.
    The tag `removals` is R, the number of random removals, and `p` is (1 + those that are at least as far from their
    mean as `without` is) / (1 + R): with fewer than 20 it cannot get below .05.
    """
    chosen, removals = metric(name), len(random)
    sign = 1.0 if chosen.higher_is_better else -1.0
    scores = [_scores(runs, chosen) for runs in (random, without)]
    tags = {**(tags or {}), "removals": removals}
    if not all(np.isfinite(side).all() for side in scores):
        return Measurement(f"fall.{name}", None, 0, tags=tags)
    middle, leaked = (float(side.mean()) for side in scores)
    as_far = int((np.abs(scores[0] - middle) >= abs(leaked - middle) - 1e-12).sum())
    tags["p"] = (1 + as_far) / (1 + removals)
    bounds = None
    if removals > 1:
        bounds = percentiles(sign * (_drawn(random, without, chosen, draws, seed) + _spread(scores[0], draws, seed)))
    low, high = bounds or (None, None)
    return Measurement(f"fall.{name}", sign * (middle - leaked), len(random[0].gold), low, high, tags=tags)


def can_be_sure(removals: int) -> bool:
    """Whether so many random removals can show that something is rare."""
    return removals >= ENOUGH


def _scores(runs: Sequence[Run], chosen: Metric) -> Floats:
    if not runs:
        raise InputError("no runs, nothing to measure")
    return np.array([chosen(run.gold, run.probabilities, run.label_names) for run in runs], dtype=np.float64)


def _drawn(random: Sequence[Run], without: Sequence[Run], chosen: Metric, draws: int, seed: int) -> Floats:
    """The difference of the means on resampled rows [draws]."""
    one, runs = random[0], [*random, *without]
    if any(run.sample != one.sample for run in runs):
        raise InputError("the runs were tested on different rows")
    values = bootstrap(
        chosen,
        one.gold,
        [run.probabilities for run in runs],
        one.label_names,
        groups=one.groups,
        draws=draws,
        seed=seed,
    )
    return np.asarray(values[: len(random)].mean(axis=0) - values[len(random) :].mean(axis=0))


def _spread(scores: Floats, draws: int, seed: int) -> Floats:
    """How far one removal may be from the mean of the random ones [draws]."""
    n = len(scores)
    reach = float(np.std(scores, ddof=1)) * (1 + 1 / n) ** 0.5
    return np.asarray(reach * generator(seed, "removals").standard_t(n - 1, size=draws))
