"""How far annotators agree beyond chance: Fleiss' kappa and Krippendorff's alpha, with missing ratings.

Both are functions of sums over items, so a bootstrap is a matrix product. Fleiss (1971), Psychological Bulletin 76;
Krippendorff, Content Analysis (2004), chapter 11. Neither says that a label is right, only that people share it;
both fall when one label is rare although people disagree no more often, so read them beside the plain agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, group_numbers, percentiles, times_drawn
from unseen.evaluation.intervals import Bounds
from unseen.registry import require_known
from unseen.seeding import generator
from unseen.types import Measurement
from unseen.types.arrays import Codes, Floats, Rows, blocks

Ratings = Sequence[Sequence[Any]] | npt.NDArray[Any]
"""Ratings [items, raters]; None and NaN are missing."""
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def rating_counts(ratings: Ratings) -> tuple[Floats, list[Any]]:
    """How often each item got each value [items, values], and the values in order; None and NaN are missing."""
    rows = [[value for value in row if value is not None and value == value] for row in ratings]
    values = _sorted([value for row in rows for value in row])
    place = {value: at for at, value in enumerate(values)}
    counts = np.zeros((len(rows), len(values)))
    items = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    codes = np.array([place[value] for row in rows for value in row], dtype=np.intp)
    np.add.at(counts, (items, codes), 1)
    return counts, values


def _sorted(values: Collection[Any]) -> list[Any]:
    try:
        return sorted(set(values))
    except TypeError as cause:
        kinds = sorted({type(value).__name__ for value in values})
        raise InputError(
            "ratings must be values of one kind", expected="all texts, or all numbers", got=" and ".join(kinds)
        ) from cause


def majority(ratings: Ratings) -> list[Any]:
    """The value that most raters gave each item; None where there is no single one.

    >>> majority([["a", "a", "b"], ["a", "b", None]])
    ['a', None]
    """
    counts, values = rating_counts(ratings)
    if not values:
        return [None] * len(counts)
    top = counts.max(axis=1)
    single = ((counts == top[:, None]).sum(axis=1) == 1) & (top > 0)
    return [values[at] if alone else None for at, alone in zip(counts.argmax(axis=1).tolist(), single, strict=True)]


def fleiss_kappa(counts: npt.ArrayLike) -> float | None:
    """Fleiss' kappa of how often each item got each value [items, values].

    Items may have different numbers of raters; those with fewer than two are left out. None when there are no
    others, or when all ratings are the same: chance alone then agrees fully.
    """
    return _value(_kappa, _kappa_sums(_checked(counts)))


def krippendorff_alpha(ratings: Ratings, level: str = "nominal", order: Sequence[Any] | None = None) -> float | None:
    """Krippendorff's alpha of ratings [items, raters]; None and NaN are missing.

    `level` says what the values are: names (nominal), ranks (ordinal), numbers (interval), or numbers with a true
    zero (ratio); numbers may be written as texts. Ranks that are not numbers need an `order`, the lowest first. None
    when no item has two ratings, or when all of these are the same.
    """
    counts, values = rating_counts(ratings)
    return _value(_alpha(values, level, order), _alpha_sums(counts))


def agreement(
    counts: npt.ArrayLike,
    values: Sequence[Any],
    *,
    level: str = "nominal",
    order: Sequence[Any] | None = None,
    groups: Codes | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """Plain agreement of pairs of raters, kappa and alpha, each with a 95 % interval from drawing items.

    `level` and `order` are those of `krippendorff_alpha`. `groups` (a number per item) are drawn whole: items of one
    template are not independent.
    """
    table = _checked(counts)
    rated = table.sum(axis=1) >= 2
    table, n = table[rated], int(rated.sum())
    group = None if groups is None else np.asarray(groups)[rated]
    measurements = []
    for metric, of, sums in (
        ("rater_agreement", lambda sums: sums[..., 0] / sums[..., 1], _kappa_sums(table)),
        ("fleiss_kappa", _kappa, _kappa_sums(table)),
        (f"krippendorff_alpha.{level}", _alpha(values, level, order), _alpha_sums(table)),
    ):
        value = _value(of, sums)
        low, high = (None, None) if value is None else _interval(of, sums, group, seed)
        measurements.append(Measurement(metric, value, n if value is not None else 0, low, high))
    return measurements


def _checked(counts: npt.ArrayLike) -> Floats:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any() or (table % 1 != 0).any():
        raise InputError("counts must be whole numbers of raters, a row per item and a column per value")
    return table


def _kappa_sums(counts: Floats) -> Floats:
    """Per item [items, 2 + values]: pairs that agree, whether there are two raters, ratings of each value."""
    raters = counts.sum(axis=1)
    rated = raters >= 2
    pairs = np.where(rated, raters * (raters - 1), 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / pairs
    return np.column_stack([agreeing * rated, rated, counts * rated[:, None]])


def _kappa(sums: Floats) -> Floats:
    observed = sums[..., 0] / sums[..., 1]
    ratings = sums[..., 2:]
    chance = ((ratings / ratings.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return np.asarray((observed - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan))


def _alpha_sums(counts: Floats) -> Floats:
    """Per item, its pairs of values weighted by one over its raters less one [items, values * values]."""
    raters = counts.sum(axis=1)
    weight = np.where(raters >= 2, 1 / np.maximum(raters - 1, 1), 0)
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(counts.shape[1]))
    return (pairs * weight[:, None, None]).reshape(len(counts), counts.shape[1] ** 2)


def _numbers(values: Sequence[Any]) -> Floats | None:
    """The values as numbers, also where they are written as texts; None when one of them is none."""
    try:
        numbers = np.array([float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _measured(values: Sequence[Any], level: str) -> Floats:
    """The values as numbers, for the levels that calculate with them."""
    numbers = _numbers(values)
    if numbers is None:
        raise InputError(f"the level {level} needs numbers", got=repr(list(values)[:5]), fix="nominal or ordinal")
    if level == "ratio" and (numbers < 0).any():
        raise InputError("the level ratio needs numbers from zero on", got=repr(numbers.min()), fix="interval")
    return numbers


def _ranks(values: Sequence[Any], order: Sequence[Any] | None) -> Rows:
    """Places of the values from the lowest to the highest: as `order` says, or as numbers."""
    if order is not None:
        lacking = [value for value in values if value not in order]
        if lacking or len(set(order)) < len(order):
            raise InputError("order must name every value once", expected=repr(list(values)), got=repr(list(order)))
        return np.argsort([list(order).index(value) for value in values])
    numbers = _numbers(values)
    if numbers is None:
        raise InputError(
            "the level ordinal needs numbers, or an order", got=repr(list(values)[:5]), fix="order=[lowest, …, highest]"
        )
    if len(np.unique(numbers)) < len(numbers):
        raise InputError("two values are the same number", got=repr(list(values)), fix="write each in one way")
    return np.argsort(numbers)


def _alpha(values: Sequence[Any], level: str, order: Sequence[Any] | None = None) -> Callable[[Floats], Floats]:
    """Alpha of sums of pairs: one less observed over expected disagreement, from the coincidence matrix."""
    require_known("level of measurement", LEVELS, level)
    if order is not None and level != "ordinal":
        raise InputError(f"order has no effect on the level {level}", expected="order only with level='ordinal'")
    k = len(values)
    numbers = _measured(values, level) if level in ("interval", "ratio") else np.empty(0)
    ranks = _ranks(values, order) if level == "ordinal" else np.empty(0, np.intp)

    def apart(totals: Floats) -> Floats:
        """Squared differences of the values [..., values, values]."""
        if level == "nominal":
            return np.broadcast_to(1 - np.eye(k), (*totals.shape, k))
        if level == "ordinal":
            middle = np.empty_like(totals)
            middle[..., ranks] = np.cumsum(totals[..., ranks], axis=-1) - totals[..., ranks] / 2
            return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)
        difference, total = np.subtract.outer(numbers, numbers), np.add.outer(numbers, numbers)
        if level == "ratio":
            difference = np.divide(difference, total, out=np.zeros((k, k)), where=total != 0)
        return np.broadcast_to(difference**2, (*totals.shape, k))

    def alpha(sums: Floats) -> Floats:
        pairs = sums.reshape(*sums.shape[:-1], k, k)
        totals = pairs.sum(axis=-1)
        n = totals.sum(axis=-1)
        distance = apart(totals)
        observed = (pairs * distance).sum(axis=(-2, -1))
        expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
        return np.asarray(1 - (n - 1) * observed / np.where(expected > 0, expected, np.nan))

    return alpha


def _value(of: Callable[[Floats], Floats], sums: Floats) -> float | None:
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(of(sums.sum(axis=0))) if sums.size else np.nan
    return value if np.isfinite(value) else None


def _interval(of: Callable[[Floats], Floats], sums: Floats, groups: Codes | None, seed: int) -> Bounds:
    """The 95 % interval from drawing items, or whole groups of them."""
    draw = generator(seed, "raters")
    with np.errstate(invalid="ignore", divide="ignore"):
        if groups is None:
            patterns, times = np.unique(sums, axis=0, return_counts=True)
            sizes = blocks(DRAWS, patterns.size)
            drawn = [of(draw.multinomial(len(sums), times / len(sums), size=size) @ patterns) for size in sizes]
        else:
            group = group_numbers(groups, len(sums))
            of_groups = np.zeros((int(group.max()) + 1, sums.shape[1]))
            np.add.at(of_groups, group, sums)
            drawn = [of(often @ of_groups) for often in times_drawn(len(of_groups), DRAWS, draw)]
    return percentiles(np.concatenate(drawn)) or (None, None)
