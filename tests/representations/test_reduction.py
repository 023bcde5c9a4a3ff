"""Fewer dimensions: PCA as its definition says, UMAP the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.errors import InputError, UnknownNameError
from unseen.representations.reduction import reduce

VECTORS = np.random.default_rng(0).normal(size=(120, 8)).astype(np.float32) * np.arange(1, 9, dtype=np.float32)


def test_pca_is_the_projection_on_the_first_singular_vectors() -> None:
    found = reduce(VECTORS, "pca", 3)
    centred = VECTORS - VECTORS.mean(0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found), np.abs(left[:, :3] * size[:3]), rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_umap_is_the_same_for_the_same_seed() -> None:
    pytest.importorskip("umap")
    first, again, other = (reduce(VECTORS, "umap", 2, seed=seed) for seed in (1, 1, 2))
    assert first.shape == (120, 2)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_mistakes() -> None:
    with pytest.raises(UnknownNameError, match="pca"):
        reduce(VECTORS, "pcaa", 2)
    for dimensions in (0, 8, 500):
        with pytest.raises(InputError, match="cannot be reduced"):
            reduce(VECTORS, "pca", dimensions)
