"""The score over the distance between training and test, and the area under it as one number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, percentiles
from unseen.evaluation.intervals import Bounds
from unseen.seeding import generator
from unseen.types import Measurement
from unseen.types.arrays import Floats


@dataclass(frozen=True)
class Point:
    """One split: how far its test part is from training, and what was scored there."""

    split: str
    distance: float
    scores: Mapping[int, float]
    """Score of each training, by seed."""

    def __post_init__(self) -> None:
        if not self.scores or not np.isfinite([self.distance, *self.scores.values()]).all():
            raise InputError(f"the split {self.split!r} has no place on the curve", expected="a distance and a score")

    @property
    def score(self) -> float:
        """Mean over seeds."""
        return float(np.mean(list(self.scores.values())))


@dataclass(frozen=True)
class Curve:
    """Points by rising distance, and the area under them."""

    points: tuple[Point, ...]
    area: Measurement


def difficulty_curve(points: Iterable[Point], metric: str, *, draws: int = DRAWS, seed: int = 42) -> Curve:
    """The points by rising distance, and `difficulty_area.METRIC`.

    The area is that under straight lines between the points, with the distance scaled so that the nearest
    split is at 0 and the farthest at 1: the mean score over the range of distances. 1 is a score of 1 that
    never falls; a score that never falls has its own value as area. Splits at the same distance count as
    one, their mean. Only areas over the same range compare: of another family of splits, or another model's
    vectors, 0 and 1 are other distances. Without two different distances there is no area.

    With two or more seeds at every point, the area has a 95 % interval by a bootstrap of seeds, n − 1 of n
    with replacement as in `evaluation.level`; points with the same seeds share the draw. It knows nothing of
    the luck of the texts, and three seeds make it rough. `n` counts splits.
    """
    ordered = tuple(sorted(points, key=lambda point: (point.distance, point.split)))
    name = f"difficulty_area.{metric}"
    weights = area_weights([point.distance for point in ordered])
    if weights is None:
        tags = {"reason": "fewer than two different distances"}
        return Curve(ordered, Measurement(name, None, len(ordered), tags=tags))
    value = float(weights @ [point.score for point in ordered])
    low, high = _interval(ordered, weights, draws, seed)
    return Curve(ordered, Measurement(name, value, len(ordered), low, high))


def area_weights(distances: Sequence[float]) -> Floats | None:
    """What each point counts in the area, in the order given; they sum to one. None without two distances.

    >>> area_weights([1.0, 1.25, 2.0]).tolist()
    [0.125, 0.5, 0.375]
    """
    places, of, times = np.unique(np.asarray(distances, np.float64), return_inverse=True, return_counts=True)
    if len(places) < 2:
        return None
    # halved before the difference, which could overflow
    gaps = np.diff(places / 2)
    shares = gaps / gaps.sum()
    trapezoid = (np.append(shares, 0.0) + np.insert(shares, 0, 0.0)) / 2
    return np.asarray((trapezoid / times)[of.reshape(-1)])


def _interval(points: Sequence[Point], weights: Floats, draws: int, seed: int) -> Bounds:
    if min(len(point.scores) for point in points) < 2:
        return None, None
    drawn = {seeds: _drawn(seeds, draws, seed) for seeds in {tuple(sorted(point.scores)) for point in points}}
    areas = np.zeros(draws)
    for point, weight in zip(points, weights, strict=True):
        seeds = tuple(sorted(point.scores))
        areas += weight * (drawn[seeds] @ [point.scores[one] for one in seeds])
    return percentiles(areas) or (None, None)


def _drawn(seeds: tuple[int, ...], draws: int, seed: int) -> Floats:
    """Share of each seed in each draw [draws, seeds]."""
    n = len(seeds)
    picked = generator(seed, "difficulty", *seeds).integers(n, size=(draws, n - 1))
    return np.asarray((picked[:, :, None] == np.arange(n)).mean(axis=1))
