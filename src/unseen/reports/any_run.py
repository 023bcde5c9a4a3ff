"""A run folder of any kind, as far as comparing and tracking need it: what was set, split and measured."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.errors import InputError, UnseenError
from unseen.reports.run import DEFAULT_METRIC
from unseen.store import read_json, read_measurements, read_split
from unseen.store.manifest import read_about
from unseen.types import Measurement

REQUIRED = ("run.json", "measurements.csv")


@dataclass(frozen=True)
class SplitFile:
    """A split as it lies in the folder."""

    path: Path
    sha256: str
    data: str
    """Fingerprint of the data that was split."""

    def ids(self, part: str) -> frozenset[str]:
        """Ids of the rows in one part."""
        split = read_split(self.path)
        return frozenset(split.ids.take(split.rows(part)).to_pylist())


@dataclass(frozen=True)
class AnyRun:
    """The folder of a stress run or of a study. Its splits are read only when their rows are asked for."""

    folder: Path
    about: Mapping[str, Any]
    """run.json as it is."""
    measurements: tuple[Measurement, ...]
    splits: Mapping[str, SplitFile]
    """By name."""

    @property
    def metric(self) -> str:
        """Id of the main metric."""
        return str(_dict(self.about, "settings").get("metric") or self.about.get("metric") or DEFAULT_METRIC)

    @property
    def settings(self) -> dict[str, str]:
        """Settings by dotted name, as text; without those that are not set. Those of a study file are in `file`."""
        named = {"model": self.about.get("model")} | _dict(self.about, "settings")
        if isinstance(file := named.get("file"), str):
            named["file"] = _study_file(file)
        named["models"] = _dict(self.about, "models")
        return {name: value for name, value in flattened(named).items() if value}

    @property
    def versions(self) -> dict[str, str]:
        """Version of each package that was used."""
        return {str(name): str(version) for name, version in _dict(self.about, "versions").items()}

    @property
    def data(self) -> dict[str, dict[str, Any]]:
        """What run.json says of each dataset, by its name."""
        several, one = _dict(self.about, "datasets"), _dict(self.about, "data")
        if "fingerprint" in one:
            return {str(one.get("name", "data")): dict(one)}
        return {str(name): dict(said) for name, said in (several or one).items() if isinstance(said, Mapping)}


def read_any_run(folder: str | Path) -> AnyRun:
    """The run in `folder`, finished or not; what is missing or damaged is named in one error."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"there is no run folder {folder}", fix="name a folder that unseen stress or unseen run wrote")
    problems = [f"{name} is missing" for name in REQUIRED if not (folder / name).is_file()]
    if problems:
        raise InputError(
            f"{folder} is not a whole run folder",
            problems=problems,
            fix="run the command that made it again: it goes on where it stopped",
        )
    try:
        about = read_about(folder)
        measured = read_measurements(folder / "measurements.csv")
        splits = _splits(folder / "splits", about.get("splits"))
    except UnseenError as cause:
        raise InputError(
            f"files of the run folder {folder} are damaged", problems=[cause.message, *cause.problems]
        ) from cause
    return AnyRun(folder, about, tuple(measured), splits)


def flattened(settings: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Nested settings as one level of text.

    >>> flattened({"test": 0.1, "recipe": {"epochs": 3}, "seeds": [1, 2], "groups": None})
    {'test': '0.1', 'recipe.epochs': '3', 'seeds': '1, 2', 'groups': ''}
    """
    found: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= flattened(value, f"{before}{name}.")
        elif isinstance(value, list | tuple):
            found[f"{before}{name}"] = ", ".join(map(str, value))
        else:
            found[f"{before}{name}"] = "" if value is None else str(value)
    return found


def _study_file(text: str) -> dict[str, Any] | str:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text


def _dict(about: Mapping[str, Any], name: str) -> dict[str, Any]:
    content = about.get(name)
    return dict(content) if isinstance(content, Mapping) else {}


def _splits(folder: Path, named: Any) -> dict[str, SplitFile]:
    """Those of the run; a folder may hold those of earlier settings too."""
    names = {str(name) for name in named} if isinstance(named, dict | list) else set()
    paths = sorted(folder.glob("*.json"))
    ours = [path for path in paths if path.stem in names] or paths
    found = {path: read_json(path) for path in ours}
    return {
        str(said.get("name", path.stem)): SplitFile(
            path.with_suffix(".csv"), str(said.get("csv_sha256", "")), str(said.get("dataset", ""))
        )
        for path, said in found.items()
    }
