"""Failed cases of a suite as training material, so many of each functionality.

A model that is trained on the cases it failed passes them, and may have learnt nothing else. Whether it has is shown
by what was held out (`unseen.functional.holdout`), never by the suite that the cases are from.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unseen.errors import InputError, MismatchError, UnseenWarning
from unseen.functional.suite import judged_by_label
from unseen.functional.tables import write_cases
from unseen.registry import require_known
from unseen.seeding import generator
from unseen.store.files import read_rows, unharmed
from unseen.types import Dataset, some
from unseen.types.arrays import Rows

COLUMNS = ("model", "id", "functionality", "label", "predicted", "probability")
WRITTEN = ("text", "label", "functionality", "id")
SAMPLE_KEYS = {"failures", "csv_sha256"}
"""What the JSON file beside a sample holds at least."""
WARNING = (
    "a model trained on the cases it failed will pass them, and may have learnt nothing else; "
    "'unseen data suite holdout' measures whether it helps beyond them"
)


@dataclass(frozen=True)
class FailedCase:
    """A case that a model failed."""

    model: str
    id: str
    label: str


def read_failures(path: str | Path) -> list[FailedCase]:
    """The failed cases in `failures.csv` of `unseen check`."""

    def failed_case(line: Mapping[str, str]) -> FailedCase:
        return FailedCase(*(unharmed(line[name]) for name in ("model", "id", "label")))

    return read_rows(path, "failed cases of 'unseen check'", COLUMNS, failed_case)


def sample_failures(
    suite: Dataset, failures: Sequence[FailedCase], number: int, *, model: str | None = None, seed: int = 42
) -> Dataset:
    """The cases of the suite that `model` failed, at most `number` of each functionality, in the order of the suite.

    Only cases that are judged by their label are taken. Which are drawn depends on the seed and on the ids alone.
    Without `model` there must be failures of one model only.
    """
    if number < 1:
        raise InputError("the number of cases of each functionality must be at least one", got=str(number))
    ids = suite.ids.to_pylist()
    rows = _judged(suite, _rows(suite, _of_model(failures, model)))
    functionality = np.array(suite.attribute("functionality").to_pylist(), dtype=object)[rows]
    drawn = []
    for name in dict.fromkeys(functionality):
        by_id = np.array(sorted(rows[functionality == name].tolist(), key=ids.__getitem__), dtype=np.intp)
        drawn.append(generator(seed, "failures", name).permutation(by_id)[:number])
    return suite.take(np.sort(np.concatenate(drawn)))


def write_training_cases(cases: Dataset, path: str | Path, about: Mapping[str, Any]) -> Path:
    """Write text, label, functionality and id of the cases as CSV, and `about` them as JSON beside it."""
    return write_cases(cases, WRITTEN, path, {**about, "cases": len(cases)}, SAMPLE_KEYS)


def _of_model(failures: Sequence[FailedCase], model: str | None) -> list[FailedCase]:
    models = list(dict.fromkeys(case.model for case in failures))
    if not models:
        raise InputError("there are no failed cases to draw from")
    if model is None and len(models) > 1:
        raise InputError(
            "the failures are of several models", expected=f"one of {some(models, 20)}", fix="--model NAME"
        )
    if model is not None:
        require_known("model with failed cases", models, model)
    return [case for case in failures if model in (None, case.model)]


def _rows(suite: Dataset, failures: Sequence[FailedCase]) -> Rows:
    """Rows of the failed cases; refuses failures on another suite."""
    place = {name: row for row, name in enumerate(suite.ids.to_pylist())}
    names = suite.label_names
    strange = [
        case.id for case in failures if case.id not in place or names[suite.labels[place[case.id]]] != case.label
    ]
    if strange:
        raise MismatchError(
            f"{len(strange)} failed cases are not in {suite.name}, or have another label there",
            got=f"ids {some(strange)}",
            fix="name the suite that was checked",
        )
    return np.array(sorted({place[case.id] for case in failures}), dtype=np.intp)


def _judged(suite: Dataset, rows: Rows) -> Rows:
    """Those of the rows whose label is right or wrong by itself."""
    kept = rows[judged_by_label(suite)[rows]]
    if not len(kept):
        raise InputError("no failed case is judged by its label", expected="failed cases of the kind functional")
    if len(kept) < len(rows):
        note = f"{len(rows) - len(kept)} failed invariance and directional cases are left out: training needs labels"
        warnings.warn(note, UnseenWarning, stacklevel=3)
    return kept
