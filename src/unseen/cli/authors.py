"""`unseen authors`: how far few authors carry a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.cli.console import Gates, Json, Quiet, command_line, notes, print_result, progress
from unseen.cli.model import Set, parameters
from unseen.cli.source import takes_data
from unseen.errors import InputError


@takes_data
def authors(
    data: Any,
    split: Annotated[
        str | None, typer.Argument(metavar="SPLIT", help="A split, to say what its training authors give away.")
    ] = None,
    author: Annotated[str | None, typer.Option(help="Column of the authors.")] = None,
    model: Annotated[
        str | None, typer.Option(help="What is trained on random and on author-disjoint splits. (default: nothing)")
    ] = None,
    settings: Set = None,
    metric: Annotated[str | None, typer.Option("-m", "--metric", help="Of the model. (default: f1.macro)")] = None,
    seeds: Annotated[int | None, typer.Option(help="Splits of each kind, each trained on. (default: 3)")] = None,
    test: Annotated[float | None, typer.Option(help="Share of the rows for testing. (default: 0.2)")] = None,
    cap: Annotated[
        int | None, typer.Option(help="Most rows per author and class in capped training. (default: 250)")
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other data with known authors, for an estimate where there are none."),
    ] = None,
    calibrate_author: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the authors in that data.")
    ] = None,
    gate: Gates = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder for report and tables.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of splits and trainings. (default: 42)")] = None,
    workers: Annotated[int, typer.Option(help="Trainings side by side.")] = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Audit authors: who wrote how much of each class, what names alone give away, the score on unseen authors.

    Example: unseen authors posts.csv --text text --label label --author user --model logistic --seeds 1
    """
    from unseen.runs.authors import authors as audited

    training = {"metric": metric, "seeds": seeds, "share": test, "cap": cap, "seed": seed}
    _refuse_useless(author, model, calibrate, calibrate_author, {**training, "set": settings or None})
    how = _how(model, parameters(settings), {name: value for name, value in training.items() if value is not None})
    with notes(quiet), progress(quiet):
        cut = None if split is None else read_any_split(split, data)
        result = audited(
            data, cut, author, how, calibration=_calibration(calibrate, calibrate_author), gates=gate or (), out=out,
            workers=workers, command=command_line(),
        )  # fmt: skip
    print_result(result, as_json)


def _refuse_useless(
    author: str | None, model: str | None, calibrate: str | None, column: str | None, training: dict[str, Any]
) -> None:
    """Options that would have no effect, all at once."""
    options = {"share": "test"}
    given = [f"--{options.get(name, name)}" for name, value in training.items() if value is not None]
    problems = [f"{name} has no effect without --model" for name in given if model is None]
    if model is not None and author is None:
        problems.append("--model has no effect without --author: there are no unseen authors to test on")
    if author is not None and calibrate is not None:
        problems.append("--calibrate has no effect with --author: nothing needs an estimate")
    if (calibrate is None) != (column is None):
        problems.append("--calibrate and --calibrate-author go together")
    if problems:
        raise InputError("these options do not go together", problems=problems)


def _how(model: str | None, params: dict[str, Any], given: dict[str, Any]) -> Any:
    from unseen.runs.authors import UnseenAuthors
    from unseen.runs.spaces import Model

    return None if model is None else UnseenAuthors(Model(model, params), **given)


def _calibration(source: str | None, column: str | None) -> Any:
    """The other dataset, read as a table with this column or as a known dataset, and its author column."""
    from unseen.api import load

    if source is None:
        return None
    return (load(source, attributes=[column]) if Path(source).exists() else load(source)), column
