"""What an experiment says about the rows that rules flag: whether they harm, and whether its models learnt at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unseen.audits.removals import can_be_sure
from unseen.types import Finding, Measurement
from unseen.types.numbers import difference_in_points, percent

SAME = 0.5
"""With more than this share of identical answers a model hardly reads its texts."""
ONE_CLASS = 0.95
DIGITS = 6
SHARES = ("identical_answers", "largest_predicted_class")


def row_of(rows: Sequence[Measurement], metric: str, **tags: str) -> Measurement:
    """The measurement of this metric with these tags."""
    return next(row for row in rows if row.metric == metric and tags.items() <= dict(row.tags).items())


def effect_of(rows: Sequence[Measurement], metric: str, test: str, lost: int) -> Finding:
    """Whether rows that are flagged do more harm in training than others of the same labels do, on one test part."""
    gain = row_of(rows, f"difference.{metric}", train="cleaned", than="random", test=test)
    check = f"items.effect[{test}]"
    message = (
        f"{metric} on the {test} test part: training without the {lost:,} flagged rows less training without as many "
        f"random rows of the same labels is {difference_in_points(gain)}{_removals(gain)}"
    )
    if gain.low is None or gain.high is None or gain.low <= 0 <= gain.high:
        return Finding(check, "ok", f"{message}; this may be chance.", lost)
    if gain.low > 0:
        return Finding(check, "ok", f"{message}; cleaning helps.", lost)
    advice = "Keep these rows, or read them: the rules take out what the model needs."
    return Finding(check, "warn", f"{message}; cleaning harms.", lost, advice=advice)


def _removals(gain: Measurement) -> str:
    """How many of the random removals move the score as far, or that there are too few of them to tell."""
    removals, p = gain.tags.get("removals"), gain.tags.get("p")
    if removals is None or p is None:
        return ""
    if not can_be_sure(int(removals)):
        return f" (rests on {removals} random removals, too few to be sure)"
    return f" (of random removals {percent(float(p), 1)} move it as far)"


def enough_seeds(seeds: int, enough: int) -> Finding:
    """Whether trainings were repeated often enough to see how far seeds differ."""
    message = f"Every training was repeated with {seeds} seeds."
    if seeds >= enough:
        return Finding("items.seeds", "ok", message, seeds)
    return Finding("items.seeds", "warn", message, seeds, advice=f"{enough} or more show the spread better.")


def sameness(answers: Sequence[npt.NDArray[np.float64]], tags: dict[str, str | int | float]) -> list[Measurement]:
    """Means over models of two shares of the tested rows, from probabilities [rows, classes] of each model.

    `identical_answers`: rows with the most frequent answer, to six digits. `largest_predicted_class`: rows given the
    label that is given most. Texts that are copies of each other have identical answers by right.
    """
    n = len(answers[0])
    same = [np.unique(np.round(p, DIGITS), axis=0, return_counts=True)[1].max() / n for p in answers]
    largest = [np.bincount(p.argmax(axis=1)).max() / n for p in answers]
    return [
        Measurement(name, float(np.mean(values)), n, tags=tags)
        for name, values in zip(SHARES, (same, largest), strict=True)
    ]


def degenerate(rows: Sequence[Measurement], trainings: Sequence[str], largest_gold: float) -> Finding:
    """Whether a training gave models that answer alike whatever they are asked, by `sameness` on the original rows.

    `largest_gold` is the share of the most frequent label among the tested rows.
    """
    bad = []
    for train in trainings:
        same, largest = (row_of(rows, name, train=train, test="original").value or 0 for name in SHARES)
        if same > SAME or largest > max(ONE_CLASS, largest_gold):
            bad.append(f"{train}: {percent(same, 1)} identical answers, {percent(largest, 1)} one label")
    if not bad:
        return Finding("items.degenerate", "ok", "No training gave a model that answers alike whatever it is asked.")
    advice = "Such a model has learnt nothing; its score says how frequent one label is."
    return Finding("items.degenerate", "warn", f"Models answer alike: {'; '.join(bad)}.", len(bad), advice=advice)
