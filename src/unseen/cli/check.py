"""`unseen check`: models on a suite of test cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.frame import makes_run
from unseen.cli.options import declared_labels, named_places, pairs, parameters, refuse_idle
from unseen.errors import InputError, UnknownNameError


@makes_run()
def check(
    frame: Any,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...", help="A model folder, hub name, pipeline, module:function, URL, or predictions; NAME=…"
        ),
    ],
    suite: options.Suite,
    columns: options.Columns = None,
    ignore: options.Ignore = None,
    labels: options.Labels = None,
    rename: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FROM=TO,…", help="Labels of the model in the suite's words; MODEL:… for one."),
    ] = None,
    threshold: Annotated[
        list[str] | None, typer.Option(metavar="LABEL=P", help="Give LABEL from this probability on; MODEL:… for one.")
    ] = None,
    slice_by: options.Slice = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "-m", "--metric", help="A pass rate over weighted functionalities, pass_rate.macro; may be repeated."
        ),
    ] = None,
    tolerance: Annotated[float, typer.Option(help="How far a probability may move the wrong way.")] = 0.1,
    texts: options.ExampleTexts = False,
    data_dir: options.DataDir = None,
    file: options.DataFile = None,
    trust: options.Trust = False,
    key_env: options.KeyEnv = None,
    settings: options.Set = None,
) -> Any:
    """Run a suite of test cases against one or more models: what each passes, by functionality and group.

    Example: unseen check model --suite cases.csv --map calm=fine,loud=bad -o behaviour
    """
    from unseen.functional import load_suite
    from unseen.runs.check import PREDICTIONS, CheckedModel, short_name
    from unseen.runs.check import check as checked

    places = named_places(models, "models", short_name)
    maps, thresholds = of_models(rename, places, "--map"), of_models(threshold, places, "--threshold")
    opening = parameters(settings, trust=trust, key_env=key_env)
    refuse_idle(suite, data_dir=data_dir, file=file)
    cases = load_suite(
        suite, columns=pairs(columns, "--column"), ignore=ignore or (), attributes=slice_by or (),
        labels=declared_labels(labels) if labels else None, data_dir=data_dir, file=file,
    )  # fmt: skip
    asked = {
        name: CheckedModel(
            place, maps[name], _numbers(thresholds[name]), {} if Path(place).suffix in PREDICTIONS else opening
        )
        for name, place in places.items()
    }
    return checked(asked, cases, slices=slice_by or (), metrics=metric or (), tolerance=tolerance, texts=texts, **frame)


def of_models(given: list[str] | None, models: dict[str, str], option: str) -> dict[str, dict[str, str] | None]:
    """The pairs for each model: those without a model's name are for all, and its own come before them."""
    for_all, own = [], dict[str, list[str]]()
    for text in given or ():
        name, colon, rest = text.partition(":")
        if colon and "=" not in name:
            if name not in models:
                raise UnknownNameError.of("model", name, models)
            own.setdefault(name, []).append(rest)
        else:
            for_all.append(text)
    return {name: (pairs(for_all, option) | pairs(own.get(name), option)) or None for name in models}


def _numbers(given: dict[str, str] | None) -> dict[str, float] | None:
    try:
        return None if given is None else {label: float(value) for label, value in given.items()}
    except ValueError as cause:
        raise InputError("--threshold needs a number", expected="LABEL=0.5", got=str(given)) from cause
