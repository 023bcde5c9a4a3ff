"""`unseen audit authors`: how far few authors carry a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, notes, print_result, progress
from unseen.cli.data_options import takes_data
from unseen.cli.options import (
    Author,
    Cap,
    Gate,
    Json,
    Junit,
    OptionalRunFolder,
    OptionalTrainings,
    Quiet,
    Set,
    ShareForTest,
    Split,
    Summary,
    Workers,
    parameters,
    split_of,
)
from unseen.errors import InputError


@takes_data
def authors(
    data: Any,
    split: Split = None,
    author: Author = None,
    model: Annotated[
        str | None, typer.Option(help="What is trained on random and on author-disjoint splits. (default: nothing)")
    ] = None,
    settings: Set = None,
    metric: Annotated[str | None, typer.Option("-m", "--metric", help="The metric. (default: f1.macro)")] = None,
    trainings: OptionalTrainings = None,
    test: ShareForTest = None,
    cap: Cap = None,
    calibrate: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other data with known authors, for an estimate where there are none."),
    ] = None,
    calibrate_author: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the authors in that data.")
    ] = None,
    gate: Gate = None,
    junit: Junit = None,
    summary: Summary = None,
    out: OptionalRunFolder = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all that is drawn. (default: 42)")] = None,
    workers: Workers = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Audit authors: who wrote how much of each class, what names alone give away, the score on unseen authors.

    Example: unseen audit authors posts.csv --text text --label label --author user --model logistic --trainings 1
    """
    from unseen.runs.authors import authors as audited

    training = {"metric": metric, "seeds": trainings, "share": test, "cap": cap, "seed": seed}
    _refuse_useless(author, model, calibrate, calibrate_author, {**training, "set": settings or None})
    given = {name: value for name, value in training.items() if value is not None}
    measured = _measured(model, parameters(settings), given)
    with notes(quiet), progress(quiet):
        result = audited(
            data, split_of(data, split), author, measured, calibration=_calibration(calibrate, calibrate_author),
            gates=gate or (), out=out, workers=workers, command=command_line(),
        )  # fmt: skip
    print_result(result, as_json, junit, summary)


def _refuse_useless(
    author: str | None, model: str | None, calibrate: str | None, column: str | None, training: dict[str, Any]
) -> None:
    """Options that would have no effect, all at once."""
    options = {"share": "test", "seeds": "trainings"}
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


def _measured(model: str | None, params: dict[str, Any], given: dict[str, Any]) -> Any:
    from unseen.runs.authors import UnseenAuthors
    from unseen.runs.spaces import Model

    return None if model is None else UnseenAuthors(Model(model, params), **given)


def _calibration(source: str | None, column: str | None) -> Any:
    """The other dataset, read as a table with this column or as a known dataset, and its author column."""
    from unseen.api import load

    if source is None:
        return None
    return (load(source, attributes=[column]) if Path(source).exists() else load(source)), column
