"""What kind of failure a model shows on a suite, in one sentence.

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

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unseen.functional.catalogue import published
from unseen.functional.suite import judged_by_label, partners, role_values, template_codes
from unseen.types import Dataset
from unseen.types.arrays import Codes, Floats, Mask
from unseen.types.numbers import percent

NEARLY_ALWAYS = 0.9
MOST = 0.5
"""Share of the failures from which a kind is named."""
FEW = 4
"""A few functionalities are at most one in so many."""
NAMED = 3
TWICE = 2
"""How many times as often as elsewhere cases fail where the failures are said to be."""


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
