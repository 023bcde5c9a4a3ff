"""`unseen attack run`: programs change texts until the model errs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, notes, print_result, progress
from unseen.cli.data_options import takes_data
from unseen.cli.options import (
    ExampleTexts,
    Gate,
    Json,
    Junit,
    KeyEnv,
    Language,
    Map,
    OptionalRunFolder,
    Parts,
    Quiet,
    Seed,
    Slice,
    Split,
    Summary,
    Trust,
    listed,
    named_parameters,
    pairs,
    parameters,
    split_of,
)


@takes_data
def run(
    data: Any,
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
    language: Language = "en",
    slice_by: Slice = None,
    split: Split = None,
    parts: Parts = None,
    texts: ExampleTexts = False,
    rename: Map = None,
    gate: Gate = None,
    junit: Junit = None,
    summary: Summary = None,
    out: OptionalRunFolder = None,
    trust: Trust = False,
    key_env: KeyEnv = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of an attack, pwws.wordnet=dict; repeatable."),
    ] = None,
    seed: Seed = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Attack texts that a model gets right: how many can be changed so that it errs, and how many keep their label.

    With --texts the valid changes are written as a suite for later models, and people can read them.

    Example: unseen attack run posts.csv --model model --texts -o attacked
    """
    from unseen.runs.attack import attack

    with notes(quiet), progress(quiet):
        result = attack(
            data, model=model, attacks=listed(attacks) if attacks else (),
            params=named_parameters(settings, "ATTACK", "pwws.wordnet=dict"), limit=limit or None, queries=queries,
            antonyms=antonyms or (), tags=tags, language=language, slices=slice_by or (),
            split=split_of(data, split, parts), texts=texts, rename=pairs(rename, "--map"),
            opening=parameters(None, trust=trust, key_env=key_env), out=out, gates=gate or (), command=command_line(),
            seed=seed,
        )  # fmt: skip
    print_result(result, as_json, junit, summary)
