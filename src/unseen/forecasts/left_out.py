"""How far predictions are off where a whole target was left out, and what follows for a new one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unseen.errors import UnknownNameError
from unseen.forecasts.features import SIZE
from unseen.forecasts.score_models import score_model
from unseen.forecasts.score_table import Floats, Mask, Names, ScoreTable
from unseen.progress import track

LEAVE_OUT = ("target", "language")
"""What is left out: rows that were tested on the target; or also rows that were trained on it."""
LEVEL = 0.9
"""Share of new targets' scores that intervals hold."""


def folds(table: ScoreTable, leave_out: str = "target") -> Iterator[tuple[str, Mask, Mask]]:
    """Each target, the rows to learn from without it, and its rows.

    With `language` neither has rows that were trained on the target, as if it were nowhere in the table.
    """
    if leave_out not in LEAVE_OUT:
        raise UnknownNameError.of("way to leave a target out", leave_out, LEAVE_OUT)
    for target in np.unique(table.targets[table.known]).tolist():
        allowed = table.known if leave_out == "target" else table.known & ~table.trained_on(target)
        train, held_out = allowed & (table.targets != target), allowed & (table.targets == target)
        if train.any() and held_out.any():
            yield target, train, held_out


def left_out_predictions(table: ScoreTable, model: str, leave_out: str = "target") -> Floats:
    """What `model` says of each row, having learnt without its target; NaN where it cannot tell."""
    predictions = np.full(len(table), np.nan)
    parts = list(folds(table, leave_out))
    for _, train, held_out in track(parts, f"leave targets out: {model}", len(parts)):
        predictions[held_out] = score_model(model).fit(table.take(train)).predict(table.take(held_out))
    return predictions


def errors_by_target(table: ScoreTable, predictions: Floats) -> dict[str, float]:
    """The mean absolute error on each target, of rows that have a prediction and a score."""
    errors = np.abs(table.scores - predictions)
    usable = ~np.isnan(errors)
    return {
        target: float(errors[usable & (table.targets == target)].mean())
        for target in np.unique(table.targets[usable]).tolist()
    }


def mean_error(table: ScoreTable, predictions: Floats) -> float:
    """The mean of the errors on all targets, each counting alike; NaN where there is none."""
    errors = [*errors_by_target(table, predictions).values()]
    return float(np.mean(errors)) if errors else np.nan


def half_width(errors: Floats, targets: Names, but: str, level: float = LEVEL) -> float:
    """Half the width of an interval for the target `but`, from errors on other targets that were left out.

    Targets, not rows, are what a new target is one more of: each counts alike, however many rows it has, and the new
    one counts as one whose errors may be anything (Lee, Barber and Willett 2023, hierarchical conformal prediction;
    theirs are errors of one model, these of one model per target, so that what they prove holds about here).
    With fewer than `level / (1 - level)` targets the width is infinite.
    """
    others = ~np.isnan(errors) & (targets != but)
    names, place, counts = np.unique(targets[others], return_inverse=True, return_counts=True)
    order = np.argsort(errors[others])
    weights = 1.0 / ((len(names) + 1) * counts[place.reshape(-1)])
    reached = np.flatnonzero(np.cumsum(weights[order]) >= level - 1e-9)
    return float(errors[others][order[reached[0]]]) if len(reached) else np.inf


def coverage(table: ScoreTable, predictions: Floats, level: float = LEVEL) -> float:
    """The share of scores within the interval that the other targets give, each target counting alike.

    NaN where there are too few targets for an interval.
    """
    shares = []
    for task in np.unique(table.tasks):
        errors = np.where(table.tasks == task, np.abs(table.scores - predictions), np.nan)
        for target in np.unique(table.targets[~np.isnan(errors)]).tolist():
            width = half_width(errors, table.targets, target, level)
            own = errors[~np.isnan(errors) & (table.targets == target)]
            shares.append(float((own <= width).mean()) if np.isfinite(width) else np.nan)
    return float(np.mean(shares)) if shares else np.nan


class Reach:
    """How far from what was seen a row may be: no farther than each target of the table is from the others.

    A distance is that to the nearest row, over features that are standardised and are no amounts.
    """

    def __init__(self, table: ScoreTable) -> None:
        spread = table.features.std(axis=0)
        self._used = np.array([not name.startswith(SIZE) for name in table.columns], dtype=bool) & (spread > 0)
        self._spread = spread[self._used]
        self._seen = self._standardised(table)
        self.most = max(amount for configuration in table.configurations for amount in configuration.values())
        self.limit = max(
            float(_nearest(self._seen[own], self._seen[~own]).max())
            for own in (table.targets == target for target in np.unique(table.targets))
        )

    def _standardised(self, table: ScoreTable) -> Floats:
        return table.features[:, self._used] / self._spread

    def refusals(self, table: ScoreTable) -> list[str | None]:
        """Why a row is too far from what was seen to be predicted; None where it is not."""
        reasons: list[str | None] = []
        distances = _nearest(self._standardised(table), self._seen).tolist()
        for distance, configuration in zip(distances, table.configurations, strict=True):
            source, amount = max(configuration.items(), key=lambda item: item[1])
            if distance > self.limit:
                reasons.append(f"it is {distance:.2f} from any target that was seen; those are within {self.limit:.2f}")
            elif amount > self.most:
                reasons.append(f"{amount:,.0f} of {source} is more than the {self.most:,.0f} that were ever trained on")
            else:
                reasons.append(None)
        return reasons


def _nearest(rows: Floats, others: Floats) -> Floats:
    """The distance of each row to the nearest of the others; 0 where no feature tells them apart."""
    from sklearn.metrics import pairwise_distances_argmin_min

    return pairwise_distances_argmin_min(rows, others)[1] if rows.shape[1] else np.zeros(len(rows))
