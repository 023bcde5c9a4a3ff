"""What splitters share that cut out a region of a latent space: of all rows, or, with many classes, of each class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from unseen.errors import InfeasibleError, InputError, VectorsError
from unseen.progress import track
from unseen.representations import encode_texts
from unseen.splits.clustering import Clustering, checked_ks, sweep
from unseen.splits.holdout import HoldOut, n_rows, seed_of
from unseen.splits.problem import Choice, Problem, pose
from unseen.splits.vectors import require_directions, row_keys, unit_rows
from unseen.types import finite_float32
from unseen.types.arrays import Floats, Keys, Mask, Rows, Vectors

DEFAULT_KS = range(3, 51)
MOST_SINGLY = 0.5
"""With more of the test part added singly, whole clusters of the space are hardly a region."""
SIZES = (1, 2, 3)
"""Clusters within a class are on average as large as its quota, half and a third of it."""
TRIALS = 3
"""Clusterings of a class among which the best is kept: there are as many classes as one would want trials."""


@dataclass(eq=False, repr=False, kw_only=True)
class LatentHoldOut(HoldOut):
    """A test part made of whole clusters, completed where clusters do not add up.

    With groups the units that are clustered are the groups, each at the mean of its rows and weighted
    by their number. That is k-means on the rows under the condition that a group stays together: the
    squared distances of a group's rows to a centre and those of its mean differ by a constant.
    """

    reads: ClassVar[str] = "vectors"
    space: ClassVar[str] = "own"
    """Which vectors are meant: the model's "own", or "untrained" ones that never saw the labels."""

    n_clusters: int | Iterable[int] | None = None
    metric: str = "euclidean"
    n_init: int = 10
    max_iter: int = 300
    using: Any = None

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """The one choice, in a list."""
        vectors = vectors_of(X, self.using, n_rows(X, y), seed_of(self.random_state))
        keys = row_keys(vectors)
        problem = pose(
            y, groups, len(vectors), test_size=self.test_size, mix=self.mix, stratify=self.stratify, keys=keys
        )
        return [self._choose(problem, *unit_vectors(problem, vectors, keys, self.metric))]

    @abstractmethod
    def _choose(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:  # type: ignore[override]
        """Solve `problem`; `X` and `keys` are those of the units."""

    def _sweep(self, problem: Problem, X: Vectors, keys: Keys, ks: Iterable[int]) -> list[Clustering]:
        return sweep(
            X, ks, weights=problem.sizes, keys=keys, metric=self.metric, n_init=self.n_init,
            max_iter=self.max_iter, seed=seed_of(self.random_state),
        )  # fmt: skip


class RegionHoldOut(LatentHoldOut):
    """Whole clusters of the space where these make up most of the test part, else whole clusters within each class.

    With many classes a cluster has more rows of one class than the test part may have, whatever the number of
    clusters. The region is then one of each class: the class's own rows are clustered, and the same method chooses
    among these clusters. Groups cannot be divided by class, so with them the clusters of the space are made smaller.
    """

    @abstractmethod
    def _cut(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:
        """The choice by clusters of the whole space; `X` and `keys` are those of the units."""

    def _choose(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:  # type: ignore[override]
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

    def _cut_classes(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:
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

    def _cut_class(self, problem: Problem, X: Vectors, keys: Keys) -> Choice:
        few, distinct = -(-len(problem) // int(problem.quota[0])), len(np.unique(keys))
        smaller = copy(self)
        smaller.n_clusters = sorted({min(few * size, distinct) for size in SIZES})
        smaller.n_init = min(self.n_init, TRIALS)
        try:
            choice = smaller._cut(problem, X, keys)
            alone = int((choice.test & _alone(choice.clusters, keys)).sum())
            return choice.amended(completed=min(choice.certificate.completed + alone, int(choice.test.sum())))
        except InfeasibleError:  # more copies of one text than the class may give
            choice = self._in_order(problem, np.argsort(keys, kind="stable"))
            choice = choice.amended(completed=int(problem.quota[0]), n_clusters=1)
            return replace(choice, clusters=np.zeros(len(problem), np.int32))

    def _clusterings(self, problem: Problem, X: Vectors, keys: Keys) -> list[Clustering]:
        if problem.group_names is not None and problem.n_units < DEFAULT_KS.start and self.n_clusters is None:
            raise InfeasibleError("too few groups to find regions among them", got=problem.largest_groups())
        clusterings = self._sweep(problem, X, keys, asked_ks(self.n_clusters, keys))
        if self.n_clusters is not None or problem.group_names is None:
            return clusterings
        most = len(np.unique(keys)) // 2
        while not any(_fits(problem, clustering) for clustering in clusterings) and 2 * clusterings[-1].k <= most:
            clusterings = clusterings + self._sweep(problem, X, keys, [2 * clusterings[-1].k])
        return clusterings


def _alone(clusters: npt.NDArray[np.int32], keys: Keys) -> Mask:
    """Which rows are of a cluster that is a single text: held out singly, whatever it is called."""
    texts = np.unique(np.column_stack([clusters, np.unique(keys, return_inverse=True)[1]]), axis=0)[:, 0]
    sizes = np.bincount(texts[texts >= 0], minlength=int(clusters.max(initial=0)) + 1)
    return np.asarray((clusters >= 0) & (sizes[clusters] == 1))


def _fits(problem: Problem, clustering: Clustering) -> bool:
    """Whether some cluster has no more rows of any class than the test part shall have."""
    counts = problem.counts(clustering.labels, clustering.k)
    return bool(((counts <= problem.quota).all(axis=1) & counts.any(axis=1)).any())


def asked_ks(n_clusters: int | Iterable[int] | None, keys: Keys) -> list[int]:
    """The numbers of clusters to try first: those asked for, or 3 to 50 as far as the rows allow."""
    if n_clusters is None:
        distinct = len(np.unique(keys))
        if distinct < DEFAULT_KS.start:
            raise InfeasibleError(
                f"only {distinct} different vectors, of {len(keys)} rows", expected=f"at least {DEFAULT_KS.start}",
                fix="texts that differ, or vectors that tell them apart",
            )  # fmt: skip
        return [k for k in DEFAULT_KS if k <= max(DEFAULT_KS.start, distinct // 2)]
    if isinstance(n_clusters, str):
        raise InputError("n_clusters must be a number or several", got=repr(n_clusters))
    return checked_ks([n_clusters] if isinstance(n_clusters, int | np.integer) else n_clusters, len(keys))


def vectors_of(X: Any, using: Any, n: int, seed: int) -> Vectors:
    """One finite vector per row: `using` if given (an array or the name of an encoder), else `X`.

    Texts without vectors are encoded with the default encoder.
    """
    is_texts = X is not None and n > 0 and isinstance(X[0] if not hasattr(X, "iloc") else X.iloc[0], str)
    if isinstance(using, str) or (using is None and is_texts):
        if not is_texts:
            raise InputError(f"using={using!r} names an encoder, but X holds no texts", got=type(X).__name__)
        return encode_texts([str(text) for text in X], using or "tfidf", seed=seed)
    vectors = X if using is None else using
    if vectors is None:
        raise VectorsError("this splitter needs vectors", fix="pass vectors or texts as X, or vectors as using=")
    array = np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors)
    if array.ndim != 2 or array.shape[1] == 0:
        raise VectorsError("vectors must be a table", expected="shape [rows, numbers]", got=f"shape {array.shape}")
    if len(array) != n:
        raise VectorsError("vectors of another length", expected=f"{n} rows", got=f"{len(array)} rows")
    return finite_float32(array)


def unit_vectors(problem: Problem, vectors: Vectors, keys: Keys, metric: str) -> tuple[Vectors, Keys]:
    """The mean vector and the key of each unit."""
    if problem.group_names is None:
        require_directions(vectors)
        return vectors, keys
    rows = unit_rows(vectors) if metric == "cosine" else vectors
    member = sparse.csr_array((1.0 / problem.sizes[problem.units], (problem.units, np.arange(len(rows)))))
    means = np.asarray(member @ rows, dtype=np.float32)
    sums = np.zeros(problem.n_units, np.uint64)
    np.add.at(sums, problem.units, keys)
    require_directions(means)
    return means, sums


def by_similarity(X: Vectors, chosen: Mask, sizes: npt.NDArray[np.int64], keys: Keys) -> Rows:
    """Units that are not chosen, the most cosine-similar to the mean of the chosen rows first."""
    mean = (sizes[chosen].astype(np.float64) @ X[chosen]) / sizes[chosen].sum()
    rest = np.flatnonzero(~chosen)
    similarity = cosine_to(X, mean)[rest]
    return rest[np.lexsort((keys[rest], -similarity.round(6)))]


def cosine_to(X: Vectors, direction: Floats) -> Floats:
    """Cosine similarity of each row to `direction`."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return (X @ direction.astype(np.float32)) / np.maximum(lengths * np.linalg.norm(direction), 1e-30)
