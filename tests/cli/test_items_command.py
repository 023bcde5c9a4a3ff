"""`unseen audit items` as a user types it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def noisy(folder: Path, write_posts: Callable[..., Path]) -> Path:
    """Every fourth post is two words."""
    write_posts(folder / "noisy.csv", edit=lambda number, row: {"text": f"so {number}"} if number % 4 == 0 else {})
    return folder


def test_flags_are_written_and_nothing_is_deleted(noisy: Path, unseen: Callable[..., Any]) -> None:
    before = Path("noisy.csv").read_bytes()
    done = unseen(
        "audit",
        "items",
        "flag",
        "noisy.csv",
        "--id",
        "id",
        "--packs",
        "scrape-noise",
        "-o",
        "f.csv",
        "--slice",
        "source",
        "-q",
    )
    assert done.code == 0
    assert "flagged by 1 or more: 15 of 60" in done.out
    assert "source=mail" in done.out
    assert done.err == ""
    with Path("f.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["rule"] for line in lines} == {"too_short"}
    assert [line["id"] for line in lines][:3] == ["p00", "p04", "p08"]
    assert Path("noisy.csv").read_bytes() == before


def test_a_split_says_what_rules_count_on(noisy: Path, unseen: Callable[..., Any]) -> None:
    assert (
        unseen("split", "make", "noisy.csv", "--id", "id", "--with", "random", "--test", "0.2", "-o", "s.csv").code == 0
    )
    done = unseen(
        "audit", "items", "flag", "noisy.csv", "--split", "s.csv", "--id", "id", "-o", "f.csv", "--json", "-q"
    )
    told = json.loads(done.out)
    assert told["items"] == 60
    assert {"part=train", "part=test"} <= {row["slice"] for row in told["measurements"]}
    assert json.loads(Path("f.json").read_text())["counted_on"] == "train"
    assert any(each["check"] == "items.too_short" and each["count"] == 15 for each in told["findings"])


def test_rules_of_ones_own_lie_beside_the_data(noisy: Path, unseen: Callable[..., Any]) -> None:
    Path("my_item_rules.py").write_text("def rainy(texts):\n    return ['rain' in text for text in texts]\n")
    done = unseen(
        "audit", "items", "flag", "noisy.csv", "--id", "id", "--packs", "my_item_rules:rainy", "-o", "f.csv", "-q"
    )
    assert done.code == 0, done.err
    assert "rainy" in done.out


def test_flags_meet_hand_labels(noisy: Path, unseen: Callable[..., Any]) -> None:
    unseen("audit", "items", "flag", "noisy.csv", "--id", "id", "--packs", "scrape-noise", "-o", "f.csv", "-q")
    lines = [f"p{row:02},{'bad' if row % 4 == 0 else 'good'},{'bad' if row % 8 == 0 else 'good'}" for row in range(40)]
    Path("gold.csv").write_text("\n".join(["id,valid,other", *lines, "p50,skipped,good"]))
    words = (
        "audit",
        "items",
        "agree",
        "noisy.csv",
        "f.csv",
        "gold.csv",
        "--id",
        "id",
        "--invalid",
        "bad",
        "--second",
        "other",
    )
    done = unseen(*words)
    assert done.code == 0, done.err
    assert "cohen_kappa" in done.out
    rows = json.loads(unseen(*words, "--view", "fine=good", "--json").out)["measurements"]
    found = {row["metric"]: row for row in rows}
    assert (found["flag_precision"]["value"], found["flag_recall"]["value"]) == (1.0, 1.0)
    assert found["flag_accuracy"]["n"] == 40
    assert found["rater_agreement"]["tags"]["view"] == "fine"
    assert found["rater_agreement"]["value"] == pytest.approx(35 / 40)


def test_the_effect_of_cleaning_is_a_run(noisy: Path, unseen: Callable[..., Any]) -> None:
    words = (
        "audit",
        "items",
        "effect",
        "noisy.csv",
        "--id",
        "id",
        "--packs",
        "scrape-noise",
        "--trainings",
        "2",
        "-o",
        "run",
        "-q",
    )
    done = unseen(*words, "--metric", "accuracy")
    assert done.code == 0, done.err
    assert "flagged rows left out, less as many random rows left out" in done.out
    assert "report: run/report.html" in done.out
    told = json.loads(unseen(*words, "--metric", "accuracy", "--json").out)
    assert {row["metric"] for row in told["measurements"]} >= {"difference.accuracy", "accuracy", "rule_coverage"}
    assert json.loads(Path("run/run.json").read_text())["kind"] == "item-effect"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("flag noisy.csv --id id --packs scrap-noise", "did you mean 'scrape-noise'"),
        ("flag noisy.csv --id id --language klingon", "klingon"),
        ("flag noisy.csv --id id -o noisy.csv", "does not hold flags"),
        ("agree noisy.csv none.csv posts.csv --id id", "none.csv"),
        ("agree noisy.csv posts.csv posts.csv --id id --view a=b", "--view has no effect"),
        ("effect noisy.csv --id id --packs strapline -o run", "no training row is flagged"),
    ],
)
def test_mistakes_are_one_message(words: str, said: str, noisy: Path, unseen: Callable[..., Any]) -> None:
    there = sorted(each.name for each in noisy.iterdir())
    done = unseen("audit", "items", *words.split())
    assert done.code == 2
    assert said in done.err
    assert sorted(each.name for each in noisy.iterdir()) == there
