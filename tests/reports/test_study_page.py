"""The report of a study: every table there, nothing invented, readable on a telephone."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import browser
import pytest
from harmless import assert_fits_and_runs_nothing, assert_harmless
from html_page import written

from unseen.engines import Inline
from unseen.reports.record import RunRecord, read_record
from unseen.reports.study_tables import (
    cells_of,
    correlation_table,
    cross_model,
    curves,
    headline,
    level_of,
    overlaps,
    scores,
    tables,
)
from unseen.runs.study import run_study
from unseen.store import read_json, write_json

browse, probe = browser.browse, browser.probe
STUDY = """
title = "<script>document.title='it ran'</script>"
[data.sample]
limit = 300
[model.tfidf]
use = "logistic"
C = 1.0
[model.strong]
use = "logistic"
vary.C = [0.1, 1.0, 10.0]
[space.tfidf]
[space.wide]
model = "tfidf"
as = "pca-20"
[split.random]
[split.closest]
seeds = [1, 2]
[train]
seeds = [1, 2]
[measure]
seen_folds = 1
[[experiment]]
name = "own"
models = ["own", "strong"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("study")
    (place / "study.toml").write_text(STUDY)
    done = run_study(place / "study.toml", engine=Inline(), out=place / "out", store=place / "store")
    assert not done.failures
    assert done.folder is not None
    return done.folder


@pytest.fixture
def run(folder: Path) -> RunRecord:
    return read_record(folder, "study")


def test_tables_are_files_in_three_formats(folder: Path, run: RunRecord) -> None:
    names = set(tables(run))
    assert names >= {"sample-scores", "sample-correlations", "costs", "strong-by-c", "sample-closest-test-macro-f1"}
    assert {path.name for path in (folder / "tables").iterdir()} == {
        f"{name}.{suffix}" for name in names for suffix in ("csv", "md", "tex")
    }
    with (folder / "tables" / "sample-scores.csv").open() as file:
        lines = list(csv.reader(file))
    assert lines[0][:3] == ["model", "space that was cut", "split"]
    assert len(lines) == 1 + len(scores(run, "sample").rows)


def test_matrices_have_the_levels_of_their_cells(run: RunRecord) -> None:
    matrix = next(each for each in cross_model(run, "sample") if "macro" in each.title)
    assert matrix.rows == ("tfidf-own", "tfidf-pca-20", "random splits")
    cell = next(each for each in cells_of(run) if each.space == "tfidf-pca-20" and each.model == "strong C=1.0")
    level = level_of(run, cell, "f1.macro")
    assert level is not None
    assert matrix.values[1][matrix.columns.index("strong C=1.0")] == level.value
    (shared,) = overlaps(run, "sample")
    assert shared.values[0][1] == shared.values[1][0]
    assert all(0 <= (value or 0) <= 1 for line in shared.values for value in line)


def test_the_difficulty_curve_begins_with_random_splits(run: RunRecord) -> None:
    found = curves(run, "sample")
    assert found.keys() == {"tfidf-own", "tfidf-pca-20"}
    for curve in found.values():
        assert len(curve.points) == 3
        assert "random" in {point.split for point in curve.points}


def test_sentences_and_correlations(run: RunRecord) -> None:
    (said,) = headline(run)
    assert said.startswith("On sample the hardest split is closest in the space of tfidf-")
    table = correlation_table(run, "sample")
    assert table is not None
    assert len({line[:2] for line in table.rows}) == len(table.rows)


def test_nothing_in_a_run_becomes_markup(folder: Path) -> None:
    assert_harmless(written(folder))


def test_failures_gates_and_energy_are_shown(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "run")
    about = read_json(folder / "run.json")
    gate = {"gate": "fall.f1.macro where split=closest <= 0.1", "place": "tfidf", "value": 0.3, "passed": False}
    about |= {"failures": {"train": "it broke"}, "gates": [gate]}
    write_json(tmp_path / "run" / "run.json", about | {"joules": 7200.0})
    page = written(tmp_path / "run").read_text()
    for said in ("1 steps were not done", "it broke", "failed", "split=closest &lt;= 0.1: .300", "2.0 watt-hours"):
        assert said in page


@pytest.mark.browser
@pytest.mark.skipif(not browser.CHROMIUM.exists(), reason="no browser: chromium is missing")
def test_it_fits_a_telephone_and_runs_nothing(
    folder: Path, browse: Callable[..., str], probe: Callable[..., dict[str, Any]]
) -> None:
    page = folder / "report.html"
    dom = browse(page)
    assert "<script" not in dom
    assert dom.count("<svg") >= 2 + 2 + 2
    found = probe(page.read_text(encoding="utf-8"), browser.PHONE)
    assert_fits_and_runs_nothing(found)
    assert page.stat().st_size < 2_000_000


def test_a_dataset_without_hard_splits_says_so(run: RunRecord) -> None:
    cells = [cell for cell in run.about["cells"] if cell["family"] == run.about["baseline"]]
    only = replace(run, about={**run.about, "cells": cells})
    assert headline(only) == ["On sample there are random splits only."]
