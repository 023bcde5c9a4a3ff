"""`unseen audit bias`: the same numbers for every group that texts mention."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.data_options import takes_data
from unseen.cli.frame import makes_run
from unseen.cli.options import pairs, parameters


@takes_data
@makes_run()
def bias(
    data: Any,
    frame: Any,
    positive: Annotated[list[str], typer.Option(help="A label that counts as positive; may be repeated.")],
    about: options.About = None,
    terms: options.Terms = None,
    model: Annotated[str | None, typer.Option(help="A model to ask, as of 'unseen model predict'.")] = None,
    predictions: options.Predictions = None,
    background: Annotated[str, typer.Option(help="What a group is compared with: all, mentioned or both.")] = "all",
    split: options.Splits = None,
    part: Annotated[list[str] | None, typer.Option(help="A part to look at. (default: all but train)")] = None,
    fewest: Annotated[int, typer.Option(help="Texts that a group needs to count.")] = 1,
    only: Annotated[list[str] | None, typer.Option(help="A group to look at; may be repeated. (default: all)")] = None,
    metric: options.Metrics = None,
    swap: Annotated[Path | None, typer.Option(help='Terms to swap: TOML with name = ["word", "other"].')] = None,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="At most so many texts to swap. (default: 2,000)")
    ] = None,
    cases: Annotated[Path | None, typer.Option(help="File (.csv) for the swapped texts.")] = None,
    swapped: Annotated[Path | None, typer.Option(help="Predictions that somebody made for the swapped texts.")] = None,
    groups: options.Groups = None,
    rename: options.Map = None,
    trust: options.Trust = False,
    settings: options.Set = None,
) -> Any:
    """Is a model worse on texts about some groups? AUCs and gaps by group, with 95 % intervals.

    Example: unseen audit bias posts.csv --text text --label label --model model --about source --positive loud
    """
    from unseen.runs.bias import bias as measured

    return measured(
        data, positive, about=about, terms=terms, model=model, predictions=predictions, rename=pairs(rename, "--map"),
        opening=parameters(settings, trust=trust), background=background, fewest=fewest, only=only or (),
        splits=split or (), part=part or (), metrics=metric or (), swap=swap, limit=limit, cases=cases,
        swapped=swapped, groups=groups, **frame,
    )  # fmt: skip
