"""The command line: one small file per command; parse, call a verb, print.

Exit codes: 0 done, 1 a gate or check failed, 2 wrong input or usage. Results go to stdout, progress and
notes to stderr.
"""

from __future__ import annotations

import sys
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


def main() -> None:
    """Run the command line; a mistake of the user is one message and exit code 2."""
    sys.path.append("")  # module:function of the user's own lies here; last, so that it hides nothing
    try:
        app()
    except UnseenError as error:
        say("\n".join(map(printable, f"error: {error}".split("\n"))), err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        said = printable(f"error: a file could not be written or read: {error}")
        say(f"{said}\n  what to do: look at the space on the disk and at permissions", err=True)
        sys.exit(UnseenError.exit_code)
