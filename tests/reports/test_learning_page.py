"""The page of learning from a suite: five parts from the files alone, escaped, and readable on a telephone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import browser
import pytest
from harmless import EVIL, assert_fits_and_runs_nothing, assert_harmless

from learning_suite import LABELS, small_suite, small_task
from unseen.errors import InputError
from unseen.reports.kinds import kind_of
from unseen.reports.learning import LearningRun, learning_verdict, read_learning_run
from unseen.reports.learning_page import bars, held_out_table, leak_table, value_table, write_learning_page
from unseen.store import read_json, write_json, write_measurements, write_text
from unseen.study.learning import learn_from_suite
from unseen.types import Measurement

browse, probe = browser.browse, browser.probe
TASK, BOTH = "task", "task then suite"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    done = learn_from_suite(
        small_suite(4), small_task(160), labels=LABELS, schemes=["all", "class", "pair"], folds=2, texts=True,
        params={"epochs": 2, "width": 8, "bottleneck": 8}, out=tmp_path_factory.mktemp("learning") / "out",
        elsewhere=small_task(40, 3),
    )  # fmt: skip
    return done.folder


def test_numbers_are_found_by_place_as_a_search_finds_them(folder: Path) -> None:
    run = read_learning_run(folder)
    names = ("scheme", "part", "configuration", "than", "of")
    assert len(run.measurements) > 50
    for wanted in run.measurements:
        place = {name: str(wanted.tags[name]) for name in names if name in wanted.tags}
        first = next(
            each
            for each in run.measurements
            if (each.metric, each.slice) == (wanted.metric, wanted.slice)
            and all(str(each.tags.get(name, "")) == place.get(name, "") for name in names)
        )
        assert run.row(wanted.metric, wanted.slice, **place) is first
    assert run.row("accuracy", scheme="class", part="held-out") is None


def test_adjusted_p_values_are_those_by_templates(folder: Path) -> None:
    run = read_learning_run(folder)
    rows = [
        Measurement(
            each.metric, each.value, each.n, each.low, each.high, each.slice,
            dict(each.tags) | ({"p.holm": 0.125, "p.mcnemar.holm": 0.25} if "p.holm" in each.tags else {}),
        )
        for each in run.measurements
    ]  # fmt: skip
    table = value_table(LearningRun(run.folder, run.about, rows, run.changes), "class")
    assert {line[-1] for line in table.rows} == {".125"}
    assert "p: by whole templates, adjusted for 4 tests" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_five_parts_have_their_numbers(folder: Path) -> None:
    run = read_learning_run(folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    heads = (
        "1. Covered and held out",
        "2. Before and after",
        "3. The task itself",
        "4. Largest changes",
        "5. What leaks",
    )
    assert [page.index(head) for head in heads] == sorted(page.index(head) for head in heads)
    for bar in bars(run):
        row = run.row("accuracy", scheme=bar["scheme"], part="covered", configuration=BOTH)
        assert row is not None
        assert bar["lines"][0]["width"] == round(100 * (row.value or 0), 1)
        assert f"width:{bar['lines'][0]['width']}%" in page
    table = held_out_table(run, BOTH)
    assert [line[0] for line in table.rows] == ["class", "pair"]
    assert [line[2] for line in table.rows] == [84, 84]
    assert len(value_table(run, "class").rows) == 4
    leaks = {line[:2]: line[3:] for line in leak_table(run).rows}
    assert leaks["pair", "held-out"] == ("0 %", "0 %", "0 %")
    assert ("all", "test") in leaks


def test_the_same_folder_gives_the_same_page(folder: Path) -> None:
    path, said = write_learning_page(folder)
    first = path.read_bytes()
    assert write_learning_page(folder)[0].read_bytes() == first
    assert said.headline in first.decode()


def told(rows: Iterable[tuple[str, float, float, dict[str, str]]]) -> LearningRun:
    measured = [
        Measurement(metric, value, 100, tags={"configuration": BOTH, "than": TASK, "p": p, **tags})
        for metric, value, p, tags in rows
    ]
    about = {"settings": {"schemes": ["all", "class"], "configurations": [TASK, BOTH]}, "plans": {}}
    return LearningRun(Path(), about, measured, [])


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


def test_a_folder_of_another_kind_is_refused(folder: Path, tmp_path: Path) -> None:
    assert kind_of(folder) == "learning"
    write_json(tmp_path / "run.json", {"kind": "study"})
    with pytest.raises(InputError, match="not a run of learning"):
        read_learning_run(tmp_path)
    write_json(tmp_path / "run.json", {"kind": "learning"})
    with pytest.raises(InputError, match="damaged"):
        read_learning_run(tmp_path)


@pytest.fixture
def hostile(folder: Path, tmp_path: Path) -> Path:
    """The same run with names, ids and texts that want to run."""
    place = Path(shutil.copytree(folder, tmp_path / "run", ignore=shutil.ignore_patterns(".steps")))
    evil, about = EVIL, read_json(place / "run.json")
    run = read_learning_run(place)
    about |= {"model": evil, "command": evil, "versions": {evil: evil}, "files": {}}
    about["datasets"]["suite"]["name"] = evil
    about["plans"] = {name.replace("spell", evil): said for name, said in about["plans"].items()}
    write_json(place / "run.json", about)
    rows = [
        Measurement(r.metric, r.value, r.n, r.low, r.high, r.slice.replace("spell", evil), r.tags)
        for r in run.measurements
    ]
    write_measurements(rows, place / "measurements.csv")
    lines = (place / "changes.csv").read_text(encoding="utf-8").splitlines()
    quoted = evil.replace('"', '""')
    head, first = lines[0], ",".join([*lines[1].split(",")[:-1], f'"{quoted} {"w" * 300}"'])
    write_text(place / "changes.csv", "\n".join([head, first, *lines[2:]]) + "\n")
    write_learning_page(place)
    return place / "report.html"


def test_nothing_in_a_run_becomes_markup(hostile: Path) -> None:
    assert_harmless(hostile)


@pytest.mark.browser
@pytest.mark.skipif(not browser.CHROMIUM.exists(), reason="no browser: chromium is missing")
def test_it_fits_a_telephone_and_runs_nothing(hostile: Path, probe: Callable[..., dict[str, Any]]) -> None:
    found = probe(hostile.read_text(encoding="utf-8"), browser.PHONE)
    assert_fits_and_runs_nothing(found)
    assert hostile.stat().st_size < 1_000_000
