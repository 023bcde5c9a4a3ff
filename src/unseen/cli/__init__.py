"""The command line: a file per group of commands; parse, call a verb, print.

Exit codes: 0 done, 1 a gate or check failed, 2 wrong input or usage, 70 a fault of unseen's own, 130 and 143 stopped
by a signal. Results go to stdout, progress and notes to stderr.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from unseen.cli import attack, audit, check, data, explain, forecast, model, runs, split, stress, study, view
from unseen.cli.console import printable, say
from unseen.cli.hints import PROGRAM, as_typed, program
from unseen.errors import UnseenError

JUDGE, PIECES, RESULTS = "Judge a model", "Work on its parts", "Many runs, and what came of them"
"""Headings of the help, in the order of a user's day."""


OTHER_WORDS = {"--by": ["--groups", "--parts"], "--group": ["--groups"], "--column": ["--groups", "--parts"]}
"""Options that people type who think of other tools, and what they mean here, where the command has it."""


class Program(TyperGroup):
    """The commands; where only one group has a command of a name, its name alone is enough."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an option that it does not have is told with those that are meant."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            known = {
                name for option in getattr(getattr(error, "ctx", None), "command", self).params for name in option.opts
            }
            meant = [name for name in OTHER_WORDS.get(getattr(error, "option_name", ""), []) if name in known]
            if meant:
                error.possibilities = meant  # type: ignore[attr-defined]
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was typed; `unseen bench` is `unseen study bench`."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            homes = [path.split() for path in _paths(self) if path.split()[-1] == args[0]]
            if len(homes) == 1:
                return super().resolve_command(ctx, [*homes[0], *args[1:]])
            if homes and hasattr(error, "message"):
                error.message = f"{error.message} Did you mean 'unseen {' '.join(homes[0])}'?"
            raise


def _paths(command: Any, words: str = "") -> Iterator[str]:
    """Every command as it is typed."""
    for name, inner in getattr(command, "commands", {}).items():
        yield f"{words}{name}"
        yield from _paths(inner, f"{words}{name} ")


app = typer.Typer(
    name="unseen",
    cls=Program,
    help="How will a text classifier do on what it has not seen? Hard test sets, with proof of what you got.",
    epilog="New here? 'unseen demo' does the main job on a bundled sample and says where the report is. "
    "'unseen view' shows finished runs in a browser. "
    "A name that one group alone has is enough: 'unseen bench' is 'unseen study bench'.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from unseen import __version__

        say(f"unseen {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command(rich_help_panel=JUDGE)(stress.stress)
app.command(rich_help_panel=JUDGE)(check.check)
app.command(rich_help_panel=JUDGE)(forecast.forecast)
app.command(rich_help_panel=JUDGE)(explain.explain)
app.add_typer(attack.app, name="attack", rich_help_panel=JUDGE)
app.add_typer(split.app, name="split", rich_help_panel=PIECES)
app.add_typer(audit.app, name="audit", rich_help_panel=PIECES)
app.add_typer(model.app, name="model", rich_help_panel=PIECES)
app.add_typer(data.app, name="data", rich_help_panel=PIECES)
app.add_typer(study.app, name="study", rich_help_panel=RESULTS)
app.add_typer(runs.app, name="runs", rich_help_panel=RESULTS)
app.command(rich_help_panel=RESULTS)(view.view)
app.command(hidden=True)(stress.demo)
PROGRAM.append(app)


UNFORESEEN = 70
"""Exit code of a fault of unseen's own (EX_SOFTWARE)."""
DEBUG = "UNSEEN_DEBUG"


class _Stopped(BaseException):
    """A signal asks to stop; no KeyboardInterrupt, which click would turn into exit code 1."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number
        super().__init__(signal.Signals(number).name)


@contextmanager
def _stoppable() -> Iterator[None]:
    """The block with SIGINT and SIGTERM as an exception, so that files and workers are left in order.

    A second signal ends at once, unless it comes within a second: `timeout` sends its own twice. What was told to
    ignore a signal, such as a job of nohup, still does.
    """
    asking = (signal.SIGINT, signal.SIGTERM)
    before = {
        number: handler for number in asking if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }
    stopped: list[float] = []

    def stop(number: int, frame: object) -> None:
        stopped.append(time.monotonic())
        if len(stopped) == 1:
            raise _Stopped(number)
        if stopped[-1] - stopped[0] > 1:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    try:
        for number in before:
            signal.signal(number, stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if stopped else handler)


def _unforeseen(error: Exception) -> str:
    """What to say when unseen itself is at fault: never exit code 1, which means that a gate failed."""
    files = [word for word in sys.argv[1:] if not word.startswith("-") and Path(word).exists()]
    at = traceback.extract_tb(error.__traceback__)[-1]
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if "unseen" in Path(frame.filename).parts]
    place = own[-1] if own else at
    shown = f"  what it read: {', '.join(files)}\n" if files else ""
    if os.environ.get(DEBUG):
        shown += "".join(traceback.format_exception(error))
    return (
        f"error: something went wrong that unseen did not foresee: {type(error).__name__}: {error}\n"
        f"{shown}  where: {Path(place.filename).name}, line {place.lineno}, in {place.name}\n"
        f"  what to do: please report it with the command and, if you may, the file; {DEBUG}=1 shows all of it"
    )


def main() -> None:
    """Run the command line; a mistake of the user is one message and exit code 2."""
    sys.path.append("")  # module:function of the user's own lies here; last, so that it hides nothing
    try:
        with _stoppable():
            program()()
    except _Stopped as stopped:
        say(
            f"stopped by {stopped}: no half-written file is left\n  what to do: the same command again; what keeps "
            "finished steps (stress, study run, encode, …) goes on where it stopped",
            err=True,
        )
        sys.exit(stopped.exit_code)
    except UnseenError as error:
        say(f"error: {as_typed(str(error))}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        message = printable(f"error: a file could not be written or read: {error}")
        say(f"{message}\n  what to do: look at the space on the disk and at permissions", err=True)
        sys.exit(UnseenError.exit_code)
    except Exception as error:
        say(_unforeseen(error), err=True)
        sys.exit(UNFORESEEN)
