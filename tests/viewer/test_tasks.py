"""Sheets that are filled in by a person, and runs that a notebook shows."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen
from finished_runs import run_here
from unseen.errors import InputError
from unseen.viewer.opened import OpenRun
from unseen.viewer.tasks import Sheet, task_of


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """Three items, of which one is judged already; a text and an id that look like formulas."""
    path = tmp_path / "items.csv"
    path.write_text("id,text,valid,note\na,one,,keep me\n'=b,'=1+1,yes,\nc,'tis three,,\n", encoding="utf-8")
    return path


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_sheet_is_filled_in_one_by_one_and_nothing_else_changes(sheet: Path) -> None:
    before = cells(sheet)
    task = Sheet(sheet, "valid", ["yes", "no"])
    assert (task.state()["done"], task.state()["size"]) == (1, 3)
    assert [answer["value"] for answer in task.state()["answers"]] == ["yes", "no"]
    assert task.state()["item"]["text"] == "one"
    task.answer({"id": "a", "answer": "no"})
    state = task.answer({"id": "c", "answer": "yes"})
    assert state["item"] is None
    after = cells(sheet)
    assert [row["valid"] for row in after] == ["no", "yes", "yes"]
    assert [row | {"valid": ""} for row in after] == [row | {"valid": ""} for row in before]
    assert task.undo()["item"]["id"] == "c"
    assert Sheet(sheet, "valid", ["yes", "no"]).state()["done"] == 2  # whoever comes next goes on


def test_a_column_that_is_not_there_is_added(sheet: Path) -> None:
    Sheet(sheet, "label", ["x"]).answer({"id": "a", "answer": "x"})
    assert [row["label"] for row in cells(sheet)] == ["x", "", ""]


def test_what_is_no_sheet_is_refused(tmp_path: Path) -> None:
    for content in (b"name,label\n1,2\n", b"\xff\xfe\x00", b'id,text\n"open'):
        (tmp_path / "no.csv").write_bytes(content)
        with pytest.raises(InputError, match="sheet"):
            Sheet(tmp_path / "no.csv", "label", ["x"])
    done = run_here("view", str(tmp_path / "no.csv"), "--review", "--no-browser")
    assert done.code == 2
    assert "--labels yes,no" in done.err


def test_the_texts_to_label_of_a_forecast_are_a_task(finished: Callable[[str], Path], tmp_path: Path) -> None:
    folders = [
        path.parent for path in finished("forecast").glob("*/run.json") if (path.parent / "to_label.csv").exists()
    ]
    run = shutil.copytree(folders[0], tmp_path / "forecast")
    task = task_of(OpenRun(run), "ann", 100, 42)
    state = task.state()
    assert state["item"] is not None
    label = task.answers[0].value
    task.answer({"id": state["item"]["id"], "answer": label})
    filled = {row["id"]: row["label"] for row in cells(run / "to_label.csv")}
    assert filled[state["item"]["id"]] == label


def test_what_people_say_is_in_the_verdict_that_the_viewer_shows(run: Path) -> None:
    task = task_of(OpenRun(run), "ann", 10, 42)
    for item in task.items():
        task.answer({"id": item["id"], "answer": "right"})
    assert any("One person has read 10 of its texts" in line for line in OpenRun(run).page.verdict.sentences)


def test_a_notebook_shows_the_map_of_a_run(run: Path, finished: Callable[[str], Path]) -> None:
    shown = unseen.view(run)
    html = shown._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in html
    assert "live-map" in html
    assert str(shown) == f"unseen view {run}"
    assert "live-map" not in unseen.view(finished("check") / "run")._repr_html_()
    with pytest.raises(InputError, match="written"):
        unseen.view(object())
