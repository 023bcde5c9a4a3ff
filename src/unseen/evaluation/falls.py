"""Several trained models on one or more test parts: their level, and the fall from one family to another.

A score varies with the training seed and with the texts that happened to be tested. The intervals of `level` and
`fall` are Student's t, with the variance of both; how often they hold is simulated in docs/results/intervals.md. One
seed tells nothing about training again: the tag `seeds` says how many there were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, bootstrap
from unseen.evaluation.intervals import Spread, apart, effective_groups, refusal, spread_of, within
from unseen.evaluation.measurements import aligned, groups_of_rows
from unseen.evaluation.metrics import Metric, metric
from unseen.seeding import child_seed
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Mask, Rows

Resampled = Mapping[int, Floats]
"""Values of runs on resampled rows, by the identity of the run."""


@dataclass(frozen=True, eq=False)
class Run:
    """One trained model's predictions on one part of one split."""

    split: str
    family: str
    """Method of the split: `random-1` and `random-2` are both of the family `random`."""
    seed: int
    gold: Codes
    probabilities: Floats
    label_names: tuple[str, ...]
    groups: Codes | None = None
    """Rows with equal numbers are drawn together."""
    sample: str = ""
    """Runs with the same sample were tested on the same rows, and share draws of them; by default, the split."""

    def __post_init__(self) -> None:
        lengths = {len(self.gold), len(self.probabilities), len(self.gold if self.groups is None else self.groups)}
        if len(lengths) > 1 or not len(self.gold):
            raise InputError(f"the run {self.split!r} needs one gold label, answer and unit per row, and a row")
        object.__setattr__(self, "sample", self.sample or self.split)

    @classmethod
    def of(
        cls,
        data: Dataset,
        predictions: Predictions,
        rows: Rows,
        *,
        split: str,
        family: str,
        seed: int,
        groups: str | None = None,
    ) -> Run:
        """The run of these predictions on these rows of `data`; `groups` is the attribute drawn together."""
        group = groups_of_rows(data, rows, groups)
        sample = hashlib.sha256(np.asarray(rows, np.int64).tobytes()).hexdigest()[:16]
        probabilities = aligned(data, predictions, rows)
        return cls(split, family, seed, data.labels[rows], probabilities, data.label_names, group, sample)

    def only(self, where: Mask) -> Run:
        """The run on these of its rows alone."""
        mark = hashlib.sha256(np.packbits(where).tobytes()).hexdigest()[:8]
        return replace(
            self,
            gold=self.gold[where],
            probabilities=self.probabilities[where],
            groups=None if self.groups is None else self.groups[where],
            sample=f"{self.sample}/{mark}",
        )

    def score(self, chosen: Metric) -> float | None:
        """The metric of this run."""
        return chosen(self.gold, self.probabilities, self.label_names)


class OverSeeds(NamedTuple):
    """Mean of several values, its standard error and the 95 % interval by Student's t; None from one value."""

    mean: float
    standard_error: float | None
    low: float | None
    high: float | None


def over_seeds(values: Sequence[float]) -> OverSeeds:
    """Mean ± standard error, sd (n − 1) / √n, of the values of several seeds.

    >>> over_seeds([0.70, 0.66, 0.68]).standard_error.__round__(4)
    0.0115
    """
    n = len(values)
    if n == 0:
        raise InputError("no values, no mean")
    mean = float(np.mean(values))
    if n == 1:
        return OverSeeds(mean, None, None, None)
    error = float(np.std(values, ddof=1)) / n**0.5
    reach = Spread(error, n - 1).reach
    return OverSeeds(mean, error, mean - reach, mean + reach)


def level(
    runs: Sequence[Run],
    name: str,
    *,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
    drawn: Resampled | None = None,
) -> list[Measurement]:
    """Mean over runs with its 95 % interval, then, of several runs, `standard_error.METRIC`, the spread of runs alone.

    The tags `standard_error` and `df` are those of the interval (see `_spread`), `seeds` is the number of training
    seeds. With one seed only rows are drawn, and the interval says nothing about training again. Where no interval
    would hold there is none, and a tag of `intervals.refusal` says why. `drawn` is what `resampled` gives for these
    runs among others, where many levels and falls are of the same ones.
    """
    chosen, tags = metric(name), {"seed": "mean", **(tags or {})}
    scores, n = _scores(runs, chosen), _tested_rows(runs)
    if scores is None:
        return [Measurement(chosen.id, None, 0, tags=tags)]
    mean, error, _, _ = over_seeds(scores)
    refused = _refused(runs, chosen)
    values = resampled(runs, chosen, draws, seed) if drawn is None else drawn
    spread = _spread([_by_seed(runs, values)], _fewest_groups(runs))
    low, high = within(mean, spread, chosen.low, chosen.high) if spread and not refused else (None, None)
    levels = [Measurement(chosen.id, mean, n, low, high, tags=tags | refused | _statistics(spread, [runs]))]
    return levels if error is None else [*levels, Measurement(f"standard_error.{chosen.id}", error, n, tags=tags)]


def fall(
    reference: Sequence[Run],
    hard: Sequence[Run],
    name: str,
    *,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
    drawn: Resampled | None = None,
) -> Measurement:
    """`fall.METRIC`: by how much the mean of `hard` is worse than that of `reference`; positive is worse.

    For metrics of which less is better, the sign is turned. Where both sides have the same seeds on the same rows,
    what varies is the difference of each seed. Else the sides vary apart, but for rows that they share. Tags and
    refusals are those of `level`; `seeds` is the smaller number of the two sides. Averages over many labels of few
    rows are not refused: their bias is on both sides.
    """
    chosen, tags = metric(name), dict(tags or {})
    before, after = _scores(reference, chosen), _scores(hard, chosen)
    if before is None or after is None:
        return Measurement(f"fall.{chosen.id}", None, 0, tags=tags)
    sign, runs = 1.0 if chosen.higher_is_better else -1.0, [*reference, *hard]
    value = sign * (float(np.mean(before)) - float(np.mean(after)))
    drawn = resampled(runs, chosen, draws, seed) if drawn is None else drawn
    first, second = (_by_seed(side, drawn) for side in (reference, hard))
    on_reference, on_hard = ({(run.seed, run.sample) for run in side} for side in (reference, hard))
    sides = [first - second] if on_reference == on_hard else [first, -second]
    spread = _spread(sides, _fewest_groups(runs))
    refused = {tag: reason for tag, reason in _refused(runs, chosen).items() if tag != "few_rows"}
    low, high = apart(value, spread, chosen.high - chosen.low) if spread and not refused else (None, None)
    tags |= refused | _statistics(spread, [reference, hard])
    return Measurement(f"fall.{chosen.id}", value, _tested_rows(hard), low, high, tags=tags)


def _scores(runs: Sequence[Run], chosen: Metric) -> list[float] | None:
    """The metric of each run; None when one of them has none."""
    if not runs:
        raise InputError("no runs, nothing to measure")
    scores = [run.score(chosen) for run in runs]
    return None if None in scores else [float(score) for score in scores if score is not None]


def _tested_rows(runs: Sequence[Run]) -> int:
    return sum({run.sample: len(run.gold) for run in runs}.values())


def _fewest_groups(runs: Sequence[Run]) -> float:
    """What the groups, or rows, of any of the runs are worth at least."""
    return min(effective_groups(run.gold, run.groups) for run in runs)


def _refused(runs: Sequence[Run], chosen: Metric) -> dict[str, int | float]:
    """The tags of the runs that no interval would hold for."""
    return {
        tag: reason for run in runs for tag, reason in refusal(chosen, run.gold, run.label_names, run.groups).items()
    }


def _statistics(spread: Spread | None, sides: Sequence[Sequence[Run]]) -> dict[str, Any]:
    seeds = min(len({run.seed for run in side}) for side in sides)
    return {"seeds": seeds} | ({} if spread is None else spread._asdict() | spread.tags)


def resampled(runs: Sequence[Run], chosen: Metric, draws: int = DRAWS, seed: int = 42) -> Resampled:
    """The metric of each run (by identity) on its rows, then on resampled ones [1 + draws].

    Runs on the same rows share the draws.
    """
    drawn: dict[int, Floats] = {}
    for sample in dict.fromkeys(run.sample for run in runs):
        sharing = [run for run in runs if run.sample == sample]
        one = sharing[0]
        if any(not np.array_equal(run.gold, one.gold) for run in sharing):
            raise InputError(f"the runs on {sample!r} were tested on different rows", fix="name their samples apart")
        values = bootstrap(
            chosen,
            one.gold,
            [run.probabilities for run in sharing],
            one.label_names,
            groups=one.groups,
            draws=draws,
            seed=child_seed(seed, "rows", sample),
        )
        for run, resampled in zip(sharing, values, strict=True):
            drawn[id(run)] = np.array([run.score(chosen), *resampled], dtype=np.float64)  # None becomes NaN
    return drawn


def _by_seed(runs: Sequence[Run], drawn: Resampled) -> Floats:
    """The mean over the runs of each seed [seeds, 1 + draws]."""
    seeds = sorted({run.seed for run in runs})
    return np.array([np.mean([drawn[id(run)] for run in runs if run.seed == seed], axis=0) for seed in seeds])


def _spread(sides: Sequence[Floats], groups: float) -> Spread | None:
    """The spread of the sum over sides of the mean over seeds; each side is [seeds, 1 + draws], observed values first.

    The variance has two parts: from luck with rows that seeds share, and over seeds. Seeds differ by training and by
    luck with rows of their own, so the second part is at least what rows explain of it: a few seeds may be alike by
    chance. Each part is weighed by the quantile of Student's t with its own degrees of freedom; `df` gives the same
    interval with one. Satterthwaite's would be too many where two or three seeds happen to be alike.
    """
    from scipy.special import stdtridf, stdtrit

    rows = spread_of(sum(side.mean(axis=0) for side in sides)[1:], groups)
    several = [side for side in sides if len(side) > 1]
    if rows is None or not several:
        return rows
    seeds = sum(side[:, 0].var(ddof=1) / len(side) for side in several)
    own = sum(np.nanmean((side[:, 1:] - side[:, :1]).var(axis=0, ddof=1)) / len(side) for side in several)
    shared = max(0.0, rows.standard_error**2 - own)
    of_rows, of_seeds = (stdtrit(df, 0.975) ** 2 for df in (rows.df, sum(len(side) - 1 for side in several)))
    error = (shared + max(seeds, own)) ** 0.5
    if not error:
        return rows
    reach = (of_rows * shared + max(of_seeds * seeds, of_rows * own)) ** 0.5
    return Spread(float(error), min(rows.df, float(stdtridf(0.975, reach / error))))
