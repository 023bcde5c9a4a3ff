"""`unseen bias`: the same numbers for every group that texts mention."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.cli.bias_tables import print_subgroups, print_swaps, print_values
from unseen.cli.console import Json, Quiet, notes, print_json, progress, say
from unseen.cli.model import Map, Trust, parameters
from unseen.cli.source import pairs, takes_data
from unseen.cli.target import check_measurements
from unseen.errors import InputError, UnknownNameError, UnseenWarning

MOST = 2_000
"""Texts that are swapped unless more are asked for: with thirty terms that is 58,000 versions for the model."""


@takes_data
def bias(
    data: Any,
    positive: Annotated[list[str], typer.Option(help="A label that counts as positive; may be repeated.")],
    groups: Annotated[
        str | None, typer.Option("--group", help="Column that says which groups a text is about.")
    ] = None,
    terms: Annotated[
        Path | None, typer.Option(help='Groups by words: TOML with group = ["word", …], or a word per line.')
    ] = None,
    model: Annotated[str | None, typer.Option(help="A model to ask, as of 'unseen predict'.")] = None,
    predictions: Annotated[Path | None, typer.Option(help="Predictions that somebody made.")] = None,
    background: Annotated[str, typer.Option(help="What a group is compared with: all, mentioned or both.")] = "all",
    split: Annotated[
        list[str] | None, typer.Option(help="A split file: each part on its own; may be repeated.")
    ] = None,
    part: Annotated[list[str] | None, typer.Option(help="A part to look at. (default: all but train)")] = None,
    fewest: Annotated[int, typer.Option(help="Texts that a group needs to count.")] = 1,
    only: Annotated[list[str] | None, typer.Option(help="A group to look at; may be repeated. (default: all)")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A metric by group, e.g. false_positive_rate, f1.macro; may be repeated."),
    ] = None,
    swap: Annotated[Path | None, typer.Option(help='Terms to swap: TOML with name = ["word", "other"].')] = None,
    most: Annotated[
        int | None, typer.Option(min=1, help=f"Texts to swap, drawn with the seed. (default: {MOST:,})")
    ] = None,
    cases: Annotated[Path | None, typer.Option(help="File (.csv) for the swapped texts.")] = None,
    swapped: Annotated[Path | None, typer.Option(help="Predictions that somebody made for the swapped texts.")] = None,
    units: Annotated[
        str | None, typer.Option(help="Attribute (-a) drawn together in the bootstrap, e.g. an author.")
    ] = None,
    rename: Map = None,
    trust: Trust = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="How to ask the model; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the measurements (.csv).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap, and of the texts to swap.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Is a model worse on texts about some groups? AUCs and gaps by group, with 95 % intervals.

    Example: unseen bias posts.csv --text text --label label --model model --group source --positive loud
    """
    from unseen.bias import bias_measurements, parts_of_splits
    from unseen.bias.positives import positive_codes
    from unseen.store import write_measurements

    _refuse_one_of("--group", groups, "--terms", terms)
    _refuse_one_of("--model", model, "--predictions", predictions)
    _refuse_useless(model, swap, most, cases, swapped, trust, settings)
    _refuse_background(background)
    positive_codes(data.label_names, positive)
    meant = pairs(rename, "--map")
    check_measurements(out)
    with notes(quiet), progress(quiet):
        found = _groups(data, groups, terms, fewest=fewest, only=only)
        splits = [read_any_split(each, data) for each in split or []]
        asked = _opened(model, parameters(settings, trust=trust, rename=meant)) if model else None
        said = None if asked else _read(predictions, data, meant)
        where = parts_of_splits(data, splits, part or (), said)
        said = said or _predicted(asked, data, where)
        backgrounds = _backgrounds(background, said, bool(metric or swap))
        options: dict[str, Any] = {"units": units, "seed": seed}
        rows = bias_measurements(
            data, said, found, where, positive, backgrounds=backgrounds, metrics=metric or (), **options
        )
        made = _swap_cases(data, where, swap, MOST if most is None else most, cases, seed) if swap else None
        answers = _answers(asked, made, swapped, cases, meant)
        swaps = _swaps(data, made, where, said, answers, positive, seed) if answers is not None else []
        if out is not None:
            write_measurements([*rows, *swaps], out)
    if out is not None and not quiet:
        say(f"note: written: {out}", err=True)
    if as_json:
        print_json([asdict(row) for row in [*rows, *swaps]])
        return
    print_subgroups([row for row in rows if "background" in row.tags])
    print_values([row for row in rows if "background" not in row.tags])
    print_swaps(swaps)


def _refuse_one_of(first: str, a: Any, second: str, b: Any) -> None:
    if (a is None) == (b is None):
        said = "both were given" if a is not None else "neither was given"
        raise InputError(f"unseen bias needs either {first} or {second}", got=said)


def _refuse_useless(
    model: str | None, swap: Any, most: Any, cases: Any, swapped: Any, trust: bool, settings: Sequence[str] | None
) -> None:
    problems = [
        f"{name} has no effect without {other}"
        for name, given, other, there in (
            ("--most", most, "--swap", swap),
            ("--cases", cases, "--swap", swap),
            ("--swapped", swapped, "--swap", swap),
            ("--trust", trust or None, "--model", model),
            ("--set", settings or None, "--model", model),
        )
        if given is not None and there is None
    ]
    if model is not None and swapped is not None:
        problems.append("--swapped has no effect with --model: the model is asked")
    if swap is not None and model is None and cases is None and swapped is None:
        problems.append("--swap with --predictions needs what the model says about the swapped texts")
    if problems:
        fix = "--cases FILE writes the swapped texts; predict them, then give --swapped PREDICTIONS" if swap else None
        raise InputError("these options do not go together", problems=problems, fix=fix)


def _groups(data: Any, attribute: str | None, terms: Path | None, **options: Any) -> Any:
    from unseen.bias import groups_by_attribute, groups_by_terms, read_terms

    if attribute is not None:
        return groups_by_attribute(data, attribute, **options)
    assert terms is not None
    return groups_by_terms(data, read_terms(terms), **options)


def _opened(model: str, options: dict[str, Any]) -> Any:
    from unseen.models import open_model

    return open_model(model, **options)


def _read(path: Path | None, data: Any, rename: dict[str, str]) -> Any:
    from unseen.store import read_predictions

    assert path is not None
    return read_predictions(path, data, rename)


def _rows(where: Sequence[Any]) -> Any:
    """The rows of all places, each once."""
    import numpy as np

    return np.unique(np.concatenate([place.rows for place in where]))


def _predicted(model: Any, data: Any, where: Sequence[Any]) -> Any:
    from unseen.inference import predict

    return predict(model, data, _rows(where))


def _refuse_background(asked: str) -> None:
    from unseen.bias import BACKGROUNDS

    if asked not in (*BACKGROUNDS, "both"):
        raise UnknownNameError.of("background", asked, [*BACKGROUNDS, "both"])


def _backgrounds(asked: str, predictions: Any, something_else: bool) -> tuple[str, ...]:
    """The backgrounds to compare with; none where predictions are labels and something else can be said of them."""
    from unseen.bias import BACKGROUNDS

    if predictions.origin.params.get("hard") and something_else:
        warnings.warn("these predictions are labels: there are no AUCs and no gaps", UnseenWarning, stacklevel=2)
        return ()
    return BACKGROUNDS if asked == "both" else (asked,)


def _swap_cases(data: Any, where: Sequence[Any], swap: Path, most: int, cases: Path | None, seed: int) -> Any:
    """The texts of all places and their swaps; written where `cases` says."""
    from unseen.bias import read_terms, swap_cases
    from unseen.functional.tables import write_suite

    made = swap_cases(data, read_terms(swap), _rows(where), most=most, seed=seed)
    if cases is not None:
        write_suite(made, cases)
    return made


def _answers(asked: Any, made: Any, swapped: Path | None, cases: Path | None, rename: dict[str, str]) -> Any:
    """What a model says about the swapped texts; None where there are none, or nobody has asked one yet."""
    from unseen.inference import predict

    if made is None:
        return None
    if asked is None and swapped is None:
        warnings.warn(f"the swapped texts are in {cases}: predict them for --swapped", UnseenWarning, stacklevel=2)
        return None
    return predict(asked, made) if asked else _read(swapped, made, rename)


def _swaps(
    data: Any, made: Any, where: Sequence[Any], said: Any, answers: Any, positive: Sequence[str], seed: int
) -> list[Any]:
    """What swaps change, place by place."""
    from unseen.bias import swap_measurements

    found = []
    for place in where:
        mine = _of_place(made, data, place)
        if len(mine):
            found += swap_measurements(mine, answers, positive, originals=said, tags=place.tags, seed=seed)
    return found


def _of_place(cases: Any, data: Any, place: Any) -> Any:
    """The cases whose original is a row of this place."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inside = pc.is_in(cases.attribute("template"), value_set=data.ids.take(pa.array(place.rows)))
    return cases.take(inside.to_numpy().nonzero()[0])
