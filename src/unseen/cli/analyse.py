"""`unseen analyse`: what a split is like, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import Json, Quiet, notes, print_json, print_table, progress, say
from unseen.cli.source import takes_data
from unseen.cli.split import describe
from unseen.errors import InputError


@takes_data
def analyse(
    data: Any,
    split: Annotated[str, typer.Argument(help="A split file of ours, or a table, JSON or list of somebody else's.")],
    vectors: Annotated[Path | None, typer.Option(help="Vectors (.npy) for the distance.")] = None,
    encoder: Annotated[str | None, typer.Option(help="Encoder for the distance. (default: tfidf)")] = None,
    metric: Annotated[str, typer.Option(help="cosine or euclidean.")] = "cosine",
    category: Annotated[
        list[str] | None, typer.Option(help="An attribute (-a) to take as a category; may be repeated.")
    ] = None,
    grouping: Annotated[
        list[str] | None, typer.Option(help="An attribute (-a) to take as a grouping; may be repeated.")
    ] = None,
    neutral: Annotated[str | None, typer.Option(help="A label without typical words of its own.")] = None,
    english: Annotated[Path | None, typer.Option(help="English words, one per line, for the rare words.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe a split: sizes, class mix, how far test is from training, words, and the attributes of -a.

    Example: unseen analyse posts.csv hard.csv --text text --label label --vectors vectors.npy -a source
    """
    from unseen import api

    if vectors is not None and encoder is not None:
        raise InputError("--encoder has no effect with --vectors", fix="leave one of them out")
    with notes(quiet), progress(quiet):
        found = read_any_split(split, data)
        measured = api.analyse(
            data,
            found,
            vectors or encoder or api.DEFAULT_ENCODER,
            metric=metric,
            categories=category or None,
            groupings=grouping or None,
            neutral=neutral,
            english=english,
        )
    if as_json:
        print_json([asdict(row) for row in measured])
        return
    describe(data, found)
    for row in measured:
        if row.metric.startswith("nearest") and row.value is not None:
            interval = f" [{row.low:.4f}, {row.high:.4f}]" if row.low is not None else ""
            say(f"{row.metric}: {row.value:.4f}{interval} (n = {row.n:,})")
    _print_properties(measured)


def _print_properties(measured: Sequence[Any]) -> None:
    """One line per property: its value on each side, and the interval of that of the test part."""
    own = [row for row in measured if row.metric not in ("rows", "label_share") and not row.metric.startswith("near")]
    shown: dict[str, dict[str, Any]] = {}
    for row in own:
        if row.metric != "train_share" or row.value < 0.5:
            name = row.metric if row.slice == "all" else f"{row.metric}[{row.slice}]"
            shown.setdefault(name, {})[row.tags["part"]] = row
    lines = [["property", "train", "test", "95 % interval"]]
    lines += [[name, _figure(sides.get("train")), *_with_interval(sides["test"])] for name, sides in shown.items()]
    if len(lines) > 1:
        say("")
        print_table(lines, numbers_from=1)


def _with_interval(row: Any) -> tuple[str, str]:
    return _figure(row), "" if row.low is None else f"[{row.low:.3f}, {row.high:.3f}]"


def _figure(row: Any) -> str:
    if row is None or row.value is None:
        return "" if row is None else "-"
    return f"{row.value:.0f} of {row.n}" if row.metric.startswith("under_represented.") else f"{row.value:.3f}"


def read_any_split(path: str, data: Any) -> Any:
    """The split in `path`: ours when its certificate lies beside it, else one of somebody else's."""
    from unseen import api
    from unseen.store import read_split

    if Path(path).suffix == ".csv" and Path(path).with_suffix(".json").exists():
        return read_split(path, data)
    return api.split(data, "predefined", by=path, name=Path(path).stem)
