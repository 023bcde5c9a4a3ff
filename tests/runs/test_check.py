"""Models on a suite, from asking to the report."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from unseen.errors import InputError, UnseenError
from unseen.functional import as_suite
from unseen.reports.behaviour import behaviours
from unseen.runs.check import CheckedModel, check
from unseen.store import read_measurements, read_predictions
from unseen.types import Dataset

Builder = Callable[..., Dataset]


class Shouting:
    """Says that everything in capitals is bad."""

    classes_ = ("fine", "bad", "worse")

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """The same for all texts of a case."""
        return np.array([[0.1, 0.5, 0.4] if text.isupper() else [0.8, 0.1, 0.1] for text in texts])


MAP = {"fine": "no", "bad": "yes", "worse": "yes"}


@pytest.fixture
def suite(tiny: Builder) -> Dataset:
    return as_suite(
        tiny(
            ids=list("abcdef"), texts=["GO", "AWAY", "go away", "hello", "HELLO", "=1+1 <b>hi</b>"],
            labels=["yes", "yes", "yes", "no", "no", "no"],
            functionality=["insult_loud", "insult_loud", "insult_quiet", "greet_plain", "greet_loud", "greet_plain"],
            template=list("112345"), target=["cooks", "waiters", "cooks", None, None, None],
        )
    )  # fmt: skip


def test_models_and_predictions_stand_side_by_side(suite: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "other.csv"
    file.write_text("id,score\n" + "\n".join(f"{each},0.6" for each in "abcdef"))
    asked = {"loud": CheckedModel(Shouting(), MAP), "api": CheckedModel(file, {"score": "yes"}, {"yes": 0.5})}
    done = check(asked, suite, out=tmp_path / "out", gates=["pass_rate where functionality=* >= 0.5", "pass_rate>=0.5"])
    (of,) = behaviours(done.measurements)
    assert of.models == ("loud", "api")
    rates = {(model, name): of.rate(name, model) for model in of.models for name in ("all", "functionality=greet_loud")}
    assert {key: row and row.value for key, row in rates.items()} == {
        ("loud", "all"): pytest.approx(4 / 6), ("loud", "functionality=greet_loud"): 0.0,
        ("api", "all"): 0.5, ("api", "functionality=greet_loud"): 0.0,
    }  # fmt: skip
    assert not done.passed
    failed = {outcome.place for outcome in done.gates if not outcome.passed}
    assert failed == {
        "functionality=greet_loud, loud", "functionality=insult_quiet, loud",
        "functionality=greet_loud, api", "functionality=greet_plain, api",
    }  # fmt: skip
    assert [outcome.place for outcome in done.gates if outcome.gate == "pass_rate>=0.5"] == ["loud", "api"]
    differences = [row for row in done.measurements if row.metric == "difference.pass_rate" and row.slice == "all"]
    assert [row.value for row in differences] == [pytest.approx(1 / 6)]


def test_the_folder_says_what_the_run_said(suite: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = check({"loud": CheckedModel(Shouting(), MAP)}, suite, out=out)
    back = read_measurements(out / "measurements.csv")
    assert [(row.metric, row.slice, row.value) for row in back] == [
        (row.metric, row.slice, row.value) for row in done.measurements
    ]
    assert len(read_predictions(out / "predictions" / "loud.parquet", suite).ids) == 6
    rows = list(csv.DictReader((out / "failures.csv").open(encoding="utf-8")))
    assert [(row["id"], row["label"], row["predicted"]) for row in rows] == [("c", "yes", "no"), ("e", "no", "yes")]
    assert "text" not in rows[0]
    assert (out / "tables" / "functionalities.md").read_text(encoding="utf-8").count("greet_loud") == 1
    assert done.report == out / "report.html"


def test_predictions_of_a_run_can_stand_for_the_model(suite: Dataset, tmp_path: Path) -> None:
    first = check({"loud": CheckedModel(Shouting(), MAP)}, suite, out=tmp_path / "a")
    second = check({"loud": CheckedModel(tmp_path / "a" / "predictions" / "loud.parquet")}, suite)
    assert first.measurements == second.measurements
    assert second.report is None


def test_texts_are_written_only_when_asked_for_and_then_harmless(suite: Dataset, tmp_path: Path) -> None:
    always = tmp_path / "always.csv"
    always.write_text("id,prediction\n" + "\n".join(f"{each},yes" for each in "abcdef"))
    check({"m": CheckedModel(always)}, suite, out=tmp_path / "out", texts=True)
    rows = {row["id"]: row for row in csv.DictReader((tmp_path / "out" / "failures.csv").open(encoding="utf-8"))}
    assert rows["f"]["text"] == "'=1+1 <b>hi</b>"


def test_labels_are_never_matched_silently(suite: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="labels of the classifier are not those of the data"):
        check({"loud": CheckedModel(Shouting())}, suite)
    with pytest.raises(InputError, match="no model"):
        check({}, suite)
    file = tmp_path / "p.csv"
    file.write_text("id,prediction\na,yes\n")
    with pytest.raises(InputError, match="trust has no effect"):
        check({"m": CheckedModel(file, opening={"trust": True})}, suite)


def test_a_gate_about_nothing_is_seen_before_a_model_is_asked(suite: Dataset) -> None:
    class Never(Shouting):
        def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
            raise AssertionError("asked")

    for gate, message in (
        ("pass_rate where functionality=greet_lout >= 0.5", "greet_lout"),
        ("pass_rate where model=n >= 0.5", "no slice of the suite is what 'pass_rate where model=n >= 0.5'"),
        ("pass_rate where town=* >= 0.5", "no slice"),
        ("pas_rate >= 0.5", "did you mean 'pass_rate'"),
        ("0.5", "is not a gate"),
    ):
        with pytest.raises(InputError, match=message):
            check({"m": CheckedModel(Never(), MAP)}, suite, gates=[gate])


def test_a_gate_about_slices_leaves_the_whole_alone(suite: Dataset) -> None:
    done = check({"loud": CheckedModel(Shouting(), MAP)}, suite, gates=["pass_rate where functionality=greet_* >= 0.1"])
    assert {outcome.place: outcome.passed for outcome in done.gates} == {
        "functionality=greet_loud": False, "functionality=greet_plain": True,
    }  # fmt: skip
    everywhere = check({"loud": CheckedModel(Shouting(), MAP)}, suite, gates=["pass_rate where functionality=* >= 0"])
    assert len(everywhere.gates) == 4
    assert all("functionality=" in outcome.place for outcome in everywhere.gates)


def test_functionalities_are_weighted_as_labels_are(suite: Dataset, tmp_path: Path) -> None:
    names = ["pass_rate.macro", "pass_rate.mix(greet_loud=0.5,greet_plain=0.5)", "pass_rate.macro(exclude=greet_loud)"]
    done = check(
        {"loud": CheckedModel(Shouting(), MAP)}, suite, metrics=names, out=tmp_path / "out",
        gates=["pass_rate.power( 1.0 ) >= 0.5", "pass_rate.macro>=0.6"],
    )  # fmt: skip
    # passed: both loud insults, no quiet one, both plain greetings, no loud one
    assert [done.value(name, model="loud") for name in names] == pytest.approx([2 / 4, 1 / 2, 2 / 3])
    assert done.value("pass_rate.power(1)", model="loud") == pytest.approx(done.value("pass_rate", model="loud"))
    assert [outcome.passed for outcome in done.gates] == [True, False]
    assert "all, weighted: macro" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("metric", "message"),
    [("pass_rate.micro", "no pass rate"), ("f1.macro", "no pass rate"), ("pass_rate.best", "macro"),
     ("pass_rate.mix(greet=1)", "greet_loud")],
)  # fmt: skip
def test_weightings_that_cannot_be(suite: Dataset, metric: str, message: str) -> None:
    with pytest.raises(UnseenError, match=message):
        check({"loud": CheckedModel(Shouting(), MAP)}, suite, metrics=[metric])


def test_mistakes_come_before_the_model_is_asked(suite: Dataset, tmp_path: Path) -> None:
    class Never(Shouting):
        def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
            raise AssertionError("asked")

    never = Never()
    for wrong in ({"yess": 0.5}, {"yes": 1.0}, {"yes": 0.5, "no": 0.5}):
        with pytest.raises(InputError):
            check({"m": CheckedModel(never, MAP, wrong)}, suite)
    with pytest.raises(InputError, match="tolerance"):
        check({"m": CheckedModel(never, MAP)}, suite, tolerance=2.0)
    with pytest.raises(InputError, match="anyway"):
        check({"m": CheckedModel(never, MAP)}, suite, slices=["target"])
    with pytest.raises(InputError, match="one name"):
        check({"a/b": CheckedModel(never, MAP), "a:b": CheckedModel(never, MAP)}, suite, out=tmp_path / "out")
    labels = tmp_path / "p.csv"
    labels.write_text("id,prediction\n" + "\n".join(f"{each},yes" for each in "abcdef"))
    with pytest.raises(InputError, match="no probabilities"):
        check({"m": CheckedModel(labels, threshold={"yes": 0.9})}, suite)


def test_a_folder_holds_one_check(suite: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "out"
    two = {"a": CheckedModel(Shouting(), MAP), "b": CheckedModel(Shouting(), MAP)}
    check(two, suite, out=out)
    assert (out / "tables" / "comparison.csv").exists()
    with pytest.raises(InputError, match="holds another run"):
        check({"a": two["a"]}, suite, out=out)
    check({"a": two["a"]}, suite, out=tmp_path / "other")
    assert (out / "tables" / "comparison.csv").exists()
    out = tmp_path / "other"
    assert [path.name for path in (out / "predictions").iterdir()] == ["a.parquet"]
    assert not (out / "tables" / "comparison.csv").exists()
