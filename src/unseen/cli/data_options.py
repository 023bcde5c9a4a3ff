"""The options that say which data a command works on, and what its columns mean."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import notes, progress
from unseen.cli.frame import keyword, with_parameters
from unseen.cli.options import DataDir, DataFile, Labels, declared_labels, name_and_place, only_given
from unseen.errors import InputError
from unseen.redaction import redacted

HELP = "A table (CSV, TSV, JSONL, Parquet), a known dataset, or 'sample'."
Data = Annotated[str, typer.Argument(metavar="DATA", help=HELP)]
OptionalData = Annotated[str | None, typer.Argument(metavar="DATA", help=HELP)]
LOADING: dict[str, Any] = {
    "text": Annotated[str | None, typer.Option(help="Column of the texts. (default: text)")],
    "label": Annotated[str | None, typer.Option(help="Column of the labels. (default: label)")],
    "id": Annotated[
        str | None, typer.Option(help="Column of the ids. (default: id if it can, else made from the texts)")
    ],
    "attribute": Annotated[
        list[str] | None, typer.Option("--attribute", "-a", help="A metadata column to keep; may be repeated.")
    ],
    "labels": Labels,
    "drop": Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out rows: unlabelled, undeclared, empty, duplicates, placeholders (a label like NA or null), "
            "several (a label like a|b), rare (a label that few rows have); may be repeated."
        ),
    ],
    "merge": Annotated[
        bool | None,
        typer.Option("--merge", help="Labels that differ only by case, blanks, Unicode form or 0 and 0.0 become one."),
    ],
    "longest": Annotated[int | None, typer.Option(help="Bytes that a cell may have. (default: 1000000)")],
    "delimiter": Annotated[
        str | None, typer.Option(help="What is between the columns of a CSV file. (default: found from the content)")
    ],
    "encoding": Annotated[str | None, typer.Option(help="How a text file is encoded. (default: utf-8)")],
    "data_dir": DataDir,
    "file": DataFile,
}
"""How the data is read, by parameter of `unseen.load`."""
ROLES: dict[str, Any] = {
    "author": options.Author,
    "conversation": options.Conversation,
    "template": options.Template,
    "partner": options.Partner,
    "source": options.Source,
    "original": options.Original,
    "time": options.Time,
}
"""What a column can be for an audit."""
COLUMN_OPTIONS = ("groups", "agreement", "about", "cap_by", "by", "parts", *ROLES)
"""Parameters of commands that name a column, which is then loaded as an attribute."""
DATA = "data"


def takes_data(command: Callable[..., None], *, last: bool = False, optional: bool = False) -> Callable[..., None]:
    """Give `command` the loading options, and the loaded Dataset as its argument `data`.

    Options of a command that name columns too (`--by`, `--groups`, …): they are loaded as attributes. DATA is the first
    argument, or the `last`. If `optional`, it is the last and may be missing: `data` is then None, and loading options
    are refused.
    A command with a parameter `typed` is given what was typed for all this, for its advice; one with a parameter
    `roles` is given the columns of the roles that its default names; one with `loading`, the loading options. The
    parameter `property` of a command is the column of the labels, instead of `--label`.
    """
    signature = inspect.signature(command, eval_str=True)
    names = signature.parameters["roles"].default if "roles" in signature.parameters else ()
    options_of_data = {
        name: option for name, option in LOADING.items() if name != "label" or "property" not in signature.parameters
    }

    @functools.wraps(command)
    def run(**given: Any) -> None:
        source = given.pop(DATA)
        loading = {name: value for name in options_of_data if (value := given.pop(name)) is not None}
        if "property" in given:
            loading["label"] = given["property"]
        if source is None:
            _refuse_idle(loading)
            command(data=None, **given)
            return
        _refuse_column(source, given.get("split"), "parts" in given, loading)
        with notes(given["quiet"]), progress(given["quiet"]):
            reading = _of_data(source, given.get("suite"), loading)
            data = _loaded(source, _columns_named(given), dict(reading))
        if "typed" in signature.parameters:
            given["typed"] = _as_typed(source, given, reading)
        if "loading" in signature.parameters:
            given["loading"] = loading
        if names:
            given["roles"] = only_given(**{name: given.pop(name) for name in names})
        command(data=data, **given)

    first = keyword(DATA, OptionalData) if optional else keyword(DATA, Data, inspect.Parameter.empty)
    own = [
        parameter for name, parameter in signature.parameters.items() if name not in (DATA, "typed", "roles", "loading")
    ]
    arguments = [parameter for parameter in own if parameter.default is inspect.Parameter.empty]
    own_options = [parameter for parameter in own if parameter.default is not inspect.Parameter.empty]
    places = [*arguments, first] if last or optional else [first, *arguments]
    added = {name: ROLES[name] for name in names} | options_of_data
    return with_parameters(run, [*places, *own_options, *(keyword(*named) for named in added.items())])


def _of_data(source: str, suite: str | None, loading: dict[str, Any]) -> dict[str, Any]:
    """The loading options that are about DATA: not the folder of known datasets where only the suite is one."""
    from unseen.data.catalogue import cards

    if suite is None or suite not in cards() or source in cards():
        return loading
    return {name: value for name, value in loading.items() if name != "data_dir"}


def _refuse_idle(loading: dict[str, Any]) -> None:
    """Refuse options that say how to load data when there is none."""
    if loading:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in loading)
        raise InputError(f"{named} has no effect without DATA", fix="name the data, or leave it out")


def _refuse_column(source: str, split: str | list[str] | None, parts: bool, loading: dict[str, Any]) -> None:
    """Refuse a split that is no file, but a column of the data."""
    files = [split] if isinstance(split, str) else split or []
    missing = [file for file in files if not Path(file).exists()]
    if not missing or not Path(source).is_file():
        return
    from unseen.data.tables import column_names

    known = column_names(source, loading.get("delimiter"), loading.get("encoding", "utf-8"))
    for name in missing:
        if name in known:
            made = f"make a split of it: unseen split make {source} --with predefined --by {name} -o FILE.csv"
            raise InputError(
                f"there is no split file {name}, but {source} has such a column",
                fix=f"did you mean --parts {name}?" if parts else made,
            )


def _as_typed(source: str, given: dict[str, Any], loading: dict[str, Any]) -> str:
    """DATA, the split and the options that say how to read them, for another command."""
    words = [source]
    for name, value in {"split": given.get("split"), "parts": given.get("parts"), **loading}.items():
        option = f"--{name.replace('_', '-')}"
        if value is not None:
            several = value if isinstance(value, list) else [value]
            words += [option] if value is True else [word for item in several for word in (option, str(item))]
    return redacted(shlex.join(words))


def data_as_typed(run: Path) -> Any:
    """The data of a run, read again as it was typed then; refuses a run that was not started by a command."""
    from unseen.store.run_folder import about_of

    typed = about_of(run).get("typed")
    if not typed:
        raise InputError(
            f"{run} does not say how its data is read", fix="run it from the command line, or with --texts"
        )
    source, *words = shlex.split(str(typed))
    named = {f"--{name.replace('_', '-')}": name for name in LOADING}
    loading: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        name = named.get(word)
        if name == "merge":
            loading[name] = True
        elif name in ("attribute", "drop"):
            loading.setdefault(name, []).append(words.pop(0))
        elif words:  # what is not about reading, such as --split, has a value too
            value = words.pop(0)
            loading |= {name: int(value) if name == "longest" else value} if name else {}
    return _loaded(source, [], loading)


def _columns_named(given: dict[str, Any]) -> list[str]:
    """What options that name columns name, but for a file that `--with predefined` reads."""
    from unseen.data.files import FORMATS
    from unseen.store.files import missing_file

    names = [value for option in COLUMN_OPTIONS if (value := given.get(option)) is not None]
    by, method = given.get("by"), str(given.get("method"))
    if by is not None and method.startswith("predefined") and Path(by).is_file():
        names.remove(by)
    several = (name.strip() for names_ in given.get("grouped_by") or () for name in names_.split(","))
    places = [name_and_place(typed)[1] for typed in given.get("transformed") or ()]
    for place in places:
        if Path(place).suffix.lower() in FORMATS and not Path(place).is_file():
            raise missing_file(place)
    return [*names, *(given.get("slice_by") or ()), *several, *(name for name in places if not Path(name).is_file())]


def _loaded(source: str, columns: list[str], given: dict[str, Any]) -> Any:
    from unseen.api import load

    attributes = list(given.pop("attribute", []))
    if source != "sample" and "data_dir" not in given and (Path(source).exists() or attributes):
        given["attributes"] = list(dict.fromkeys(attributes + columns))
    elif attributes:
        given["attributes"] = attributes
    if "labels" in given:
        given["labels"] = declared_labels(given["labels"])
    return load(source, **given)
