"""`unseen audit-pipeline` from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unseen.store import read_findings

Run = Callable[..., Any]
MINE = """
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

model = make_pipeline(TfidfVectorizer(), LogisticRegression())


def notebook(data, split, seed):
    return model.fit(data.texts.to_pylist(), data.labels)


def careful(data, split, seed, strength=1.0):
    train = split.rows("train")
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=strength)).fit(
        data.take(train).texts.to_pylist(), data.labels[train]
    )
"""


def test_a_leaking_example_fails_and_its_corrected_form_passes(folder: Path, unseen: Run) -> None:
    leaking = unseen("audit", "pipeline", "words-chosen-on-all-data", "posts.csv", "--parts", "part", "-q")
    assert (leaking.code, leaking.err) == (1, "")
    assert "fail     pipeline.test_labels  the labels of" in leaking.out
    assert "2 experiments prove that test rows are used.\n" in leaking.out
    assert leaking.out.endswith("gate FAILED: findings.fail<=0: 2\n")
    correct = unseen("audit", "pipeline", "words-chosen-in-training", "posts.csv")
    assert correct.code == 0
    assert correct.out.endswith("No experiment proves a leak.\ngate passed: findings.fail<=0: 0\n")
    assert "plan: 6 runs of words-chosen-in-training, 2 more if it does not repeat itself" in correct.err


def test_a_function_of_ones_own(folder: Path, unseen: Run) -> None:
    (folder / "minepipes.py").write_text(MINE)
    found = unseen("audit", "pipeline", "minepipes:notebook", "posts.csv", "--json", "-q")
    said = json.loads(found.out)
    assert (found.code, said["passed"]) == (1, False)
    levels = {each["check"]: each["level"] for each in said["findings"]}
    assert levels["pipeline.test_labels"] == levels["pipeline.planted"] == "fail"
    assert unseen("audit", "pipeline", "minepipes:careful", "posts.csv", "--set", "strength=3", "-q").code == 0
    assert unseen("audit", "pipeline", "minepipes:model", "posts.csv", "-q").code == 0


def test_a_pipeline_file_that_was_fitted_on_everything(folder: Path, unseen: Run) -> None:
    joblib = pytest.importorskip("joblib")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from unseen import load

    data = load("posts.csv")
    names = [data.label_names[code] for code in data.labels]
    joblib.dump(make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(data.texts.to_pylist(), names), "all.joblib")
    refused = unseen("audit", "pipeline", "all.joblib", "posts.csv", "--parts", "part")
    assert (refused.code, "runs any code" in refused.err) == (2, True)
    found = unseen("audit", "pipeline", "all.joblib", "posts.csv", "--parts", "part", "--trust", "-q")
    assert found.code == 1
    assert "fail     pipeline.refit" in found.out
    assert "fail     pipeline.vocabulary" in found.out


def test_the_folder_of_an_audit(folder: Path, unseen: Run) -> None:
    unseen("audit", "pipeline", "words-chosen-on-all-data", "posts.csv", "--parts", "part", "-q", "-o", "audited")
    about = json.loads(Path("audited/run.json").read_text())
    assert (about["kind"], about["pipeline"]) == ("pipeline-audit", "words-chosen-on-all-data")
    assert about["gates"] == [{"gate": "findings.fail<=0", "place": "", "value": 2, "passed": False}]
    assert about["split"]["name"] == "part"
    assert sum(about["split"]["sizes"].values()) == about["data"]["rows"]
    assert (about["shape"], about["planted"], about["settings"], about["seed"]) == ("protocol", None, {}, 42)
    assert about["experiments"][:2] == ["repeatable", "test_labels"]
    assert about["finished"]
    assert Path("audited/report.html").is_file()
    assert [each.check for each in read_findings("audited/findings.csv")][:2] == [
        "pipeline.repeatable",
        "pipeline.test_labels",
    ]
    assert "pipeline.changed_share" in Path("audited/measurements.csv").read_text()


def test_what_was_asked_is_written_down_before_the_work_begins(folder: Path, unseen: Run) -> None:
    (folder / "brokenpipes.py").write_text("def fit(data, seed, depth=1):\n    raise KeyError('no')\n")
    words = ["--set", "depth=3", "--planted", "30", "--seed", "7", "--experiment", "planted", "-q", "-o", "audited"]
    assert unseen("audit", "pipeline", "brokenpipes:fit", "posts.csv", *words).code == 2
    about = json.loads(Path("audited/run.json").read_text())
    assert (about["finished"], about["split"], about["shape"]) == (None, None, "own split")
    assert "gates" not in about
    assert (about["settings"], about["planted"], about["seed"]) == ({"depth": 3}, 30, 7)
    assert about["experiments"] == ["planted"]


def test_the_plan(folder: Path, unseen: Run) -> None:
    planned = unseen("audit", "pipeline", "logistic", "posts.csv", "--plan", "--json", "-q")
    assert json.loads(planned.out) == {
        "repeatable": 2,
        "vocabulary": 0,
        "captured_data": 0,
        "shuffled_training_labels": 7,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["words-chosen-in-trainin", "posts.csv"], "did you mean 'words-chosen-in-training'"),
        (["oversampled-in-training", "posts.csv", "--test", "0.1"], "--set test=0.15"),
        (["words-chosen-in-training", "posts.csv", "--parts", "part", "--test", "0.1"], "no effect with a split"),
        (["words-chosen-in-training", "posts.csv", "--trust"], "trust has no effect"),
        (["words-chosen-in-training", "posts.csv", "--experiment", "refit"], "cannot be tried"),
        (["oversampled-in-training", "posts.csv", "--parts", "part"], "a pipeline that makes its own"),
        (["no_such_module:fit", "posts.csv"], "cannot be imported"),
    ],
)
def test_wrong_usage(words: list[str], said: str, folder: Path, unseen: Run) -> None:
    answer = unseen("audit", "pipeline", *words, "-o", "audited")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert not Path("audited").exists()
