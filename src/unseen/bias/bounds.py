"""Intervals from resampled values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.evaluation.intervals import percentiles

ALIKE = 1e-12


def bounds(drawn: npt.NDArray[np.float64]) -> tuple[float | None, float | None]:
    """The middle 95 % of resampled values; none where most are unknown.

    None too where all are the same: five texts without an error resample to five without an error, which says
    nothing about the sixth.
    """
    return (None, None) if stuck(drawn) else percentiles(drawn) or (None, None)


def stuck(drawn: npt.NDArray[np.float64]) -> bool:
    """Whether all known values are the same."""
    known = drawn[np.isfinite(drawn)]
    return not len(known) or bool(np.ptp(known) < ALIKE)
