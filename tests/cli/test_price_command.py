"""`unseen audit price` on a small table."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unseen import load

Run = Callable[..., Any]
COMMON = "audit price posts.csv --split hard.csv --id id -a user"


@pytest.fixture
def do(folder: Path, unseen: Run) -> Run:
    """`do("price …")` runs a command beside posts.csv and a random split of it, hard.csv."""
    made = unseen(*shlex.split("split make posts.csv --id id --with random --test 0.3 -o hard.csv"))
    assert made.code == 0, made.err
    return lambda command: unseen(*shlex.split(command))


def write_predictions(folder: Path) -> None:
    data = load(folder / "posts.csv", id="id")
    said = [data.label_names[0] if row % 4 == 0 else data.label_names[code] for row, code in enumerate(data.labels)]
    lines = [f"{name},{label}" for name, label in zip(data.ids.to_pylist(), said, strict=True)]
    (folder / "said.csv").write_text("\n".join(["id,prediction", *lines]), encoding="utf-8")


def test_predictions_are_priced_without_training(folder: Path, do: Run) -> None:
    write_predictions(folder)
    answer = do(f"{COMMON} --leaks near,author --author user --predictions said.csv --metric accuracy")
    assert answer.code == 0, answer.err
    assert "without leaked" in answer.out
    assert "removed rows" not in answer.out
    first, second = answer.out.splitlines()[-2:]
    assert first.startswith("No price of the leaks (near) is seen, ")
    assert first.endswith("the interval holds 0.")
    assert "of accuracy: without the 3 leaked test rows" in first
    # every test author is in training too
    assert second == "18 test rows leak (author); what they buy could not be measured."
    assert "skipped: The 18 leaked of 18 test rows (author) cannot be priced" in answer.out


def test_labels_of_predictions_may_have_other_names(folder: Path, do: Run) -> None:
    write_predictions(folder)
    renamed = (folder / "said.csv").read_text(encoding="utf-8").replace(",loud", ",2").replace(",calm", ",1")
    (folder / "theirs.csv").write_text(renamed, encoding="utf-8")
    command = f"{COMMON} --leaks near --metric accuracy --predictions"
    refused = do(f"{command} theirs.csv")
    assert refused.code == 2
    assert "--map" in refused.err
    assert do(f"{command} theirs.csv --map 1=calm,2=loud").out == do(f"{command} said.csv").out


def test_a_price_is_a_folder_with_a_report(folder: Path, do: Run) -> None:
    answer = do(f"{COMMON} --leaks near --trainings 1 --repeats 1 -o out --json")
    assert answer.code == 0, answer.err
    said = json.loads(answer.out)
    assert (said["kind"], said["folder"], said["report"]) == ("price", "out", "out/report.html")
    assert said.keys() >= {"verdict", "level", "passed", "gates", "findings", "measurements"}
    assert {row["tags"]["side"] for row in said["measurements"]} == {"test", "train"}
    for name in ("run.json", "measurements.csv", "findings.csv", "leaks.csv", "report.html"):
        assert (folder / "out" / name).is_file()
    assert json.loads((folder / "out" / "run.json").read_text())["kind"] == "price"
    assert "storm" not in (folder / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--predictions said.csv --trainings 2 --set C=1", "--trainings 2, --set has no effect without --model"),
        ("--leaks near --conversation user", "--conversation user has no effect"),
        ("--leaks author", "cannot be looked for: author"),
        ("--leaks neer", "did you mean 'near'"),
        ("--metric f1", "does not say which"),
        ("--leaks near --author user --groups user", "--author user has no effect"),
    ],
)
def test_wrong_options_write_nothing(options: str, said: str, folder: Path, do: Run) -> None:
    write_predictions(folder)
    answer = do(f"{COMMON} {options} -o out")
    assert answer.code == 2
    assert said in answer.err
    assert not (folder / "out").exists()


def test_authors_are_drawn_together_for_leaks_of_texts(folder: Path, do: Run) -> None:
    write_predictions(folder)
    said = json.loads(do(f"{COMMON} --leaks near --author user --predictions said.csv --json").out)
    assert {row["tags"]["groups"] for row in said["measurements"] if row["metric"].startswith("fall.")} == {"user"}


def test_a_column_without_values_is_refused(folder: Path, do: Run, write_posts: Callable[..., Path]) -> None:
    write_posts(folder / "posts.csv", edit=lambda number, row: {"user": ""})
    answer = do(f"{COMMON} --leaks author --author user")
    assert answer.code == 2
    assert "'user', which is to name the author of each row" in answer.err
