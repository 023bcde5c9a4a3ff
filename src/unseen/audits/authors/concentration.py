"""Who wrote which row, and how unequally the rows of a dataset, and of each class, are spread over authors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.data.groups import NONE, group_codes
from unseen.types import Dataset, Measurement

TOPS = (1, 2, 5, 10)
LORENZ_POINTS = 50
"""Points of a curve, about."""
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Writers:
    """The author of each row of a dataset."""

    code: npt.NDArray[np.intp]
    """A number per row, equal for equal authors; -1 where the author is not known."""
    count: int
    """Authors that are known."""

    @classmethod
    def of(cls, data: Dataset, author: str) -> Writers:
        """The authors that the attribute `author` names; a missing or empty name is an unknown author."""
        codes = group_codes(data, author)
        return cls(codes, int(codes.max(initial=NONE)) + 1)

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Rows whose author is known."""
        return np.asarray(self.code != NONE)

    def table(self, labels: npt.NDArray[np.integer], k: int) -> npt.NDArray[np.int64]:
        """Rows per author and label [authors, k]; those of unknown authors are not in it."""
        cells = self.code[self.known] * k + labels[self.known]
        return np.bincount(cells, minlength=self.count * k).reshape(self.count, k)


def concentration(data: Dataset, author: str) -> list[Measurement]:
    """For all rows and for each label: authors, Gini coefficient, shares of the top 1, 2, 5 and 10 authors.

    All of it is about rows whose author is known; `authors.unknown` is the share of the others. The authors of a
    label are those who wrote a row of it: one who never did is not counted as an author of none.
    """
    measurements = []
    for name, rows, counts in _classes(data, author):
        unknown = 1 - counts.sum() / rows if rows else None
        written = counts[counts > 0]
        n = int(written.sum())
        measurements += [
            Measurement("authors.unknown", unknown, rows, slice=name),
            Measurement("authors.count", len(written) if n else None, n, slice=name),
            Measurement("author_gini", gini(written), n, slice=name),
        ]
        most_first = np.sort(written)[::-1]
        for top in TOPS:
            value = float(most_first[:top].sum()) / n if n else None
            measurements.append(Measurement(f"author_share.top{top}", value, n, slice=name))
    return measurements


def lorenz(data: Dataset, author: str) -> list[Measurement]:
    """Points of the Lorenz curves, for all rows and for each label: `author_lorenz` is the share of the rows that
    the share `authors` (a tag) of the authors wrote, from the least prolific to the most.
    """
    return [
        Measurement("author_lorenz", y, int(counts.sum()), slice=name, tags={"authors": x})
        for name, _, counts in _classes(data, author)
        for x, y in lorenz_curve(counts[counts > 0])
    ]


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


def _classes(data: Dataset, author: str) -> Iterator[tuple[str, int, Counts]]:
    """Slice, rows (those of unknown authors too) and rows per known author."""
    table = Writers.of(data, author).table(data.labels, len(data.label_names))
    yield "all", len(data), table.sum(axis=1)
    for code, label in enumerate(data.label_names):
        yield f"label={label}", data.label_counts[label], table[:, code]
