"""Which cases of a suite a model passes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.evaluation.measuring import aligned
from unseen.functional.suite import is_original
from unseen.types import Dataset, Predictions

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

TOLERANCE = 0.1
"""A directional case fails when the probability moves further than this in the wrong direction."""


def outcomes(suite: Dataset, predictions: Predictions, tolerance: float = TOLERANCE) -> Floats:
    """1 for every case that is passed, 0 for one that is failed, NaN where the test does not apply.

    functional: the predicted label is the case's. invariance: it is that of the reference, right or wrong.
    directional: the probability of the expected label has not moved the wrong way by more than `tolerance`;
    the case does not apply where the reference leaves no room for that, and neither kind where it is the original.
    """
    check_tolerance(tolerance)
    probabilities = aligned(suite, predictions, np.arange(len(suite)))
    said = probabilities.argmax(axis=1)
    found = (said == suite.labels).astype(np.float64)
    if "kind" not in suite.attributes:
        return found
    kinds, before = np.array(suite.attribute("kind").to_pylist(), dtype=object), references(suite)
    same = kinds == "invariance"
    found[same] = said[same] == said[before[same]]
    found[(same | (kinds == "directional")) & (before < 0)] = np.nan
    for row in np.flatnonzero((kinds == "directional") & (before >= 0)):
        way, _, label = suite.attribute("expect")[int(row)].as_py().partition(" ")
        first, then = probabilities[[before[row], row], suite.label_names.index(label)].tolist()
        found[row] = _moved(first, then, tolerance) if way == "up" else _moved(1 - first, 1 - then, tolerance)
    return found


def check_tolerance(tolerance: float) -> None:
    """Refuse what is no distance of probabilities."""
    if not 0 <= tolerance < 1:
        raise InputError("tolerance must be from 0 to below 1", got=repr(tolerance))


def _moved(before: float, after: float, tolerance: float) -> float:
    """Whether a probability that may only rise has not fallen."""
    return np.nan if before <= tolerance else float(after >= before - tolerance)


def references(suite: Dataset) -> Codes:
    """Row of the case that each case refers to; -1 where there is none."""
    if "reference" not in suite.attributes:
        return np.full(len(suite), -1)
    at = pc.index_in(suite.attribute("reference"), value_set=suite.ids)
    return np.asarray(pc.fill_null(at, -1).to_numpy(), dtype=np.intp)


def partners(suite: Dataset) -> tuple[Codes, Codes]:
    """Rows of cases, and of the cases each is compared with: its reference, or every original of its set."""
    before = references(suite)
    cases = np.flatnonzero(before >= 0)
    if not {"set", "variant"} <= set(suite.attributes):
        return cases, before[cases]
    sets, variants = (suite.attribute(name).to_pylist() for name in ("set", "variant"))
    originals: dict[str, list[int]] = {}
    for row, (each, variant) in enumerate(zip(sets, variants, strict=True)):
        if each is not None and is_original(variant):
            originals.setdefault(each, []).append(row)
    alone = [row for row in np.flatnonzero(before < 0).tolist() if not is_original(variants[row])]
    more = [(row, other) for row in alone for other in originals.get(sets[row], ())]
    pairs = np.concatenate([np.column_stack([cases, before[cases]]), np.array(more, dtype=np.intp).reshape(-1, 2)])
    return pairs[:, 0], pairs[:, 1]


def units(suite: Dataset) -> Codes:
    """Number of the template of each case; a case without one is a template of its own."""
    if "template" not in suite.attributes:
        return np.arange(len(suite))
    template, ids = (column.to_pylist() for column in (suite.attribute("template"), suite.ids))
    named = [f"case {case}" if each is None else f"template {each}" for each, case in zip(template, ids, strict=True)]
    return np.unique(np.array(named, dtype=object), return_inverse=True)[1].reshape(-1)


def balanced(suite: Dataset) -> npt.NDArray[np.bool_]:
    """Whether a case is of a template that occurs equally often for every target: groups are compared on these."""
    if not {"target", "template"} <= set(suite.attributes):
        return np.zeros(len(suite), bool)
    target = np.array([each or "" for each in suite.attribute("target").to_pylist()], dtype=object)
    named = target != ""
    if not named.any():
        return named
    template = units(suite)
    code = np.unique(target[named], return_inverse=True)[1].reshape(-1)
    counts = np.zeros((int(template.max()) + 1, int(code.max()) + 1), np.int64)
    np.add.at(counts, (template[named], code), 1)
    even = (counts.min(axis=1) > 0) & (counts.min(axis=1) == counts.max(axis=1)) & (counts.shape[1] > 1)
    return np.asarray(even[template] & named)
