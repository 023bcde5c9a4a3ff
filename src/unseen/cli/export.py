"""`unseen export`: a split in the form another tool reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.cli.console import Json, Quiet, notes, print_json
from unseen.cli.source import takes_data
from unseen.errors import InputError, UnknownNameError

FORMS = ("indices", "hf")


@takes_data
def export(
    data: Any,
    split: Annotated[str, typer.Argument(help="A split file.")],
    form: Annotated[str, typer.Option("--as", help="indices (one .npy per part) or hf (a DatasetDict, with texts).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to; must not exist, or be empty.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Export a split as index arrays or as a Hugging Face DatasetDict.

    Example: unseen export posts.csv hard.csv --text text --label label --as hf -o hard-dataset/
    """
    import numpy as np

    from unseen.store import atomic, to_dataset_dict, to_indices

    if form not in FORMS:
        raise UnknownNameError.of("form", form, FORMS)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already", fix="name another folder")
    with notes(quiet):
        found = read_any_split(split, data)
        if form == "hf":
            to_dataset_dict(data, found).save_to_disk(str(out))
        else:
            for part, rows in to_indices(found.of(data)).items():
                with atomic(out / f"{part}.npy") as temporary, temporary.open("wb") as file:
                    np.save(file, rows)
    if as_json:
        print_json({"folder": out, "form": form, "sizes": found.sizes})
    else:
        typer.echo(f"{out}: " + ", ".join(f"{part} {count:,}" for part, count in found.sizes.items()))
