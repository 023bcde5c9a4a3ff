"""A fitted pipeline and its data in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import unseen
from unseen.errors import InputError, MismatchError

TEXTS = [f"{'rain and wind' if row % 2 else 'bread and soup'} number {row}" for row in range(80)]
LABELS = [("sky", "food")[row % 2 == 0 if row % 9 else row % 2] for row in range(80)]


def fitted(labels: Any = LABELS, model: Any = None) -> Any:
    return make_pipeline(TfidfVectorizer(), model or LogisticRegression()).fit(TEXTS, labels)


def test_its_scores_are_those_of_scikit_learn_and_have_intervals() -> None:
    pipeline = fitted()
    result = unseen.report(pipeline, TEXTS, LABELS)
    predicted = pipeline.predict(TEXTS)
    assert result.value("accuracy") == pytest.approx(accuracy_score(LABELS, predicted))
    assert result.value("f1.macro") == pytest.approx(f1_score(LABELS, predicted, average="macro"))
    assert result.value("log_loss") == pytest.approx(log_loss(LABELS, pipeline.predict_proba(TEXTS)))
    main = result.row("f1.macro")
    assert main is not None
    assert main.low is not None
    assert main.low < main.value < main.high
    assert result.verdict.headline.startswith("Macro F1 is ")
    assert result.verdict.level == "ok"
    assert {"scores", "labels", "calibration"} == result.tables.keys()
    assert "<table" in result._repr_html_()


@pytest.mark.parametrize("form", [list, np.array, pd.Series], ids=["list", "array", "series"])
def test_texts_and_labels_come_in_any_form(form: Any) -> None:
    codes = form([int(label == "sky") for label in LABELS])
    result = unseen.report(fitted(codes), form(TEXTS), codes)
    assert result.value("f1[1]") == pytest.approx(unseen.report(fitted(), TEXTS, LABELS).value("f1[sky]"))


def test_a_model_without_probabilities_has_no_calibration() -> None:
    result = unseen.report(fitted(model=LinearSVC()), TEXTS, LABELS)
    assert "calibration" not in result.tables
    assert "ece.15" not in {row.metric for row in result.measurements}


def test_a_folder_of_it_is_a_run_like_any(tmp_path: Path) -> None:
    result = unseen.report(fitted(), TEXTS, LABELS, name="posts", out=tmp_path / "run", gates=["f1.macro>=0.999"])
    assert (result.passed, result.verdict.level) == (False, "fail")
    assert (tmp_path / "run" / "predictions" / "answers.parquet").exists()
    again = unseen.report(tmp_path / "run")
    assert again.verdict == result.verdict
    assert "on posts" in again.report.read_text(encoding="utf-8")


def test_guessing_is_no_skill() -> None:
    rng = np.random.default_rng(0)
    noise = rng.choice(["a", "b"], 80)
    result = unseen.report(fitted(noise), TEXTS, rng.permutation(noise))
    assert result.verdict.level == "warn"


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"unseen\.report\(model, X, y\)"):
        unseen.report(fitted())
    with pytest.raises(InputError, match="80 texts and 79 labels"):
        unseen.report(fitted(), TEXTS, LABELS[:-1])
    with pytest.raises((InputError, MismatchError), match="moon"):
        unseen.report(fitted(), TEXTS, ["moon", *LABELS[1:]])
    with pytest.raises(InputError, match="does not hold a fitted classifier"):
        unseen.report(make_pipeline(TfidfVectorizer(), LogisticRegression()), TEXTS, LABELS)
    with pytest.raises(InputError, match="have no effect on a finished run"):
        unseen.report("run", TEXTS, LABELS)
