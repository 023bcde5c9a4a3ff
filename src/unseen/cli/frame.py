"""The frame of commands: options, notes, progress and printing, which a command leaves to its decorator.

`gives_reply` is for a command that looks at something or writes a file, `makes_run` for one that carries out a run.
Both see to --json and --quiet, collect warnings as notes, show progress, and print what the command returns.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from unseen.cli import options
from unseen.cli.console import command_line, gates_of, notes, print_json, print_result, progress, say

Command = Callable[..., Any]
PRINTING = {"as_json": (options.Json, False), "quiet": (options.Quiet, False)}


@dataclass(frozen=True)
class Reply:
    """What a command found: `content` for --json, for people a text or a function that prints it; remarks for both."""

    content: Any
    shown: str | Callable[[], None]
    remarks: Sequence[str] = ()
    passed: bool = True

    def tell(self, as_json: bool, quiet: bool) -> None:
        """Print it, remarks to stderr unless `quiet`; exit code 1 when something failed."""
        for remark in () if quiet else self.remarks:
            say(remark, err=True)
        if as_json:
            print_json(self.content)
        elif isinstance(self.shown, str):
            say(self.shown)
        else:
            self.shown()
        if not self.passed:
            raise typer.Exit(1)


def with_parameters(run: Command, parameters: Sequence[inspect.Parameter]) -> Command:
    """`run`, which takes keywords, with the parameters of which typer makes options."""
    by_keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    run.__signature__ = inspect.Signature(by_keyword)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in by_keyword}
    return run


def keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    """A parameter of which typer makes an option."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def gives_reply(command: Command) -> Command:
    """Give `command` --json and --quiet, and print the `Reply` that it returns."""
    return _framed(command, PRINTING, None)


def makes_run(
    *,
    out: Path | None = None,
    seed: int | None = 42,
    workers: int | None = None,
    gate: Any = options.Gate,
    tells: Callable[[Any], str] | None = None,
) -> Callable[[Command], Command]:
    """Give a command the options of a run, and print the Result that it returns; of a plan, it returns a `Reply`.

    The command hands what comes of these options to its function of the library: `**frame`. Without `out` a folder is
    written only if one is named; where `seed`, `workers` or `gate` is None there is no such option; audits have the
    gate of `options.AuditGate`. `tells` says a plan in words: the frame then has an `announce`, which prints it before
    the work begins. An option that the command declares itself is its own and not in the frame.
    """
    added: dict[str, tuple[Any, Any]] = {"out": (options.OptionalRunFolder if out is None else options.RunFolder, out)}
    if seed is not None:
        added["seed"] = (options.Seed, seed)
    if workers is not None:
        added["workers"] = (options.Workers, workers)
    if gate is not None:
        added["gate"] = (gate, None)
    added |= {"junit": (options.Junit, None), "summary": (options.Summary, None), **PRINTING}

    def frame(given: Mapping[str, Any], quiet: bool) -> dict[str, Any]:
        made = {name: given[name] for name in ("out", "seed", "workers") if name in given}
        if "gate" in given:
            made["gates"] = gates_of(given["gate"]) if gate is options.AuditGate else given["gate"] or ()
        if tells is not None:
            made["announce"] = None if quiet else lambda plan: say(tells(plan), err=True)
        return made | {"command": command_line()}

    return lambda command: _framed(command, added, frame)


def _framed(
    command: Command, added: Mapping[str, tuple[Any, Any]], frame: Callable[..., dict[str, Any]] | None
) -> Command:
    """The command with the options that are added to its own, and with all that surrounds it."""
    declared = inspect.signature(command, eval_str=True).parameters

    @functools.wraps(command)
    def run(**given: Any) -> None:
        own = {name: value for name, value in given.items() if name in declared}
        if frame is not None and "frame" in declared:
            own["frame"] = frame({name: given[name] for name in given.keys() - own.keys()}, given["quiet"])
        with notes(given["quiet"]), progress(given["quiet"]):
            result = command(**own)
        if isinstance(result, Reply):
            result.tell(given["as_json"], given["quiet"])
        else:
            print_result(result, given["as_json"], given["junit"], given["summary"])

    own = [parameter for name, parameter in declared.items() if name not in added and name != "frame"]
    return with_parameters(run, [*own, *(declared.get(name) or keyword(name, *made) for name, made in added.items())])
