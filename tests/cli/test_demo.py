"""`unseen demo`: the run folder, the table, the report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from unseen import load, read_split
from unseen.store import read_embeddings, read_measurements

METHODS = ("random", "subset-sum", "closest")


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


def test_the_run_folder(done: Run) -> None:
    assert sorted(str(each.relative_to(done.folder)) for each in done.folder.rglob("*") if each.is_file()) == [
        "measurements.csv",
        "report.html",
        "run.json",
        *(f"splits/{name}.{ending}" for name in sorted(METHODS) for ending in ("csv", "json")),
        "vectors/tfidf.json",
        "vectors/tfidf.npy",
    ]
    assert (done.folder / "report.html").stat().st_size < 2_000_000


def test_run_json_says_how_to_do_it_again(done: Run) -> None:
    run = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))
    assert run["command"] == "unseen demo --out 'my run' --seed 42"
    assert run["settings"]["seed"] == 42
    assert run["fingerprints"]["dataset"] == load("sample").fingerprint
    assert run["seconds"] > 0
    assert {"unseen", "numpy", "python"} <= run["versions"].keys()
    assert html_of(done).count("unseen demo --out &#39;my run&#39; --seed 42") == 1


def html_of(done: Run) -> str:
    return (done.folder / "report.html").read_text(encoding="utf-8")


def test_splits_vectors_and_measurements_come_back(done: Run) -> None:
    data = load("sample")
    for name in METHODS:
        split = read_split(done.folder / "splits" / f"{name}.csv", data)
        assert split.name == name
        assert split.sizes == {"train": 2700, "test": 300}
        assert split.certificate.missed == 0
    assert read_embeddings(done.folder / "vectors" / "tfidf.npy", data).vectors.shape == (3000, 50)
    rows = read_measurements(done.folder / "measurements.csv")
    ratios = {row.tags["split"]: row.value for row in rows if row.metric == "nearest_train_distance_ratio.cosine"}
    assert ratios["random"] == pytest.approx(1, abs=0.15)
    assert min(ratios["subset-sum"], ratios["closest"]) > 1.3


def test_the_table_and_the_report_are_on_stdout(done: Run) -> None:
    lines = done.answer.out.splitlines()
    assert lines[0].split()[:3] == ["split", "train", "test"]
    assert [line.split()[:3] for line in lines[1:4]] == [[name, "2,700", "300"] for name in METHODS]
    assert lines[-1] == "report: my run/report.html"
    assert re.search(r"^In the split “.*” a test text is \d\.\d\d times as far", done.answer.out, re.MULTILINE)
    assert "clustering" in done.answer.err
    assert "clustering" not in done.answer.out


def test_no_text_of_the_corpus_is_in_the_files(done: Run) -> None:
    texts = load("sample").texts.to_pylist()
    for path in done.folder.rglob("*"):
        if path.suffix in {".csv", ".json", ".html"}:
            content = path.read_text(encoding="utf-8")
            assert not [text for text in texts if text in content], path.name


def test_again_in_another_folder_gives_the_same(
    done: Run, tmp_path: Path, unseen: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = unseen("demo", "--out", "again", "--quiet", "--json")
    assert (answer.code, answer.err) == (0, "")
    said = json.loads(answer.out)
    assert said["report"] == "again/report.html"
    assert list(said["splits"]) == list(METHODS)
    for name in METHODS:
        for ending in ("csv", "json"):
            first = done.folder / "splits" / f"{name}.{ending}"
            assert (tmp_path / "again" / "splits" / first.name).read_bytes() == first.read_bytes()
    assert (tmp_path / "again/measurements.csv").read_bytes() == (done.folder / "measurements.csv").read_bytes()
    first, second = (np.load(each / "vectors/tfidf.npy") for each in (done.folder, tmp_path / "again"))
    assert (first == second).all()
