"""Whether labels mean the same elsewhere, and what labels and texts say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unseen.evaluation.intervals import Spread
from unseen.forecasts.estimators import Answers, calibrated
from unseen.forecasts.labelled import LabelledScore, PartlyLabelled
from unseen.forecasts.ladder import Forecast, Rung

FEWEST_RUNGS = 4
"""Rungs from which one can tell how far models are usually surer than right."""
SURE = 0.05
"""A disagreement that is less probable than this is no accident."""


@dataclass(frozen=True)
class MeaningTest:
    """Whether labels disagree with the model more than a change of topic explains."""

    surplus: float
    """Share of the target that is wrong beyond what the model expects of itself."""
    usual: float
    """The same on the rungs of the ladder, on average."""
    p: float
    """Probability of so large a surplus where labels mean the same."""

    @property
    def changed(self) -> bool:
        """Whether that is too improbable."""
        return self.p < SURE


def meaning_test(sample: PartlyLabelled, home: Answers, rungs: Sequence[Rung]) -> MeaningTest | None:
    """Compare errors beyond the model's own expectation on the target with those on rungs; None with too few rungs.

    A change of topic makes models surer than right, and rungs show by how much; only more than that is a sign that
    the same words are labelled otherwise here. Student's t of one more rung, one-sided.
    """
    from scipy.special import stdtr

    if len(rungs) < FEWEST_RUNGS:
        return None
    usual = np.array([_surplus(rung.home, rung.target).mean() for rung in rungs])
    known = sample.known
    target = Answers(sample.probabilities[known], sample.labels[known])
    surplus, spread = sample.mean_of(_surplus(home, target))
    error = np.hypot(usual.std(ddof=1) * (1 + 1 / len(usual)) ** 0.5, spread.standard_error)
    return MeaningTest(surplus, float(usual.mean()), float(stdtr(len(usual) - 1, (usual.mean() - surplus) / error)))


def _surplus(home: Answers, target: Answers) -> np.ndarray:
    """Of each labelled text, whether it is wrong, less the probability that the model expects of that."""
    _, sure = calibrated(home, target.probabilities)
    return np.asarray((target.predicted != target.known) - (1 - sure.max(axis=1)))


def together(labelled: LabelledScore, forecast: Forecast) -> tuple[float, float, float] | None:
    """Labels and the forecast of the ladder, each weighed by its precision, with a 95 % interval.

    None without both, and where labels alone say all.
    It holds where the forecast does: if only the topic moves.
    """
    if labelled.value is None or not labelled.width or np.isnan(forecast.value):
        return None
    spreads = np.array([labelled.width / Spread(1.0, max(labelled.labels - 1, 1)).reach, forecast.spread])
    weights = spreads**-2 / (spreads**-2).sum()
    value = float(weights @ [labelled.value, forecast.value])
    reach = Spread(float((spreads**-2).sum() ** -0.5), max(labelled.labels - 1, 1)).reach
    return value, max(0.0, value - reach), min(1.0, value + reach)
