"""`unseen study`: many trainings, described in a file or by a list of datasets."""

import typer

from unseen.cli.study import forecast, run, schema, transfer

app = typer.Typer(
    help="Run a study file: a grid of experiments; transfer between datasets; or scores that nobody has measured.",
    no_args_is_help=True,
)
app.command()(run.run)
app.command()(transfer.transfer)
app.command()(forecast.forecast)
app.command()(schema.schema)
