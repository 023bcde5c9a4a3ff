"""`unseen audit data`: whether a validation is sound."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, gates_of, notes, print_result, progress
from unseen.cli.data_options import ROLES, takes_data
from unseen.cli.options import (
    NEAR,
    AuditGate,
    ExampleTexts,
    Json,
    Junit,
    Near,
    OptionalRunFolder,
    Parts,
    Quiet,
    Seed,
    Semantic,
    SemanticEncoder,
    Split,
    Summary,
    Vectors,
    semantic_source,
    split_of,
)
from unseen.errors import InputError


@takes_data
def audit_data(
    data: Any,
    typed: str,
    split: Split = None,
    parts: Parts = None,
    roles: Any = tuple(ROLES),
    vectors: Vectors = None,
    encoder: SemanticEncoder = None,
    near: Near = NEAR,
    semantic: Semantic = None,
    check: Annotated[
        list[str] | None, typer.Option(help="Only this check, or module:function of your own; may be repeated.")
    ] = None,
    gate: AuditGate = None,
    junit: Junit = None,
    summary: Summary = None,
    out: OptionalRunFolder = None,
    texts: ExampleTexts = False,
    seed: Seed = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for leaks between test and training, drift, conflicts and shortcuts; exit 1 when a check fails.

    Example: unseen audit data posts.csv --split hard.csv --text text --label label --author user --gate none -o audited
    """
    from unseen.audits.subject import SEMANTIC
    from unseen.runs.audit import audit

    using = semantic_source(vectors, encoder, semantic)
    if texts and out is None:
        raise InputError("--texts has no effect without --out", fix="name a folder: -o audited")
    with notes(quiet), progress(quiet):
        result = audit(
            data, split_of(data, split, parts), using=using, checks=check, near=near,
            semantic=SEMANTIC if semantic is None else semantic, seed=seed, gates=gates_of(gate), out=out, texts=texts,
            command=command_line(), typed=typed, **roles,
        )  # fmt: skip
    print_result(result, as_json, junit, summary)
