"""`unseen study transfer` on small tables."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from unseen.cli.study import chosen, transfer
from unseen.errors import InputError

Run = Callable[..., Any]
FAST = "--model logistic --set C=1 --trainings 1"
FILE = """
labels = ["quiet", "noisy"]
positive = "noisy"
[data.here]
source = "posts.csv"
id = "id"
groups = "user"
map = { calm = "quiet", loud = "noisy" }
[data.there]
source = "others.csv"
id = "id"
split = "part"
map = { calm = "quiet", loud = "noisy" }
"""


@pytest.fixture
def do() -> Run:
    """`do("a.csv b.csv …")` runs the command alone, whatever else the program has."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(transfer)

    def run(command: str) -> Any:
        answer = CliRunner().invoke(app, shlex.split(command))
        if answer.exception is not None and not isinstance(answer.exception, SystemExit):
            raise answer.exception
        return answer

    return run


@pytest.fixture
def files(folder: Path, write_posts: Callable[..., Path]) -> Path:
    def edit(number: int, row: dict[str, str]) -> dict[str, str]:
        return {"text": f"other words {number * 7} {row['label']}"}

    write_posts(folder / "others.csv", 60, edit)
    (folder / "labels.toml").write_text(FILE)
    return folder


def test_tables_that_share_labels_need_no_file(files: Path, do: Run) -> None:
    answer = do(f"posts.csv others.csv --id id {FAST} --groups user --pooled --cap 2 --out moved")
    assert answer.exit_code == 0
    assert "Trained elsewhere, macro F1" in answer.stdout
    lines = answer.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[2:8]] == [
        "posts", "others", "merged", "posts capped", "others capped", "merged capped",
    ]  # fmt: skip
    assert "report: moved/report.html" in answer.stdout
    assert json.loads((files / "moved" / "run.json").read_text())["kind"] == "transfer"
    assert "posts: train" in answer.stderr


def test_a_file_names_datasets_and_their_labels(files: Path, do: Run) -> None:
    answer = do(f"--label-map labels.toml {FAST} --out moved --json --quiet")
    assert answer.stderr == ""
    said = json.loads(answer.stdout)
    assert {row["tags"].get("test") for row in said["measurements"]} == {"here", "there", "the others"}
    assert any("F1 of “noisy”" in each for each in said["verdict"])
    about = json.loads((files / "moved" / "run.json").read_text())
    assert about["datasets"]["there"]["split"] == "part"
    assert sum(about["datasets"]["there"]["counts"]["test"].values()) == 12


def test_positional_names_are_chosen_from_the_file(files: Path) -> None:
    found = chosen(["there", "new=posts.csv"], Path("labels.toml"), {"id": "id"}, None)
    assert list(found.entries) == ["there", "new"]
    assert found.entries["there"].split == "part"
    assert found.entries["new"].load == {"id": "id"}
    assert found.labels == ("quiet", "noisy")


@pytest.mark.parametrize(
    ("said", "file", "columns", "data_dir", "told"),
    [
        ([], None, {}, None, "no datasets are named"),
        (["a=posts.csv", "a=others.csv"], None, {}, None, "two datasets are called 'a'"),
        (["here", "there"], Path("labels.toml"), {"text": "x"}, None, "--text has no effect"),
        (["posts.csv", "others.csv"], None, {}, Path("x"), "--data-dir has no effect"),
    ],
)
def test_what_has_no_effect_is_refused(
    said: list[str], file: Path | None, columns: dict[str, str], data_dir: Path | None, told: str, files: Path
) -> None:
    with pytest.raises(InputError, match=told):
        chosen(said, file, columns, data_dir)


def test_a_known_dataset_is_looked_for_in_the_folder(files: Path) -> None:
    found = chosen(["posts.csv", "stormfront"], None, {}, Path("elsewhere"))
    assert found.entries["stormfront"].load == {"data_dir": Path("elsewhere")}
    assert found.entries["posts"].load == {}


def test_labels_that_differ_are_told_with_the_way_out(files: Path, do: Run) -> None:
    with pytest.raises(InputError, match="other labels than each other") as error:
        do(f"posts.csv sample {FAST} --out moved")
    assert "--label-map FILE" in str(error.value)
    assert not (files / "moved").exists()
