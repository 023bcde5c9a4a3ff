"""`unseen model train`: a classifier from labelled texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import Bottleneck, Json, Model, Quiet, Seed, Set, Trust, parameters
from unseen.errors import InputError


@takes_data
def train(
    data: Any,
    model: Model = "minilm",
    bottleneck: Bottleneck = None,
    settings: Set = None,
    trust: Trust = False,
    dev: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the rows for dev: settings are chosen there.")
    ] = 0.1,
    seed: Seed = 42,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the model.")] = Path("model"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a classifier and write it to a folder.

    Example: unseen model train posts.csv --text text --label label --model logistic -o model
    """
    from unseen import api
    from unseen.cli.target import check_folder
    from unseen.splits.quotas import rows_asked

    check_folder(out)
    params = parameters(settings, bottleneck=bottleneck, trust=trust)
    with notes(quiet), progress(quiet):
        classifier = api.train(data, model, dev=dev, seed=seed, **params)
        if not hasattr(classifier, "save"):
            raise InputError(f"a classifier of {model} cannot be written to a folder", fix="keep it in its own format")
        classifier.save(out)
    if as_json:
        print_json({"folder": out, "model": model, "labels": classifier.classes_, "seed": seed})
    else:
        aside = rows_asked(dev, len(data), "dev")
        learnt = f"trained on {len(data) - aside:,} texts, its settings chosen on {aside:,} others (--dev)"
        say(f"{out}: {model} for {', '.join(classifier.classes_)}, {learnt}; scores on these texts would flatter it")
