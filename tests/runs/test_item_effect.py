"""What cleaning by rules does to a score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiny_data import build
from unseen import api
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.metrics import metric
from unseen.runs import experiment
from unseen.runs.experiment import answers
from unseen.runs.frame import Result, report
from unseen.runs.item_effect import ItemEffectPlan, ItemEffectSettings, degenerate, item_effect, sameness
from unseen.runs.spaces import Model
from unseen.store import read_findings, read_json, read_measurements
from unseen.store.results import Results
from unseen.types import Dataset, Measurement

LIGHT: dict[str, Any] = {"packs": ("scrape-noise",), "trainings": 2, "metrics": ("accuracy",)}
TOPICS = {"calm": ("sea", "tea", "bed", "book"), "loud": ("drum", "horn", "yell", "bang")}


def noisy(n: int = 400) -> Dataset:
    """Two easy topics; most texts are short and say the words of the other label."""
    draw = np.random.default_rng(3)
    labels = ["calm" if row % 2 else "loud" for row in range(n)]
    texts = []
    for row, label in enumerate(labels):
        wrong = row % 5 < 4
        topic = TOPICS["loud" if (label == "calm") == wrong else "calm"]
        texts.append(" ".join(draw.choice(topic, 3 if wrong else 4)))
    return build([f"{row:03}" for row in range(n)], texts, labels, ("calm", "loud"), user=[row % 7 for row in range(n)])


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    out = tmp_path_factory.mktemp("effect") / "out"
    return item_effect(noisy(), **LIGHT, out=out), out


def values(rows: tuple[Measurement, ...], name: str) -> dict[tuple[object, ...], Measurement]:
    return {(row.tags["train"], row.tags.get("than"), row.tags["test"]): row for row in rows if row.metric == name}


def test_cleaning_away_wrong_labels_beats_losing_as_many_rows(done: tuple[Result, Path]) -> None:
    differences = values(done[0].measurements, "difference.accuracy")
    helped = differences["cleaned", "random", "cleaned"]
    assert helped.low is not None
    assert helped.low > 0
    scores = values(done[0].measurements, "accuracy")
    assert scores["cleaned", None, "cleaned"].value == 1.0
    said = {each.check: each for each in done[0].findings}
    assert "cleaning helps" in said["items.effect[cleaned]"].message
    assert said["items.effect[original]"].level in ("ok", "warn")
    assert said["items.seeds"].level == "warn"


def test_scores_are_those_of_the_arms(tmp_path: Path) -> None:
    data = noisy()
    split = api.split(data, "random", test=0.2, dev=0.1, seed=42)
    flagged = np.array([len(text.split()) <= 3 for text in data.texts.to_pylist()])
    plan = ItemEffectPlan(data, split, flagged, ItemEffectSettings(**LIGHT))
    said = answers(plan.arms, Model("logistic"), Results(tmp_path))
    found = values(item_effect(data, split, **LIGHT).measurements, "accuracy")
    for kind in ("original", "cleaned", "random"):
        for test in ("original", "cleaned"):
            rows = plan.rows("test", test)
            place = {name: row for row, name in enumerate(data.take(split.rows("test")).ids.to_pylist())}
            at = [place[name] for name in data.take(rows).ids.to_pylist()]
            names = [name for name in said if name.startswith(kind)]
            assert len(names) == (20 if kind == "random" else 2)
            answered = [said[name]["test"].probabilities[at] for name in names]
            each = [metric("accuracy")(data.labels[rows], p, data.label_names) for p in answered]
            assert found[kind, None, test].value == pytest.approx(np.mean(each))  # type: ignore[arg-type]


def test_random_removal_takes_as_many_rows_and_others_for_each_seed() -> None:
    data = noisy()
    split = api.split(data, "random", test=0.2, dev=0.1, seed=42)
    plan = ItemEffectPlan(data, split, np.arange(len(data)) % 3 == 0, ItemEffectSettings(**LIGHT))
    for part in ("train", "dev"):
        cleaned, one, other = (plan.rows(part, *kind) for kind in (("cleaned",), ("random", 1), ("random", 2)))
        assert len(cleaned) == len(one) == len(other) < len(plan.rows(part, "original"))
        assert set(one) <= set(plan.rows(part, "original"))
        assert set(one) != set(other)
        assert plan.rows(part, "random", 1).tolist() == one.tolist()
        assert not plan.flagged[cleaned].any()
        assert plan.flagged[one].any()
        assert set(plan.rows(part, "random", 1, 2)) != set(one)


def test_random_removal_takes_rows_of_the_same_labels() -> None:
    data = noisy()
    split = api.split(data, "random", test=0.2, dev=0.1, seed=42)
    plan = ItemEffectPlan(
        data, split, (data.labels == 0) & (np.arange(len(data)) % 3 == 0), ItemEffectSettings(**LIGHT)
    )
    for part in ("train", "dev"):
        cleaned, random = (data.take(plan.rows(part, kind, 1)).label_counts for kind in ("cleaned", "random"))
        assert cleaned == random
        assert random["calm"] < random["loud"]


def test_few_random_removals_are_said_to_be_few(done: tuple[Result, Path]) -> None:
    few = item_effect(noisy(), **LIGHT, repeats=1)
    said = {each.check: each.message for each in few.findings}
    assert "rests on 2 random removals" in said["items.effect[original]"]
    said = {each.check: each.message for each in done[0].findings}
    assert "of random removals" in said["items.effect[original]"]
    assert "of the same labels" in said["items.effect[original]"]


def test_the_folder_tells_all_of_it(done: tuple[Result, Path]) -> None:
    effect, out = done
    assert read_json(out / "run.json")["kind"] == "item-effect"
    about = read_json(out / "run.json")
    assert about["finished"]
    assert len(read_measurements(out / "measurements.csv")) == len(effect.measurements)
    assert len(read_findings(out / "findings.csv")) == len(effect.findings)
    assert (out / "flags.csv").is_file()
    page = (out / "report.html").read_text()
    assert "as many random rows left out" in page
    assert "drum" not in page
    (out / "report.html").unlink()
    assert report(out).report.read_text() == page  # type: ignore[union-attr]
    assert {path.stem for path in (out / "tables").glob("*.csv")} == {"scores", "differences", "rules", "answers"}


def test_a_second_run_trains_nothing(done: tuple[Result, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(here: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(experiment, "train", refuse)
    again = item_effect(noisy(), **LIGHT, out=done[1])
    assert again.measurements == done[0].measurements


def test_the_order_of_rows_decides_nothing(done: tuple[Result, Path]) -> None:
    data = noisy()
    turned = item_effect(data.take(np.random.default_rng(1).permutation(len(data))), **LIGHT)
    ours = [(row.metric, row.slice, row.value, row.low) for row in done[0].measurements]
    assert [(row.metric, row.slice, row.value, row.low) for row in turned.measurements] == ours


def test_a_split_without_validation_rows_gets_some() -> None:
    data = noisy()
    split = api.split(data, "random", test=0.2, seed=1)
    found = item_effect(data, split, **LIGHT, groups="user")
    sizes = {(row.tags["part"], row.tags["kind"]): row.value for row in found.measurements if row.metric == "rows"}
    assert sizes["train", "original"] + sizes["dev", "original"] == split.sizes["train"]  # type: ignore[operator]
    assert sizes["test", "original"] == split.sizes["test"]


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"trainings": 1}, InputError, "several"),
        ({"repeats": 0}, InputError, "at least 1"),
        ({"metrics": ()}, InputError, "no metric"),
        ({"metrics": ("f1[red]",)}, UnknownNameError, "red"),
        ({"packs": (f"{__name__}:nothing",)}, InputError, "no training row is flagged"),
        ({"votes": 9}, InputError, "threshold"),
        ({"groups": "town"}, UnknownNameError, "town"),
        ({"model": "logistik"}, UnknownNameError, "logistic"),
        ({"packs": (f"{__name__}:everything_calm",)}, InputError, "leaves no row of calm"),
    ],
)
def test_nothing_is_written_on_wrong_input(
    settings: dict[str, object], error: type[Exception], said: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"packs": ("scrape-noise",), "trainings": 2} | settings
    with pytest.raises(error, match=said):
        item_effect(noisy(), **given, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def nothing(texts: list[str]) -> list[bool]:
    return [False] * len(texts)


def everything_calm(texts: list[str]) -> list[bool]:
    return [any(word in text for word in TOPICS["calm"]) or len(text.split()) < 4 for text in texts]


def test_models_that_answer_alike_are_named() -> None:
    alike = np.tile([0.4, 0.6], (10, 1))
    apart = np.stack([np.linspace(0, 1, 10), 1 - np.linspace(0, 1, 10)], axis=1)
    rows = sameness([alike, apart], {"train": "a", "test": "original"})
    assert [row.value for row in rows] == [(1.0 + 0.1) / 2, (1.0 + 0.5) / 2]
    rows = sameness([alike], {"train": "a", "test": "original"}) + sameness([apart], {"train": "b", "test": "original"})
    assert degenerate(rows, ["b"], 0.5).level == "ok"
    found = degenerate(rows, ["a", "b"], 0.5)
    assert found.level == "warn"
    assert "a: 100.0 % identical answers" in found.message
    assert "b:" not in found.message
