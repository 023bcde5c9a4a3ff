"""What copying rows before a split gives away: how often, and how much of a score it is.

Arango, Pérez & Poblete (SIGIR 2019), section 3: minority classes were copied first and the copies dealt to training
and test afterwards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.types.arrays import Floats


def copies_on_both_sides(p: float, copies: int = 3) -> float:
    """Probability that a row of which there are `copies` has some in training and some in test.

    Each copy is a test row with probability `p`, independently of the others, as in a random split.

    >>> round(copies_on_both_sides(0.15), 2)
    0.38
    """
    _refuse(p, copies)
    return float(1 - p**copies - (1 - p) ** copies)


def seen_in_training(p: float, copies: int = 3) -> float:
    """Probability that a *test* copy has another copy in training: one minus all the others being in test.

    >>> round(seen_in_training(0.15), 4)
    0.9775
    """
    _refuse(p, copies)
    return float(1 - p ** (copies - 1))


def free_f1(p: float, copies: int = 3) -> float:
    """F1 of a class when only its rows on both sides are recognised, and nothing else is taken for it.

    >>> round(free_f1(0.15), 2)
    0.55
    """
    known = copies_on_both_sides(p, copies)
    return 2 * known / (1 + known)


def memoriser_f1(counts: npt.ArrayLike, copied: npt.ArrayLike, p: float, copies: int = 3) -> Floats:
    """F1 per class, in expectation, of a classifier that knows by heart and else names the largest class.

    `counts` are the rows per class before copying, `copied` says which classes were copied. The test part is a
    random share `p` of the copied rows; a test text seen in training is answered rightly, any other with the class
    that is largest before copying. A class that is neither copied nor the largest has F1 zero.
    """
    _refuse(p, copies)
    rows, is_copied = np.asarray(counts, np.float64), np.asarray(copied, bool)
    if rows.ndim != 1 or rows.shape != is_copied.shape or (rows < 0).any() or not rows.sum():
        raise InputError("memoriser_f1 needs a count and a mark per class", got=f"{rows.shape}, {is_copied.shape}")
    tested = rows * np.where(is_copied, copies, 1) * p
    known = np.where(is_copied, seen_in_training(p, copies), 0.0)
    right, unknown = tested * known, tested * (1 - known)
    largest = int(rows.argmax())
    right[largest] = tested[largest]
    named = right.copy()
    named[largest] += unknown.sum() - unknown[largest]
    scores: Floats = 2 * right / np.maximum(tested + named, 1e-300)
    return scores


def _refuse(p: float, copies: int) -> None:
    problems = []
    if not 0 < p < 1:
        problems.append(f"p must be between 0 and 1, not {p!r}")
    if copies < 1:
        problems.append(f"copies must be at least 1, not {copies!r}")
    if problems:
        raise InputError("these copies cannot be dealt out", problems=problems)
