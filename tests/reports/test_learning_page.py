"""The page of learning from a suite: five parts with their numbers, from the files alone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from harmless import EVIL, assert_harmless
from html_page import written

from learning_suite import LABELS, small_suite, small_task
from unseen.reports.record import RunRecord, read_record
from unseen.runs.learning import learn_from_suite
from unseen.runs.learning_page import LearningRun, bars, held_out_table, leak_table, learning_verdict, value_table
from unseen.store import read_json, write_json, write_measurements, write_text
from unseen.types import Measurement

TASK, BOTH = "task", "task then suite"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    done = learn_from_suite(
        small_suite(4), small_task(160), labels=LABELS, schemes=["all", "class", "pair"], folds=2, texts=True,
        params={"epochs": 2, "width": 8, "bottleneck": 8}, out=tmp_path_factory.mktemp("learning") / "out",
        elsewhere=small_task(40, 3),
    )  # fmt: skip
    assert done.folder is not None
    return done.folder


def read(folder: Path) -> LearningRun:
    return LearningRun(read_record(folder, "learning"))


def test_numbers_are_found_by_place_as_a_search_finds_them(folder: Path) -> None:
    run = read(folder)
    names = ("scheme", "part", "configuration", "than", "of")
    assert len(run.record.measurements) > 50
    for wanted in run.record.measurements:
        place = {name: str(wanted.tags[name]) for name in names if name in wanted.tags}
        first = next(
            each
            for each in run.record.measurements
            if (each.metric, each.slice) == (wanted.metric, wanted.slice)
            and all(str(each.tags.get(name, "")) == place.get(name, "") for name in names)
        )
        assert run.row(wanted.metric, wanted.slice, **place) is first
    assert run.row("accuracy", scheme="class", part="held-out") is None


def test_adjusted_p_values_are_those_by_templates(folder: Path) -> None:
    run = read(folder)
    rows = [
        Measurement(
            each.metric, each.value, each.n, each.low, each.high, each.slice,
            dict(each.tags) | ({"p.holm": 0.125, "p.mcnemar.holm": 0.25} if "p.holm" in each.tags else {}),
        )
        for each in run.record.measurements
    ]  # fmt: skip
    table = value_table(LearningRun(RunRecord(run.record.about, rows)), "class")
    assert {line[-1] for line in table.rows} == {".125"}
    assert "p: by whole templates, adjusted for 4 tests" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_five_parts_have_their_numbers(folder: Path) -> None:
    run = read(folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    heads = [
        f"<h2>{head}"
        for head in ("Covered and held out", "Before and after", "The task itself", "Largest changes", "What leaks")
    ]
    assert [page.index(head) for head in heads] == sorted(page.index(head) for head in heads)
    drawn = bars(run)
    assert drawn in page
    for picture, scheme in zip(drawn.split("<h3>")[1:], ("class", "pair"), strict=True):
        row = run.row("accuracy", scheme=scheme, part="covered", configuration=BOTH)
        assert row is not None
        assert picture.startswith(scheme)
        assert re.findall(r"width:([\d.]+)%", picture)[0] == str(round(100 * (row.value or 0), 1))
    assert "<h3>Random test cases</h3>" in page
    assert "Random halves: nothing is held out." in page
    table = held_out_table(run, BOTH)
    assert [line[0] for line in table.rows] == ["class", "pair"]
    assert [line[2] for line in table.rows] == [84, 84]
    assert len(value_table(run, "class").rows) == 4
    leaks = {line[:2]: line[3:] for line in leak_table(run).rows}
    assert leaks["pair", "held-out"] == ("0 %", "0 %", "0 %")
    assert ("all", "test") in leaks


def told(rows: Iterable[tuple[str, float, float, dict[str, str]]]) -> LearningRun:
    measured = [
        Measurement(metric, value, 100, tags={"configuration": BOTH, "than": TASK, "p": p, **tags})
        for metric, value, p, tags in rows
    ]
    about = {"settings": {"schemes": ["all", "class"], "configurations": [TASK, BOTH]}, "plans": {}}
    return LearningRun(RunRecord(about, measured))


ALL = {"scheme": "all", "part": "test"}
CLASS, TARGET = ({"scheme": scheme, "part": "held-out"} for scheme in ("class", "target"))
ITSELF = {"part": "task test"}


@pytest.mark.parametrize(
    ("rows", "level", "said"),
    [
        ([("difference.accuracy", 0.3, 0.001, ALL), ("difference.f1.macro", -0.1, 0.001, ITSELF)], "fail",
         "passed the tests, and the task was partly forgotten"),
        ([("difference.accuracy", 0.3, 0.001, CLASS), ("difference.f1.macro", -0.1, 0.001, ITSELF)], "fail",
         "helped on what was held out, and"),
        ([("difference.accuracy", 0.3, 0.001, CLASS), ("difference.f1.macro", -0.1, 0.2, ITSELF)], "ok",
         "helped beyond"),
        ([("difference.accuracy", 0.3, 0.001, ALL), ("difference.accuracy", -0.3, 0.001, CLASS),
          ("difference.accuracy", 0.3, 0.001, TARGET)], "warn", "that it helps beyond them is not shown"),
        ([("difference.accuracy", 0.3, 0.001, ALL), ("difference.f1.macro", 0.1, 0.001, ITSELF),
          ("difference.roc_auc.binary", -0.2, 0.001, ITSELF)], "fail", "the task was partly forgotten"),
        ([("difference.accuracy", 0.3, 0.06, ALL)], "warn", "changed little"),
        ([], "warn", "changed little"),
    ],
)  # fmt: skip
def test_the_verdict_follows_the_numbers(rows: list[Any], level: str, said: str) -> None:
    """The scheme farthest from what was trained on decides, and a threshold that moved hides no loss of the task."""
    found = learning_verdict(told(rows))
    assert (found.level, said in found.headline) == (level, True)


@pytest.fixture
def hostile(folder: Path, tmp_path: Path) -> Path:
    """The same run with names, ids and texts that want to run."""
    place = Path(shutil.copytree(folder, tmp_path / "run", ignore=shutil.ignore_patterns(".steps")))
    evil, about = EVIL, read_json(place / "run.json")
    run = read(place)
    about |= {"model": evil, "command": evil, "versions": {evil: evil}, "files": {}}
    about["datasets"]["suite"]["name"] = evil
    about["plans"] = {name.replace("spell", evil): said for name, said in about["plans"].items()}
    write_json(place / "run.json", about)
    rows = [
        Measurement(r.metric, r.value, r.n, r.low, r.high, r.slice.replace("spell", evil), r.tags)
        for r in run.record.measurements
    ]
    write_measurements(rows, place / "measurements.csv")
    lines = (place / "changes.csv").read_text(encoding="utf-8").splitlines()
    quoted = evil.replace('"', '""')
    head, first = lines[0], ",".join([*lines[1].split(",")[:-1], f'"{quoted} {"w" * 300}"'])
    write_text(place / "changes.csv", "\n".join([head, first, *lines[2:]]) + "\n")
    return written(place)


def test_nothing_in_a_run_becomes_markup(hostile: Path) -> None:
    assert_harmless(hostile)
