"""Compiled inner loop of the subgroup AUCs: pairs of rows counted in one pass over the sorted scores."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

Array = np.ndarray[Any, Any]
POSITIVE, NEGATIVE, OWN, P_OVER_P, P_OVER_N, N_OVER_P, N_OVER_N = range(7)
COUNTS = 7


@nb.njit(nogil=True, cache=True)
def count_pairs(
    times: Array, unit: Array, ends: Array, positive: Array, everybody: Array, starts: Array, groups: Array, k: int
) -> tuple[Array, Array]:
    """Counts [draws, groups, COUNTS] of each group's rows and pairs, and rows of everybody [draws, 2].

    Rows stand in the order of their scores. `times` [draws, units] says how often each unit was drawn and `unit`
    whose each row is; `ends` is where each row's run of equal scores ends; `starts` and `groups` list the groups of
    each row. `X_OVER_Y` counts pairs of a row X of the group above a row Y of everybody, `OWN` those of a positive
    row of the group above a negative one of it. Pairs are counted twice, ties once: all numbers are whole.
    """
    counts = np.zeros((len(times), k, COUNTS), np.int64)
    totals = np.zeros((len(times), 2), np.int64)
    for draw in range(len(times)):
        of_draw, total = counts[draw], totals[draw]
        below = np.zeros(k, np.int64)  # negative rows of each group below this run
        level = np.zeros(k, np.int64)  # and in it
        first = 0
        while first < len(unit):
            end = ends[first]
            run_p = run_n = np.int64(0)
            for row in range(first, end):
                weight = times[draw, unit[row]]
                if everybody[row]:
                    run_p += weight * positive[row]
                    run_n += weight * (1 - positive[row])
                if not positive[row]:
                    for at in range(starts[row], starts[row + 1]):
                        level[groups[at]] += weight
            over_p, over_n = 2 * total[0] + run_p, 2 * total[1] + run_n
            for row in range(first, end):
                weight = times[draw, unit[row]]
                for at in range(starts[row], starts[row + 1]):
                    group = groups[at]
                    if positive[row]:
                        of_draw[group, POSITIVE] += weight
                        of_draw[group, OWN] += weight * (2 * below[group] + level[group])
                        of_draw[group, P_OVER_P] += weight * over_p
                        of_draw[group, P_OVER_N] += weight * over_n
                    else:
                        of_draw[group, NEGATIVE] += weight
                        of_draw[group, N_OVER_P] += weight * over_p
                        of_draw[group, N_OVER_N] += weight * over_n
            for row in range(first, end):
                for at in range(starts[row], starts[row + 1]):
                    below[groups[at]] += level[groups[at]]
                    level[groups[at]] = 0
            total[0] += run_p
            total[1] += run_n
            first = end
    return counts, totals
