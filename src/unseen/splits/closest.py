"""A region of the latent space: neighbouring clusters far from the middle."""

from __future__ import annotations

import numpy as np

from unseen.errors import InfeasibleError
from unseen.splits.clustering import Clustering
from unseen.splits.latent import RegionHoldOut, by_similarity, cosine_to
from unseen.splits.problem import Choice, Problem
from unseen.splits.selection import Counts
from unseen.types.arrays import Floats, Keys, Vectors


class ClosestSplit(RegionHoldOut):
    """A region that this latent space keeps far from its middle; the hardest split in Züfle (2023).

    Section 2.2 there. Starts with the cluster least similar to the middle of all centres that
    fits the quota and adds the nearest cluster as long as it fits. Over all k the clustering that leaves
    the fewest rows missing, ties to the smallest k. Missing rows are those most similar to the mean of
    the region; the certificate says how many (`completed`), because the region is theirs only by
    neighbourhood, not by cluster.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 5)); y = np.arange(300) % 3
    >>> train, test = next(ClosestSplit(test_size=0.2, n_clusters=range(3, 12)).split(X, y))
    >>> np.bincount(y[test]).tolist()
    [20, 20, 20]
    """

    def _cut(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:
        clustering, region = self._best(problem, self._clusterings(problem, X, keys))
        chosen = np.isin(clustering.labels, region)
        whole = int(problem.class_counts(chosen).sum())
        room = problem.quota - problem.class_counts(chosen)
        added = problem.fill(room, by_similarity(X, chosen, problem.sizes, keys))
        chosen = chosen | added.chosen
        return problem.choice(
            chosen,
            clustering.labels,
            completed=int(problem.class_counts(chosen).sum()) - whole,
            n_clusters=clustering.k,
            missed_at_least=added.missed_at_least,
            optimal=added.optimal,
            notes=(f"{len(region)} of {clustering.k} clusters, whole, with {whole} rows",),
        )

    def _best(self, problem: Problem, clusterings: list[Clustering]) -> tuple[Clustering, list[int]]:
        best: tuple[int, Clustering, list[int]] | None = None
        for clustering in clusterings:
            counts = problem.counts(clustering.labels, clustering.k)
            region = neighbouring_clusters(clustering.centres, counts, problem.quota)
            missed = int(problem.quota.sum() - counts[region].sum())
            if region and (best is None or missed < best[0]):
                best = (missed, clustering, region)
        if best is None:
            most = clusterings[-1].k
            raise InfeasibleError(
                f"no cluster fits into a test part of {int(problem.quota.sum())} rows, with up to {most} clusters",
                expected="at least one cluster with no more rows of any class than the test part shall have",
                got=problem.largest_groups(),
                fix="ask for a larger test part"
                if self.n_clusters is None
                else f"ask for more, so smaller clusters, e.g. n_clusters={4 * most}, or for a larger test part",
            )
        return best[1], best[2]


def neighbouring_clusters(centres: Vectors, counts: Counts, quota: Counts) -> list[int]:
    """Clusters of the region, in the order they were added; empty when none fits."""
    occupied = counts.sum(axis=1) > 0
    fits = occupied & (counts <= quota).all(axis=1)
    outermost = np.argsort(cosine_to(centres, centres[occupied].mean(axis=0, dtype=np.float64)), kind="stable")
    starts = outermost[fits[outermost]]
    if not len(starts):
        return []
    similarity = _cosines(centres)
    similarity[:, ~occupied] = -np.inf
    region = [int(starts[0])]
    room = quota - counts[region[0]]
    while True:
        nearest = similarity[region].max(axis=0)
        nearest[region] = -np.inf
        candidate = int(nearest.argmax())
        if not np.isfinite(nearest[candidate]) or (counts[candidate] > room).any():
            return region
        region.append(candidate)
        room = room - counts[candidate]


def _cosines(centres: Vectors) -> Floats:
    unit = centres.astype(np.float64)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-30)
    return unit @ unit.T
