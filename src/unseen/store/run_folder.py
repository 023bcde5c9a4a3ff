"""A run folder: one writer at a time, results of steps inside, and the files that people look for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import Timeout

from unseen.errors import InputError
from unseen.store.files import atomic, lock, read_json, write_json
from unseen.store.manifest import ABOUT, MADE, SEALED, manifest
from unseen.store.results import Results, key_of

RECORDS = ".steps"
OURS = {"run.json", RECORDS}
ARRAYS = {".npy", ".safetensors"}
PASSING = {
    "command", "typed", "versions", "host", "timings", "finished", "files", "gates", "run", "texts",
}  # fmt: skip
"""What run.json says that does not tell runs apart."""
WORK = (f"{RECORDS}/*/*/*", "predictions/*", "measurements.csv", "findings.csv")
"""What would be lost with a run that is not finished: results of steps, begun ones too, answers and numbers."""
DESCRIBED = {".npy", ".csv", ".parquet"}
"""Files that may have a description beside them."""


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
        identity = key_of("run", _lasting(about))
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


def _lasting(about: Any) -> Any:
    """What decides the numbers of a run: not when and by which words it was started, nor what is asked of it."""
    if isinstance(about, Mapping):
        return {str(name): _lasting(value) for name, value in about.items() if name not in PASSING}
    return about
