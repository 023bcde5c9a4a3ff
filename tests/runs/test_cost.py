"""Models trained and asked in fresh processes: what they cost beside what they score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from finished_runs import post
from learning_suite import small_suite
from tiny_transformer import write_transformer
from unseen.errors import InputError
from unseen.reports.record import RunRecord
from unseen.runs import cost_steps
from unseen.runs.cost import CostSetting, budget_of, in_words_of_suite, is_trained, plan_cost, settled
from unseen.runs.cost_page import CostRecord
from unseen.runs.cost_steps import LONGEST, SHARE, Candidate, cost_rows, tried_texts
from unseen.types import Dataset, Measurement, Origin, Predictions

NUMBERS = {
    "training": {"processor_seconds": 4.0, "peak_memory": 3e9, "seconds": 5.0,
                 "energy": {"joules": None, "idle": None, "low": 8.0, "high": 60.0, "source": "guess"}},
    "speed.training": [10.0, 30.0, 20.0],
    "inference": {"processor_seconds": 1.0, "peak_memory": 1e9, "seconds": 1.0,
                  "energy": {"joules": 50.0, "idle": 20.0, "low": None, "high": None, "source": "RAPL 0"}},
    "texts": 500, "speed.inference": {"1": [5.0] * 3, "32": [100.0] * 3}, "batches": {"32": 16.0},
    "latency": {"95": [0.2, 0.1, 0.3]}, "memory.inference": [1e9], "operations.inference": 12.0,
    "tokens.inference": [20.0, 25.0],
}  # fmt: skip


@pytest.fixture(scope="module")
def posts() -> Dataset:
    return unseen.load([dict(zip(("id", "text", "label"), post(number), strict=False)) for number in range(120)])


def by_metric(rows: list[Measurement]) -> dict[str, Measurement]:
    return {row.metric: row for row in rows if "asked_at_once" not in row.tags}


def test_measured_and_estimated_numbers_have_other_names() -> None:
    rows = by_metric(cost_rows(Candidate("m", "m", batch=8), NUMBERS, {}, 20.0))
    assert rows["speed.training"].value == 20
    assert (rows["speed.training"].low, rows["speed.training"].high) == (15, 25)
    assert rows["latency.p95"].value == 0.2
    assert rows["processor_seconds.inference"].value == 2.0  # of 1,000 texts
    assert "energy.training" not in rows
    estimate = rows["energy_estimate.training"]
    assert (estimate.value, estimate.low, estimate.high) == (None, 8, 60)
    assert rows["energy.inference"].value == 100
    assert rows["energy.inference"].tags["idle"] == 40
    assert "energy_estimate.inference" not in rows
    assert (rows["batch.training"].value, rows["batch.inference"].value) == (8, 16)
    assert rows["tokens.padded"].tags["phase"] == "inference"


def test_a_price_is_a_number_by_calls_and_a_range_by_tokens() -> None:
    far = Candidate("far", "far", place="https://example.org/x", opening={"batch": 4})
    rows = by_metric(cost_rows(far, NUMBERS, {"call": 0.01, "tokens": 0.5}, 20.0))
    assert rows["money.inference"].value == 2.5
    assert (rows["money_estimate.inference"].low, rows["money_estimate.inference"].high) == (10, 20)
    assert rows["money_estimate.inference"].value is None
    assert "processor_seconds.inference" not in rows  # another machine does the work
    assert "energy.inference" not in rows


def test_a_run_measures_what_was_trained_and_what_is_asked(posts: Dataset, tmp_path: Path) -> None:
    unseen.train(posts, "logistic", C=1).save(tmp_path / "model")
    models = {"trained": "logistic", "there": tmp_path / "model"}
    given: dict[str, Any] = {"params": {"trained": {"C": 1}}, "texts": 10, "out": tmp_path / "run"}
    result = unseen.cost(posts, models, gates=["latency.p95<=60s", "memory.training<=50GB"], **given)
    assert result.passed
    for name in models:
        for metric in ("latency.p50", "latency.p99", "speed.inference", "memory.inference", "operations.inference"):
            assert (result.value(metric, model=name) or 0) > 0
    assert (result.value("speed.training", model="trained") or 0) > 0
    assert result.row("speed.training", model="there") is None
    assert result.row("f1.macro", model="there", view="hard") is None
    assert result.value("f1.macro", model="trained", view="hard") is not None
    trained, there = (result.value("operations.inference", model=name) for name in models)
    assert trained == pytest.approx(there, rel=0.5)
    keys = sorted(path.name for path in (tmp_path / "run" / ".steps").iterdir())
    again = unseen.cost(posts, models, **given)
    assert [row.value for row in again.measurements] == [row.value for row in result.measurements]
    assert sorted(path.name for path in (tmp_path / "run" / ".steps").iterdir()) == keys


def test_the_score_is_that_of_an_ordinary_training(posts: Dataset) -> None:
    split = unseen.split(posts, "random", test=0.3, dev=0.1, seed=7)
    result = unseen.cost(posts, ["logistic"], params={"logistic": {"C": 1}}, split=split, hard="none", texts=5, seed=7)
    train, dev = (posts.take(split.rows(part)) for part in ("train", "dev"))
    model = unseen.train(train, "logistic", dev=dev, C=1, seed=7)
    (row,) = unseen.score(posts.take(split.rows("test")), unseen.predict(posts.take(split.rows("test")), model),
                          metrics=["f1.macro"])  # fmt: skip
    assert result.value("f1.macro", model="logistic", view="ordinary") == pytest.approx(row.value)


def test_lengths_and_batches_are_candidates(posts: Dataset, tmp_path: Path) -> None:
    folder = write_transformer(tmp_path / "bert", ["rain"])
    models = {"bert": str(folder), "logistic": "logistic"}
    named = [one.name for one in settled(posts, models, lengths=[4, 8], batches=[8], hard="none").candidates]
    assert named == [
        "bert (4 tokens)", "bert (4 tokens, batch 8)", "bert (8 tokens)", "bert (8 tokens, batch 8)", "logistic",
    ]  # fmt: skip
    long = settled(posts, models, lengths=[4, 8], hard="none").candidates[1].model
    assert long is not None
    assert long.outline.settings.max_tokens == 8


def test_with_a_budget_each_trains_with_the_largest_batch(
    posts: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(work: Any, *arguments: Any) -> Any:
        """A peak of known size; everything else is done in this process."""
        return SHARE * (1e9 + 1e7 * arguments[2]) if work is cost_steps.peak_of_training else work(*arguments)

    monkeypatch.setattr(cost_steps, "in_fresh_process", here)
    result = unseen.cost(
        posts, ["neural"], params={"neural": {"epochs": 1}}, budget="memory=1.2GB", batches=[4], texts=4, hard="none",
        out=tmp_path / "run",
    )  # fmt: skip
    assert {row.tags["model"]: row.value for row in result.measurements if row.metric == "batch.training"} == {
        "neural (batch 20)": 20, "neural (batch 4)": 4,
    }  # fmt: skip
    assert len(result.tables["batches"].rows) == 2
    planned = plan_cost(posts, ["neural"], budget="memory=1.2GB", batches=[64], hard="none")
    assert planned.candidates == ("neural (largest batch)", "neural")  # 64 is neural's own
    assert "trains with batches of 20; the budget sets the limit" in str([one.message for one in result.findings])
    with pytest.raises(InputError, match="no model fits"):
        unseen.cost(posts, ["neural"], budget=1e6, hard="none")


@pytest.mark.parametrize(("texts", "batch", "tried"), [(1_000, 4, 128), (1_000, 256, 1_000), (40, 4, 40), (5, 8, 5)])
def test_a_batch_is_tried_with_the_longest_texts_and_some_of_every_length(texts: int, batch: int, tried: int) -> None:
    longest, others = tried_texts(texts, batch)
    both = np.concatenate([longest, others])
    assert longest.tolist() == list(range(min(texts, LONGEST * batch)))
    assert len(np.unique(both)) == len(both) == tried
    assert both.max() == texts - 1  # down to the shortest


def test_a_suite_is_asked_in_its_own_words(posts: Dataset) -> None:
    suite = small_suite(2)
    ours = Predictions(suite.ids, np.tile([0.2, 0.3, 0.5], (len(suite), 1)), ("a", "b", "c"), Origin("x", {}))
    fine, rude = suite.label_names
    renamed = in_words_of_suite(ours, suite, {"a": fine, "b": rude, "c": fine})
    assert renamed.probabilities[0].tolist() == pytest.approx([0.7, 0.3])
    words = {"calm": fine, "loud": rude}
    result = unseen.cost(posts, ["logistic"], suite=suite, suite_map=words, hard="none", texts=4)
    assert result.value("pass_rate", view="suite") is not None
    with pytest.raises(InputError, match="not those of the suite"):
        unseen.cost(posts, ["logistic"], suite=suite)


def test_what_is_trained_and_what_is_asked(tmp_path: Path) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(LogisticRegression())
    assert is_trained("logistic")
    assert is_trained("minilm")
    assert is_trained(write_transformer(tmp_path / "bert", ["rain"]))
    assert is_trained(pipeline)
    assert not is_trained(pipeline.fit([[0.0], [1.0]], [0, 1]))
    assert not is_trained("https://example.org/classify")
    assert not is_trained("model.skops")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"lengths": [64]}, "lengths have no effect"),
        ({"batches": [4]}, "no model has a batch"),
        ({"repeats": 2}, "at least 3"),
        ({"price": {"call": 1.0}}, "without an endpoint"),
        ({"price": {"calls": 1.0}}, "did you mean 'call'"),
        ({"price": {"call": -1.0}}, "0 or more"),
        ({"suite_map": {"calm": "x"}}, "without a suite"),
        ({"params": {"svm": {"C": 1}}}, "no model: svm"),
        ({"budget": "time=3s"}, "memory=2GB"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(posts: Dataset, given: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        settled(posts, ["logistic"], **given)


def test_a_budget_is_bytes() -> None:
    assert budget_of("memory=2GB") == budget_of("2GB") == budget_of(2e9) == 2e9
    assert budget_of(None) is None


def test_a_plan_counts_trainings_and_what_an_endpoint_is_asked(posts: Dataset) -> None:
    models = {"logistic": "logistic", "far": "https://example.org/x"}
    planned = plan_cost(posts, models, trainings=2, texts=10)
    assert planned.candidates == ("logistic", "far")
    assert (planned.trainings, planned.done) == (4, 0)
    assert planned.asked == {"far": 10 * (4 * 4 + 2) + 10 * 3 + 24}
    assert isinstance(settled(posts, models), CostSetting)


def test_costs_that_count_as_equal_are_told_apart_by_the_score() -> None:
    def row(model: str, seconds: float, score: float) -> list[Measurement]:
        own = {"model": model}
        return [Measurement("latency.p50", seconds, 3, tags=own),
                Measurement("f1.macro", score, 9, tags={**own, "view": "ordinary"})]  # fmt: skip

    rows = [*row("a", 1.0, 0.5), *row("b", 1.2, 0.6), *row("c", 2.0, 0.9)]
    costs = CostRecord(RunRecord({"kind": "cost"}, rows))
    assert costs.cheapest(["a", "b", "c"], "latency.p50") == "b"
    assert costs.cheapest(["a", "c"], "latency.p50") == "a"
    assert costs.cheapest([], "latency.p50") is None
