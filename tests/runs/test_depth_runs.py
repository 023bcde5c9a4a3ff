"""Runs of models that stop early: how deep they went stands in the report."""

from __future__ import annotations

from pathlib import Path

import pytest

import unseen
from tiny_data import build
from tiny_transformer import write_transformer
from unseen.reports.depth_section import depth_sections
from unseen.reports.points import points_of
from unseen.runs.check import CheckedModel, check
from unseen.types import Dataset, Measurement

CALM, LOUD = ["rain", "cloud", "leaf", "river"], ["drum", "horn", "crowd", "siren"]
SETTINGS = {"halting": "patience", "epochs": 2, "halting_epochs": 2, "batch": 8, "learning_rate": 3e-3, "threshold": 1}


def texts_of(number: int) -> Dataset:
    words = [CALM, LOUD]
    texts = [
        f"{words[row % 2][row % 4]} {words[row % 2][(row // 2) % 4]} {words[row % 2][row % 3]}" for row in range(number)
    ]
    labels = [("calm", "loud")[row % 2] for row in range(number)]
    return build([f"t{row}" for row in range(number)], texts, labels, ("calm", "loud"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_transformer(tmp_path_factory.mktemp("bert") / "bert", [*CALM, *LOUD]))


def test_a_check_says_how_deep_each_functionality_went_and_who_pays(encoder: str, tmp_path: Path) -> None:
    model = unseen.train(texts_of(96), "adaptive", encoder=encoder, **SETTINGS)
    model.save(tmp_path / "model")
    cases = texts_of(40)
    suite = build(
        cases.ids.to_pylist(), cases.texts.to_pylist(), [cases.label_names[code] for code in cases.labels],
        ("loud", "calm"), functionality=["F1" if row < 20 else "F2" for row in range(40)],
    )  # fmt: skip
    result = check({"ours": CheckedModel(str(tmp_path / "model"))}, suite, out=tmp_path / "out")
    row = result.row("depth.mean", "functionality=F2")
    assert row is not None
    assert 1 <= (row.value or 0) <= 2
    full = [row for row in result.measurements if row.metric == "depth.accuracy" and row.slice == "all"]
    assert {float(row.tags["budget"]) for row in full} == {0.25, 0.5, 0.75, 1.0}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Accuracy at a budget of layers" in page
    assert ">F2</td>" in page
    assert "functionality=F2" not in page


def test_a_stress_run_has_a_section_about_depth_and_points_know_their_layers(encoder: str, tmp_path: Path) -> None:
    data = texts_of(160)
    result = unseen.stress(
        data, model="adaptive", params={"encoder": encoder, "bottleneck": 4, **SETTINGS}, splits=["random"],
        seen_folds=0, workers=1, out=tmp_path / "out",
    )  # fmt: skip
    parts = {str(row.tags["part"]) for row in result.measurements if row.metric == "depth.mean"}
    assert parts >= {"test", "dev"}
    assert "Depth" in [section.heading for section in result.page.sections]
    assert "layers" in {column.name for column in points_of(result.record).columns}


def test_models_without_depth_have_no_section() -> None:
    assert depth_sections([Measurement("accuracy", 0.5, 10, tags={"part": "test"})]) == []
