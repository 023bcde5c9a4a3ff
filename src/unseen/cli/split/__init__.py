"""`unseen split`: make, describe, repair and export splits."""

import typer

from unseen.cli.listing import listing
from unseen.cli.split import describe, export, make, repair

app = typer.Typer(help="Make, describe, repair and export splits.", no_args_is_help=True)
app.command()(make.make)
app.command()(describe.describe)
app.command()(repair.repair)
app.command()(export.export)
app.command("ls")(listing("split", "splitters"))
