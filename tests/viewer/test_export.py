"""The viewer as files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from finished_runs import run_here
from unseen.errors import InputError
from unseen.viewer.export import export_site
from unseen.viewer.opened import opened


def test_a_site_has_every_page_and_asks_nobody(run: Path, finished: Callable[[str], Path], tmp_path: Path) -> None:
    index = export_site(opened([run, finished("check") / "run"]), tmp_path / "site")
    files = {path.relative_to(index.parent).as_posix() for path in index.parent.rglob("*.html")}
    assert files == {
        "index.html", "run-0/report.html", "run-0/texts.html", "run-0/pairs.html", "run-1/report.html",
        "run-1/cases.html", "run-0/compare-1.html", "run-1/compare-0.html",
    }  # fmt: skip
    for file in files:
        assert "connect-src" not in (index.parent / file).read_text(encoding="utf-8")
    assert {path.parent.name for path in index.parent.rglob("*.parquet")} == {"predictions"}
    for page in index.parent.glob("run-*/report.html"):
        links = re.findall(r'<a href="([^"#]+)"', page.read_text(encoding="utf-8"))
        assert links
        assert not [link for link in links if not (page.parent / link).exists()]


def test_a_site_is_not_written_over_anything(run: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "mine").touch()
    with pytest.raises(InputError, match="exists already"):
        export_site(opened([run]), tmp_path / "site")


def test_the_points_for_embedding_atlas(run: Path, tmp_path: Path) -> None:
    done = run_here("view", str(run), "--atlas", str(tmp_path / "points.parquet"))
    assert done.code == 0, done.err
    table = pq.read_table(tmp_path / "points.parquet")
    assert {"id", "x", "y", "text", "label", "sureness", "part in closest"} <= {*table.column_names}
    sureness = table["sureness"].to_numpy()
    assert np.nanmax(sureness) <= 1
    assert np.isnan(sureness).any()


def test_texts_that_were_not_kept_come_from_the_data_as_it_was_typed(
    run: Path, finished: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pq.read_table(run / "texts.parquet")
    pq.write_table(table.drop_columns(["text"]), run / "texts.parquet")
    monkeypatch.chdir(finished("stress"))
    without = run_here("view", str(run), "--export", str(tmp_path / "without"))
    assert without.code == 0, without.err
    assert not (tmp_path / "without" / "run-0" / "pairs.html").exists()
    done = run_here("view", str(run), "--texts", "--export", str(tmp_path / "with"))
    assert done.code == 0, done.err
    assert "rain" in (tmp_path / "with" / "run-0" / "pairs.html").read_text(encoding="utf-8")


def test_a_review_without_texts_is_refused_before_anything_is_served(run: Path) -> None:
    table = pq.read_table(run / "texts.parquet")
    pq.write_table(table.drop_columns(["text"]), run / "texts.parquet")
    done = run_here("view", str(run), "--review", "--no-browser")
    assert done.code == 2
    assert "--review --texts" in done.err
