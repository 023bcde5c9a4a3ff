"""Few authors, many rows: how unequally the rows of a dataset, and of each class, are spread over authors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unseen.audits.authors.writers import Writers
from unseen.types import Dataset, Measurement

TOPS = (1, 2, 5, 10)
LORENZ_POINTS = 50
"""Points of a curve, about."""
Counts = npt.NDArray[np.int64]


def concentration(data: Dataset, author: str) -> list[Measurement]:
    """For all rows and for each label: authors, Gini coefficient, shares of the top 1, 2, 5 and 10 authors.

    All of it is about rows whose author is known; `authors.unknown` is the share of the others. The authors of a
    label are those who wrote a row of it: one who never did is not counted as an author of none.
    """
    writers = Writers.of(data, author)
    found = []
    for name, rows, counts in _classes(data, writers):
        found.append(Measurement("authors.unknown", 1 - counts.sum() / rows if rows else None, rows, slice=name))
        found += _described(name, counts[counts > 0])
    return found


def lorenz(data: Dataset, author: str) -> list[Measurement]:
    """Points of the Lorenz curves, for all rows and for each label: `author_lorenz` is the share of the rows that
    the share `authors` (a tag) of the authors wrote, from the least prolific to the most.
    """
    found = []
    for name, _, counts in _classes(data, Writers.of(data, author)):
        written = counts[counts > 0]
        found += [
            Measurement("author_lorenz", y, int(written.sum()), slice=name, tags={"authors": x})
            for x, y in lorenz_curve(written)
        ]
    return found


def lorenz_curve(counts: Counts, most: int = LORENZ_POINTS) -> list[tuple[float, float]]:
    """Shares of authors and of rows, from (0, 0) to (1, 1), at about `most` places; nothing from no rows.

    Half of the places are spread evenly over authors and half over rows, because few authors may have most.
    """
    if not counts.sum():
        return []
    rows = np.concatenate([[0], np.cumsum(np.sort(counts))]) / counts.sum()
    even = np.linspace(0, len(counts), most // 2 + 1).round().astype(int)
    places = np.unique([*even, *np.searchsorted(rows, np.linspace(0, 1, most // 2))])
    return [(float(place) / len(counts), float(rows[place])) for place in places]


def gini(counts: Counts) -> float | None:
    """0 when all authors wrote equally much, towards 1 when one wrote everything; None from no rows.

    It is half the mean absolute difference of two authors, both drawn with replacement, over the mean; with n
    authors it cannot pass 1 − 1/n.
    """
    if not counts.sum():
        return None
    n, ordered = len(counts), np.sort(counts).astype(np.float64)
    return float(((2 * np.arange(1, n + 1) - n - 1) * ordered).sum() / (n * ordered.sum()))


def _classes(data: Dataset, writers: Writers) -> Iterator[tuple[str, int, Counts]]:
    """Slice, rows (those of unknown authors too) and rows per known author."""
    table = writers.table(data.labels, len(data.label_names))
    yield "all", len(data), table.sum(axis=1)
    for code, label in enumerate(data.label_names):
        yield f"label={label}", data.label_counts[label], table[:, code]


def _described(name: str, counts: Counts) -> list[Measurement]:
    n = int(counts.sum())
    most_first = np.sort(counts)[::-1]
    found = [
        Measurement("authors.count", len(counts) if n else None, n, slice=name),
        Measurement("author_gini", gini(counts), n, slice=name),
    ]
    for top in TOPS:
        value = float(most_first[:top].sum()) / n if n else None
        found.append(Measurement(f"author_share.top{top}", value, n, slice=name))
    return found
