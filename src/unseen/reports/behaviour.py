"""What suites say about models, as tables and as a part of a page: from measurements alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from unseen.functional.pass_rates import BOTH, BOTH_AXES, EXPLAINED, FLIPPED, PASSED, WEIGHTED
from unseen.reports.figures import MOST_LINES, DotLine, colour_of, dot_chart
from unseen.reports.formats import Cell, Strong, Table
from unseen.reports.heat_map import heat_map
from unseen.reports.record import RunRecord
from unseen.store.files import file_name
from unseen.types import Measurement
from unseen.types.numbers import DASH, bounds, number, percent

LOW = 0.5
"""Rates below are marked: guessing between two labels does as well."""
MARK = "↓"
CAUTION = "A passed test shows that one weakness is absent; it does not show strength."
AXIS_TITLES = {"label": "By label", "class": "By class", "direction": "By direction", "target": "By target"}


@dataclass(frozen=True, eq=False)
class Behaviour:
    """Everything measured with one suite."""

    suite: str
    record: RunRecord

    @property
    def rows(self) -> Sequence[Measurement]:
        """Everything, in its order."""
        return self.record.measurements

    @cached_property
    def models(self) -> tuple[str, ...]:
        """In the order in which they were asked."""
        return tuple(dict.fromkeys(str(row.tags.get("model", "")) for row in self.record.rows(PASSED)))

    def rate(self, slice: str, model: str, metric: str = PASSED, pairs: str = "") -> Measurement | None:
        """One number."""
        return self.record.row(metric, slice, model=model or None, pairs=pairs or None)

    def of_axis(self, axis: str, model: str | None = None) -> dict[str, Measurement]:
        """One row per slice of an axis, of the first model unless another one is named."""
        own = self.record.where(axis=axis, model=(self.models[0] if model is None else model) or None)
        return {row.slice: row for row in own.measurements if row.metric == PASSED}

    @property
    def axes(self) -> list[str]:
        """Axes that are tables of their own."""
        names = dict.fromkeys(str(row.tags["axis"]) for row in self.rows if "axis" in row.tags)
        return [axis for axis in names if axis not in ("functionality", BOTH_AXES)]


def behaviours(rows: Sequence[Measurement]) -> list[Behaviour]:
    """One for each suite among the measurements."""
    record = RunRecord({}, rows)
    return [Behaviour(name, own) for name, own in record.by("suite", record.names("suite", PASSED)).items()]


def functionality_table(of: Behaviour) -> Table:
    """Class, functionality, gold label, cases, and the rate of every model in percent, the best in bold."""
    slices = of.of_axis("functionality")
    rows: list[tuple[Cell, ...]] = [
        (
            str(row.tags.get("class", "")), _value_of(row), str(row.tags.get("gold", "")), row.n,
            *_compared(of, name),
        )
        for name, row in slices.items()
    ]  # fmt: skip
    total = of.rate("all", of.models[0])
    rows.append(("", "all", "", total.n if total else 0, *_compared(of, "all")))
    for metric in dict.fromkeys(row.metric for row in of.rows if WEIGHTED.fullmatch(row.metric)):
        scheme = metric.removeprefix(f"{PASSED}.")
        rows.append(("", f"all, weighted: {scheme}", "", total.n if total else 0, *_compared(of, "all", metric)))
    columns = ("class", "functionality", "gold label", "cases", *_models(of))
    return Table(f"{of.suite}: passed by functionality, %", columns, tuple(rows), _note(of))


def axis_table(of: Behaviour, axis: str) -> Table:
    """The rates of the slices of one axis."""
    slices = of.of_axis(axis)
    rows: list[tuple[Cell, ...]] = [(_value_of(row), row.n, *_compared(of, name)) for name, row in slices.items()]
    note = ""
    if any(row.tags.get("cases") == "balanced" for row in slices.values()):
        note = f"Only cases of templates that occur equally often for every {axis}."
    title = f"{of.suite}: {AXIS_TITLES.get(axis, f'by {axis}').lower()}, %"
    return Table(title, (axis, "cases", *_models(of)), tuple(rows), note)


def pair_table(of: Behaviour) -> Table | None:
    """Cases that are right together with the case they contrast with or alter."""
    kinds = [(BOTH, "contrast"), (BOTH, "alteration"), (FLIPPED, "alteration")]
    slices = dict.fromkeys(row.slice for row in of.rows if row.metric == BOTH)
    lines: list[tuple[Cell, ...]] = []
    for metric, pairs in kinds:
        for name in slices:
            first = of.rate(name, of.models[0], metric, pairs)
            if first is not None:
                what = {BOTH: "both right", FLIPPED: "label changed"}[metric]
                rates = [_percent(of.rate(name, model, metric, pairs)) for model in of.models]
                lines.append((pairs, what, _value_of(first), first.n, *rates))
    if not lines:
        return None
    note = "Contrasts have the other label than the case they refer to, alterations the same."
    columns = ("pair", "what", "functionality", "pairs", *_models(of))
    return Table(f"{of.suite}: pairs of cases, %", columns, tuple(lines), note)


def comparison_table(of: Behaviour) -> Table | None:
    """Differences of models on every functionality, with adjusted p-values."""
    rows = [row for row in of.rows if row.metric == f"difference.{PASSED}" and row.value is not None]
    rows = [row for row in rows if row.slice == "all" or row.tags.get("axis") in ("functionality", "target")]
    if not rows:
        return None
    lines = tuple(
        (
            str(row.tags.get("model", "")), str(row.tags.get("other", "")), _value_of(row), row.n,
            number(100 * (row.value or 0), 1), bounds(row, lambda value: number(100 * value, 1)) or DASH,
            number(float(row.tags["p"]), 3), number(float(row.tags["p.holm"]), 3),
        )
        for row in rows
    )  # fmt: skip
    columns = ("model", "less", "slice", "cases", "points", "interval", "p", "p, Holm")
    note = "p swaps the two models on whole templates; Holm's adjustment is over all slices of an axis."
    return Table(f"{of.suite}: models compared", columns, lines, note)


def target_matrix(of: Behaviour, model: str) -> tuple[list[str], list[str], list[list[float | None]]] | None:
    """Rates by functionality (rows) and target (columns) of one model."""
    crossed = of.of_axis(BOTH_AXES, model).values()
    if not crossed:
        return None
    rates = {(str(row.tags["target"]), str(row.tags["functionality"])): row.value for row in crossed}
    targets = list(dict.fromkeys(key[0] for key in rates))
    functions = list(dict.fromkeys(key[1] for key in rates))
    return functions, targets, [[rates.get((target, function)) for target in targets] for function in functions]


def matrix_table(of: Behaviour, model: str) -> Table | None:
    """`target_matrix` as a table, in percent."""
    matrix = target_matrix(of, model)
    if matrix is None:
        return None
    functions, targets, values = matrix
    lines = [
        (name, *(None if rate is None else round(100 * rate, 1) for rate in row))
        for name, row in zip(functions, values, strict=True)
    ]
    return Table(f"{of.suite}: {model} by functionality and target, %", ("functionality", *targets), tuple(lines))


def headline(of: Behaviour, model: str) -> str:
    """What one model passes, in a sentence or two."""
    overall = of.rate("all", model)
    if overall is None or overall.value is None:
        return f"{model} could not be judged on {of.suite}."
    slices = of.of_axis("functionality")
    known = [(of.rate(name, model), _value_of(row)) for name, row in slices.items()]
    rates = sorted((row.value, name) for row, name in known if row is not None and row.value is not None)
    passed = f"{model or 'The model'} passes {percent(overall.value)} of the {overall.n:,} cases of {of.suite}"
    low = [name for value, name in rates if value < LOW]
    if not low:
        return f"{passed}, and at least {percent(rates[0][0], 0)} of every functionality." if rates else f"{passed}."
    worst = ", ".join(f"{name} ({percent(value, 0)})" for value, name in rates[:3] if value < LOW)
    return f"{passed}. {len(low)} of {len(rates)} functionalities are below {percent(LOW)}; the lowest: {worst}."


def kinds_of_failure(of: Behaviour) -> list[str]:
    """What kind of failure each model shows, a sentence each, with its name where there are several."""
    rows = {model: of.rate("all", model, EXPLAINED) for model in of.models}
    sentences = {model: str(row.tags["sentence"]) for model, row in rows.items() if row is not None}
    return [f"{model}: {sentence}" if len(of.models) > 1 else sentence for model, sentence in sentences.items()]


def tables(of: Behaviour) -> dict[str, Table]:
    """Every table by the name of its file."""
    named: dict[str, Table | None] = {"functionalities": functionality_table(of)}
    named |= {f"by-{file_name(axis)}": axis_table(of, axis) for axis in of.axes}
    named |= {f"targets-{file_name(model)}": matrix_table(of, model) for model in of.models}
    named |= {"pairs": pair_table(of), "comparison": comparison_table(of)}
    return {name: table for name, table in named.items() if table is not None}


def _models(of: Behaviour) -> list[str]:
    return [name or "model" for name in of.models]


def _compared(of: Behaviour, slice: str, metric: str = PASSED) -> list[str]:
    """The rates of all models on one slice, the best in bold where there are several."""
    rows = [of.rate(slice, model, metric) for model in of.models]
    values = [row.value for row in rows if row is not None and row.value is not None]
    best = max(values, default=None) if len(of.models) > 1 else None
    cells = []
    for row in rows:
        cell = _percent(row)
        if row is not None and row.value is not None:
            interval = bounds(row, lambda value: number(100 * value, 1))
            cell = " ".join(filter(None, [cell, interval, MARK if row.value < LOW else ""]))
            cell = Strong(cell) if row.value == best else cell
        cells.append(cell)
    return cells


def _percent(row: Measurement | None) -> str:
    return DASH if row is None or row.value is None else percent(row.value, 1).removesuffix(" %")


def _value_of(row: Measurement) -> str:
    return row.slice.partition("=")[2] or row.slice


def _note(of: Behaviour) -> str:
    best = "Best in bold. " if len(of.models) > 1 else ""
    return f"{best}{MARK} below {percent(LOW)}. Brackets: 95 % intervals, drawn by template. {CAUTION}"


def section(of: Behaviour) -> dict[str, Any]:
    """What the templates show of one suite."""
    lines = [
        DotLine(
            name.partition("=")[2], str(row.tags.get("class", "")), tuple(of.rate(name, model) for model in of.models)
        )
        for name, row in of.of_axis("functionality").items()
    ]
    axis = "share of cases passed"
    return {
        "suite": of.suite,
        "headlines": [headline(of, model) for model in of.models],
        "kinds": kinds_of_failure(of),
        "models": [(name or "model", colour_of(place)) for place, name in enumerate(of.models)],
        "left_out": max(0, len(lines) - MOST_LINES),
        "wide": dot_chart(lines, of.models, axis, write=percent),
        "narrow": dot_chart(lines, of.models, axis, narrow=True, write=percent),
        "functionalities": functionality_table(of),
        "axes": [axis_table(of, axis) for axis in of.axes],
        "pairs": pair_table(of),
        "comparison": comparison_table(of),
        "targets": [drawn for model in of.models if (drawn := _targets(of, model))],
        "caution": CAUTION,
    }


def _targets(of: Behaviour, model: str) -> str | None:
    matrix = target_matrix(of, model)
    if matrix is None:
        return None
    rows, columns, values = matrix
    title = f"{model or 'model'}: share passed by functionality and target"
    return heat_map(values, rows, columns, title=title, scale=(0.0, 1.0))
