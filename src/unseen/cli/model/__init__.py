"""`unseen model`: train, ask, encode and score."""

import typer

from unseen.cli.listing import listing
from unseen.cli.model import encode, predict, score, train

app = typer.Typer(help="Train a model, ask it, encode texts, score predictions.", no_args_is_help=True)
app.command()(train.train)
app.command()(predict.predict)
app.command()(score.score)
app.command()(encode.encode)
app.command("ls")(listing("model", "recipes", "encoders", "metrics", "explainers"))
