"""`unseen split repair`: a split without leaks, copies, conflicts or crowds, and what it took."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, print_table, printable, progress, say
from unseen.cli.data_options import ROLES, takes_data
from unseen.cli.options import Cap, CapBy, Json, Parts, Quiet, Reviews, Seed, Split, listed, size, split_of
from unseen.cli.split.make import print_split
from unseen.cli.target import check_target
from unseen.errors import InputError


@takes_data
def repair(
    data: Any,
    typed: str,
    split: Split = None,
    parts: Parts = None,
    reviews: Reviews = None,
    grouped_by: Annotated[
        list[str] | None,
        typer.Option("--groups", metavar="COLUMN", help="Column(s) whose values stay on one side: a or a,b."),
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
    cap: Cap = None,
    cap_by: CapBy = None,
    cap_parts: Annotated[
        str | None, typer.Option(help="train or all. (default: train; all when the parts are drawn anew)")
    ] = None,
    minimal: Annotated[
        str | None, typer.Option(help="Keep the given split; move or drop what is on both sides.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="New test part: a share, or rows. (default: as in --split, else 0.2)"),
    ] = None,
    seed: Seed = 42,
    roles: Any = tuple(ROLES),
    out: Annotated[Path, typer.Option("-o", "--out", help="File.")] = Path("fixed.csv"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repair a split: apply reviews, settle conflicts, drop copies, part groups, cap crowds; every change is written.

    It ends with the audit of its result: exit code 1 when that still finds a leak, or what should be gone.

    Example: unseen split repair posts.csv --groups user --dedupe near --conflicts drop --test 0.2 -o fixed.csv
    """
    from unseen.audits.reviewed_labels import reviews_of
    from unseen.repairs import repair as repaired
    from unseen.repairs import write_repaired

    _check_targets(out)
    with notes(quiet), progress(quiet):
        made = repaired(
            data,
            split_of(data, split, parts),
            reviews=reviews_of(reviews or (), data),
            groups=[name for names in grouped_by or () for name in listed(names)],
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
            typed=(typed, _with_repaired(typed, split, parts, out)),
        )
        replaced = out.exists()
        written = write_repaired(made, out)
    _show(made, written, replaced, as_json)
    if made.remaining:
        raise typer.Exit(1)


def _with_repaired(typed: str, split: str | None, parts: str | None, out: Path) -> str:
    """What was typed for the data, with the split that is written in place of the one that is repaired."""
    before = [word for option, value in (("--split", split), ("--parts", parts)) if value for word in (option, value)]
    repaired = shlex.join(["--split", str(out)])
    return typed.replace(shlex.join(before), repaired) if before else f"{typed} {repaired}"


def _check_targets(out: Path) -> None:
    """Refuse to replace what is not ours: files beside a split of ours are."""
    from unseen.repairs.files import targets

    check_target(out, ".csv")
    for path in targets(out).values():
        if path.exists() and not out.exists():
            raise InputError(f"{path} would be overwritten", fix="give -o another name, or move that file away")


def _show(made: Any, written: dict[str, Path], replaced: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from unseen.store.splits import description

    if as_json:
        names = ("before", "after", "remaining", "worse")
        audits = {when: [asdict(finding) for finding in getattr(made, when)] for when in names}
        print_json(description(made.split) | {"changes": made.counts, "files": written} | audits)
        return
    print_split(made.data, made.split)
    say("")
    print_table(_changes(made), numbers_from=4)
    say("")
    print_table(_audit(made))
    before = {finding.check: finding.level for finding in made.before}
    for finding in made.worse:
        change = f"{before[finding.check]}, now {finding.level}"
        say(f"note: {finding.check} is worse than before ({change}): {printable(finding.message)}")
    for finding in made.remaining:
        advice = f" {printable(finding.advice)}" if finding.advice else ""
        say(f"still there: {printable(finding.message)}{advice}")
    over = ", in place of older ones" if replaced else ""
    say(f"\nwritten: {', '.join(str(path) for path in written.values())}{over}")
    if "data" in written:
        labels = shlex.quote(printable(",".join(made.data.label_names)))
        say(f"Labels were changed, so the split belongs to {written['data']}, which holds the texts; load it with")
        say(f"  --id id --labels {labels}")


def _changes(made: Any) -> list[list[str]]:
    """Counts of changes by what was done, where and why."""
    from collections import Counter

    counts = Counter((change.action, change.before, change.after, change.reason) for change in made.changes)
    lines = [
        [action, before or "-", after, why, f"{n:,}"] for (action, before, after, why), n in sorted(counts.items())
    ]
    return [["change", "from", "to", "why", "rows"], *(lines or [["none", "", "", "", "0"]])]


def _audit(made: Any) -> list[list[str]]:
    """One line per check: level and count before and after."""
    before = {finding.check: finding for finding in made.before}
    lines = [["check", "before", "after"]]
    for finding in made.after:
        if finding.level != "skipped" or before.get(finding.check, finding).level != "skipped":
            lines.append([finding.check, _level(before.get(finding.check)), _level(finding)])
    return lines


def _level(finding: Any) -> str:
    """The level, with the count of what is wrong."""
    if finding is None:
        return "-"
    return (
        f"{finding.level} ({finding.count:,})" if finding.level in ("warn", "fail") and finding.count else finding.level
    )
