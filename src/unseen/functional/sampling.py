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

from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning
from unseen.functional.outcomes import Codes
from unseen.functional.suite import KINDS
from unseen.functional.writing import refuse_foreign
from unseen.seeding import generator
from unseen.store import atomic, sha256_of, write_json
from unseen.store.files import csv_rows, read_rows, twin_of, unharmed
from unseen.types import Dataset, some

COLUMNS = ("model", "id", "functionality", "label", "predicted", "probability")
WRITTEN = ("text", "label", "functionality", "id")
SAMPLE_KEYS = {"failures", "csv_sha256"}
"""What the JSON file beside a sample holds at least."""
WARNING = (
    "a model trained on the cases it failed will pass them, and may have learnt nothing else; "
    "'unseen suite holdout' measures whether it helps beyond them"
)


@dataclass(frozen=True)
class Failure:
    """A case that a model failed."""

    model: str
    id: str
    label: str


def read_failures(path: str | Path) -> list[Failure]:
    """The failed cases in `failures.csv` of `unseen check`."""

    def failure(line: Mapping[str, str]) -> Failure:
        return Failure(*(unharmed(line[name]) for name in ("model", "id", "label")))

    return read_rows(path, "failed cases of 'unseen check'", COLUMNS, failure)


def sample_failures(
    suite: Dataset, failures: Sequence[Failure], number: int, *, model: str | None = None, seed: int = 42
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
    drawn = [_drawn(ids, rows[functionality == name], number, name, seed) for name in dict.fromkeys(functionality)]
    return suite.take(np.sort(np.concatenate(drawn)))


def write_training_cases(cases: Dataset, path: str | Path, about: Mapping[str, Any]) -> Path:
    """Write text, label, functionality and id of the cases as CSV, and `about` them as JSON beside it.

    Texts stand there as a model must see them, so one that begins like a formula is a formula to a spreadsheet.
    """
    path = Path(path)
    refuse_foreign(path, SAMPLE_KEYS)
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(WRITTEN)
        for columns in cases.batches(*WRITTEN):
            for row in zip(*columns, strict=True):
                write_row(row)
    write_json(twin_of(path, SAMPLE_KEYS), {**about, "cases": len(cases), "csv_sha256": sha256_of(path)})
    return path


def _of_model(failures: Sequence[Failure], model: str | None) -> list[Failure]:
    models = list(dict.fromkeys(each.model for each in failures))
    if not models:
        raise InputError("there are no failed cases to draw from")
    if model is None and len(models) > 1:
        raise InputError(
            "the failures are of several models", expected=f"one of {some(models, 20)}", fix="--model NAME"
        )
    if model is not None and model not in models:
        raise UnknownNameError.of("model with failed cases", model, models)
    return [each for each in failures if model in (None, each.model)]


def _rows(suite: Dataset, failures: Sequence[Failure]) -> Codes:
    """Rows of the failed cases; refuses failures on another suite."""
    place = {name: row for row, name in enumerate(suite.ids.to_pylist())}
    names = suite.label_names
    strange = [
        each.id for each in failures if each.id not in place or names[suite.labels[place[each.id]]] != each.label
    ]
    if strange:
        raise MismatchError(
            f"{len(strange)} failed cases are not in {suite.name}, or have another label there",
            got=f"ids {some(strange)}",
            fix="name the suite that was checked",
        )
    return np.array(sorted({place[each.id] for each in failures}), dtype=np.intp)


def _judged(suite: Dataset, rows: Codes) -> Codes:
    """Those of the rows whose label is right or wrong by itself."""
    if "kind" not in suite.attributes:
        return rows
    kinds = suite.attribute("kind").to_pylist()
    kept = np.array([row for row in rows.tolist() if kinds[row] in (None, KINDS[0])], dtype=np.intp)
    if not len(kept):
        raise InputError("no failed case is judged by its label", expected="failed cases of the kind functional")
    if len(kept) < len(rows):
        said = f"{len(rows) - len(kept)} failed invariance and directional cases are left out: training needs labels"
        warnings.warn(said, UnseenWarning, stacklevel=3)
    return kept


def _drawn(ids: Sequence[str], rows: Codes, number: int, functionality: str, seed: int) -> Codes:
    ordered = np.array(sorted(rows.tolist(), key=lambda row: ids[row]), dtype=np.intp)
    return generator(seed, "failures", functionality).permutation(ordered)[:number]
