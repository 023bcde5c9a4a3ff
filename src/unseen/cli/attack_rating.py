"""`unseen attack rate`: people who did not make them rate changed texts, blind; and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import notes, notes_at_once, print_json, print_table, say
from unseen.cli.options import Json, NoBrowser, Port, Quiet, Seed, Simulated, out_option
from unseen.cli.served import own_name, serve_here
from unseen.errors import InputError


def rate(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER...", help="Sessions and runs of attacks, mixed; or the folder of their sheet."),
    ],
    out: Annotated[Path | None, out_option("Folder of the sheet, its key and the ratings. (default: FOLDER)")] = None,
    rater: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who rates; a hash is kept. (default: your name here)")
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", help="Texts of a new sheet, of every kind alike.")] = 100,
    results: Annotated[bool, typer.Option("--results", help="Print what came of the ratings.")] = False,
    as_json: Json = False,
    simulated: Simulated = False,
    port: Port = 0,
    no_browser: NoBrowser = False,
    seed: Seed = 42,
    quiet: Quiet = False,
) -> None:
    """Rate changed texts without knowing who changed them: whether the label is kept, how they read, who it was.

    The sheet is made once, with an order drawn with the seed; the same command lets others rate it too.
    With --results, or --json, what came of it: attacks that people accept, ratings by mode, agreement of raters.

    Example: unseen attack rate session attacked -o ratings
    """
    from unseen.attacks.rating_sheet import KEY, RATED, attacked_texts, read_key, read_ratings, write_sheet

    if limit < 1:
        raise InputError("a sheet needs at least one text", got=f"--limit {limit}")
    if out is None and len(folders) > 1:
        raise InputError("where the sheet of several folders lies is not said", fix="-o FOLDER")
    folder = out or folders[0]
    if not (folder / KEY).exists():
        with notes(quiet):
            sheet = write_sheet(folder, attacked_texts(folders), limit, seed)
        if not quiet:
            say(f"sheet: {sheet}", err=True)
    if not (results or as_json):
        from unseen.viewer.rating_task import RatingTask

        with notes_at_once(quiet):
            serve_here([], RatingTask(folder, rater or own_name(), simulated), port, no_browser, quiet)
        return
    from unseen.attacks.ratings import GRAMMAR, notice, rating_measurements
    from unseen.types.numbers import bounds, number

    with notes(quiet):
        attacked, ratings = read_key(folder), read_ratings(folder / RATED)
    warning, rows = notice(attacked, ratings), rating_measurements(attacked, ratings, seed=seed)
    raters = len({one.rater for one in ratings})
    if as_json:
        content = [{"metric": row.metric, "value": row.value, "n": row.n, "low": row.low, "high": row.high, **row.tags}
                   for row in rows]  # fmt: skip
        print_json({"simulated": bool(warning), "notice": warning, "raters": raters, "measurements": content})
        return
    lines = [["metric", "of", "attack", "value", "interval", "n"]]
    for row in rows:
        of = " ".join(str(row.tags[name]) for name in ("mode", "question", "rated_by", "source") if name in row.tags)
        lines.append([row.metric, of, str(row.tags.get("attack", "")), number(row.value), bounds(row), str(row.n)])
    if warning:
        say(warning)
    print_table(lines, numbers_from=3)
    rule = f"a flip is a rated success where most say that the label is kept, and grammar is {GRAMMAR:g} on average"
    say(f"{raters} {'rater' if raters == 1 else 'raters'}; {rule}")
    if warning:
        say(warning)
