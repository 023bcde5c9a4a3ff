"""`unseen attack`: what people and programs can do to a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import attack_rating, attack_session, options
from unseen.cli.data_options import takes_data
from unseen.cli.frame import makes_run
from unseen.cli.listing import listing
from unseen.cli.options import listed, named_parameters, pairs, parameters, split_of

app = typer.Typer(
    help="Change texts until the model errs, by programs or by people; which changes keep the label?",
    no_args_is_help=True,
)


@app.command()
@takes_data
@makes_run()
def run(
    data: Any,
    frame: Any,
    model: Annotated[str, typer.Option(help="A model folder, a hub name, a pipeline file, module:function, or a URL.")],
    attacks: Annotated[
        str | None,
        typer.Option("--with", help="Attacks ('unseen attack ls'), 'characters,pwws'. (default: what needs no files)"),
    ] = None,
    limit: Annotated[
        int, typer.Option("-n", "--limit", help="At most so many texts, drawn with the seed; 0: all.")
    ] = 100,
    queries: Annotated[int | None, typer.Option(help="What one text may cost, in questions to the model.")] = None,
    antonyms: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Opposites, two words on each line, to tell lost meanings; may be repeated."),
    ] = None,
    tags: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Parts of speech, a word and its tags on each line.")
    ] = None,
    language: options.Language = "en",
    slice_by: options.Slice = None,
    split: options.Split = None,
    parts: options.Parts = None,
    texts: options.ExampleTexts = False,
    rename: options.Map = None,
    trust: options.Trust = False,
    key_env: options.KeyEnv = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of an attack, pwws.wordnet=dict; repeatable."),
    ] = None,
) -> Any:
    """Attack texts that a model gets right: how many can be changed so that it errs, and how many keep their label.

    With --texts the valid changes are written as a suite for later models, and people can read them.

    Example: unseen attack run posts.csv --model model --with characters --texts -o attacked
    """
    from unseen.runs.attack import attack

    return attack(
        data, model=model, attacks=listed(attacks) if attacks else (),
        params=named_parameters(settings, "ATTACK", "pwws.wordnet=dict"), limit=limit or None, queries=queries,
        antonyms=antonyms or (), tags=tags, language=language, slices=slice_by or (),
        split=split_of(data, split, parts), texts=texts, rename=pairs(rename, "--map"),
        opening=parameters(None, trust=trust, key_env=key_env), **frame,
    )  # fmt: skip


app.command()(attack_session.session)
app.command()(attack_rating.rate)
app.command("ls")(listing("attack", "attacks"))
