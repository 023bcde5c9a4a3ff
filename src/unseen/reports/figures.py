"""Pictures as SVG text, to be put into a page."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unseen.types import Embeddings, Split

TRAIN_COLOUR, TEST_COLOUR, INK = "#9aa5b1", "#d55e00", "#6b7280"
MOST_POINTS = 4_000


def latent_map(embeddings: Embeddings, splits: Sequence[Split], seed: int = 42) -> str:
    """The vectors in two dimensions, once per split, test rows in colour. An illustration, not a proof."""
    import matplotlib

    matplotlib.use("svg", force=False)
    from matplotlib.figure import Figure

    points = plane(embeddings.vectors, seed)
    shown = np.random.default_rng(seed).permutation(len(points))[:MOST_POINTS]
    figure = Figure(figsize=(3.4 * len(splits), 3.5), layout="constrained")
    figure.patch.set_alpha(0)
    for axes, split in zip(figure.subplots(1, len(splits), squeeze=False)[0], splits, strict=True):
        test = np.isin(shown, split.rows("test"))
        style = {"s": 5, "linewidths": 0, "rasterized": True}
        axes.scatter(*points[shown[~test]].T, c=TRAIN_COLOUR, alpha=0.45, **style)
        axes.scatter(*points[shown[test]].T, c=TEST_COLOUR, alpha=0.9, **style)
        axes.set_title(split.name, color=INK, fontsize=11)
        axes.set_axis_off()
    return _svg(figure, "The texts on a map of the latent space, one panel per split; test rows in orange.")


def plane(vectors: npt.NDArray[np.float32], seed: int = 42) -> npt.NDArray[np.float64]:
    """Two coordinates per row: t-SNE for up to a few thousand rows, the first principal components beyond."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if len(vectors) < 10 or len(vectors) > MOST_POINTS:
        return PCA(2, random_state=seed).fit_transform(vectors)
    return TSNE(2, metric="cosine", init="pca", random_state=seed, perplexity=min(30, len(vectors) // 4)).fit_transform(
        vectors
    )


def _svg(figure: object, description: str) -> str:
    """The figure as an SVG element with a description for those who do not see it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", dpi=110, metadata={"Date": None})  # type: ignore[attr-defined]
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{description}" ', 1)
