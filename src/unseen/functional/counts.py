"""What is in a suite: cases by functionality and target, pairs, and what would mislead whoever uses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.functional.outcomes import balanced, partners, units
from unseen.functional.suite import KINDS, ORIGINAL
from unseen.types import Dataset, Finding, some


@dataclass(frozen=True)
class FunctionalityCount:
    """The cases of one functionality."""

    functionality: str
    class_: str | None
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    cases: int
    templates: int | None
    """None when the suite does not say."""


@dataclass(frozen=True)
class TargetCount:
    """The cases about one group."""

    target: str
    cases: int
    balanced: int
    """Of templates that occur equally often for every target: only on these are targets compared."""


@dataclass(frozen=True)
class SuiteCounts:
    """Everything that can be counted in a suite without a model."""

    cases: int
    labels: dict[str, int]
    functionalities: tuple[FunctionalityCount, ...]
    classes: dict[str, int]
    targets: tuple[TargetCount, ...]
    untargeted: int
    templates: int | None
    shared_templates: int
    """Templates that occur with several targets: holding out a target leaves its sentences in training."""
    references: int
    """Cases that refer to another one, or to the originals of their set."""
    contrasts: int
    """Those that refer to a case of another label."""
    straddling: int
    """Those that refer to a case of another class: holding out a class leaves its partners in training."""


def count(suite: Dataset) -> SuiteCounts:
    """The counts of a suite."""
    rows, (refers, others) = _Rows(suite), partners(suite)
    elsewhere = [rows.class_[row] != rows.class_[other] for row, other in zip(refers, others, strict=True)]
    targets = Counter(each for each in rows.target if each is not None)
    even = Counter(rows.target[row] for row in np.flatnonzero(balanced(suite)))
    return SuiteCounts(
        cases=len(suite),
        labels=suite.label_counts,
        functionalities=tuple(rows.of_functionality(*each) for each in rows.by_functionality().items()),
        classes=dict(Counter(each for each in rows.class_ if each is not None)),
        targets=tuple(TargetCount(str(name), n, even[name]) for name, n in sorted(targets.items(), key=_largest)),
        untargeted=len(suite) - targets.total(),
        templates=len(set(rows.template.tolist())) if rows.has_templates else None,
        shared_templates=sum(len(each) > 1 for each in rows.targets_of_templates().values()),
        references=len(np.unique(refers)),
        contrasts=len(np.unique(refers[suite.labels[refers] != suite.labels[others]])),
        straddling=len(np.unique(refers[np.array(elsewhere, dtype=bool)])),
    )


def check_suite(suite: Dataset) -> list[Finding]:
    """What to know before trusting a suite, one finding per check."""
    counted, ids = count(suite), suite.ids.to_pylist()
    return [_labels(counted), _templates(counted), _duplicates(suite, ids), _groups(counted), _references(counted)]


class _Rows:
    """The attributes of a suite as lists; None where it has none."""

    def __init__(self, suite: Dataset) -> None:
        self.suite = suite
        self.functionality, self.class_, self.target = map(self._values, ("functionality", "class", "target"))
        self.kind = [each or KINDS[0] for each in self._values("kind")]
        self.has_templates = "template" in suite.attributes
        self.template = units(suite)

    def _values(self, name: str) -> list[Any]:
        return self.suite.attribute(name).to_pylist() if name in self.suite.attributes else [None] * len(self.suite)

    def by_functionality(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, name in enumerate(self.functionality):
            found.setdefault(name, []).append(row)
        return found

    def of_functionality(self, name: str, rows: list[int]) -> FunctionalityCount:
        labels = [self.suite.label_names[code] for code in np.unique(self.suite.labels[rows])]
        templates = len(np.unique(self.template[rows])) if self.has_templates else None
        kinds = dict.fromkeys(self.kind[row] for row in rows)
        return FunctionalityCount(name, self.class_[rows[0]], tuple(labels), tuple(kinds), len(rows), templates)

    def targets_of_templates(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        if self.has_templates:
            for template, target in zip(self.template.tolist(), self.target, strict=True):
                if target is not None:
                    found.setdefault(template, set()).add(target)
        return found


def _largest(each: tuple[str, int]) -> tuple[int, str]:
    return -each[1], each[0]


def _labels(counted: SuiteCounts) -> Finding:
    judged = [each for each in counted.functionalities if KINDS[0] in each.kinds and each.functionality not in ORIGINAL]
    mixed = [each.functionality for each in judged if len(each.labels) > 1]
    if not mixed:
        return Finding("suite_labels", "ok", "Every functionality that is judged by its label has one.")
    message = f"{len(mixed)} functionalities have cases of several labels: {some(mixed)}."
    advice = "One accuracy for both hides which label fails: make it two functionalities, or slice by label."
    return Finding("suite_labels", "warn", message, len(mixed), advice=advice)


def _templates(counted: SuiteCounts) -> Finding:
    if counted.templates is None:
        return Finding("suite_templates", "skipped", "The suite does not say which cases share a template.")
    single = [each.functionality for each in counted.functionalities if each.templates == 1 and each.cases > 1]
    if not single:
        return Finding(
            "suite_templates", "ok", f"Of {counted.templates} templates, none is a functionality of its own."
        )
    message = f"{len(single)} functionalities are one sentence with other words in it: {some(single)}."
    advice = "One template says nothing about another, and its rate has no interval: write more."
    return Finding("suite_templates", "warn", message, len(single), advice=advice)


def _duplicates(suite: Dataset, ids: Sequence[str]) -> Finding:
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(suite.texts.to_pylist()):
        rows.setdefault(" ".join(text.split()), []).append(row)
    again = [each for each in rows.values() if len(each) > 1]
    if not again:
        return Finding("suite_duplicates", "ok", "No text occurs twice.")
    split = [each for each in again if _differ(suite.labels[each])]
    evidence = tuple(ids[row] for row in _flat(split or again))
    if split:
        message = f"{len(split)} texts occur with different labels: no model can pass both."
        return Finding("suite_duplicates", "fail", message, len(split), evidence, "Keep one of each.")
    message = f"{len(again)} texts occur more than once and count as often."
    return Finding("suite_duplicates", "warn", message, len(again), evidence, "Keep one of each.")


def _groups(counted: SuiteCounts) -> Finding:
    if len(counted.targets) < 2:
        return Finding("suite_groups", "skipped", "The suite does not have cases about several targets.")
    sizes = [each.cases for each in counted.targets]
    if min(sizes) == max(sizes) == counted.targets[0].balanced:
        return Finding("suite_groups", "ok", f"Each of {len(sizes)} targets has the same {sizes[0]} sentences.")
    even = counted.targets[0].balanced
    message = f"Targets have {min(sizes)} to {max(sizes)} cases; {even} of each are of templates that all share."
    advice = "Compare targets on the shared templates alone." if even else "Targets cannot be compared."
    return Finding("suite_groups", "warn", message, len(sizes), advice=advice)


def _references(counted: SuiteCounts) -> Finding:
    if not counted.references:
        return Finding("suite_references", "skipped", "No case refers to another one.")
    message = f"{counted.straddling} of {counted.references} references lead into another class"
    if not counted.straddling:
        return Finding("suite_references", "ok", f"{message}.")
    advice = "Before learning from part of a suite, hold out pairs and templates, not only classes."
    return Finding(
        "suite_references", "warn", f"{message}: a held-out class is not unseen.", counted.straddling, advice=advice
    )


def _differ(labels: npt.NDArray[np.int32]) -> bool:
    return len(np.unique(labels)) > 1


def _flat(groups: Sequence[Sequence[int]]) -> Iterator[int]:
    return (row for each in groups for row in each)
