"""A dial from a random test part to the hardest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unseen.errors import InputError
from unseen.progress import track
from unseen.seeding import generator
from unseen.splits.closest import ClosestSplit
from unseen.splits.holdout import seed_of
from unseen.splits.latent import by_similarity
from unseen.splits.neighbours import nearest_distances, sampled
from unseen.splits.problem import Choice, Problem
from unseen.types.arrays import Floats, Keys, Mask, Vectors
from unseen.types.numbers import number

STEPS = 21
LOOKED_UP = 2_000


@dataclass(frozen=True, eq=False)
class Dial:
    """Test parts from random to hardest, and how far each is from training."""

    problem: Problem
    hardest: Choice
    tests: list[Mask]
    """Units of each test part; the last ones are those of `hardest`."""
    distances: Floats
    """Mean distance of a test row to the nearest training row."""

    def at(self, distance: float) -> Choice:
        """The test part nearest to this distance, among those above all easier ones."""
        distances = self.distances
        within = distances <= max(distances[0], distances[-1])
        rising = np.flatnonzero(within & (distances >= np.maximum.accumulate(np.where(within, distances, 0))))
        off = np.abs(distances[rising] - distance)
        nearest = rising[off == off.min()]
        step = int(nearest[-1 if distance >= distances[-1] else 0])
        if step == len(self.tests) - 1:
            return self.hardest
        note = (
            f"mean distance to the nearest training row {number(distances[step], 4)}; "
            f"random {number(distances[0], 4)}, hardest {number(distances[-1], 4)}, wanted {number(distance, 4)}"
        )
        choice = self.problem.choice(
            self.tests[step],
            completed=int(self.problem.sizes[self.tests[step]].sum()),
            n_clusters=self.hardest.certificate.n_clusters,
            notes=(note,),
        )
        return replace(choice, clusters=self.hardest.clusters)


class DialSplit(ClosestSplit):
    """What `difficulty` and `deployment` share: test parts between a random one and that of `closest`."""

    def _dial(self, problem: Problem, X: Vectors, keys: Keys) -> Dial:
        hardest = super()._choose(problem, X, keys)
        tests = self._family(problem, X, keys, hardest)
        seed = seed_of(self.random_state)
        distances = [
            nearest_distances(X[sampled(np.flatnonzero(test), seed, LOOKED_UP)], X[~test]).mean()
            for test in track(tests, "measuring difficulty", len(tests))
        ]
        self.curve_ = np.column_stack([self.weights_, distances])
        return Dial(problem, hardest, tests, np.array(distances))

    def _family(self, problem: Problem, X: Vectors, keys: Keys, hardest: Choice) -> list[Mask]:
        """Test parts from random to hardest, as masks of units."""
        region = np.zeros(problem.n_units, bool)
        region[problem.units[hardest.test]] = True
        inside = np.flatnonzero(region)
        inside = inside[np.argsort(keys[inside], kind="stable")]
        rank_by_region = np.argsort(np.concatenate([inside, by_similarity(X, region, problem.sizes, keys)]))
        shuffled = generator(seed_of(self.random_state), "difficulty").permutation(np.argsort(keys, kind="stable"))
        rank_by_chance = np.argsort(shuffled)
        self.weights_ = np.linspace(0, 1, STEPS)
        tests = []
        for weight in self.weights_[:-1]:
            mixed = (1 - weight) * rank_by_chance + weight * rank_by_region
            tests.append(problem.fill(problem.quota, np.lexsort((rank_by_chance, mixed))).chosen)
        return [*tests, region]


@dataclass(eq=False, repr=False, kw_only=True)
class DifficultySplit(DialSplit):
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

    difficulty: float = 0.5

    def _choose(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:  # type: ignore[override]
        if not isinstance(self.difficulty, int | float) or not 0 <= self.difficulty <= 1:
            raise InputError("difficulty must be from 0 (random) to 1 (hardest)", got=repr(self.difficulty))
        dial = self._dial(problem, X, keys)
        random, hardest = dial.distances[0], dial.distances[-1]
        return dial.at(random + self.difficulty * (hardest - random))
