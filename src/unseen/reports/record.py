"""A run folder of any kind, read: what was set, split, measured and found."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from unseen.errors import InputError, UnseenError
from unseen.store import read_findings, read_json, read_measurements, read_split
from unseen.store.manifest import ABOUT, read_about, way_out
from unseen.types import Finding, Measurement

DEFAULT_METRIC = "f1.macro"
REQUIRED = ("run.json", "measurements.csv", "findings.csv")
"""What every run writes."""
REQUIRED_OF = {"stress": ("properties.csv", "splits/*.json"), "study": ("properties.csv",)}
"""What the page of a kind is made of besides."""
MEAN = ("mean", None)
"""What the tag `seed` is of a number over all trainings."""
Read = TypeVar("Read")


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


@dataclass(frozen=True, eq=False)
class RunRecord:
    """What a run of any kind says. A run that was not written anywhere has no folder."""

    about: Mapping[str, Any]
    """run.json as it is."""
    measurements: Sequence[Measurement]
    findings: Sequence[Finding] = ()
    folder: Path | None = None
    splits: Mapping[str, SplitFile] = field(default_factory=dict)
    """By name; their rows are read only when they are asked for."""

    @property
    def place(self) -> Path:
        """The folder of a run that was written."""
        assert self.folder is not None, "this run was not written anywhere"
        return self.folder

    @property
    def kind(self) -> str:
        """Which sort of run it is."""
        return str(self.about.get("kind", ""))

    @property
    def metric(self) -> str:
        """Id of the main metric."""
        return str(_table(self.about, "settings").get("metric") or self.about.get("metric") or DEFAULT_METRIC)

    @property
    def settings(self) -> dict[str, str]:
        """Settings by dotted name, as text; without those that are not set. Those of a study file are in `file`."""
        named = {"model": self.about.get("model")} | _table(self.about, "settings")
        if isinstance(file := named.get("file"), str):
            named["file"] = _study_file(file)
        named["models"] = _table(self.about, "models")
        return {name: value for name, value in flattened(named).items() if value}

    @property
    def versions(self) -> dict[str, str]:
        """Version of each package that was used."""
        return {str(name): str(version) for name, version in _table(self.about, "versions").items()}

    @property
    def data(self) -> dict[str, dict[str, Any]]:
        """What run.json says of each dataset, by its name."""
        several, one = _table(self.about, "datasets"), _table(self.about, "data")
        if "fingerprint" in one:
            return {str(one.get("name", "data")): dict(one)}
        return {str(name): dict(data) for name, data in (several or one).items() if isinstance(data, Mapping)}

    @property
    def seconds(self) -> float:
        """What all steps took, one after the other."""
        return sum(float(step["seconds"]) for step in self.about.get("timings") or ())

    @cached_property
    def _index(self) -> dict[tuple[str, str], list[Measurement]]:
        index: dict[tuple[str, str], list[Measurement]] = {}
        for row in self.measurements:
            index.setdefault((row.metric, row.slice), []).append(row)
        return index

    def rows(self, metric: str, slice: str = "all", /, **tags: Any) -> Iterator[Measurement]:
        """The measurements with these tags: a value, several that may be, or None for a tag that must be absent."""
        for row in self._index.get((metric, slice), ()):
            if all(_matches(row.tags.get(name), value) for name, value in tags.items()):
                yield row

    def row(self, metric: str, slice: str = "all", /, **tags: Any) -> Measurement | None:
        """The first of them; None when it was not measured."""
        return next(self.rows(metric, slice, **tags), None)

    def value(self, metric: str, slice: str = "all", /, **tags: Any) -> float | None:
        """The number alone."""
        row = self.row(metric, slice, **tags)
        return None if row is None else row.value


def read_record(folder: str | Path, kind: str | None = None) -> RunRecord:
    """The finished run in `folder`; refuses one of another kind. What is missing or damaged is named in one error."""
    folder, problems = Path(folder), list[str]()
    if not folder.is_dir():
        raise InputError(f"there is no run folder {folder}", fix=way_out(folder))
    about = tried(read_json, folder / ABOUT, problems, optional=True)
    if about is not None and kind is not None and about.get("kind") != kind:
        raise InputError(
            f"{folder} does not hold a run of the kind {kind}", got=str(about.get("kind") or "another"),
            fix=f"unseen runs report {folder} writes the page of a run of any kind",
        )  # fmt: skip
    patterns = [*REQUIRED, *REQUIRED_OF.get(kind or str((about or {}).get("kind", "")), ())]
    missing = [f"{pattern} is missing" for pattern in patterns if not any(folder.glob(pattern))]
    if missing:
        whole = "a whole run folder" if (folder / ABOUT).is_file() else "the folder of a run"
        raise InputError(f"{folder} is not {whole}", problems=[*missing, *problems], fix=way_out(folder))
    if about is not None:
        about = read_about(folder)
    measurements = tried(read_measurements, folder / "measurements.csv", problems)
    findings = tried(read_findings, folder / "findings.csv", problems)
    splits = tried(lambda path: _splits(path, (about or {}).get("splits")), folder / "splits", problems)
    if problems or about is None:
        raise InputError(f"files of the run folder {folder} are damaged", problems=problems, fix=way_out(folder))
    return RunRecord(about, tuple(measurements or ()), tuple(findings or ()), folder, splits or {})


def tried(read: Callable[[Path], Read], path: Path, problems: list[str], optional: bool = False) -> Read | None:
    """What `read` makes of a file; None when it may be absent and is, or when what went wrong joined `problems`."""
    if optional and not path.exists():
        return None
    try:
        return read(path)
    except UnseenError as cause:
        problems.append("; ".join([cause.message, *cause.problems[:3]]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as cause:
        problems.append(f"{path}: {type(cause).__name__}: {cause}")
    return None


def flattened(settings: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Nested settings as one level of text.

    >>> flattened({"test": 0.1, "recipe": {"epochs": 3}, "seeds": [1, 2], "groups": None})
    {'test': '0.1', 'recipe.epochs': '3', 'seeds': '1, 2', 'groups': ''}
    """
    texts: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            texts |= flattened(value, f"{before}{name}.")
        elif isinstance(value, list | tuple):
            texts[f"{before}{name}"] = ", ".join(map(str, value))
        else:
            texts[f"{before}{name}"] = "" if value is None else str(value)
    return texts


def _matches(tag: Any, value: Any) -> bool:
    if isinstance(value, tuple):
        return tag in value
    return tag is None if value is None else str(tag) == str(value)


def _study_file(text: str) -> dict[str, Any] | str:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text


def _table(about: Mapping[str, Any], name: str) -> dict[str, Any]:
    content = about.get(name)
    return dict(content) if isinstance(content, Mapping) else {}


def _splits(folder: Path, named: Any) -> dict[str, SplitFile]:
    """Those of the run; a folder may hold those of earlier settings too."""
    names = {str(name) for name in named} if isinstance(named, dict | list) else set()
    paths = sorted(folder.glob("*.json"))
    certificates = {path: read_json(path) for path in ([path for path in paths if path.stem in names] or paths)}
    return {
        str(certificate.get("name", path.stem)): SplitFile(
            path.with_suffix(".csv"), str(certificate.get("csv_sha256", "")), str(certificate.get("dataset", ""))
        )
        for path, certificate in certificates.items()
    }
