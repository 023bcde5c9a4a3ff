"""`unseen suite sample`: failed cases as training material, with a warning."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import notes, print_json, print_table, say
from unseen.cli.options import Columns, DataDir, Ignore, Json, Quiet, Seed, Suite, pairs


def sample(
    failures: Annotated[Path, typer.Argument(help="failures.csv of 'unseen check'.")],
    suite: Suite,
    limit: Annotated[int, typer.Option("-n", "--limit", help="At most so many cases of each functionality.")] = 10,
    model: Annotated[
        str | None, typer.Option(help="Whose failures, as 'unseen check' calls it; needed where there are several.")
    ] = None,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File for the cases (.csv); NAME.json beside it tells how.")
    ] = Path("training.csv"),
    column: Columns = None,
    ignore: Ignore = None,
    data_dir: DataDir = None,
    seed: Seed = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw cases that a model failed as training material: it will pass them, and may learn nothing else.

    Example: unseen suite sample behaviour/failures.csv --suite cases.csv -n 5 -o training.csv
    """
    from unseen.functional.tables import formulas, load_suite, refuse_foreign
    from unseen.functional.training_cases import (
        SAMPLE_KEYS,
        WARNING,
        read_failures,
        sample_failures,
        write_training_cases,
    )

    refuse_foreign(out, SAMPLE_KEYS)
    with notes(quiet):
        cases = load_suite(suite, columns=pairs(column, "--column"), ignore=ignore or (), data_dir=data_dir)
        drawn = sample_failures(cases, read_failures(failures), limit, model=model, seed=seed)
    about = {"failures": failures.name, "suite_fingerprint": cases.fingerprint, "model": model, "number": limit}
    write_training_cases(drawn, out, about | {"seed": seed})
    if not quiet:
        say(f"warning: {WARNING}", err=True)
        if n := formulas(drawn):
            say(f"note: {n} texts begin like a formula: import {out} into a spreadsheet as text", err=True)
    counts = Counter(drawn.attribute("functionality").to_pylist())
    if as_json:
        print_json({"out": out, "cases": len(drawn), "functionalities": counts, "warning": WARNING})
        return
    print_table([["functionality", "cases"], *([name, f"{n:,}"] for name, n in counts.items())], numbers_from=1)
    say(f"{out}: {len(drawn):,} cases")
