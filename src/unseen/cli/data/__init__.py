"""`unseen data`: known datasets, dataset cards, large corpora."""

import typer

from unseen.cli.data import card, corpus, datasets

app = typer.Typer(help="Find and fetch known datasets, document a dataset, encode large corpora.", no_args_is_help=True)
app.command("ls")(datasets.list_cards)
app.command("fetch")(datasets.fetch_card)
app.command("show")(datasets.show_card)
app.add_typer(card.app, name="card")
app.add_typer(corpus.app, name="corpus")
