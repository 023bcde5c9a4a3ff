"""The options that say what columns of the data mean."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.errors import InputError


def column(of: str, *names: str) -> Any:
    """An option that names the column of one role."""
    return typer.Option(*names, metavar="COLUMN", help=f"Column of the {of}.")


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


def named_roles(**given: str | None) -> dict[str, str]:
    """The roles that were given a column."""
    return {role: column for role, column in given.items() if column is not None}
