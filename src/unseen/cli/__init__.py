"""The command line: one small file per command; parse, call a verb, print.

Exit codes: 0 done, 1 a gate or check failed, 2 wrong input or usage, 70 a fault of unseen's own, 130 and 143 stopped
by a signal. Results go to stdout, progress and notes to stderr.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli import (
    analyse,
    audit,
    audit_pipeline,
    authors,
    bias,
    card,
    check,
    compare,
    corpus,
    data,
    demo,
    encode,
    export,
    holdout,
    items,
    ls,
    predict,
    price,
    repair,
    report,
    run,
    score,
    split,
    stress,
    suite,
    track,
    train,
    transfer,
)
from unseen.cli.console import printable, say
from unseen.cli.hints import PROGRAM, as_typed
from unseen.errors import UnseenError

app = typer.Typer(
    name="unseen",
    help="How will a text classifier do on what it has not seen? Hard test sets, with proof of what you got.",
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


app.command()(demo.demo)
app.command()(stress.stress)
app.command()(run.run)
app.command()(train.train)
app.command()(encode.encode)
app.command()(split.split)
app.command()(predict.predict)
app.command()(score.score)
app.command()(analyse.analyse)
app.command()(audit.audit)
app.command("audit-pipeline")(audit_pipeline.audit_pipeline)
app.command()(price.price)
app.command()(authors.authors)
app.command()(repair.repair)
app.command()(check.check)
app.command()(bias.bias)
app.command()(report.report)
app.command()(compare.compare)
app.command()(track.track)
app.command()(transfer.transfer)
app.command()(export.export)
suite.app.command("holdout")(holdout.holdout)
app.add_typer(suite.app, name="suite")
app.add_typer(items.app, name="items")
app.add_typer(data.app, name="data")
app.add_typer(card.app, name="card")
app.add_typer(corpus.app, name="corpus")
app.command()(ls.ls)
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

    A second signal ends at once. What was told to ignore a signal, such as a job of nohup, still does.
    """
    told = (signal.SIGINT, signal.SIGTERM)
    before = {each: handler for each in told if (handler := signal.getsignal(each)) not in (signal.SIG_IGN, None)}

    def stop(number: int, frame: object) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        raise _Stopped(number)

    try:
        for each in before:
            signal.signal(each, stop)
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _unforeseen(error: Exception) -> str:
    """What to say when unseen itself is at fault: never exit code 1, which means that a gate failed."""
    files = [word for word in sys.argv[1:] if not word.startswith("-") and Path(word).exists()]
    at = traceback.extract_tb(error.__traceback__)[-1]
    own = [each for each in traceback.extract_tb(error.__traceback__) if "unseen" in Path(each.filename).parts]
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
            app()
    except _Stopped as stopped:
        say(
            f"stopped by {stopped}: no half-written file is left\n  what to do: the same command again; what keeps "
            "finished steps (stress, run, encode, …) goes on where it stopped",
            err=True,
        )
        sys.exit(stopped.exit_code)
    except UnseenError as error:
        say(f"error: {as_typed(str(error))}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        said = printable(f"error: a file could not be written or read: {error}")
        say(f"{said}\n  what to do: look at the space on the disk and at permissions", err=True)
        sys.exit(UnseenError.exit_code)
    except Exception as error:
        say(_unforeseen(error), err=True)
        sys.exit(UNFORESEEN)
