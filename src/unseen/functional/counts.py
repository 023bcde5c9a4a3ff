"""What is in a suite: cases by functionality and target, pairs, and what would mislead whoever uses it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from unseen.functional.suite import KINDS, ORIGINAL, balanced, partners, role_values, template_codes
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
    (cases, others), template = partners(suite), template_codes(suite)
    functionality, class_, target = (role_values(suite, role) for role in ("functionality", "class", "target"))
    kind = np.array([value or KINDS[0] for value in role_values(suite, "kind")], dtype=object)
    has_templates = "template" in suite.attributes
    functionalities = []
    for name in dict.fromkeys(functionality):
        rows = np.flatnonzero(functionality == name)
        labels = tuple(suite.label_names[code] for code in np.unique(suite.labels[rows]))
        templates = len(np.unique(template[rows])) if has_templates else None
        kinds = tuple(dict.fromkeys(kind[rows]))
        functionalities.append(FunctionalityCount(name, class_[rows[0]] or None, labels, kinds, len(rows), templates))
    named = np.flatnonzero(target != "")
    targets, even = Counter(target[named]), Counter(target[balanced(suite)])
    targets_of: dict[int, set[str]] = {}
    for row in named if has_templates else ():
        targets_of.setdefault(int(template[row]), set()).add(target[row])
    by_size = sorted(targets.items(), key=lambda item: (-item[1], item[0]))
    return SuiteCounts(
        cases=len(suite),
        labels=suite.label_counts,
        functionalities=tuple(functionalities),
        classes=dict(Counter(name for name in class_ if name)),
        targets=tuple(TargetCount(name, n, even[name]) for name, n in by_size),
        untargeted=len(suite) - targets.total(),
        templates=len(np.unique(template)) if has_templates else None,
        shared_templates=sum(len(names) > 1 for names in targets_of.values()),
        references=len(np.unique(cases)),
        contrasts=len(np.unique(cases[suite.labels[cases] != suite.labels[others]])),
        straddling=len(np.unique(cases[class_[cases] != class_[others]])),
    )


def check_suite(suite: Dataset) -> list[Finding]:
    """What to know before trusting a suite, one finding per check."""
    counted = count(suite)
    return [_labels(counted), _templates(counted), _duplicates(suite), _groups(counted), _references(counted)]


def _labels(counted: SuiteCounts) -> Finding:
    judged = [own for own in counted.functionalities if KINDS[0] in own.kinds and own.functionality not in ORIGINAL]
    mixed = [own.functionality for own in judged if len(own.labels) > 1]
    if not mixed:
        return Finding("suite_labels", "ok", "Every functionality that is judged by its label has one.")
    message = f"{len(mixed)} functionalities have cases of several labels: {some(mixed)}."
    advice = "One accuracy for both hides which label fails: make it two functionalities, or slice by label."
    return Finding("suite_labels", "warn", message, len(mixed), advice=advice)


def _templates(counted: SuiteCounts) -> Finding:
    if counted.templates is None:
        return Finding("suite_templates", "skipped", "The suite does not say which cases share a template.")
    single = [own.functionality for own in counted.functionalities if own.templates == 1 and own.cases > 1]
    if not single:
        return Finding(
            "suite_templates", "ok", f"Of {counted.templates} templates, none is a functionality of its own."
        )
    message = f"{len(single)} functionalities are one sentence with other words in it: {some(single)}."
    advice = "One template says nothing about another, and its rate has no interval: write more."
    return Finding("suite_templates", "warn", message, len(single), advice=advice)


def _duplicates(suite: Dataset) -> Finding:
    rows_of: dict[str, list[int]] = {}
    for row, text in enumerate(suite.texts.to_pylist()):
        rows_of.setdefault(" ".join(text.split()), []).append(row)
    copies = [rows for rows in rows_of.values() if len(rows) > 1]
    if not copies:
        return Finding("suite_duplicates", "ok", "No text occurs twice.")
    contradicting = [rows for rows in copies if len(np.unique(suite.labels[rows])) > 1]
    evidence = tuple(suite.ids[row].as_py() for rows in contradicting or copies for row in rows)
    if contradicting:
        message = f"{len(contradicting)} texts occur with different labels: no model can pass both."
        return Finding("suite_duplicates", "fail", message, len(contradicting), evidence, "Keep one of each.")
    message = f"{len(copies)} texts occur more than once and count as often."
    return Finding("suite_duplicates", "warn", message, len(copies), evidence, "Keep one of each.")


def _groups(counted: SuiteCounts) -> Finding:
    if len(counted.targets) < 2:
        return Finding("suite_groups", "skipped", "The suite does not have cases about several targets.")
    sizes = [target.cases for target in counted.targets]
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
