"""Models of the user's own in the main job: estimators as objects and at places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import own_estimators
import pytest

from unseen.data.sample import sample_corpus
from unseen.errors import InputError
from unseen.runs.stress import plan, stress
from unseen.store import read_json, read_measurements

QUICK: dict[str, Any] = {
    "random_splits": 1, "seeds": [1], "seen_folds": 0, "space_seeds": 0, "splits": ["random", "closest"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("model", "workers"),
    [(own_estimators.words(), 2), (own_estimators.Counting(), 1), ("own_estimators:words", 1)],
    ids=["scikit-learn", "any object", "factory"],
)
def test_an_estimator_goes_through_the_main_job(tmp_path: Path, model: Any, workers: int) -> None:
    data = sample_corpus(300)
    done = stress(data, model=model, out=tmp_path / "run", workers=workers, **QUICK)
    rows = read_measurements(tmp_path / "run" / "measurements.csv")
    assert {row.tags["family"] for row in rows if row.metric == "f1.macro"} >= {"random", "closest"}
    assert done.report.is_file()
    assert read_json(tmp_path / "run" / "run.json")["model"].partition("-")[0] in (
        "python:Pipeline", "python:Counting", "own_estimators:words",
    )  # fmt: skip
    again = plan(data, model=model, out=tmp_path / "run", **QUICK)
    assert again.done == again.trainings


def test_another_estimator_takes_up_no_results(tmp_path: Path) -> None:
    data = sample_corpus(300)
    stress(data, model=own_estimators.words(), out=tmp_path / "run", **QUICK)
    assert plan(data, model=own_estimators.words(C=2.0), out=tmp_path / "run", **QUICK).done == 0


def test_what_cannot_be_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a recipe"):
        stress(sample_corpus(300), model=object(), out=tmp_path / "run", **QUICK)
