"""`unseen study transfer`: trained on one dataset, tested on another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, notes, print_result, progress, say
from unseen.cli.options import (
    Cap,
    CapBy,
    DataDir,
    Gate,
    Groups,
    Json,
    Junit,
    Model,
    Quiet,
    RunFolder,
    Seed,
    Set,
    ShareForTest,
    Summary,
    Trainings,
    Trust,
    Workers,
    parameters,
)
from unseen.errors import InputError


def transfer(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATA...", help="Names in the --label-map file, tables, known datasets, or NAME=…"),
    ] = None,
    label_map: Annotated[
        Path | None, typer.Option(help="TOML file: labels, datasets and what their labels are here.")
    ] = None,
    model: Model = "minilm",
    settings: Set = None,
    trust: Trust = False,
    trainings: Trainings = 3,
    test: ShareForTest = None,
    groups: Groups = None,
    pooled: Annotated[bool, typer.Option("--pooled", help="Train on all together as well.")] = False,
    cap: Cap = None,
    cap_by: CapBy = None,
    matched: Annotated[bool, typer.Option("--matched", help="Cut training sets to the size of the smallest.")] = False,
    text: Annotated[str | None, typer.Option(help="Column of the texts, of DATA that are tables.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels, of DATA that are tables.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, of DATA that are tables.")] = None,
    data_dir: DataDir = None,
    out: RunFolder = Path("out"),
    seed: Seed = 42,
    workers: Workers = 1,
    gate: Gate = None,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on each dataset, test on each: what is left of a score elsewhere, and what overlaps.

    Example: unseen study transfer posts.csv others.csv --model logistic --groups user --pooled --out transfer
    """
    from unseen.runs.transfer import transfer as carry_over

    columns = {name: value for name, value in (("text", text), ("label", label), ("id", id)) if value is not None}
    with notes(quiet), progress(quiet):
        result = carry_over(
            chosen(datasets or [], label_map, columns, data_dir), model=model, params=parameters(settings, trust=trust),
            seeds=trainings, seed=seed, test=test, groups=groups, merge=pooled, cap=cap, cap_by=cap_by, matched=matched,
            out=out, workers=workers, gates=gate or (), command=command_line(),
            announce=None if quiet else lambda plan: say(described(plan), err=True),
        )  # fmt: skip
    print_result(result, as_json, junit, summary)


def chosen(names: list[str], file: Path | None, columns: dict[str, str], data_dir: Path | None) -> Any:
    """The datasets that are meant: those of the file with these names, others as sources; all of the file without."""
    from unseen.runs.transfer_file import DatasetEntry, Datasets, read_datasets

    if not names and file is None:
        raise InputError(
            "no datasets are named", fix="unseen study transfer A B …, or --label-map FILE that names them"
        )
    known = Datasets({}) if file is None else read_datasets(file)
    entries: dict[str, Any] = {}
    tables = 0
    for named in names or known.entries:
        name, source = _named(named)
        if name in entries:
            raise InputError(f"two datasets are called {name!r}", fix=f"name them: {name}-2={source}")
        is_table = named not in known.entries and Path(source).is_file()
        tables += is_table
        entries[name] = (
            known.entries[named] if named in known.entries else DatasetEntry(source, columns if is_table else {})
        )
    if columns and not tables:
        raise InputError(f"--{', --'.join(columns)} has no effect: no table is named", fix="say it in the file")
    if data_dir is not None:
        entries = _in_folder(entries, data_dir)
    return Datasets(entries, known.labels, known.positive)


def _named(typed: str) -> tuple[str, str]:
    name, middle, source = typed.partition("=")
    if not middle or Path(typed).is_file() or set(name) & set("/\\"):
        return (Path(typed).stem if Path(typed).is_file() else typed), typed
    return name, source


def _in_folder(entries: dict[str, Any], data_dir: Path) -> dict[str, Any]:
    from dataclasses import replace

    from unseen.data.catalogue import cards

    known = {name for name, entry in entries.items() if entry.source in cards() and not Path(entry.source).is_file()}
    if not known:
        raise InputError("--data-dir has no effect: no known dataset is named", fix="leave it out")
    return {
        name: replace(entry, load={"data_dir": data_dir} | dict(entry.load)) if name in known else entry
        for name, entry in entries.items()
    }


def described(plan: Any) -> str:
    """A plan in a few lines."""
    sizes = [
        f"{name}: {', '.join(f'{part} {rows:,}' for part, rows in parts.items())}" for name, parts in plan.texts.items()
    ]
    done = f", {plan.done} of them done" if plan.done else ""
    return "\n".join([*sizes, f"{plan.trainings} trainings{done}"])
