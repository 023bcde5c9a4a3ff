"""The tables of a study, made from its rows alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unseen.analysis import Curve, Point, difficulty_curve
from unseen.reports.formats import Table
from unseen.reports.study import Cell, StudyRun
from unseen.reports.tables import property_name
from unseen.reports.wording import called
from unseen.types import Measurement
from unseen.types.numbers import bounds, number, scored

TELLING = re.compile(
    r"(unigram_overlap|length\.words|rare_words|class_word_overlap)$|(under_represented|shift|split_groups)\.|"
    r"nearest_train_distance_ratio\."
)
"""Properties that are worth correlating with a score: one number per split, not one per label or value."""
DISTANCE = "nearest_train_distance.cosine"
PARTS_OF_FALL = {"seen": "seen", "fall.selection": "selection", "fall.novelty": "novelty"}
"""What is measured by the seen control, and its columns."""
FEWEST_SPLITS = 4
"""With fewer there is no interval, and almost any property goes with the score."""
LABELS_OF = re.compile(r"roc_auc\.\w+$")


@dataclass(frozen=True)
class Matrix:
    """Numbers by row and column."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    note: str = ""

    def table(self) -> Table:
        """The same as a table."""
        lines = tuple(
            (name, *(number(each) for each in line)) for name, line in zip(self.rows, self.values, strict=True)
        )
        return Table(self.title, ("", *self.columns), lines, self.note)


def tables(run: StudyRun) -> dict[str, Table]:
    """Every table of the study by the name of its file."""
    found: dict[str, Table] = {}
    for data in run.about["datasets"]:
        found[f"{data}-scores"] = scores(run, data)
        for matrix in (*cross_model(run, data), *overlaps(run, data)):
            found[f"{data}-{_plain(matrix.title)}"] = matrix.table()
        if table := correlation_table(run, data):
            found[f"{data}-correlations"] = table
    for table in sensitivity_tables(run):
        found[_plain(table.title)] = table
    found["costs"] = costs(run)
    return found


def scores(run: StudyRun, data: str) -> Table:
    """Every model on its own splits: test part, independent part, fall."""
    area = next((row.metric for row in run.measurements if LABELS_OF.match(row.metric)), None)
    shown = list(dict.fromkeys(["accuracy", run.metric, *filter(None, [area])]))
    rows = []
    for cell in own_cells(run, data):
        fall = run.fall(cell, run.metric)
        rows.append((
            cell.model, cell.space or "–", cell.family,
            *(
                scored(run.level(cell, metric)) if metric == run.metric else number(_value(run.level(cell, metric)))
                for metric in shown
            ),
            *(number(_value(run.level(cell, metric, "independent"))) for metric in shown[:2]),
            scored(fall) if fall else "",
            *(scored(run.level(cell, f"{part}.{run.metric}")) for part in PARTS_OF_FALL),
        ))  # fmt: skip
    columns = (
        "model", "space that was cut", "split", *(f"test {called(metric)}" for metric in shown),
        *(f"independent {called(metric)}" for metric in shown[:2]), f"fall of {called(run.metric)}",
        *PARTS_OF_FALL.values(),
    )  # fmt: skip
    note = (
        "Mean over trainings with 95 % intervals over seeds and texts; the fall is against random splits of equal size."
        " Seen: the same test texts when the rest of them is in training. The fall is selection, what the texts lose "
        "even so, and novelty, what they lose by being unseen."
    )
    return Table(f"Scores on {data}", columns, tuple(rows), note)


def own_cells(run: StudyRun, data: str) -> list[Cell]:
    """Random splits of every model, then the splits of its own spaces."""
    cells = [cell for cell in run.cells if cell.data == data and cell.own]
    models = list(dict.fromkeys(cell.model for cell in cells))
    return sorted(cells, key=lambda cell: (models.index(cell.model), cell.family != run.baseline))


def cross_model(run: StudyRun, data: str) -> Iterator[Matrix]:
    """For every way of splitting: whose space was cut (rows) and what was trained there (columns)."""
    cells = [cell for cell in run.cells if cell.data == data]
    for family in dict.fromkeys(cell.family for cell in cells if cell.space):
        ours = [cell for cell in cells if cell.family == family and cell.space]
        spaces = tuple(dict.fromkeys(cell.space for cell in ours))
        models = tuple(dict.fromkeys(cell.model for cell in ours))
        if all(cell.own for cell in ours) or len(models) < 2:
            continue
        for metric in dict.fromkeys(["accuracy", run.metric]):
            found = {(cell.space, cell.model): _value(run.level(cell, metric)) for cell in ours}
            values = [tuple(found.get((space, model)) for model in models) for space in spaces]
            random = {cell.model: _value(run.level(cell, metric)) for cell in cells if cell.family == run.baseline}
            values.append(tuple(random.get(model) for model in models))
            yield Matrix(
                f"{family}: test {called(metric)}", (*spaces, "random splits"), models, tuple(values),
                "Rows: whose latent space was cut. Columns: the model that was trained and tested there.",
            )  # fmt: skip


def overlaps(run: StudyRun, data: str) -> Iterator[Matrix]:
    """For every way of splitting: the share of test texts that splits of two spaces have in common."""
    rows = [row for row in run.measurements if row.metric == "test_overlap" and row.tags.get("data") == data]
    for family in dict.fromkeys(str(row.tags["family"]) for row in rows):
        shares = {
            (str(row.tags["a"]), str(row.tags["b"])): row.value for row in rows if row.tags["family"] == family
        }  # fmt: skip
        names = tuple(dict.fromkeys(name for pair in shares for name in pair))
        values = tuple(tuple(shares.get((a, b), shares.get((b, a))) for b in names) for a in names)
        chance = next(
            (row.value for row in run.measurements
             if row.metric == "test_overlap.chance" and row.tags.get("data") == data and row.tags["family"] == family),
            None,
        )  # fmt: skip
        yield Matrix(
            f"{family}: share of common test texts", names, names, values,
            "Diagonal: one space, cluster seeds compared." + (f" By chance: {number(chance)}." if chance else ""),
        )  # fmt: skip


def correlation_table(run: StudyRun, data: str) -> Table | None:
    """Properties of splits and the score, the strongest correlation first."""
    rows = [
        row for row in run.measurements
        if row.metric == "pearson" and row.tags.get("data") == data and row.value is not None and row.n >= FEWEST_SPLITS
    ]  # fmt: skip
    if not rows:
        return None
    rows.sort(key=lambda row: -abs(row.value or 0))
    lines = tuple(
        (
            property_name(str(row.tags["property"])), str(row.tags.get("part", "")), number(row.value), bounds(row),
            _p(row.tags["p"]), _p(row.tags["p.holm"]), row.n,
        )
        for row in rows
    )  # fmt: skip
    note = (
        "Pearson's r over all splits with 95 % intervals; p as it is and adjusted for all rows (Holm). Splits of one "
        "study are few and alike: read p as too small."
    )
    columns = ("property", "part", f"r with {called(run.metric)}", "interval", "p", "p, Holm", "splits")
    return Table(f"What goes with the score on {data}", columns, lines, note)


def sensitivity_tables(run: StudyRun) -> Iterator[Table]:
    """For everything that was varied: scores on random and on hard splits by its values."""
    for of, name, cells in varied(run):
        rows = tuple(
            (str(value), cell.data, cell.space or "–", cell.family, cell.model, scored(run.level(cell, run.metric)),
             number(_value(run.fall(cell, run.metric))))
            for value, cell in cells
        )  # fmt: skip
        columns = (name, "data", "space", "split", "model", f"test {called(run.metric)}", "fall")
        yield Table(f"{of} by {name}", columns, rows)


def varied(run: StudyRun) -> Iterator[tuple[str, str, list[tuple[object, Cell]]]]:
    """What was varied, the setting, and the cells by its value."""
    variants = run.about.get("variants", {})
    seen = dict.fromkeys((each["of"], name) for each in variants.values() for name in each if name != "of")
    for of, name in seen:
        cells = [
            (variants[called_][name], cell)
            for cell in run.cells
            for called_ in _variant_names(cell, variants)
            if variants[called_]["of"] == of and name in variants[called_]
        ]
        yield of, name, [(value, cell) for value, cell in cells if cell.own]


def _variant_names(cell: Cell, variants: object) -> list[str]:
    known = variants if isinstance(variants, dict) else {}
    # a model with a bottleneck is called after the one it was made of
    return [
        name for name in known
        if name in (cell.data, cell.family, cell.model) or cell.model.startswith(f"{name}-")
    ]  # fmt: skip


def curves(run: StudyRun, data: str, seen: bool = False) -> dict[str, Curve]:
    """For every space: scores over the distance from test to training texts, random splits first, with the area.

    `seen` are the scores of the same texts when the rest of their region is in training.
    """
    found = {}
    for space in dict.fromkeys(cell.space for cell in run.cells if cell.data == data and cell.space and cell.own):
        points = _points(run, data, space, f"seen.{run.metric}" if seen else run.metric)
        if len({point.distance for point in points}) > 1:
            found[space] = difficulty_curve(points, run.metric)
    return found


def _points(run: StudyRun, data: str, space: str, metric: str) -> list[Point]:
    cells = [cell for cell in run.cells if (cell.data, cell.space, cell.own) == (data, space, True)]
    here = [row for row in run.properties if row.tags.get("data") == data and row.tags.get("space") == space]
    distance = {str(row.tags["split"]): row.value for row in here if row.metric == DISTANCE}
    chance = [row.value for row in here if row.metric == f"{DISTANCE}.matched_random" and row.value is not None]
    found = [
        Point(split, float(distance[split] or 0.0), by_seed)
        for cell in cells
        for split, by_seed in _by_split(run, cell, metric).items()
        if distance.get(split) is not None
    ]
    control = next((each for cell in cells if (each := run.control_of(cell))), None)
    if control is not None and chance and found:
        level = run.level(control, run.metric)
        if level is not None and level.value is not None:
            found.append(Point(run.baseline, sum(chance) / len(chance), {0: level.value}))
    return found


def _by_split(run: StudyRun, cell: Cell, metric: str) -> dict[str, dict[int, float]]:
    """Scores of the single trainings of a cell."""
    found: dict[str, dict[int, float]] = {}
    for row in run.measurements:
        tags = row.tags
        if row.metric == metric and row.slice == "all" and row.value is not None and "split" in tags and (
            (tags.get("data"), tags.get("space", ""), tags.get("family"), tags.get("model"), tags.get("part"))
            == (cell.data, cell.space, cell.family, cell.model, "test")
        ):  # fmt: skip
            found.setdefault(str(tags["split"]), {})[int(tags["seed"])] = row.value
    return found


def costs(run: StudyRun) -> Table:
    """What the steps took, by what they do."""
    kinds: dict[str, list[dict[str, float]]] = {}
    for each in run.about.get("costs", []):
        kinds.setdefault(str(each["work"]).replace("_", " "), []).append(each)
    rows: list[tuple[str | int, ...]] = []
    for kind, steps in kinds.items():
        hours = [sum(float(each.get(name) or 0) for each in steps) / 3600 for name in ("seconds", "cpu_seconds")]
        gpu = sum(float(each.get("gpus") or 0) * float(each["seconds"]) for each in steps) / 3600
        reused = sum(bool(each["reused"]) for each in steps)
        rows.append((kind, len(steps), reused, *(f"{each:.2f}" for each in (*hours, gpu))))
    note = "Of steps that were there already, what they took when they were made."
    return Table("Cost", ("step", "steps", "there already", "hours", "CPU hours", "GPU hours"), tuple(rows), note)


def _value(row: Measurement | None) -> float | None:
    return None if row is None else row.value


def _p(value: object) -> str:
    p = float(str(value))
    return "< .001" if p < 0.001 else number(p, 3)


def _plain(title: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", title).strip("-").lower()


def headline(run: StudyRun) -> list[str]:
    """What was found, in a sentence per dataset."""
    said = []
    for data in run.about["datasets"]:
        falls = [(run.fall(cell, run.metric), cell) for cell in own_cells(run, data) if cell.family != run.baseline]
        known = [(fall, cell) for fall, cell in falls if fall is not None and fall.value is not None]
        if not known:
            said.append(f"On {data} nothing is known yet." if falls else f"On {data} there are random splits only.")
            continue
        fall, cell = max(known, key=lambda each: each[0].value or 0.0)
        said.append(_sentence(run, data, fall, cell, [each for each, _ in known]))
    return said


def _sentence(run: StudyRun, data: str, fall: Measurement, cell: Cell, all_: Sequence[Measurement]) -> str:
    control = run.control_of(cell)
    before = scored(run.level(control, run.metric)) if control else "?"
    clear = sum(each.low is not None and each.low > 0 for each in all_)
    where = f"{cell.family} in the space of {cell.space}" if cell.space else cell.family
    hardest = (
        f"the hardest split is {where}" if (fall.value or 0.0) > 0 else f"no split is harder; the nearest is {where}"
    )
    return (
        f"On {data} {hardest}: {called(run.metric)} {scored(run.level(cell, run.metric))} against "
        f"{before} on random splits. For {clear} of {len(all_)} kinds of hard splits the interval of the fall is above "
        "zero."
    )
