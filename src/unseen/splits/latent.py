"""What splitters share that cut out a region of a latent space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from unseen.errors import InputError, VectorsError
from unseen.representations import encode_texts
from unseen.splits.clustering import Clustering, checked_ks, sweep
from unseen.splits.holdout import HoldOut, n_rows, seed_of
from unseen.splits.problem import Choice, Mask, Problem, pose
from unseen.splits.vectors import Keys, Rows, require_directions, row_keys, unit_rows
from unseen.types import finite_float32

DEFAULT_KS = range(3, 51)


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
    def _choose(self, problem: Problem, X: Rows, keys: Keys) -> Choice:  # type: ignore[override]
        """Solve `problem`; `X` and `keys` are those of the units."""

    def _sweep(self, problem: Problem, X: Rows, keys: Keys, ks: Iterable[int]) -> list[Clustering]:
        return sweep(
            X, ks, weights=problem.sizes, keys=keys, metric=self.metric, n_init=self.n_init,
            max_iter=self.max_iter, seed=seed_of(self.random_state),
        )  # fmt: skip


def asked_ks(n_clusters: int | Iterable[int] | None, keys: Keys) -> list[int]:
    """The numbers of clusters to try first: those asked for, or 3 to 50 as far as the rows allow."""
    if n_clusters is None:
        distinct = len(np.unique(keys))
        if distinct < DEFAULT_KS.start:
            raise VectorsError(
                f"only {distinct} different vectors", expected=f"at least {DEFAULT_KS.start}", fix="encode again"
            )
        return [k for k in DEFAULT_KS if k <= max(DEFAULT_KS.start, distinct // 2)]
    if isinstance(n_clusters, str):
        raise InputError("n_clusters must be a number or several", got=repr(n_clusters))
    return checked_ks([n_clusters] if isinstance(n_clusters, int | np.integer) else n_clusters, len(keys))


def vectors_of(X: Any, using: Any, n: int, seed: int) -> Rows:
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


def unit_vectors(problem: Problem, vectors: Rows, keys: Keys, metric: str) -> tuple[Rows, Keys]:
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


def by_similarity(X: Rows, chosen: Mask, sizes: npt.NDArray[np.int64], keys: Keys) -> npt.NDArray[np.intp]:
    """Units that are not chosen, the most cosine-similar to the mean of the chosen rows first."""
    mean = (sizes[chosen].astype(np.float64) @ X[chosen]) / sizes[chosen].sum()
    rest = np.flatnonzero(~chosen)
    similarity = cosine_to(X, mean)[rest]
    return rest[np.lexsort((keys[rest], -similarity.round(6)))]


def cosine_to(X: Rows, direction: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cosine similarity of each row to `direction`."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return (X @ direction.astype(np.float32)) / np.maximum(lengths * np.linalg.norm(direction), 1e-30)
