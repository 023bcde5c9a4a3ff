"""Which properties of splits go with the score, over all splits of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atanh, isfinite, sqrt, tanh

import numpy as np

from unseen.evaluation.contrasts import with_holm
from unseen.evaluation.intervals import Bounds
from unseen.types import Measurement
from unseen.types.arrays import Floats

Key = tuple[str, str, str]
"""Metric, slice and part of a property."""

COEFFICIENTS = ("pearson", "spearman")
FEWEST = 3
"""Any two points lie on a line."""
FEWEST_FOR_INTERVAL = 4
HALF_WIDTH = 1.959963984540054
"""Of the standard normal distribution, 95 % lie within so many deviations."""


def correlations(properties: Sequence[Measurement], scores: Sequence[Measurement]) -> list[Measurement]:
    """`pearson` and `spearman` of every property with every score over splits; n counts splits.

    Both are joined by the tag `split`. A property is a metric, a slice and a part; a score is a metric on
    the slice `all` of the test part, and several scores of a split (its seeds) become their mean. Of several
    models give one at a time: their mean hides that they differ.

    The tags name `property` and `score`, and hold the two-sided `p` of Student's t and `p.holm`, adjusted
    for all rows of the same coefficient (Holm 1979): give only the properties you would have looked at.
    Pearson's 95 % interval is Fisher's (z = artanh r), missing below four splits. Where there is no value,
    the tag `reason` says why. Splits of one study are few and alike (the same data, often the same vectors),
    so p is too small, and a property that goes with the score need not cause it.
    """
    tested = [row for row in scores if row.slice == "all" and row.tags.get("part", "test") == "test"]
    by_score = _by_split([(row, (row.metric, "", "")) for row in tested])
    by_property = _by_split([(row, (row.metric, row.slice, str(row.tags.get("part", "")))) for row in properties])
    table = [
        coefficient
        for of, values in by_property.items()
        for score, reached in by_score.items()
        for coefficient in _coefficients(of, score[0], values, reached)
    ]
    return with_holm(table, family=lambda row: row.metric)


def _by_split(rows: Sequence[tuple[Measurement, Key]]) -> dict[Key, dict[str, float]]:
    """The mean of the known values of each split, by key."""
    values: dict[Key, dict[str, list[float]]] = {}
    for row, key in rows:
        if row.value is not None and isfinite(row.value) and "split" in row.tags:
            values.setdefault(key, {}).setdefault(str(row.tags["split"]), []).append(row.value)
    return {
        key: {split: float(np.mean(of_split)) for split, of_split in by_split.items()}
        for key, by_split in values.items()
    }


def _coefficients(of: Key, score: str, values: Mapping[str, float], reached: Mapping[str, float]) -> list[Measurement]:
    from scipy.stats import rankdata

    both = [name for name in values if name in reached]
    x, y = (np.array([by_split[name] for name in both], np.float64) for by_split in (values, reached))
    metric, slice_, part = of
    tags = {"property": metric, "score": score} | ({"part": part} if part else {})
    reason = _no_value(x, y)
    if reason:
        tags["reason"] = reason
        return [Measurement(name, None, len(x), slice=slice_, tags=tags) for name in COEFFICIENTS]
    n, r, rank = len(x), _pearson(x, y), _pearson(rankdata(x), rankdata(y))
    low, high = _interval(r, n)
    return [
        Measurement("pearson", r, n, low, high, slice_, {**tags, "p": _p_value(r, n)}),
        Measurement("spearman", rank, n, slice=slice_, tags={**tags, "p": _p_value(rank, n)}),
    ]


def _no_value(x: Floats, y: Floats) -> str:
    if len(x) < FEWEST:
        return f"fewer than {FEWEST} splits"
    if _constant(x):
        return "the property is the same in all splits"
    return "the score is the same in all splits" if _constant(y) else ""


def _constant(values: Floats) -> bool:
    """Whether the values differ by no more than rounding."""
    scaled = values / (np.abs(values).max() or 1.0)
    return bool(np.ptp(scaled) < 1e-13)


def _pearson(x: Floats, y: Floats) -> float:
    return float(np.clip(_direction(x) @ _direction(y), -1.0, 1.0))


def _direction(values: Floats) -> Floats:
    """The values about their mean, of length one; scaled first, so that no square overflows."""
    scaled = values / np.abs(values).max()
    centred = scaled - scaled.mean()
    return np.asarray(centred / np.linalg.norm(centred))


def _p_value(r: float, n: int) -> float:
    """Two-sided, from t = r √(n − 2) / √(1 − r²)."""
    from scipy.stats import t

    rest = (1 - r) * (1 + r)
    return 2 * float(t.sf(abs(r) * sqrt((n - 2) / rest), n - 2)) if rest > 0 else 0.0


def _interval(r: float, n: int) -> Bounds:
    if n < FEWEST_FOR_INTERVAL:
        return None, None
    if abs(r) >= 1:
        return r, r
    reach = HALF_WIDTH / sqrt(n - 3)
    return tanh(atanh(r) - reach), tanh(atanh(r) + reach)
