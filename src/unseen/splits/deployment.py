"""A test part as far from training as the texts a model will meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.errors import InputError, VectorsError
from unseen.splits.closest import ClosestSplit
from unseen.splits.difficulty import DifficultySplit
from unseen.splits.distance import nearest_distances, sampled
from unseen.splits.holdout import DEFAULT_SEED, Choice, seed_of
from unseen.splits.problem import Problem
from unseen.splits.quotas import Mix
from unseen.splits.vectors import Keys, Rows
from unseen.types import finite_float32


class DeploymentSplit(DifficultySplit):
    """The test part whose distance to training is that of unlabelled `deployment` vectors to the data.

    Distances are those of `DifficultySplit`. When deployment is farther than the hardest split, or
    nearer than a random one, that split is returned and the certificate says so.
    """

    def __init__(
        self,
        test_size: float = 0.1,
        *,
        deployment: Any = None,
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
        self.deployment = deployment

    def _choose(self, problem: Problem, X: Rows, keys: Keys) -> Choice:  # type: ignore[override]
        wanted = self._wanted(X)
        hardest = ClosestSplit._choose(self, problem, X, keys)
        tests = self._family(problem, X, keys, hardest)
        distances = self._distances(X, tests)
        choice = self._at(problem, hardest, tests, distances, wanted)
        note = f"deployment is {wanted:.4f} from the data"
        farthest = max(distances[0], distances[-1])
        if wanted > farthest:
            note += f", farther than the hardest split here ({farthest:.4f}): expect worse than it shows"
        elif wanted < distances[0]:
            note += f", nearer than a random split ({distances[0]:.4f})"
        notes = (*choice.certificate.notes, note)
        return replace(choice, certificate=replace(choice.certificate, notes=notes))

    def _wanted(self, X: Rows) -> float:
        if self.deployment is None:
            raise InputError("the splitter 'deployment' needs deployment vectors", fix="deployment=… (an array)")
        texts = finite_float32(np.atleast_2d(np.asarray(self.deployment)))
        if texts.ndim != 2 or texts.shape[1] != X.shape[1] or not len(texts):
            raise VectorsError(
                "deployment vectors do not fit the data",
                expected=f"rows of {X.shape[1]} numbers, from the same encoder",
                got=f"shape {texts.shape}",
            )
        return float(nearest_distances(texts[sampled(np.arange(len(texts)), seed_of(self.random_state))], X).mean())
