"""`unseen attack`: what people and programs can do to a model."""

import typer

from unseen.cli.attack import rate, run, session
from unseen.cli.listing import listing

app = typer.Typer(
    help="Change texts until the model errs, by programs or by people; which changes keep the label?",
    no_args_is_help=True,
)
app.command()(run.run)
app.command()(session.session)
app.command()(rate.rate)
app.command("ls")(listing("attack", "attacks"))
