"""`unseen demo`: the whole job on the sample, with fewer trainings and a rougher map, which take most of the time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sklearn.manifold

from finished_runs import run_here
from unseen import evaluation, load, read_split, stress
from unseen.reports.record import read_record
from unseen.store import read_json, read_predictions, read_suspects

SPLITS = ("closest", "random-1", "random-2", "subset-sum")
EXACT = {"train": 2187, "dev": 243, "test": 270, "independent": 300}
SEEDS = (42, 55)


FEWER = {"seeds": SEEDS, "random_splits": 2, "seen_folds": 1, "space_seeds": 1, "workers": 1}


class Run(NamedTuple):
    folder: Path
    answer: Any


@pytest.fixture(scope="module")
def demo() -> Iterator[Callable[..., Any]]:
    """`demo("--json", …)` is `unseen demo --out 'my run' …`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unseen.runs.stress.stress", lambda source, **given: stress(source, **given | FEWER))
        patch.setattr("sklearn.manifold.TSNE", partial(sklearn.manifold.TSNE, max_iter=250))
        yield lambda *words: run_here("demo", "--out", "my run", *words)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Any]) -> Run:
    """The demo, run once."""
    folder = tmp_path_factory.mktemp("demo")
    with chdir(folder):
        answer = demo()
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
        assert split.sizes == EXACT
        assert split.certificate.missed == 0
    novel = read_split(done.folder / "splits" / "novel.csv", data)
    assert (novel.sizes, novel.certificate.completed) == (EXACT, 0)


def test_the_hard_regions_are_harder_and_the_task_was_learnt(done: Run) -> None:
    run = read_record(done.folder, "stress")
    random, closest, subset = (run.score(family).value for family in ("random", "closest", "subset-sum"))  # type: ignore[union-attr]
    assert random > 0.75
    assert max(closest, subset) < random
    assert run.score("closest", "independent").value == pytest.approx(  # type: ignore[union-attr]
        run.score("random", "independent").value,
        abs=0.06,  # type: ignore[union-attr]
    )


def test_the_fall_on_the_hardest_region_is_no_novelty_and_that_on_novel_is(done: Run) -> None:
    closest, novel = (
        {part: run.measured(f"fall.{part}.f1.macro", family).value for part in ("selection", "novelty")}  # type: ignore[union-attr]
        for family in ("closest", "novel")
        if (run := read_record(done.folder, "stress"))
    )
    assert closest["novelty"] < 0.04
    assert closest["selection"] > 0.2
    assert novel["novelty"] > 0.08
    assert novel["selection"] < 0.03


def test_wrong_labels_are_told_from_hard_texts(done: Run) -> None:
    """The sample knows which of its labels are wrong."""
    data, run = load("sample"), read_record(done.folder, "stress")
    wrong = np.array([each == "yes" for each in data.attribute("noisy").to_pylist()])
    suspect = np.isin(data.ids.to_pylist(), [each.id for each in read_suspects(done.folder / "suspects.csv")])
    test = read_split(done.folder / "splits" / "closest.csv", data).rows("test")
    found = int((wrong & suspect)[test].sum())
    assert found / wrong[test].sum() >= 0.85
    assert found / suspect[test].sum() >= 0.65
    share = run.measured("label_noise", "closest")
    assert share is not None
    assert share.value == pytest.approx(wrong[test].mean(), abs=0.05)
    assert share.low < wrong[test].mean() < share.high  # type: ignore[operator]

    def right_labels(split: str, seed: int) -> evaluation.Run:
        rows = read_split(done.folder / "splits" / f"{split}.csv", data).rows("test")
        said = read_predictions(done.folder / "predictions" / f"{split}-seed{seed}.parquet", data)
        return evaluation.Run.of(data, said, rows[~wrong[rows]], split=split, family=split, seed=seed)

    random = [right_labels(f"random-{number}", seed) for number, seed in enumerate(SEEDS, start=1)]
    truth = evaluation.fall(random, [right_labels("closest", seed) for seed in SEEDS], "f1.macro", draws=10).value
    corrected = run.measured("fall.corrected.f1.macro", "closest")
    assert corrected is not None
    assert corrected.value == pytest.approx(truth, abs=0.04)


def test_the_verdict_and_the_report_are_on_stdout(done: Run) -> None:
    lines = done.answer.out.splitlines()
    assert lines[-1] == "report: my run/report.html"
    assert re.match(r"Expect macro F1 of about \.\d\d on texts like those it learnt from", lines[0])
    assert "What to do:" in lines
    assert "trainings" in done.answer.err
    assert "trainings" not in done.answer.out


def test_again_into_the_same_folder_nothing_is_trained(
    done: Run, demo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(done.folder.parent)
    before = (done.folder / "measurements.csv").read_bytes()
    answer = demo("--quiet", "--json")
    assert (answer.code, answer.err) == (0, "")
    said = json.loads(answer.out)
    assert said["report"] == "my run/report.html"
    assert said["actions"][0]["file"]
    falls = {
        row["tags"]["family"]: row["value"]
        for row in said["measurements"]
        if (row["metric"], row["slice"], row["tags"]["part"]) == ("fall.f1.macro", "all", "test")
    }
    assert max(falls, key=lambda family: falls[family]) == "closest"
    assert falls["closest"] > 0
    assert (done.folder / "measurements.csv").read_bytes() == before
