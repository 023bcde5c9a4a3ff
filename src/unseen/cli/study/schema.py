"""`unseen study schema`: what files may say, for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from unseen.cli.console import print_json


def schema(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="study, validation, transfer, suite or card.")] = "study",
) -> None:
    """Print the JSON Schema of a kind of file, so that an editor completes and checks while you type.

    Example: unseen study schema study
    """
    from unseen.file_schemas import file_schema

    print_json(file_schema(kind))
