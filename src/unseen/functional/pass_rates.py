"""A model on a suite: what it passes, by functionality and by everything else a suite says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import InputError
from unseen.evaluation.contrasts import holm
from unseen.evaluation.measurements import aligned
from unseen.functional.failures import kind_of_failure
from unseen.functional.rates import difference, rate
from unseen.functional.suite import balanced, judged_by_label, partners, references, role_values, template_codes
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Floats, Rows

TOLERANCE = 0.1
"""A directional case fails when the probability moves further than this in the wrong direction."""
PASSED = "pass_rate"
BOTH = "pair_accuracy"
FLIPPED = "flip_rate"
EXPLAINED = "failures_explained"
AXES = ("label", "kind", "class", "functionality", "direction", "variant")
BOTH_AXES = "target × functionality"
NONE = "(none)"
CROSSED = " & "
"""Between the two halves of a slice that crosses two axes."""

Values = npt.NDArray[np.object_]
Slice = tuple[str, Rows, dict[str, str]]
"""Its name, its rows, and what its tags say."""


def outcomes(suite: Dataset, predictions: Predictions, tolerance: float = TOLERANCE) -> Floats:
    """1 for every case that is passed, 0 for one that is failed, NaN where the test does not apply.

    functional: the predicted label is the case's. invariance: it is that of the reference, right or wrong.
    directional: the probability of the expected label has not moved the wrong way by more than `tolerance`;
    the case does not apply where the reference leaves no room for that, and neither kind where it is the original.
    """
    check_tolerance(tolerance)
    probabilities = aligned(suite, predictions, np.arange(len(suite)))
    predicted = probabilities.argmax(axis=1)
    passed = (predicted == suite.labels).astype(np.float64)
    if "kind" not in suite.attributes:
        return passed
    kinds, reference = role_values(suite, "kind"), references(suite)
    invariant, directional = kinds == "invariance", kinds == "directional"
    passed[invariant] = predicted[invariant] == predicted[reference[invariant]]
    passed[(invariant | directional) & (reference < 0)] = np.nan
    for row in np.flatnonzero(directional & (reference >= 0)):
        way, _, label = suite.attribute("expect")[int(row)].as_py().partition(" ")
        before, after = probabilities[[reference[row], row], suite.label_names.index(label)].tolist()
        if way == "down":
            before, after = 1 - before, 1 - after
        passed[row] = np.nan if before <= tolerance else float(after >= before - tolerance)
    return passed


def check_tolerance(tolerance: float) -> None:
    """Refuse what is no distance of probabilities."""
    if not 0 <= tolerance < 1:
        raise InputError("tolerance must be from 0 to below 1", got=repr(tolerance))


def check(
    suite: Dataset,
    predictions: Predictions,
    *,
    slices: Sequence[str] = (),
    tags: Mapping[str, Any] | None = None,
    tolerance: float = TOLERANCE,
) -> list[Measurement]:
    """`pass_rate` of all cases, by label, class, functionality, direction, target, target × functionality and `slices`.

    For functional cases that is accuracy. Targets are compared on the cases whose template occurs equally often
    for every target; the tag `cases` says `balanced`, or `all` where there are no such templates. Rows of a
    functionality carry its `class` and `gold` label. Where a suite has several kinds of cases, `kind` tells them
    apart: passing an invariance case says nothing about being right. `pair_accuracy` is the share of functional
    cases that are right together with their reference: `contrast` where the labels differ, `alteration` where they
    are the same; of these, `flip_rate` is the share with another predicted label. A case whose set has several
    originals counts with the share of them that this is true of. Intervals draw templates. `failures_explained` is
    the share of the failures that the kind of failure is true of; its tag `sentence` says what kind it is.
    """
    refuse_slices(suite, slices)
    tags = {"suite": suite.name} | dict(tags or {})
    passed, template = outcomes(suite, predictions, tolerance), template_codes(suite)
    predicted = aligned(suite, predictions, np.arange(len(suite))).argmax(axis=1)
    measurements = [
        rate(PASSED, passed[rows], template[rows], slice=name, tags=tags | more)
        for name, rows, more in slices_of(suite, slices)
    ]
    measurements += _pairs(suite, predicted, tags)
    failure = kind_of_failure(suite, passed, predicted)
    share = failure.explained / failure.failures if failure.failures else None
    of_failure = {**tags, "failure": failure.kind, "sentence": failure.sentence}
    return [*measurements, Measurement(EXPLAINED, share, failure.failures, tags=of_failure)]


def compare_on_suite(
    suite: Dataset,
    a: Predictions,
    b: Predictions,
    *,
    slices: Sequence[str] = (),
    tags: Mapping[str, Any] | None = None,
    tolerance: float = TOLERANCE,
    seed: int = 42,
) -> list[Measurement]:
    """`difference.pass_rate`, `a` less `b`, on the same slices; `p` swaps the models on whole templates.

    `p.holm` is adjusted for all slices of the same axis: all functionalities, all targets.
    """
    tags = {"suite": suite.name} | dict(tags or {})
    first, second = (outcomes(suite, predictions, tolerance) for predictions in (a, b))
    template = template_codes(suite)
    differences = [
        difference(PASSED, first[rows], second[rows], template[rows], slice=name, tags=tags | more, seed=seed)
        for name, rows, more in slices_of(suite, slices)
    ]
    axes: dict[str, list[int]] = {}
    for number, row in enumerate(differences):
        if "p" in row.tags:
            axes.setdefault(str(row.tags.get("axis", "all")), []).append(number)
    for numbers in axes.values():
        for number, p in zip(numbers, holm([float(differences[one].tags["p"]) for one in numbers]), strict=True):
            row = differences[number]
            differences[number] = replace(row, tags={**row.tags, "p.holm": p})
    return differences


def slices_of(suite: Dataset, slices: Sequence[str] = ()) -> Iterator[Slice]:
    """Every slice of a suite."""
    yield "all", np.arange(len(suite)), {}
    gold = np.array(suite.label_names, dtype=object)[suite.labels]
    of_class = _values(suite, "class") if "class" in suite.attributes else None
    for axis in [*AXES, *slices]:
        if axis not in ("label", *suite.attributes) and axis in AXES:
            continue
        values = gold if axis == "label" else _values(suite, axis)
        if axis == "kind" and len(set(values)) == 1:
            continue
        for value, rows in _by_value(values):
            tags = {"axis": axis}
            if axis == "functionality":
                tags |= {"gold": ", ".join(sorted(set(gold[rows])))}
                tags |= {} if of_class is None else {"class": ", ".join(sorted(set(of_class[rows])))}
            yield f"{axis}={value}", rows, tags
    if "target" in suite.attributes:
        yield from _targets(suite)


def refuse_slices(suite: Dataset, slices: Sequence[str]) -> None:
    """Refuse columns that are sliced by anyway, that stand there twice, or that the suite does not have."""
    for name in slices:
        if name in (*AXES, "target"):
            raise InputError(f"cases are counted by {name} anyway", fix="leave that slice out")
        _values(suite, name)
    if len(set(slices)) < len(slices):
        raise InputError("a slice is named twice", got=", ".join(slices))


def _targets(suite: Dataset) -> Iterator[Slice]:
    even, target, functionality = balanced(suite), _values(suite, "target"), _values(suite, "functionality")
    cases = "balanced" if even.any() else "all"
    rows = np.flatnonzero(even) if even.any() else np.flatnonzero(target != NONE)
    of_targets = [(value, rows[inside]) for value, inside in _by_value(target[rows])]
    for value, own in of_targets:
        yield f"target={value}", own, {"axis": "target", "cases": cases}
    for value, own in of_targets:
        for function, inside in _by_value(functionality[own]):
            tags = {"axis": BOTH_AXES, "cases": cases, "target": value, "functionality": function}
            yield f"target={value}{CROSSED}functionality={function}", own[inside], tags


def _values(suite: Dataset, attribute: str) -> Values:
    column = suite.attribute(attribute)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        raise InputError(f"a case has one {attribute}", got="a list", fix="slice by another column")
    return np.array([NONE if value is None else str(value) for value in column.to_pylist()], dtype=object)


def _by_value(values: Values) -> Iterator[tuple[str, Rows]]:
    """Rows of each value, in the order in which values first occur."""
    distinct, first, code = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(code.reshape(-1), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(code.reshape(-1), minlength=len(distinct)))[:-1])
    for place in np.argsort(first):
        yield str(distinct[place]), groups[place]


def _pairs(suite: Dataset, predicted: Rows, tags: Mapping[str, Any]) -> list[Measurement]:
    """Cases that are judged by their label, together with their partners."""
    cases, others = partners(suite)
    by_label = judged_by_label(suite)[cases]
    cases, others = cases[by_label], others[by_label]
    right, template = predicted == suite.labels, template_codes(suite)
    functionality = _values(suite, "functionality")
    same = suite.labels[cases] == suite.labels[others]
    measurements = []
    for kind, of_kind in (("contrast", ~same), ("alteration", same)):
        case, other = cases[of_kind], others[of_kind]
        if not len(case):
            continue
        chosen, pair_of = np.unique(case, return_inverse=True)
        both, apart = (
            np.bincount(pair_of.reshape(-1), is_so) / np.bincount(pair_of.reshape(-1))
            for is_so in (right[case] & right[other], predicted[case] != predicted[other])
        )
        own_tags, own_template = {**tags, "pairs": kind}, template[chosen]
        slices = [(f"functionality={value}", rows) for value, rows in _by_value(functionality[chosen])]
        for name, rows in [("all", np.arange(len(chosen))), *slices]:
            measurements.append(rate(BOTH, both[rows], own_template[rows], slice=name, tags=own_tags))
            if kind == "alteration":
                measurements.append(rate(FLIPPED, apart[rows], own_template[rows], slice=name, tags=own_tags))
    return measurements
