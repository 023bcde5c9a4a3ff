"""`unseen audit`: whether a validation is sound."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.columns import (
    NEAR,
    Author,
    By,
    Conversation,
    Encoder,
    Near,
    Original,
    Partner,
    Semantic,
    Source,
    Template,
    Time,
    named_roles,
    refuse_without_vectors,
    split_of,
)
from unseen.cli.console import Json, Quiet, command_line, notes, print_json, print_table, progress, say
from unseen.cli.source import takes_data
from unseen.errors import InputError


@takes_data
def audit(
    data: Any,
    split: Annotated[
        str | None, typer.Argument(help="A split file of ours, or anybody's; without it, the data alone.")
    ] = None,
    by: By = None,
    author: Author = None,
    conversation: Conversation = None,
    template: Template = None,
    partner: Partner = None,
    origin: Source = None,
    original: Original = None,
    time: Time = None,
    vectors: Annotated[Path | None, typer.Option(help="Vectors (.npy) for semantic neighbours.")] = None,
    encoder: Encoder = None,
    near: Near = NEAR,
    semantic: Semantic = None,
    check: Annotated[
        list[str] | None, typer.Option(help="Only this check, or module:function of your own; may be repeated.")
    ] = None,
    fail_on: Annotated[str, typer.Option(help="Exit 1 on findings of this level: fail, warn or never.")] = "fail",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for report, findings and leaked rows.")
    ] = None,
    texts: Annotated[bool, typer.Option("--texts", help="Write the texts of leaked rows as well.")] = False,
    seed: Annotated[int, typer.Option(help="Of hashing and intervals.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for leaks between test and training, drift, conflicts and shortcuts; exit 1 when a check fails.

    Example: unseen audit posts.csv hard.csv --text text --label label --author user --fail-on never -o audited
    """
    from unseen import api
    from unseen.audits.subject import SEMANTIC, Subject
    from unseen.study.audit import audit_data

    roles = named_roles(
        author=author, conversation=conversation, template=template, partner=partner, source=origin, original=original,
        time=time,
    )  # fmt: skip
    refuse_without_vectors(vectors, encoder, semantic)
    if texts and out is None:
        raise InputError("--texts has no effect without --out", fix="name a folder: -o audited")
    with notes(quiet), progress(quiet):
        found = split_of(data, split, by)
        placed = vectors or encoder
        subject = Subject(
            data, found, roles,
            None if placed is None else api.vectors_of(data, placed, seed), near,
            SEMANTIC if semantic is None else semantic, seed,
        )  # fmt: skip
        command = command_line()
        done = audit_data(subject, checks=check, fail_on=fail_on, out=out, texts=texts, command=command)
    tell(done, as_json)
    if not done.passed:
        raise typer.Exit(1)


def tell(done: Any, as_json: bool) -> None:
    """Print what an audit found, the gravest first."""
    from unseen.reports.audit_page import verdict
    from unseen.reports.tables import sorted_findings

    findings = sorted_findings(done.audit.findings)
    if as_json:
        print_json(
            {
                "findings": [asdict(finding) for finding in findings],
                "measurements": [asdict(row) for row in done.audit.measurements],
                "passed": done.passed,
                "report": done.report,
            }
        )
        return
    lines = [["level", "check", "what was found"]]
    print_table(lines + [[each.level, each.check, each.message] for each in findings])
    for each in findings:
        if each.level in ("fail", "warn") and each.advice:
            shown = f" e.g. {', '.join(each.evidence[:3])}" if each.evidence else ""
            say(f"\n{each.check}:{shown}\n  {each.advice}")
    _, headline, rest = verdict(findings)
    say(f"\n{headline}\n{rest}")
    if done.report is not None:
        say(f"report: {done.report}")
