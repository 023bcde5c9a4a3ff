"""The options that say what columns of the data mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.errors import InputError


def column(of: str, *names: str) -> Any:
    """An option that names the column of one role."""
    return typer.Option(*names, metavar="COLUMN", help=f"Column of the {of}.")


NEAR = 0.8
Near = Annotated[float, typer.Option(help="Share of 5-character pieces that makes near-duplicates.")]
Encoder = Annotated[str | None, typer.Option(help="Encoder for semantic neighbours, e.g. minilm.")]
Semantic = Annotated[float | None, typer.Option(help="Cosine about the centre that makes neighbours. (default: 0.95)")]
By = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that names each row's part.")]
Author = Annotated[str | None, column("authors")]
Conversation = Annotated[str | None, column("conversations (threads, comments, documents)")]
Template = Annotated[str | None, column("templates")]
Partner = Annotated[str | None, column("contrast partners: their ids, or a name that partners share")]
Source = Annotated[str | None, column("sources (platforms, forums)", "--source")]
Time = Annotated[str | None, column("times")]
Original = Annotated[str | None, column("originals, where rows are copies: their ids, or a name that copies share")]


def split_of(data: Any, split: str | None, by: str | None) -> Any:
    """The split in a file, or the one that a column names; None without either."""
    from unseen import api

    if split is not None and by is not None:
        raise InputError("--by has no effect with a split file", fix="leave one of them out")
    if by is not None:
        return api.split(data, "predefined", by=by, name=by)
    return None if split is None else read_any_split(split, data)


def refuse_without_vectors(vectors: Path | None, encoder: str | None, semantic: float | None) -> None:
    """Refuse two sources of vectors, and a threshold without any."""
    if vectors is not None and encoder is not None:
        raise InputError("--encoder has no effect with --vectors", fix="leave one of them out")
    if semantic is not None and vectors is None and encoder is None:
        raise InputError("--semantic has no effect without vectors", fix="--vectors FILE, or --encoder NAME")


def named_roles(**given: str | None) -> dict[str, str]:
    """The roles that were given a column."""
    return {role: column for role, column in given.items() if column is not None}
