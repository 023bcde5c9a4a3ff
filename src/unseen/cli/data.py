"""`unseen data`: known datasets, dataset cards, large corpora."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.console import notes, print_json, print_table, say
from unseen.cli.options import DataDir, Json, Quiet

if TYPE_CHECKING:
    from unseen.data.catalogue import CatalogueCard, Copy
    from unseen.data.fetch import Progress
from unseen.cli import card, corpus, suite

app = typer.Typer(help="Find and fetch known datasets, document a dataset, encode large corpora.", no_args_is_help=True)


Name = Annotated[str, typer.Argument(help="Name of a known dataset; 'unseen data ls' lists them.")]


@app.command("ls")
def list_cards(data_dir: DataDir = None, as_json: Json = False) -> None:
    """List the known datasets and whether they are on this machine.

    Example: unseen data ls --data-dir data/
    """
    from unseen.data.catalogue import cards

    rows = [_summary(card, data_dir) for card in cards().values()]
    if as_json:
        print_json(rows)
        return
    table = [["name", "rows", "labels", "licence", "access", "here"]]
    table += [
        [row["name"], f"{row['rows']:,}", ", ".join(row["labels"]), row["licence"], row["access"], row["here"]]
        for row in rows
    ]
    print_table(table)


@app.command("fetch")
def fetch_card(name: Name, data_dir: DataDir = None, as_json: Json = False, quiet: Quiet = False) -> None:
    """Download a known dataset, or what is missing of it; checks what is known about its bytes.

    Example: unseen data fetch davidson --data-dir data/
    """
    from unseen.data.catalogue import card, data_folder, verify
    from unseen.data.fetch import fetch

    known = card(name)
    with notes(quiet), _progress(quiet) as progress:
        fetch(known, data_dir, progress)
    there = [copy for copy in verify(known, data_dir) if copy.state != "absent"]
    if as_json:
        print_json({"name": name, "data_dir": data_folder(data_dir), "files": [_copy(copy) for copy in there]})
        return
    for copy in there:
        say(f"{copy.path}  {copy.state}")


@app.command("show")
def show_card(name: Name, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Show all that is known about a dataset, and verify its files on this machine.

    Example: unseen data show davidson
    """
    from unseen.data.catalogue import card, data_folder, verify

    known, copies = card(name), verify(card(name), data_dir)
    if as_json:
        print_json(known.as_dict() | {"data_dir": data_folder(data_dir), "copies": [_copy(copy) for copy in copies]})
        return
    for line in _description(known, copies):
        say(line)


def _summary(card: CatalogueCard, data_dir: Path | None) -> dict[str, Any]:
    from unseen.data.catalogue import locate

    there = [str(path) for path in locate(card, data_dir)]
    complete = any(path.endswith(file.path) for path in there for file in card.files if file.default)
    return {
        "name": card.name,
        "rows": card.rows,
        "labels": card.labels,
        "licence": card.licence,
        "access": card.access,
        "here": "yes" if complete else "in part" if there else "no",
        "files": there,
    }


def _copy(copy: Copy) -> dict[str, Any]:
    return {"path": copy.path, "state": copy.state, "sha256": copy.sha256}


def _description(card: CatalogueCard, copies: list[Copy]) -> Iterator[str]:
    """The card as lines to read."""
    yield f"{card.name}: {card.title}"
    values = ", ".join(f"{raw} = {name}" for raw, name in card.mapping.items())
    dropped = f"; not a label: {', '.join(card.undeclared)}" if card.undeclared else ""
    fields = {
        "task": card.task,
        "language": card.language,
        "rows": f"{card.rows:,}",
        "labels": ", ".join(card.labels) + (f" ({values})" if values else "") + dropped,
        "text, label": f"{card.text}, {card.label}",
        "id": card.id or "row number",
        "attributes": ", ".join(card.attributes),
        "rows dropped": ", ".join(card.drop),
        "homepage": card.homepage,
        "licence": card.licence,
        "cite": card.citation,
        "access": card.access,
        "how to get it": card.instructions,
    }
    yield from (f"  {head + ':':<15} {value}" for head, value in fields.items() if value)
    yield "traps"
    yield from (f"  - {trap}" for trap in card.traps)
    yield "files"
    for copy in copies:
        yield from _file_lines(copy)


def _file_lines(copy: Copy) -> Iterator[str]:
    file = copy.file
    yield f"  {file.path}: {copy.state}"
    details = {
        "lies at": copy.path if copy.state != "absent" else None,
        "address": file.url,
        "sha256": file.sha256,
        "bytes": file.bytes,
        "sha256 of the local copy": file.local_sha256,
        "bytes of the local copy": file.local_bytes,
        "sha256 found": copy.sha256 if copy.state in ("changed", "unchecked", "as fetched") else None,
        "rows": file.rows,
        "rows loaded": file.loaded,
        "read as": file.reader,
        "columns": ", ".join(file.attributes) if file.attributes else None,
        "unpacked to": file.unpack,
        "note": file.note,
    }
    yield from (f"      {head}: {value}" for head, value in details.items() if value)


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress | None]:
    """A bar on a terminal, one line per file elsewhere, nothing when `quiet`."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield bar
    else:
        yield _lines()


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def advance(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield advance


def _lines() -> Progress:
    begun: set[str] = set()

    def begin(name: str, done: int, total: int | None) -> None:
        if name not in begun:
            begun.add(name)
            say(f"fetching {name}" + (f", {total:,} bytes" if total else ""), err=True)

    return begin


app.add_typer(card.app, name="card")
app.add_typer(corpus.app, name="corpus")
app.add_typer(suite.app, name="suite")
