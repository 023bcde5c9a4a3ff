"""The report of a study, from its folder alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unseen.reports import study_tables
from unseen.reports.curves import CurvePoint, Series, curve_chart
from unseen.reports.figures import class_map, shared_map
from unseen.reports.heat_map import heat_map
from unseen.reports.page import Page, Verdict, sorted_findings
from unseen.reports.record import RunRecord
from unseen.reports.study import StudyRun
from unseen.reports.study_tables import Matrix
from unseen.reports.wording import called
from unseen.types.numbers import bounds, number

MOST_MAPS = 6
"""Spaces that are drawn; each map takes up to a tenth of a megabyte."""
SPREAD = 20
"""Distances of two spaces that differ by more than this factor are drawn on a logarithmic axis."""


def page(record: RunRecord) -> Page:
    """What a study found on each dataset, what was varied, and what it cost."""
    run = StudyRun.of(record)
    failures, gates = record.about.get("failures") or {}, record.about.get("gates") or []
    level = "fail" if failures or not all(gate["passed"] for gate in gates) else "ok"
    headline, *sentences = study_tables.headline(run)
    if failures:
        sentences.append(f"{len(failures)} steps were not done: {', '.join(failures)}.")
    return Page(
        "study",
        str(record.about["title"]),
        Verdict(headline, sentences, level, badge={"ok": "measured", "fail": "not all is well"}[level]),
        tables=study_tables.tables(run),
        template="study.html",
        context={
            "metric": called(run.metric),
            "datasets": [section(run, data) for data in record.about["datasets"]],
            "sensitivity": list(sensitivity(run)),
            "findings": sorted_findings(record.findings),
            "failures": failures,
            "costs": study_tables.costs(run),
        },
    )


def section(run: StudyRun, data: str) -> dict[str, Any]:
    """What the study says about one dataset."""
    return {
        "name": data,
        "about": run.about["datasets"][data],
        "scores": study_tables.scores(run, data),
        "cross": [_drawn(each) for each in study_tables.cross_model(run, data)],
        "overlaps": [_drawn(each, (0.0, 1.0)) for each in study_tables.overlaps(run, data)],
        "correlations": study_tables.correlation_table(run, data),
        "difficulty": difficulty(run, data),
        "maps": list(maps(run, data)),
    }


def _drawn(matrix: Matrix, scale: tuple[float, float] | None = None) -> dict[str, str]:
    drawn = heat_map(matrix.values, matrix.rows, matrix.columns, title=matrix.title, scale=scale)
    return {"html": drawn, "note": matrix.note}


def difficulty(run: StudyRun, data: str) -> dict[str, Any] | None:
    """The curves of all spaces in one picture, and their areas."""
    curves = study_tables.curves(run, data)
    if not curves:
        return None
    series = [
        Series(
            f"{space}{of}", tuple(CurvePoint(point.distance, point.score) for point in curve.points), dashed=bool(of)
        )
        for of, some in (("", curves), (", seen", study_tables.curves(run, data, seen=True)))
        for space, curve in some.items()
    ]
    axis = "distance from test to training texts"
    areas = [(space, number(curve.area.value), bounds(curve.area)) for space, curve in curves.items()]
    metric = called(run.metric)
    places = [point.x for each in series for point in each.points]
    apart = min(places) > 0 and max(places) > SPREAD * min(places)
    return {
        "wide": curve_chart(series, axis, metric, logarithmic=apart),
        "narrow": curve_chart(series, axis, metric, narrow=True, logarithmic=apart),
        "areas": areas,
    }


def sensitivity(run: StudyRun) -> Iterator[dict[str, Any]]:
    """For everything that was varied: a table, and a chart where its values are numbers."""
    tables = {table.title: table for table in study_tables.sensitivity_tables(run)}
    for of, name, cells in study_tables.varied(run):
        lines: dict[str, list[CurvePoint]] = {}
        for value, cell in cells:
            row = run.level(cell, run.metric)
            if row is None or row.value is None or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            family = cell.family.partition(f" {name}=")[0]
            lines.setdefault(f"{cell.data} {family}", []).append(CurvePoint(float(value), row.value, row.low, row.high))
        series = [
            Series(line, tuple(sorted(points, key=lambda point: point.x)))
            for line, points in lines.items()
            if len(points) > 1
        ]
        charts = (
            [curve_chart(series, name, called(run.metric), narrow=narrow) for narrow in (False, True)]
            if series
            else None
        )
        yield {"table": tables[f"{of} by {name}"], "charts": charts}


def maps(run: StudyRun, data: str) -> Iterator[dict[str, Any]]:
    """The maps of the spaces: by class, and by their own first split beside that of every other space."""
    here = {name.removeprefix(f"{data}."): found for name, found in run.maps.items() if name.startswith(f"{data}.")}
    names = run.about["datasets"][data]["label_names"]
    for space, drawn in list(here.items())[:MOST_MAPS]:
        own = _hardest(run, data, space, [split for split in drawn.parts if split.startswith(f"{data}.{space}.")])
        if own is None:
            continue
        others = _of_other_spaces(drawn.parts, data, space, own)
        yield {
            "space": space,
            "classes": class_map(drawn.points, drawn.labels, names),
            "shared": [
                (own, other, shared_map(drawn.points, drawn.parts[own], drawn.parts[other], (own, other)))
                for other in others
            ],
        }


def _hardest(run: StudyRun, data: str, space: str, splits: list[str]) -> str | None:
    """The split of the family that falls furthest."""
    falls = {
        cell.family: fall.value or 0.0
        for cell in run.cells
        if (cell.data, cell.space, cell.own) == (data, space, True) and (fall := run.fall(cell, run.metric))
    }
    known = [split for split in splits if _family_of(split, data, space) in falls]
    return max(known, key=lambda split: falls[_family_of(split, data, space)], default=splits[0] if splits else None)


def _family_of(split: str, data: str, space: str) -> str:
    return split.removeprefix(f"{data}.{space}.").rpartition(".")[0]


def _of_other_spaces(parts: Mapping[str, Any], data: str, space: str, own: str) -> list[str]:
    """Splits of the same kind that cut other spaces."""
    kind = _family_of(own, data, space)
    return [
        split for split in parts
        if split != own and split.rpartition(".")[0].endswith(f".{kind}") and not split.startswith(f"{data}.{space}.")
    ]  # fmt: skip
