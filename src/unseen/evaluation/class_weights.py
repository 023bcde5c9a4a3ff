"""What weights of classes do: which demands on them they break, how uneven the classes are, which model wins by which.

Harbecke et al. (2022) ask of weights that they sum to one (D0), that a larger class has no smaller weight (D1), and
that it has no larger weight per row (D2). Every power of the counts from 0 (macro) to 1 (weighted) keeps all three.
All of it works on any scores of classes with so many rows each: F1, recall, pass rates of functionalities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from unseen.errors import InputError, MismatchError
from unseen.evaluation.f_scores import scheme_weights
from unseen.types.arrays import Floats

ROUNDING = 1e-12
NARROWEST = 1e-9
"""Powers this near each other are not told apart."""
BANDS = {2.0: "huge", 1.2: "very large", 0.8: "large", 0.5: "medium", 0.2: "small", 0.01: "very small", 0.0: "none"}
"""What an effect of at least this size is called (Sawilowsky 2009)."""


class Breach(NamedTuple):
    """A demand that weights break, and the two classes that show it best; of D0 there are none."""

    demand: str
    larger: str = ""
    """The class with more rows, or as many."""
    smaller: str = ""


def breaches(counts: Floats, weights: Floats, names: Sequence[str]) -> list[Breach]:
    """The demands that the weights of classes with so many rows break; classes without rows or weight stand aside."""
    broken = [] if abs(weights.sum() - 1) <= 1e-9 else [Breach("D0")]
    kept = np.flatnonzero((counts > 0) & (weights > 0))
    n, w = counts[kept], weights[kept]
    larger = n[:, None] >= n  # [i, j]: i has at least as many rows as j
    for demand, excess in (("D1", w - w[:, None]), ("D2", (w / n)[:, None] - w / n)):
        by = np.where(larger, excess, 0.0)
        if by.size and by.max() > ROUNDING:
            first, second = np.unravel_index(by.argmax(), by.shape)
            broken.append(Breach(demand, names[kept[first]], names[kept[second]]))
    return broken


class Imbalance(NamedTuple):
    """How uneven classes are. A perplexity is the number of equally large classes that would be as hard to guess."""

    perplexity: float
    perplexity_included: float
    """Without the excluded classes."""
    ratio: float
    """Rows of the largest class for each of the smallest, excluded classes and those without rows left out."""


def imbalance(counts: Floats, excluded: Sequence[int] = ()) -> Imbalance:
    """Perplexity with and without the excluded classes, and the ratio of the largest to the smallest."""
    included = np.delete(counts, excluded)
    included = included[included > 0]
    if not len(included):
        raise InputError("no class with rows is left", fix="exclude fewer labels")
    return Imbalance(_perplexity(counts), _perplexity(included), float(included.max() / included.min()))


def _perplexity(counts: Floats) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


class WinnerChange(NamedTuple):
    """From this power on another model has the best score."""

    alpha: float
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class AlphaSweep:
    """The scores of models when classes weigh rows^α, for every α from 0 (macro) to 1 (weighted)."""

    models: tuple[str, ...]
    scores: Floats
    """Of each class [models, k]."""
    counts: Floats
    changes: tuple[WinnerChange, ...]
    """Where the winner changes, exactly."""

    def at(self, alpha: float) -> Floats:
        """The score of each model."""
        return np.asarray(self.scores @ scheme_weights(self.counts, float(alpha)))


def alpha_sweep(models: Mapping[str, tuple[Floats, Floats]]) -> AlphaSweep:
    """The sweep of models with a score of each class and the rows of each class; a class of 0 rows is left out.

    Models are compared on the same rows, so all must have the same counts. The winner changes where the difference
    of two models, Σ rows^α · (score − other score), is zero: these roots are bracketed by bounds of its terms, so none
    between the points of a grid is missed.
    """
    names = tuple(models)
    if not names:
        raise InputError("there is no model to compare")
    scores, counts = np.array([models[name][0] for name in names]), np.asarray(models[names[0]][1], np.float64)
    if any(not np.array_equal(other, counts) for _, other in models.values()):
        raise MismatchError("the models were scored on different rows", expected="the same counts of classes")
    used = counts > 0
    scores, counts = scores[:, used], counts[used]
    if not len(counts):
        raise InputError("no class with rows is left", fix="exclude fewer labels")
    roots = {root for one, other in combinations(scores, 2) for root in crossings(one - other, counts)}
    sweep = AlphaSweep(names, scores, counts, ())
    cuts = [0.0, *sorted(roots), 1.0]
    winners = [(low, int(sweep.at((low + high) / 2).argmax())) for low, high in pairwise(cuts) if high > low]
    changes = [
        WinnerChange(alpha, names[before], names[after])
        for (_, before), (alpha, after) in pairwise(winners)
        if before != after
    ]
    return AlphaSweep(names, scores, counts, tuple(changes))


def crossings(differences: Floats, counts: Floats) -> list[float]:
    """Every α between 0 and 1 at which Σ counts^α · differences changes its sign."""
    from scipy.optimize import brentq

    sizes, place = np.unique(counts, return_inverse=True)
    sums = np.bincount(place.reshape(-1), differences)
    terms: Floats = np.where(np.abs(sums) < ROUNDING, 0.0, sums)
    logs = np.log(sizes) - np.log(sizes).mean()  # a factor that is positive changes no sign

    def value(alpha: float) -> float:
        return float((terms * np.exp(alpha * logs)).sum())

    def never_zero(factors: Floats, low: float, high: float) -> bool:
        ends = factors * np.exp(np.array([[low], [high]]) * logs)  # each term is monotone
        return bool(ends.min(axis=0).sum() > 0 or ends.max(axis=0).sum() < 0)

    cuts, pending = {0.0, 1.0}, [(0.0, 1.0)]
    while pending and terms.any():
        low, high = pending.pop()
        if high - low < NARROWEST or never_zero(terms, low, high) or never_zero(terms * logs, low, high):
            continue  # no zero, or it rises or falls all along: at most one
        middle = (low + high) / 2
        cuts.add(middle)
        pending += [(low, middle), (middle, high)]
    signed = [cut for cut in sorted(cuts) if value(cut)]
    return [
        float(brentq(value, low, high, xtol=1e-14)) for low, high in pairwise(signed) if value(low) * value(high) < 0
    ]


class Flip(NamedTuple):
    """Two models of which either is the better one, depending on the scheme."""

    one: str
    other: str
    one_wins: tuple[str, ...]
    other_wins: tuple[str, ...]


def rank_flips(scores: Mapping[str, Mapping[str, float]]) -> list[Flip]:
    """The pairs of models that schemes rank differently, from {scheme: {model: score}}."""
    models = list(dict.fromkeys(model for of_models in scores.values() for model in of_models))
    flips = []
    for one, other in combinations(models, 2):
        leads = {name: by[one] - by[other] for name, by in scores.items() if one in by and other in by}
        wins, losses = ([name for name, lead in leads.items() if sign * lead > ROUNDING] for sign in (1, -1))
        if wins and losses:
            flips.append(Flip(one, other, tuple(wins), tuple(losses)))
    return flips


class SeedScores(NamedTuple):
    """The scores of a model that was trained with several seeds."""

    mean: float
    sd: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> SeedScores:
        """Mean and standard deviation (n − 1) of at least two values."""
        if len(values) < 2:
            raise InputError("the spread over seeds needs several", expected="2 or more", got=str(len(values)))
        return cls(float(np.mean(values)), float(np.std(values, ddof=1)), len(values))


class SeedContrast(NamedTuple):
    """Two models over seeds: Welch's test of equal means, and how far apart they are in standard deviations."""

    difference: float
    p: float | None
    d: float | None
    """Cohen's d, by the pooled standard deviation; None, as `p`, where no seed differs from another."""
    band: str
    """Sawilowsky's word for its size."""


def welch(one: SeedScores, other: SeedScores) -> SeedContrast:
    """`one` less `other`. Two models always differ, so p only tells how many seeds there were: d tells how much.

    >>> contrast = welch(SeedScores(72.5, 0.3, 5), SeedScores(71.5, 0.4, 5))
    >>> round(contrast.d, 2), contrast.band
    (2.83, 'huge')
    """
    from scipy.stats import ttest_ind_from_stats

    difference = one.mean - other.mean
    if not one.sd and not other.sd:
        return SeedContrast(difference, None, None, "")
    p = float(ttest_ind_from_stats(*one, *other, equal_var=False).pvalue)
    variance = ((one.seeds - 1) * one.sd**2 + (other.seeds - 1) * other.sd**2) / (one.seeds + other.seeds - 2)
    d = difference / variance**0.5
    return SeedContrast(difference, p, d, next(word for least, word in BANDS.items() if abs(d) >= least))
