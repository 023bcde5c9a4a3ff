"""The run folder of learning from a suite, read, and what it says."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.functional.holdout import BOTH, SUITE, TASK
from unseen.reports.kinds import kind_of
from unseen.reports.verdict import Verdict
from unseen.reports.wording import capital, number, percent
from unseen.store import read_measurements
from unseen.store.files import unharmed
from unseen.store.manifest import read_about
from unseen.types import Measurement

STRICTEST = ("class", "functionality", "pair", "template", "target")
"""Schemes by how far what they hold out is from what is trained on, as far as names can tell."""
PLACE = ("scheme", "part", "configuration", "than", "of")
"""Tags that tell where a number is from."""
ALPHA = 0.05
HELD_OUT_OF = {
    "functionality": "functionalities",
    "target": "targets",
    "class": "classes",
    "template": "templates",
    "pair": "templates whose contrast partners are held out with them",
}


@dataclass(frozen=True, eq=False)
class LearningRun:
    """Everything that the folder of such a run says."""

    folder: Path
    about: Mapping[str, Any]
    measurements: Sequence[Measurement]
    changes: Sequence[Mapping[str, str]]
    """Lines of changes.csv: the largest changes, with texts when the run was asked for some."""

    def row(self, metric: str, slice: str = "all", **tags: str) -> Measurement | None:
        """The number with exactly these values among its tags of place; None when it was not measured."""
        assert tags.keys() <= {*PLACE}, "no other tags tell where a number is from"
        return self._by_place.get((metric, slice, *(tags.get(name, "") for name in PLACE)))

    @cached_property
    def _by_place(self) -> dict[tuple[str, ...], Measurement]:
        found: dict[tuple[str, ...], Measurement] = {}
        for row in self.measurements:
            place = (str(row.tags.get(name, "")) for name in PLACE)
            found.setdefault((row.metric, row.slice, *place), row)
        return found

    @property
    def schemes(self) -> list[str]:
        """The schemes that hold something out, in the order of the run."""
        return [each for each in self.about["settings"]["schemes"] if each != "all"]

    @property
    def configurations(self) -> list[str]:
        """What models were trained on besides the task alone."""
        return [each for each in self.about["settings"]["configurations"] if each != TASK]

    @property
    def main(self) -> str:
        """The configuration that the verdict is about."""
        return BOTH if BOTH in self.configurations else SUITE

    @property
    def ranking(self) -> str:
        """The metric of ranking that was measured on the task."""
        known = (row.metric for row in self.measurements if row.metric.startswith("roc_auc."))
        return next(known, "roc_auc.binary")

    def values(self, scheme: str) -> list[str]:
        """What the plans of a scheme hold out."""
        return [name.partition("=")[2] for name in self.about["plans"] if name.startswith(f"{scheme}=")]


def read_learning_run(folder: str | Path) -> LearningRun:
    """The run in a folder; what is damaged is said at once."""
    folder = Path(folder)
    about = read_about(folder)
    if kind_of(folder) != "learning":
        raise InputError(f"{folder} is not a run of learning from a suite", fix="unseen suite holdout writes one")
    try:
        _ = about["settings"]["schemes"], about["settings"]["configurations"], about["plans"], about["datasets"]
    except (KeyError, TypeError) as cause:
        raise InputError(f"{folder / 'run.json'} is damaged: {type(cause).__name__}: {cause}") from cause
    return LearningRun(folder, about, read_measurements(folder / "measurements.csv"), _changes(folder / "changes.csv"))


def _changes(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: unharmed(value or "") for name, value in line.items()} for line in csv.DictReader(file)]


def learning_verdict(run: LearningRun) -> Verdict:
    """Whether training on the tests helped, or only passed them.

    A change counts when its p-value is below .05; those of suite cases are by whole templates. Of the schemes that
    hold something out, the one farthest from what was trained on decides. The task counts as partly forgotten when
    macro F1 falls, or when ROC AUC does: a threshold that moved can hide the loss from F1.
    """
    passed = run.row("difference.accuracy", scheme="all", part="test", configuration=run.main, than=TASK)
    beyond = next((row for each in STRICTEST if (row := _held_out(run, each))), None)
    task = run.row("difference.f1.macro", part="task test", configuration=run.main, than=TASK)
    ranked = run.row(f"difference.{run.ranking}", part="task test", configuration=run.main, than=TASK)
    sentences = [*_passed(run, passed), *_beyond(run), *_kept(run, task), *_ranked(run, task, ranked)]
    headline, level = _judged(_rises(passed), _rises(beyond), _falls(task) or _falls(ranked))
    return Verdict(headline, [capital(each) for each in sentences], level)


def _judged(passed: bool, beyond: bool, forgotten: bool) -> tuple[str, str]:
    if forgotten:
        learnt = "helped on what was held out" if beyond else "passed the tests" if passed else "changed the model"
        return f"Training on the tests {learnt}, and the task was partly forgotten.", "fail"
    if beyond:
        return "Training on the tests helped beyond them.", "ok"
    if passed:
        return "The tests were learnt; that it helps beyond them is not shown.", "warn"
    return "Training on the tests changed little.", "warn"


def _held_out(run: LearningRun, scheme: str) -> Measurement | None:
    return run.row("difference.accuracy", scheme=scheme, part="held-out", configuration=run.main, than=TASK)


def p_value(row: Measurement | None, name: str = "p") -> float | None:
    """The p-value among the tags of a row."""
    return float(row.tags[name]) if row is not None and name in row.tags else None


def _rises(row: Measurement | None) -> bool:
    p = p_value(row)
    return row is not None and p is not None and (row.value or 0) > 0 and p < ALPHA


def _falls(row: Measurement | None) -> bool:
    p = p_value(row)
    return row is not None and p is not None and (row.value or 0) < 0 and p < ALPHA


def said_p(p: float | None) -> str:
    """A p-value as it is written.

    >>> said_p(0.0004), said_p(0.0312), said_p(1.0), said_p(None)
    ('p < .001', 'p = .031', 'p = 1.000', '')
    """
    if p is None:
        return ""
    return "p < .001" if p < 0.001 else f"p = {number(p, 3)}"


def _passed(run: LearningRun, row: Measurement | None) -> list[str]:
    levels = [run.row("accuracy", scheme="all", part="test", configuration=each) for each in (TASK, run.main)]
    if row is None or None in levels:
        return []
    before, after = (percent(each.value) for each in levels if each)
    return [f"of random unseen cases {before} were right before and {after} after training on others ({_told(row)})."]


def _beyond(run: LearningRun) -> list[str]:
    found = []
    for scheme in run.schemes:
        row = _held_out(run, scheme)
        levels = [run.row("accuracy", scheme=scheme, part="held-out", configuration=each) for each in (TASK, run.main)]
        if row is not None and None not in levels:
            before, after = (percent(each.value) for each in levels if each)
            found.append(f"of held-out {HELD_OUT_OF[scheme]} {before} before and {after} after ({_told(row)}).")
    return found


def _kept(run: LearningRun, row: Measurement | None) -> list[str]:
    levels = [run.row("f1.macro", part="task test", configuration=each) for each in (TASK, run.main)]
    if row is None or None in levels:
        return ["the task was not measured: that takes the scheme all."]
    before, after = (number(each.value, 3) for each in levels if each)
    return [f"on the task itself macro F1 went from {before} to {after} ({_told(row)})."]


def _ranked(run: LearningRun, task: Measurement | None, row: Measurement | None) -> list[str]:
    levels = [run.row(run.ranking, part="task test", configuration=each) for each in (TASK, run.main)]
    if row is None or None in levels:
        return []
    before, after = (number(each.value, 3) for each in levels if each)
    said = [f"its ROC AUC, which knows no threshold, went from {before} to {after} ({_told(row)})."]
    if _falls(row) and not _falls(task):
        said.append("macro F1 hides that: the threshold moved with the mix of labels.")
    return said


def _told(row: Measurement) -> str:
    return said_p(p_value(row)) or "no p-value"
