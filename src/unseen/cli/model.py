"""The options that say which model a command trains or asks."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from unseen.errors import InputError

Model = Annotated[
    str,
    typer.Option(
        help="A recipe ('unseen ls recipes'), a transformer (minilm, smollm2, a folder, a hub name), a pipeline file."
    ),
]
Bottleneck = Annotated[int | None, typer.Option(help="Numbers in a transformer's bottleneck. (default: none)")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Run code that a model brings, from a folder or a pipeline file; only if you trust it."
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="THEIRS=OURS,…", help="The labels of the model or predictions in the data's words."),
]
TrustFile = Annotated[
    bool,
    typer.Option("--trust", help="Run code that the file names or a model in it brings; only if you trust it."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the recipe, e.g. epochs=5; may be repeated."),
]


def parameters(settings: list[str] | None, **given: Any) -> dict[str, Any]:
    """Parameters from what was typed; numbers, true, false, null, lists and objects as in JSON, else text."""
    found = {name: value for name, value in given.items() if value}
    for each in settings or []:
        name, middle, value = each.partition("=")
        if not middle or not name.isidentifier():
            raise InputError(f"--set {each} is not a setting", expected="NAME=VALUE, e.g. epochs=5")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
