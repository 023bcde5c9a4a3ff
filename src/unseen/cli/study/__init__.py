"""`unseen study`: many trainings, described in a file or by a list of datasets."""

import typer

from unseen.cli.study import run, transfer

app = typer.Typer(help="Run a study file: a grid of experiments; or transfer between datasets.", no_args_is_help=True)
app.command()(run.run)
app.command()(transfer.transfer)
