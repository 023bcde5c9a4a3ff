"""The options that say which data a command works on."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes
from unseen.errors import InputError
from unseen.redaction import redacted

HELP = "A table (CSV, TSV, JSONL, Parquet), a known dataset, or 'sample'."
Data = Annotated[str, typer.Argument(metavar="DATA", help=HELP)]
OptionalData = Annotated[str | None, typer.Argument(metavar="DATA", help=HELP)]
OPTIONS: dict[str, Any] = {
    "text": Annotated[str | None, typer.Option(help="Column of the texts. (default: text)")],
    "label": Annotated[str | None, typer.Option(help="Column of the labels. (default: label)")],
    "id": Annotated[
        str | None, typer.Option(help="Column of the ids. (default: id if it can, else made from the texts)")
    ],
    "attribute": Annotated[
        list[str] | None, typer.Option("--attribute", "-a", help="A metadata column to keep; may be repeated.")
    ],
    "labels": Annotated[str | None, typer.Option(help="Labels in order, 'a,b,c', or raw values and names, '0=a,1=b'.")],
    "drop": Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out rows: unlabelled, undeclared, empty, duplicates; or with a label that is one of the "
            "placeholders (NA, null), several (a|b) or rare; may be repeated."
        ),
    ],
    "merge": Annotated[
        bool | None,
        typer.Option("--merge", help="Labels that differ only by case, blanks, Unicode form or 0 and 0.0 become one."),
    ],
    "longest": Annotated[int | None, typer.Option(help="Bytes that a cell may have. (default: 1000000)")],
    "delimiter": Annotated[str | None, typer.Option(help="Of a CSV file. (default: found from the content)")],
    "encoding": Annotated[str | None, typer.Option(help="Of a text file. (default: utf-8)")],
    "data_dir": Annotated[
        Path | None, typer.Option(help="Folder of known datasets. (default: $UNSEEN_DATA, else ~/.cache/unseen/data)")
    ],
    "file": Annotated[str | None, typer.Option(help="Which file of a known dataset. (default: the main one)")],
}

COLUMN_OPTIONS = (
    "groups", "agreement", "bias", "units", "author", "conversation", "template", "partner", "origin", "original",
    "time", "cap_by",
)  # fmt: skip
"""Parameters of commands that name a column, which is then loaded as an attribute."""


def takes_data(command: Callable[..., None], *, optional: bool = False) -> Callable[..., None]:
    """Give `command` the loading options, and the loaded Dataset as its argument `data`.

    Options of a command that name columns too (`--by`, `--groups`, …): they are loaded as attributes. DATA is the first
    argument. With `optional` it is the last and may be missing: `data` is then None, and loading options are refused.
    A command with a parameter `typed` is given what was typed for all this, for its advice.
    """
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(source: str | None = None, **given: Any) -> None:
        loading = {name: value for name in OPTIONS if (value := given.pop(name)) is not None}
        if source is None:
            _refuse_idle(loading)
            command(data=None, **given)
            return
        if "typed" in signature.parameters:
            given["typed"] = _as_typed(source, given, loading)
        _refuse_column(source, given.get("split"), "by" in given, loading)
        with notes(given["quiet"]):
            data = _loaded(source, _columns_named(given), loading)
        command(data=data, **given)

    own = [each for name, each in signature.parameters.items() if name not in ("data", "typed")]
    first = inspect.Parameter("source", inspect.Parameter.KEYWORD_ONLY, annotation=Data)
    if optional:
        first = first.replace(annotation=OptionalData, default=None)
    loading = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=None)
        for name, annotation in OPTIONS.items()
    ]
    own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    arguments = [each for each in own if each.default is inspect.Parameter.empty]
    options = [each for each in own if each.default is not inspect.Parameter.empty]
    places = [*arguments, first] if optional else [first, *arguments]
    run.__signature__ = signature.replace(parameters=[*places, *options, *loading])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (first, *own, *loading)}
    return run


def _refuse_idle(loading: dict[str, Any]) -> None:
    """Refuse options that say how to load data when there is none."""
    if loading:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in loading)
        raise InputError(f"{named} has no effect without DATA", fix="name the data, or leave it out")


def _refuse_column(source: str, split: str | list[str] | None, by: bool, loading: dict[str, Any]) -> None:
    """Refuse a split that is no file, but a column of the data."""
    asked = [split] if isinstance(split, str) else split or []
    asked = [each for each in asked if not Path(each).exists()]
    if not asked or not Path(source).is_file():
        return
    from unseen.data.tables import column_names

    known = column_names(source, loading.get("delimiter"), loading.get("encoding", "utf-8"))
    for each in asked:
        if each in known:
            made = f"make a split of it: unseen split {source} --with predefined --by {each} -o FILE.csv"
            raise InputError(
                f"there is no split file {each}, but {source} has such a column",
                fix=f"did you mean --by {each}?" if by else made,
            )


def _as_typed(source: str, given: dict[str, Any], loading: dict[str, Any]) -> str:
    """DATA, SPLIT and the options that say how to read them, for another command."""
    words = [source] if given.get("split") is None else [source, given["split"]]
    for name, value in {"by": given.get("by"), **loading}.items():
        option = f"--{name.replace('_', '-')}"
        if value is not None:
            several = value if isinstance(value, list) else [value]
            words += [option] if value is True else [word for each in several for word in (option, str(each))]
    return redacted(shlex.join(words))


def _columns_named(given: dict[str, Any]) -> list[str]:
    """What options that name columns name, but for a file that `--with predefined` reads."""
    by, method = given.get("by"), str(given.get("method"))
    is_file = by is not None and method.startswith("predefined") and Path(by).is_file()
    options = [given.get(name) for name in COLUMN_OPTIONS]
    several = (name.strip() for each in given.get("grouped_by") or () for name in each.split(","))
    named = (*options, None if is_file else by, *(given.get("slice_by") or ()), *several)
    return [name for name in named if name is not None]


def _loaded(source: str, columns: list[str], given: dict[str, Any]) -> Any:
    from unseen.api import load

    attributes = list(given.pop("attribute", []))
    if source != "sample" and "data_dir" not in given and (Path(source).exists() or attributes):
        given["attributes"] = list(dict.fromkeys(attributes + columns))
    elif attributes:
        given["attributes"] = attributes
    if "labels" in given:
        given["labels"] = declared(given["labels"])
    return load(source, **given)


def declared(labels: str) -> list[str] | dict[str, str]:
    """What was typed as labels: names in order, or the name of each raw value."""
    names = [name.strip() for name in labels.split(",")]
    if not any("=" in name for name in names):
        return names
    if not all("=" in name for name in names):
        raise InputError("--labels must be all names or all pairs", expected="'a,b' or '0=a,1=b'", got=repr(labels))
    return pairs([labels], "--labels")


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """`a=b,c=d`, as often as the option was given: commas separate, the first = divides, nothing is said twice."""
    found: dict[str, str] = {}
    for each in (part for text in given or () for part in text.split(",")):
        left, middle, right = (part.strip() for part in each.partition("="))
        if not (left and middle and right):
            raise InputError(f"{option} {each} is not a pair", expected=f"{option} a=b, or a=b,c=d")
        if left in found:
            raise InputError(f"{option} says twice what {left!r} is", got=f"{found[left]!r} and {right!r}")
        found[left] = right
    return found
