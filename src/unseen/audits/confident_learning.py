"""Labels that are probably wrong, by confident learning (Northcutt et al. 2021, sections 3.1 and 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Suspects:
    """Rows whose label is suspect, the most suspect first."""

    places: npt.NDArray[np.intp]
    """Places in the arrays that were given."""
    guesses: npt.NDArray[np.intp]
    """The label each suspect would have instead."""
    joint: Floats
    """Estimated share of rows [given label, true label]."""
    thresholds: Floats
    """Mean probability of each label on the rows that carry it; NaN for a label without rows."""

    @property
    def noise(self) -> float:
        """Estimated share of rows with a wrong label."""
        return 1 - float(np.trace(self.joint))


def suspect_labels(gold: npt.NDArray[np.integer], probabilities: Floats) -> Suspects:
    """Suspects among labels `gold`, from probabilities of models that have not seen them (`cross_validated`).

    A row is confidently of a class when its probability reaches the mean of the rows that carry that
    label; of several such classes, the likeliest. Suspects are the rows that are confidently of another
    class than theirs: the off-diagonal cells of the confident joint, nothing to be tuned. A row whose
    own label is still the likeliest is no suspect. Order: probability of the label less that of the
    likeliest other. Pruning by the estimated noise rate was left out: it flags a fixed number of rows
    whether or not single ones stand out.

    It misleads where texts are hard: a model that is confidently wrong looks just like a wrong label.
    """
    n, k = probabilities.shape
    if len(gold) != n or not n:
        raise InputError("confident learning needs one label per row, and a row", got=f"{len(gold)} labels, {n} rows")
    own = probabilities[np.arange(n), gold]
    counts = np.bincount(gold, minlength=k)
    sums = np.bincount(gold, weights=own, minlength=k)
    thresholds = np.divide(sums, counts, out=np.full(k, np.nan), where=counts > 0)
    reached = probabilities >= np.where(np.isnan(thresholds), np.inf, thresholds) - 1e-9
    confident = np.where(reached.any(axis=1), np.where(reached, probabilities, -1.0).argmax(axis=1), -1)
    others = probabilities.copy()
    others[np.arange(n), gold] = -np.inf
    margin = own - others.max(axis=1)
    places = np.flatnonzero((confident >= 0) & (confident != gold) & (margin < 0))
    places = places[np.argsort(margin[places], kind="stable")]
    return Suspects(places, confident[places], _joint(gold, confident, counts), thresholds)


def _joint(gold: npt.NDArray[np.integer], confident: npt.NDArray[np.intp], counts: npt.NDArray[np.integer]) -> Floats:
    """The confident joint, scaled so that each given label has its share of the rows (equation 3)."""
    k, sure = len(counts), confident >= 0
    joint = np.bincount(gold[sure] * k + confident[sure], minlength=k * k).reshape(k, k).astype(np.float64)
    unsure = joint.sum(axis=1) == 0
    joint[unsure, unsure] = 1.0  # no row of the label is confidently anything: taken as right
    return joint / joint.sum(axis=1, keepdims=True) * (counts / counts.sum())[:, None]
