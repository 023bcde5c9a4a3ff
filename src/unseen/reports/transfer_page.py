"""The page of a transfer between datasets, and its tables, from its folder alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from markupsafe import Markup

from unseen.reports.formats import Cell, Strong, Table
from unseen.reports.heat_map import heat_map
from unseen.reports.pages import write_page, write_tables
from unseen.reports.tables import sorted_findings
from unseen.reports.transfer import (
    MAIN,
    MAJORITY,
    OTHERS,
    WITHOUT,
    TransferRun,
    badge,
    read_transfer_run,
    score_of,
    transfer_verdict,
    written,
)
from unseen.reports.verdict import Verdict
from unseen.reports.wording import DASH, called, capital, percent, scored
from unseen.store.files import file_name
from unseen.types import Measurement

PARTS = ("train", "dev", "test")


def write_transfer_page(run_folder: str | Path) -> tuple[Path, Verdict]:
    """Write `report.html` and the tables (CSV, Markdown, LaTeX); returns the page's path and the verdict."""
    run = read_transfer_run(run_folder)
    said = transfer_verdict(run)
    write_tables(run.folder, tables(run))
    return write_page(run.folder, "transfer.html", run.about, **context(run, said)), said


def tables(run: TransferRun) -> dict[str, Table]:
    """Every table by the name of its file."""
    found = {f"matrix-{file_name(metric)}": matrix_table(run, metric) for metric in run.metrics}
    found |= {"falls-same-test": same_test_table(run), "falls-same-training": same_training_table(run)}
    found |= {"overlap": overlap_table(run), "sizes": size_table(run), "labels": label_table(run)}
    if any(table_of_unseen(run).rows):
        found["without-overlap"] = table_of_unseen(run)
    return found


def context(run: TransferRun, said: Verdict) -> dict[str, Any]:
    """What the template shows beside what all pages have."""
    unseen = table_of_unseen(run)
    return {
        "verdict": said,
        "badge": badge(run),
        "names": run.names,
        "main": _map(run, MAIN),
        "classes": [_map(run, f"f1[{label}]") for label in run.labels],
        "accuracy": _map(run, "accuracy"),
        "matrix": matrix_table(run, MAIN),
        "same_test": same_test_table(run),
        "same_training": same_training_table(run),
        "overlap": overlap_table(run),
        "without": unseen if unseen.rows else None,
        "findings": sorted_findings(run.findings),
        "sizes": size_table(run),
        "labels": label_table(run),
        "extras": run.extras,
        "files": list(tables(run)),
        "seconds": sum(float(each["seconds"]) for each in run.about.get("timings", [])),
        "trainings": len(run.about.get("timings", [])),
    }


def _map(run: TransferRun, metric: str) -> Markup:
    """The heat map of one metric; all have one scale."""
    rows = [*run.sets, MAJORITY]
    values = [[score_of(run, metric, train, test) for test in run.names] for train in rows]
    title = f"{capital(called(metric))}: trained on the row, tested on the column"
    return Markup(heat_map(values, rows, run.names, title=title, scale=(0.0, 1.0)))


def matrix_table(run: TransferRun, metric: str) -> Table:
    """Scores with intervals; those of a dataset on itself stand out."""
    lines: list[tuple[Cell, ...]] = []
    for train in run.sets:
        cells = [scored(run.row(metric, train, test)) for test in run.names]
        cells = [Strong(cell) if train == test else cell for cell, test in zip(cells, run.names, strict=True)]
        elsewhere = run.row(metric, train, run.mean_over(train))
        rows = int(run.about["training_sets"][train]["rows"])
        lines.append((train, rows, *cells, scored(elsewhere) if elsewhere else DASH))
    lines.append((MAJORITY, None, *(scored(run.row(metric, MAJORITY, test)) for test in run.names), DASH))
    lines.append((OTHERS, None, *(scored(run.row(metric, OTHERS, test)) for test in run.names), DASH))
    note = (
        "95 % intervals over seeds and test texts. Mean: over the other datasets; of merged sets, over all. "
        f"{capital(MAJORITY)}: always the most frequent label. "
        f"{capital(OTHERS)}: mean over training on each other dataset."
    )
    columns = ("trained on", "texts", *(f"tested on {name}" for name in run.names), "mean")
    return Table(capital(called(metric)), columns, tuple(lines), note)


def same_test_table(run: TransferRun) -> Table:
    """The fall from training on the test's own dataset, the same test texts on both sides."""
    lines = [
        (train, *(DASH if train == test else written(run.fall(train, test)) for test in run.names), _mean(run, train))
        for train in run.sets
    ]
    lines.append((OTHERS, *(written(run.fall(OTHERS, test)) for test in run.names), written(run.fall(OTHERS, OTHERS))))
    columns = ("trained on", *(f"tested on {name}" for name in run.names), "mean")
    note = "Points below a model trained on the dataset that is tested; paired, because the test texts are the same."
    return Table(f"Fall of {called(MAIN)} by training elsewhere", columns, tuple(lines), note)


def _mean(run: TransferRun, train: str) -> str:
    row = run.fall(train, run.mean_over(train))
    return DASH if row is None else written(row)


def same_training_table(run: TransferRun) -> Table:
    """The fall from a model's own test part to those of others."""

    def cell(train: str, test: str) -> str:
        if train == test:
            return DASH
        return written(run.row(f"fall.{MAIN}", train, test, than_train=train, than_test=train))

    lines = [(train, *(cell(train, test) for test in run.names)) for train in run.names]
    note = (
        "Points below the same model's score on its own test texts. Other texts and another mix of labels: "
        "part of it is that the other test is easier or harder for everybody."
    )
    columns = ("trained on", *(f"tested on {name}" for name in run.names))
    return Table(f"Fall of {called(MAIN)} by testing elsewhere", columns, tuple(lines), note)


def overlap_table(run: TransferRun) -> Table:
    """How many test texts each training set has."""

    def cell(train: str, test: str) -> str:
        near, conflict = (run.row(f"overlap.{kind}", train, test) for kind in ("near", "conflict"))
        if near is None or near.value is None:
            return DASH
        count = round(near.value * near.n)
        other = round(conflict.value * conflict.n) if conflict is not None and conflict.value is not None else 0
        return f"{count:,} ({percent(near.value)}), {other:,} other label" if count else "0"

    lines = [(train, *(cell(train, test) for test in run.names)) for train in run.sets]
    columns = ("training texts of", *(f"test texts of {name}" for name in run.names))
    note = "Test texts that stand in the training or validation texts, word for word or nearly."
    return Table("Test texts that were seen in training", columns, tuple(lines), note)


def table_of_unseen(run: TransferRun) -> Table:
    """Scores with and without the test texts that the training set has, where it has any."""
    lines: list[tuple[Cell, ...]] = []
    for train in run.sets:
        for test in run.names:
            row = run.row(MAIN, train, test, WITHOUT)
            if row is not None:
                falls = [DASH, DASH] if train == test else _both(lambda where: run.fall(train, test, slice=where))  # noqa: B023
                lines.append((f"{train} → {test}", row.n, scored(run.row(MAIN, train, test)), scored(row), *falls))
    name = called(MAIN)
    columns = ("trained → tested", "texts left", f"{name}, all", f"{name}, without", "fall, all", "fall, without")
    note = "The same predictions. Falls without: texts that neither of the two training sets has."
    return Table("Without test texts that were seen in training", columns, tuple(lines), note)


def _both(fall: Callable[[str], Measurement | None]) -> list[str]:
    return [written(fall(where)) for where in ("all", WITHOUT)]


def size_table(run: TransferRun) -> Table:
    """Texts per part and label of each dataset."""
    lines: list[tuple[Cell, ...]] = []
    for name, each in run.about["datasets"].items():
        for part in PARTS:
            counts = each["counts"][part]
            total = sum(counts.values())
            cells = [f"{counts[label]:,} ({percent(counts[label] / max(1, total))})" for label in run.labels]
            lines.append((name, part, total, *cells))
    note = "; ".join(f"{name}: {_how_split(each)}" for name, each in run.about["datasets"].items())
    return Table("Texts", ("dataset", "part", "texts", *run.labels), tuple(lines), f"Split: {note}.")


def _how_split(each: dict[str, Any]) -> str:
    if each.get("split"):
        return f"published ({each['split']})"
    return f"random, {each['groups']} on one side" if each.get("groups") else "random"


def label_table(run: TransferRun) -> Table:
    """What each label of each dataset is called here."""
    lines: list[tuple[Cell, ...]] = []
    for name, each in run.about["datasets"].items():
        left_out = each.get("left_out", {})
        for theirs, ours in each["map"].items():
            lines.append((name, theirs, f"left out ({left_out[theirs]:,} texts)" if theirs in left_out else ours))
        if not each["map"]:
            lines.append((name, "every label", "the same"))
    return Table("Labels", ("dataset", "its label", "here"), tuple(lines))
