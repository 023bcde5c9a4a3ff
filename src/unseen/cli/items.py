"""`unseen items`: texts that are not what the task means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.cli.console import (
    Gates,
    Json,
    Quiet,
    command_line,
    notes,
    print_json,
    print_result,
    print_table,
    progress,
    say,
)
from unseen.cli.model import Model, Set, Trust, parameters
from unseen.cli.source import takes_data
from unseen.errors import InputError

app = typer.Typer(help="Item validity: flag doubtful texts, measure the rules, and what cleaning does.")

OptionalSplit = Annotated[str | None, typer.Argument(metavar="SPLIT", help="Rules count on its training part only.")]
Packs = Annotated[
    str,
    typer.Option(help="Of scrape-noise, label-text, strapline, strapline-code; module:function for a rule of yours."),
]
Language = Annotated[str, typer.Option(help="Language of the texts, e.g. en, de.")]
Seed = Annotated[int, typer.Option(help="Seed.")]
SliceBy = Annotated[list[str] | None, typer.Option("--slice", help="A column to count by; may be repeated.")]
PACKS = "scrape-noise,label-text"


@app.command("flag")
@takes_data
def flag(
    data: Any,
    split: OptionalSplit = None,
    packs: Packs = PACKS,
    language: Language = "en",
    slice_by: SliceBy = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the flags (.csv).")] = Path("flags.csv"),
    seed: Seed = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Flag texts by rules, and say what each rule flags; nothing is deleted.

    Example: unseen items flag posts.csv --id id --packs scrape-noise,label-text -o flags.csv
    """
    from unseen.audits.items import flag_items, rule_findings, rule_report, write_flags
    from unseen.audits.items.flags import check_flags_path

    check_flags_path(out)
    with notes(quiet), progress(quiet):
        parts = None if split is None else read_any_split(split, data)
        flags = flag_items(data, _listed(packs), parts, language=language, seed=seed)
        rows, findings = rule_report(flags, data, parts, slice_by or ()), rule_findings(flags, data)
        write_flags(flags, out, data)
    if as_json:
        told = {"out": out, "items": len(flags), "flagged": int(flags.flagged().sum()), "skipped": flags.skipped}
        print_json(told | {"measurements": [asdict(row) for row in rows], "findings": _plain(findings)})
        return
    print_table([["rule", "pack", "flags", "share", "alone", "trait"], *_rule_lines(flags, rows)])
    _print_slices(rows)
    for name, why in flags.skipped.items():
        say(f"{name}: did not vote, it {why}")
    for threshold in range(1, int(flags.votes.max(initial=1)) + 1):
        say(f"flagged by {threshold} or more: {int(flags.flagged(threshold).sum()):,} of {len(flags):,}")
    say(f"written: {out} (nothing was deleted)")


@app.command("agree")
@takes_data
def agree(
    data: Any,
    flags: Annotated[Path, typer.Argument(help="Flags that `unseen items flag` wrote.")],
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
    slice_by: SliceBy = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure flags by hand labels: precision, recall and F1 at every threshold; and how far two people agree.

    Example: unseen items agree posts.csv flags.csv gold.csv --id id
    """
    from unseen.audits.items import annotator_agreement, hand_label_findings, measure_rules, read_flags, read_gold

    if view and second is None:
        raise InputError("--view has no effect without --second", fix="name the column of the second annotator")
    apart = _listed(left_out)
    with notes(quiet):
        votes = read_flags(flags, data)
        said = read_gold(gold, data, id=gold_id, label=gold_label, second=second)
        wrong = None if invalid is None else _listed(invalid)
        rows = measure_rules(votes, said, data, invalid=wrong, left_out=apart, slices=slice_by or ())
        findings = hand_label_findings(rows)
        people = [] if second is None else annotator_agreement(said, _views(view), left_out=apart)
    if as_json:
        print_json({"measurements": [asdict(row) for row in [*rows, *people]], "findings": _plain(findings)})
        return
    _print_agreement(rows, people)
    for each in findings:
        say(f"{each.level}: {each.message}{' ' if each.advice else ''}{each.advice}")


@app.command("effect")
@takes_data
def effect(
    data: Any,
    split: OptionalSplit = None,
    model: Model = "logistic",
    settings: Set = None,
    trust: Trust = False,
    packs: Packs = PACKS,
    threshold: Annotated[int, typer.Option(help="How many rules must flag a text.")] = 1,
    seeds: Annotated[int, typer.Option(help="Trainings of each kind.")] = 5,
    repeats: Annotated[
        int | None, typer.Option(help="Random removals for each seed. (default: 20 in all; of transformers one each)")
    ] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Repeatable. (default: f1.macro, accuracy)")] = None,
    language: Language = "en",
    groups: Annotated[str | None, typer.Option(help="Column whose values are drawn together for intervals.")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the run.")] = Path("out"),
    workers: Annotated[int, typer.Option(help="Trainings side by side.")] = 1,
    gate: Gates = None,
    seed: Seed = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on all rows, without flagged ones, and without as many random ones of the same labels; compare the scores.

    Example: unseen items effect posts.csv --id id --model logistic --packs label-text --seeds 2 -o effect
    """
    from unseen.runs.item_effect import ItemEffectSettings, item_effect
    from unseen.runs.spaces import Model as Trained

    given = {"metrics": tuple(metric)} if metric else {}
    wanted = ItemEffectSettings(
        model=Trained(model, parameters(settings, trust=trust)), packs=tuple(_listed(packs)), threshold=threshold,
        seeds=seeds, repeats=repeats, language=language, groups=groups, seed=seed, **given,
    )  # fmt: skip
    with notes(quiet), progress(quiet):
        parts = None if split is None else read_any_split(split, data)
        command = command_line()
        result = item_effect(data, parts, wanted, out=out, workers=workers, gates=gate or (), command=command)
    print_result(result, as_json)


def _listed(names: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def _views(given: list[str] | None) -> dict[str, list[str]] | None:
    found = {}
    for each in given or ():
        name, middle, labels = each.partition("=")
        if not (name.strip() and middle and _listed(labels)):
            raise InputError(f"--view {each} is not a view", expected="NAME=LABEL,LABEL")
        found[name.strip()] = _listed(labels)
    return found or None


def _plain(findings: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(each) for each in findings]


def _rule_lines(flags: Any, rows: Sequence[Any]) -> list[list[str]]:
    alone = {row.tags["rule"]: row.value for row in rows if row.metric == "rule_alone"}
    number = flags.fired.sum(axis=0).tolist()
    return [
        [
            rule.name, rule.pack, f"{n:,}", f"{n / max(1, len(flags)):.1%}",
            f"{alone[rule.name]:.0%}" if rule.name in alone else "-", rule.trait,
        ]
        for rule, n in zip(flags.rules, number, strict=True)
    ]  # fmt: skip


def _print_slices(rows: Sequence[Any]) -> None:
    """Items that any rule flags, by label, part and what else was asked for."""
    shown = [row for row in rows if row.metric == "flagged_share" and row.tags["threshold"] == 1 and row.slice != "all"]
    say()
    lines = [[row.slice, f"{row.value:.1%}", f"[{row.low:.1%}, {row.high:.1%}]", f"{row.n:,}"] for row in shown]
    print_table([["flagged of", "share", "95 % interval", "items"], *lines], numbers_from=1)
    say()


def _print_agreement(rows: Sequence[Any], people: Sequence[Any]) -> None:
    shown = ("flag_precision", "flag_recall", "flag_f1", "flag_accuracy", "accuracy_without_flags", "invalid_share")
    lines = [
        [row.metric, str(row.tags.get("threshold", "-")), row.slice, *_cells(row)]
        for row in rows
        if row.metric in shown
    ]
    print_table([["metric", "rules", "items", "value", "95 % interval", "n"], *lines], numbers_from=3)
    conflicts = [[str(row.tags["rule"]), *_cells(row)] for row in rows if row.metric == "rule_conflict"]
    if conflicts:
        say()
        print_table([["flagged, but valid by hand", "share", "95 % interval", "n"], *conflicts], numbers_from=1)
    if people:
        say()
        lines = [
            [row.metric, str(row.tags["view"]), str(row.tags.get("annotator", "-")), *_cells(row)] for row in people
        ]
        print_table([["two annotators", "view", "annotator", "value", "95 % interval", "n"], *lines], numbers_from=3)
    say()


def _cells(row: Any) -> list[str]:
    value = "-" if row.value is None else f"{row.value:.3f}"
    bounds = "-" if row.low is None else f"[{row.low:.3f}, {row.high:.3f}]"
    return [value, bounds, f"{row.n:,}"]
