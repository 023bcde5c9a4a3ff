"""How many rows of each class the test part should have, and how many of a cell may stay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unseen.data.labels import FEWEST
from unseen.errors import InfeasibleError, InputError, UnknownNameError
from unseen.registry import require_known
from unseen.types.arrays import Codes, Floats, Mask

Mix = str | Mapping[str, float] | None
"""None: as in the data. "balanced": equal shares. Or a share per label."""
OR = "; or "
UNMIXED = "split without the class mix: stratify=False"
"""Advice for those who choose the parameters of a splitter."""


def rows_asked(size: float, n: int, name: str = "test_size") -> int:
    """`size` in rows: a share below one is taken of `n` and rounded down, a whole number is rows."""
    if (
        isinstance(size, bool)
        or not isinstance(size, int | float | np.integer | np.floating)
        or not math.isfinite(size)
    ):
        raise InputError(f"{name} must be a number", expected="a share such as 0.1 or a number of rows", got=repr(size))
    is_share = isinstance(size, float | np.floating) and size < 1
    rows = math.floor(n * float(size) + 1e-9) if is_share else int(size)
    is_all = isinstance(size, float | np.floating) and size == 1
    if size <= 0 or is_all or (rows != size and not is_share):
        raise InputError(
            f"{name} must be above 0 and leave rows for the other side",
            expected="a share between 0 and 1, or a whole number of rows",
            got=repr(size),
        )
    if not 1 <= rows < n:
        raise InputError(
            f"{name}={size} asks for {rows} of {n} rows",
            expected=f"at least 1 row, at most {n - 1}, so that both sides have some",
            fix="ask for another size, or bring more rows",
        )
    return rows


def largest_remainder(shares: Floats, total: int) -> npt.NDArray[np.int64]:
    """Whole numbers in proportion to `shares` that sum to `total`; ties go to the first.

    >>> largest_remainder(np.array([1.0, 1.0, 1.0]), 10).tolist()
    [4, 3, 3]
    """
    exact = shares / shares.sum() * total
    whole = np.floor(exact + 1e-9).astype(np.int64)
    by_remainder = np.argsort(-(exact - whole).round(9), kind="stable")
    whole[by_remainder[: total - int(whole.sum())]] += 1
    return whole


def quotas(counts: npt.NDArray[np.int64], rows: int, names: Sequence[str], mix: Mix = None) -> npt.NDArray[np.int64]:
    """Test rows per class that sum to `rows`; refuses what a class cannot give."""
    lonely = [str(name) for name, count in zip(names, counts, strict=True) if count < 2]
    if lonely:
        raise InfeasibleError(
            f"the class {lonely[0]!r} has only one row" if len(lonely) == 1 else f"{len(lonely)} classes have one row",
            problems=lonely if len(lonely) > 1 else (),
            expected="at least two rows of each class, one for each side",
            fix=OR.join([*_without_rare(counts), "merge them with others", UNMIXED]),
        )
    shares = _shares(counts, names, mix)
    if rows < np.count_nonzero(shares):
        raise InfeasibleError(
            f"a test part of {rows} rows cannot have rows of {np.count_nonzero(shares)} classes",
            fix=OR.join([*_larger(counts, shares), *_without_rare(counts), UNMIXED]),
        )
    asked = largest_remainder(shares, rows)
    problems = [
        f"{name}: {want} test rows asked, {have} in the data, one must stay for training"
        for name, want, have in zip(names, asked.tolist(), counts.tolist(), strict=True)
        if want > have - 1
    ]
    if problems:
        raise InfeasibleError(
            f"a test part of {rows} rows is larger than a class allows",
            problems=problems,
            fix=OR.join(["ask for a smaller test part or another mix", UNMIXED]),
        )
    return asked


def nearest_quotas(counts: npt.NDArray[np.int64], rows: int) -> npt.NDArray[np.int64]:
    """Rows per class of a part that need not have some of each: as near to the mix as leaves one of each class.

    >>> nearest_quotas(np.array([8, 8, 1]), 3).tolist()
    [2, 1, 0]
    """
    spare = counts - 1
    return largest_remainder(spare.astype(np.float64), min(rows, int(spare.sum())))


def _larger(counts: npt.NDArray[np.int64], shares: Floats) -> list[str]:
    """The smallest test part, in hundredths of the rows, that gives what is asked of every class; none may."""
    n, classes = int(counts.sum()), np.count_nonzero(shares)
    sizes = ((percent / 100, n * percent // 100) for percent in range(1, 100))
    enough = (share for share, rows in sizes if rows >= classes and (largest_remainder(shares, rows) < counts).all())
    return [f"ask for a larger test part: test={share}" for share in enough][:1]


def _without_rare(counts: npt.NDArray[np.int64]) -> list[str]:
    """To leave rare classes out, where that leaves some and fewer."""
    is_rare = counts < FEWEST
    return ["leave rare classes out: drop=['rare']"] if is_rare.any() and (~is_rare).sum() > 1 else []


def within_cap(cells: Codes, most: int, draw: np.random.Generator) -> Mask:
    """Which rows stay when each cell may have `most` of them; of a larger cell, which ones is drawn.

    A row that must not be capped has a cell of its own.

    >>> within_cap(np.array([3, 3, 7, 3]), 2, np.random.default_rng(1)).sum()
    np.int64(3)
    """
    shuffled = draw.permutation(len(cells))
    order = shuffled[np.argsort(cells[shuffled], kind="stable")]
    starts = np.searchsorted(cells[order], cells[order], side="left")
    stays = np.empty(len(cells), bool)
    stays[order] = np.arange(len(cells)) - starts < most
    return stays


def _shares(counts: npt.NDArray[np.int64], names: Sequence[str], mix: Mix) -> Floats:
    if mix is None:
        return counts.astype(np.float64)
    if mix == "balanced":
        return np.ones(len(counts))
    if isinstance(mix, str):
        raise UnknownNameError.of("mix", mix, ["balanced"], fix="or give a share per label")
    require_known("label", names, *mix)
    shares = np.array([float(mix.get(name, 0.0)) for name in names])
    if not (np.isfinite(shares).all() and (shares >= 0).all() and abs(shares.sum() - 1) < 1e-6):
        raise InputError("the shares of a mix must sum to one", got=f"{dict(mix)}, sum {shares.sum():.4f}")
    return shares
