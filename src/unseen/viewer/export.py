"""The viewer as a folder of files that any browser opens, and as a table that Embedding Atlas opens."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.runs.frame import report
from unseen.store import atomic, write_text
from unseen.viewer import pages
from unseen.viewer.opened import REPORT, OpenRun

SHOWN = ("report.html", "*.csv", "*.md", "tables/*", "splits/*", "predictions/*")
"""Files of a run that its pages link to."""
PAGES: dict[str, Callable[[OpenRun, Mapping[str, str]], str]] = {
    "Texts": lambda run, tabs: pages.explorer_page(run, tabs, whole=True),
    "Pairs": pages.pairs_page,
    "Failed cases": pages.cases_page,
}


def export_site(runs: Sequence[OpenRun], folder: str | Path) -> Path:
    """Write the pages of runs as files; returns the first page. Texts are in them where the runs have texts."""
    folder = _empty(folder)
    address = {}
    for number, run in enumerate(runs):
        place = folder / f"run-{number}"
        if not (run.folder / REPORT).exists():
            report(run.folder)
        for file in [file for pattern in SHOWN for file in run.folder.glob(pattern) if file.is_file()]:
            target = place / file.relative_to(run.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        tabs = {"All runs": "../index.html", "Report": REPORT}
        tabs |= {"Texts": "texts.html"} if run.points is not None else {}
        tabs |= {"Pairs": "pairs.html"} if run.texts is not None else {}
        tabs |= {"Failed cases": "cases.html"} if run.cases else {}
        for other in pages.beside(runs, number):
            tabs[f"Compare with {runs[other].name}"] = f"compare-{other}.html"
            back = {"All runs": "../index.html", run.name: REPORT, runs[other].name: f"../run-{other}/{REPORT}"}
            write_text(place / f"compare-{other}.html", pages.comparison_page(run, runs[other], back))
        for name, make in PAGES.items():
            if name in tabs:
                write_text(place / tabs[name], make(run, tabs))
        address[number] = {name: f"run-{number}/{file}" for name, file in tabs.items() if name in ("Report", *PAGES)}
    return write_text(folder / "index.html", pages.list_page(runs, address))


def export_atlas(run: OpenRun, path: str | Path) -> Path:
    """Write the points of a run as Parquet: id, x, y, text where there is one, and every column."""
    points = run.points
    if points is None:
        raise InputError(f"the run in {run.folder} has no map", fix="unseen stress makes one")
    places = points.places.astype(np.float32) / 65_535
    columns = {"id": points.ids, "x": pa.array(places[:, 0]), "y": pa.array(1 - places[:, 1])}
    columns |= {} if run.texts is None else {"text": run.texts}
    for column in points.columns:
        names, codes = column.names, column.codes
        values = np.array(names, object)[codes] if names else np.where(codes > 200, np.nan, codes / 200)
        columns[column.name] = pa.array(values)
    with atomic(path) as temporary:
        pq.write_table(pa.table(columns), temporary)
    return Path(path)


def _empty(folder: str | Path) -> Path:
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already", fix="name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
