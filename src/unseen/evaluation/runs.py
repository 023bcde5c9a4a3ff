"""Several trained models on one or more test parts: their level, and the fall from one family to another.

A score varies with the training seed and with the texts that happened to be tested. `level` and `fall`
draw both. Three seeds are few: the spread they show is itself uncertain, and an interval that rests
on it covers the truth less often than 95 % when seeds matter more than texts. Where seeds disagree text
by text, that luck is drawn with both and the interval is rather too wide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.evaluation.intervals import DRAWS, bootstrap, percentiles
from unseen.evaluation.measuring import aligned, unit_codes
from unseen.evaluation.metrics import Codes, Floats, Metric, metric
from unseen.seeding import child_seed, generator
from unseen.types import Dataset, Measurement, Predictions


@dataclass(frozen=True, eq=False)
class Run:
    """One trained model's answers on one part of one split."""

    split: str
    family: str
    """Method of the split: `random-1` and `random-2` are both of the family `random`."""
    seed: int
    gold: Codes
    probabilities: Floats
    label_names: tuple[str, ...]
    units: Codes | None = None
    """Rows with equal numbers are drawn together."""
    sample: str = ""
    """Runs with the same sample were tested on the same rows, and share draws of them; by default, the split."""

    def __post_init__(self) -> None:
        lengths = {len(self.gold), len(self.probabilities), len(self.gold if self.units is None else self.units)}
        if len(lengths) > 1 or not len(self.gold):
            raise InputError(f"the run {self.split!r} needs one gold label, answer and unit per row, and a row")
        object.__setattr__(self, "sample", self.sample or self.split)

    @classmethod
    def of(
        cls,
        data: Dataset,
        predictions: Predictions,
        rows: npt.NDArray[np.intp],
        *,
        split: str,
        family: str,
        seed: int,
        groups: str | None = None,
    ) -> Run:
        """The run of these predictions on these rows of `data`; `groups` is the attribute drawn together."""
        units = None if groups is None else unit_codes(data.attribute(groups))[rows]
        sample = hashlib.sha256(np.asarray(rows, np.int64).tobytes()).hexdigest()[:16]
        probabilities = aligned(data, predictions, rows)
        return cls(split, family, seed, data.labels[rows], probabilities, data.label_names, units, sample)

    def only(self, where: npt.NDArray[np.bool_]) -> Run:
        """The run on these of its rows alone."""
        units = None if self.units is None else self.units[where]
        mark = hashlib.sha256(np.packbits(where).tobytes()).hexdigest()[:8]
        return replace(
            self,
            gold=self.gold[where],
            probabilities=self.probabilities[where],
            units=units,
            sample=f"{self.sample}/{mark}",
        )


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
    from scipy.stats import t

    n = len(values)
    if n == 0:
        raise InputError("no values, no mean")
    mean = float(np.mean(values))
    if n == 1:
        return OverSeeds(mean, None, None, None)
    error = float(np.std(values, ddof=1)) / n**0.5
    reach = float(t.ppf(0.975, n - 1)) * error
    return OverSeeds(mean, error, mean - reach, mean + reach)


def level(
    runs: Sequence[Run],
    name: str,
    *,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """Mean over runs with its 95 % interval, then, of several runs, `standard_error.METRIC`.

    The interval is a bootstrap in two stages. Seeds: n − 1 of n with replacement, which makes the
    variance of their mean right (n of n would make it too small by 1/n). Rows of each tested part: one
    draw for all runs on the same rows, because they share the texts. The splits of a family are not
    drawn: what differs between them is their rows. With one seed only rows are drawn, and the interval
    says nothing about training again.
    """
    chosen, tags = metric(name), {"seed": "mean", **(tags or {})}
    values, n = _values(runs, chosen), _rows(runs)
    if values is None:
        return [Measurement(name, None, 0, tags=tags)]
    mean, error, _, _ = over_seeds(values)
    drawn = _drawn(runs, chosen, draws, seed)
    bounds = percentiles(_means(runs, drawn, seed_weights([runs], draws, seed)[0]))
    low, high = bounds or (None, None)
    found = [Measurement(name, mean, n, low, high, tags=tags)]
    return found if error is None else [*found, Measurement(f"standard_error.{name}", error, n, tags=tags)]


def fall(
    reference: Sequence[Run],
    hard: Sequence[Run],
    name: str,
    *,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Measurement:
    """`fall.METRIC`: by how much the mean of `hard` is worse than that of `reference`; positive is worse.

    For metrics of which less is better, the sign is turned. The interval is the bootstrap of `level`,
    with the same drawn seeds, and the same drawn rows where rows are shared, on both sides.
    """
    chosen = metric(name)
    sign = 1.0 if chosen.higher_is_better else -1.0
    before, after = _values(reference, chosen), _values(hard, chosen)
    tags = dict(tags or {})
    if before is None or after is None:
        return Measurement(f"fall.{name}", None, 0, tags=tags)
    value = sign * (float(np.mean(before)) - float(np.mean(after)))
    drawn = _drawn([*reference, *hard], chosen, draws, seed)
    weights = seed_weights([reference, hard], draws, seed)
    means = [_means(runs, drawn, each) for runs, each in zip((reference, hard), weights, strict=True)]
    low, high = percentiles(sign * (means[0] - means[1])) or (None, None)
    return Measurement(f"fall.{name}", value, _rows(hard), low, high, tags=tags)


def seed_weights(sides: Sequence[Sequence[Run]], draws: int, seed: int) -> list[dict[int, Floats]]:
    """How often each seed is drawn [draws], for each side: seeds that all sides have are drawn together.

    Seeds that only one side has are drawn among themselves, so every side always has some.
    """
    draw = generator(seed, "seeds")
    present = [{run.seed for run in runs} for runs in sides]
    shared = sorted(set.intersection(*present))
    together = _times(shared, draws, draw)
    return [together | _times(sorted(each - set(shared)), draws, draw) for each in present]


def _times(seeds: Sequence[int], draws: int, draw: np.random.Generator) -> dict[int, Floats]:
    n = len(seeds)
    if n < 2:
        return {each: np.ones(draws) for each in seeds}
    picked = draw.integers(n, size=(draws, n - 1))
    # scaled so that a stratum of n seeds weighs n
    return {each: (picked == place).sum(axis=1) * (n / (n - 1)) for place, each in enumerate(seeds)}


def _values(runs: Sequence[Run], chosen: Metric) -> list[float] | None:
    if not runs:
        raise InputError("no runs, nothing to measure")
    values = [chosen(run.gold, run.probabilities, run.label_names) for run in runs]
    return None if None in values else [float(each) for each in values if each is not None]


def _rows(runs: Sequence[Run]) -> int:
    return sum({run.sample: len(run.gold) for run in runs}.values())


def _drawn(runs: Sequence[Run], chosen: Metric, draws: int, seed: int) -> dict[int, Floats]:
    """The metric of each run (by identity) on resampled rows [draws]; runs on the same rows share the draws."""
    found: dict[int, Floats] = {}
    for sample in dict.fromkeys(run.sample for run in runs):
        some = [run for run in runs if run.sample == sample]
        one = some[0]
        if any(not np.array_equal(run.gold, one.gold) for run in some):
            raise InputError(f"the runs on {sample!r} were tested on different rows", fix="name their samples apart")
        values = bootstrap(
            chosen,
            one.gold,
            [run.probabilities for run in some],
            one.label_names,
            groups=one.units,
            draws=draws,
            seed=child_seed(seed, "rows", sample),
        )
        found |= {id(run): each for run, each in zip(some, values, strict=True)}
    return found


def _means(runs: Sequence[Run], drawn: Mapping[int, Floats], weights: Mapping[int, Floats]) -> Floats:
    """The mean over runs in each draw; NaN where a run that was drawn has no value."""
    table = np.array([drawn[id(run)] for run in runs])
    times = np.array([weights[run.seed] for run in runs])
    total = np.where(times > 0, table * times, 0.0).sum(axis=0)
    return np.asarray(total / times.sum(axis=0))
