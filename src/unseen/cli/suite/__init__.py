"""`unseen suite`: suites of test cases."""

import typer

from unseen.cli.listing import listing
from unseen.cli.suite import cases, holdout, sample

app = typer.Typer(
    help="Build, perturb, count and validate suites of test cases; learn from them.", no_args_is_help=True
)
app.command()(cases.build)
app.command()(cases.perturb)
app.command()(cases.stats)
app.command()(cases.validate)
app.command()(sample.sample)
app.command()(holdout.holdout)
app.command("ls")(listing("suite", "perturbations"))
