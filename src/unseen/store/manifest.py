"""What a finished run wrote: hashes of its files, so that damage and edits are seen when it is read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.store.files import holds, read_json, sha256_of

ABOUT = "run.json"
SEALED = (
    "measurements.csv", "findings.csv", "properties.csv", "leaks.csv", "clusters.json", "map.parquet",
    "maps/*.parquet", "splits/*.json", "splits/*.csv", "predictions/*",
)  # fmt: skip
"""Files that numbers and sentences come from. What is made from them, such as pages, may be made again."""

MADE = (
    "run.json", "report.html", "actions.csv", "suspects.csv", "examples.json", "texts.parquet", "card.md",
    "croissant.json", "reforms.md", ".cards.json", "tables/*", "vectors/*", "models/*",
)  # fmt: skip
"""What else a run puts into its folder."""


def manifest(folder: Path) -> dict[str, str]:
    """The hash of every such file in a run folder, by its path in it."""
    paths = sorted(path for pattern in SEALED for path in folder.glob(pattern) if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}


def about_of(folder: str | Path) -> dict[str, Any]:
    """run.json of any run; a folder without one, or with a damaged one, is refused with the way out."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"there is no run folder {folder}", fix=way_out(folder))
    if not (folder / ABOUT).is_file():
        raise InputError(f"{folder} is not the folder of a run", problems=[f"{ABOUT} is missing"], fix=way_out(folder))
    try:
        return read_json(folder / ABOUT)
    except InputError as cause:
        damaged = f"files of the run folder {folder} are damaged"
        raise InputError(damaged, problems=[cause.message], fix=way_out(folder)) from cause


def way_out(folder: Path) -> str:
    """What to do about a run folder that cannot be read: its command, for the folder where it lies now."""
    about = folder / ABOUT
    if not about.is_file():
        return "name the folder of a run: what was given as -o to the command that made it"
    if not holds(about, set()):
        return f"remove {about} and run the command that made it again with -o {folder}: finished steps are used again"
    command = str(read_json(about).get("command") or "the one that made it")
    again = with_option(command, "--out", "-o", value=str(folder)) or command
    return f"run its command again, it goes on where it stopped: {again}"


def read_about(folder: str | Path) -> dict[str, Any]:
    """run.json of a finished run whose files are as it left them; anything else is refused."""
    folder = Path(folder)
    about = about_of(folder)
    if about.get("finished", "") is None:
        raise InputError(f"the run in {folder} is not finished", fix=way_out(folder))
    written = about.get("files", {})
    if not isinstance(written, Mapping):
        raise InputError(f"{folder / ABOUT} does not say which files the run wrote", fix=way_out(folder))
    damages = [_damage(folder / str(name), str(name), digest) for name, digest in written.items()]
    problems = [damage for damage in damages if damage]
    if problems:
        raise InputError(f"files of the run folder {folder} are damaged", problems=problems, fix=way_out(folder))
    return about


def _damage(path: Path, name: str, digest: object) -> str | None:
    if not path.is_file():
        return f"{name} is missing"
    return None if sha256_of(path) == digest else f"{name} was changed after the run"


def with_option(command: str, *names: str, value: str) -> str | None:
    """The command with another value of an option, under the last of its names; None where it is none of ours.

    >>> with_option("unseen stress 'my posts.csv' --out=a --seeds 42", "--out", "-o", value="b c")
    "unseen stress 'my posts.csv' --seeds 42 -o 'b c'"
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words[:1] != ["unseen"]:
        return None
    before = ["", *words]
    kept = [
        word
        for word, last in zip(words, before, strict=False)
        if last not in names and word not in names and not word.startswith(tuple(f"{name}=" for name in names))
    ]
    return shlex.join([*kept, names[-1], value])
