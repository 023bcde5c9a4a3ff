"""`unseen audit`: whether data, splits, pipelines and models are sound."""

import typer

from unseen.cli.audit import authors, bias, data, items, pipeline, price
from unseen.cli.listing import listing

app = typer.Typer(help="Look for leaks, price them, audit authors, texts, pipelines and bias.", no_args_is_help=True)
app.command("data")(data.audit_data)
app.command()(price.price)
app.command()(authors.authors)
app.command()(pipeline.pipeline)
app.command()(bias.bias)
app.add_typer(items.app, name="items")
app.command("ls")(listing("audit", "checks", "pipelines"))
