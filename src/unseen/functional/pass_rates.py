"""A model on a suite: what it passes, by functionality and by everything else a suite says.

What kind of failure a model shows on a suite, in one sentence.

A kind is named when it is true of at least half of the failures; of several, the first in this order:

================  ==========================================================================================
none              nothing fails, or nothing could be judged
one label         it says one label nearly always
swap              it passes the same sentence for another group, and fails for one group twice as often
functionalities   a few functionalities hold the failures, and more of them than of the cases
alteration        the answer is not that of the original
contrast          the answer is that of a case with another label
label             the failures are cases of one label
spread            none of these
================  ==========================================================================================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.evaluation.contrasts import with_holm
from unseen.evaluation.measurements import aligned
from unseen.evaluation.weighting import Weighting
from unseen.functional.catalogue import published
from unseen.functional.rates import difference, rate
from unseen.functional.suite import balanced, judged_by_label, partners, references, role_values, template_codes
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Mask, Rows, is_list
from unseen.types.numbers import percent

TOLERANCE = 0.1
"""A directional case fails when the probability moves further than this in the wrong direction."""
PASSED = "pass_rate"
WEIGHTED = re.compile(rf"{PASSED}\.(?P<scheme>\w+)(?:\((?P<inside>.*)\))?", re.DOTALL)
"""A pass rate in which functionalities have weights."""
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
NEARLY_ALWAYS = 0.9
MOST = 0.5
"""Share of the failures from which a kind is named."""
FEW = 4
"""A few functionalities are at most one in so many."""
NAMED = 3
TWICE = 2
"""How many times as often as elsewhere cases fail where the failures are said to be."""


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
    weighted: Sequence[str] = (),
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
    originals counts with the share of them that this is true of. Intervals draw templates. `weighted` are further
    pass rates of all cases in which functionalities have weights, as labels have in F1: `pass_rate.macro`,
    `pass_rate.mix(F1=0.5,F2=0.5)`. `failures_explained` is the share of the failures that the kind of failure is true
    of; its tag `sentence` says what kind it is.
    """
    refuse_slices(suite, slices)
    tags = {"suite": suite.name} | dict(tags or {})
    passed, template = outcomes(suite, predictions, tolerance), template_codes(suite)
    predicted = aligned(suite, predictions, np.arange(len(suite))).argmax(axis=1)
    measurements = [
        rate(PASSED, passed[rows], template[rows], slice=name, tags=tags | more)
        for name, rows, more in slices_of(suite, slices)
    ]
    measurements += [_weighted_rate(suite, passed, template, metric, tags) for metric in weighted]
    measurements += _pairs(suite, predicted, tags)
    failure = kind_of_failure(suite, passed, predicted)
    share = failure.explained / failure.failures if failure.failures else None
    of_failure = {**tags, "failure": failure.kind, "sentence": failure.sentence}
    return [*measurements, Measurement(EXPLAINED, share, failure.failures, tags=of_failure)]


def weighting_of(metric: str) -> Weighting:
    """How a pass rate weights functionalities."""
    match = WEIGHTED.fullmatch(metric)
    if match is None or match["scheme"] == "micro":
        expected = f"{PASSED}.macro, {PASSED}.entropy, {PASSED}.power(0.5), {PASSED}.mix(FUNCTIONALITY=SHARE,…)"
        raise InputError(f"{metric!r} is no pass rate with weighted functionalities", expected=expected)
    return Weighting.parsed(match["scheme"], match["inside"])


def _weighted_rate(
    suite: Dataset, passed: Floats, template: Codes, metric: str, tags: Mapping[str, Any]
) -> Measurement:
    """A pass rate in which each functionality has its weight, however many cases it has."""
    weighting = weighting_of(metric)
    names, functionality = np.unique(role_values(suite, "functionality"), return_inverse=True)
    judged = np.bincount(functionality[np.isfinite(passed)], minlength=len(names)).astype(np.float64)
    weights, name = weighting.weights(judged, names.tolist()), f"{PASSED}.{weighting}"
    if ((weights > 0) & (judged == 0)).any():
        return Measurement(name, None, 0, tags=dict(tags))  # nobody knows how the model does there
    return rate(name, passed, template, weights=(weights / np.maximum(judged, 1))[functionality], tags=tags)


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
    return with_holm(differences, family=lambda row: row.tags.get("axis", "all"))


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
    if is_list(column.type):
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


@dataclass(frozen=True)
class FailureKind:
    """What kind of failure it is."""

    kind: str
    sentence: str
    failures: int
    explained: int
    """Failures that the kind is true of."""


def kind_of_failure(suite: Dataset, passed: Floats, predicted: Codes) -> FailureKind:
    """The kind of failure from the outcome of every case (1, 0, NaN) and the label that it got."""
    failed, judged = passed == 0, int(np.isfinite(passed).sum())
    total = int(failed.sum())
    if not judged:
        return FailureKind("none", "No case could be judged.", 0, 0)
    if not total:
        return FailureKind("none", f"It passes all {judged:,} cases that it could be judged on.", 0, 0)
    for kind, sentence, explained in _kinds(suite, passed, predicted, failed):
        if explained >= MOST * total:
            return FailureKind(kind, sentence, total, explained)
    names = role_values(suite, "functionality")
    where = f"{len(set(names[failed]))} of {len(set(names))} functionalities"
    return FailureKind("spread", f"It fails {_percent(total, judged)} of the cases, spread over {where}.", total, 0)


def _kinds(suite: Dataset, passed: Floats, predicted: Codes, failed: Mask) -> Iterator[tuple[str, str, int]]:
    """Every kind that applies, its sentence and the failures that it explains."""
    total = int(failed.sum())
    by_label = judged_by_label(suite)
    yield from _one_label(suite, predicted, by_label, failed)
    yield from _swap(suite, passed, failed)
    yield from _functionalities(suite, passed, failed)
    altered, contrasted = _by_partner(suite, predicted, by_label)
    n = int((failed & altered).sum())
    share = f"{_percent(n, total)} of the failures"
    yield "alteration", f"It fails when a text is altered: {share} get another answer than the text that they alter.", n
    n = int((failed & contrasted).sum())
    share = f"{_percent(n, total)} of the failures get the answer of a case with another label that is nearly the same"
    yield "contrast", f"It does not see what changes the label: {share}.", n
    yield from _label(suite, by_label, failed)


def _one_label(suite: Dataset, predicted: Codes, by_label: Mask, failed: Mask) -> Iterator[tuple[str, str, int]]:
    if not by_label.any():
        return
    label = int(np.bincount(predicted[by_label]).argmax())
    given, own = by_label & (predicted == label), by_label & (suite.labels == label)
    others = by_label & ~own
    missed = int((others & failed).sum())
    if given.sum() < NEARLY_ALWAYS * by_label.sum() or missed < MOST * max(1, others.sum()):
        return
    names = _label_names(suite)
    which = f"the {names[1 - label]} ones" if len(names) == 2 else "those of other labels"
    right = (
        f" and is right about {_percent(int((own & ~failed).sum()), int(own.sum()))} of the others" if own.any() else ""
    )
    cases = "all cases" if by_label.all() else "the cases that are judged by their label"
    yield (
        "one label",
        f"It says {names[label]} for {_percent(int(given.sum()), int(by_label.sum()))} of {cases}: it misses "
        f"{_percent(missed, int(others.sum()))} of {which}{right}.",
        missed,
    )


def _swap(suite: Dataset, passed: Floats, failed: Mask) -> Iterator[tuple[str, str, int]]:
    target = role_values(suite, "target")
    named = (target != "") & np.isfinite(passed)
    failures = Counter(target[named & failed])
    if not failures or len(set(target[named])) < 2:
        return
    cases = Counter(target[named])
    worst = max(failures, key=lambda group: (failures[group] / cases[group], group))
    others = failures.total() - failures[worst], cases.total() - cases[worst]
    if failures[worst] / cases[worst] < TWICE * others[0] / others[1]:
        return  # what fails for every group alike is no matter of identity
    n, total = int((failed & _passed_for_others(suite, passed)).sum()), int(failed.sum())
    yield (
        "swap",
        f"It fails when an identity is swapped: {_percent(n, total)} of the failures are sentences that it passes for "
        f"another group, and it fails {_percent(failures[worst], cases[worst])} of the cases about {worst} and "
        f"{_percent(*others)} of those about other groups.",
        n,
    )


def _passed_for_others(suite: Dataset, passed: Floats) -> Mask:
    """Whether a case of the same template and label about another group is passed, or its reference is one."""
    target, passed_for_others = role_values(suite, "target"), np.zeros(len(suite), bool)
    if "template" in suite.attributes:
        code = template_codes(suite) * len(suite.label_names) + suite.labels
        groups: dict[int, set[str]] = {}
        for row in np.flatnonzero((passed == 1) & (target != "")):
            groups.setdefault(int(code[row]), set()).add(target[row])
        for row in np.flatnonzero(target != ""):
            passed_for_others[row] = bool(groups.get(int(code[row]), set()) - {target[row]})
    cases, others = partners(suite)
    named = (target[cases] != "") & (target[others] != "") & (target[cases] != target[others])
    same_label = suite.labels[cases] == suite.labels[others]
    passed_for_others[cases[named & same_label & (passed[others] == 1)]] = True
    return passed_for_others


def _functionalities(suite: Dataset, passed: Floats, failed: Mask) -> Iterator[tuple[str, str, int]]:
    names = role_values(suite, "functionality")
    cases, failures = Counter(names[np.isfinite(passed)]), Counter(names[failed])
    total, taken, n = failures.total(), list[str](), 0
    for name, count in sorted(failures.items(), key=lambda item: (-item[1], item[0])):
        taken.append(name)
        n += count
        if n >= MOST * total:
            break
    if FEW * len(taken) > len(cases) or n / total < TWICE * sum(cases[name] for name in taken) / cases.total():
        return
    more = [f"{len(taken) - NAMED} more"] if len(taken) > NAMED else []
    *listed, last = [*taken[:NAMED], *more]
    where = f"{', '.join(listed)} and {last}" if listed else last
    yield (
        "functionalities",
        f"It errs mostly on {where}: {_percent(n, total)} of the failures are in {len(taken)} of {len(cases)} "
        "functionalities.",
        n,
    )


def _by_partner(suite: Dataset, predicted: Codes, by_label: Mask) -> tuple[Mask, Mask]:
    """Whether a case gets another answer than one that it alters, and that of one that it contrasts with."""
    cases, others = partners(suite)
    alters = (suite.labels[cases] == suite.labels[others]) | ~by_label[cases]
    alike = predicted[cases] == predicted[others]
    altered, contrasted = np.zeros((2, len(suite)), bool)
    altered[cases[alters & ~alike]] = True
    contrasted[cases[~alters & alike]] = True
    return altered, contrasted


def _label(suite: Dataset, by_label: Mask, failed: Mask) -> Iterator[tuple[str, str, int]]:
    wrong = np.bincount(suite.labels[by_label & failed], minlength=len(suite.label_names))
    label, own = int(wrong.argmax()), by_label & (suite.labels == wrong.argmax())
    rest = by_label & ~own
    missed, spared = int((own & failed).sum()), int((rest & failed).sum())
    if rest.any() and missed / max(1, own.sum()) >= TWICE * spared / rest.sum():
        name = _label_names(suite)[label]
        yield (
            "label",
            f"It errs mostly on {name} cases: it misses {_percent(missed, int(own.sum()))} of them "
            f"and {_percent(spared, int(rest.sum()))} of the others.",
            missed,
        )


def _label_names(suite: Dataset) -> list[str]:
    """The labels as people call them, where a published suite says so."""
    known = published().get(str(suite.origin.params.get("published")))
    return [known.label_names.get(name, name) if known else name for name in suite.label_names]


def _percent(part: int, whole: int) -> str:
    return percent(part / whole if whole else 0.0)
