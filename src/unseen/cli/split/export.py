"""`unseen split export`: a split in the form another tool reads."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import Json, Parts, Quiet, Splits, needed_split
from unseen.errors import InputError, UnknownNameError

FORMS = ("indices", "hf", "hub")


@takes_data
def export(
    data: Any,
    form: Annotated[
        str,
        typer.Option(
            "--format", help="indices (one .npy per part), hf (a DatasetDict, with texts) or hub (a dataset folder)."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to; must not exist, or be empty.")],
    split: Splits = None,
    parts: Parts = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Of the form hub: texts and all columns, not ids alone.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Export a split as index arrays or a Hugging Face DatasetDict, or splits as configurations of a dataset folder.

    In the form hub, rows are named by their id, so that the folder may be public where the texts may not.

    Example: unseen split export posts.csv --split hard.csv --text text --label label --format hf -o hard-dataset/
    """
    from unseen.store.hub_datasets import write_hub_dataset

    if form not in FORMS:
        raise UnknownNameError.of("form", form, FORMS)
    if form != "hub" and (texts or len(split or ()) > 1):
        raise InputError(f"--texts and several splits have no effect on --format {form}", fix="--format hub")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already", fix="name another folder")
    with notes(quiet):
        files: list[str | None] = [*split] if split else [None]
        parted = [needed_split(data, file, parts) for file in files]
        with _whole(out) as folder:
            if form == "hub":
                write_hub_dataset(data, {one.name: one for one in parted}, folder, texts)
            else:
                _write(data, parted[0], form, folder, quiet)
    if as_json:
        sizes = {one.name: one.sizes for one in parted} if form == "hub" else parted[0].sizes
        print_json({"folder": out, "form": form, "sizes": sizes})
        return
    for one in parted:
        name = f"{out} {one.name}" if form == "hub" else str(out)
        say(f"{name}: " + ", ".join(f"{part} {count:,}" for part, count in one.sizes.items()))


def _write(data: Any, split: Any, form: str, folder: Path, quiet: bool) -> None:
    import numpy as np

    from unseen.store import to_dataset_dict, to_indices

    if form == "hf":
        with _bars_of_datasets(quiet):
            to_dataset_dict(data, split).save_to_disk(str(folder))
        return
    for part, rows in to_indices(split.of(data)).items():
        np.save(folder / f"{part}.npy", rows)


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends without an error."""
    folder = folder.absolute()
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
    try:
        temporary.mkdir(parents=True)
    except OSError as cause:
        raise InputError(f"cannot write {folder}: {cause.strerror}", fix="name a folder you may write to") from cause
    try:
        yield temporary
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _bars_of_datasets(quiet: bool) -> Iterator[None]:
    """The progress bars of the package datasets, or none when `quiet`."""
    try:
        from datasets import disable_progress_bars, enable_progress_bars
    except ImportError:  # to_dataset_dict says what is missing
        quiet = False
    if quiet:
        disable_progress_bars()
    try:
        yield
    finally:
        if quiet:
            enable_progress_bars()
