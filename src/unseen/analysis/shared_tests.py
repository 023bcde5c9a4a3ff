"""How much of their test parts splits have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.types import PARTS, Dataset, Measurement, Split
from unseen.types.arrays import Floats, Mask, Rows


def shared_tests(data: Dataset, splits: Mapping[str, Sequence[Split]]) -> list[Measurement]:
    """`test_overlap` of every two names, and `test_overlap.chance` beside it; tags `a`, `b` and `pairs`.

    `splits` holds one or more splits per name, e.g. a model's with several cluster seeds. The share of two
    splits is the number of common test rows divided by the mean size of the two test parts. A row is the
    mean over all pairs of splits of the two names; where `a` is `b`, over the pairs of different splits, and
    left out when there is only one. Each two names come once, in the order given. `n` counts the rows that
    are in one of these test parts.

    `chance` is the share to expect of random test parts with the same rows per class: a tenth of the rows
    twice already shares a tenth. Splits that were made with the same seed share more than chance without
    sharing anything about the texts.
    """
    names, chosen = _listed(data, splits)
    tests = np.array([split.parts == PARTS.index("test") for split in chosen])
    sizes = tests.sum(axis=1)
    if not sizes.all():
        empty = chosen[int(sizes.argmin())].name
        raise InputError(f"the split {empty!r} has no test part to share", expected="rows in test", got="none")
    middle = (sizes[:, None] + sizes) / 2
    tables = {
        "test_overlap": _products(tests) / middle,
        "test_overlap.chance": _expected(data, chosen, tests) / middle,
    }
    return [
        Measurement(metric, float(np.mean(table[pairs])), n, tags={"a": a, "b": b, "pairs": len(pairs[0])})
        for a, b, pairs, n in _pairs(names, tests)
        for metric, table in tables.items()
    ]


def _listed(data: Dataset, splits: Mapping[str, Sequence[Split]]) -> tuple[list[str], list[Split]]:
    """The name of each split, and the splits in the row order of `data`."""
    without = [name for name, some in splits.items() if not some]
    if without or not splits:
        raise InputError("there is nothing to compare", expected="one or more splits per name", got=f"none: {without}")
    names = [name for name, some in splits.items() for _ in some]
    return names, [split.of(data) for some in splits.values() for split in some]


def _pairs(names: Sequence[str], tests: Mask) -> Iterator[tuple[str, str, tuple[Rows, ...], int]]:
    """Each two names, the positions of their pairs of splits, and how many rows any of these splits tests."""
    of = np.array(names, object)
    later = np.triu(np.ones((len(of), len(of)), bool), 1)  # the splits of a name stand together, in order
    for a, b in combinations_with_replacement(dict.fromkeys(names), 2):
        pairs = np.nonzero((of[:, None] == a) & (of == b) & later)
        if len(pairs[0]):
            yield a, b, pairs, int(tests[(of == a) | (of == b)].any(axis=0).sum())


def _products(masks: Mask) -> Floats:
    """Rows that each two masks have in common [masks, masks]."""
    # float32 counts exactly up to 2^24 and takes half the memory; integers would not be multiplied by BLAS
    exact: npt.NDArray[np.floating] = masks.astype(np.float32 if masks.shape[1] < 2**24 else np.float64)
    return np.asarray(exact @ exact.T, np.float64)


def _expected(data: Dataset, splits: Sequence[Split], tests: Mask) -> Floats:
    """Common test rows to expect if each split drew its test rows of each class at random [splits, splits].

    A row that is set aside as independent is never drawn. Where all splits set aside the same rows this is
    the sum over classes of a_c · b_c / n_c.
    """
    drawn_from = np.array([split.parts != PARTS.index("independent") for split in splits])
    total = np.zeros((len(splits),) * 2)
    for label in np.unique(data.labels):
        of_class = data.labels == label
        common = _products(drawn_from[:, of_class])
        shares = tests[:, of_class].sum(axis=1) / np.maximum(1, common.diagonal())
        total += np.outer(shares, shares) * common
    return total
