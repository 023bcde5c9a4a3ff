"""What learning from a suite says: whether it helped, or only passed the tests."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from unseen.evaluation.wording import capital
from unseen.functional.holdout import BOTH, SUITE, TASK
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, drawn
from unseen.reports.record import RunRecord
from unseen.store.files import unharmed
from unseen.types import Measurement
from unseen.types.numbers import DASH, bounds, number, percent, points, scored, thousandths, turned

STRICTEST = ("class", "functionality", "pair", "template", "target")
"""Schemes by how far what they hold out is from what is trained on, as far as names can tell."""
PLACE = ("scheme", "part", "configuration", "than", "of")
"""Tags that tell where a number is from."""
ALPHA = 0.05
HELD_OUT_OF = {
    "functionality": "functionalities",
    "target": "targets",
    "class": "classes",
    "template": "templates",
    "pair": "templates whose contrast partners are held out with them",
}
NAMES = {TASK: "task only", SUITE: "suite only", BOTH: "task, then suite"}
PARTS = {"task test": "the task", "elsewhere": "elsewhere"}
CELLS = {"fall": "became less sure of the right label", "rise": "became surer of the right label"}
P_NOTE = (
    "p-values here are by whole templates, and by texts for the task. They are about one training each: another seed "
    "may differ by more."
)
COVERED_TEXT = (
    "After training on {}. Covered cases test what was trained on; held-out cases test a value of which no case was. "
    "Covered is the mean over plans, held out is over the cases of all plans together."
)
HELD_OUT_NOTE = (
    "The exact binomial test of the cases that only one model gets right is the published one; it takes cases to be "
    "independent. Cases of one template are not, so the test that swaps whole templates is the one to believe. Schemes "
    "are not adjusted for each other."
)
NO_TASK = "Not measured: it takes the scheme all, which trains on a random half of the suite."
TASK_NOTE = (
    "Texts that nothing was trained on. p by random swaps of the two models' answers, ten thousand for macro F1. A "
    "suite that is learnt without the task shows here. A suite has another mix of labels than the task, so training on "
    "it moves the threshold: where macro F1 rises and ROC AUC falls, the model knows less than before."
)
LEAK_NOTE = (
    "A contrast partner is a case that the test case alters or contrasts with, or that does so with it, or a sibling "
    "of one. Where the last column is high, accuracy says that near-copies are recognised."
)
POOLED = (
    " This run pools validation as published: about half of what is called held out has served for choosing the model."
)
CHANGED_TEXT = (
    "Probability of the right label before and after training on the suite, on task texts that nothing was trained on."
)


def page(record: RunRecord) -> Page:
    """Covered and held out, before and after, the task itself, the largest changes, leaks."""
    run, about = LearningRun(record), record.about
    suite, task, settings = about["datasets"]["suite"], about["datasets"]["task"], about["settings"]
    random, of_task, leaks = random_table(run), task_table(run), leak_table(run)
    held_out = {name: held_out_table(run, name) for name in run.configurations if run.schemes}
    by_value = {scheme: value_table(run, scheme) for scheme in run.schemes}
    tables = {f"held-out-{name.replace(' ', '-')}": table for name, table in held_out.items()}
    tables |= {f"by-{scheme}": table for scheme, table in by_value.items()} | {"leaks": leaks}
    tables |= {name: table for name, table in (("random", random), ("task", of_task)) if table is not None}
    repeated = record.value("leak.task_text", part="suite")
    copied = "" if repeated is None else f" {percent(repeated)} of the cases stand word for word in the task data."
    files = {"which case is where": "plans.csv", "what models said": "predictions/"}
    return Page(
        "learning from a suite",
        "Did training on the tests help, or just pass the tests?",
        learning_verdict(run),
        f"{about['model']}; suite {suite['name']}, {suite['rows']:,} cases; task {task['name']}, "
        f"{task['rows']:,} texts",
        P_NOTE,
        [
            Section(
                "Covered and held out", COVERED_TEXT.format(NAMES[settings["configurations"][-1]]), [bars(run)],
                [table for table in (random,) if table is not None],
            ),
            Section(
                "Before and after, on the same held-out cases", tables=list(held_out.values()),
                folded={f"Each {scheme}, the least helped first": [table] for scheme, table in by_value.items()},
                note=HELD_OUT_NOTE,
            ),
            Section("The task itself", NO_TASK) if of_task is None
            else Section("The task itself", tables=[of_task], note=TASK_NOTE),
            *_changed(run),
            Section(
                "What leaks from train to test", tables=[leaks],
                note=LEAK_NOTE + copied + ("" if settings["strict"] else POOLED),
            ),
        ],
        tables,
        files=files | ({"largest changes": "changes.csv"} if run.changes else {}),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LearningRun:
    """The record of such a run, by scheme, part and configuration."""

    record: RunRecord

    def row(self, metric: str, slice: str = "all", **tags: str) -> Measurement | None:
        """The number with exactly these values among its tags of place; None when it was not measured."""
        assert tags.keys() <= {*PLACE}, "no other tags tell where a number is from"
        return self.record.row(metric, slice, **dict.fromkeys(PLACE) | tags)

    @cached_property
    def changes(self) -> list[dict[str, str]]:
        """Lines of changes.csv: the largest changes, with texts when the run was asked for some."""
        path = self.record.file("changes.csv")
        if path is None:
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return [{name: unharmed(value or "") for name, value in line.items()} for line in csv.DictReader(file)]

    @property
    def schemes(self) -> list[str]:
        """The schemes that hold something out, in the order of the run."""
        return [name for name in self.record.about["settings"]["schemes"] if name != "all"]

    @property
    def configurations(self) -> list[str]:
        """What models were trained on besides the task alone."""
        return [name for name in self.record.about["settings"]["configurations"] if name != TASK]

    @property
    def main(self) -> str:
        """The configuration that the verdict is about."""
        return BOTH if BOTH in self.configurations else SUITE

    def before_and_after(self, metric: str, write: Callable[[float | None], str], **tags: str) -> list[str]:
        """The score of the task model and that of the main configuration; empty where one was not measured."""
        rows = [self.row(metric, configuration=name, **tags) for name in (TASK, self.main)]
        return [] if None in rows else [write(row.value) for row in rows if row]

    @property
    def ranking(self) -> str:
        """The metric of ranking that was measured on the task."""
        known = (row.metric for row in self.record.measurements if row.metric.startswith("roc_auc."))
        return next(known, "roc_auc.binary")

    def values(self, scheme: str) -> list[str]:
        """What the plans of a scheme hold out."""
        return [name.partition("=")[2] for name in self.record.about["plans"] if name.startswith(f"{scheme}=")]


def learning_verdict(run: LearningRun) -> Verdict:
    """Whether training on the tests helped, or only passed them.

    A change counts when its p-value is below .05; those of suite cases are by whole templates. Of the schemes that
    hold something out, the one farthest from what was trained on decides. The task counts as partly forgotten when
    macro F1 falls, or when ROC AUC does: a threshold that moved can hide the loss from F1.
    """
    passed = run.row("difference.accuracy", scheme="all", part="test", configuration=run.main, than=TASK)
    beyond = next((row for scheme in STRICTEST if (row := _held_out(run, scheme))), None)
    task = run.row("difference.f1.macro", part="task test", configuration=run.main, than=TASK)
    ranked = run.row(f"difference.{run.ranking}", part="task test", configuration=run.main, than=TASK)
    sentences = [*_passed(run, passed), *_beyond(run), *_kept(run, task), *_ranked(run, task, ranked)]
    headline, level = _judged(_rises(passed), _rises(beyond), _falls(task) or _falls(ranked))
    return Verdict(headline, [capital(sentence) for sentence in sentences], level, badge=level)


def _judged(passed: bool, beyond: bool, forgotten: bool) -> tuple[str, str]:
    if forgotten:
        learnt = "helped on what was held out" if beyond else "passed the tests" if passed else "changed the model"
        return f"Training on the tests {learnt}, and the task was partly forgotten.", "fail"
    if beyond:
        return "Training on the tests helped beyond them.", "ok"
    if passed:
        return "The tests were learnt; that it helps beyond them is not shown.", "warn"
    return "Training on the tests changed little.", "warn"


def _held_out(run: LearningRun, scheme: str) -> Measurement | None:
    return run.row("difference.accuracy", scheme=scheme, part="held-out", configuration=run.main, than=TASK)


def p_value(row: Measurement | None, name: str = "p") -> float | None:
    """The p-value among the tags of a row."""
    return float(row.tags[name]) if row is not None and name in row.tags else None


def _rises(row: Measurement | None) -> bool:
    p = p_value(row)
    return row is not None and p is not None and (row.value or 0) > 0 and p < ALPHA


def _falls(row: Measurement | None) -> bool:
    return row is not None and _rises(turned(row))


def said_p(p: float | None) -> str:
    """A p-value as it is written.

    >>> said_p(0.0004), said_p(0.0312), said_p(1.0), said_p(None)
    ('p < .001', 'p = .031', 'p = 1.000', '')
    """
    if p is None:
        return ""
    return "p < .001" if p < 0.001 else f"p = {number(p, 3)}"


def _p_cell(row: Measurement | None, name: str) -> str:
    return said_p(p_value(row, name)).removeprefix("p ").removeprefix("= ")


def _passed(run: LearningRun, row: Measurement | None) -> Iterator[str]:
    levels = run.before_and_after("accuracy", percent, scheme="all", part="test")
    if row is not None and levels:
        before, after = levels
        yield f"of random unseen cases {before} were right before and {after} after training on others ({_told(row)})."


def _beyond(run: LearningRun) -> Iterator[str]:
    for scheme in run.schemes:
        row, levels = _held_out(run, scheme), run.before_and_after("accuracy", percent, scheme=scheme, part="held-out")
        if row is not None and levels:
            yield f"of held-out {HELD_OUT_OF[scheme]} {levels[0]} before and {levels[1]} after ({_told(row)})."


def _kept(run: LearningRun, row: Measurement | None) -> Iterator[str]:
    levels = run.before_and_after("f1.macro", thousandths, part="task test")
    if row is None or not levels:
        yield "the task was not measured: that takes the scheme all."
    else:
        yield f"on the task itself macro F1 went from {levels[0]} to {levels[1]} ({_told(row)})."


def _ranked(run: LearningRun, task: Measurement | None, row: Measurement | None) -> Iterator[str]:
    levels = run.before_and_after(run.ranking, thousandths, part="task test")
    if row is None or not levels:
        return
    yield f"its ROC AUC, which knows no threshold, went from {levels[0]} to {levels[1]} ({_told(row)})."
    if _falls(row) and not _falls(task):
        yield "macro F1 hides that: the threshold moved with the mix of labels."


def _told(row: Measurement) -> str:
    return said_p(p_value(row)) or "no p-value"


def bars(run: LearningRun) -> Markup:
    """For each scheme: covered and held-out after, held-out before, as lengths and numbers."""
    schemes = []
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
        fall = run.row("fall.accuracy", scheme=scheme, part="held-out", configuration=run.main, than="covered")
        schemes.append(
            {"scheme": scheme, "plans": len(run.values(scheme)), "lines": lines, "gap": scored(fall, points)}
        )
    return drawn("bars.html", bars=schemes)


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
    columns = ("trained on", "accuracy", "cases", *heads)
    return Table("Random test cases", columns, tuple(lines), "Random halves: nothing is held out.")


def held_out_table(run: LearningRun, configuration: str) -> Table:
    """Before and after on what was held out, the same cases."""
    lines = []
    for scheme in run.schemes:
        where = {"scheme": scheme, "part": "held-out"}
        before, after = (run.row("accuracy", configuration=trained, **where) for trained in (TASK, configuration))
        row = run.row("difference.accuracy", configuration=configuration, than=TASK, **where)
        n, tests = 0 if row is None else row.n, (_p_cell(row, "p.mcnemar"), _p_cell(row, "p"))
        lines.append((scheme, len(run.values(scheme)), n, scored(before), scored(after), scored(row, points), *tests))
    columns = (
        "held out by", "plans", "cases", "before", "after", "effect, points", "p, exact binomial", "p, by template",
    )  # fmt: skip
    return Table(f"Held-out cases, {NAMES[configuration]}", columns, tuple(lines))


def value_table(run: LearningRun, scheme: str) -> Table:
    """Each held-out value on its own, the least helped first."""
    lines = []
    for value in run.values(scheme):
        name, where = f"{scheme}={value}", {"scheme": scheme, "part": "held-out"}
        before, after = (
            run.row("accuracy", name, configuration=trained, of=run.main, **where) for trained in (TASK, run.main)
        )
        row = run.row("difference.accuracy", name, configuration=run.main, than=TASK, **where)
        n, effect = (0, 0.0) if row is None else (row.n, row.value or 0.0)
        lines.append((effect, (value, n, scored(before), scored(after), scored(row, points), _p_cell(row, "p.holm"))))
    columns = (scheme, "cases", "before", "after", "effect, points", "p, adjusted")
    note = f"p: by whole templates, adjusted for {len(lines)} tests (Holm)."
    return Table(scheme, columns, tuple(cells for _, cells in sorted(lines, key=lambda line: line[0])), note)


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


def _changed(run: LearningRun) -> Iterator[Section]:
    """The largest changes, a card per label and direction."""
    lines: dict[tuple[str, str], list[dict[str, str]]] = {}
    for line in run.changes:
        shown = {name: percent(float(line[name])) for name in ("before", "after")}
        shown |= {"id": line["id"], "part": line["part"], "text": line.get("text", "")}
        lines.setdefault((line["label"], line["direction"]), []).append(shown)
    if not lines:
        return
    rows = [row for row in run.record.measurements if row.metric == "change.gold_probability" and row.slice != "all"]
    means = "; ".join(f"{row.slice.removeprefix('label=')} {scored(row, points)}" for row in rows)
    cards = [{"label": label, "change": CELLS[way], "rows": rows} for (label, way), rows in lines.items()]
    yield Section(
        "Largest changes on the task", CHANGED_TEXT + (f" On average, in points: {means}." if means else ""),
        [drawn("changes.html", cards=cards)],
    )  # fmt: skip


def leak_table(run: LearningRun) -> Table:
    """How many test cases have a near-copy among the training cases."""
    lines = []
    for scheme in run.record.about["settings"]["schemes"]:
        for part in ("covered", "held-out"):
            rows = [run.row(f"leak.{kind}", scheme=scheme, part=part) for kind in ("template", "reference", "any")]
            if rows[0] is not None:
                called = "test" if scheme == "all" else part
                lines.append((scheme, called, rows[0].n, *(percent(row.value if row else None) for row in rows)))
    columns = ("scheme", "cases that are", "cases", "template in train", "contrast partner in train", "either")
    return Table("Near-copies of test cases in train", columns, tuple(lines))


def _effect(row: Measurement | None) -> str:
    """A difference in points with the published test: exact binomial for accuracy, randomisation for F1."""
    if row is None:
        return DASH
    p = p_value(row, "p.mcnemar")
    return f"{scored(row, points)}, {said_p(p_value(row) if p is None else p)}"
