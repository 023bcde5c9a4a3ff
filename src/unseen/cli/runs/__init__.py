"""`unseen runs`: what was run, looked at again."""

import typer

from unseen.cli.runs import compare, export, report, track

app = typer.Typer(help="Look at finished runs: report, compare, track, export.", no_args_is_help=True)
app.command()(report.report)
app.command()(compare.compare)
app.command()(track.track)
app.command()(export.export)
