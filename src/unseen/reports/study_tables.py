"""The tables of a study, made from its rows alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unseen.analysis import Curve, Point, difficulty_curve
from unseen.evaluation.wording import called
from unseen.reports.formats import Table
from unseen.reports.record import RunRecord
from unseen.reports.stress_tables import property_name
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
class Cell:
    """One model on the splits of one kind: the trainings that are summed up in one number."""

    data: str
    space: str
    """Empty for splits that cut no latent space."""
    family: str
    """The way of splitting, as the study calls it."""
    model: str
    own: bool
    """Whether the space that was cut is the model's."""
    test: float
    dev: float

    @property
    def tags(self) -> dict[str, Any]:
        """What its rows are marked with."""
        return {"data": self.data, "model": self.model} | ({"space": self.space} if self.space else {})

    @property
    def place(self) -> dict[str, Any]:
        """What tells its rows from those of other cells."""
        return {"data": self.data, "space": self.space or None, "family": self.family, "model": self.model}

    def is_of(self, variant: str) -> bool:
        """Whether it is one of a variant's: a model with a bottleneck is called after the one it was made of."""
        return variant in (self.data, self.family, self.model) or self.model.startswith(f"{variant}-")


def cells_of(run: RunRecord) -> list[Cell]:
    """The cells of a study."""
    return [Cell(**cell) for cell in run.about["cells"]]


def level_of(run: RunRecord, cell: Cell, metric: str, part: str = "test") -> Measurement | None:
    """The mean over the trainings of a cell."""
    return run.row(metric, part=part, split=None, **cell.place)


def fall_of(run: RunRecord, cell: Cell) -> Measurement | None:
    """How far a cell is below random splits."""
    return level_of(run, cell, f"fall.{run.metric}")


def control_of(run: RunRecord, cell: Cell) -> Cell | None:
    """The random splits that a cell was compared with: those of its size."""
    place = (cell.data, cell.model, cell.test, cell.dev)
    controls = (other for other in cells_of(run) if is_control(run, other))
    return next((other for other in controls if (other.data, other.model, other.test, other.dev) == place), None)


def is_control(run: RunRecord, cell: Cell) -> bool:
    """Whether others are compared with it: the random splits of the study, and those like them of another size."""
    baseline = run.about["baseline"]
    of = run.about.get("variants", {}).get(baseline, {}).get("of", baseline)
    return cell.family == baseline or bool(re.fullmatch(rf"{re.escape(of)}( test=\S+)?( dev=\S+)?", cell.family))


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
        lines = tuple((name, *map(number, line)) for name, line in zip(self.rows, self.values, strict=True))
        return Table(self.title, ("", *self.columns), lines, self.note)


def tables(run: RunRecord) -> dict[str, Table]:
    """Every table of the study by the name of its file."""
    named: dict[str, Table] = {}
    for data in run.about["datasets"]:
        named[f"{data}-scores"] = scores(run, data)
        for matrix in (*cross_model(run, data), *overlaps(run, data)):
            named[f"{data}-{_plain(matrix.title)}"] = matrix.table()
        if table := correlation_table(run, data):
            named[f"{data}-correlations"] = table
    named |= {_plain(table.title): table for table in sensitivity_tables(run)}
    return named | {"costs": costs(run)}


def scores(run: RunRecord, data: str) -> Table:
    """Every model on its own splits: test part, independent part, fall."""
    area = next((row.metric for row in run.measurements if LABELS_OF.match(row.metric)), None)
    shown = list(dict.fromkeys(["accuracy", run.metric, *filter(None, [area])]))
    rows = []
    for cell in own_cells(run, data):
        fall = fall_of(run, cell)
        rows.append((
            cell.model, cell.space or "–", cell.family,
            *(
                scored(row) if metric == run.metric else number(_value(row))
                for metric in shown
                for row in [level_of(run, cell, metric)]
            ),
            *(number(_value(level_of(run, cell, metric, "independent"))) for metric in shown[:2]),
            scored(fall) if fall else "",
            *(scored(level_of(run, cell, f"{part}.{run.metric}")) for part in PARTS_OF_FALL),
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


def own_cells(run: RunRecord, data: str) -> list[Cell]:
    """Random splits of every model, then the splits of its own spaces."""
    cells = [cell for cell in cells_of(run) if cell.data == data and cell.own]
    models = list(dict.fromkeys(cell.model for cell in cells))
    return sorted(cells, key=lambda cell: (models.index(cell.model), not is_control(run, cell)))


def cross_model(run: RunRecord, data: str) -> Iterator[Matrix]:
    """For every way of splitting: whose space was cut (rows) and what was trained there (columns)."""
    cells = [cell for cell in cells_of(run) if cell.data == data]
    for family in dict.fromkeys(cell.family for cell in cells if cell.space):
        ours = [cell for cell in cells if cell.family == family and cell.space]
        spaces = tuple(dict.fromkeys(cell.space for cell in ours))
        models = tuple(dict.fromkeys(cell.model for cell in ours))
        if all(cell.own for cell in ours) or len(models) < 2:
            continue
        for metric in dict.fromkeys(["accuracy", run.metric]):
            scores = {(cell.space, cell.model): _value(level_of(run, cell, metric)) for cell in ours}
            values = [tuple(scores.get((space, model)) for model in models) for space in spaces]
            random = {
                cell.model: _value(level_of(run, control, metric))
                for cell in ours
                if (control := control_of(run, cell))
            }
            values.append(tuple(random.get(model) for model in models))
            yield Matrix(
                f"{family}: test {called(metric)}", (*spaces, "random splits"), models, tuple(values),
                "Rows: whose latent space was cut. Columns: the model that was trained and tested there.",
            )  # fmt: skip


def overlaps(run: RunRecord, data: str) -> Iterator[Matrix]:
    """For every way of splitting: the share of test texts that splits of two spaces have in common."""
    rows = list(run.rows("test_overlap", data=data))
    for family in dict.fromkeys(str(row.tags["family"]) for row in rows):
        shares = {(str(row.tags["a"]), str(row.tags["b"])): row.value for row in rows if row.tags["family"] == family}
        names = tuple(dict.fromkeys(name for pair in shares for name in pair))
        values = tuple(tuple(shares.get((a, b), shares.get((b, a))) for b in names) for a in names)
        chance = run.value("test_overlap.chance", data=data, family=family)
        yield Matrix(
            f"{family}: share of common test texts", names, names, values,
            "Diagonal: one space, cluster seeds compared." + (f" By chance: {number(chance)}." if chance else ""),
        )  # fmt: skip


def correlation_table(run: RunRecord, data: str) -> Table | None:
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


def sensitivity_tables(run: RunRecord) -> Iterator[Table]:
    """For everything that was varied: scores on random and on hard splits by its values."""
    for of, name, cells in varied(run):
        rows = tuple(
            (str(value), cell.data, cell.space or "–", cell.family, cell.model, scored(level_of(run, cell, run.metric)),
             number(_value(fall_of(run, cell))))
            for value, cell in cells
        )  # fmt: skip
        columns = (name, "data", "space", "split", "model", f"test {called(run.metric)}", "fall")
        yield Table(f"{of} by {name}", columns, rows)


def varied(run: RunRecord) -> Iterator[tuple[str, str, list[tuple[object, Cell]]]]:
    """What was varied, the setting, and the cells by its value."""
    variants = run.about.get("variants", {})
    settings = dict.fromkeys((variant["of"], name) for variant in variants.values() for name in variant if name != "of")
    for of, name in settings:
        cells = [
            (variants[variant][name], cell)
            for cell in cells_of(run)
            for variant in variants
            if cell.own and cell.is_of(variant) and variants[variant]["of"] == of and name in variants[variant]
        ]
        yield of, name, cells


def curves(run: RunRecord, data: str, seen: bool = False) -> dict[str, Curve]:
    """For every space: scores over the distance from test to training texts, random splits first, with the area.

    `seen` are the scores of the same texts when the rest of their region is in training.
    """
    by_space = {}
    for space in dict.fromkeys(cell.space for cell in cells_of(run) if cell.data == data and cell.space and cell.own):
        points = _points(run, data, space, f"seen.{run.metric}" if seen else run.metric)
        if len({point.distance for point in points}) > 1:
            by_space[space] = difficulty_curve(points, run.metric)
    return by_space


def _points(run: RunRecord, data: str, space: str, metric: str) -> list[Point]:
    cells = [cell for cell in cells_of(run) if (cell.data, cell.space, cell.own) == (data, space, True)]
    here = [row for row in run.properties if row.tags.get("data") == data and row.tags.get("space") == space]
    distance = {str(row.tags["split"]): row.value for row in here if row.metric == DISTANCE}
    by_chance = [row for row in here if row.metric == f"{DISTANCE}.matched_random" and row.value is not None]
    points = [
        Point(split, float(distance[split] or 0.0), by_seed)
        for cell in cells
        for split, by_seed in _by_split(run, cell, metric).items()
        if distance.get(split) is not None
    ]
    families: dict[Cell, set[str]] = {}
    for cell in cells:
        if control := control_of(run, cell):
            families.setdefault(control, set()).add(cell.family)
    for control, compared in families.items() if points else ():
        chance = [row.value or 0.0 for row in by_chance if row.tags["family"] in compared]
        level = level_of(run, control, run.metric)
        if chance and level is not None and level.value is not None:
            points.append(Point(control.family, sum(chance) / len(chance), {0: level.value}))
    return points


def _by_split(run: RunRecord, cell: Cell, metric: str) -> dict[str, dict[int, float]]:
    """Scores of the single trainings of a cell."""
    by_split: dict[str, dict[int, float]] = {}
    for row in run.rows(metric, part="test", **cell.place):
        if row.value is not None and "split" in row.tags:
            by_split.setdefault(str(row.tags["split"]), {})[int(row.tags["seed"])] = row.value
    return by_split


def costs(run: RunRecord) -> Table:
    """What the steps took, by what they do."""
    kinds: dict[str, list[dict[str, float]]] = {}
    for step in run.about.get("costs", []):
        kinds.setdefault(str(step["work"]).replace("_", " "), []).append(step)
    rows: list[tuple[str | int, ...]] = []
    for kind, steps in kinds.items():
        seconds = [sum(float(step.get(name) or 0) for step in steps) for name in ("seconds", "cpu_seconds")]
        seconds.append(sum(float(step.get("gpus") or 0) * float(step["seconds"]) for step in steps))
        reused = sum(bool(step["reused"]) for step in steps)
        rows.append((kind, len(steps), reused, *(f"{total / 3600:.2f}" for total in seconds)))
    note = "Of steps that were there already, what they took when they were made."
    return Table("Cost", ("step", "steps", "there already", "hours", "CPU hours", "GPU hours"), tuple(rows), note)


def _value(row: Measurement | None) -> float | None:
    return None if row is None else row.value


def _p(value: object) -> str:
    p = float(str(value))
    return "< .001" if p < 0.001 else number(p, 3)


def _plain(title: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", title).strip("-").lower()


def headline(run: RunRecord) -> list[str]:
    """What was found, in a sentence per dataset."""
    sentences = []
    for data in run.about["datasets"]:
        falls = [(fall_of(run, cell), cell) for cell in own_cells(run, data) if not is_control(run, cell)]
        known = [(fall, cell) for fall, cell in falls if fall is not None and fall.value is not None]
        if not known:
            sentences.append(
                f"On {data} nothing is known yet." if falls else f"On {data} there are random splits only."
            )
            continue
        fall, cell = max(known, key=lambda measured: measured[0].value or 0.0)
        sentences.append(_sentence(run, data, fall, cell, [fall for fall, _ in known]))
    return sentences


def _sentence(run: RunRecord, data: str, fall: Measurement, cell: Cell, falls: Sequence[Measurement]) -> str:
    control = control_of(run, cell)
    before = scored(level_of(run, control, run.metric)) if control else "?"
    clear = sum(row.low is not None and row.low > 0 for row in falls)
    where = f"{cell.family} in the space of {cell.space}" if cell.space else cell.family
    hardest = (
        f"the hardest split is {where}" if (fall.value or 0.0) > 0 else f"no split is harder; the nearest is {where}"
    )
    return (
        f"On {data} {hardest}: {called(run.metric)} {scored(level_of(run, cell, run.metric))} against "
        f"{before} on random splits. For {clear} of {len(falls)} kinds of hard splits the interval of the fall is "
        "above zero."
    )
