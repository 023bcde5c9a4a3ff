"""`unseen audit price`: how many points the leaks of a split buy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, notes, print_result, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import (
    METRIC,
    NEAR,
    Gate,
    Groups,
    Json,
    Junit,
    Map,
    Metric,
    Near,
    OptionalRunFolder,
    OptionalTrainings,
    Parts,
    Predictions,
    Quiet,
    Repeats,
    Seed,
    Semantic,
    SemanticEncoder,
    Set,
    Split,
    Summary,
    Vectors,
    Workers,
    listed,
    needed_split,
    pairs,
    parameters,
    semantic_source,
)
from unseen.errors import InputError

ROLES_OF_LEAKS = ("author", "conversation", "template", "partner", "source", "original")


@takes_data
def price(
    data: Any,
    split: Split = None,
    parts: Parts = None,
    leaks: Annotated[
        str | None,
        typer.Option(help="Kinds of leak, 'exact,near,author'. (default: all that can be looked for)"),
    ] = None,
    roles: Any = ROLES_OF_LEAKS,
    vectors: Vectors = None,
    encoder: SemanticEncoder = None,
    near: Near = NEAR,
    semantic: Semantic = None,
    model: Annotated[
        str | None, typer.Option(help="What is trained with and without them. (default: logistic, or nothing)")
    ] = None,
    settings: Set = None,
    predictions: Predictions = None,
    rename: Map = None,
    metric: Metric = METRIC,
    trainings: OptionalTrainings = None,
    repeats: Repeats = None,
    groups: Groups = None,
    out: OptionalRunFolder = None,
    seed: Seed = 42,
    workers: Workers = 1,
    gate: Gate = None,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how many points leaks buy: the score without them, against removing as many random rows.

    Example: unseen audit price posts.csv --split hard.csv --text text --label label --leaks near --trainings 1
    """
    from unseen.audits.subject import SEMANTIC, Subject
    from unseen.runs.price import Pricing, find_leaks
    from unseen.runs.price import price as priced

    training = {"trainings": trainings, "repeats": repeats}
    _refuse_useless(model, predictions, settings, training)
    kinds = listed(leaks) if leaks else None
    using = semantic_source(vectors, encoder, semantic)
    _refuse_unused(kinds, roles, using, groups)
    command = command_line()
    with notes(quiet), progress(quiet):
        parted = needed_split(data, split, parts)
        numbers = {"seeds": trainings, "repeats": repeats}
        pricing = Pricing(
            model=_model(model, predictions, parameters(settings)), metric=metric, groups=groups, seed=seed,
            **{name: value for name, value in numbers.items() if value is not None},
        )  # fmt: skip
        answers = _predictions(predictions, data, pairs(rename, "--map"))
        threshold = SEMANTIC if semantic is None else semantic
        subject = Subject(data, parted, roles, _vectors(using, data, seed), near, threshold, seed)
        leaking = find_leaks(subject, kinds)
        result = priced(
            data, parted, leaking, pricing, predictions=answers, out=out, workers=workers, gates=gate or (),
            command=command, announce=None if quiet else lambda cost: say(_cost(cost), err=True),
        )  # fmt: skip
    print_result(result, as_json, junit, summary)


def _cost(cost: Any) -> str:
    from unseen.cli.stress import time_needed

    text = f"{cost.trainings} trainings" + (f"; {cost.done} are done" if cost.done else "")
    return text + time_needed(cost, "--trainings, --repeats and --leaks make it less.")


def _refuse_useless(model: str | None, predictions: Path | None, settings: Any, training: dict[str, Any]) -> None:
    if predictions is None or model is not None:
        return
    given = [f"--{name}" for name, value in {**training, "set": settings or None}.items() if value is not None]
    if given:
        raise InputError(f"{', '.join(given)} has no effect without --model: with --predictions nothing is trained")


def _refuse_unused(kinds: list[str] | None, columns: dict[str, str], vectors: Any, groups: str | None) -> None:
    """Columns and vectors that no kind of leak asks for; authors are drawn together in intervals of any kind."""
    used = {*(kinds or columns), *(["author"] if groups is None else [])}
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
