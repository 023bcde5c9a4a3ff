"""How the scores of each group's rows are ordered among all others, for many resamples at once.

All five numbers are shares of pairs: how often a row of one set scores above a row of another, ties half. A
background is everybody less the group, so its pairs are a difference, and one pass over the rows serves all groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.integer]


class Figures(NamedTuple):
    """Borkan et al. 2019; each [groups, draws], NaN where a set has no rows."""

    subgroup_auc: Floats
    """Share of pairs in which a positive row of the group is above a negative one of it."""
    bpsn_auc: Floats
    """The same of positive rows of the background and negative rows of the group."""
    bnsp_auc: Floats
    """The same of positive rows of the group and negative rows of the background."""
    positive_aeg: Floats
    """½ less the share of pairs in which a positive row of the group is above a positive one of the background."""
    negative_aeg: Floats
    """The same of negative rows."""


class Orderings:
    """Scored rows and the groups they mention; `figures` counts them in any resample."""

    def __init__(
        self, scores: Floats, positive: Mask, members: Mask, everybody: Mask, unit: Integers | None = None
    ) -> None:
        """`everybody` are the rows that may be background, members of groups among them; `unit` is drawn together."""
        order = np.argsort(scores, kind="stable")
        sorted_scores, self._groups = scores[order], members.shape[1]
        row, group = np.nonzero(members[order])
        self._unit = order if unit is None else np.asarray(unit)[order]
        self._ends = np.searchsorted(sorted_scores, sorted_scores, "right")
        self._kinds = positive[order], everybody[order]
        self._listed = np.searchsorted(row, np.arange(len(order) + 1)), group

    def figures(self, times: Integers) -> Figures:
        """The numbers of every group when each row, or unit, is there so many times; `times` is [draws, units]."""
        from unseen.bias import kernels as each

        counts, totals = each.count_pairs(times, self._unit, self._ends, *self._kinds, *self._listed, self._groups)
        found = np.moveaxis(counts.astype(np.float64), 0, 2)  # [groups, counts, draws]
        p, n, own = found[:, each.POSITIVE], found[:, each.NEGATIVE], found[:, each.OWN]
        everybody_p, everybody_n = totals.T.astype(np.float64)
        rest_p, rest_n = everybody_p - p, everybody_n - n
        return Figures(
            _share(own, p * n),
            _share(2 * everybody_p * n - found[:, each.N_OVER_P] - own, rest_p * n),
            _share(found[:, each.P_OVER_N] - own, p * rest_n),
            0.5 - _share(found[:, each.P_OVER_P] - p * p, p * rest_p),
            0.5 - _share(found[:, each.N_OVER_N] - n * n, n * rest_n),
        )


def _share(twice: Floats, pairs: Floats) -> Floats:
    return np.divide(twice, 2 * pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
