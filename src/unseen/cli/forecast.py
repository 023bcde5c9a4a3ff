"""`unseen forecast`: what a model will score on new texts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.frame import makes_run
from unseen.cli.options import METRIC, listed, pairs, parameters


@makes_run()
def forecast(
    frame: Any,
    texts: Annotated[str, typer.Argument(metavar="TEXTS", help="The new texts; some may have a label.")],
    model: Annotated[str, typer.Option(help="A model folder, a hub name, a pipeline file, module:function, or a URL.")],
    known: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Labelled texts that the model was not trained on: first such as it learnt from, then from elsewhere.",
        ),
    ] = None,
    twin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL", help="The same model from another seed: how often both agree tells too; may be repeated."
        ),
    ] = None,
    draw: Annotated[int, typer.Option(help="Texts to label, written to to_label.csv in the folder.")] = 100,
    width: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Label until the interval is ± this, e.g. 0.05.")
    ] = None,
    at_random: Annotated[
        bool, typer.Option("--at-random", help="Draw the texts to label without regard to what the model says.")
    ] = False,
    metric: options.Metric = METRIC,
    slice_by: options.Slice = None,
    text: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    label: Annotated[str, typer.Option(help="Column of the labels, where there are some.")] = "label",
    id: Annotated[str | None, typer.Option(help="Column of the ids. (default: a column 'id', else made)")] = None,
    labels: options.Labels = None,
    rename: options.Map = None,
    trust: options.Trust = False,
    key_env: options.KeyEnv = None,
    settings: options.Set = None,
) -> Any:
    """Say what a model will score on new texts: from the labels of a few, and from the texts alone where that can be.

    The first call draws texts to label; fill in the column `label` of to_label.csv and type the same command again.

    Example: unseen forecast new.csv --model model --known held-out.csv --draw 100 -o forecast
    """
    from unseen.runs.forecast import forecast as forecast_scores

    return forecast_scores(
        texts, model, known=known or (), twins=twin or (), draw=draw, width=width,
        stratified=not at_random, metric=metric, slices=slice_by or (),
        labels=listed(labels) if labels else None, rename=pairs(rename, "--map"), text=text, label=label,
        id=id, opening=parameters(settings, trust=trust, key_env=key_env), **frame,
    )  # fmt: skip
