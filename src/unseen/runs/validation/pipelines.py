"""Published pipelines: which function a place names, and one form of it run on some folds as a step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from unseen.audits.pipelines import EXAMPLES
from unseen.engines import Workspace
from unseen.errors import InputError
from unseen.store import atomic
from unseen.store.results import Results
from unseen.types import PARTS, Certificate, Dataset, Split
from unseen.types.arrays import Floats, Rows

ASK = f"{__name__}:ask"
TESTED, PROBABILITIES = "rows.npy", "probabilities.npy"


class Fold(NamedTuple):
    """One division of rows: what may be learnt from and what is asked. Positions in the dataset at hand."""

    train: Rows
    test: Rows


def takes_folds(place: str) -> bool:
    """Whether a function is given the folds to test: `(data, folds, seed, …)`, not `(data, test, seed, …)`."""
    return "folds" in inspect.signature(function(place)).parameters


def function(place: str) -> Callable[..., Any]:
    """The function at `package.module:function`, or the built-in example of this name.

    One that is given a split is asked about each fold in turn, so that it takes folds like the others.
    """
    named = EXAMPLES.get(place)
    if not callable(named):
        raise InputError(f"{place!r} is no function", expected="package.module:function")
    return _asked_by_fold(named) if "split" in inspect.signature(named).parameters else named


def _asked_by_fold(run: Callable[..., Any]) -> Callable[..., Any]:
    """A pipeline `(data, split, seed, …)` that answers about every row, as one that is given folds."""

    def asked(data: Dataset, folds: Sequence[Fold], seed: int, **settings: Any) -> list[Any]:
        return [(test, run(data, _as_split(data, train, test), seed, **settings)[test]) for train, test in folds]

    signature = inspect.signature(run)
    parameters = [
        parameter.replace(name="folds") if name == "split" else parameter
        for name, parameter in signature.parameters.items()
    ]
    asked.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return asked


def _as_split(data: Dataset, train: Rows, test: Rows) -> Split:
    parts = np.full(len(data), PARTS.index("unused"), np.int8)
    parts[train], parts[test] = PARTS.index("train"), PARTS.index("test")
    clusters = np.full(len(data), -1, np.int32)
    return Split("fold", data.ids, parts, clusters, Certificate({}, {}), data.fingerprint)


def ask(here: Workspace) -> None:
    """Run one form of a pipeline on some folds; the rows tested and their probabilities are written down.

    The function is handed the rows of these folds and no others, so that it cannot learn from what a protocol
    leaves out.
    """
    folds: Sequence[Fold] = here.shared["folds"]
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    data = here.shared["pool"].take(rows)
    place, settings, seed = (here.settings[name] for name in ("function", "settings", "seed"))
    if here.settings["test"] is None:
        divided = [Fold(np.searchsorted(rows, fold.train), np.searchsorted(rows, fold.test)) for fold in folds]
        parts = list(function(place)(data, divided, seed, **settings))
        if [np.sort(tested).tolist() for tested, _ in parts] != [np.sort(fold.test).tolist() for fold in divided]:
            raise InputError("a pipeline has answered about other rows than the test rows of its folds")
        answers = tuple(map(np.concatenate, zip(*parts, strict=True)))
    else:
        answers = function(place)(data, here.settings["test"], seed, **settings)
    tested, probabilities = np.asarray(answers[0], np.intp), np.asarray(answers[1], np.float64)
    _check(tested, probabilities, data, place)
    for name, values in ((TESTED, rows[tested]), (PROBABILITIES, probabilities)):
        with atomic(here.folder / name) as path, path.open("wb") as file:
            np.save(file, values, allow_pickle=False)


def answers_of(key: str, results: Results) -> tuple[Rows, Floats]:
    """The rows that a finished step has tested, and their probabilities."""
    return np.load(results.folder(key) / TESTED), np.load(results.folder(key) / PROBABILITIES)


def _check(tested: Rows, probabilities: Floats, data: Dataset, place: str) -> None:
    shape = (len(tested), len(data.label_names))
    if probabilities.shape != shape or not len(tested) or not 0 <= tested.min() <= tested.max() < len(data):
        raise InputError(f"{place} gave answers of a wrong shape", expected=str(shape), got=str(probabilities.shape))
    if (probabilities < 0).any() or not np.allclose(probabilities.sum(axis=1), 1, atol=1e-3):
        raise InputError(f"{place} gave numbers that are no probabilities", expected="rows that sum to one")
