"""The k-means sweep against scikit-learn's KMeans and against the machine's matrix multiplication."""

from __future__ import annotations

import numpy as np

from benchmarks.setting import hatexplain, seconds, table

KS = range(3, 51)


def section() -> str:
    """Time and inertia of k = 3 to 50, ten initialisations each, on TF-IDF + SVD vectors."""
    texts, _, name = hatexplain()
    rows = [_compare(texts, dimensions) for dimensions in (50, 384)]
    header = [
        "vectors",
        "scikit-learn ÷ unseen (time)",
        "inertia, mean over k",
        "inertia, worst k",
        "unseen ÷ GEMM limit",
    ]
    return (
        "## k-means sweep\n\n"
        f"k = 3 to 50, 10 initialisations, at most 300 iterations, seed 42; {name}, TF-IDF + SVD. Inertia is that of "
        "unseen relative to scikit-learn's (negative is better). The GEMM limit is the time that the distance "
        "products of plain Lloyd alone would take, at the measured speed of this machine's matrix product and with "
        "scikit-learn's numbers of iterations; bounds and warm starts may go below it.\n\n" + table(header, rows)
    )


def _compare(texts: list[str], dimensions: int) -> list[str]:
    from sklearn.cluster import KMeans

    from unseen.representations import encode_texts
    from unseen.splits.clustering import sweep

    vectors = encode_texts(texts, "tfidf", dimensions=dimensions)
    sweep(vectors[:500], [3, 4])
    ours, found = seconds(lambda: sweep(vectors, KS))
    theirs, models = seconds(lambda: [KMeans(k, n_init=10, max_iter=300, random_state=42).fit(vectors) for k in KS])
    relative = np.array([a.inertia / b.inertia_ for a, b in zip(found, models, strict=True)]) - 1
    flops = sum(10 * model.n_iter_ * 2 * vectors.size * k for k, model in zip(KS, models, strict=True))
    limit = flops / _gemm_speed(vectors)
    return [
        f"{vectors.shape[0]:,} × {dimensions}",
        f"{theirs / ours:.1f}",
        f"{relative.mean():+.2%}",
        f"{relative.max():+.2%}",
        f"{ours / limit:.2f}",
    ]


def _gemm_speed(vectors: np.ndarray) -> float:
    centres = np.ascontiguousarray(vectors[:26].T)
    best, _ = seconds(lambda: vectors @ centres, repeat=20)
    return 2 * vectors.size * 26 / best


if __name__ == "__main__":
    print(section())
