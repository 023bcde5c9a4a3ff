"""`unseen demo`: the whole job on the sample, run by the real program."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from unseen import load, read_split
from unseen.reports import read_run
from unseen.store import read_json

SPLITS = ("closest", "random-1", "random-2", "random-3", "subset-sum")


class Run(NamedTuple):
    folder: Path
    answer: Any


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, program: Callable[..., Any]) -> Run:
    """The demo, run once by the real program."""
    folder = tmp_path_factory.mktemp("demo")
    answer = program("demo", "--out", "my run", cwd=folder)
    assert answer.code == 0, answer.err
    return Run(folder / "my run", answer)


pytestmark = pytest.mark.slow


def test_run_json_says_how_to_do_it_again(done: Run) -> None:
    run = read_json(done.folder / "run.json")
    assert run["command"] == "unseen demo --out 'my run' --model neural --seed 42"
    assert run["data"]["fingerprint"] == load("sample").fingerprint
    assert {"unseen", "numpy", "python", "torch"} <= run["versions"].keys()
    assert html_of(done).count("unseen demo --out &#39;my run&#39; --model neural --seed 42") == 1
    assert (done.folder / "report.html").stat().st_size < 2_000_000


def html_of(done: Run) -> str:
    return (done.folder / "report.html").read_text(encoding="utf-8")


def test_the_splits_come_back(done: Run) -> None:
    data = load("sample")
    for name in SPLITS:
        split = read_split(done.folder / "splits" / f"{name}.csv", data)
        assert split.sizes == {"train": 2187, "dev": 243, "test": 270, "independent": 300}
        assert split.certificate.missed == 0


def test_the_hard_regions_are_harder_and_the_task_was_learnt(done: Run) -> None:
    run = read_run(done.folder)
    random, closest, subset = (run.score(family).value for family in ("random", "closest", "subset-sum"))  # type: ignore[union-attr]
    assert random > 0.75
    assert max(closest, subset) < random
    assert run.score("closest", "independent").value == pytest.approx(  # type: ignore[union-attr]
        run.score("random", "independent").value,
        abs=0.06,  # type: ignore[union-attr]
    )


def test_the_verdict_and_the_report_are_on_stdout(done: Run) -> None:
    lines = done.answer.out.splitlines()
    assert lines[-1] == "report: my run/report.html"
    assert re.match(r"Macro F1 falls by \d+ points on the region", lines[0])
    assert "clustering" in done.answer.err
    assert "clustering" not in done.answer.out


def test_again_into_the_same_folder_nothing_is_trained(
    done: Run, unseen: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(done.folder.parent)
    before = (done.folder / "measurements.csv").read_bytes()
    answer = unseen("demo", "--out", "my run", "--quiet", "--json")
    assert (answer.code, answer.err) == (0, "")
    said = json.loads(answer.out)
    assert said["report"] == "my run/report.html"
    assert said["hardest"] in SPLITS
    assert said["fall"] > 0
    assert (done.folder / "measurements.csv").read_bytes() == before
