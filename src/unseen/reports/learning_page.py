"""The page of learning from a suite, from its folder alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unseen.functional.holdout import BOTH, SUITE, TASK
from unseen.reports.formats import Cell, Table
from unseen.reports.learning import LearningRun, learning_verdict, p_value, read_learning_run, said_p
from unseen.reports.pages import write_page
from unseen.reports.verdict import Verdict
from unseen.reports.wording import DASH, bounds, percent, points, scored
from unseen.types import Measurement

NAMES = {TASK: "task only", SUITE: "suite only", BOTH: "task, then suite"}
PARTS = {"task test": "the task", "elsewhere": "elsewhere"}
CELLS = {"fall": "became less sure of the right label", "rise": "became surer of the right label"}


def write_learning_page(run_folder: str | Path) -> tuple[Path, Verdict]:
    """Write `report.html` into the run folder; returns its path and the verdict. The same folder, the same bytes."""
    run = read_learning_run(run_folder)
    said = learning_verdict(run)
    return write_page(run.folder, "learning.html", run.about, **context(run, said)), said


def context(run: LearningRun, said: Verdict) -> dict[str, Any]:
    """What the template shows beside what all pages have."""
    return {
        "verdict": said,
        "data": run.about["datasets"],
        "names": NAMES,
        "bars": bars(run),
        "random": random_table(run),
        "held_out": [held_out_table(run, each) for each in run.configurations if run.schemes],
        "values": [value_table(run, scheme) for scheme in run.schemes],
        "task": task_table(run),
        "means": mean_changes(run),
        "changes": changes(run),
        "leaks": leak_table(run),
        "repeated": run.row("leak.task_text", part="suite"),
        "seconds": sum(float(each["seconds"]) for each in run.about.get("timings", [])),
        "trainings": len(run.about.get("timings", [])) - 1,
    }


def bars(run: LearningRun) -> list[dict[str, Any]]:
    """For each scheme: covered and held-out after, held-out before, as lengths and numbers."""
    found = []
    for scheme in run.schemes:
        shown = [
            ("covered", run.row("accuracy", scheme=scheme, part="covered", configuration=run.main), "covered"),
            ("held out", run.row("accuracy", scheme=scheme, part="held-out", configuration=run.main), "out"),
            ("held out, before", run.row("accuracy", scheme=scheme, part="held-out", configuration=TASK), "before"),
        ]
        lines = [
            {"name": name, "width": round(100 * row.value, 1), "value": percent(row.value), "kind": kind,
             "bounds": bounds(row, percent), "n": row.n}
            for name, row, kind in shown if row is not None and row.value is not None
        ]  # fmt: skip
        gap = run.row("gap.accuracy", scheme=scheme, configuration=run.main)
        found.append({"scheme": scheme, "plans": len(run.values(scheme)), "lines": lines, "gap": _in_points(gap)})
    return found


def random_table(run: LearningRun) -> Table | None:
    """Accuracy on the test cases of the random split, and who is better than whom."""
    lines: list[tuple[Cell, ...]] = []
    for configuration in (TASK, *run.configurations):
        row = run.row("accuracy", scheme="all", part="test", configuration=configuration)
        if row is None:
            return None
        cells = [
            _effect(run.row("difference.accuracy", scheme="all", part="test", configuration=configuration, than=than))
            for than in (TASK, SUITE)
            if than == TASK or SUITE in run.configurations
        ]
        lines.append((NAMES[configuration], scored(row), row.n, *cells))
    heads = ["less task only", "less suite only"][: len(lines[0]) - 3]
    return Table("Random test cases", ("trained on", "accuracy", "cases", *heads), tuple(lines))


def held_out_table(run: LearningRun, configuration: str) -> Table:
    """Before and after on what was held out, the same cases."""
    lines = []
    for scheme in run.schemes:
        where = {"scheme": scheme, "part": "held-out"}
        before, after = (run.row("accuracy", configuration=each, **where) for each in (TASK, configuration))
        row = run.row("difference.accuracy", configuration=configuration, than=TASK, **where)
        exact = said_p(p_value(row, "p.mcnemar")).removeprefix("p ").removeprefix("= ")
        by_template = said_p(p_value(row)).removeprefix("p ").removeprefix("= ")
        n = 0 if row is None else row.n
        lines.append(
            (scheme, len(run.values(scheme)), n, scored(before), scored(after), _in_points(row), exact, by_template)
        )
    columns = (
        "held out by",
        "plans",
        "cases",
        "before",
        "after",
        "effect, points",
        "p, exact binomial",
        "p, by template",
    )
    return Table(f"Held-out cases, {NAMES[configuration]}", columns, tuple(lines))


def value_table(run: LearningRun, scheme: str) -> Table:
    """Each held-out value on its own, the least helped first."""
    lines = []
    for value in run.values(scheme):
        name, where = f"{scheme}={value}", {"scheme": scheme, "part": "held-out"}
        before, after = (
            run.row("accuracy", name, configuration=each, of=run.main, **where) for each in (TASK, run.main)
        )
        row = run.row("difference.accuracy", name, configuration=run.main, than=TASK, **where)
        adjusted = said_p(p_value(row, "p.holm")).removeprefix("p ").removeprefix("= ")
        order = 0.0 if row is None or row.value is None else row.value
        lines.append(
            (order, (value, 0 if row is None else row.n, scored(before), scored(after), _in_points(row), adjusted))
        )
    columns = (scheme, "cases", "before", "after", "effect, points", "p, adjusted")
    return Table(scheme, columns, tuple(line for _, line in sorted(lines, key=lambda each: each[0])))


def task_table(run: LearningRun) -> Table | None:
    """Macro F1 and ROC AUC on data of the task, and what training on the suite did to them."""
    lines = []
    for part, called in PARTS.items():
        for configuration in (TASK, *run.configurations):
            where = {"part": part, "configuration": configuration}
            row, ranked = run.row("f1.macro", **where), run.row(run.ranking, **where)
            if row is None:
                continue
            effects = [run.row(f"difference.{name}", than=TASK, **where) for name in ("f1.macro", run.ranking)]
            cells = (scored(row), _effect(effects[0]), scored(ranked), _effect(effects[1]))
            lines.append((called, NAMES[configuration], row.n, *cells))
    if not lines:
        return None
    columns = ("tested on", "trained on", "texts", "macro F1", "less task only", "ROC AUC", "less task only")
    return Table("The task itself", columns, tuple(lines))


def mean_changes(run: LearningRun) -> list[tuple[str, str]]:
    """The mean change of the gold label's probability, by label."""
    rows = [row for row in run.measurements if row.metric == "change.gold_probability" and row.slice != "all"]
    return [(row.slice.removeprefix("label="), _in_points(row)) for row in rows]


def changes(run: LearningRun) -> list[dict[str, Any]]:
    """The largest changes, one block per label and direction."""
    cells: dict[tuple[str, str], list[dict[str, str]]] = {}
    for line in run.changes:
        shown = {name: percent(float(line[name])) for name in ("before", "after")}
        shown |= {"id": line["id"], "part": line["part"], "text": line.get("text", "")}
        cells.setdefault((line["label"], line["direction"]), []).append(shown)
    return [{"label": label, "said": CELLS[way], "rows": rows} for (label, way), rows in cells.items()]


def leak_table(run: LearningRun) -> Table:
    """How many test cases have a near-copy among the training cases."""
    lines = []
    for scheme in run.about["settings"]["schemes"]:
        for part in ("covered", "held-out"):
            rows = [run.row(f"leak.{kind}", scheme=scheme, part=part) for kind in ("template", "reference", "any")]
            if rows[0] is not None:
                called = "test" if scheme == "all" else part
                lines.append((scheme, called, rows[0].n, *(percent(row.value if row else None) for row in rows)))
    columns = ("scheme", "cases that are", "cases", "template in train", "contrast partner in train", "either")
    return Table("Near-copies of test cases in train", columns, tuple(lines))


def _in_points(row: Measurement | None) -> str:
    return DASH if row is None else " ".join(filter(None, [points(row.value), bounds(row, points)]))


def _effect(row: Measurement | None) -> str:
    """A difference in points with the published test: exact binomial for accuracy, randomisation for F1."""
    if row is None:
        return DASH
    p = p_value(row, "p.mcnemar")
    return f"{_in_points(row)}, {said_p(p_value(row) if p is None else p)}"
