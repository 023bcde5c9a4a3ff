"""`unseen audit`: whether a validation is sound."""

from __future__ import annotations

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
from unseen.cli.console import AuditGates, Json, Quiet, command_line, gates_of, notes, print_result, progress
from unseen.cli.source import takes_data
from unseen.errors import InputError


@takes_data
def audit(
    data: Any,
    typed: str,
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
    gate: AuditGates = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for report, findings and leaked rows.")
    ] = None,
    texts: Annotated[bool, typer.Option("--texts", help="Write the texts of leaked rows as well.")] = False,
    seed: Annotated[int, typer.Option(help="Of hashing and intervals.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for leaks between test and training, drift, conflicts and shortcuts; exit 1 when a check fails.

    Example: unseen audit posts.csv hard.csv --text text --label label --author user --gate none -o audited
    """
    from unseen import api
    from unseen.audits.subject import SEMANTIC, Subject
    from unseen.runs.audit import audit as audited

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
            SEMANTIC if semantic is None else semantic, seed, typed,
        )  # fmt: skip
        command = command_line()
        result = audited(subject, checks=check, gates=gates_of(gate), out=out, texts=texts, command=command)
    print_result(result, as_json)
