"""`unseen model predict`: what a model says about texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import Json, KeyEnv, Quiet, Set, Trust, parameters
from unseen.errors import InputError


@takes_data
def predict(
    data: Any,
    model: Annotated[
        str,
        typer.Option(
            help="A model folder, a Hugging Face folder or hub name, a pipeline file, module:function, a URL."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="File: .csv or .parquet.")] = Path("predictions.csv"),
    trust: Trust = False,
    key_env: KeyEnv = None,
    settings: Set = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask a model for the probabilities of every text; `unseen model score` measures them.

    Example: unseen model predict posts.csv --text text --label label --model model -o predictions.csv
    """
    from unseen import api
    from unseen.store import write_predictions

    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"{out} ends in neither .csv nor .parquet", fix=f"-o {out.with_suffix('.csv')}")
    given = parameters(settings, trust=trust, key_env=key_env)
    with notes(quiet), progress(quiet):
        predictions = api.predict(data, model, **given)
        write_predictions(predictions, out)
    if as_json:
        print_json({"file": out, "rows": len(predictions.ids), "labels": predictions.label_names})
    else:
        say(f"{out}: predictions for {len(predictions.ids):,} texts")
