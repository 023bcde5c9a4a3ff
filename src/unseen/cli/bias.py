"""`unseen audit bias`: the same numbers for every group that texts mention."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import print_table, say
from unseen.cli.data_options import takes_data
from unseen.cli.frame import Reply, gives_reply
from unseen.cli.options import check_measurements, pairs, parameters, split_of
from unseen.errors import InputError, UnknownNameError, UnseenWarning

SWAPPED = 2_000
"""Texts that are swapped unless more are asked for: with thirty terms that is 58,000 versions for the model."""
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
@gives_reply
def bias(
    data: Any,
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
        int | None,
        typer.Option("-n", "--limit", min=1, help=f"At most so many texts to swap. (default: {SWAPPED:,})"),
    ] = None,
    cases: Annotated[Path | None, typer.Option(help="File (.csv) for the swapped texts.")] = None,
    swapped: Annotated[Path | None, typer.Option(help="Predictions that somebody made for the swapped texts.")] = None,
    groups: options.Groups = None,
    rename: options.Map = None,
    trust: options.Trust = False,
    settings: options.Set = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the measurements (.csv).")] = None,
    seed: options.Seed = 42,
) -> Reply:
    """Is a model worse on texts about some groups? AUCs and gaps by group, with 95 % intervals.

    Example: unseen audit bias posts.csv --text text --label label --model model --about source --positive loud
    """
    from unseen.bias import BACKGROUNDS, bias_measurements, parts_of_splits
    from unseen.bias.positives import positive_codes
    from unseen.inference import predict
    from unseen.models import open_model
    from unseen.store import read_predictions, write_measurements

    _refuse_one_of("--about", about, "--terms", terms)
    _refuse_one_of("--model", model, "--predictions", predictions)
    _refuse_useless(model, swap, limit, cases, swapped, trust, settings)
    if background not in (*BACKGROUNDS, "both"):
        raise UnknownNameError.of("background", background, [*BACKGROUNDS, "both"])
    positive_codes(data.label_names, positive)
    meant = pairs(rename, "--map")
    check_measurements(out)
    mentioned = _groups(data, about, terms, fewest=fewest, only=only)
    splits = [split_of(data, path) for path in split or []]
    asked = open_model(model, **parameters(settings, trust=trust, rename=meant)) if model else None
    answers = None if predictions is None else read_predictions(predictions, data, meant)
    where = parts_of_splits(data, splits, part or (), answers)
    answers = answers or predict(asked, data, _rows(where))
    backgrounds = _backgrounds(background, answers, bool(metric or swap))
    rows = bias_measurements(
        data, answers, mentioned, where, positive, backgrounds=backgrounds, metrics=metric or (), units=groups,
        seed=seed,
    )  # fmt: skip
    made = _swap_cases(data, where, swap, SWAPPED if limit is None else limit, cases, seed) if swap else None
    of_swapped = _answers(asked, made, swapped, cases, meant)
    swaps = [] if of_swapped is None else _swaps(data, made, where, answers, of_swapped, positive, seed)
    if out is not None:
        write_measurements([*rows, *swaps], out)

    def show() -> None:
        print_subgroups([row for row in rows if "background" in row.tags])
        print_values([row for row in rows if "background" not in row.tags])
        print_swaps(swaps)

    remarks = [] if out is None else [f"note: written: {out}"]
    return Reply([*rows, *swaps], show, remarks)


def _refuse_one_of(first: str, a: Any, second: str, b: Any) -> None:
    if (a is None) == (b is None):
        got = "both were given" if a is not None else "neither was given"
        raise InputError(f"unseen audit bias needs either {first} or {second}", got=got)


def _refuse_useless(
    model: str | None, swap: Any, limit: Any, cases: Any, swapped: Any, trust: bool, settings: Sequence[str] | None
) -> None:
    problems = [
        f"{name} has no effect without {other}"
        for name, given, other, there in (
            ("--limit", limit, "--swap", swap),
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


def _rows(where: Sequence[Any]) -> Any:
    """The rows of all places, each once."""
    import numpy as np

    return np.unique(np.concatenate([place.rows for place in where]))


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
    from unseen.store import read_predictions

    if made is None:
        return None
    if asked is not None:
        return predict(asked, made)
    if swapped is not None:
        return read_predictions(swapped, made, rename)
    warnings.warn(f"the swapped texts are in {cases}: predict them for --swapped", UnseenWarning, stacklevel=2)
    return None


def _swaps(
    data: Any, made: Any, where: Sequence[Any], originals: Any, swapped: Any, positive: Sequence[str], seed: int
) -> list[Any]:
    """What swaps change, place by place."""
    from unseen.bias import swap_measurements

    rows = []
    for place in where:
        mine = _of_place(made, data, place)
        if len(mine):
            rows += swap_measurements(mine, swapped, positive, originals=originals, tags=place.tags, seed=seed)
    return rows


def _of_place(cases: Any, data: Any, place: Any) -> Any:
    """The cases whose original is a row of this place."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inside = pc.is_in(cases.attribute("template"), value_set=data.ids.take(pa.array(place.rows)))
    return cases.take(inside.to_numpy().nonzero()[0])


def print_subgroups(rows: Sequence[Any]) -> None:
    """A table per place and background, the means below it, then all places side by side."""
    tables: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        tables.setdefault((_place(row), row.tags["background"]), []).append(row)
    for (place, background), mine in tables.items():
        say(f"{place}; background {background}: {SAID[background]}")
        by_slice: dict[str, dict[str, Any]] = {}
        for row in mine:
            by_slice.setdefault(row.slice, {})[row.metric.removeprefix("bias.")] = row
        means = by_slice.pop("all")
        head = [mine[0].tags["grouping"], "positive", "negative", *FIGURES.values()]
        print_table([head, *(_line(name, figures) for name, figures in by_slice.items())], numbers_from=1)
        for row in means.values():
            say(f"{row.metric}: {_figure(row)} over {row.tags['groups']} groups{_by_chance(row)}")
        _print_undefined(mine)
        say("")
    if len({place for place, _ in tables}) > 1:
        _print_side_by_side(rows)


def _line(name: str, figures: Mapping[str, Any]) -> list[str]:
    tags = figures["subgroup_auc"].tags
    counts = [f"{tags[side]:,}" for side in ("positives", "negatives")]
    return [name.partition("=")[2], *counts, *(_figure(figures[figure]) for figure in FIGURES)]


def _print_side_by_side(rows: Sequence[Any]) -> None:
    """A line per number, a column per place."""
    from unseen.types.numbers import thousandths

    columns = list(dict.fromkeys(map(_place, rows)))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        lines.setdefault((row.metric, row.slice, row.tags["background"]), {})[_place(row)] = thousandths(row.value)
    table = [[*key, *(cells.get(column, "") for column in columns)] for key, cells in sorted(lines.items())]
    print_table([["side by side", "slice", "background", *columns], *table], numbers_from=3)
    say("")


def print_values(rows: Sequence[Any]) -> None:
    """A line per metric and slice; nothing without metrics."""
    if rows:
        lines = [[_place(row), row.metric, row.slice, _figure(row), f"{row.n:,}", _by_chance(row)] for row in rows]
        print_table([["part", "metric", "slice", "value", "n", ""], *lines], numbers_from=3)
        _print_undefined(rows)
        say("")


def print_swaps(rows: Sequence[Any]) -> None:
    """A line per place and slice: how many versions, what they changed."""
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        lines.setdefault((_place(row), row.slice), {})[row.metric.removeprefix("bias.")] = row
    table = [
        [*key, f"{rows['flip_rate'].n:,}", *(_figure(rows[change]) for change in CHANGES)]
        for key, rows in lines.items()
    ]
    if table:
        print_table([["part", "swaps", "n", *CHANGES.values()], *table], numbers_from=2)


def _print_undefined(rows: Sequence[Any]) -> None:
    """A line for each reason: what is undefined, and of which groups."""
    from unseen.types import some

    reasons: dict[str, list[Any]] = {}
    for row in rows:
        if "undefined" in row.tags:
            reasons.setdefault(str(row.tags["undefined"]), []).append(row)
    for reason, of_reason in reasons.items():
        metrics = ", ".join(dict.fromkeys(row.metric for row in of_reason))
        groups = some(dict.fromkeys(row.slice for row in of_reason))
        say(f"undefined: {metrics} of {groups}: {reason}")


def _place(row: Any) -> str:
    return f"{row.tags['part']} of {row.tags['split']}" if "part" in row.tags else "all rows"


def _by_chance(row: Any) -> str:
    from unseen.types.numbers import thousandths

    return f" (by chance about {thousandths(row.tags['by_chance'])})" if "by_chance" in row.tags else ""


def _figure(row: Any) -> str:
    from unseen.types.numbers import scored, thousandths

    if "few_texts" in row.tags and row.value is not None:
        return f"{thousandths(row.value)} (too few texts: {row.tags['few_texts']})"
    return scored(row, thousandths)
