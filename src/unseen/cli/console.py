"""What all commands print and how: results on stdout, progress and notes on stderr."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from unseen.cli.hints import as_typed
from unseen.progress import Reporter, reporting
from unseen.redaction import redacted

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Gates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate", metavar="METRIC<=NUMBER", help="Exit 1 unless it holds, 'fall.f1.macro<=0.2'; may be repeated."
    ),
]
AuditGates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate", metavar="METRIC<=NUMBER", help="Exit 1 unless it holds; none: always 0. (default: findings.fail<=0)"
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]

WORD = re.compile(r"[^\W\d_]{2}")
"""What cells of numbers do not have."""
EVERY = 120.0
"""Seconds between two lines of progress where there is no terminal."""


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


def print_result(result: Any, as_json: bool) -> None:
    """Print what came of a run, tables first and the report last; exit code 1 when a gate or a step failed."""
    if as_json:
        print_json(result.described())
    else:
        for table in result.page.printed:
            say(table.title)
            lines = [[_cell(cell) for cell in row] for row in table.rows]
            words = [place for place, cells in enumerate(zip(*lines, strict=True)) if any(map(WORD.search, cells))]
            print_table([table.columns, *lines], numbers_from=max(words, default=0) + 1)
            say(f"{table.note}\n" if table.note else "")
        _print_findings(result.page)
        say("\n".join(result.verdict.lines()))
        for outcome in result.gates:
            say(str(outcome))
        if result.report is not None:
            say(f"\nreport: {result.report}")
    for step, message in result.failures.items():
        say(f"failed: {step}: {message}", err=True)
    if not result.passed:
        raise typer.Exit(1)


def _print_findings(page: Any) -> None:
    """Findings with examples and, on a line of its own to be copied, what to do; by name where a table has the rest."""
    listed = [cell for table in page.printed for row in table.rows for cell in row]
    for finding in page.told:
        about = finding.check if finding.message in listed else f"{finding.level}: {finding.message}"
        examples = f": e.g. {', '.join(finding.shown[:3])}" if finding.evidence else ""
        advice = f"\n  {finding.advice}" if finding.advice else ""
        say(f"{about}{examples}{advice}")
    if page.told:
        say()


def gates_of(typed: list[str] | None) -> list[str]:
    """The gates of an audit: that nothing fails unless others were typed; none where `none` was."""
    return ["findings.fail<=0"] if typed is None else [gate for gate in typed if gate != "none"]


def _cell(cell: Any) -> str:
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)


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
    """Report the progress of the block: bars with the time left on a terminal, lines elsewhere."""
    if quiet:
        with reporting(None):
            yield
    elif sys.stderr.isatty():
        with _bars() as reporter, reporting(reporter):
            yield
    else:
        with reporting(_Lines()):
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


class _Lines:
    """A line where a stage begins, then one every few minutes with how far it is."""

    def __init__(self) -> None:
        self.begun: dict[str, float] = {}
        self.told: dict[str, float] = {}

    def __call__(self, work: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == 0:
            self.begun[work] = self.told[work] = now
            say(f"{work}: {total} steps", err=True)
        elif done < total and now - self.told[work] >= EVERY:
            self.told[work] = now
            gone = (now - self.begun[work]) / 60
            left = gone / done * (total - done)
            say(f"{work}: {done} of {total} after {gone:.0f} min, about {max(left, 1):.0f} min left", err=True)
