"""Whole clusters that cost most to leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits

from unseen.errors import InfeasibleError, InputError
from unseen.seeding import generator
from unseen.splits.holdout import seed_of
from unseen.splits.latent import LatentHoldOut, asked_ks
from unseen.splits.problem import Choice, Problem
from unseen.splits.selection import Counts, choose_most
from unseen.splits.vectors import unit_rows
from unseen.types.arrays import Codes, Floats, Keys, Mask, Rows, Vectors
from unseen.types.numbers import number, points, told_apart

Blocks = Codes
"""Block of each unit; the units of one block are held out together."""

CLUSTERS = 100
"""Clusters when classes are few; with small quotas there are more, so that whole clusters can meet each of them."""
MOST_CLUSTERS = 2000
COARSER = (4, 2, 1)
"""Novelty is averaged over clusterings with so many times fewer clusters than the one that is chosen from."""
LANDMARKS = 150
"""Centres of clusters by nearness to which the regression knows a unit."""
PENALTY = 0.01
"""Ridge penalty per row; columns are standardised."""
TOLERANCE = 0.02
"""Share of the test part by which a class may differ from its quota, if that is less than half of the quota."""
DRAWS = 5
"""Random test parts of whole clusters that the chosen one is compared with."""
LITTLE = 0.1
"""A loss of the right label's score below this is called little: with labels at random it can be half of that."""
GAP, LIMIT = 0.01, 5.0
"""The choice of clusters is done when it is proven to be within this share of the best, or after so many seconds."""


class NovelSplit(LatentHoldOut):
    """Whole clusters that cost most to leave out: new to a model rather than hard or mislabelled.

    The novelty of a row is the score of its right label when as many random rows are held out, less that
    when its cluster is; a row that is wrong either way has none. The scores are those of a ridge regression
    on nearness to 150 centres. CP-SAT takes the clusters with the most novelty in sum. Wherever whole
    clusters allow it the size is exact, no class is absent, and each is within two points of the test part
    and within half of its quota; else they come as near as possible. No row is added singly. `n_clusters`
    are the clusterings that novelty is averaged over; the test part is made of clusters of the largest.

    The vectors must not have been trained with the labels: in such a space mislabelled texts gather.
    Afterwards `novelty_` is the score lost per row when the test part is held out, `chance_` the same for
    random whole clusters. The regression is weaker than most models, and these are the most novel of many
    clusters: the figures tell whether there is something new, not how much a model will lose.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 5)); y = np.arange(300) % 3
    >>> train, test = next(NovelSplit(test_size=0.2, n_clusters=60).split(X, y))
    >>> len(test)
    60
    """

    space: ClassVar[str] = "untrained"

    def _choose(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:  # type: ignore[override]
        if len(problem.class_names) < 2:
            raise InputError(
                "novel asks what a model no longer knows about labels",
                expected="labels of at least two classes, and stratify=True",
            )
        ks = default_ks(problem, keys) if self.n_clusters is None else asked_ks(self.n_clusters, keys)
        landmarks = max(1, min(LANDMARKS, len(np.unique(keys)) // 2))
        clusterings = {clustering.k: clustering for clustering in self._sweep(problem, X, keys, {*ks, landmarks})}
        finest = clusterings[ks[-1]]
        counts = problem.counts(finest.labels, finest.k)
        by_content = np.lexsort((*problem.unit_counts.T, keys))  # so that the order of rows decides nothing
        rows = (unit_rows(X) if self.metric == "cosine" else X)[by_content]
        blocks = [clusterings[k].labels[by_content] for k in ks]
        draws = generator(seed_of(self.random_state), "novel")
        with threadpool_limits(1, user_api="blas"):
            regression = Regression.of(nearness(rows, clusterings[landmarks].centres), problem.unit_counts[by_content])
            novelty = np.mean([regression.novelty(clusters, draws) for clusters in blocks], axis=0)
            chosen, proven = most_novel(problem, novelty, blocks[-1], counts)
            parts = [chosen, *(_random_clusters(counts, int(problem.quota.sum()), draws) for _ in range(DRAWS))]
            scores = [regression.seen_and_unseen(part[blocks[-1]], draws) for part in parts]
        lost = [seen - unseen for seen, unseen in scores]
        self.novelty_, self.chance_ = lost[0], float(np.mean(lost[1:]))
        test = chosen[finest.labels]
        knowing_the_mix = float(np.square(problem.unit_counts.sum(axis=0) / len(problem)).sum())
        exact = (problem.class_counts(test) == problem.quota).all()
        notes = (_proof(int(chosen.sum()), finest.k, proven), _amount(*scores[0], self.chance_, knowing_the_mix))
        return problem.choice(test, finest.labels, n_clusters=finest.k, optimal=True if exact else None, notes=notes)


def most_novel(problem: Problem, novelty: Floats, clusters: Blocks, counts: Counts) -> tuple[Mask, bool]:
    """The clusters to hold out, given the novelty and the cluster of each unit, and whether that is proven."""
    values = np.bincount(clusters, weights=novelty, minlength=len(counts)).astype(np.float64)
    slack = np.minimum(int(TOLERANCE * problem.quota.sum()), problem.quota // 2)
    chosen, proven = choose_most(values, counts, problem.quota, slack, gap=GAP, limit=LIMIT)
    if not chosen.any():
        raise InfeasibleError(
            f"no cluster fits into a test part of {int(problem.quota.sum())} rows",
            got=problem.largest_groups(),
            fix="ask for a larger test part",
        )
    return chosen, proven


def default_ks(problem: Problem, keys: Keys) -> list[int]:
    """100 clusters, or more where the quota of a class is small, and clusterings with fewer."""
    rows = max(2.0, min(len(problem) / CLUSTERS, 0.6 * float(np.median(problem.quota[problem.quota > 0]))))
    finest = min(round(len(problem) / rows), len(np.unique(keys)) // 2, MOST_CLUSTERS)
    return sorted({max(2, finest // fewer) for fewer in COARSER})


@dataclass(frozen=True, eq=False)
class Regression:
    """A ridge regression of labels on vectors that can leave out any units without being trained again.

    Taking units out of two small sums and solving again is exact; no other unit is looked at.
    """

    features: Floats
    """Standardised numbers of each unit, and a one."""
    counts: Floats
    """Rows of each unit and class."""
    gram: Floats
    moment: Floats

    @classmethod
    def of(cls, numbers: Vectors, counts: Counts) -> Regression:
        """The regression for units with these numbers and so many rows of each class."""
        mean, spread = numbers.mean(axis=0, dtype=np.float64), numbers.std(axis=0, dtype=np.float64)
        features = np.column_stack([(numbers - mean) / np.where(spread > 0, spread, 1), np.ones(len(numbers))])
        penalty = np.full(features.shape[1], PENALTY * counts.sum())
        penalty[-1] = 0  # the last column is the intercept
        gram, moment = _sums(features, counts.astype(np.float64))
        return cls(features, counts.astype(np.float64), gram + np.diag(penalty), moment)

    def without(self, units: Rows) -> Floats:
        """Score of the right label, summed over the rows of each of `units`, when these are held out together."""
        gram, moment = _sums(self.features[units], self.counts[units])
        predicted = self.features[units] @ np.linalg.solve(self.gram - gram, self.moment - moment)
        return np.asarray((self.counts[units] * predicted.clip(0, 1)).sum(axis=1))

    def without_each(self, blocks: Blocks) -> Floats:
        """The same for all units, when each block is held out in turn."""
        scores = np.empty(len(blocks))
        by_block = np.argsort(blocks, kind="stable")
        for units in np.split(by_block, np.flatnonzero(np.diff(blocks[by_block])) + 1):
            scores[units] = self.without(units)
        return scores

    def novelty(self, clusters: Blocks, draws: np.random.Generator) -> Floats:
        """What each unit loses when its cluster is held out rather than a random block of a cluster's size."""
        return self.without_each(draws.permutation(clusters)) - self.without_each(clusters)

    def seen_and_unseen(self, part: Mask, draws: np.random.Generator) -> tuple[float, float]:
        """Scores per row of `part` when as many random units are held out in turn, and when all of it is."""
        blocks = draws.permutation(len(part)) * max(2, round(len(part) / part.sum())) // len(part)
        seen, unseen = self.without_each(blocks)[part], self.without(np.flatnonzero(part))
        rows = self.counts[part].sum()
        return float(seen.sum() / rows), float(unseen.sum() / rows)


def nearness(rows: Vectors, centres: Vectors) -> Vectors:
    """A Gaussian kernel of each row and each centre, as wide as the median distance."""
    squares = euclidean_distances(rows, centres, squared=True)
    return np.asarray(np.exp(-squares / np.median(squares)), dtype=np.float32)


def _sums(features: Floats, counts: Floats) -> tuple[Floats, Floats]:
    return features.T @ (features * counts.sum(axis=1, keepdims=True)), features.T @ counts


def _random_clusters(counts: Counts, rows: int, draws: np.random.Generator) -> Mask:
    """Clusters in random order until they have about so many rows."""
    order = draws.permutation(len(counts))
    chosen = np.zeros(len(counts), bool)
    chosen[order[: max(1, int(np.searchsorted(np.cumsum(counts[order].sum(axis=1)), rows)))]] = True
    return chosen


def _proof(chosen: int, k: int, proven: bool) -> str:
    proof = "proven" if proven else "not proven"
    return (
        f"{chosen} of {k} clusters, whole; {proof}: no others that keep size and class mix have {GAP:.0%} more novelty"
    )


def _amount(seen: float, unseen: float, by_chance: float, knowing_the_mix: float) -> str:
    amount = "novelty" if seen - unseen >= LITTLE else "little novelty"
    lost = f"{points(seen - unseen)} points less" if seen >= unseen else f"{points(unseen - seen)} points more"
    one, other = told_apart(seen, unseen)
    note = (
        f"{amount}: the right label scores {one} when random rows are held out and {other} when these are, "
        f"{lost}; random whole clusters lose {points(by_chance)}"
    )
    if seen - knowing_the_mix < LITTLE:
        note += (
            f"; who knows the class mix alone scores {number(knowing_the_mix)}, so these vectors may hide what is new"
        )
    return note
