"""Fewer numbers per text: principal components, or UMAP as in the published splits."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from unseen.errors import InputError, MissingPackageError, UnknownNameError
from unseen.registry import check_numbers
from unseen.seeding import child_seed

REDUCTIONS = ("pca", "umap")
DEFAULT_DIMENSIONS = 50
NEIGHBOURS = 15


def reduce(
    vectors: npt.NDArray[np.float32], method: str, dimensions: int = DEFAULT_DIMENSIONS, *, seed: int = 42
) -> npt.NDArray[np.float32]:
    """`vectors` with `dimensions` numbers each; the same for the same seed, on one thread and on many."""
    if method not in REDUCTIONS:
        raise UnknownNameError.of("reduction", method, REDUCTIONS)
    check_numbers(f"reduction {method!r}", reduce, {"dimensions": dimensions})
    if not 1 <= dimensions < min(vectors.shape):
        raise InputError(
            f"{vectors.shape[0]} vectors of {vectors.shape[1]} numbers cannot be reduced to {dimensions}",
            expected=f"from 1 to {min(vectors.shape) - 1} dimensions",
        )
    return (_pca if method == "pca" else _umap)(vectors, dimensions, child_seed(seed, method))


def _pca(vectors: npt.NDArray[np.float32], dimensions: int, seed: int) -> npt.NDArray[np.float32]:
    from sklearn.decomposition import PCA

    with threadpool_limits(1, user_api="blas"):
        return np.asarray(PCA(dimensions, svd_solver="covariance_eigh").fit_transform(vectors), np.float32)


def _umap(vectors: npt.NDArray[np.float32], dimensions: int, seed: int) -> npt.NDArray[np.float32]:
    """UMAP with cosine distance, 15 neighbours and no minimal distance."""
    try:
        from umap import UMAP
    except ImportError as cause:
        raise MissingPackageError.of("umap-learn", "UMAP", "umap") from cause
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed means one thread is what is wanted here
        project = UMAP(
            n_components=dimensions,
            n_neighbors=min(NEIGHBOURS, len(vectors) - 1),
            min_dist=0.0,
            metric="cosine",
            random_state=seed,
        )
        return np.asarray(project.fit_transform(vectors), np.float32)
