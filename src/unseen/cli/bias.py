"""`unseen bias`: the same numbers for every group that texts mention."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.cli.console import Json, Quiet, notes, print_json, print_table, progress
from unseen.cli.model import Trust, parameters
from unseen.cli.source import takes_data
from unseen.errors import InputError, UnknownNameError, UnseenWarning

FIGURES = {
    "subgroup_auc": "subgroup AUC",
    "bpsn_auc": "BPSN AUC",
    "bnsp_auc": "BNSP AUC",
    "positive_aeg": "positive gap",
    "negative_aeg": "negative gap",
}
CHANGES = {
    "flip_rate": "flip rate",
    "mean_change": "mean change",
    "mean_absolute_change": "mean size",
    "largest_change": "largest",
}
SAID = {
    "all": "all texts that do not mention the group",
    "mentioned": "texts that mention another group but not this one",
}


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
    cases: Annotated[Path | None, typer.Option(help="File (.csv) for the swapped texts.")] = None,
    swapped: Annotated[Path | None, typer.Option(help="Predictions that somebody made for the swapped texts.")] = None,
    units: Annotated[
        str | None, typer.Option(help="Attribute (-a) drawn together in the bootstrap, e.g. an author.")
    ] = None,
    trust: Trust = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="How to ask the model; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the measurements (.csv).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Is a model worse on texts about some groups? AUCs and gaps by group, with 95 % intervals.

    Example: unseen bias posts.csv --text text --label label --model model --group source --positive loud
    """
    from unseen.bias import bias_measurements, places
    from unseen.store import write_measurements

    _refuse_one_of("--group", groups, "--terms", terms)
    _refuse_one_of("--model", model, "--predictions", predictions)
    _refuse_useless(model, swap, cases, swapped, trust, settings)
    with notes(quiet), progress(quiet):
        found = _groups(data, groups, terms, fewest=fewest, only=only)
        splits = [read_any_split(each, data) for each in split or []]
        asked = _opened(model, parameters(settings, trust=trust)) if model else None
        said = None if asked else _read(predictions, data)
        where = places(data, splits, part or (), said)
        said = said or _predicted(asked, data, where)
        backgrounds = _backgrounds(background, said, bool(metric or swap))
        options: dict[str, Any] = {"units": units, "seed": seed}
        rows = bias_measurements(
            data, said, found, where, positive, backgrounds=backgrounds, metrics=metric or (), **options
        )
        swaps = _swaps(data, said, where, positive, seed, asked, swap, cases, swapped) if swap else []
        if out is not None:
            write_measurements([*rows, *swaps], out)
    if as_json:
        print_json([asdict(row) for row in [*rows, *swaps]])
        return
    _print_subgroups([row for row in rows if "background" in row.tags])
    _print_values([row for row in rows if "background" not in row.tags])
    _print_swaps(swaps)


def _refuse_one_of(first: str, a: Any, second: str, b: Any) -> None:
    if (a is None) == (b is None):
        said = "both were given" if a is not None else "neither was given"
        raise InputError(f"unseen bias needs either {first} or {second}", got=said)


def _refuse_useless(
    model: str | None, swap: Any, cases: Any, swapped: Any, trust: bool, settings: Sequence[str] | None
) -> None:
    problems = [
        f"{name} has no effect without {other}"
        for name, given, other, there in (
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


def _read(path: Path | None, data: Any) -> Any:
    from unseen.store import read_predictions

    assert path is not None
    return read_predictions(path, data)


def _rows(where: Sequence[Any]) -> Any:
    """The rows of all places, each once."""
    import numpy as np

    return np.unique(np.concatenate([place.rows for place in where]))


def _predicted(model: Any, data: Any, where: Sequence[Any]) -> Any:
    from unseen.inference import predict

    return predict(model, data, _rows(where))


def _backgrounds(asked: str, predictions: Any, something_else: bool) -> tuple[str, ...]:
    """The backgrounds to compare with; none where predictions are labels and something else can be said of them."""
    from unseen.bias import BACKGROUNDS

    if asked not in (*BACKGROUNDS, "both"):
        raise UnknownNameError.of("background", asked, [*BACKGROUNDS, "both"])
    if predictions.origin.params.get("hard") and something_else:
        warnings.warn("these predictions are labels: there are no AUCs and no gaps", UnseenWarning, stacklevel=2)
        return ()
    return BACKGROUNDS if asked == "both" else (asked,)


def _swaps(
    data: Any,
    said: Any,
    where: Sequence[Any],
    positive: Sequence[str],
    seed: int,
    asked: Any,
    swap: Path,
    cases: Path | None,
    swapped: Path | None,
) -> list[Any]:
    """What swaps change, place by place; the swapped texts are written where `cases` says."""
    from unseen.bias import read_terms, swap_cases, swap_measurements
    from unseen.functional.writing import write_suite
    from unseen.inference import predict

    lists = read_terms(swap)
    made = swap_cases(data, lists, _rows(where))
    if cases is not None:
        write_suite(made, cases)
    if asked is None and swapped is None:
        warnings.warn(f"the swapped texts are in {cases}: predict them for --swapped", UnseenWarning, stacklevel=2)
        return []
    answers = predict(asked, made) if asked else _read(swapped, made)
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


def _print_subgroups(rows: Sequence[Any]) -> None:
    """A table per place and background, the means below it, then all places side by side."""
    tables: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        tables.setdefault((_place(row), row.tags["background"]), []).append(row)
    for (place, background), mine in tables.items():
        typer.echo(f"{place}; background {background}: {SAID[background]}")
        by_slice: dict[str, dict[str, Any]] = {}
        for row in mine:
            by_slice.setdefault(row.slice, {})[row.metric.removeprefix("bias.")] = row
        means = by_slice.pop("all")
        head = [mine[0].tags["grouping"], "positive", "negative", *FIGURES.values()]
        print_table([head, *(_line(name, figures) for name, figures in by_slice.items())], numbers_from=1)
        for row in means.values():
            typer.echo(f"{row.metric}: {_figure(row)} over {row.tags['groups']} groups{_by_chance(row)}")
        _print_undefined(mine)
        typer.echo("")
    if len({place for place, _ in tables}) > 1:
        _print_side_by_side(rows)


def _line(name: str, figures: Mapping[str, Any]) -> list[str]:
    tags = figures["subgroup_auc"].tags
    counts = [f"{tags[each]:,}" for each in ("positives", "negatives")]
    return [name.partition("=")[2], *counts, *(_figure(figures[each]) for each in FIGURES)]


def _print_side_by_side(rows: Sequence[Any]) -> None:
    """A line per number, a column per place."""
    columns = list(dict.fromkeys(map(_place, rows)))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        value = "-" if row.value is None else f"{row.value:.3f}"
        lines.setdefault((row.metric, row.slice, row.tags["background"]), {})[_place(row)] = value
    table = [[*key, *(found.get(each, "") for each in columns)] for key, found in sorted(lines.items())]
    print_table([["side by side", "slice", "background", *columns], *table], numbers_from=3)
    typer.echo("")


def _print_values(rows: Sequence[Any]) -> None:
    if rows:
        lines = [[_place(row), row.metric, row.slice, _figure(row), f"{row.n:,}", _by_chance(row)] for row in rows]
        print_table([["part", "metric", "slice", "value", "n", ""], *lines], numbers_from=3)
        _print_undefined(rows)
        typer.echo("")


def _print_swaps(rows: Sequence[Any]) -> None:
    """A line per place and slice: how many versions, what they changed."""
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        lines.setdefault((_place(row), row.slice), {})[row.metric.removeprefix("bias.")] = row
    table = [
        [*key, f"{found['flip_rate'].n:,}", *(_figure(found[each]) for each in CHANGES)] for key, found in lines.items()
    ]
    if table:
        print_table([["part", "swaps", "n", *CHANGES.values()], *table], numbers_from=2)


def _print_undefined(rows: Sequence[Any]) -> None:
    for row in rows:
        if "undefined" in row.tags:
            typer.echo(f"undefined: {row.metric} of {row.slice} (n = {row.n:,}): {row.tags['undefined']}")


def _place(row: Any) -> str:
    return f"{row.tags['part']} of {row.tags['split']}" if "part" in row.tags else "all rows"


def _by_chance(row: Any) -> str:
    return f" (by chance about {row.tags['by_chance']:.3f})" if "by_chance" in row.tags else ""


def _figure(row: Any) -> str:
    value = "-" if row.value is None else f"{row.value:.3f}"
    return value if row.low is None or row.high is None else f"{value} [{row.low:.3f}, {row.high:.3f}]"
