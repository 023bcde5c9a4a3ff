"""A run folder: one writer at a time, results of steps inside, and the files that people look for.

A finished run says what it wrote: hashes of its files, so that damage and edits are seen when it is read.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import Timeout

from unseen.errors import InputError
from unseen.store.files import atomic, holds, lock, read_json, sha256_of, write_json
from unseen.store.results import Results, key_of

ABOUT = "run.json"
SEALED = (
    "measurements.csv", "findings.csv", "properties.csv", "leaks.csv", "leaks.parquet", "clusters.json",
    "map.parquet", "maps/*.parquet", "splits/*.json", "splits/*.csv", "predictions/*",
)  # fmt: skip
"""Files that numbers and sentences come from. What is made from them, such as pages, may be made again."""

MADE = (
    "run.json", "report.html", "actions.csv", "suspects.csv", "examples.json", "texts.parquet", "card.md",
    "croissant.json", "reforms.md", ".cards.json", "tables/*", "vectors/*", "models/*",
)  # fmt: skip
"""What else a run puts into its folder."""
RECORDS = ".steps"
OURS = {"run.json", RECORDS}
ARRAYS = {".npy", ".safetensors"}
OUTCOME = "outcome"
"""What of run.json came of the work, by name."""
PASSING = {
    "command", "typed", "versions", "host", "timings", "finished", "files", "gates", "run", "texts", OUTCOME,
}  # fmt: skip
"""What run.json says that does not tell runs apart."""
WORK = (f"{RECORDS}/*/*/*", "predictions/*", "measurements.csv", "findings.csv")
"""What would be lost with a run that is not finished: results of steps, begun ones too, answers and numbers."""
DESCRIBED = {".npy", ".csv", ".parquet"}
"""Files that may have a description beside them."""


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


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep the folder for this process; refuse one that another process writes to, or that is not a run's."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            present = {path.name for path in self.path.iterdir()}
            if present and not present & OURS:
                raise InputError(
                    f"{self.path} holds other things than a run", fix="name another folder, or an empty one"
                )
            (self.path / RECORDS).mkdir(exist_ok=True)
            held = lock(self.path / RECORDS / "lock", wait=False).acquire()
        except Timeout as cause:
            raise InputError(
                f"another run is writing to {self.path}", fix="wait for its end, or name another folder"
            ) from cause
        except OSError as cause:
            raise InputError(
                f"cannot write to {self.path}: {cause.strerror}", fix="name a folder you may write to"
            ) from cause
        with held:
            yield

    def begin(self, about: Mapping[str, Any], replace: bool | None = None) -> None:
        """Say which run this folder holds from now on.

        A folder belongs to one run: the same one goes on. Another one is refused, or with `replace` takes its place;
        the files that the old one wrote are removed, finished steps are used again. A run that came to nothing, such as
        one with a mistyped label, stands in nobody's way. None: whoever asks cannot say `replace`.
        """
        identity = key_of("run", lasting(about))
        old = read_json(self / ABOUT) if (self / ABOUT).exists() else {}
        if old.get("run", identity) != identity:
            kept = old.get("finished") or any(True for pattern in WORK for _ in self.path.glob(pattern))
            if kept and not replace:
                raise OtherRunError(self.path, old, replaceable=replace is not None)
            for path in [path for pattern in (*SEALED, *MADE) for path in self.path.glob(pattern)]:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        write_json(self / ABOUT, {**about, "run": identity, "finished": None})

    def finish(self, about: Mapping[str, Any]) -> None:
        """Say that the run is finished, and what its files are."""
        identity = read_json(self / ABOUT)["run"]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        write_json(self / ABOUT, {**about, "finished": now, "run": identity, "files": manifest(self.path)})

    @property
    def results(self) -> Results:
        """The results of the steps of this run."""
        return Results(self.path / RECORDS)

    def publish(self, key: str, file: str, name: str) -> None:
        """Put a file, or a folder of files, of a step's result where people look for it."""
        result = self.results.folder(key) / file
        if result.is_dir():
            shutil.rmtree(self / name, ignore_errors=True)
            for path in (path for path in result.rglob("*") if path.is_file()):
                self.place(path, f"{name}/{path.relative_to(result).as_posix()}")
        elif result.exists():
            self.place(result, name)
            twin = result.with_suffix(".json")
            if result.suffix in DESCRIBED and twin.exists():
                self.place(twin, str(Path(name).with_suffix(".json")))

    def place(self, file: Path, name: str) -> None:
        """Put a file where people look for it: arrays are linked where the file system can, what people may edit is
        copied.
        """
        with atomic(self / name) as temporary:
            if file.suffix in ARRAYS:
                temporary.unlink()
                with suppress(OSError):
                    os.link(file, temporary)
                    return
            shutil.copyfile(file, temporary)


class OtherRunError(InputError):
    """A folder holds another run."""

    def __init__(self, folder: Path, about: Mapping[str, Any], replaceable: bool = True) -> None:
        more = "; replace=True (--replace) takes its place, and uses finished trainings again"
        super().__init__(
            f"{folder} holds another run, with other settings or data",
            got=f"{about.get('command', 'a run')}, {about.get('finished') or 'not finished'}",
            fix="name another folder, or remove this one" + (more if replaceable else ""),
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (InputError, (str(self),))


def lasting(about: Any) -> Any:
    """What decides the numbers of a run: not when and by which words it was started, nor what is asked of it."""
    if isinstance(about, Mapping):
        return {str(name): lasting(value) for name, value in about.items() if name not in PASSING}
    return about
