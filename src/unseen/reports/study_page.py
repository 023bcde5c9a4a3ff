"""The page of a study."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from unseen.evaluation.wording import called, duration
from unseen.reports import study_tables
from unseen.reports.figures import CurvePoint, Series, class_map, curve_chart, shared_map
from unseen.reports.heat_map import heat_map
from unseen.reports.page import Page, Part, Section, Subheading, Verdict, counted, drawn, sorted_findings, two_widths
from unseen.reports.record import RunRecord
from unseen.reports.study_tables import Matrix, cells_of, fall_of, level_of
from unseen.types.numbers import number, scored

MOST_MAPS = 6
"""Spaces that are drawn; each map takes up to a tenth of a megabyte."""
SPREAD = 20
"""Distances of two spaces that differ by more than this factor are drawn on a logarithmic axis."""
BADGES = {"ok": "measured", "fail": "not all is well"}
SMALL = Markup('<p class="soft small">{}</p>')
FILES = {"splits": "splits/", "properties of the splits": "properties.csv", "card of the splits": "card.md"}


def page(record: RunRecord) -> Page:
    """What a study found on each dataset, what was varied, and what it cost."""
    failures = record.about.get("failures") or {}
    level = "fail" if failures or not record.gates_hold else "ok"
    headline, *sentences = study_tables.headline(record)
    if failures:
        sentences.append(f"{len(failures)} steps were not done: {', '.join(failures)}.")
    lines = [Markup("<p><strong>{}</strong>: {}</p>").format(*failure) for failure in failures.items()]
    sensitivity, findings = list(_sensitivity(record)), sorted_findings(record.findings)
    return Page(
        "study",
        str(record.about["title"]),
        Verdict(headline, sentences, level, badge=BADGES[level]),
        sections=[
            *([Section(f"{len(failures)} steps were not done", parts=lines, short="Failures")] if failures else []),
            *(_section(record, data) for data in record.about["datasets"]),
            *([Section("Sensitivity", parts=sensitivity)] if sensitivity else []),
            *([Section("Hard or broken?", findings=findings, short="Findings")] if findings else []),
            _costs(record),
        ],
        tables=study_tables.tables(record),
        files={name: file for name, file in FILES.items() if record.file(file)},
    )


def _section(run: RunRecord, data: str) -> Section:
    """What the study says about one dataset."""
    about, correlations = run.about["datasets"][data], study_tables.correlation_table(run, data)
    rows, independent = f"{about['rows']:,}", f"{about['independent']:,}"
    parts: list[Part] = [Subheading("Scores"), study_tables.scores(run, data)]
    for title, some in (
        ("Difficulty", _difficulty(run, data)),
        ("Whose space, whose fall", _heated(study_tables.cross_model(run, data))),
        ("Do they choose the same texts?", _heated(study_tables.overlaps(run, data), (0.0, 1.0))),
        ("What goes with the score", iter([correlations] if correlations else [])),
        ("Maps", _maps(run, data)),
    ):
        shown = list(some)
        parts += [Subheading(title), *shown] if shown else []
    return Section(data, f"{rows} texts, {independent} of them set aside. {counted(about['counts'])}.", parts=parts)


def _heated(matrices: Iterator[Matrix], scale: tuple[float, float] | None = None) -> Iterator[Part]:
    for matrix in matrices:
        yield Markup(heat_map(matrix.values, matrix.rows, matrix.columns, title=matrix.title, scale=scale))
        yield SMALL.format(matrix.note)


def _difficulty(run: RunRecord, data: str) -> Iterator[Part]:
    """The curves of all spaces in one picture, and their areas."""
    curves = study_tables.curves(run, data)
    if not curves:
        return
    series = [
        Series(
            f"{space}{of}", tuple(CurvePoint(point.distance, point.score) for point in curve.points), dashed=bool(of)
        )
        for of, some in (("", curves), (", seen", study_tables.curves(run, data, seen=True)))
        for space, curve in some.items()
    ]
    places = [point.x for line in series for point in line.points]
    yield _chart(
        series, "distance from test to training texts", called(run.metric),
        logarithmic=min(places) > 0 and max(places) > SPREAD * min(places),
    )  # fmt: skip
    areas = "; ".join(f"{space} {scored(curve.area)}" for space, curve in curves.items())
    yield SMALL.format(
        "Each point is a split. Dashed: the same test texts when the rest of them is in training; what lies between "
        "the lines is novelty, what the dashed line falls by is selection. Area under the curve "
        f"({called(run.metric)} over the range of distances): {areas}. Areas compare within one space only."
    )


def _chart(series: list[Series], axis: str, metric: str, logarithmic: bool = False) -> Markup:
    return two_widths(lambda narrow: curve_chart(series, axis, metric, narrow=narrow, logarithmic=logarithmic))


def _sensitivity(run: RunRecord) -> Iterator[Part]:
    """For everything that was varied: a table, and a chart where its values are numbers."""
    tables = {table.title: table for table in study_tables.sensitivity_tables(run)}
    for of, name, cells in study_tables.varied(run):
        lines: dict[str, list[CurvePoint]] = {}
        for value, cell in cells:
            row = level_of(run, cell, run.metric)
            if row is None or row.value is None or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            family = cell.family.partition(f" {name}=")[0]
            lines.setdefault(f"{cell.data} {family}", []).append(CurvePoint(float(value), row.value, row.low, row.high))
        series = [Series(line, tuple(points)) for line, points in lines.items() if len(points) > 1]
        yield Subheading(f"{of} by {name}")
        if series:
            yield _chart(series, name, called(run.metric))
        yield tables[f"{of} by {name}"]


def _maps(run: RunRecord, data: str) -> Iterator[Part]:
    """The maps of the spaces: by class, and by their own first split beside that of every other space."""
    here = {name.removeprefix(f"{data}."): map_ for name, map_ in run.maps.items() if name.startswith(f"{data}.")}
    names = run.about["datasets"][data]["label_names"]
    for space, latent in list(here.items())[:MOST_MAPS]:
        own = _hardest(run, data, space, [split for split in latent.parts if split.startswith(f"{data}.{space}.")])
        if own is None:
            continue
        shared = [
            (own, other, shared_map(latent.points, latent.parts[own], latent.parts[other], (own, other)))
            for other in _of_other_spaces(list(latent.parts), data, space, own)
        ]
        classes = class_map(latent.points, latent.labels, names)
        yield drawn("spaces.html", space=space, classes=classes, shared=shared)


def _hardest(run: RunRecord, data: str, space: str, splits: list[str]) -> str | None:
    """The split of the family that falls furthest."""
    falls = {
        cell.family: fall.value or 0.0
        for cell in cells_of(run)
        if (cell.data, cell.space, cell.own) == (data, space, True) and (fall := fall_of(run, cell))
    }
    known = [split for split in splits if _family_of(split, data, space) in falls]
    return max(known, key=lambda split: falls[_family_of(split, data, space)], default=splits[0] if splits else None)


def _family_of(split: str, data: str, space: str) -> str:
    return split.removeprefix(f"{data}.{space}.").rpartition(".")[0]


def _of_other_spaces(splits: list[str], data: str, space: str, own: str) -> list[str]:
    """Splits of the same kind that cut other spaces."""
    kind = _family_of(own, data, space)
    return [
        split for split in splits
        if split != own and split.rpartition(".")[0].endswith(f".{kind}") and not split.startswith(f"{data}.{space}.")
    ]  # fmt: skip


def _costs(run: RunRecord) -> Section:
    joules, clock = run.about.get("joules"), duration(run.about["wall_seconds"])
    energy = f", {number(joules / 3600, 1)} watt-hours" if joules else (
        "; energy cannot be measured on this machine"
    )  # fmt: skip
    return Section("Cost", tables=[study_tables.costs(run)], note=f"This run: {clock} on the clock{energy}.")
