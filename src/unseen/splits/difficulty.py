"""A dial from a random test part to the hardest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.progress import track
from unseen.seeding import generator
from unseen.splits.closest import ClosestSplit
from unseen.splits.distance import nearest_distances, sampled
from unseen.splits.holdout import DEFAULT_SEED, Choice, seed_of
from unseen.splits.latent import by_similarity
from unseen.splits.problem import Mask, Problem
from unseen.splits.quotas import Mix
from unseen.splits.vectors import Keys, Rows

STEPS = 21
LOOKED_UP = 2_000


class DifficultySplit(ClosestSplit):
    """The test part whose distance to training is `difficulty` of the way from random to `closest`.

    Each unit has a random rank and a rank by nearness to the region that `closest` holds out; the test
    part takes the first units by a weighted mean of the two. Twenty-one weights from all random to all
    region are measured (`curve_`: weight, mean distance of a test row to the nearest training row) and
    the one nearest to the asked distance is taken, never a weight that lies below an easier one or above
    `closest`. So a higher difficulty never gives a smaller distance, and 1 is `closest` itself, unless
    that is nearer to training than a random test part: then every difficulty gives the random one.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 5)); y = np.arange(300) % 3
    >>> train, test = next(DifficultySplit(difficulty=0.5, test_size=0.2, n_clusters=range(3, 12)).split(X, y))
    >>> len(test)
    60
    """

    def __init__(
        self,
        test_size: float = 0.1,
        *,
        difficulty: float = 0.5,
        n_clusters: int | Iterable[int] | None = None,
        metric: str = "euclidean",
        n_init: int = 10,
        max_iter: int = 300,
        using: Any = None,
        mix: Mix = None,
        stratify: bool = True,
        random_state: int = DEFAULT_SEED,
    ) -> None:
        super().__init__(
            test_size, n_clusters=n_clusters, metric=metric, n_init=n_init, max_iter=max_iter,
            using=using, mix=mix, stratify=stratify, random_state=random_state,
        )  # fmt: skip
        self.difficulty = difficulty

    def _choose(self, problem: Problem, X: Rows, keys: Keys) -> Choice:  # type: ignore[override]
        if not isinstance(self.difficulty, int | float) or not 0 <= self.difficulty <= 1:
            raise InputError("difficulty must be from 0 (random) to 1 (hardest)", got=repr(self.difficulty))
        hardest = super()._choose(problem, X, keys)
        tests = self._family(problem, X, keys, hardest)
        distances = self._distances(X, tests)
        wanted = distances[0] + self.difficulty * (distances[-1] - distances[0])
        return self._at(problem, hardest, tests, distances, wanted)

    def _family(self, problem: Problem, X: Rows, keys: Keys, hardest: Choice) -> list[Mask]:
        """Test parts from random to hardest, as masks of units."""
        region = np.zeros(problem.n_units, bool)
        region[problem.units[hardest.test]] = True
        n = problem.n_units
        by_region = np.empty(n)
        nearest = by_similarity(X, region, problem.sizes, keys)
        inside = np.flatnonzero(region)
        by_region[np.concatenate([inside[np.argsort(keys[inside], kind="stable")], nearest])] = np.arange(n)
        by_chance = np.empty(n)
        shuffled = generator(seed_of(self.random_state), "difficulty").permutation(np.argsort(keys, kind="stable"))
        by_chance[shuffled] = np.arange(n)
        self.weights_ = np.linspace(0, 1, STEPS)
        return [
            problem.fill(problem.quota, np.lexsort((by_chance, (1 - w) * by_chance + w * by_region))).chosen
            for w in self.weights_[:-1]
        ] + [region]

    def _distances(self, X: Rows, tests: list[Mask]) -> npt.NDArray[np.float64]:
        seed = seed_of(self.random_state)
        measured = [
            nearest_distances(X[sampled(np.flatnonzero(test), seed, LOOKED_UP)], X[~test]).mean()
            for test in track(tests, "measuring difficulty", len(tests))
        ]
        self.curve_ = np.column_stack([self.weights_, measured])
        return np.array(measured)

    def _at(
        self, problem: Problem, hardest: Choice, tests: list[Mask], distances: npt.NDArray[np.float64], wanted: float
    ) -> Choice:
        """The member of the family nearest to the `wanted` distance, among those above all easier ones."""
        within = distances <= max(distances[0], distances[-1])
        rising = np.flatnonzero(within & (distances >= np.maximum.accumulate(np.where(within, distances, 0))))
        off = np.abs(distances[rising] - wanted)
        nearest = rising[off == off.min()]
        step = int(nearest[-1 if wanted >= distances[-1] else 0])
        if step == len(tests) - 1:
            return hardest
        note = (
            f"mean distance to the nearest training row {distances[step]:.4f}; "
            f"random {distances[0]:.4f}, hardest {distances[-1]:.4f}, wanted {wanted:.4f}"
        )
        certificate = problem.certificate(
            tests[step], n_clusters=hardest.certificate.n_clusters, notes=(note,),
            completed=int(problem.sizes[tests[step]].sum()),
        )  # fmt: skip
        return Choice(problem.rows_in(tests[step]), hardest.clusters, certificate)
