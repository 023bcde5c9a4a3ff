"""`unseen price`: how many points the leaks of a split buy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.columns import (
    NEAR,
    Author,
    By,
    Conversation,
    Encoder,
    Near,
    Original,
    Partner,
    Semantic,
    Source,
    Template,
    named_roles,
    refuse_without_vectors,
    split_of,
)
from unseen.cli.console import Gates, Json, Quiet, command_line, notes, print_result, progress, say
from unseen.cli.model import Map, Set, parameters
from unseen.cli.source import pairs, takes_data
from unseen.errors import InputError


@takes_data
def price(
    data: Any,
    split: Annotated[str | None, typer.Argument(help="A split file of ours, or anybody's.")] = None,
    by: By = None,
    leaks: Annotated[
        str | None,
        typer.Option(help="Kinds of leak, 'exact,near,author'. (default: all that can be looked for)"),
    ] = None,
    author: Author = None,
    conversation: Conversation = None,
    template: Template = None,
    partner: Partner = None,
    origin: Source = None,
    original: Original = None,
    vectors: Annotated[Path | None, typer.Option(help="Vectors (.npy) for semantic neighbours.")] = None,
    encoder: Encoder = None,
    near: Near = NEAR,
    semantic: Semantic = None,
    model: Annotated[
        str | None, typer.Option(help="What is trained with and without them. (default: logistic, or nothing)")
    ] = None,
    settings: Set = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Predictions on the test part, to be priced without training.")
    ] = None,
    rename: Map = None,
    metric: Annotated[str, typer.Option("-m", "--metric", help="'unseen ls metrics'.")] = "f1.macro",
    seeds: Annotated[int | None, typer.Option(help="Trainings of each. (default: 3)")] = None,
    repeats: Annotated[
        int | None, typer.Option(help="Random removals for each seed. (default: 20 in all; 5 for a transformer)")
    ] = None,
    units: Annotated[
        str | None, typer.Option(help="Column drawn together in intervals. (default: the leak's, or authors)")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder for report and tables.")] = None,
    seed: Annotated[int, typer.Option(help="Of all that is drawn, and of the first training.")] = 42,
    workers: Annotated[int, typer.Option(help="Trainings side by side.")] = 1,
    gate: Gates = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how many points leaks buy: the score without them, against removing as many random rows.

    Example: unseen price posts.csv hard.csv --text text --label label --leaks near --seeds 1 --repeats 2
    """
    from unseen.audits.subject import SEMANTIC, Subject
    from unseen.runs.price import Pricing, find_leaks
    from unseen.runs.price import price as priced

    if split is None and by is None:
        raise InputError("there is no split to price", fix="name its file, or the column that names the parts: --by")
    training = {"seeds": seeds, "repeats": repeats}
    _refuse_useless(model, predictions, settings, training)
    columns = named_roles(
        author=author, conversation=conversation, template=template, partner=partner, source=origin, original=original
    )
    kinds = [name.strip() for name in leaks.split(",")] if leaks else None
    _refuse_unused(kinds, columns, vectors or encoder, units)
    refuse_without_vectors(vectors, encoder, semantic)
    with notes(quiet), progress(quiet):
        cut = split_of(data, split, by)
        how = Pricing(
            model=_model(model, predictions, parameters(settings)), metric=metric, groups=units, seed=seed,
            **{name: value for name, value in training.items() if value is not None},
        )  # fmt: skip
        said = _predictions(predictions, data, pairs(rename, "--map"))
        placed = _vectors(vectors or encoder, data, seed)
        found = find_leaks(
            Subject(data, cut, columns, placed, near, SEMANTIC if semantic is None else semantic, seed), kinds
        )
        command = command_line()
        announce = None if quiet else lambda cost: say(_cost(cost), err=True)
        result = priced(
            data, cut, found, how, predictions=said, out=out, workers=workers, gates=gate or (), command=command,
            announce=announce,
        )  # fmt: skip
    print_result(result, as_json)


def _cost(cost: Any) -> str:
    from unseen.cli.stress import time_needed

    said = f"{cost.trainings} trainings" + (f"; {cost.done} are done" if cost.done else "")
    return said + time_needed(cost, "--seeds, --repeats and --leaks make it less.")


def _refuse_useless(model: str | None, predictions: Path | None, settings: Any, training: dict[str, Any]) -> None:
    if predictions is None or model is not None:
        return
    given = [f"--{name}" for name, value in {**training, "set": settings or None}.items() if value is not None]
    if given:
        raise InputError(f"{', '.join(given)} has no effect without --model: with --predictions nothing is trained")


def _refuse_unused(kinds: list[str] | None, columns: dict[str, str], vectors: Any, units: str | None) -> None:
    """Columns and vectors that no kind of leak asks for; authors are drawn together in intervals of any kind."""
    used = {*(kinds or columns), *(["author"] if units is None else [])}
    unused = [f"--{role}" for role in columns if role not in used]
    if kinds is not None and vectors is not None and "semantic" not in kinds:
        unused.append("--vectors" if isinstance(vectors, Path) else "--encoder")
    if unused:
        raise InputError(f"{', '.join(unused)} has no effect with these --leaks", got=", ".join(kinds or ()))


def _model(name: str | None, predictions: Path | None, params: dict[str, Any]) -> Any:
    from unseen.runs.spaces import Model

    return None if name is None and predictions is not None else Model(name or "logistic", params)


def _predictions(path: Path | None, data: Any, rename: dict[str, str]) -> Any:
    from unseen.store import read_predictions

    return None if path is None else read_predictions(path, data, rename)


def _vectors(placed: Path | str | None, data: Any, seed: int) -> Any:
    from unseen.api import vectors_of

    return None if placed is None else vectors_of(data, placed, seed)
