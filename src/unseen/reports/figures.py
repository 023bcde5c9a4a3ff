"""Pictures as SVG text, to be put into a page."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unseen.types import Embeddings, Split

TRAIN_COLOUR, TEST_COLOUR = "#9aa5b1", "#d55e00"
MOST_POINTS = 4_000
NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def latent_maps(embeddings: Embeddings, splits: Sequence[Split], seed: int = 42) -> list[str]:
    """The vectors in two dimensions, one picture per split, test rows in colour. An illustration, not a proof."""
    points = plane(embeddings.vectors, seed)
    shown = np.random.default_rng(seed).permutation(len(points))[:MOST_POINTS]
    return [_map(points[shown], np.isin(shown, split.rows("test")), split.name) for split in splits]


def _map(points: npt.NDArray[np.float64], test: npt.NDArray[np.bool_], name: str) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4, 3.2), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.subplots()
    for rows, colour, alpha in ((~test, TRAIN_COLOUR, 0.45), (test, TEST_COLOUR, 0.9)):
        x, y = points[rows].T
        axes.scatter(x, y, s=5, c=colour, alpha=alpha, linewidths=0, rasterized=True)
    axes.set_axis_off()
    return _svg(figure, f"Map of the texts for the split {name}: test rows in orange, training rows in grey.")


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
    figure.savefig(buffer, format="svg", dpi=110, metadata=NO_METADATA)  # type: ignore[attr-defined]
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(description)}" ', 1)
