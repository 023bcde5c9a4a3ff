"""`unseen runs`: what was run, looked at again."""

import typer

from unseen.cli.runs import compare, report, track

app = typer.Typer(help="Look at finished runs: report, compare, track.", no_args_is_help=True)
app.command()(report.report)
app.command()(compare.compare)
app.command()(track.track)
