"""The page of a stress run: what the falls are made of, one bar a split in two parts; groups compared; and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup

from unseen.evaluation.wording import called, capital, duration, shortened
from unseen.reports import stress_tables as tables
from unseen.reports.actions import ACTIONS, SUSPECTS
from unseen.reports.behaviour import behaviours
from unseen.reports.behaviour import section as suite_section
from unseen.reports.case import Case, cases, chance, hardest_split
from unseen.reports.depth_section import depth_sections
from unseen.reports.explain_page import under_shift
from unseen.reports.figures import (
    INDEPENDENT_COLOUR,
    INK,
    MOST_POINTS,
    OTHER_COLOUR,
    TEST_COLOUR,
    class_colours,
    class_map,
    lines_of_names,
    name_line,
    part_map,
    score_chart,
    svg,
)
from unseen.reports.forecast_page import parts as forecast_parts
from unseen.reports.forecast_page import without_labels
from unseen.reports.formats import Cell, Table
from unseen.reports.heat_map import heat_map
from unseen.reports.page import Folded, Page, Part, Section, Subheading, Tile, counted, drawn, two_widths
from unseen.reports.points import packed_for_page, points_of
from unseen.reports.record import BASELINE, RunRecord, flattened
from unseen.reports.review_section import review_section
from unseen.reports.verdict import changes_of, verdict
from unseen.store.reviews import REVIEWS
from unseen.subgroups.subgroup import AUCS
from unseen.types import Measurement
from unseen.types.numbers import DASH, number, points, scored

SELECTION_COLOUR, NOVELTY_COLOUR = INDEPENDENT_COLOUR, TEST_COLOUR
HEIGHT = 0.34
"""Of a bar, in rows."""
TITLES = {
    "subgroup_auc": "Subgroup AUC: told apart within the group",
    "bpsn_auc": "BPSN AUC: negative texts of the group below positive ones outside it",
    "bnsp_auc": "BNSP AUC: positive texts of the group above negative ones outside it",
    "false_positive_rate": "False positive rate",
    "false_negative_rate": "False negative rate",
}
Place = tuple[str, str]
"""Family of splits, and part."""
MOST_MAPS = 11
"""Maps of splits on the page; each takes up to a tenth of a megabyte."""
MOST_CHANGES = 5
MOST_SLICES = 12
MOST_STEPS = 12
"""A longer list is folded."""
FILES = {
    "properties of the splits": "properties.csv", "what to do": ACTIONS, "suspect labels": SUSPECTS,
    "splits": "splits/", "answers": "predictions/", "what people said": REVIEWS, "card of the splits": "card.md",
}  # fmt: skip
PARTS_KEY = Markup(
    f'<p class="soft"><i class="key" style="background:{SELECTION_COLOUR}"></i> selection: what these texts lose even '
    f'when the rest of their region is in training &nbsp; <i class="key" style="background:{NOVELTY_COLOUR}"></i> '
    "novelty: what being "
    "unseen costs. The upright mark is the whole fall; lines: 95 % intervals. Hatched: what wrong labels account for, "
    "where that can be told. Without: the {} among right labels alone. Stays: share of the test texts that remain when "
    "the space is made from another seed.</p>"
)
SCORES_KEY = Markup(
    '<p class="soft"><i class="key"></i> test part of the split &nbsp; <i class="key diamond"></i> independent part, '
    "which no split touches. Whiskers: 95 % intervals; small ticks: single training runs.{}</p>"
)
SOFT = Markup('<p class="soft">{}</p>')


def _parts(case: Case) -> tuple[Measurement, Measurement]:
    """Selection and novelty of a case that was parted."""
    assert case.selection is not None
    assert case.novelty is not None
    return case.selection, case.novelty


def fall_chart(parted: Sequence[Case], metric: str, narrow: bool = False) -> str:
    """A bar a family: selection from nought, novelty from there on; the end is the fall. Whiskers: 95 % intervals.

    A part below nought runs to the left. What wrong labels account for is hatched.
    """
    figure, axes = lines_of_names(len(parted), 0.78 if narrow else 0.62, 0.7, narrow, left=0.22)
    for place, case in enumerate(parted):
        _draw(axes, case, place + 0.12 * narrow)
        name_line(axes, case.family, place, 0.36 if narrow else None, (16, 40))
    axes.margins(x=0.04)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlabel(shortened(f"fall of {metric}, points", 44), color=INK, fontsize=9, parse_math=False)
    described = "; ".join(
        f"{case.family}: selection {points(selection.value)}, novelty {points(novelty.value)} points"
        for case in parted
        for selection, novelty in [_parts(case)]
    )
    return svg(figure, f"Fall of {metric} in two parts, with 95 % intervals: {described}.")


def _draw(axes: Any, case: Case, place: float) -> None:
    selection, novelty = (100 * (row.value or 0.0) for row in _parts(case))
    over, under = place - HEIGHT / 2, place + HEIGHT / 2
    # side by side where the parts point in opposite directions, so that neither hides the other
    opposed = selection * novelty < 0
    heights = (HEIGHT / 2, HEIGHT / 2) if opposed else (HEIGHT, HEIGHT)
    tops = (over, place) if opposed else (over, over)
    axes.barh(tops[0], selection, heights[0], 0, align="edge", color=SELECTION_COLOUR, linewidth=0, alpha=0.8)
    axes.barh(tops[1], novelty, heights[1], selection, align="edge", color=NOVELTY_COLOUR, linewidth=0, alpha=0.85)
    if case.mislabelled is not None:
        hatched = {"color": "none", "edgecolor": INK, "hatch": "////", "linewidth": 0, "alpha": 0.55}
        axes.barh(tops[0], min(100 * case.mislabelled, max(selection, 0)), heights[0], 0, align="edge", **hatched)
    whiskers = ((0.0, over - 0.09, SELECTION_COLOUR), (selection, under + 0.09, NOVELTY_COLOUR))
    for row, (start, line, colour) in zip(_parts(case), whiskers, strict=True):
        if row.low is not None and row.high is not None:
            ends = [start + 100 * row.low, start + 100 * row.high]
            axes.plot(ends, [line, line], color=colour, linewidth=2, solid_capstyle="round")
    axes.plot([selection + novelty] * 2, [over, under], color=INK, linewidth=1.6)


def bias_section(rows: Sequence[Measurement]) -> Section | None:
    """A table over all groups and a heat map of each metric; None where nothing was measured."""
    grouped = [row for row in rows if "grouping" in row.tags and "family" in row.tags]
    if not grouped:
        return None
    places = list(dict.fromkeys(_place(row) for row in grouped))
    summary = _summary(grouped, places)
    intro = f"Groups by {grouped[0].tags['grouping']}. .5 is chance, 1 is perfect order; false rates are better low."
    maps = [Markup(heat) for metric in _measured(grouped) if (heat := _heat(grouped, metric, places))]
    parts: list[Part] = [*([summary] if summary else []), *maps]
    return Section("Is it worse on texts about some groups?", intro, parts=parts, short="Bias")


def _measured(rows: Sequence[Measurement]) -> list[str]:
    known = {row.metric.removeprefix("bias.") for row in rows}
    return [metric for metric in TITLES if metric in known]


def _place(row: Measurement) -> Place:
    return str(row.tags["family"]), str(row.tags["part"])


def _mean(rows: Iterable[Measurement]) -> float | None:
    values = [row.value for row in rows if row.value is not None]
    return float(np.mean(values)) if values else None


def _heat(rows: Sequence[Measurement], metric: str, places: Sequence[Place]) -> str | None:
    """Groups (rows) on every part (columns): the mean over trainings."""
    cells: dict[tuple[str, Place], list[Measurement]] = {}
    for row in rows:
        if row.metric.removeprefix("bias.") == metric and row.slice.startswith(f"{row.tags['grouping']}="):
            cells.setdefault((row.slice.partition("=")[2], _place(row)), []).append(row)
    groups = sorted({group for group, _ in cells})
    few = {group for (group, _), measured in cells.items() if any("few_texts" in row.tags for row in measured)}
    values = [[_mean(cells.get((group, place), ())) for place in places] for group in groups]
    if not groups or all(value is None for line in values for value in line):
        return None
    scale = (0.5, 1.0) if metric in AUCS else (0.0, 1.0)
    named = [f"{group} (too few texts)" if group in few else group for group in groups]
    return heat_map(values, named, [f"{family}, {part}" for family, part in places], title=TITLES[metric], scale=scale)


def _summary(rows: Sequence[Measurement], places: Sequence[Place]) -> Table | None:
    """The generalised means of the AUCs on every part."""
    names = [f"bias.gmb_{metric}" for metric in AUCS]
    lines: list[tuple[Cell, ...]] = []
    for place in places:
        here = {name: [row for row in rows if row.metric == name and _place(row) == place] for name in names}
        if not any(here.values()):
            continue
        first = next(row for of_metric in here.values() for row in of_metric)
        means = [_shown(of_metric) for of_metric in here.values()]
        lines.append((*place, *means, str(first.tags.get("groups", DASH)), first.n))
    if not lines:
        return None
    note = (
        "Generalised mean over groups with power −5, so the worst groups count most; mean over trainings, with the "
        "95 % interval where there is one training. Compare a hard part with a random one before blaming the model's "
        "bias: where everything is harder, groups are too."
    )
    columns = ("split", "part", "subgroup AUC", "BPSN AUC", "BNSP AUC", "groups", "texts")
    return Table("Groups, all together", columns, tuple(lines), note)


def _shown(rows: Sequence[Measurement]) -> str:
    if len(rows) == 1 and rows[0].low is not None and rows[0].high is not None:
        return scored(rows[0])
    few = [int(row.tags["few_texts"]) for row in rows if "few_texts" in row.tags]
    return number(_mean(rows)) + (f" (too few texts: {min(few)})" if few else "")


def page(record: RunRecord) -> Page:
    """Verdict, actions, falls, maps, splits, properties, clusters and cost of a stress run."""
    data, falls = record.about["data"], cases(record)
    worst, scores = falls[0] if falls else None, tables.score_rows(record)
    counts = f": {counted(data['counts'])}" if "counts" in data else ""
    sections = [
        *_parts_of_falls(record, falls), *review_section(record, worst), _falls(record, worst), _maps(record, worst),
        _splits(record), _properties(record), _results(record, worst), _findings(record),
        *filter(None, [bias_section(record.measurements)]), *_suites(record), *_forecast(record),
        *under_shift(record, worst.family if worst else None), *depth_sections(record.measurements),
        _clusters(record, worst), _costs(record),
    ]  # fmt: skip
    return Page(
        "stress report",
        f"{record.about.get('model') or 'The model'} on {data.get('name', 'the data')}",
        verdict(record),
        subtitle=f"{data['rows']:,} texts{counts}" if "rows" in data else "",
        note=f"Scores are {called(record.metric)}; brackets hold 95 % intervals.",
        sections=sections,
        tables=_files(record, falls),
        files={name: file for name, file in FILES.items() if file == ACTIONS or record.file(file)},
        tiles=_tiles(worst),
        points=b"" if (points := points_of(record)) is None else packed_for_page(points),
        picture=partial(score_chart, scores, called(record.metric)) if scores else None,
    )


def _forecast(run: RunRecord) -> list[Section]:
    """What the model will score on texts from deployment; nothing without such texts."""
    sentences = without_labels(run, "On the texts from deployment")
    if not sentences:
        return []
    first, *others = forecast_parts(run)
    text = " ".join([*sentences, first.text])
    return [replace(first, heading="Forecast for the texts from deployment", text=text, short="Forecast"), *others]


def _tiles(case: Case | None) -> list[Tile]:
    if case is None:
        return []
    seen = [] if case.seen is None else [Tile(f"{case.family}, the rest of it seen", case.seen, "independent")]
    return [Tile("random splits", case.random), *seen, Tile(f"{case.family}, unseen", case.hard, "hard")]


def _files(run: RunRecord, falls: Sequence[Case]) -> dict[str, Table]:
    """The tables that are worth a file."""
    properties, sliced = tables.property_tables(run)
    named = {
        "scores": tables.scores_table(run), "parts-of-the-fall": tables.parts_table(run, _parted(falls)),
        "other-metrics": tables.metric_table(run), "splits": tables.split_table(run),
        "properties": properties, "properties-by-slice": sliced,
    }  # fmt: skip
    return {name: table for name, table in named.items() if table is not None and table.rows}


def _parted(falls: Sequence[Case]) -> list[Case]:
    return [case for case in falls if case.selection is not None and case.novelty is not None]


def _parts_of_falls(run: RunRecord, falls: Sequence[Case]) -> Iterator[Section]:
    """What every fall is made of; nothing without a seen control."""
    parted = _parted(falls)
    if parted:
        chart = two_widths(partial(fall_chart, parted, called(run.metric)))
        parts: list[Part] = [PARTS_KEY.format(tables.falling(run)), chart, tables.parts_table(run, parted)]
        yield Section("What the fall is made of", parts=parts, short="Parts of the fall")


def _falls(run: RunRecord, worst: Case | None) -> Section:
    rows, guessing = tables.score_rows(run), chance(run, worst.family) if worst else None
    if not rows:
        return Section("How far it falls", "The run holds no scores.", short="Fall")
    chart = two_widths(partial(score_chart, rows, called(run.metric), guessing))
    dotted = "" if guessing is None else f" Dotted: guessing by the class mix, {number(guessing)}."
    others = tables.metric_table(run)
    parts: list[Part] = [SCORES_KEY.format(dotted), chart, tables.scores_table(run)]
    parts += [Folded("Other metrics on the test part", [others])] if others else []
    return Section("How far it falls", parts=parts, short="Fall")


def _maps(run: RunRecord, worst: Case | None) -> Section:
    """The map by class, then one per split; the splits that matter most when there is no room for all."""
    title, name = "The latent space", "Map"
    latent = run.maps.get("map")
    if latent is None or not len(latent.points):
        return Section(title, "The run folder holds no map.", short=name)
    first = hardest_split(worst).name if worst else ""
    known = [split for split in run.splits.values() if split.name in latent.parts]
    kept = sorted(known, key=lambda split: (split.name != first, split.family == BASELINE))[:MOST_MAPS]
    shown = [split.name for split in known if split in kept]
    left_out, rows = len(run.splits) - len(shown), len(latent.points)
    labels = run.about["data"]["label_names"]
    intro = (
        "Each point is a text; near points look alike to the model. Two dimensions cannot hold the whole space: an "
        "illustration, not a proof."
        + (f" A random {MOST_POINTS:,} of {rows:,} points are drawn." if rows > MOST_POINTS else "")
        + (f" {left_out} splits have no picture." if left_out else "")
    )
    pictures = drawn(
        "maps.html",
        classes=class_map(latent.points, latent.labels, labels),
        colours=class_colours(labels),
        splits=[(split, part_map(latent.points, latent.parts[split], split)) for split in shown],
    )
    return Section(title, parts=[SOFT.format(intro), drawn("live_map.html"), pictures], short=name)


def _splits(run: RunRecord) -> Section:
    notes = [
        Markup('<p class="soft"><strong>{}</strong>: {}</p>').format(split.name, " ".join(split.certificate.notes))
        for split in run.splits.values()
        if split.certificate.notes
    ]
    meanings = Table("What the words mean", ("column", "meaning"), tuple(tables.MEANINGS.items()))
    fingerprint = run.about["data"].get("fingerprint")
    made: list[Part] = [tables.origin_table(run), *([f"Fingerprint of the data: {fingerprint}"] if fingerprint else [])]
    return Section(
        "The splits, and what is proven about them",
        parts=[
            tables.split_table(run), Folded("Asked and got, per label", [tables.asked_table(run)]), *notes,
            Folded("What the words mean", [meanings]), Folded("How they were made, and their fingerprints", made),
        ],
        short="Splits",
    )  # fmt: skip


def _properties(run: RunRecord) -> Section:
    parts: list[Part] = []
    for split in run.splits.values():
        sentences = changes_of(run, split, MOST_CHANGES) if split.family != BASELINE else []
        if sentences:
            parts += [Subheading(split.name, "against random splits"), _listed(map(capital, sentences))]
    whole, sliced = tables.property_tables(run)
    parts += [whole] if whole else []
    parts += [Folded(f"{len(sliced.rows)} more, by label or attribute", [sliced])] if sliced else []
    none = "" if whole or sliced else "No properties were measured."
    return Section("What is different about them", none, parts=parts, short="Properties")


def _listed(sentences: Iterator[str]) -> Markup:
    return Markup("<ul>{}</ul>").format(Markup("").join(Markup("<li>{}</li>").format(line) for line in sentences))


def _results(run: RunRecord, worst: Case | None) -> Section:
    """Scores by class and by slice of every family that is not random, the hardest first."""
    families = [family for family in run.families if family != BASELINE]
    families.sort(key=lambda family: worst is None or family != worst.family)
    results = [(family, parts) for family in families if (parts := list(_by_family(run, family)))]
    title, name = "Results by class and slice", "Results"
    if not results:
        return Section(title, "No scores by class or slice were measured.", short=name)
    first, parts = results[0]
    few = f"Pale rows rest on fewer than {tables.FEW} texts, where a score is mostly luck."
    intro = f"Random splits against “{first}”. {few}"
    folds = [Folded(f"The same for “{family}”", others) for family, others in results[1:]]
    return Section(title, parts=[SOFT.format(intro), *parts, *folds], short=name)


def _by_family(run: RunRecord, family: str) -> Iterator[Part]:
    classes, slices = tables.class_rows(run, family), tables.slice_rows(run, family)
    if classes:
        yield Subheading("By class", "F1")
        yield tables.compared_table(run, classes, "class")
    if slices:
        yield Subheading("By slice", f"{called(run.metric)}, largest {tables.falling(run)} first")
        yield tables.compared_table(run, slices[:MOST_SLICES], "slice")
        if more := slices[MOST_SLICES:]:
            yield Folded(f"{len(more)} more slices", [tables.compared_table(run, more, "slice")])


def _findings(run: RunRecord) -> Section:
    findings = tables.gathered(run)
    return Section("Findings", "" if findings else "No checks were made.", findings=findings or None)


def _suites(run: RunRecord) -> Iterator[Section]:
    suites = [drawn("suite.html", each=suite_section(suite), said=True) for suite in behaviours(run.measurements)]
    if suites:
        intro = SOFT.format("Asked was the model that was trained on all texts but the independent ones.")
        yield Section("What it passes of a suite of test cases", parts=[intro, *suites], short="Behaviour")


def _clusters(run: RunRecord, worst: Case | None) -> Section:
    groups = tables.cluster_cards(run, hardest_split(worst) if worst else None)
    if not groups:
        return Section("Clusters", "The run folder holds no clusters.")
    labels = run.about["data"]["label_names"]
    look = {"examples": run.examples, "colours": class_colours(labels), "other_colour": OTHER_COLOUR}
    cards = [
        drawn("clusters.html", group=group, mix=lambda counts: tables.mix(counts, labels), **look) for group in groups
    ]
    intro = (
        "Regions of the latent space with their typical words (c-TF-IDF), those with the most test rows first. Words "
        "and texts come from the data and may offend."
    )
    titles = [(str(group["split"]), f"{group['count']} clusters") for group in groups]
    folds = [Folded(f"{split}: {count}", [card]) for (split, count), card in zip(titles[1:], cards[1:], strict=True)]
    return Section("Clusters", parts=[SOFT.format(intro), Subheading(*titles[0]), cards[0], *folds])


def _costs(run: RunRecord) -> Section:
    table, host = tables.cost_table(run), ", ".join(flattened({"host": run.about.get("host")}).values())
    seeds = tables.seeds(run)
    trained = f" Training seeds: {', '.join(seeds)}." if seeds else ""
    if table is None:
        return Section("Costs", f"No times were kept.{trained}")
    steps = table if len(table.rows) <= MOST_STEPS else Folded(f"{len(table.rows)} steps", [table])
    parts = [*filter(None, [tables.speed_table(run)]), steps]
    return Section("Costs", f"{duration(run.seconds)} in all{f', on {host}' if host else ''}.{trained}", parts=parts)
