"""`unseen study forecast`: scores on targets that nobody has tested on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, notes, print_result, progress
from unseen.cli.options import Gate, Json, Junit, OptionalRunFolder, Quiet, Summary
from unseen.errors import InputError


def forecast(
    scores: Annotated[
        Path, typer.Argument(metavar="SCORES", help="A CSV, SumEval JSON, or the folder of a transfer or study.")
    ],
    features: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Features: a CSV, those of LITMUS, or NAME=TABLE of texts; may be repeated."),
    ] = None,
    predict: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONFIG", help="What is trained on, 'en=5000+de=100'; may be repeated. (default: as in SCORES)"
        ),
    ] = None,
    target: Annotated[list[str] | None, typer.Option(help="What is tested on; may be repeated.")] = None,
    model: Annotated[
        str,
        typer.Option(help="xgboost, group-lasso, same-configuration-mean, same-target-mean or global-mean."),
    ] = "xgboost",
    leave_out: Annotated[
        str, typer.Option(help="What is left out to measure errors: the target, or also all training on it: language.")
    ] = "target",
    text: Annotated[str, typer.Option(help="Column of the texts, of tables of texts.")] = "text",
    out: OptionalRunFolder = None,
    gate: Gate = None,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Forecast scores from scores elsewhere and features of the target: with intervals, or not at all.

    Example: unseen study forecast scores.csv --features features.csv --target th --predict en=5000 --model group-lasso
    """
    from unseen.runs.score_forecast import forecast_scores

    with notes(quiet), progress(quiet):
        result = forecast_scores(
            scores, features=features_of(features or [], text), predict=predict or (), targets=target or (),
            model=model, leave_out=leave_out, out=out, gates=gate or (), command=command_line(),
        )  # fmt: skip
    print_result(result, as_json, junit, summary)


def features_of(typed: list[str], text: str) -> Any:
    """The features in all files that were named; texts are counted together, each table under its name."""
    from functools import reduce
    from operator import or_

    from unseen.data.tables import read_strings
    from unseen.forecasts.features import read_features, text_features

    files, texts = [], {}
    for source in typed:
        name, middle, path = source.partition("=")
        if not middle or Path(source).is_file():
            files.append(read_features(source))
        elif name in texts:
            raise InputError(f"--features names {name!r} twice")
        else:
            texts[name] = read_strings(path, [text], "texts")[text].drop_null().to_pylist()
    known = [*files, *([text_features(texts)] if texts else [])]
    return reduce(or_, known) if known else None
