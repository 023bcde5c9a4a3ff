"""Are two distributions of labels the same? Distances, tests of paired labels, and the published test of counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.types.arrays import Codes, Floats

SMOOTHING = 1e-8
"""Added to every count, so that a label that nobody gives does not make a distance infinite."""


def kl_divergence(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Σ p ln(p / q) of counts [..., labels], each smoothed by 1e-8, as in the code of Bianchi et al. (2022).

    >>> round(float(kl_divergence([202, 201], [140, 263])), 4)
    0.0497
    """
    first, second = (np.asarray(counts, np.float64) + SMOOTHING for counts in (p, q))
    first, second = (counts / counts.sum(axis=-1, keepdims=True) for counts in (first, second))
    return np.asarray((first * np.log(first / second)).sum(axis=-1))


def transition_table(before: Codes, after: Codes, labels: int) -> npt.NDArray[np.int64]:
    """Counts [labels before, labels after]."""
    pairs = np.asarray(before, np.int64) * labels + np.asarray(after, np.int64)
    return np.bincount(pairs, minlength=labels * labels).reshape(labels, labels).astype(np.int64)


def stuart_maxwell(table: npt.ArrayLike) -> float:
    """p-value that both margins of a square table of paired labels are the same (Stuart 1955, Maxwell 1970)."""
    from scipy.stats import chi2

    return float(chi2.sf(*_statistic(table)))


def bhapkar(table: npt.ArrayLike) -> float:
    """The same by Bhapkar (1966), whose variance holds also where the margins differ: never the larger p-value."""
    from scipy.stats import chi2

    statistic, freedom = _statistic(table)
    left = 1 - statistic / max(1.0, float(np.sum(table)))
    return float(chi2.sf(statistic / left, freedom)) if left > 0 else 0.0


def chi_square(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """p-value of two rows of counts, as if the rows were different texts; Yates's correction for two labels.

    This is the published test. Of one set of texts before and after, it is wrong: pairs are no independent samples.
    """
    from scipy.stats import chi2_contingency

    table = np.array([first, second])
    table = table[:, table.sum(axis=0) > 0]
    return float(chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


def _statistic(table: npt.ArrayLike) -> tuple[float, int]:
    """Stuart's and Maxwell's statistic and its degrees of freedom."""
    counts = np.asarray(table, np.float64)
    moved = counts.sum(axis=1) - counts.sum(axis=0)
    variance = -(counts + counts.T)
    np.fill_diagonal(variance, counts.sum(axis=1) + counts.sum(axis=0) - 2 * np.diag(counts))
    # what leaves labels arrives at others, so one label is decided by the rest; more where labels do not mix at all
    freedom = int(np.linalg.matrix_rank(variance))
    return (float(moved @ np.linalg.pinv(variance, hermitian=True) @ moved), freedom) if freedom else (0.0, 1)
