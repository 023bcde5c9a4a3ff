"""A model on a suite: what it passes, by functionality and by everything else a suite says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import InputError
from unseen.evaluation.measuring import aligned
from unseen.evaluation.multiplicity import holm
from unseen.functional.failures import failure
from unseen.functional.outcomes import TOLERANCE, Codes, balanced, outcomes, partners, units
from unseen.functional.rates import difference, rate
from unseen.types import Dataset, Measurement, Predictions

PASSED = "pass_rate"
BOTH = "pair_accuracy"
FLIPPED = "flip_rate"
EXPLAINED = "failures_explained"
AXES = ("label", "kind", "class", "functionality", "direction", "variant")
BOTH_AXES = "target × functionality"
NONE = "(none)"
CROSSED = " & "
"""Between the two halves of a slice that crosses two axes."""


def check(
    suite: Dataset,
    predictions: Predictions,
    *,
    slices: Sequence[str] = (),
    tags: Mapping[str, Any] | None = None,
    tolerance: float = TOLERANCE,
    seed: int = 42,
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
    passed, template = outcomes(suite, predictions, tolerance), units(suite)
    rows = []
    for name, where, more in places(suite, slices):
        rows.append(rate(PASSED, passed[where], template[where], slice=name, tags=tags | more, seed=seed))
    what = failure(suite, predictions, tolerance)
    share = what.explained / what.failures if what.failures else None
    told = {**tags, "failure": what.kind, "sentence": what.sentence}
    return [*rows, *_pairs(suite, predictions, tags, seed), Measurement(EXPLAINED, share, what.failures, tags=told)]


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
    first, second = (outcomes(suite, each, tolerance) for each in (a, b))
    template = units(suite)
    rows = [
        difference(PASSED, first[where], second[where], template[where], slice=name, tags=tags | more, seed=seed)
        for name, where, more in places(suite, slices)
    ]
    return _adjusted(rows)


def places(suite: Dataset, slices: Sequence[str] = ()) -> Iterator[tuple[str, Codes, dict[str, str]]]:
    """Every slice of a suite: its name, its rows, and what its tags say."""
    yield "all", np.arange(len(suite)), {}
    gold = np.array(suite.label_names, dtype=object)[suite.labels]
    functionality = _values(suite, "functionality")
    of_class = _values(suite, "class") if "class" in suite.attributes else None
    for axis in [*AXES, *slices]:
        if axis not in ("label", *suite.attributes) and axis in AXES:
            continue
        values = gold if axis == "label" else _values(suite, axis)
        if axis == "kind" and len(set(values)) == 1:
            continue
        for value, where in _by_value(values):
            more = {"axis": axis}
            if axis == "functionality":
                more |= {"gold": ", ".join(sorted(set(gold[where])))}
                more |= {} if of_class is None else {"class": ", ".join(sorted(set(of_class[where])))}
            yield f"{axis}={value}", where, more
    if "target" in suite.attributes:
        yield from _targets(suite, functionality)


def refuse_slices(suite: Dataset, slices: Sequence[str]) -> None:
    """Refuse columns that are sliced by anyway, that stand there twice, or that the suite does not have."""
    for name in slices:
        if name in (*AXES, "target"):
            raise InputError(f"cases are counted by {name} anyway", fix="leave that slice out")
        _values(suite, name)
    if len(set(slices)) < len(slices):
        raise InputError("a slice is named twice", got=", ".join(slices))


def _targets(suite: Dataset, functionality: npt.NDArray[np.object_]) -> Iterator[tuple[str, Codes, dict[str, str]]]:
    even, target = balanced(suite), _values(suite, "target")
    cases = "balanced" if even.any() else "all"
    rows = np.flatnonzero(even) if even.any() else np.flatnonzero(target != NONE)
    for value, where in _by_value(target[rows]):
        yield f"target={value}", rows[where], {"axis": "target", "cases": cases}
    for value, where in _by_value(target[rows]):
        here = rows[where]
        for function, inside in _by_value(functionality[here]):
            more = {"axis": BOTH_AXES, "cases": cases, "target": value, "functionality": function}
            yield f"target={value}{CROSSED}functionality={function}", here[inside], more


def _values(suite: Dataset, attribute: str) -> npt.NDArray[np.object_]:
    column = suite.attribute(attribute)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        raise InputError(f"a case has one {attribute}", got="a list", fix="slice by another column")
    values = column.to_pylist()
    return np.array([NONE if each is None else str(each) for each in values], dtype=object)


def _by_value(values: npt.NDArray[np.object_]) -> Iterator[tuple[str, Codes]]:
    """Rows of each value, in the order in which values first occur."""
    distinct, first, code = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(code.reshape(-1), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(code.reshape(-1), minlength=len(distinct)))[:-1])
    for place in np.argsort(first):
        yield str(distinct[place]), groups[place]


def _pairs(suite: Dataset, predictions: Predictions, tags: Mapping[str, Any], seed: int) -> list[Measurement]:
    cases, others = partners(suite)
    judged = _functional(suite)[cases]
    cases, others = cases[judged], others[judged]
    if not len(cases):
        return []
    said = aligned(suite, predictions, np.arange(len(suite))).argmax(axis=1)
    right, template = said == suite.labels, units(suite)
    functionality = _values(suite, "functionality")
    same = suite.labels[cases] == suite.labels[others]
    found = []
    for kind, of_kind in (("contrast", ~same), ("alteration", same)):
        case, other = cases[of_kind], others[of_kind]
        chosen, pair_of = np.unique(case, return_inverse=True)
        both, apart = (
            np.bincount(pair_of.reshape(-1), each) / np.bincount(pair_of.reshape(-1))
            for each in (right[case] & right[other], said[case] != said[other])
        )
        of, unit = {**tags, "pairs": kind}, template[chosen]
        for name, where in _named(functionality[chosen]):
            found.append(rate(BOTH, both[where], unit[where], slice=name, tags=of, seed=seed))
            if kind == "alteration":
                found.append(rate(FLIPPED, apart[where], unit[where], slice=name, tags=of, seed=seed))
    return found


def _functional(suite: Dataset) -> npt.NDArray[np.bool_]:
    """Whether a case has a label to be right about; others are judged by their reference already."""
    if "kind" not in suite.attributes:
        return np.ones(len(suite), bool)
    return np.isin(_values(suite, "kind"), ("functional", NONE))


def _named(functionality: npt.NDArray[np.object_]) -> list[tuple[str, Codes]]:
    """All rows, then those of each functionality; nothing for no rows."""
    found = [(f"functionality={value}", where) for value, where in _by_value(functionality)]
    return [("all", np.arange(len(functionality))), *found] if found else []


def _adjusted(rows: Sequence[Measurement]) -> list[Measurement]:
    axes: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if "p" in row.tags:
            axes.setdefault(str(row.tags.get("axis", "all")), []).append(place)
    found = list(rows)
    for where in axes.values():
        adjusted = holm([float(rows[place].tags["p"]) for place in where])
        for place, p in zip(where, adjusted, strict=True):
            found[place] = replace(rows[place], tags={**rows[place].tags, "p.holm": p})
    return found
