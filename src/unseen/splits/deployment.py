"""A test part as far from training as the texts a model will meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.errors import InputError, VectorsError
from unseen.splits.difficulty import DialSplit
from unseen.splits.holdout import seed_of
from unseen.splits.neighbours import nearest_distances, sampled
from unseen.splits.problem import Choice, Problem
from unseen.types import finite_float32
from unseen.types.arrays import Keys, Vectors
from unseen.types.numbers import number


@dataclass(eq=False, repr=False, kw_only=True)
class DeploymentSplit(DialSplit):
    """The test part whose distance to training is that of unlabelled `deployment` vectors to the data.

    Distances are those of `DifficultySplit`. When deployment is farther than the hardest split, or
    nearer than a random one, that split is returned and the certificate says so.
    """

    deployment: Any = None

    def _choose(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:  # type: ignore[override]
        distance = self._distance(X)
        dial = self._dial(problem, X, keys)
        random, farthest = dial.distances[0], max(dial.distances[0], dial.distances[-1])
        note = f"deployment is {number(distance, 4)} from the data"
        if distance > farthest:
            note += f", farther than the hardest split here ({number(farthest, 4)}): expect worse than it shows"
        elif distance < random:
            note += f", nearer than a random split ({number(random, 4)})"
        return dial.at(distance).amended(note)

    def _distance(self, X: Vectors) -> float:
        """Mean distance of a deployment vector to the nearest row."""
        if self.deployment is None:
            raise InputError("the splitter 'deployment' needs deployment vectors", fix="deployment=… (an array)")
        vectors = finite_float32(np.atleast_2d(np.asarray(self.deployment)))
        if vectors.ndim != 2 or vectors.shape[1] != X.shape[1] or not len(vectors):
            raise VectorsError(
                "deployment vectors do not fit the data",
                expected=f"rows of {X.shape[1]} numbers, from the same encoder",
                got=f"shape {vectors.shape}",
            )
        rows = sampled(np.arange(len(vectors)), seed_of(self.random_state))
        return float(nearest_distances(vectors[rows], X).mean())
