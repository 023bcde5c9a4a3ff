"""The page of a forecast: what to expect, the ladder with the target on it, and what would settle it."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Any

from unseen.evaluation.wording import called, unbroken
from unseen.forecasts.labelled import width_of
from unseen.reports.actions import Action
from unseen.reports.figures import DotLine, dot_chart
from unseen.reports.formats import Table
from unseen.reports.page import BADGES, Page, Section, Verdict, sorted_findings, two_widths
from unseen.reports.record import RunRecord
from unseen.types import Measurement
from unseen.types.numbers import number, percent, points, scored

TO_LABEL = "to_label.csv"
"""The file of the texts to label, in the folder of the run."""
FAR = 0.05
"""A difference from the score at home that is worth a warning."""
GOOD_WIDTH = 0.05
"""The interval that the page names a number of labels for."""


def page(record: RunRecord) -> Page:
    """What a model will score on new texts."""
    about = record.about
    return Page(
        "forecast",
        f"What {about['model']} will score on {about['data']['name']}",
        verdict(record),
        subtitle=f"{about['texts']:,} texts, {about['labels']:,} of them labelled",
        sections=[*parts(record), Section("Findings", findings=sorted_findings(record.findings))],
        tables=tables(record),
        printed=[table for name, table in tables(record).items() if name in ("scores", "slices") and table.rows],
        printed_findings=sorted_findings(record.findings),
        files={"texts to label": TO_LABEL, "what the model says": "predictions/"},
    )


def parts(record: RunRecord) -> list[Section]:
    """The parts of the page that a forecast has; a stress run with deployment texts shows the same."""
    shown = tables(record)
    sections = [Section("Scores", SCORES_TEXT, tables=[shown[name] for name in ("scores", "slices") if name in shown])]
    if "estimators" in shown:
        picture = two_widths(partial(_chart, record))
        sections.append(Section("The ladder", LADDER_TEXT, pictures=[picture], tables=[shown["ladder"]]))
        sections.append(Section("Estimators", ESTIMATORS_TEXT, tables=[shown["estimators"]]))
        sections.append(Section("Prediction sets", SETS_TEXT, tables=[shown["sets"]]))
    return sections


SCORES_TEXT = (
    "“With labels” rests on the labelled texts and holds whatever the model is worth (95 % intervals). “From texts "
    "alone” is the estimator that errs least on the ladder, corrected by it (90 % intervals); it does not see whether "
    "a label means the same there. “Together” weighs both, if only the topic moves."
)
LADDER_TEXT = (
    "Texts whose labels are known: with words left out, and from elsewhere where such texts were given. Each estimator "
    "is tried on them before it is believed. Blue: by labels; orange: by the estimator that errs least. The last "
    "line is the target, where what it says is corrected."
)
ESTIMATORS_TEXT = (
    "What each says of the target, and how far it errs on rungs that its correction was not fitted on. “Constant” is "
    "the mean of the other rungs."
)
SETS_TEXT = (
    "Labels that cannot be excluded, made to hold the right one for 90 % of texts like those at home; how often they "
    "do on each rung."
)


def verdict(record: RunRecord) -> Verdict:
    """What to expect, what a random split says, and what to do."""
    about, metric = record.about, record.metric
    labelled = record.row(f"labelled.{metric}")
    stands, topic = record.row(f"forecast.{metric}"), record.row(f"forecast.if_topic.{metric}")
    home = record.value(f"home.{metric}")
    on_these = f"On these {about['texts']:,} texts"
    sentences: list[str] = []
    level, expected = "warn", None
    if labelled is not None and labelled.value is not None:
        headline = f"{on_these} expect {called(metric)} of {scored(labelled)} ({about['labels']:,} labels)."
        expected = labelled
        if topic is not None:
            sentences.append(f"Texts alone say {scored(topic)} (90 %), if only the topic moves.")
    elif topic is not None:
        headline, *sentences = without_labels(record, on_these)
        expected = stands
    else:
        headline = f"Nothing is known yet: label {about['to_label']:,} texts, or give labelled texts of home."
        level = "skipped"
    if home is not None:
        sentences.append(f"Labelled texts like those it learnt from, as of a random split, say {number(home)}.")
    if expected is not None and expected.value is not None and home is not None:
        level = "ok" if expected.value > home - FAR else "warn"
    sentences += [finding.message for finding in record.findings if finding.level == "warn"]
    return Verdict(headline, list(map(unbroken, sentences)), level, _actions(record, labelled, topic), BADGES[level])


def without_labels(record: RunRecord, on_these: str) -> list[str]:
    """What texts alone say, in sentences; nothing where they were not asked."""
    metric = record.metric
    stands, topic = record.row(f"forecast.{metric}"), record.row(f"forecast.if_topic.{metric}")
    if topic is None:
        return []
    if stands is not None and stands.value is not None:
        return [f"{on_these} expect {called(metric)} of {scored(stands)} (90 %, no labels)."]
    why = "" if stands is None else stands.tags.get("why_not", "")
    return [
        f"Cannot be told from texts alone: {why}.",
        f"If only the topic moves, expect {called(metric)} of about {scored(topic)} (90 %).",
    ]


def _actions(record: RunRecord, labelled: Measurement | None, topic: Measurement | None) -> list[Action]:
    """Which labels would settle it."""
    about, width = record.about, record.about.get("width") or GOOD_WIDTH
    file, command = (TO_LABEL, "the same command again") if record.folder else ("", "-o FOLDER writes them")
    if labelled is None or labelled.value is None:
        guess = 0.7 if topic is None or topic.value is None else topic.value
        reach = points(width_of(max(about["to_label"], 1), guess))
        what = f"Label {about['to_label']:,} texts: an interval of about ± {reach} points, whatever the model is worth"
        what = "Label every text: the score is known then" if about["to_label"] == about["texts"] else what
        return [Action("label", what, count=about["to_label"], file=file, command=command)]
    if labelled.low is None or labelled.high is None:
        what = f"Label more texts: {labelled.tags.get('why_not', 'there are too few')}"
        return [Action("label", what, file=file, command=command)]
    half = (labelled.high - labelled.low) / 2
    if half <= width:
        return [Action("watch", "Run it on next week's texts, and compare", command="unseen runs compare OLD NEW")]
    needed = min(ceil(about["labels"] * (half / width) ** 2), about["texts"])
    what = f"For ± {points(width)} points label about {needed:,} texts in all"
    return [Action("label", what, count=needed - about["labels"], file=file, command=f"--width {width:g}")]


# -- tables and the picture --------------------------------------------------------------------------------------------


def tables(record: RunRecord) -> dict[str, Table]:
    """By the name of their file."""
    metric, made = record.metric, {"scores": _scores(record)}
    slices = sorted({row.slice for row in record.measurements if row.metric.startswith("labelled.")} - {"all"})
    if slices:
        lines = tuple(
            (name, number_of(row.tags.get("labels")), scored(row), scored(record.row("labelled.accuracy", name)))
            for name in slices
            if (row := record.row(f"labelled.{metric}", name)) is not None
        )
        made["slices"] = Table("By slice", ("slice", "labels", called(metric), "accuracy"), lines)
    rungs = list(record.rows(f"rung.{metric}"))
    if not rungs:
        return made
    best = _best(record)
    made["ladder"] = Table(
        "The ladder", ("rung", "kind", "texts", called(metric), f"by {best}"),
        tuple(
            (str(row.tags["rung"]), str(row.tags["kind"]), row.n, number(row.value),
             number(record.value(f"estimate.{metric}", estimator=best, rung=row.tags["rung"])))
            for row in rungs
        ),
    )  # fmt: skip
    errors = sorted(record.rows(f"error.{metric}"), key=lambda row: row.value if row.value is not None else 9.0)
    named = {str(row.tags["estimator"]): points(row.value) for row in errors}
    made["estimators"] = Table(
        "Estimators", ("estimator", "says of the target", "errs on the ladder by, points"),
        tuple((name, number(record.value(f"estimate.{metric}", estimator=name, rung=None)), error)
              for name, error in named.items()),
    )  # fmt: skip
    kinds = [str(row.tags["kind"]) for row in record.rows("sets.labels")]
    covered = list(record.rows("sets.covered"))
    made["sets"] = Table(
        "Prediction sets", ("kind", "labels a text", "one label", "right on the ladder, from", "to"),
        tuple((kind, number(record.value("sets.labels", kind=kind)), percent(record.value("sets.single", kind=kind)),
               *(percent(end(row.value or 0.0 for row in covered if row.tags["kind"] == kind)) for end in (min, max)))
              for kind in kinds),
    )  # fmt: skip
    return made


def number_of(tag: Any) -> int:
    """A tag that counts: text where it comes from a file."""
    return int(float(tag or 0))


def _scores(record: RunRecord) -> Table:
    main = record.metric
    known = {
        row.metric.split(".", 1)[1] for row in record.measurements if row.metric.startswith(("home.", "labelled."))
    }
    first = [name for name in (main, "accuracy", "f1.macro") if name in known]
    names = [*dict.fromkeys([*first, *sorted(known)])]
    columns = {"with labels": "labelled", "from texts alone": "forecast.if_topic", "together": "together"}
    lines = tuple(
        (called(name), number(record.value(f"home.{name}")),
         *(scored(record.row(f"{prefix}.{name}")) for prefix in columns.values()))
        for name in names
    )  # fmt: skip
    return Table("Scores", ("metric", "at home", *columns), lines)


def _best(record: RunRecord) -> str:
    row = record.row(f"forecast.if_topic.{record.metric}")
    return "" if row is None else str(row.tags.get("by", ""))


def _chart(record: RunRecord, narrow: bool) -> str:
    metric, best = record.metric, _best(record)
    rungs = sorted(record.rows(f"rung.{metric}"), key=lambda row: -(row.value or 0.0))
    lines = [
        DotLine(str(row.tags["rung"]), "ladder",
                (row, record.row(f"estimate.{metric}", estimator=best, rung=row.tags["rung"])))
        for row in rungs
    ]  # fmt: skip
    target = DotLine(
        "the target", "target", (record.row(f"labelled.{metric}"), record.row(f"forecast.if_topic.{metric}"))
    )
    return dot_chart([*lines, target], ["by labels", f"by {best}"], called(metric), narrow)
