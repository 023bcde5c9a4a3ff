"""The main job with a suite beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import own_estimators
import pyarrow.parquet as pq
import pytest

import unseen
from unseen.data.sample import sample_corpus
from unseen.errors import InputError, MismatchError
from unseen.functional import load_suite
from unseen.models import open_model
from unseen.reports.behaviour import behaviours
from unseen.runs.stress import stress
from unseen.store import read_measurements, read_predictions
from unseen.types.numbers import percent

CASES = """functionality,id,text,label,template
thanks_plain,1,thank you so much for the quick help,good,1
thanks_plain,2,many thanks it works perfectly,good,2
broken_plain,3,it is broken again and nobody answers,other,3
broken_plain,4,this is the third time it fails,other,4
"""
MAP = {"praise": "good", "*": "other"}
GIVEN: dict[str, Any] = {
    "random_splits": 1, "splits": ["random", "closest"], "seeds": [42], "seen_folds": 0, "space_seeds": 0,
}  # fmt: skip


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.csv"
    path.write_text(CASES, encoding="utf-8")
    return path


@pytest.mark.parametrize("model", ["neural", "logistic"])
def test_the_model_of_a_run_is_asked_about_a_suite(model: str, cases: Path, tmp_path: Path) -> None:
    params = {"epochs": 3} if model == "neural" else {}
    out = tmp_path / "run"
    done = stress(sample_corpus(240), model=model, out=out, params=params, suite=str(cases), suite_map=MAP, **GIVEN)
    (of,) = behaviours(read_measurements(out / "measurements.csv"))
    suite = load_suite(cases)
    asked = read_predictions(out / "predictions" / "suite.parquet", suite)
    right = (asked.probabilities.argmax(axis=1) == suite.labels).mean()
    overall = of.rate("all", model)
    assert overall is not None
    assert (overall.value, overall.n) == (right, 4)
    assert f"{model} passes {percent(right)} of the 4 cases of cases" in str(done.verdict)
    assert str(of.rate("all", model, "failures_explained").tags["sentence"]) in str(done.verdict)  # type: ignore[union-attr]
    if model == "neural":  # the model that gave the vectors, not another one
        kept = open_model(out / "models" / "representation", rename=MAP)
        assert asked.probabilities == pytest.approx(unseen.predict(suite, kept).probabilities)
    assert "What it passes of a suite" in (out / "report.html").read_text(encoding="utf-8")
    assert "case of cases" not in pq.read_schema(out / "texts.parquet").names  # none of them stands in the data


@pytest.mark.parametrize("model", ["own_estimators:words", own_estimators.Counting()], ids=["factory", "object"])
def test_a_model_that_cannot_be_saved_is_asked_too(model: Any, cases: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    stress(sample_corpus(240), model=model, out=out, suite=str(cases), suite_map=MAP, **GIVEN)
    assert behaviours(read_measurements(out / "measurements.csv"))


def test_mistakes_come_before_any_training(cases: Path, tmp_path: Path) -> None:
    with pytest.raises(MismatchError, match="--map"):
        stress(sample_corpus(120), model="logistic", out=tmp_path / "run", suite=str(cases))
    with pytest.raises(InputError, match="no effect without a suite"):
        stress(sample_corpus(120), model="logistic", out=tmp_path / "run", suite_map=MAP)
    assert not (tmp_path / "run").exists()
