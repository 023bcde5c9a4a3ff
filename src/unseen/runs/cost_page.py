"""What a cost run says: which model is cheap enough, which nobody needs, and what was measured and what estimated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from unseen.costs.energy import ASSUMPTION
from unseen.costs.operations import NOT_COUNTED
from unseen.costs.pareto import dominated_by
from unseen.evaluation.wording import called, capital
from unseen.functional.pass_rates import PASSED
from unseen.reports.columns import Column, score, table_of, value
from unseen.reports.figures import CostMark, pareto_chart
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, counted, sorted_findings, two_widths, with_lines
from unseen.reports.record import RunRecord
from unseen.runs.cost import COSTS, HARD, ORDINARY, STEADY, SUITE, best_of, contenders
from unseen.runs.cost_steps import ASK_BATCHES, ASKED_AT_ONCE, TOKENS_A_WORD
from unseen.types import Measurement, some
from unseen.types.numbers import DASH, digits, in_bytes, in_seconds, number, percent, points, scored, with_prefix

VIEWS = {ORDINARY: "on the ordinary test part", HARD: "on the hard split", SUITE: "on the suite"}
AXES = {
    "latency.p50": "median seconds for one answer",
    "processor_seconds.training": "processor seconds of one training",
}
NOTE = (
    "In brackets after scores: 95 % intervals; after times and speeds: quartiles of the repeats, which say how steady "
    "this machine was and nothing about other machines. “Dominated”: another model scores no worse in any view and "
    "costs no more, and in one of these the intervals are apart; costs that differ by less than "
    f"{percent(STEADY)} count as equal."
)
TRAINING_TEXT = (
    "Texts per second are of training steps alone, epochs counted, without validation passes; of recipes without "
    "steps of their own, a fit without dev texts, in which no epoch is left out. Time, processor time and memory are "
    "of the whole training in a fresh process, validation and loading included."
)
INFERENCE_TEXT = (
    f"In a process that has trained nothing, after a warm-up. Latency: texts one by one. Texts per second: "
    f"{ASKED_AT_ONCE} asked about at once; the batch is what the model then works on, and padded tokens are what it "
    f"computes with. Operations are counted, not timed; {NOT_COUNTED} are not counted."
)
BATCH_TEXT = (
    "One model, one limit of tokens, several batches: what differs here is the batch and not the architecture. "
    "A larger batch takes fewer steps with the same rate of learning."
)


@dataclass(frozen=True)
class CostRecord:
    """The numbers of a cost run by candidate."""

    record: RunRecord

    @cached_property
    def names(self) -> list[str]:
        """Candidates in the order of the run."""
        return list(dict.fromkeys(str(row.tags["model"]) for row in self.record.measurements if "model" in row.tags))

    @cached_property
    def views(self) -> list[str]:
        """Views that some candidate has a score in."""
        return [view for view in VIEWS if any(self.score(name, view) for name in self.names)]

    @cached_property
    def parts(self) -> dict[str, RunRecord]:
        """What was measured of each candidate, without what was asked at once in other numbers than usual."""
        return self.record.where(asked_at_once=None).by("model", self.names)

    def row(self, name: str, metric: str, **tags: Any) -> Measurement | None:
        """The number of a candidate."""
        return self.parts[name].row(metric, **tags)

    def score(self, name: str, view: str) -> Measurement | None:
        """The score of a candidate in a view."""
        return self.row(name, PASSED if view == SUITE else self.record.metric, view=view)

    def best(self, view: str) -> str | None:
        """The candidate with the best score."""
        levels = {name: row for name in self.names if (row := self.score(name, view)) is not None}
        return best_of(levels, PASSED if view == SUITE else self.record.metric)

    def not_worse(self, view: str) -> list[str]:
        """Candidates that are not shown to be worse than the best: the interval of the difference reaches zero."""
        best, chosen = self.best(view), []
        for name in self.names:
            row = self.row(name, f"difference.{self.record.metric}", view=view)
            if name == best or (row is not None and (row.high is None or row.high >= 0)):
                chosen.append(name)
        return chosen

    def cheapest(self, names: Sequence[str], side: str) -> str | None:
        """Of these the one that costs least; of several whose costs count as equal, the one that scores best."""
        known = {name: row.value for name in names if (row := self.row(name, side)) and row.value is not None}
        least = min(known.values(), default=0.0)
        equal = [name for name, value in known.items() if (value - least) <= STEADY * value]
        levels = {name: row for name in equal if (row := self.score(name, ORDINARY)) is not None}
        return best_of(levels, self.record.metric)

    def dominated(self, side: str) -> dict[str, list[str]]:
        """Of every candidate those that dominate it."""
        return dominated_by(*contenders(self.record.metric, self.record.measurements, side))


def page(record: RunRecord) -> Page:
    """The verdict, pictures of cost and quality, and every number."""
    costs = CostRecord(record)
    shown = with_lines(tables(costs))
    data = record.about["data"]
    return Page(
        "cost",
        f"What a score on {data['name']} costs",
        verdict(costs),
        f"{data['rows']:,} texts: {counted(data['counts'])}",
        NOTE,
        list(_sections(costs, shown)),
        shown,
        [shown[name] for name in ("quality", "training", "inference") if name in shown],
        [finding for finding in sorted_findings(record.findings) if finding.level != "ok"],
    )


def verdict(costs: CostRecord) -> Verdict:
    """Which model is cheap and not shown to be worse, and which are dominated; fail: a gate, or beyond the budget."""
    record, side = costs.record, "latency.p50"
    best = costs.best(ORDINARY)
    chosen = costs.cheapest(costs.not_worse(ORDINARY), side)
    if best is None or chosen is None:
        return Verdict("No verdict: nothing could be measured.", [], "fail")
    headline = f"{chosen} is the fastest that is not shown to be worse than {best}."
    if chosen == best:
        fastest = costs.cheapest(costs.names, side) == best
        headline = f"{best} scores best, and {'nothing is faster' if fastest else 'whatever is faster is worse'}."
    if len(costs.names) == 1:
        headline = f"{best} was measured alone: nothing says whether it is worth its cost."
    sentences = [_alone(costs, best) if chosen == best else _compared(costs, chosen, best)]
    for view in costs.views[1:]:
        leader = costs.best(view)
        if leader is not None:
            own = "" if leader == chosen else f"; {chosen} {scored(costs.score(chosen, view))}"
            best_there = f"{leader} scores best, {scored(costs.score(leader, view))}"
            sentences.append(f"{capital(VIEWS[view])}, {best_there}{own}.")
    for of_side in COSTS:
        needless = [name for name, better in costs.dominated(of_side).items() if better]
        sentences.append(
            f"By {COSTS[of_side]}, nobody needs {some(needless, 20)}." if needless
            else f"By {COSTS[of_side]}, none is dominated for certain."
        )  # fmt: skip
    if int(record.about["settings"]["trainings"]) < 2 and record.rows("seconds.training"):
        sentences.append("Every model was trained once: training again could order them otherwise.")
    failed = not record.gates_hold or any(one.level == "fail" for one in record.findings)
    return Verdict(headline, sentences, "fail" if failed else "ok", badge="failed" if failed else "measured")


def _alone(costs: CostRecord, best: str) -> str:
    return (
        f"It scores {scored(costs.score(best, ORDINARY))} in {called(costs.record.metric)} and takes "
        f"{scored(costs.row(best, 'latency.p50'), _milliseconds)} ms for an answer."
    )


def _compared(costs: CostRecord, chosen: str, best: str) -> str:
    """What the fastest gives up and saves."""
    row = costs.row(chosen, f"difference.{costs.record.metric}", view=ORDINARY)
    fast, slow = costs.row(chosen, "latency.p50"), costs.row(best, "latency.p50")
    lost = "" if row is None else f"its score differs by {scored(row, points)} points, and "
    return (
        f"{capital(called(costs.record.metric))}: {scored(costs.score(chosen, ORDINARY))} against "
        f"{scored(costs.score(best, ORDINARY))}; {lost}an answer takes {scored(fast, _milliseconds)} ms against "
        f"{scored(slow, _milliseconds)} ms. Not shown to be worse is not shown to be equal: look at the interval."
    )


def _sections(costs: CostRecord, shown: dict[str, Table]) -> Iterator[Section]:
    for side, axis in AXES.items():
        pictures = [
            two_widths(partial(_chart, costs, view, side, axis))
            for view in costs.views
            if sum(bool(costs.score(name, view) and costs.row(name, side)) for name in costs.names) > 1
        ]
        if pictures:
            heading = f"Quality against {COSTS[side]}"
            tables_shown = [shown["quality"]] if side == "latency.p50" else []
            yield Section(heading, pictures=pictures, tables=tables_shown, short=capital(COSTS[side]))
        elif side == "latency.p50":
            yield Section("Quality", tables=[shown["quality"]])
    if "training" in shown:
        yield Section("Training, measured", TRAINING_TEXT, tables=[shown["training"]], short="Training")
    yield Section("Answers, measured", INFERENCE_TEXT, tables=[shown["inference"]], short="Answers")
    if "batches" in shown:
        yield Section("Is it the batch?", BATCH_TEXT, tables=[shown["batches"]], short="Batches")
    yield Section(
        "Texts asked about at once", "Texts per second; the batch that was used is in brackets where it is another.",
        tables=[shown["at-once"]], short="At once",
    )  # fmt: skip
    if "energy" in shown:
        yield Section("Energy, measured", tables=[shown["energy"]])
    if "estimates" in shown:
        yield Section("Estimated, not measured", _assumptions(costs), tables=[shown["estimates"]], short="Estimates")
    yield Section("Findings", findings=sorted_findings(costs.record.findings))


def _chart(costs: CostRecord, view: str, side: str, axis: str, narrow: bool) -> str:
    dominated = costs.dominated(side)
    marks = [
        CostMark(name, cost, score, bool(dominated.get(name)))
        for name in costs.names
        if (cost := costs.row(name, side)) is not None and (score := costs.score(name, view)) is not None
        and cost.value and score.value is not None
    ]  # fmt: skip
    named = "pass rate" if view == SUITE else called(costs.record.metric)
    return pareto_chart(marks, axis, f"{named}, {VIEWS[view]}", narrow=narrow)


def _assumptions(costs: CostRecord) -> str:
    metrics = {row.metric.partition(".")[0] for row in costs.record.measurements}
    parts = [f"Joules: {ASSUMPTION}."] if "energy_estimate" in metrics else []
    if "money_estimate" in metrics:
        low, high = TOKENS_A_WORD
        parts.append(f"Money: {low} to {high} tokens a word, because the tokens of a server are not known.")
    return " ".join(parts) + " The ranges are those of the assumption."


def _milliseconds(value: float | None) -> str:
    return digits(None if value is None else 1e3 * value)


def _whole(value: float | None) -> str:
    return DASH if value is None else f"{value:,.0f}"


def _without_empty(table: Table) -> Table:
    """The table without columns in which nothing was measured."""
    kept = [place for place in range(len(table.columns)) if any(line[place] != DASH for line in table.rows)]
    rows = tuple(tuple(line[place] for place in kept) for line in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows) if rows else table


def tables(costs: CostRecord) -> dict[str, Table]:
    """Every table by the name of its file."""
    return {
        "quality": _quality(costs), "training": _training(costs), "inference": _inference(costs),
        "batches": _batches(costs), "at-once": _at_once(costs), "energy": _energy(costs),
        "estimates": _estimates(costs),
    }  # fmt: skip


def _quality(costs: CostRecord) -> Table:
    metric = costs.record.metric
    by_side = {side: costs.dominated(side) for side in COSTS}
    lines = []
    for name in costs.names:
        row = costs.row(name, f"difference.{metric}", view=ORDINARY)
        gap = "the best" if name == costs.best(ORDINARY) else DASH if row is None else scored(row, points)
        lines.append((
            name, *(scored(costs.score(name, view)) for view in costs.views), gap,
            *(some(by_side[side].get(name, []), 3) or DASH for side in COSTS),
        ))  # fmt: skip
    columns = ("model", *costs.views, "points to the best", *(f"dominated by ({COSTS[side]})" for side in COSTS))
    note = f"{called(metric)}; of the suite, the pass rate. Points to the best are of the ordinary test part, paired."
    return Table("Quality", columns, tuple(lines), note)


def _training(costs: CostRecord) -> Table:
    trained = {name: part for name, part in costs.parts.items() if part.row("seconds.training") is not None}
    columns = {
        "texts per second": score("speed.training", digits),
        "batch": value("batch.training", _whole),
        "whole training": value("seconds.training", in_seconds),
        "processor time": value("processor_seconds.training", in_seconds),
        "memory": value("memory.training", in_bytes),
        "operations per text": value("operations.training", with_prefix),
    }
    return _without_empty(table_of("Training", "model", trained, columns | _tokens("training")))


def _inference(costs: CostRecord) -> Table:
    columns = {
        "latency p50, ms": score("latency.p50", _milliseconds),
        "p95, ms": score("latency.p95", _milliseconds),
        "p99, ms": score("latency.p99", _milliseconds),
        "texts per second": score("speed.inference", digits),
        "batch": value("batch.inference", digits),
        "processor time per 1,000": value("processor_seconds.inference", in_seconds),
        "memory": value("memory.inference", in_bytes),
        "operations per text": value("operations.inference", with_prefix),
        "price per 1,000": value("money.inference", digits),
    }
    return _without_empty(table_of("Answers", "model", costs.parts, columns | _tokens("inference")))


def _tokens(phase: str) -> dict[str, Column]:
    tokens = {"tokens per text": "tokens.true", "padded": "tokens.padded"}
    return {head: value(metric, partial(number, places=1), phase=phase) for head, metric in tokens.items()}


def _batches(costs: CostRecord) -> Table:
    """Candidates that differ in nothing but their batch."""
    groups: dict[tuple[str, int | None], list[tuple[int, str]]] = {}
    for name in costs.names:
        row = costs.row(name, "batch.training")
        if row is not None and row.value is not None:
            about = costs.record.about["candidates"][name]
            groups.setdefault((about["base"], about["length"]), []).append((int(row.value), name))
    lines: list[tuple[Cell, ...]] = []
    for (base, length), members in groups.items():
        for batch, name in sorted(members) if len(members) > 1 else ():
            lines.append((
                base + (f", {length} tokens" if length else ""), batch,
                in_bytes(costs.parts[name].value("memory.training")),
                scored(costs.row(name, "speed.training"), digits),
                *(scored(costs.score(name, view)) for view in costs.views),
            ))  # fmt: skip
    return Table("Batches", ("model", "batch", "memory", "texts per second", *costs.views), tuple(lines))


def _at_once(costs: CostRecord) -> Table:
    lines = []
    for name in costs.names:
        cells = []
        for batch in ASK_BATCHES:
            own = costs.record.where(model=name, asked_at_once=None if batch == ASKED_AT_ONCE else batch)
            used = own.value("batch.inference")
            beside = f" ({digits(used)})" if used is not None and round(used, 1) != batch else ""
            cells.append(scored(own.row("speed.inference"), digits) + beside)
        lines.append((name, *cells))
    return Table("Texts asked about at once", ("model", *map(str, ASK_BATCHES)), tuple(lines))


def _energy(costs: CostRecord) -> Table:
    lines = [
        (str(row.tags["model"]), row.metric.partition(".")[2], digits(row.value), str(row.tags.get("idle", DASH)),
         str(row.tags["source"]))
        for row in costs.record.measurements
        if row.metric.startswith("energy.")
    ]  # fmt: skip
    return Table("Energy", ("model", "of", "joules", "of these idle", "measured by"), tuple(lines),
                 "Of the whole training; of answers, for 1,000 texts.")  # fmt: skip


def _estimates(costs: CostRecord) -> Table:
    units = {"energy_estimate": "J", "money_estimate": "money"}
    lines = [
        (str(row.tags["model"]), f"{kind.partition('_')[0]} of {phase}",
         f"{digits(row.low)} to {digits(row.high)} {unit}")
        for row in costs.record.measurements
        for kind, _, phase in [row.metric.partition(".")]
        if (unit := units.get(kind)) is not None
    ]  # fmt: skip
    return Table("Estimates", ("model", "what", "range"), tuple(lines), "Training: all of it; inference: 1,000 texts.")
