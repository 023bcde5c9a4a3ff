"""`unseen explain`: why a model decided so, and whether the why can be trusted."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.data_options import takes_data
from unseen.cli.frame import makes_run
from unseen.cli.options import named_parameters, pairs, parameters, split_of


@takes_data
@makes_run()
def explain(
    data: Any,
    frame: Any,
    model: Annotated[str, typer.Option(help="A model folder, a hub name, a pipeline file, module:function, or a URL.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="An explainer ('unseen model ls explainers'); may be repeated. (default: what the model allows)"
        ),
    ] = None,
    attributions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Attributions or highlights of somebody else's, judged too; may be repeated."
        ),
    ] = None,
    why: Annotated[
        str, typer.Option("--why", metavar="LABEL", help="The label that is explained: a label, or 'predicted'.")
    ] = "predicted",
    pieces: Annotated[
        bool, typer.Option("--pieces", help="Score the model's own pieces of words, not words (between blanks).")
    ] = False,
    erase: Annotated[str, typer.Option(help="How units are erased: delete, or mask.")] = "delete",
    limit: Annotated[
        int, typer.Option("-n", "--limit", help="At most so many texts, drawn with the seed; 0: all.")
    ] = 200,
    normalised: Annotated[
        int, typer.Option(help="Texts whose best and worst order of words is searched for; it asks the most.")
    ] = 50,
    slice_by: options.Slice = None,
    split: options.Split = None,
    parts: options.Parts = None,
    terms: options.Terms = None,
    positive: options.Positive = None,
    texts: options.ExampleTexts = False,
    rename: options.Map = None,
    trust: options.Trust = False,
    key_env: options.KeyEnv = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of a method, lime.samples=500; may be repeated."),
    ] = None,
) -> Any:
    """Explain what a model decides, and judge the explanations: by what the model uses, and by what people highlighted.

    With a column `rationales` (--attribute rationales) they are compared with the words that people highlighted.

    Example: unseen explain posts.csv --model model --texts -o why
    """
    from unseen.runs.explain import explain as explained
    from unseen.subgroups.groups import read_terms

    return explained(
        data, model=model, methods=method or (), attributions=attributions or (),
        params=named_parameters(settings, "METHOD", "lime.samples=500"),
        label=why, units="pieces" if pieces else "words", erase=erase, limit=limit or None, normalised=normalised,
        slices=slice_by or (), split=split_of(data, split, parts), terms=None if terms is None else read_terms(terms),
        positive=positive or (), texts=texts, rename=pairs(rename, "--map"),
        opening=parameters(None, trust=trust, key_env=key_env), **frame,
    )  # fmt: skip
