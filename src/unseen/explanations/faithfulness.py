"""Whether scores of units say what the model uses: units are erased, and the probability is looked at.

::

    scores of the units of each text -> the order of the units, by falling score; equal scores by position
      -> P without the first k units, P with them alone, for every k    (comprehensiveness, sufficiency, AOPC)
      -> the same between the worst and the best order that there is for this model and text    (normalised)
    P without each single unit -> how the scores agree with it, and where single units mislead

A model is seen through `Ask` alone, which names how it erases: by deleting or by masking. Results are arrays over
texts; NaN where a text has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from unseen.errors import InputError
from unseen.types.arrays import Floats, Mask, Rows

Ask = Callable[[Rows, Sequence[Mask]], Floats]
"""`ask(texts, kept)`: for each request the probability of the class that is explained for the text `texts[i]` when only
its units `kept[i]` stay. Requests of all texts come together; batches, and answers kept for later, are its business."""
TOP = 5
"""Units of a rationale, as in HateXplain."""
PERCENTS = (1, 5, 10, 20, 50)
"""Shares of the units whose erasure is averaged, as in ERASER."""
EXACT = 8
"""Up to so many units all subsets are asked for, so that bounds are exact."""
WIDTH = 5
"""Sets of units that the search for bounds of longer texts keeps at each depth."""
DECISIVE_DROP = 0.05
"""A unit whose erasure moves the probability by less has no sign to agree with."""
MISLEADING = 0.1
"""Single erasure misleads where a pair of units moves the probability by so much more or less than the sum of both
alone: twice `DECISIVE_DROP`, once for each unit."""
SAME = 1e-6
"""Probabilities that are nearer than this differ by rounding alone."""


@dataclass(frozen=True, eq=False)
class ErasureBounds:
    """The full-range comprehensiveness of the worst and the best order of each text's units, for one model."""

    lowest: Floats
    highest: Floats
    emptied: Floats
    """(P(x) − P(no unit)) / units. The sufficiency of an order is the comprehensiveness of the reversed order less
    this: both pass through the same sets, but one ends with all units, the other with none."""
    exact: Mask
    """Where all orders were considered. Elsewhere a search found the bounds, and an order may lie slightly beyond."""

    def comprehensiveness(self, values: Floats) -> Floats:
        """Full-range comprehensiveness from 0, the worst order, to 1, the best; NaN where all orders are the same."""
        return _ratio(values - self.lowest, self.highest - self.lowest)

    def sufficiency(self, values: Floats) -> Floats:
        """Full-range sufficiency from 0, the worst (highest) of all orders, to 1, the best; NaN as above."""
        return _ratio(self.highest - self.emptied - values, self.highest - self.lowest)


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """The faithfulness of one method's scores, one number per text."""

    comprehensiveness: Floats
    """P(x) − P(x without the top units): higher is better."""
    sufficiency: Floats
    """P(x) − P(the top units alone): lower is better."""
    comprehensiveness_aopc: Floats
    """Mean over the top 1, 5, 10, 20, 50 % of the units, rounded up; equal sets count once."""
    sufficiency_aopc: Floats
    comprehensiveness_full: Floats
    """Mean over the top 1, 2, …, all units."""
    sufficiency_full: Floats
    comprehensiveness_normalised: Floats
    """The full range between the worst order, 0, and the best, 1; NaN without bounds."""
    sufficiency_normalised: Floats
    tau: Floats
    """Kendall's τ-b of the scores with the drops by single erasure."""
    pearson: Floats
    signs_right: Floats
    """Units of equal sign as their drop, of those that move the probability by `DECISIVE_DROP`."""
    signs_decided: Floats
    """Units that move the probability by `DECISIVE_DROP`."""
    top_unit: Floats
    """1 where the largest score in size and the largest drop in size are of the same unit, else 0."""
    interaction: Floats
    """Drop of the pair of units with the largest drops in size, less the sum of both drops."""
    interaction_top: Floats
    """The same of the pair with the highest scores."""
    misled: Floats
    """1 where either interaction is at least `MISLEADING` in size, else 0."""


def faithfulness(
    ask: Ask,
    scores: Sequence[Floats],
    *,
    drops: Sequence[Floats] | None = None,
    bounds: ErasureBounds | None = None,
    k: int = TOP,
    absolute: bool = False,
) -> Faithfulness:
    """The faithfulness of `scores` of the units of each text; higher speaks for the class.

    Units are erased by falling score, or by its size with `absolute`, which changes nothing for a method without
    signs. `drops` (`leave_one_out`) and `bounds` (`erasure_bounds`) are the same for every method: hand them on.
    """
    for row, values in enumerate(scores):
        if values.ndim != 1 or not np.isfinite(values).all():
            raise InputError(f"the scores of text {row} are not one finite number per unit")
    drops = leave_one_out(ask, [len(values) for values in scores]) if drops is None else drops
    orders = [_order(np.abs(values) if absolute else values) for values in scores]
    levels = np.array([_levels(path, k) for path in _paths(ask, orders)]).reshape(-1, 6).T
    normalised = [np.full(len(scores), np.nan)] * 2
    if bounds is not None:
        normalised = [bounds.comprehensiveness(levels[4]), bounds.sufficiency(levels[5])]
    pairs = _interactions(ask, drops, [[_order(np.abs(drop))[:2] for drop in drops], [order[:2] for order in orders]])
    misled = np.where(np.isnan(pairs[0]), np.nan, (np.abs(pairs) >= MISLEADING).any(axis=0))
    columns = [*levels, *normalised, *agreement(scores, drops), *pairs, misled]
    return Faithfulness(**{field.name: values for field, values in zip(fields(Faithfulness), columns, strict=True)})


def leave_one_out(ask: Ask, sizes: Sequence[int]) -> list[Floats]:
    """P(x) − P(x without the unit) for each unit of texts that have so many."""
    requests = [~np.eye(size + 1, size, -1, dtype=bool) for size in sizes]
    return [answers[0] - answers[1:] for answers in _answers(ask, range(len(sizes)), requests)]


def agreement(scores: Sequence[Floats], drops: Sequence[Floats]) -> Floats:
    """How scores agree with the drops by single erasure: `tau` to `top_unit` of `Faithfulness` [5, texts]."""
    return np.array([_agreement(*both) for both in zip(scores, drops, strict=True)]).reshape(-1, 5).T


def erasure_bounds(ask: Ask, sizes: Sequence[int], *, width: int = WIDTH, exact: int = EXACT) -> ErasureBounds:
    """The worst and the best full-range comprehensiveness over all orders of the units of texts that have so many.

    Up to `exact` units by dynamic programming over all subsets, which takes 2 ** units requests; beyond by two beam
    searches that keep `width` sets, about width · units² requests.
    """
    units = np.array(sizes, np.float64)
    ends = _answers(ask, range(len(sizes)), [np.array([[True], [False]]).repeat(size, axis=1) for size in sizes])
    whole, empty = np.array(ends).reshape(-1, 2).T
    sums = np.full((2, len(sizes)), np.nan)  # least and greatest Σ P along a path
    short = [text for text, size in enumerate(sizes) if 0 < size <= exact]
    for text, answers in zip(short, _answers(ask, short, [_subsets(sizes[text]) for text in short]), strict=True):
        sums[:, text] = _least_sum(answers), -_least_sum(-answers)
    long = [text for text, size in enumerate(sizes) if size > exact]
    sums[:, long] = _searched_sums(ask, long, [sizes[text] for text in long], width)
    with np.errstate(invalid="ignore", divide="ignore"):
        return ErasureBounds(whole - sums[1] / units, whole - sums[0] / units, (whole - empty) / units, units <= exact)


def _answers(ask: Ask, texts: Sequence[int], requests: Sequence[Mask]) -> list[Floats]:
    """The answers to the requests [some, units] about each of these texts, asked all at once."""
    if not requests:
        return []
    counts = [len(masks) for masks in requests]
    answers = np.asarray(ask(np.repeat(texts, counts), [mask for masks in requests for mask in masks]), np.float64)
    if answers.shape != (sum(counts),) or not np.isfinite(answers).all():
        raise InputError("a model must give one finite number per request", expected=str((sum(counts),)))
    return np.split(answers, np.cumsum(counts)[:-1])


def _order(values: Floats) -> Rows:
    """Positions by falling value; equal values by position."""
    return np.argsort(-values, kind="stable")


def _paths(ask: Ask, orders: Sequence[Rows]) -> list[Floats]:
    """P(x) less P without the first k units, and less P with them alone [2, units + 1], for k = 0, 1, …, units."""
    requests = []
    for order in orders:
        rank, steps = np.argsort(order), np.arange(len(order) + 1)[:, None]
        requests.append(np.concatenate([rank >= steps, rank < steps]))
    return [answers[0] - answers.reshape(2, -1) for answers in _answers(ask, range(len(orders)), requests)]


def _levels(path: Floats, k: int) -> Floats:
    """Comprehensiveness and sufficiency of the top `k`, of shares, and of all numbers of units."""
    units = path.shape[1] - 1
    if not units:
        return np.full(6, np.nan)
    shares = sorted({-(-units * percent // 100) for percent in PERCENTS})
    return np.concatenate([path[:, min(k, units)], path[:, shares].mean(axis=1), path[:, 1:].mean(axis=1)])


def _agreement(scores: Floats, drops: Floats) -> tuple[float, float, float, float, float]:
    if len(scores) != len(drops):
        raise InputError("every unit needs a score and a drop", expected=str(len(drops)), got=str(len(scores)))
    if not len(drops):
        return np.nan, np.nan, 0.0, 0.0, np.nan
    steps = [np.sign(values[:, None] - values) for values in (scores, np.round(drops / SAME))]
    flat = not np.ptp(scores) or np.ptp(drops) < SAME
    pearson = np.nan if flat else _cosine(scores - scores.mean(), drops - drops.mean())
    decided = np.abs(drops) >= DECISIVE_DROP
    right = np.sign(scores[decided]) == np.sign(drops[decided])
    top = _order(np.abs(scores))[0] == _order(np.abs(drops))[0]
    return _cosine(*steps), pearson, float(right.sum()), float(decided.sum()), float(top)


def _cosine(a: Floats, b: Floats) -> float:
    """Σ ab / √(Σ a² Σ b²): Pearson's r of centred values, Kendall's τ-b of the signs of their differences."""
    norm = ((a**2).sum() * (b**2).sum()) ** 0.5
    return float((a * b).sum() / norm) if norm else np.nan


def _interactions(ask: Ask, drops: Sequence[Floats], pairs: Sequence[Sequence[Rows]]) -> Floats:
    """The drop of each kind of pair less the sum of its single drops [kinds, texts]; NaN with less than two units."""
    requests, sums = [], []
    for drop, *of_text in zip(drops, *pairs, strict=True):
        kept = np.ones((1 + len(of_text), len(drop)), bool)
        for row, pair in enumerate(of_text, 1):
            kept[row, pair] = False
        requests.append(kept)
        sums.append([drop[pair].sum() if len(pair) == 2 else np.nan for pair in of_text])
    answers = np.array(_answers(ask, range(len(drops)), requests)).reshape(-1, 1 + len(pairs))
    return np.asarray((answers[:, :1] - answers[:, 1:] - np.array(sums).reshape(-1, len(pairs))).T)


def _subsets(units: int) -> Mask:
    """All subsets of so many units; row number `n` has the units of the bits of `n`."""
    return np.asarray((np.arange(2**units)[:, None] >> np.arange(units)) & 1 == 1)


def _least_sum(values: Floats) -> float:
    """The least Σ of the values of sets, from all units without one to none, over all orders of erasing them."""
    units = len(values).bit_length() - 1
    members, sums = _subsets(units), values.copy()
    sums[-1] = 0.0  # the whole text is no step
    for left in reversed(range(units)):
        sets = np.flatnonzero(members.sum(axis=1) == left)
        erased = np.nonzero(~members[sets])[1].reshape(len(sets), units - left)
        sums[sets] += sums[sets[:, None] | (1 << erased)].min(axis=1)
    return float(sums[0])


def _searched_sums(ask: Ask, texts: Sequence[int], sizes: Sequence[int], width: int) -> Floats:
    """The least and the greatest Σ P along a path that beam searches found [2, texts], with one `ask` per depth."""
    signs = np.repeat([1.0, -1.0], len(texts))
    beams = [np.ones((1, size), bool) for size in (*sizes, *sizes)]
    sums = [np.zeros(1) for _ in beams]
    for depth in range(max(sizes, default=0)):
        active = [beam for beam, kept in enumerate(beams) if kept.shape[1] > depth]
        children = {beam: _children(beams[beam], sums[beam]) for beam in active}
        asked = _answers(ask, [texts[beam % len(texts)] for beam in active], [children[beam][0] for beam in active])
        for beam, answers in zip(active, asked, strict=True):
            kept, until = children[beam]
            total = until + signs[beam] * answers
            best = np.argsort(total, kind="stable")[:width]
            beams[beam], sums[beam] = kept[best], total[best]
    return np.array([float(total[0]) for total in sums]).reshape(2, -1) * signs.reshape(2, -1)


def _children(kept: Mask, sums: Floats) -> tuple[Mask, Floats]:
    """The sets with one unit less, once each, and the least sum of the sets that they come from."""
    parent, unit = np.nonzero(kept)  # a beam stands by rising sum
    sets = kept[parent]
    sets[np.arange(len(sets)), unit] = False
    first = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True)[1]  # of equal sets the one of least sum
    return sets[first], sums[parent[first]]


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > SAME)
