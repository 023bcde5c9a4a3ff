"""What `closest` and `subset-sum` share: whole clusters of the space, or, with many classes, of each class."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace

import numpy as np

from unseen.errors import InfeasibleError
from unseen.progress import track
from unseen.splits.clustering import Clustering
from unseen.splits.latent import DEFAULT_KS, LatentHoldOut, asked_ks
from unseen.splits.problem import Choice, Problem
from unseen.splits.vectors import Keys, Rows

MOST_SINGLY = 0.5
"""With more of the test part added singly, whole clusters of the space are hardly a region."""
SIZES = (1, 2, 3)
"""Clusters within a class are on average as large as its quota, half and a third of it."""
TRIALS = 3
"""Clusterings of a class among which the best is kept: there are as many classes as one would want trials."""


class RegionHoldOut(LatentHoldOut):
    """Whole clusters of the space where these make up most of the test part, else whole clusters within each class.

    With many classes a cluster has more rows of one class than the test part may have, whatever the number of
    clusters. The region is then one of each class: the class's own rows are clustered, and the same method chooses
    among these clusters. Groups cannot be divided by class, so with them the clusters of the space are made smaller.
    """

    @abstractmethod
    def _cut(self, problem: Problem, X: Rows, keys: Keys) -> Choice:
        """The choice by clusters of the whole space; `X` and `keys` are those of the units."""

    def _choose(self, problem: Problem, X: Rows, keys: Keys) -> Choice:  # type: ignore[override]
        divisible = self.n_clusters is None and problem.group_names is None and len(problem.class_names) > 1
        try:
            whole = self._cut(problem, X, keys)
        except InfeasibleError:
            parts = self._cut_classes(problem, X, keys) if divisible else None
            if parts is None or parts.certificate.completed_share > MOST_SINGLY:
                raise
            return parts
        if whole.certificate.completed_share <= MOST_SINGLY:
            return whole
        if divisible:
            whole = min(whole, self._cut_classes(problem, X, keys), key=lambda choice: choice.certificate.completed)
        singly = whole.certificate.completed_share
        if singly <= MOST_SINGLY:
            return whole
        note = f"hardly a region: {singly:.0%} of the test part were added singly, not by cluster"
        return whole.amended(note, optimal=None)

    def _cut_classes(self, problem: Problem, X: Rows, keys: Keys) -> Choice:
        """The same method on the rows of each class."""
        test, clusters = np.zeros(len(problem), bool), np.full(len(problem), -1, np.int32)
        certificates, begun = [], 0
        for code in track(np.flatnonzero(problem.quota).tolist(), "clustering classes", int((problem.quota > 0).sum())):
            rows = np.flatnonzero(problem.codes == code)
            choice = self._cut_class(problem.of_class(code), X[rows], keys[rows])
            test[rows], clusters[rows] = choice.test, choice.clusters + begun
            begun += choice.certificate.n_clusters or 0
            certificates.append(choice.certificate)
        return problem.choice(
            test,
            clusters,
            completed=sum(certificate.completed for certificate in certificates),
            n_clusters=begun,
            missed_at_least=sum(certificate.missed_at_least or 0 for certificate in certificates),
            optimal=all(certificate.optimal for certificate in certificates),
            notes=(f"a region of each of {len(certificates)} classes: clusters were made within classes",),
        )

    def _cut_class(self, problem: Problem, X: Rows, keys: Keys) -> Choice:
        few, distinct = -(-len(problem) // int(problem.quota[0])), len(np.unique(keys))
        smaller = copy(self)
        smaller.n_clusters = sorted({min(few * size, distinct) for size in SIZES})
        smaller.n_init = min(self.n_init, TRIALS)
        try:
            return smaller._cut(problem, X, keys)
        except InfeasibleError:  # more copies of one text than the class may give
            choice = self._in_order(problem, np.argsort(keys, kind="stable"))
            choice = choice.amended(completed=int(problem.quota[0]), n_clusters=1)
            return replace(choice, clusters=np.zeros(len(problem), np.int32))

    def _clusterings(self, problem: Problem, X: Rows, keys: Keys) -> list[Clustering]:
        if problem.group_names is not None and problem.n_units < DEFAULT_KS.start and self.n_clusters is None:
            raise InfeasibleError("too few groups to find regions among them", got=problem.largest_groups())
        clusterings = self._sweep(problem, X, keys, asked_ks(self.n_clusters, keys))
        if self.n_clusters is not None or problem.group_names is None:
            return clusterings
        most = len(np.unique(keys)) // 2
        while not any(_fits(problem, clustering) for clustering in clusterings) and 2 * clusterings[-1].k <= most:
            clusterings = clusterings + self._sweep(problem, X, keys, [2 * clusterings[-1].k])
        return clusterings


def _fits(problem: Problem, clustering: Clustering) -> bool:
    """Whether some cluster has no more rows of any class than the test part shall have."""
    counts = problem.counts(clustering.labels, clustering.k)
    return bool(((counts <= problem.quota).all(axis=1) & counts.any(axis=1)).any())
