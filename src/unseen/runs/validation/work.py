"""What is done in the steps of a validation study that run a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.engines import Workspace
from unseen.errors import InputError
from unseen.runs.validation.definition import function
from unseen.runs.validation.folds import Fold, Rows
from unseen.store import atomic
from unseen.types import Dataset

TESTED, PROBABILITIES = "rows.npy", "probabilities.npy"


def ask(here: Workspace) -> None:
    """Run one form of a pipeline on some folds; the rows tested and their probabilities are written down.

    The function is handed the rows of these folds and no others, so that it cannot learn from what a protocol
    leaves out.
    """
    folds: Sequence[Fold] = here.shared["folds"]
    pool: Dataset = here.shared["pool"]
    rows = np.unique(np.concatenate([part for fold in folds for part in (fold.train, fold.test)]))
    data = pool.take(rows)
    run, settings, seed = function(here.settings["function"]), here.settings["settings"], here.settings["seed"]
    if here.settings["test"] is None:
        divided = [(np.searchsorted(rows, fold.train), np.searchsorted(rows, fold.test)) for fold in folds]
        parts = list(run(data, divided, seed, **settings))
        tested, said = _joined(parts, divided)
    else:
        tested, said = run(data, here.settings["test"], seed, **settings)
    tested, said = np.asarray(tested, np.intp), np.asarray(said, np.float64)
    _check(tested, said, data, here.settings["function"])
    for name, values in ((TESTED, rows[tested]), (PROBABILITIES, said)):
        with atomic(here.folder / name) as path, path.open("wb") as file:
            np.save(file, values, allow_pickle=False)


def _joined(parts: Sequence[Any], divided: Sequence[tuple[Rows, Rows]]) -> tuple[Rows, npt.NDArray[np.float64]]:
    """The answers of all folds; refuses those of other rows than were asked."""
    found = [(np.asarray(tested, np.intp), np.asarray(said, np.float64)) for tested, said in parts]
    asked = [np.sort(test).tolist() for _, test in divided]
    if [np.sort(tested).tolist() for tested, _ in found] != asked:
        raise InputError("a pipeline has answered about other rows than the test rows of its folds")
    return np.concatenate([tested for tested, _ in found]), np.concatenate([said for _, said in found])


def _check(tested: Rows, said: npt.NDArray[np.float64], data: Dataset, place: str) -> None:
    shape = (len(tested), len(data.label_names))
    if said.shape != shape or not len(tested) or not 0 <= tested.min() <= tested.max() < len(data):
        raise InputError(f"{place} gave answers of a wrong shape", expected=str(shape), got=str(said.shape))
    if (said < 0).any() or not np.allclose(said.sum(axis=1), 1, atol=1e-3):
        raise InputError(f"{place} gave numbers that are no probabilities", expected="rows that sum to one")
