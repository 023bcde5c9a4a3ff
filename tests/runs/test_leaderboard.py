"""Leaderboards from folders of predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

import unseen
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.metrics import metric
from unseen.types import Dataset

LABELS = ("no", "yes")


@pytest.fixture
def posts() -> Dataset:
    rows = [{"id": str(row), "text": f"text {row}", "label": LABELS[row % 3 == 0]} for row in range(120)]
    return unseen.load(rows, id="id", labels=list(LABELS), name="posts")


def answers(path: Path, data: Dataset, right: float, seed: int = 0, rows: int | None = None) -> None:
    draw = np.random.default_rng(seed)
    lines = ["id,no,yes"]
    for row in range(len(data) if rows is None else rows):
        truth = data.labels[row] if draw.random() < right else 1 - data.labels[row]
        yes = 0.8 if truth else 0.1
        lines.append(f"{row},{1 - yes},{yes}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_every_measure_is_computed_from_the_answers(posts: Dataset, tmp_path: Path) -> None:
    for seed in (1, 2):
        answers(tmp_path / "in" / f"good.seed-{seed}.csv", posts, 0.95, seed)
    answers(tmp_path / "in" / "poor.csv", posts, 0.6)
    result = unseen.leaderboard(tmp_path / "in", posts, out=tmp_path / "out")
    assert result.verdict.headline == "good leads by macro F1."
    row = result.record.row("f1.macro", data="posts", model="good")
    assert row is not None
    assert row.tags["seeds"] == 2
    given = np.loadtxt(tmp_path / "in" / "poor.csv", delimiter=",", skiprows=1)[:, 1:]
    for name in ("f1.macro", "log_loss"):
        expected = metric(name)(posts.labels, given, LABELS)
        assert result.record.value(name, data="posts", model="poor") == pytest.approx(expected)
    card = (tmp_path / "out" / "hub" / "good.md").read_text(encoding="utf-8").split("---")[1]
    (index,) = yaml.safe_load(card)["model-index"]
    assert index["name"] == "good"
    assert index["results"][0]["metrics"][0]["args"] == {"average": "macro"}
    assert {path.suffix for path in (tmp_path / "out" / "tables").iterdir()} == {".csv", ".md", ".tex"}


def test_a_model_that_answered_only_some_rows_is_left_out_and_named(posts: Dataset, tmp_path: Path) -> None:
    answers(tmp_path / "whole.csv", posts, 0.7)
    answers(tmp_path / "picked.csv", posts, 1.0, rows=60)
    result = unseen.leaderboard(tmp_path, posts)
    (finding,) = result.record.findings
    assert finding.level == "fail"
    assert "picked" in finding.message
    assert "60 of 120 rows have no prediction" in finding.message
    assert result.record.row("f1.macro", model="picked") is None
    assert result.verdict.headline.startswith("Only whole was tested")


def test_several_datasets_have_a_folder_each(posts: Dataset, tmp_path: Path) -> None:
    for name in ("one", "two"):
        answers(tmp_path / name / "a.csv", posts, 0.95, 1)
        answers(tmp_path / name / "b.csv", posts, 0.6, 2)
    result = unseen.leaderboard(tmp_path, {"one": posts, "two": posts}, reference="b")
    assert result.record.value("average_rank.f1.macro", model="a") == 1.0
    assert result.record.row("gain.relative.f1.macro", family="all", model="a") is not None


def test_equal_average_ranks_are_told_and_the_mean_score_decides_who_is_first(posts: Dataset, tmp_path: Path) -> None:
    for name, right in (("a", (0.6, 0.75)), ("b", (0.95, 0.7))):
        for data, share in zip(("one", "two"), right, strict=True):
            answers(tmp_path / data / f"{name}.csv", posts, share, 1)
    result = unseen.leaderboard(tmp_path, {"one": posts, "two": posts})
    assert result.verdict.headline == "b leads by macro F1, but not for certain."
    assert str(result.verdict).splitlines()[1].startswith("b, a share the best average rank, 1.50 [")


def test_labels_alone_have_no_log_loss(posts: Dataset, tmp_path: Path) -> None:
    lines = [f"{row},{LABELS[int(posts.labels[row])]}" for row in range(len(posts))]
    (tmp_path / "a.csv").write_text("id,prediction\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = unseen.leaderboard(tmp_path, posts)
    assert result.record.value("accuracy", model="a") == 1.0
    assert result.record.row("log_loss") is None


def test_what_cannot_be_a_leaderboard_is_refused(posts: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        unseen.leaderboard(tmp_path / "nowhere", posts)
    with pytest.raises(InputError, match="there are no predictions"):
        unseen.leaderboard(tmp_path, posts)
    answers(tmp_path / "a.csv", posts, 0.9)
    with pytest.raises(UnknownNameError, match="no model is called 'aa'"):
        unseen.leaderboard(tmp_path, posts, reference="aa")
    answers(tmp_path / "a.seed-0.csv", posts, 0.9)
    with pytest.raises(InputError, match="two files are of one training"):
        unseen.leaderboard(tmp_path, posts)
