"""`unseen study forecast`, from files to the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from made_up_scores import made_up_features, made_up_scores

from finished_runs import run_here
from unseen import forecast_scores
from unseen.forecasts.score_table import ScoreTable
from unseen.runs.score_forecast import against_means, best_configurations
from unseen.types import Measurement


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """scores.csv without a score of `k`, names.csv and pairs.csv with features, also of `k`."""
    monkeypatch.chdir(tmp_path)
    table, features = made_up_scores(), made_up_features()
    rows = zip(table.names.tolist(), table.targets.tolist(), table.scores.tolist(), strict=True)
    pairs = [(*pair, own["overlap"]) for pair, own in features.of_pair.items()]
    contents = {
        "scores.csv": [("configuration", "target", "score"), *(row for row in rows if row[1] != "k")],
        "names.csv": [("name", "size"), *((name, own["size"]) for name, own in features.of_name.items())],
        "pairs.csv": [("source", "target", "overlap"), *pairs],
    }  # fmt: skip
    for name, lines in contents.items():
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(lines)
    return tmp_path


def forecast(*words: str) -> tuple[int, str, str]:
    return run_here("study", "forecast", "scores.csv", *words, "--quiet")


FEATURES = ("--features", "names.csv", "--features", "pairs.csv", "--model", "group-lasso")


def test_a_target_is_forecast_with_an_interval_that_holds_its_score(files: Path) -> None:
    code, out, err = forecast(*FEATURES, "--target", "k", "--predict", "a=100", "-o", "out", "--json")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["measurements"] if row["metric"] == "forecast.score"]
    table = made_up_scores()
    truth = table.scores[(table.targets == "k") & (table.names == "a=100")][0]
    assert row["low"] <= truth <= row["high"]
    assert row["low"] < row["value"] < row["high"] <= 1
    report = (files / "out" / "report.html").read_text(encoding="utf-8")
    assert "expect" in report
    assert "same-configuration-mean" in report
    assert run_here("runs", "report", "out").code == 0


def test_the_best_configuration_is_named_with_those_that_cannot_be_told_apart(files: Path) -> None:
    code, out, _ = forecast(*FEATURES, "--target", "k")
    assert code == 0
    assert "Trained on" in out
    assert "others cannot be told apart from it" in out


def test_far_targets_and_amounts_have_no_forecast(files: Path) -> None:
    names = (files / "names.csv").read_text(encoding="utf-8").replace("k,", "k,900")
    (files / "names.csv").write_text(names, encoding="utf-8")
    _, out, _ = forecast(*FEATURES, "--target", "k", "--predict", "a=100")
    assert "No score can be forecast." in out
    assert "from any target that was seen" in out
    _, out, _ = forecast(*FEATURES, "--target", "j", "--predict", "a=1e9")
    assert "is more than the 1,000 that were ever trained on" in out


def test_a_gate_on_the_error_decides_the_exit_code(files: Path) -> None:
    gate = "forecast.error where model=group-lasso <= {}"
    assert forecast(*FEATURES, "--gate", gate.format("0.1"))[0] == 0
    assert forecast(*FEATURES, "--gate", gate.format("0.00001"))[0] == 1


def test_a_model_that_does_not_beat_the_means_says_so(files: Path) -> None:
    code, out, _ = forecast("--model", "global-mean")
    assert code == 0
    assert "(--model same-configuration-mean)" in out


def test_a_mean_is_compared_on_rows_of_which_both_say_something() -> None:
    known = ScoreTable(({"z": 9.0},) * 3, np.array([*"abc"]), np.zeros(3), np.full(3, "t"))
    left_out = {"own": np.array([0.1, 0.1, 0.9]), "global-mean": np.array([0.2, 0.2, np.nan])}
    finding = against_means(known, left_out, "own")
    assert finding.level == "ok"
    assert finding.message == "On targets that it has not seen own is off by 10 points, the global mean by 20."


def test_texts_give_features(files: Path) -> None:
    texts = [f"--features={name}={name}.txt.csv" for name in "abcdefghijkl"]
    for place, name in enumerate("abcdefghijkl"):
        lines = ["text", *(f"word{place} and word{place + more} in {name}" for more in range(5))]
        (files / f"{name}.txt.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, err = forecast(*texts, "--model", "group-lasso", "--target", "k", "--leave-out", "language")
    assert code == 0, err
    assert "group-lasso" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "group-lasso"), "needs features"),
        (("--model", "forest"), "no model of scores is called 'forest'"),
        (("--predict", "a=1"), "no effect without"),
        ((*FEATURES, "--target", "zz"), "'zz' has none"),
        ((*FEATURES, "--target", "k", "--predict", "z=5"), "none of the sources"),
        ((*FEATURES, "--target", "k", "--predict", "z"), "is no configuration"),
        ((*FEATURES, "--leave-out", "rows"), "no way to leave a target out"),
        (("--features", "gone.csv"), "gone.csv"),
    ],
)
def test_mistakes_are_told(files: Path, words: tuple[str, ...], message: str) -> None:
    code, _, err = forecast(*words)
    assert code == 2
    assert message in err


def test_a_source_that_no_score_is_known_of_is_refused(files: Path) -> None:
    lines = (files / "scores.csv").read_text(encoding="utf-8") + "c=5,k,\n"
    (files / "scores.csv").write_text(lines, encoding="utf-8")
    code, _, err = forecast(*FEATURES)
    assert code == 2
    assert "'c' is none of the sources of the scores" in err


def test_configurations_whose_intervals_overlap_cannot_be_told_apart() -> None:
    rows = [
        Measurement("forecast.score", value, 9, low, high, "target=x", {"configuration": name, "task": "t"})
        for name, value, low, high in (("a", 0.5, 0.4, 0.6), ("b", 0.8, 0.7, 0.9), ("c", 0.6, 0.5, 0.7))
    ]
    (best,) = best_configurations([*rows, Measurement("forecast.score", None, 9, slice="target=y", tags={"task": "t"})])
    assert (best.name, best.others, best.alike) == ("b", 2, 1)


def test_scores_on_two_targets_are_too_few() -> None:
    table = made_up_scores()
    with pytest.raises(ValueError, match="several"):
        forecast_scores(table.take((table.targets == "a") | (table.targets == "b")), model="global-mean")
