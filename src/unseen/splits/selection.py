"""Choosing whole units (clusters, groups) whose class counts add up to a quota, with proof.

Solved exactly by CP-SAT with one worker, a fixed seed and a limit in deterministic time, so that the
same question has the same answer on every run. What the limit leaves unproven is reported as a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from unseen.types.arrays import Floats, Mask, Rows

Counts = npt.NDArray[np.int64]
LIMIT = 30.0
"""Deterministic seconds that one solve may take."""
PRECISION = 1_000_000
"""Values are rounded to such parts of one, since CP-SAT adds whole numbers."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The units chosen, the rows by which they miss the quota, and the least that is possible."""

    chosen: Mask
    missed: int
    missed_at_least: int
    spent: float = 0.0
    """Deterministic seconds of the solver."""

    @property
    def optimal(self) -> bool:
        """Nothing nearer exists."""
        return self.missed <= self.missed_at_least


def choose_within(counts: Counts, quota: Counts, fewer_than: int | None = None, limit: float = LIMIT) -> Selection:
    """Units that together come nearest to `quota` [classes] without exceeding it in any class.

    The multi-dimensional subset-sum problem of Züfle (2023), section 2.1. With `fewer_than`, the search
    is only for a selection that misses fewer rows; when there is none, nothing is chosen.
    """
    from ortools.sat.python import cp_model

    most = int(quota.sum())
    nothing = np.zeros(len(counts), bool)
    fits = np.flatnonzero((counts <= quota).all(axis=1) & (counts.sum(axis=1) > 0))
    reachable = int(np.minimum(counts[fits].sum(axis=0), quota).sum())
    fewer_than = most + 1 if fewer_than is None else fewer_than
    if reachable == 0 or most - reachable >= fewer_than or limit <= 0:
        return Selection(nothing, most, most - reachable)
    model = cp_model.CpModel()
    take = [model.new_bool_var("") for _ in fits]
    for c in range(len(quota)):
        model.add(cp_model.LinearExpr.weighted_sum(take, counts[fits, c].tolist()) <= int(quota[c]))
    total = cp_model.LinearExpr.weighted_sum(take, counts[fits].sum(axis=1).tolist())
    model.add(total <= reachable)
    model.add(total >= most - fewer_than + 1)
    model.maximize(total)
    solver = _solver(limit)
    status = solver.solve(model)
    spent = float(solver.response_proto.deterministic_time)
    if status == cp_model.INFEASIBLE:
        return Selection(nothing, most, fewer_than, spent)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Selection(nothing, most, most - reachable, spent)  # the solver's bound is not set yet
    bound = max(most - reachable, most - math.floor(solver.best_objective_bound + 1e-6))
    chosen = nothing.copy()
    chosen[fits] = [bool(solver.boolean_value(variable)) for variable in take]
    return Selection(chosen, most - int(counts[chosen].sum()), bound, spent)


def choose_nearest(counts: Counts, quota: Counts, order: Rows, limit: float = LIMIT) -> Selection:
    """Units that miss `quota` by the fewest rows, summed over classes, taken early in `order` if possible.

    First the units are taken in order as far as they fit. When something is still missing, the fewest
    rows are exchanged that give the nearest sum there is. Units with equal counts stand for each other,
    so the problem has one variable per kind of unit, however many units there are.
    """
    chosen = np.zeros(len(counts), bool)
    room = quota.copy()
    _first_fit(counts, order, room, chosen)
    if not room.any():
        return Selection(chosen, 0, 0)
    return _repaired(counts, quota, order, chosen, limit)


def _repaired(counts: Counts, quota: Counts, order: Rows, chosen: Mask, limit: float) -> Selection:
    from ortools.sat.python import cp_model

    kinds, kind_of = np.unique(counts, axis=0, return_inverse=True)
    kind_of = kind_of.reshape(-1)
    available = np.bincount(kind_of, minlength=len(kinds))
    taken = np.bincount(kind_of[chosen], minlength=len(kinds))
    model = cp_model.CpModel()
    take = [model.new_int_var(0, int(count), "") for count in available]
    off = [model.new_int_var(0, int(counts.sum() + quota.sum()), "") for _ in quota]
    for c in range(len(quota)):
        total = cp_model.LinearExpr.weighted_sum(take, kinds[:, c].tolist())
        model.add_abs_equality(off[c], total - int(quota[c]))
        model.add(off[c] >= _off_a_multiple(int(np.gcd.reduce(kinds[:, c])), int(quota[c])))
    _hint(model, take, taken.tolist())
    model.minimize(sum(off))
    solver = _solver(limit)
    status = solver.solve(model)
    missed = int(np.abs(counts[chosen].sum(axis=0) - quota).sum())
    bound = max(0, math.ceil(solver.best_objective_bound - 1e-6))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE) or solver.objective_value >= missed:
        return Selection(chosen, missed, bound)
    nearest = round(solver.objective_value)
    numbers = [int(solver.value(variable)) for variable in take]
    model.add(sum(off) <= nearest)
    _hint(model, take, numbers)
    exchanged = []
    for variable, count, kind in zip(take, taken.tolist(), kinds, strict=True):
        change = model.new_int_var(0, len(counts), "")
        model.add_abs_equality(change, variable - count)
        exchanged.append(change * int(kind.sum()))
    model.minimize(sum(exchanged))
    solver = _solver(limit)
    if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        numbers = [int(solver.value(variable)) for variable in take]
    return Selection(_earliest(kind_of, np.array(numbers), order), nearest, bound)


def choose_most(
    values: Floats,
    counts: Counts,
    quota: Counts,
    slack: Counts,
    *,
    gap: float = 0.0,
    limit: float = LIMIT,
) -> tuple[Mask, bool]:
    """Units with the largest sum of `values` that meet `quota`, and whether that is proven.

    They meet it when their number of rows is exact, every class differs by at most its `slack` and none is
    absent. When no units do, first come those with the fewest classes absent and then the fewest rows beyond
    these bounds. Some rows of each class are always left. A sum is proven when none is larger by more than the
    share `gap`. Nothing is chosen when the limit ends before anything was found.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    take = [model.new_bool_var("") for _ in counts]
    most = int(counts.sum() + quota.sum())
    beyond, absent = [model.new_int_var(0, most, "") for _ in range(len(quota) + 1)], []
    for c, excess in enumerate(beyond[1:]):
        total = cp_model.LinearExpr.weighted_sum(take, counts[:, c].tolist())
        model.add(total <= int(counts[:, c].sum()) - 1)
        model.add(total - int(quota[c]) <= excess + int(slack[c]))
        model.add(int(quota[c]) - total <= excess + int(slack[c]))
        if quota[c]:
            absent.append(model.new_bool_var(""))
            model.add(total + absent[-1] >= 1)
    size = cp_model.LinearExpr.weighted_sum(take, counts.sum(axis=1).tolist())
    model.add_abs_equality(beyond[0], size - int(quota.sum()))
    deviation = sum(beyond) + most * sum(absent)
    _hint(model, take, [False] * len(take))
    model.minimize(deviation)
    solver = _solver(limit)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return np.zeros(len(take), bool), False
    nearest = status == cp_model.OPTIMAL
    chosen = np.array([solver.boolean_value(variable) for variable in take], dtype=bool)
    model.add(deviation <= round(solver.objective_value))
    _hint(model, take, chosen.tolist())
    model.maximize(cp_model.LinearExpr.weighted_sum(take, (values * PRECISION).round().astype(int).tolist()))
    solver = _solver(limit)
    solver.parameters.relative_gap_limit = gap
    status = solver.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = np.array([solver.boolean_value(variable) for variable in take], dtype=bool)
    return chosen, nearest and status == cp_model.OPTIMAL


def _hint(model: Any, variables: Sequence[Any], values: Sequence[int]) -> None:
    """Begin the next search at these values."""
    model.clear_hints()
    for variable, value in zip(variables, values, strict=True):
        model.add_hint(variable, value)


def _off_a_multiple(divisor: int, number: int) -> int:
    """How far `number` is from the nearest multiple of `divisor`: sums of even counts never hit an odd quota."""
    return min(number % divisor, divisor - number % divisor) if divisor else number


def _earliest(kind_of: Rows, numbers: npt.NDArray[Any], order: Rows) -> Mask:
    """So many units of each kind, the first ones in `order`."""
    by_kind = order[np.argsort(kind_of[order], kind="stable")]
    starts = np.searchsorted(kind_of[by_kind], np.arange(len(numbers)))
    rank = np.arange(len(order)) - starts[kind_of[by_kind]]
    chosen = np.zeros(len(order), bool)
    chosen[by_kind[rank < numbers[kind_of[by_kind]]]] = True
    return chosen


def _solver(limit: float) -> Any:
    """A solver that gives the same answer every time and prints nothing."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 42
    solver.parameters.max_deterministic_time = limit
    solver.parameters.log_search_progress = False
    solver.parameters.catch_sigint_signal = False  # it would leave Ctrl-C at the system's default: death without a word
    return solver


@nb.njit(nogil=True, cache=True)
def _first_fit(counts: Any, order: Any, room: Any, chosen: Any) -> None:
    """Choose units in `order` whose class counts still fit into `room`, which shrinks."""
    for p in range(order.shape[0]):
        unit = order[p]
        fits = counts[unit, 0] <= room[0]
        for c in range(1, counts.shape[1]):
            fits = fits and counts[unit, c] <= room[c]
        if fits:
            chosen[unit] = True
            for c in range(counts.shape[1]):
                room[c] -= counts[unit, c]
