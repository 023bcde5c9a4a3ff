"""Folds of rows: at random or with whole authors, the same size and class mix in each; and caps per author."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.errors import InfeasibleError
from unseen.seeding import generator
from unseen.splits.hard_kfold import fold_quotas
from unseen.splits.problem import Problem, pose
from unseen.splits.quotas import within_cap
from unseen.types import Dataset

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Fold:
    """One division of rows: what may be learnt from and what is asked. Positions in the dataset at hand."""

    train: Rows
    test: Rows


def fold_of(labels: npt.NDArray[np.integer], units: Rows | None, folds: int, seed: int) -> Rows:
    """The fold of every row; rows of one unit share it. Without units rows go singly.

    Each class is spread as evenly as possible. Units are drawn at random, then exchanged until a fold is as near
    to its share as any choice among the units left can bring it; the last fold takes the rest.
    """
    problem = pose(labels, units, len(labels), test_size=max(1, len(labels) // folds))
    if problem.n_units < folds:
        raise InfeasibleError(
            f"{problem.n_units} authors cannot make {folds} folds", fix="ask for fewer folds, or a finer attribute"
        )
    return _filled(problem, fold_quotas(problem, folds), seed)[problem.units]


def _filled(problem: Problem, quotas: npt.NDArray[np.int64], seed: int) -> Rows:
    draw = generator(seed, "folds")
    of_unit = np.full(problem.n_units, len(quotas) - 1)
    free = np.ones(problem.n_units, bool)
    for fold in range(len(quotas) - 1):
        chosen = problem.fill(quotas[fold], draw.permutation(np.flatnonzero(free))).chosen
        of_unit[chosen] = fold
        free &= ~chosen
    return of_unit


def as_folds(number: Rows) -> tuple[Fold, ...]:
    """Each fold tested once, learnt from all others."""
    return tuple(
        Fold(np.flatnonzero(number != each), np.flatnonzero(number == each)) for each in range(int(number.max()) + 1)
    )


def divided(rows: Rows, labels: npt.NDArray[np.integer], units: Rows | None, seed: int) -> tuple[Rows, Rows]:
    """About nine tenths of `rows` to train on and one to choose the training's length by; units stay whole.

    With fewer than ten units it is one unit or so.
    """
    whole = None if units is None else units[rows]
    number = fold_of(labels[rows], whole, 10 if whole is None else min(10, len(np.unique(whole))), seed)
    return rows[number > 0], rows[number == 0]


def capped(rows: Rows, cells: Rows, most: int, seed: int) -> Rows:
    """Of `rows`, at most so many of each cell (an author's texts of one class), drawn at random; in their order."""
    return rows[within_cap(cells[rows], most, generator(seed, "cap"))]


def author_codes(data: Dataset, attribute: str) -> Rows:
    """A number per row, equal for one author; a row without an author is one of its own."""
    from unseen.evaluation.measurements import drawn_groups

    return drawn_groups(data.attribute(attribute))


def on_both_sides(fold: Fold, codes: npt.NDArray[np.integer]) -> Rows:
    """Test rows whose code is also that of a training row."""
    return fold.test[np.isin(codes[fold.test], codes[fold.train])]


def covered(folds: Sequence[Fold]) -> Rows:
    """Every tested row, in order."""
    return np.sort(np.concatenate([fold.test for fold in folds]))
