"""What all commands print and how: results on stdout, progress and notes on stderr."""

from __future__ import annotations

import json
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from unseen.cli.hints import as_typed
from unseen.progress import Reporter, reporting
from unseen.redaction import redacted

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]


def command_line() -> str:
    """What was typed, without secrets."""
    return redacted(shlex.join(["unseen", *sys.argv[1:]]))


def say(text: Any = "", err: bool = False, nl: bool = True) -> None:
    """Print `text`; the only way for commands to do so, because labels, authors and names of files are anybody's.

    Lines and tabs stay as they are; whatever else could steer a terminal is shown as an escape.
    """
    typer.echo(re.sub(r"[^\n\t]+", lambda found: printable(found[0]), str(text)), err=err, nl=nl)


def print_json(content: Any) -> None:
    """`content` as JSON on stdout."""
    said = json.dumps(content, indent=2, ensure_ascii=False, default=str)
    typer.echo("".join(each if _harmless(each) or each == "\n" else f"\\u{ord(each):04x}" for each in said))


def printable(text: str) -> str:
    """`text` in one line that cannot steer a terminal: control characters are shown as escapes."""
    return "".join(each if _harmless(each) else each.encode("unicode_escape").decode() for each in text)


def _harmless(character: str) -> bool:
    """Whether a character only shows itself; what joins letters and emoji does, what turns lines round does not."""
    return character.isprintable() or character in "\u00a0\u200c\u200d" or ord(character) > 0xFFFF


def print_table(lines: Sequence[Sequence[str]], numbers_from: int = 10**6) -> None:
    """Rows of cells, the first row a header; columns from `numbers_from` on are set to the right."""
    lines = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(width) if place >= numbers_from else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        say("  ".join(cells).rstrip())


@contextmanager
def notes(quiet: bool) -> Iterator[None]:
    """Warnings of the block as plain lines on stderr; none when `quiet`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(each.message) for each in caught):
        if not quiet:
            say(f"note: {as_typed(message)}", err=True)


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Report the progress of the block: bars with the time left on a terminal, a line per stage elsewhere."""
    if quiet:
        with reporting(None):
            yield
    elif sys.stderr.isatty():
        with _bars() as reporter, reporting(reporter):
            yield
    else:
        with reporting(_lines):
            yield


@contextmanager
def _bars() -> Iterator[Reporter]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def report(work: str, done: int, total: int) -> None:
            if work not in tasks:
                tasks[work] = bars.add_task(printable(work), total=total)
            elif done == 0:
                bars.reset(tasks[work], total=total)  # the same work again: its time left begins anew
            bars.update(tasks[work], completed=done, total=total)

        yield report


def _lines(work: str, done: int, total: int) -> None:
    if done == 0:
        say(f"{work}: {total} steps", err=True)
