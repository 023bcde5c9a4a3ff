"""`unseen view`: runs looked at in a browser, reviewed, or written as a site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import notes_at_once, say
from unseen.cli.data_options import data_as_typed
from unseen.cli.options import Labels, NoBrowser, Port, Quiet, Seed, listed, only_given
from unseen.cli.served import own_name, serve_here
from unseen.errors import InputError

TEXTS = 100
"""Of a review, unless told."""


def view(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Run folders, or folders of them; with --review a CSV file too."),
    ],
    review: Annotated[
        bool,
        typer.Option("--review", help="Read texts one by one: is the label right? Of a forecast or a CSV file: which?"),
    ] = False,
    size: Annotated[int | None, typer.Option(help="Texts of a review of a run. (default: 100)")] = None,
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who reviews. (default: your name on this machine)")
    ] = None,
    fill: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of a CSV file: the column to be filled in. (default: label)")
    ] = None,
    labels: Labels = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Show texts that the run did not keep: its data is read again.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the pages as a site instead; a new folder.")
    ] = None,
    atlas: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the points as Parquet for Embedding Atlas instead.")
    ] = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
    seed: Seed = 42,
    quiet: Quiet = False,
) -> None:
    """Look at runs in a browser: report, map, texts, near-duplicates, failed cases, two runs side by side.

    The page is served to this machine alone, at an address with a secret in it; nothing is sent anywhere.

    Example: unseen view out
    """
    from unseen.viewer.opened import opened
    from unseen.viewer.tasks import Sheet, task_of

    if size is not None and size < 1:
        raise InputError("a review needs at least one text", got=f"--size {size}")
    of_file, of_run = only_given(fill=fill, labels=labels), only_given(size=size, reviewer=reviewer)
    idle = (of_run if runs[0].is_file() else of_file) if review else of_run | of_file
    if idle:
        without = f"on a review of {runs[0]}" if review else "without --review"
        raise InputError(f"--{', --'.join(idle)} has no effect {without}", fix="leave it out")
    if review and (len(runs) > 1 or export or atlas):
        raise InputError("a review is of one run or file, in a browser", fix="unseen view RUN --review")
    values, column = listed(labels) if labels else [], fill or "label"
    if review and runs[0].is_file():
        if not values:
            raise InputError(f"what may stand in the column {column!r} is not known", fix="--labels yes,no")
        serve_here([], Sheet(runs[0], column, values), port, no_browser, quiet)
        return
    with notes_at_once(quiet):
        shown = opened(runs, data_as_typed(runs[0]) if texts else None)
        if (texts or atlas) and len(shown) > 1:
            raise InputError(f"{'--texts' if texts else '--atlas'} is for one run", fix="name one run")
        if export is not None:
            from unseen.viewer.export import export_site

            say(f"site: {export_site(shown, export)}")
        if atlas is not None:
            from unseen.viewer.export import export_atlas

            say(f"points: {export_atlas(shown[0], atlas)}")
        if export is not None or atlas is not None:
            return
        task = task_of(shown[0], reviewer or own_name(), size or TEXTS, seed) if review else None
        serve_here(shown, task, port, no_browser, quiet)
