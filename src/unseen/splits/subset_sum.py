"""Whole clusters that add up to the asked class counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.seeding import generator
from unseen.splits.clustering import Clustering
from unseen.splits.holdout import seed_of
from unseen.splits.latent import RegionHoldOut
from unseen.splits.problem import Choice, Problem
from unseen.splits.selection import Selection, choose_within
from unseen.types.arrays import Keys, Mask, Vectors


@dataclass(eq=False, repr=False, kw_only=True)
class SubsetSumSplit(RegionHoldOut):
    """Whole clusters whose class counts sum to the quota: the true optimum, for any number of classes.

    Züfle (2023), section 2.1. Over all k the clustering that leaves the fewest rows missing, ties to
    the smallest k. Missing rows come from as few other clusters as possible, in practice one.
    The clusters of the test part need not be near each other: in the thesis models fall less than with
    `closest`, though by distance to training this split can be the farther one.
    `time_limit`, in deterministic seconds (about real ones), is for all k together; what it leaves
    unproven is in the certificate: `optimal` and the note are about whole clusters, before completion.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 5)); y = np.arange(300) % 3
    >>> train, test = next(SubsetSumSplit(test_size=0.2, n_clusters=range(3, 12)).split(X, y))
    >>> np.bincount(y[test]).tolist()
    [20, 20, 20]
    """

    time_limit: float = 60.0

    def _cut(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:
        clustering, selection, least = self._best(problem, self._clusterings(problem, X, keys))
        chosen = selection.chosen[clustering.labels]
        whole = int(problem.class_counts(chosen).sum())
        chosen = self._completed(problem, clustering, chosen, keys)
        missed = int(np.abs(problem.quota - problem.class_counts(chosen)).sum())
        return problem.choice(
            chosen,
            clustering.labels,
            completed=int(problem.class_counts(chosen).sum()) - whole,
            n_clusters=clustering.k,
            missed_at_least=min(least, missed),
            optimal=selection.missed <= least,
            notes=(
                f"{int(selection.chosen.sum())} of {clustering.k} clusters, whole; "
                f"they miss {selection.missed} rows, at least {least} for any choice of clusters",
            ),
        )

    def _best(self, problem: Problem, clusterings: list[Clustering]) -> tuple[Clustering, Selection, int]:
        """The clustering and selection that miss the fewest rows, and a bound for all of them."""
        best, least, left = None, int(problem.quota.sum()), self.time_limit
        for clustering in clusterings:
            counts = problem.counts(clustering.labels, clustering.k)
            selection = choose_within(counts, problem.quota, None if best is None else best[1].missed, left)
            left -= selection.spent
            least = min(least, selection.missed_at_least)
            if best is None or selection.missed < best[1].missed:
                best = (clustering, selection)
            if best[1].missed == 0:
                break
        assert best is not None
        return *best, least

    def _completed(self, problem: Problem, clustering: Clustering, chosen: Mask, keys: Keys) -> Mask:
        """`chosen` and, for what is missing, random units of the smallest cluster that can give it all."""
        room = problem.quota - problem.class_counts(chosen)
        if not room.any():
            return chosen
        counts = problem.counts(clustering.labels, clustering.k)
        counts[np.unique(clustering.labels[chosen])] = 0
        gives = np.minimum(counts, room).sum(axis=1)
        clusters = np.lexsort((counts.sum(axis=1), -gives))
        shuffled = generator(seed_of(self.random_state), "complete").permutation(np.argsort(keys, kind="stable"))
        rank = np.argsort(clusters)
        candidates = shuffled[~chosen[shuffled]]
        order = candidates[np.argsort(rank[clustering.labels[candidates]], kind="stable")]
        return np.asarray(chosen | problem.fill(room, order).chosen)
