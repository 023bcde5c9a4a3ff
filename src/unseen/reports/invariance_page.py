"""The page of an invariance run: what became of the property, and whose fault it is."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import partial

from unseen.evaluation.invariance import BIASED, CLASSIFIER, IDENTITY, NOTHING, OPEN, SIDES, BiasVerdict
from unseen.reports.actions import Action
from unseen.reports.columns import Column, score, table_of, value
from unseen.reports.figures import DotLine, dot_chart
from unseen.reports.formats import Cell, Table
from unseen.reports.page import BADGES, Page, Section, Verdict, counted, sorted_findings, two_widths, worst_level
from unseen.reports.record import RunRecord
from unseen.types import Finding, Measurement
from unseen.types.numbers import DASH, magnitude, number, percent, points, scored, thousandths

FLIPS = "flips.csv"
"""The texts whose answer flips, in the folder of the run."""
TRIALS = ("transformation", "model")
"""What the verdict is about: the transformation, judged by a classifier, or a model, judged by a transformation."""
SHOWN, CUT = 20, 200
"""Texts that flip on the page, and characters of each."""
MANY_UNCHANGED, MANY_EMPTY = 0.1, 0.0
LEVELS = {BIASED: "fail", CLASSIFIER: "ok", NOTHING: "ok", OPEN: "warn"}
ON_TRIAL = {BIASED: "the model is not invariant", CLASSIFIER: NOTHING, NOTHING: NOTHING, OPEN: OPEN}
"""The same where the transformation is known to keep the meaning, and the model is on trial."""

# -- findings ----------------------------------------------------------------------------------------------------------


def findings_of(
    name: str, outcome: BiasVerdict, rows: Sequence[Measurement], single: bool, trial: str = TRIALS[0]
) -> list[Finding]:
    """What is found of one transformation: of the distributions, and, by a single classifier, of the flips."""
    own = _of(RunRecord({}, rows), name)
    called = ON_TRIAL[outcome.kind] if trial == TRIALS[1] else outcome.kind
    labels = outcome.labels if len(_labels(own)) > 2 and outcome.labels else _labels(own)[-1:]
    shares = "; ".join(_shift(own, label) for label in labels)
    bias = Finding(f"bias[{name}]", LEVELS[outcome.kind], f"{name}: {called}: {outcome.why}. {shares}.")
    above, rate = own.needed("difference.flip_rate"), own.needed("flip_rate")
    floor = own.needed("flip_rate.floor", floor=above.tags["than"])
    flipped = f"{name}: {scored(rate, percent)} of the answers flip; where nothing should, {scored(floor, percent)}"
    if not single:
        message = f"{flipped} ({above.tags['than']}). Two classifiers also differ by themselves: flips are not judged."
        return [bias, Finding(f"flips[{name}]", "skipped", message)]
    flips = above.low is not None and above.low > 0
    level = ("fail" if trial == TRIALS[1] else "warn") if flips else "ok"
    tail = f"{scored(above, points)} points more" if flips else "no more than that for certain"
    return [bias, Finding(f"flips[{name}]", level, f"{flipped} ({above.tags['than']}): {tail}.")]


def side_findings(rows: Sequence[Measurement], names: Sequence[str], *, is_retrained: bool) -> list[Finding]:
    """Outputs that are as before or empty, answers that are not the same twice, and a floor that is too low."""
    findings = []
    for name in names:
        own = _of(RunRecord({}, rows), name)
        unchanged, empty = own.needed("unchanged"), own.needed("empty")
        again = own.needed("flip_rate.floor", floor=IDENTITY)
        if (unchanged.value or 0) > MANY_UNCHANGED:
            message = f"{name} leaves {percent(unchanged.value)} of the texts as they were: these cannot flip."
            findings.append(Finding(f"unchanged[{name}]", "warn", message))
        if (empty.value or 0) > MANY_EMPTY:
            count = round((empty.value or 0) * empty.n)
            message = f"{name} gives nothing for {count:,} of {empty.n:,} texts, which are left out."
            findings.append(Finding(f"empty[{name}]", "warn", message, count))
        if again.value:
            message = f"Asked twice about the same texts, the model answers {percent(again.value)} otherwise."
            findings.append(Finding("identity", "warn", message))
    if not is_retrained:
        message = "The classifier was not trained again, so its own chance is not in the floor, which may be too low."
        findings.append(Finding("floor", "skipped", message))
    return list(dict.fromkeys(findings))


def _of(record: RunRecord, name: str) -> RunRecord:
    """What was measured of a transformation, over all trainings."""
    return record.where(transformation=name, seed=None)


def _shift(own: RunRecord, label: str) -> str:
    gold, before, after = _shares(own, label)
    moved = own.needed(f"difference.skew[{label}]")
    return (
        f"“{label}”: gold {percent(gold.value)}, before {percent(before.value)}, after {percent(after.value)}, "
        f"{scored(moved, points)} points"
    )


def _shares(own: RunRecord, label: str) -> tuple[Measurement, ...]:
    """The share of a label in the gold labels, in the answers before and in those after."""
    return tuple(own.needed(f"share[{label}]", side=side) for side in ("gold", *SIDES))


def _labels(own: RunRecord) -> list[str]:
    gold = [row.metric for row in own.measurements if row.tags.get("side") == "gold"]
    return [metric[6:-1] for metric in gold if metric.startswith("share[")]


# -- the page ----------------------------------------------------------------------------------------------------------

DISTRIBUTIONS_TEXT = (
    "Shares of the property: in the gold labels, in the answers about the original texts, p(A), and about the "
    "transformed ones, p(B); 95 % intervals over texts. In the picture, top to bottom: gold, p(A), p(B). A skew that "
    "both have is the classifier's; one that comes with the transformation is the transformation's."
)
DISTANCES_TEXT = (
    "KL divergence of the gold distribution from the answers (natural logarithm, 1e-8 added to every count, as "
    "published), and of p(A) from p(B). χ² is the published test, which takes before and after for different texts; "
    "McNemar's, Stuart and Maxwell's and Bhapkar's tests know that they are the same. “Soft” is of probabilities."
)
FLIPS_TEXT = (
    "Opposite flips cancel in a distribution; here they do not. The floor is what flips where nothing should: the same "
    "texts again (identity), in small letters (lower), with two letters of a word swapped (swap), and asked of "
    "classifiers that learnt from all but a fold of the same texts (retrained). “If independent”: answers that have "
    "nothing in common but what the gold label tells of each."
)
CLASSIFIERS_TEXT = "Macro F1 before and after, and on texts of their own that the classifiers did not learn from."
SIDES_TEXT = "Outputs that are the same as before cannot flip; empty ones are left out of all other numbers."


def page(record: RunRecord) -> Page:
    """What became of the property."""
    about, made = record.about, tables(record)
    findings = sorted_findings(record.findings)
    pictures = [two_widths(partial(_chart, record))]
    sections = [
        Section("Distributions", DISTRIBUTIONS_TEXT, pictures, [made["distributions"]]),
        Section("Distances and tests", DISTANCES_TEXT, tables=[made["distances"]]),
        Section("Flips", FLIPS_TEXT, tables=[made["flips"], made["transitions"]]),
        Section("Classifiers", CLASSIFIERS_TEXT, tables=[made["classifiers"]]),
        Section("Outputs", SIDES_TEXT, tables=[made["outputs"]]),
        *([Section("Texts that flip", tables=[made["examples"]])] if "examples" in made else []),
        Section("Findings", findings=findings),
    ]
    return Page(
        "invariance",
        f"Does the property of {about['data']['name']} survive?",
        verdict(record),
        subtitle=f"{about['data']['rows']:,} texts: {counted(about['data']['counts'])}",
        sections=sections,
        tables={name: table for name, table in made.items() if name != "examples"},
        printed=[made["distributions"], made["distances"], made["flips"]],
        printed_findings=findings,
        files={"texts that flip": FLIPS, "what classifiers say": "predictions/"},
    )


def verdict(record: RunRecord) -> Verdict:
    """The gravest finding, then the others about bias and flips."""
    findings = [one for one in sorted_findings(record.findings) if one.check.startswith(("bias[", "flips["))]
    level = worst_level(findings)
    actions = [] if record.about.get("texts") else [Action("look", "See the texts that flip", command="--texts")]
    messages = [finding.message for finding in findings]
    return Verdict(messages[0], messages[1:], level, actions, BADGES[level])


def transformations(record: RunRecord) -> dict[str, RunRecord]:
    """The transformations, in the order they were named, each with what was measured of it."""
    return {name: _of(record, name) for name in record.about["transformed"]}


def tables(record: RunRecord) -> dict[str, Table]:
    """Every table by the name of its file."""
    made = {
        "distributions": _distributions(record),
        "distances": _distances(record),
        "flips": _flips(record),
        "transitions": _transitions(record),
        "classifiers": _classifiers(record),
        "outputs": _outputs(record),
    }
    examples = _examples(record)
    return made | ({"examples": examples} if examples is not None else {})


def _chart(record: RunRecord, narrow: bool) -> str:
    lines = [
        DotLine(f"{name}: {label}", name, _shares(own, label))
        for name, own in transformations(record).items()
        for label in _labels(own)
    ]
    return dot_chart(lines, ("gold", "p(A), before", "p(B), after"), "share of the texts", narrow, percent)


def _distributions(record: RunRecord) -> Table:
    lines: list[tuple[Cell, ...]] = []
    for name, own in transformations(record).items():
        for label in _labels(own):
            moved, soft = (own.needed(f"difference.{kind}skew[{label}]") for kind in ("", "soft_"))
            of_all = record.rows(moved.metric, transformation=name)
            seeds = [row.value or 0.0 for row in of_all if "seed" in row.tags]
            again = f"{points(min(seeds))} to {points(max(seeds))}" if seeds else DASH
            shares = map(scored, _shares(own, label))
            lines.append((name, label, *shares, scored(moved, points), again, scored(soft, points)))
    columns = ("transformation", "class", "gold", "p(A)", "p(B)", "moved, points", "trained again", "moved, soft")
    return Table("Distributions", columns, tuple(lines))


def _distances(record: RunRecord) -> Table:
    lines: list[tuple[Cell, ...]] = []
    for name, own in transformations(record).items():
        for soft, kind in (("", "labels"), ("soft_", "soft")):
            before, after = (own.needed(f"{soft}kl.gold", side=side) for side in SIDES)
            between, direct = own.needed(f"difference.{soft}kl.gold"), own.needed(f"{soft}kl.answers")
            tests = [_p(after, "p.chi2"), _p(direct, "p.mcnemar", "p.stuart_maxwell"), _p(direct, "p.bhapkar")]
            cells = [scored(row, thousandths) for row in (before, after, between, direct)]
            lines.append((name, kind, *cells, *(tests if not soft else [DASH] * 3)))
    columns = (
        "transformation", "of", "KL gold, p(A)", "KL gold, p(B)", "difference", "KL p(A), p(B)", "χ² gold, p(B): p",
        "paired p(A), p(B): p", "Bhapkar: p",
    )  # fmt: skip
    return Table("Distances and tests", columns, tuple(lines))


def _p(row: Measurement, *names: str) -> str:
    value = next((row.tags[name] for name in names if name in row.tags), None)
    return DASH if value is None else magnitude(float(value))


def _flips(record: RunRecord) -> Table:
    columns: dict[str, Column] = {
        "flips": score("flip_rate", percent),
        "of changed texts": value("flip_rate", percent, "changed"),
        "floors": lambda own: "; ".join(
            f"{row.tags['floor']} {percent(row.value)}" for row in own.rows("flip_rate.floor")
        ),
        "above the highest, points": score("difference.flip_rate", points),
        "if independent": value("flip_rate.independent", percent),
        "probability moved": value("probability_moved", percent),
    }
    return table_of("Flips and their floor", "transformation", transformations(record), columns)


def _transitions(record: RunRecord) -> Table:
    lines: list[tuple[Cell, ...]] = []
    labels: list[str] = []
    for name, own in transformations(record).items():
        labels = _labels(own)
        for before in labels:
            cells = [own.needed("transition", f"from={before} & to={after}") for after in labels]
            counts = [f"{round((row.value or 0) * row.n):,}" for row in cells]
            lines.append((name, before, *counts, percent(own.needed("flip_rate", f"from={before}").value)))
    columns = ("transformation", "before", *(f"after: {label}" for label in labels), "of these flip")
    return Table("Answers before and after, texts", columns, tuple(lines))


def _classifiers(record: RunRecord) -> Table:
    held = {str(row.tags["classifier"]): number(row.value) for row in record.rows("held_out.f1.macro")}
    columns: dict[str, Column] = {
        "macro F1 before": score("f1.macro", side=SIDES[0]),
        "after": score("f1.macro", side=SIDES[1]),
        "fall, points": score("fall.f1.macro", points),
        "held-out macro F1": lambda _: " / ".join(held[side] for side in SIDES if side in held),
    }
    return table_of("Classifiers", "transformation", transformations(record), columns)


def _outputs(record: RunRecord) -> Table:
    columns: dict[str, Column] = {
        "texts": lambda own: f"{own.needed('length_ratio').n:,}",
        "unchanged": value("unchanged", percent),
        "empty": value("empty", percent),
        "length by the original's, median": value("length_ratio"),
        "longer": value("longer", percent),
    }
    return table_of("Outputs", "transformation", transformations(record), columns)


def _examples(record: RunRecord) -> Table | None:
    """The first texts that flip, as they stand in the file of the folder."""
    path = record.file(FLIPS)
    if path is None:
        return None
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    note = f"The first {SHOWN} of {len(lines):,}; all are in {FLIPS}, uncut." if len(lines) > SHOWN else ""
    shown = tuple(tuple(cell if len(cell) <= CUT else f"{cell[:CUT]}…" for cell in line) for line in lines[:SHOWN])
    return Table("Texts that flip, the surest first", tuple(header), shown, note)
