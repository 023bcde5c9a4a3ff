"""Whether scores of units agree with what people highlighted, beside what chance, a constant and people reach.

Gold is the union of the annotators. A method's rationale is its `TOP` units, equal scores by position. Every text has a
number of its own, but for IoU F1, which is the F1 of two means over texts, so the texts have precision and recall.
Two versions of it are named: *as released* each chosen unit is a span of its own, so that long highlights cannot be
matched and one highlight may be matched more than once; with *merged* spans neighbours are one span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.explanations.faithfulness import TOP
from unseen.seeding import generator
from unseen.types.arrays import Floats, Mask, Rows

MATCH = 0.5
"""A chosen span matches a highlighted one when their intersection is at least this share of their union."""
PSEUDO = 1.0
"""Occurrences at the overall share of highlighted words that a lexicon adds to those of each word."""
DRAWN = 10
"""Random orders over which a floor is averaged: on a thousand posts single ones were off by up to .011."""


@dataclass(frozen=True, eq=False)
class Plausibility:
    """The plausibility of one method's scores, per text; NaN where nobody highlighted anything."""

    token_f1: Floats
    auprc: Floats
    """Area under precision over recall, by trapezoids from (recall 0, precision 1): a constant score has
    (1 + share of highlighted units) / 2, so it says nothing without a floor beside it."""
    released: Floats
    """Precision and recall of spans [texts, 2], each unit a span; such a recall can exceed 1."""
    merged: Floats
    """The same with neighbours as one span: no span can match two at half of their union, so recall is at most 1."""


def plausibility(
    gold: Sequence[Mask],
    scores: Sequence[Floats],
    *,
    k: int | None = TOP,
    chosen: Sequence[Mask] | None = None,
) -> Plausibility:
    """The plausibility of `scores` of units against the highlighted ones, `gold`.

    The rationale is the top `k` units, all units without `k`, or those that are `chosen`.
    """
    sizes = np.array([len(mask) for mask in gold], np.intp)
    if [len(values) for values in scores] != sizes.tolist():
        raise InputError("every unit needs a score and a gold mark")
    text, position = np.repeat(np.arange(len(sizes)), sizes), _within(sizes)
    truth, values = _joined(gold, bool), _joined(scores, np.float64)
    if not np.isfinite(values).all():
        raise InputError("scores must be finite numbers")
    order = np.lexsort((-values, text))  # stable: equal scores by position
    if chosen is not None:
        picked = _joined(chosen, bool)
    else:
        picked = np.ones(len(text), bool)
        picked[order[position >= (len(text) if k is None else k)]] = False
    marked = _per_text(truth, text, sizes)
    hits, size = _per_text(picked & truth, text, sizes), _per_text(picked, text, sizes)
    starts = picked & ((position == 0) | ~np.roll(picked, 1))
    gold_starts = truth & ((position == 0) | ~np.roll(truth, 1))
    spans = [_matched(picked, starting, truth, gold_starts, text, sizes) for starting in (picked, starts)]
    none = np.where(marked > 0, 1.0, np.nan)
    return Plausibility(
        none * 2 * hits / np.maximum(marked + size, 1),
        none * _areas(truth[order], values[order], position + 1, text, marked),
        *(none[:, None] * columns for columns in spans),
    )


def f1_of_means(means: Floats) -> Floats:
    """The F1 of mean precision and mean recall [..., 2]."""
    return 2 * means.prod(axis=-1) / np.maximum(means.sum(axis=-1), np.finfo(float).tiny)


def union(annotators: Sequence[Sequence[Mask]]) -> list[Mask]:
    """The units of each text that any of its annotators highlighted."""
    return [np.any(masks, axis=0) for masks in annotators]


@dataclass(frozen=True)
class RationaleLexicon:
    """How often words are highlighted: an explanation that has seen no model."""

    shares: Mapping[str, float]
    overall: float
    """The share of all occurrences, which unknown words get."""

    @classmethod
    def learnt(cls, words: Iterable[Sequence[str]], gold: Iterable[Mask]) -> RationaleLexicon:
        """The lexicon of texts other than those that it explains, smoothed by `PSEUDO` occurrences."""
        counts: Counter[str] = Counter()
        marked: Counter[str] = Counter()
        for text, mask in zip(words, gold, strict=True):
            counts.update(text)
            marked.update(word for word, highlighted in zip(text, mask, strict=True) if highlighted)
        if not counts:
            raise InputError("a lexicon needs words to learn from")
        overall = marked.total() / counts.total()
        shares = {word: (marked[word] + PSEUDO * overall) / (count + PSEUDO) for word, count in counts.items()}
        return cls(shares, overall)

    def scores(self, words: Iterable[Sequence[str]]) -> list[Floats]:
        """The share of each word of each text."""
        return [np.array([self.shares.get(word, self.overall) for word in text]) for text in words]


def random_scores(sizes: Iterable[int], seed: int = 42) -> list[Floats]:
    """Scores drawn for the units of texts that have so many: the floor of every metric."""
    draw = generator(seed, "random scores")
    return [draw.random(size) for size in sizes]


def one_against_others(annotators: Sequence[Sequence[Mask]]) -> tuple[Rows, list[Mask], list[Mask]]:
    """Every annotator of texts that have several: the text, what they highlighted, and the union of the others."""
    several = [(text, np.asarray(masks, bool)) for text, masks in enumerate(annotators) if len(masks) > 1]
    texts = np.repeat([text for text, _ in several], [len(masks) for _, masks in several]).astype(np.intp)
    own = [mask for _, masks in several for mask in masks]
    others = [np.any(np.delete(masks, row, axis=0), axis=0) for _, masks in several for row in range(len(masks))]
    return texts, own, others


def floors_and_ceilings(
    annotators: Sequence[Sequence[Mask]], *, k: int = TOP, seed: int = 42
) -> dict[str, Plausibility]:
    """What stands beside every method: random, constant, oracle, annotator.

    `constant` chooses all units. `oracle` ranks units by the number of annotators who highlighted them, equal numbers
    in random order: by position it would choose neighbours, and merged spans would flatter it. Both random orders are
    averages of `DRAWN`. `annotator` has a row for each annotator of each text (`one_against_others`), the others have
    one for each text.
    """
    gold = union(annotators)
    chance = random_scores([len(mask) for mask in gold] * DRAWN, seed)
    votes = [np.mean(masks, axis=0) + 1e-6 * noise for masks, noise in zip([*annotators] * DRAWN, chance, strict=True)]
    _, own, others = one_against_others(annotators)
    rows = {"random": _averaged(plausibility(gold * DRAWN, chance, k=k))}
    rows["constant"] = plausibility(gold, [np.zeros(len(mask)) for mask in gold], k=None)
    rows["oracle"] = _averaged(plausibility(gold * DRAWN, votes, k=k))
    rows["annotator"] = plausibility(others, [mask.astype(np.float64) for mask in own], chosen=own)
    return rows


def _averaged(drawn: Plausibility) -> Plausibility:
    """The mean of each text over `DRAWN` random orders of all texts."""
    columns = (drawn.token_f1, drawn.auprc, drawn.released, drawn.merged)
    return Plausibility(*(values.reshape(DRAWN, -1, *values.shape[1:]).mean(axis=0) for values in columns))


def _joined(parts: Sequence[npt.ArrayLike], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.asarray(part, dtype) for part in parts]) if len(parts) else np.empty(0, dtype)


def _within(sizes: Rows) -> Rows:
    """The position of each unit in its text."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _per_text(values: Mask, text: Rows, sizes: Rows) -> Floats:
    """How many of each text's units are marked."""
    return np.bincount(text[values], minlength=len(sizes)).astype(np.float64)


def _areas(truth: Mask, values: Floats, rank: Rows, text: Rows, marked: Floats) -> Floats:
    """Area under the curve of each text whose units stand by falling value; equal values are one step."""
    last = np.append((np.diff(values) != 0) | (np.diff(text) != 0), True)[: len(text)]
    before = np.cumsum(marked) - marked
    of = text[last]
    hits = np.cumsum(truth)[last] - before[of]
    precision, recall = hits / rank[last], hits / np.maximum(marked[of], 1)
    first = np.append(True, np.diff(of) != 0)[: len(of)]
    earlier = [np.where(first, start, np.roll(curve, 1)) for start, curve in ((1.0, precision), (0.0, recall))]
    return np.asarray(np.bincount(of, (recall - earlier[1]) * (precision + earlier[0]) / 2, len(marked)))


def _matched(picked: Mask, starts: Mask, truth: Mask, gold_starts: Mask, text: Rows, sizes: Rows) -> Floats:
    """Share of chosen spans that match, and matches per highlighted span [texts, 2]; spans begin at the starts."""
    span, gold_span = np.cumsum(starts) - 1, np.cumsum(gold_starts) - 1
    length, gold_length = np.bincount(span[picked]), np.bincount(gold_span[truth])
    both = picked & truth
    overlaps, shared = np.unique(np.column_stack([span[both], gold_span[both]]), axis=0, return_counts=True)
    share = shared / (length[overlaps[:, 0]] + gold_length[overlaps[:, 1]] - shared)
    matched = np.bincount(overlaps[share >= MATCH, 0], minlength=len(length)) > 0
    hits = np.bincount(text[starts], matched, len(sizes))
    spans, gold_spans = _per_text(starts, text, sizes), _per_text(gold_starts, text, sizes)
    return np.column_stack([hits / np.maximum(spans, 1), hits / np.maximum(gold_spans, 1)])
