"""`unseen ls`: the names that can be typed."""

from __future__ import annotations

from typing import Annotated

import typer

from unseen.cli.console import Json, print_json, print_table
from unseen.errors import UnknownNameError


def ls(
    kind: Annotated[str | None, typer.Argument(help="encoders or splitters; both when left out.")] = None,
    as_json: Json = False,
) -> None:
    """List encoders and splitters.

    Example: unseen ls splitters
    """
    from unseen.representations import ENCODERS
    from unseen.splits import SPLITTERS

    registries = {"encoders": ENCODERS, "splitters": SPLITTERS}
    if kind is not None and kind not in registries:
        raise UnknownNameError.of("kind", kind, registries)
    shown = {each: registries[each] for each in registries if kind in (None, each)}
    if as_json:
        print_json({each: {name: own.summary(name) for name in own} for each, own in shown.items()})
        return
    lines = [
        [each.removesuffix("s"), own.full_name(name), own.summary(name)] for each, own in shown.items() for name in own
    ]
    print_table([["kind", "name", "what it does"], *lines])
