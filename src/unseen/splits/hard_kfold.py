"""Disjoint hard test parts that together cover the data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from unseen.errors import InfeasibleError, InputError
from unseen.progress import track
from unseen.splits.clustering import sweep
from unseen.splits.holdout import DEFAULT_SEED, Folds, n_rows, seed_of
from unseen.splits.latent import unit_vectors, vectors_of
from unseen.splits.problem import Choice, Problem, pose
from unseen.splits.selection import Counts
from unseen.splits.vectors import row_keys, unit_rows
from unseen.types.arrays import Floats, Keys, Rows, Vectors

ROUNDS = 8
PRICE_STEPS = 60


@dataclass(eq=False, repr=False, kw_only=True)
class HardKFold(Folds):
    """`n_splits` regions of the latent space of equal size and class mix; each is the test part once.

    Balanced k-means: units go to the nearest centre at a price per fold and class that rises where too
    many want to go, until the folds are equal; centres move to the means of their folds; again. The last
    assignment fills each fold's quota exactly (with groups, as nearly as whole groups can).

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(90, 5)); y = np.arange(90) % 3
    >>> [np.bincount(y[test]).tolist() for _, test in HardKFold(n_splits=3).split(X, y)]
    [[10, 10, 10], [10, 10, 10], [10, 10, 10]]
    """

    reads: ClassVar[str] = "vectors"

    n_splits: int = field(default=5, kw_only=False)
    metric: str = "euclidean"
    n_init: int = 10
    using: Any = None
    stratify: bool = True
    random_state: int = DEFAULT_SEED

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """One choice per fold."""
        n = n_rows(X, y)
        if not isinstance(self.n_splits, int | np.integer) or not 2 <= self.n_splits <= n:
            raise InputError("n_splits must be from 2 to the number of rows", got=repr(self.n_splits))
        vectors = vectors_of(X, self.using, n, seed_of(self.random_state))
        keys = row_keys(vectors)
        problem = pose(y, groups, n, test_size=max(1, n // self.n_splits), stratify=self.stratify, keys=keys)
        if problem.n_units < self.n_splits:
            raise InfeasibleError(f"{problem.n_units} groups cannot make {self.n_splits} folds")
        quotas = fold_quotas(problem, self.n_splits)
        fold_of = self._folds_of_units(problem, *unit_vectors(problem, vectors, keys, self.metric), quotas)
        return [
            replace(problem, quota=quota).choice(
                fold_of == fold, fold_of, n_clusters=self.n_splits, notes=(f"fold {fold + 1} of {self.n_splits}",)
            )
            for fold, quota in enumerate(quotas)
        ]

    def _folds_of_units(self, problem: Problem, X: Vectors, keys: Keys, quota: Counts) -> Rows:
        """The fold of each unit."""
        X = unit_rows(X) if self.metric == "cosine" else X - X.mean(axis=0, dtype=np.float64).astype(np.float32)
        seed = seed_of(self.random_state)
        (clustering,) = sweep(
            X, [self.n_splits], weights=problem.sizes, keys=keys, metric=self.metric, n_init=self.n_init, seed=seed
        )
        centres = clustering.centres
        fold_of = clustering.labels.astype(np.intp)
        for _ in track(range(ROUNDS), "balancing folds", ROUNDS):
            cost = problem.sizes[:, None] * _squared_distances(X, centres)
            cost = cost + _prices(problem, cost, quota)
            before, fold_of = fold_of, _filled(problem, cost, quota, keys)
            if (before == fold_of).all():
                break
            weights = np.eye(self.n_splits, dtype=np.float32)[fold_of] * problem.sizes[:, None]
            centres = (weights.T @ X) / weights.sum(axis=0)[:, None]
        return fold_of


def fold_quotas(problem: Problem, folds: int) -> Counts:
    """Rows per fold and class: each class as even as possible, and the folds' totals too."""
    counts = np.bincount(problem.codes, minlength=len(problem.class_names))
    quota = np.tile(counts // folds, (folds, 1))
    for code, count in enumerate(counts):
        smallest = np.argsort(quota.sum(axis=1), kind="stable")
        quota[smallest[: count % folds], code] += 1
    return quota


def _squared_distances(X: Vectors, centres: Vectors) -> Floats:
    products = X @ centres.T
    norms = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", centres, centres)
    return np.maximum(norms - 2 * products, 0).astype(np.float64)


def _prices(problem: Problem, cost: Floats, quota: Counts) -> Floats:
    """What each unit pays for each fold, so that the folds' loads come near to `quota`."""
    scale = float(np.median(cost.max(axis=1) - cost.min(axis=1)))
    prices = np.zeros_like(quota, dtype=np.float64)
    counts = None if problem.group_names is None else problem.unit_counts
    paid = np.zeros_like(cost)
    for step in range(PRICE_STEPS):
        load = np.zeros_like(prices)
        taken = (cost + paid).argmin(axis=1)
        np.add.at(load, (taken[problem.units], problem.codes), 1)
        prices += scale * (1 - step / PRICE_STEPS) * 0.5 * (load - quota) / np.maximum(quota, 1)
        paid = prices.T[problem.codes] if counts is None else counts @ prices.T
    return paid


def _filled(problem: Problem, cost: Floats, quota: Counts, keys: Keys) -> Rows:
    """A fold for every unit, fold after fold by what it would lose elsewhere, quotas kept."""
    folds = len(quota)
    fold_of = np.full(problem.n_units, folds - 1)
    free = np.ones(problem.n_units, bool)
    for fold in range(folds - 1):
        rest = np.flatnonzero(free)
        regret = cost[rest, fold] - cost[rest][:, fold + 1 :].min(axis=1)
        order = rest[np.lexsort((keys[rest], regret.round(9)))]
        chosen = problem.fill(quota[fold], order).chosen
        fold_of[chosen] = fold
        free &= ~chosen
    return fold_of
