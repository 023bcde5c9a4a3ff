"""What happens when one term is another: probabilities, explanations, and false alarms about texts that hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unseen.evaluation.measurements import share_of
from unseen.explanations.subject import ExplainedTexts
from unseen.functional.suite import references
from unseen.subgroups.groups import Finder, Terms
from unseen.subgroups.swaps import swap_cases, swap_measurements
from unseen.types import Dataset, Measurement, Origin, Predictions
from unseen.types.arrays import Floats, Mask


def swap_probe(
    subject: ExplainedTexts,
    data: Dataset,
    terms: Terms,
    positive: Sequence[str],
    explainer: Any,
    *,
    most: int,
    seed: int,
) -> list[Measurement]:
    """Texts with each term in place of the others: how far the probability moves, and the explanation with it.

    `attribution_shift` is half of the sum of differences between the shares of the units (0: the same explanation, 1:
    nothing in common), of swaps that leave the number of units as it is.
    """
    cases = swap_cases(data, terms, most=most, seed=seed)
    swapped = ExplainedTexts(
        subject.model, cases.texts.to_pylist(), subject.label_names, positive[0], subject.units, subject.erase
    )
    predictions = Predictions(cases.ids, swapped.probabilities, cases.label_names, Origin("predict"))
    rows = swap_measurements(cases, predictions, positive, seed=seed)
    scores = [shares(values) for values in explainer.attributions(swapped, seed).scores]
    reference = references(cases)
    shifts = [
        np.abs(scores[version] - scores[original]).sum() / 2
        for version, original in enumerate(reference)
        if original >= 0 and len(scores[version]) == len(scores[original])
    ]
    if shifts:
        rows.append(Measurement("attribution_shift", float(np.mean(shifts)), len(shifts)))
    return rows


def shares(values: Floats) -> Floats:
    """Scores whose sizes sum to one, signs kept; special tokens were cut before."""
    total = np.abs(values).sum()
    return values / total if total else values


def false_alarms(
    texts: Sequence[str], alarms: Mask, innocent: Mask, terms: Mapping[str, Sequence[str]]
) -> list[Measurement]:
    """Of innocent texts the share that is called positive: of all, and of those that hold a term."""
    finder = Finder([term for group in terms.values() for term in group])
    holds = np.zeros((len(finder.terms), len(texts)), bool)
    for row, text in enumerate(texts):
        holds[list(finder.terms_in(text)), row] = True
    slices = {"all": np.ones(len(texts), bool)} | {
        f"term={term}": mask for term, mask in zip(finder.terms, holds, strict=True)
    }
    return [share_of("false_alarms", alarms[inside & innocent], slice=name) for name, inside in slices.items()]
