"""`unseen transfer`: trained on one dataset, tested on another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import Gates, Json, Quiet, command_line, notes, print_result, progress, say
from unseen.cli.model import Model, Set, Trust, parameters
from unseen.errors import InputError


def transfer(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATA...", help="Names in the --labels file, tables, known datasets, or NAME=…"),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="TOML file: labels, datasets and what their labels are here.")
    ] = None,
    model: Model = "minilm",
    settings: Set = None,
    trust: Trust = False,
    seeds: Annotated[int, typer.Option(help="How many trainings of each kind: seeds SEED, SEED + 1, ….")] = 3,
    test: Annotated[
        float | None, typer.Option(help="Share of the rows for testing, where no split is published. (default: 0.2)")
    ] = None,
    groups: Annotated[str | None, typer.Option(help="Column whose values stay on one side of the split.")] = None,
    merge: Annotated[bool, typer.Option("--merge", help="Train on all together as well.")] = False,
    cap: Annotated[
        int | None, typer.Option(help="Train also on at most so many texts per group and label, e.g. 250.")
    ] = None,
    cap_by: Annotated[str | None, typer.Option(help="Column of the groups for --cap. (default: --groups)")] = None,
    matched: Annotated[bool, typer.Option("--matched", help="Cut training sets to the size of the smallest.")] = False,
    text: Annotated[str | None, typer.Option(help="Column of the texts, of DATA that are tables.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels, of DATA that are tables.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, of DATA that are tables.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of known datasets. (default: $UNSEEN_DATA)")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the run.")] = Path("out"),
    seed: Annotated[int, typer.Option(help="Of splits, cap and the first training.")] = 42,
    workers: Annotated[int, typer.Option(help="Trainings side by side, one thread each; 1: one, all threads.")] = 1,
    gate: Gates = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on each dataset, test on each: what is left of a score elsewhere, and what overlaps.

    Example: unseen transfer posts.csv others.csv --model logistic --groups user --merge --out transfer
    """
    from unseen.runs.transfer import transfer as carry_over

    columns = {name: value for name, value in (("text", text), ("label", label), ("id", id)) if value is not None}
    with notes(quiet), progress(quiet):
        result = carry_over(
            chosen(datasets or [], labels, columns, data_dir), model=model, params=parameters(settings, trust=trust),
            seeds=seeds, seed=seed, test=test, groups=groups, merge=merge, cap=cap, cap_by=cap_by, matched=matched,
            out=out, workers=workers, gates=gate or (), command=command_line(),
            announce=None if quiet else lambda plan: say(described(plan), err=True),
        )  # fmt: skip
    print_result(result, as_json)


def chosen(said: list[str], file: Path | None, columns: dict[str, str], data_dir: Path | None) -> Any:
    """The datasets that are meant: those of the file with these names, others as sources; all of the file without."""
    from unseen.runs.transfer_file import DatasetEntry, Datasets, read_datasets

    if not said and file is None:
        raise InputError("no datasets are named", fix="unseen transfer A B …, or --labels FILE that names them")
    known = Datasets({}) if file is None else read_datasets(file)
    entries: dict[str, Any] = {}
    tables = 0
    for each in said or known.entries:
        name, source = _named(each)
        if name in entries:
            raise InputError(f"two datasets are called {name!r}", fix=f"name them: {name}-2={source}")
        is_table = each not in known.entries and Path(source).is_file()
        tables += is_table
        entries[name] = (
            known.entries[each] if each in known.entries else DatasetEntry(source, columns if is_table else {})
        )
    if columns and not tables:
        raise InputError(f"--{', --'.join(columns)} has no effect: no table is named", fix="say it in the file")
    if data_dir is not None:
        entries = _in_folder(entries, data_dir)
    return Datasets(entries, known.labels, known.positive)


def _named(said: str) -> tuple[str, str]:
    name, middle, source = said.partition("=")
    if not middle or Path(said).is_file() or set(name) & set("/\\"):
        return (Path(said).stem if Path(said).is_file() else said), said
    return name, source


def _in_folder(entries: dict[str, Any], data_dir: Path) -> dict[str, Any]:
    from dataclasses import replace

    from unseen.data.catalogue import cards

    known = {name for name, each in entries.items() if each.source in cards() and not Path(each.source).is_file()}
    if not known:
        raise InputError("--data-dir has no effect: no known dataset is named", fix="leave it out")
    return {
        name: replace(each, load={"data_dir": data_dir} | dict(each.load)) if name in known else each
        for name, each in entries.items()
    }


def described(plan: Any) -> str:
    """A plan in a few lines."""
    sizes = [
        f"{name}: {', '.join(f'{part} {rows:,}' for part, rows in parts.items())}" for name, parts in plan.texts.items()
    ]
    done = f", {plan.done} of them done" if plan.done else ""
    return "\n".join([*sizes, f"{plan.trainings} trainings{done}"])
