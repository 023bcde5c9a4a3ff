"""`unseen audit items`: texts that are not what the task means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import measured_cells, print_findings, print_table, say
from unseen.cli.data_options import takes_data
from unseen.cli.frame import Reply, gives_reply, makes_run
from unseen.cli.options import listed, parameters, split_of
from unseen.errors import InputError

app = typer.Typer(help="Item validity: flag doubtful texts, measure the rules, and what cleaning does.")

Packs = Annotated[
    str,
    typer.Option(help="Of scrape-noise, label-text, strapline, strapline-code; module:function for a rule of yours."),
]
PACKS = "scrape-noise,label-text"


@app.command("flag")
@takes_data
@gives_reply
def flag(
    data: Any,
    split: options.Split = None,
    packs: Packs = PACKS,
    language: options.Language = "en",
    slice_by: options.Slice = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the flags (.csv).")] = Path("flags.csv"),
    seed: options.Seed = 42,
) -> Reply:
    """Flag texts by rules, and say what each rule flags; nothing is deleted.

    Example: unseen audit items flag posts.csv --id id --packs scrape-noise,label-text -o flags.csv
    """
    from unseen.audits.items import flag_items, rule_findings, rule_report, write_flags
    from unseen.audits.items.flags import check_flags_path

    check_flags_path(out)
    parts = split_of(data, split)
    flags = flag_items(data, listed(packs), parts, language=language, seed=seed)
    rows, findings = rule_report(flags, data, parts, slice_by or ()), rule_findings(flags, data)
    write_flags(flags, out, data)

    def show() -> None:
        print_table([["rule", "pack", "flags", "share", "alone", "trait"], *_rule_lines(flags, rows)])
        _print_slices(rows)
        for name, why in flags.skipped.items():
            say(f"{name}: did not vote, it {why}")
        for threshold in range(1, int(flags.votes.max(initial=1)) + 1):
            say(f"flagged by {threshold} or more: {int(flags.flagged(threshold).sum()):,} of {len(flags):,}")
        say(f"written: {out} (nothing was deleted)")

    content = {"out": out, "items": len(flags), "flagged": int(flags.flagged().sum()), "skipped": flags.skipped}
    return Reply(content | {"measurements": rows, "findings": findings}, show)


@app.command("agree")
@takes_data
@gives_reply
def agree(
    data: Any,
    flags: Annotated[Path, typer.Argument(help="Flags that `unseen audit items flag` wrote.")],
    gold: Annotated[Path, typer.Argument(help="Hand labels: a table with id and valid (yes or no).")],
    gold_id: Annotated[str, typer.Option(help="Column of the ids in GOLD.")] = "id",
    gold_label: Annotated[str, typer.Option(help="Column of the hand labels.")] = "valid",
    second: Annotated[str | None, typer.Option(help="Column of a second annotator's labels.")] = None,
    invalid: Annotated[
        str | None, typer.Option(help="Labels of items to be flagged, 'a,b'. (default: no, invalid, 0, false)")
    ] = None,
    left_out: Annotated[str, typer.Option(help="Labels that are no judgement, 'a,b'.")] = "skipped",
    view: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LABEL,…", help="Labels to set against all others, for two annotators; repeatable."),
    ] = None,
    slice_by: options.Slice = None,
) -> Reply:
    """Measure flags by hand labels: precision, recall and F1 at every threshold; and how far two people agree.

    Example: unseen audit items agree posts.csv flags.csv gold.csv --id id
    """
    from unseen.audits.items import annotator_agreement, hand_label_findings, measure_rules, read_flags, read_gold

    if view and second is None:
        raise InputError("--view has no effect without --second", fix="name the column of the second annotator")
    apart = listed(left_out)
    votes = read_flags(flags, data)
    labels = read_gold(gold, data, id=gold_id, label=gold_label, second=second)
    wrong = None if invalid is None else listed(invalid)
    rows = measure_rules(votes, labels, data, invalid=wrong, left_out=apart, slices=slice_by or ())
    findings = hand_label_findings(rows)
    people = [] if second is None else annotator_agreement(labels, _views(view), left_out=apart)

    def show() -> None:
        _print_agreement(rows, people)
        print_findings(findings)

    return Reply({"measurements": [*rows, *people], "findings": findings}, show)


@app.command("effect")
@takes_data
@makes_run(out=Path("out"), workers=1)
def effect(
    data: Any,
    frame: Any,
    split: options.Split = None,
    model: options.Model = "logistic",
    settings: options.Set = None,
    trust: options.Trust = False,
    packs: Packs = PACKS,
    votes: Annotated[int, typer.Option(help="How many rules must flag a text.")] = 1,
    trainings: options.Trainings = 5,
    repeats: options.Repeats = None,
    metric: options.Metrics = None,
    language: options.Language = "en",
    groups: options.Groups = None,
    seed: options.Seed = 42,
) -> Any:
    """Train on all rows, without flagged ones, and without as many random ones of the same labels; compare the scores.

    Example: unseen audit items effect posts.csv --id id --model logistic --packs label-text --trainings 2 -o effect
    """
    from unseen.runs.item_effect import METRICS, item_effect

    return item_effect(
        data, split_of(data, split), model=model, params=parameters(settings, trust=trust), packs=listed(packs),
        votes=votes, trainings=trainings, repeats=repeats, metrics=metric or METRICS, language=language, groups=groups,
        seed=seed, **frame,
    )  # fmt: skip


def _views(given: list[str] | None) -> dict[str, list[str]] | None:
    views = {}
    for view in given or ():
        name, middle, labels = view.partition("=")
        if not (name.strip() and middle and listed(labels)):
            raise InputError(f"--view {view} is not a view", expected="NAME=LABEL,LABEL")
        views[name.strip()] = listed(labels)
    return views or None


def _rule_lines(flags: Any, rows: Sequence[Any]) -> list[list[str]]:
    from unseen.types.numbers import percent

    alone = {row.tags["rule"]: row.value for row in rows if row.metric == "rule_alone"}
    number = flags.fired.sum(axis=0).tolist()
    return [
        [
            rule.name, rule.pack, f"{n:,}", percent(n / max(1, len(flags)), 1),
            percent(alone.get(rule.name)), rule.trait,
        ]
        for rule, n in zip(flags.rules, number, strict=True)
    ]  # fmt: skip


def _print_slices(rows: Sequence[Any]) -> None:
    """Items that any rule flags, by label, part and what else was asked for."""
    from unseen.types.numbers import bounds, percent

    shown = [row for row in rows if row.metric == "flagged_share" and row.tags["threshold"] == 1 and row.slice != "all"]
    say()
    lines = [[row.slice, percent(row.value), bounds(row, percent), f"{row.n:,}"] for row in shown]
    print_table([["flagged of", "share", "95 % interval", "items"], *lines], numbers_from=1)
    say()


def _print_agreement(rows: Sequence[Any], people: Sequence[Any]) -> None:
    shown = ("flag_precision", "flag_recall", "flag_f1", "flag_accuracy", "accuracy_without_flags", "invalid_share")
    lines = [
        [row.metric, str(row.tags.get("threshold", "-")), row.slice, *measured_cells(row)]
        for row in rows
        if row.metric in shown
    ]
    print_table([["metric", "rules", "items", "value", "95 % interval", "n"], *lines], numbers_from=3)
    conflicts = [[str(row.tags["rule"]), *measured_cells(row)] for row in rows if row.metric == "rule_conflict"]
    if conflicts:
        say()
        print_table([["flagged, but valid by hand", "share", "95 % interval", "n"], *conflicts], numbers_from=1)
    if people:
        say()
        lines = [
            [row.metric, str(row.tags["view"]), str(row.tags.get("annotator", "-")), *measured_cells(row)]
            for row in people
        ]
        print_table([["two annotators", "view", "annotator", "value", "95 % interval", "n"], *lines], numbers_from=3)
    say()
