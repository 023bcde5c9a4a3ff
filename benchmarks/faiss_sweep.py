"""The k-means sweep against faiss, where faiss-cpu is installed."""

from __future__ import annotations

import numpy as np

from benchmarks.setting import hatexplain, seconds, table

KS = range(3, 51)


def section() -> str:
    """Time and inertia of k = 3 to 50, ten initialisations each; faiss with at most 300 iterations too."""
    try:
        import faiss  # noqa: F401
    except ImportError:
        return "## k-means sweep against faiss\n\nfaiss-cpu is not installed; nothing was measured.\n"
    texts, _, name = hatexplain()
    rows = [_compare(texts, dimensions) for dimensions in (50, 384)]
    return (
        f"## k-means sweep against faiss\n\nThe same sweep; {name}. faiss starts each k from scratch and runs as many rounds as it is "
        "told: with 25, its default, and with 100.\n\n"
        + table(
            ["vectors", "rounds of faiss", "faiss ÷ unseen (time)", "inertia of unseen, mean over k", "worst k"],
            [line for lines in rows for line in lines],
        )
    )


def _compare(texts: list[str], dimensions: int) -> list[list[str]]:
    from unseen.representations import encode_texts
    from unseen.splits.clustering import sweep

    vectors = encode_texts(texts, "tfidf", dimensions=dimensions)
    sweep(vectors[:500], [3, 4])
    ours, found = seconds(lambda: sweep(vectors, KS))
    lines = []
    for rounds in (25, 100) if dimensions == 50 else (25,):
        theirs, inertias = seconds(lambda rounds=rounds: [_faiss(vectors, k, rounds) for k in KS])
        relative = np.array([each.inertia for each in found]) / np.array(inertias) - 1
        lines.append(
            [
                f"{len(vectors):,} × {dimensions}",
                str(rounds),
                f"{theirs / ours:.1f}",
                f"{relative.mean():+.2%}",
                f"{relative.max():+.2%}",
            ]
        )
    return lines


def _faiss(vectors: np.ndarray, k: int, rounds: int) -> float:
    import faiss

    model = faiss.Kmeans(vectors.shape[1], k, niter=rounds, nredo=10, seed=42, max_points_per_centroid=10**9)
    model.train(vectors)
    return float(np.sum(model.index.search(vectors, 1)[0], dtype=np.float64))


if __name__ == "__main__":
    print(section())
