"""`unseen repair`: a split without leaks, copies, conflicts or crowds, and what it took."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.columns import (
    Author,
    By,
    Conversation,
    Original,
    Partner,
    Source,
    Template,
    Time,
    named_roles,
    split_of,
)
from unseen.cli.console import Json, Quiet, notes, print_json, print_table, printable, progress, say
from unseen.cli.source import takes_data
from unseen.cli.split import describe, size
from unseen.cli.target import check_target
from unseen.errors import InputError

Split = Annotated[
    str | None, typer.Argument(help="A split file of ours, or somebody else's; without one, a new split.")
]


@takes_data
def repair(
    data: Any,
    split: Split = None,
    by: By = None,
    grouped_by: Annotated[
        list[str] | None, typer.Option("--groups", help="Column(s) whose values stay on one side: a or a,b.")
    ] = None,
    together: Annotated[
        str | None, typer.Option(help="Copies that stay on one side, none taken out: exact, normalised, near.")
    ] = None,
    dedupe: Annotated[str | None, typer.Option(help="Copies of which one stays: exact, normalised, near.")] = None,
    keep: Annotated[
        str | None,
        typer.Option(help="Side that keeps its rows, train or test; for --dedupe, --minimal. (default: test)"),
    ] = None,
    conflicts: Annotated[
        str | None, typer.Option(help="Same text, other label: drop, relabel (by majority), keep. (default: keep)")
    ] = None,
    cap: Annotated[int | None, typer.Option(help="Rows per value of --cap-by and class, e.g. 250.")] = None,
    cap_by: Annotated[str | None, typer.Option(help="Column of the cap. (default: that of --groups)")] = None,
    cap_parts: Annotated[
        str | None, typer.Option(help="train or all. (default: train; all when the parts are drawn anew)")
    ] = None,
    minimal: Annotated[
        str | None, typer.Option(help="Keep the given split; move or drop what is on both sides.")
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="New test part: a share, or rows. (default: as in SPLIT, else 0.2)")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed.")] = 42,
    author: Author = None,
    conversation: Conversation = None,
    template: Template = None,
    partner: Partner = None,
    origin: Source = None,
    original: Original = None,
    time: Time = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="File.")] = Path("fixed.csv"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repair a split: settle conflicts, take out copies, part groups, cap crowds; every change is written down.

    It ends with the audit of its result: exit code 1 when that still finds a leak, or what should be gone.

    Example: unseen repair posts.csv --groups user --dedupe near --conflicts drop --test 0.2 -o fixed.csv
    """
    from unseen.repairs import repair as repaired
    from unseen.repairs import write_repaired

    _check_targets(out)
    roles = named_roles(
        author=author, conversation=conversation, template=template, partner=partner, source=origin, original=original,
        time=time,
    )  # fmt: skip
    with notes(quiet), progress(quiet):
        made = repaired(
            data,
            split_of(data, split, by),
            groups=[name.strip() for each in grouped_by or () for name in each.split(",")],
            together=together,
            dedupe=dedupe,
            keep=keep,
            conflicts=conflicts,
            cap=cap,
            cap_by=cap_by,
            cap_parts=cap_parts,
            minimal=minimal,
            test=None if test is None else size(test, "--test"),
            seed=seed,
            columns=roles,
            name=out.stem,
        )
        replaced = out.exists()
        written = write_repaired(made, out)
    _show(made, written, replaced, as_json)
    if made.remaining:
        raise typer.Exit(1)


def _check_targets(out: Path) -> None:
    """Refuse to replace what is not ours: files beside a split of ours are."""
    from unseen.repairs.files import targets

    check_target(out, ".csv")
    for each in targets(out).values():
        if each.exists() and not out.exists():
            raise InputError(f"{each} would be overwritten", fix="give -o another name, or move that file away")


def _show(made: Any, written: dict[str, Path], replaced: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from unseen.store.splits import description

    if as_json:
        names = ("before", "after", "remaining", "worse")
        audits = {when: [asdict(each) for each in getattr(made, when)] for when in names}
        print_json(description(made.split) | {"changes": made.counts, "files": written} | audits)
        return
    describe(made.data, made.split)
    say("")
    print_table(_changes(made), numbers_from=4)
    say("")
    print_table(_audit(made))
    before = {each.check: each.level for each in made.before}
    for each in made.worse:
        change = f"{before[each.check]}, now {each.level}"
        say(f"note: {each.check} is worse than before ({change}): {printable(each.message)}")
    for each in made.remaining:
        say(f"still there: {printable(each.message)}" + (f" {printable(each.advice)}" if each.advice else ""))
    over = ", in place of older ones" if replaced else ""
    say(f"\nwritten: {', '.join(str(path) for path in written.values())}{over}")
    if "data" in written:
        labels = shlex.quote(printable(",".join(made.data.label_names)))
        say(f"Labels were changed, so the split belongs to {written['data']}, which holds the texts; load it with")
        say(f"  --id id --labels {labels}")


def _changes(made: Any) -> list[list[str]]:
    """Counts of changes by what was done, where and why."""
    from collections import Counter

    counts = Counter((each.action, each.before, each.after, each.reason) for each in made.changes)
    lines = [
        [action, before or "-", after, why, f"{n:,}"] for (action, before, after, why), n in sorted(counts.items())
    ]
    return [["change", "from", "to", "why", "rows"], *(lines or [["none", "", "", "", "0"]])]


def _audit(made: Any) -> list[list[str]]:
    """One line per check: level and count before and after."""
    before = {each.check: each for each in made.before}
    lines = [["check", "before", "after"]]
    for each in made.after:
        if each.level != "skipped" or before.get(each.check, each).level != "skipped":
            lines.append([each.check, _level(before.get(each.check)), _level(each)])
    return lines


def _level(finding: Any) -> str:
    """The level, with the count of what is wrong."""
    if finding is None:
        return "-"
    return (
        f"{finding.level} ({finding.count:,})" if finding.level in ("warn", "fail") and finding.count else finding.level
    )
