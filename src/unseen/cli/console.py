"""What all commands print and how: results on stdout, progress and notes on stderr."""

from __future__ import annotations

import functools
import json
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import typer

from unseen.cli.hints import as_typed
from unseen.errors import UnseenWarning
from unseen.progress import Progress, Reporter, reporting

WORD = re.compile(r"[^\W\d_]{2}")
"""What cells of numbers do not have."""
EVERY = 120.0
"""Seconds between two lines of progress where there is no terminal."""


def command_line() -> str:
    """What was typed."""
    return shlex.join(["unseen", *sys.argv[1:]])


def say(text: Any = "", err: bool = False, nl: bool = True) -> None:
    """Print `text`; the only way for commands to do so, because labels, authors and names of files are anybody's.

    Lines and tabs stay as they are; whatever else could steer a terminal is shown as an escape.
    """
    typer.echo(re.sub(r"[^\n\t]+", lambda match: printable(match[0]), str(text)), err=err, nl=nl)


def print_json(content: Any) -> None:
    """`content` as JSON on stdout, records as objects."""
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain)
    typer.echo("".join(char if _harmless(char) or char == "\n" else f"\\u{ord(char):04x}" for char in text))


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def printable(text: str) -> str:
    """`text` in one line that cannot steer a terminal: control characters are shown as escapes."""
    return "".join(char if _harmless(char) else char.encode("unicode_escape").decode() for char in text)


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


def measured_cells(row: Any, places: int = 3) -> list[str]:
    """Value, 95 % interval and n of a measurement; a dash for what it does not have."""
    from unseen.types.numbers import DASH, bounds, number

    write = functools.partial(number, places=places)
    return [write(row.value), bounds(row, write) or DASH, f"{row.n:,}"]


def print_result(result: Any, as_json: bool, junit: Path | None = None, summary: Path | None = None) -> None:
    """Print what came of a run, tables first and the report last; exit code 1 when a gate or a step failed."""
    write_for_builds(result, junit, summary)
    if as_json:
        print_json(result.described())
    else:
        for table in result.page.printed:
            say(table.title)
            lines = [[_cell(cell) for cell in row] for row in table.rows]
            words = [place for place, cells in enumerate(zip(*lines, strict=True)) if any(map(WORD.search, cells))]
            print_table([table.columns, *lines], numbers_from=max(words, default=0) + 1)
            say(f"{table.note}\n" if table.note else "")
        _print_page_findings(result.page)
        say("\n".join(result.verdict.lines()))
        for outcome in result.gates:
            say(str(outcome))
        if result.report is not None:
            say(f"\nreport: {result.report}")
    for step, message in result.failures.items():
        say(f"failed: {step}: {message}", err=True)
    if not result.passed:
        raise typer.Exit(1)


def write_for_builds(result: Any, junit: Path | None, summary: Path | None) -> None:
    """What CI systems show of a run, where files were named: gates and findings, and the summary."""
    if junit is not None:
        from unseen.reports.summary import junit as as_junit
        from unseen.store import write_text

        write_text(junit, as_junit(result))
    if summary is not None:
        from unseen.reports.summary import summary as as_markdown
        from unseen.reports.summary import write_summary

        write_summary(summary, as_markdown(result))


def _print_page_findings(page: Any) -> None:
    """Findings with examples and, on a line of its own to be copied, what to do; by name where a table has the rest."""
    listed = [cell for table in page.printed for row in table.rows for cell in row]
    for finding in page.printed_findings:
        about = finding.check if finding.message in listed else f"{finding.level}: {finding.message}"
        examples = f": e.g. {', '.join(finding.shown[:3])}" if finding.evidence else ""
        advice = f"\n  {finding.advice}" if finding.advice else ""
        say(f"{about}{examples}{advice}")
    if page.printed_findings:
        say()


def print_findings(findings: Sequence[Any]) -> None:
    """Findings, a line each, with what to do."""
    for finding in findings:
        say(f"{finding.level}: {finding.message}{' ' if finding.advice else ''}{finding.advice}")


def print_places(result: Any, as_json: bool, quiet: bool, junit: Path | None, summary: Path | None) -> None:
    """Print findings about places in files, a line each as editors read them; exit code 1 when a gate failed."""
    write_for_builds(result, junit, summary)
    if as_json:
        print_json(result.described())
    else:
        for finding in result.findings:
            more = f" (and {len(finding.rows) - 1} more)" if len(finding.rows) > 1 else ""
            advice = f"\n  {finding.advice}" if finding.advice else ""
            if not (quiet and finding.level == "skipped"):
                say(f"{finding.rows[0]}: {finding.level} {finding.check}: {finding.message}{more}{advice}")
        say("\n".join([*result.verdict.lines(), *map(str, result.gates)]))
    if not result.passed:
        raise typer.Exit(1)


def gates_of(typed: list[str] | None) -> list[str]:
    """The gates of an audit: that nothing fails unless others were typed; none where `none` was."""
    return ["findings.fail<=0"] if typed is None else [gate for gate in typed if gate != "none"]


def _cell(cell: Any) -> str:
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)


@contextmanager
def notes(quiet: bool) -> Iterator[None]:
    """Warnings of the block as plain lines on stderr when it ends, each once; none when `quiet`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        if not quiet:
            say(f"note: {as_typed(message)}", err=True)


@contextmanager
def notes_at_once(quiet: bool) -> Iterator[None]:
    """The same as they come, for what goes on until somebody ends it."""
    messages = set[str]()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        if not quiet and str(message) not in messages:
            say(f"note: {as_typed(str(message))}", err=True)
        messages.add(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UnseenWarning)
        warnings.showwarning = tell
        yield


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Report the progress of the block: one bar with the time left on a terminal, a line for each stage elsewhere."""
    if quiet:
        with reporting(None):
            yield
    elif sys.stderr.isatty():
        with _bar() as reporter, reporting(reporter):
            yield
    else:
        with reporting(_Lines()):
            yield


@contextmanager
def _bar() -> Iterator[Reporter]:
    """One bar: of the whole run where its stages are known, else of the stage that is under way."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        shown: dict[str, Any] = {}

        def report(now: Progress) -> None:
            whole = "" if now.of_run else now.work
            if whole not in shown:
                for task in shown.values():
                    bars.remove_task(task)
                shown.clear()
                shown[whole] = bars.add_task("", total=1.0)
            bars.update(shown[whole], completed=now.share, description=printable(now.work))

        yield report


class _Lines:
    """A line where a stage ends, one that is told already only after long; every few minutes how far a long one is."""

    def __init__(self) -> None:
        self.work, self.told = "", set[str]()
        self.begun = self.last = 0.0

    def __call__(self, now: Progress) -> None:
        clock = time.monotonic()
        if now.done == 0 and now.work != self.work:
            self.work, self.begun, self.last = now.work, clock, clock
        if now.done == now.total:
            if now.total and (now.work not in self.told or clock - self.begun >= EVERY):
                say(f"{now.work}: done in {rough_duration(clock - self.begun)}", err=True)
            self.told.add(now.work)
            self.work = ""
        elif clock - self.last >= EVERY:
            self.last, gone = clock, clock - self.begun
            part = now.done / now.total
            left = f", about {rough_duration(gone / part - gone)} left" if part else ""
            say(f"{now.work}: {100 * part:.0f} % after {rough_duration(gone)}{left}", err=True)


def rough_duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
