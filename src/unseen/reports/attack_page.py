"""The page of attacks: how many flips keep the label, at what price, where, and the changed texts themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unseen.attacks.rating_sheet import ATTEMPTS, EXAMPLES
from unseen.attacks.worded_text import swaps
from unseen.reports.actions import Action
from unseen.reports.columns import Column, score, table_of, value
from unseen.reports.formats import Table
from unseen.reports.page import Page, Section, Verdict
from unseen.reports.record import RunRecord
from unseen.store import read_json
from unseen.types import Measurement
from unseen.types.numbers import bounds, percent, points, scored, whole

RAW, VALID = "success.raw", "success.valid"
CHECK = "check."
SUITE = "suite.csv"
SHOWN = 30
"""Changed texts that the page shows."""
MANY = 0.1
"""Valid success from which on a model is worth a closer look."""
BADGES = {"ok": "few changes found", "warn": "can be fooled", "fail": "a gate failed", "skipped": "not measured"}
HOW = (
    "Raw success is the share of texts that the model got right and that a change makes it get wrong. Valid success "
    "counts a change only where no check objects: programs can tell some changes that lose the label, never all, so "
    "people must read a sample (unseen attack rate)."
)


def page(record: RunRecord) -> Page:
    """What attacks did to the model."""
    about, made = record.about, tables(record)
    recipes = " ".join(f"{name}: {what}" for name, what in about["what"].items())
    shown = [Section("Attacks", HOW, tables=[made["attacks"]], note=recipes)]
    shown.append(Section("What the checks object to", tables=[made["checks"]], note=_unchecked(about)))
    if "slices" in made:
        shown.append(Section("Where it is easier", tables=[made["slices"]]))
    examples = _examples(record)
    if examples:
        shown.append(Section("Changed texts", tables=[_example_table(examples[:SHOWN])]))
    files = {"every text and attack, without texts": ATTEMPTS}
    if any(example["valid"] for example in examples):
        files["valid changes as a suite for later models"] = SUITE
    return Page(
        "attacks",
        f"{about['model']} under attack, on {about['data']['name']}",
        verdict(record),
        subtitle=f"{about['texts']:,} texts",
        sections=shown,
        tables=made,
        printed=[made["attacks"], *([made["slices"]] if "slices" in made else [])],
        files=files,
    )


def verdict(record: RunRecord) -> Verdict:
    """What the strongest attack does, validly; what all flips would say; where it is worse; what to do."""
    known = (row for row in record.rows(VALID) if row.value is not None)
    best = max(known, key=lambda row: row.value or 0.0, default=None)
    if best is None:
        return Verdict(
            "No text was attacked: the model gets none of them right.", [], "skipped", badge=BADGES["skipped"]
        )
    name = str(best.tags["attack"])
    raw = record.row(RAW, attack=name)
    headline = (
        f"{name} makes the model err on {percent(best.value)} {bounds(best, percent)} of the texts that it gets right, "
        "with changes that no check objects to."
    )
    most = record.about["settings"].get("queries")
    sentences = [
        "No attack flips a label."
        if not any(row.value for row in record.rows(RAW))
        else "No check objects to any of its flips."
        if raw is None or raw.value == best.value
        else f"If every flip counted it would be {percent(raw.value)}: the other changes may have lost the label.",
        f"It takes {whole(record.value('queries', attack=name))} queries a text on average.",
        *_part_sentences(record),
        "Programs have judged the changes, nobody has read them.",
    ]
    if most is not None and raw is not None and raw.value != 1:
        sentences.insert(2, f"No text was given more than {most:,} queries (--queries): more may flip more.")
    if record.about["unchecked"]:
        sentences.append(f"Not checked, for want of a word list: {', '.join(record.about['unchecked'])}.")
    level = "fail" if not record.gates_hold else "warn" if (best.low or 0.0) >= MANY else "ok"
    return Verdict(headline, sentences, level, _actions(record), BADGES[level])


def _part_sentences(record: RunRecord) -> list[str]:
    rows = [row for row in record.rows(f"difference.{VALID}") if row.value is not None]
    sentences = []
    for row in rows:
        low, high = row.low or 0.0, row.high or 0.0
        easier = "easier to attack" if low > 0 else "harder to attack" if high < 0 else "not told apart from the rest"
        sentences.append(
            f"The hard test part is {easier} by {row.tags['attack']}: {points(row.value)} points {bounds(row, points)} "
            "more valid success than on the part that was set aside."
        )
    return sentences


def _actions(record: RunRecord) -> list[Action]:
    if not record.about.get("keeps_texts"):
        return [Action("review", "run it again with --texts: people can then read the changes")]
    if record.folder is None:
        return []
    return [
        Action("review", "let people read a sample, blind", command=f"unseen attack rate {record.folder}"),
        Action(
            "replay",
            "ask every later model about the valid changes",
            command=f"unseen check MODEL --suite {record.folder / SUITE}",
        ),
    ]


def tables(record: RunRecord) -> dict[str, Table]:
    """By attack; by check; by slice where there are several."""
    names = record.names("attack", VALID)
    columns: dict[str, Column] = {
        "attacked": lambda own: f"{own.needed(VALID).n:,}",
        "raw success": score(RAW, percent),
        "valid success": score(VALID, percent),
        "right before": value("accuracy", percent),
        "right under attack": value("accuracy.attacked", percent),
        "queries": value("queries", whole),
        "words changed": value("edit_rate", percent),
    }
    made = {
        "attacks": table_of("Attacks", "attack", record.by("attack", names), columns),
        "checks": _check_table(record, names),
    }
    slices = [row.slice for row in record.measurements if row.metric == VALID and row.slice != "all" and row.n]
    if slices:
        success = [(name, metric) for name in names for metric in (RAW, VALID)]
        rows = tuple(
            (part, *(scored(record.row(metric, part, attack=name), percent) for name, metric in success))
            for part in dict.fromkeys(slices)
        )
        columns_of_slices = ("texts", *(f"{name}, {metric.partition('.')[2]}" for name, metric in success))
        made["slices"] = Table("By slice", columns_of_slices, rows)
    return made


def _check_table(record: RunRecord, names: Sequence[str]) -> Table:
    checks = list(dict.fromkeys(row.metric for row in record.measurements if row.metric.startswith(CHECK)))
    rows = tuple(
        (check.removeprefix(CHECK).replace("_", " "), *(_objections(record.row(check, attack=name)) for name in names))
        for check in checks
    )
    return Table("Flips that a check objects to", ("check", *names), rows)


def _objections(row: Measurement | None) -> str:
    return "–" if row is None or row.value is None else f"{percent(1 - row.value)} of {row.n}"


def _unchecked(about: Mapping[str, Any]) -> str:
    missing = about["unchecked"]
    return f"Not checked, because no word list was given: {', '.join(missing)}." if missing else ""


def _examples(record: RunRecord) -> list[dict[str, Any]]:
    path = record.file(EXAMPLES)
    return [] if path is None else list(read_json(path)["examples"])


def _example_table(examples: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            str(one["attack"]), str(one["id"]), f"{one['label']} → {one['predicted']}",
            "; ".join(f"{old or '∅'} → {new or '∅'}" for old, new in swaps(one["original"], one["changed"])),
            "valid" if one["valid"] else f"{', '.join(one['objections'])}", str(one["changed"]),
        )
        for one in sorted(examples, key=lambda one: not one["valid"])
    )  # fmt: skip
    return Table("Changed texts", ("attack", "id", "label", "changes", "checks", "text now"), rows)
