"""A run folder of any kind, read: what was set, split, measured and found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from unseen.errors import InputError, UnseenError
from unseen.evaluation.wording import higher_is_better
from unseen.registry import VERSION
from unseen.store import read_findings, read_json, read_measurements, read_split
from unseen.store.files import door, origin_from, parsed_toml
from unseen.store.run_folder import ABOUT, OUTCOME, lasting, read_about, way_out
from unseen.types import PARTS, Certificate, Finding, Measurement, Origin

BASELINE = "random"
"""The family of splits that every other one is compared with."""
DEFAULT_METRIC = "f1.macro"
REQUIRED = ("run.json", "measurements.csv", "findings.csv")
"""What every run writes."""
REQUIRED_OF = {"stress": ("properties.csv", "splits/*.json"), "study": ("properties.csv",)}
"""What the page of a kind is made of besides."""
SAID_AT_THE_END = ("settings", "data", "datasets", "models")
"""What decides a run and is known only after its work where a run may grow, as a study may."""
SHOWN_APART = ("kind", "settings", "splits", "fingerprints")
"""What decides a run and is no setting of it, or stands elsewhere too."""
DESCRIBES_DATA = ("name", "rows", "label_names", "counts", "fingerprint")
"""What run.json says of any data; the fingerprint says all of it."""
MEAN = ("mean", None)
"""What the tag `seed` is of a number over all trainings."""
Read = TypeVar("Read")


@dataclass(frozen=True)
class SplitFile:
    """A split as it lies in the folder; its rows are read only when they are asked for."""

    name: str
    family: str
    sizes: Mapping[str, int]
    certificate: Certificate
    origin: Origin
    data: str = ""
    """Fingerprint of the data that was split."""
    sha256: str = ""
    path: Path = Path()

    @property
    def method(self) -> str:
        """Name of the splitter without its version."""
        return VERSION.sub("", self.origin.step)

    def ids(self, part: str) -> frozenset[str]:
        """Ids of the rows in one part."""
        split = read_split(self.path)
        return frozenset(split.ids.take(split.rows(part)).to_pylist())


@dataclass(frozen=True)
class Cluster:
    """A region of the latent space, as one split cut it."""

    split: str
    cluster: int
    size: int
    test: int
    labels: Mapping[str, int]
    words: tuple[str, ...]
    examples: tuple[str, ...]

    @property
    def share_tested(self) -> float:
        """Share of its rows that are in the test part."""
        return self.test / max(1, self.size)


@dataclass(frozen=True, eq=False)
class LatentMap:
    """Two coordinates, the label and the part in every split, for each row."""

    ids: pa.ChunkedArray
    points: npt.NDArray[np.float64]
    labels: npt.NDArray[np.str_]
    parts: Mapping[str, npt.NDArray[np.str_]]


@dataclass(frozen=True, eq=False)
class RunRecord:
    """What a run of any kind says. A run that was not written anywhere has no folder."""

    about: Mapping[str, Any]
    """run.json as it is."""
    measurements: Sequence[Measurement]
    findings: Sequence[Finding] = ()
    folder: Path | None = None
    splits: Mapping[str, SplitFile] = field(default_factory=dict)
    """By name, random ones first."""
    properties: Sequence[Measurement] = ()
    """What the splits are like."""
    maps: Mapping[str, LatentMap] = field(default_factory=dict)
    """By the name of the space; that of a run with one space is called `map`."""
    clusters: Sequence[Cluster] = ()
    examples: Mapping[str, str] = field(default_factory=dict)
    """Texts by id, where the run was asked for some."""

    @property
    def place(self) -> Path:
        """The folder of a run that was written."""
        assert self.folder is not None, "this run was not written anywhere"
        return self.folder

    def file(self, name: str) -> Path | None:
        """A file or folder of the run; None where it is not there, or where nothing was written."""
        path = None if self.folder is None else self.folder / name
        return path if path is not None and path.exists() else None

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
        """All that decided the run but its data and splits, by dotted name, as text; without what is not set.

        Settings of a study file are in `file`.
        """
        decided = {name: value for name, value in self.decided.items() if name not in SHOWN_APART}
        named = decided | _table(self.about, "settings")
        if isinstance(file := named.get("file"), str):
            named["file"] = _study_file(file)
        return {name: value for name, value in flattened(named).items() if value}

    @property
    def decided(self) -> dict[str, Any]:
        """What run.json says that decided the run: neither how it was started nor what came of it."""
        outcome = {*self.about.get(OUTCOME, ())} - {*SAID_AT_THE_END}
        return {name: value for name, value in lasting(self.about).items() if name not in outcome}

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
    def label_names(self) -> Sequence[str]:
        """The labels of its data, in their order; of a run of several datasets none."""
        return _table(self.about, "data").get("label_names") or ()

    @property
    def described_data(self) -> dict[str, dict[str, Any]]:
        """The same with whatever else has a fingerprint, by dotted name: a suite, texts that were transformed."""
        rest = {name: value for name, value in self.decided.items() if name not in ("data", "datasets", "settings")}
        return self.data | _fingerprinted(rest | _table(self.about, "settings"))

    @property
    def gates_hold(self) -> bool:
        """Whether no gate failed."""
        return all(gate["passed"] for gate in self.about.get("gates") or ())

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
            if _has(row, tags):
                yield row

    def row(self, metric: str, slice: str = "all", /, **tags: Any) -> Measurement | None:
        """The first of them; None when it was not measured."""
        return next(self.rows(metric, slice, **tags), None)

    def needed(self, metric: str, slice: str = "all", /, **tags: Any) -> Measurement:
        """The first of them, of what every such run has measured."""
        row = self.row(metric, slice, **tags)
        if row is None:
            raise LookupError(f"{metric} of {slice} was not measured")
        return row

    def value(self, metric: str, slice: str = "all", /, **tags: Any) -> float | None:
        """The number alone."""
        row = self.row(metric, slice, **tags)
        return None if row is None else row.value

    def names(self, tag: str, metric: str) -> list[str]:
        """The values of a tag among these measurements, in their order; rows without the tag are left out."""
        return list(dict.fromkeys(str(row.tags[tag]) for row in self.rows(metric) if tag in row.tags))

    def where(self, **tags: Any) -> RunRecord:
        """The same run with the measurements that have these tags alone."""
        return replace(self, measurements=[row for row in self.measurements if _has(row, tags)])

    def by(self, tag: str, names: Iterable[str]) -> dict[str, RunRecord]:
        """For each value of a tag the measurements that have it."""
        return {name: self.where(**{tag: name}) for name in names}

    # -- by family of splits -------------------------------------------------------------------------------------

    @property
    def families(self) -> tuple[str, ...]:
        """Families of splits: the baseline first, the others in the order of their splits."""
        names = dict.fromkeys(split.family for split in self.splits.values())
        return tuple(sorted(names, key=lambda family: (family != BASELINE, not self.is_random(family))))

    def is_random(self, family: str) -> bool:
        """Whether its splits are drawn at random: the baseline, or one of another size."""
        return family == BASELINE or {split.method for split in self.of_family(family)} == {BASELINE}

    def of_family(self, family: str) -> list[SplitFile]:
        """The splits of one family."""
        return [split for split in self.splits.values() if split.family == family]

    def single(self, family: str, part: str = "test") -> list[float]:
        """Score of each training, in file order."""
        rows = self._trainings(family, part, self.metric, "all")
        return [row.value for row in rows if row.value is not None]

    def score(
        self, family: str, part: str = "test", metric: str | None = None, slice: str = "all"
    ) -> Measurement | None:
        """Mean over the trainings with its interval; without such a row their mean, or the only one as it is.

        `n` is the number of examples one training was tested on, as far as the trainings say.
        """
        metric = metric or self.metric
        trainings = [row for row in self._trainings(family, part, metric, slice) if row.value is not None]
        rows = self.rows(metric, slice, family=family, part=part, seed="mean")
        mean = next((row for row in rows if row.value is not None), None)
        n = round(float(np.mean([row.n for row in trainings]))) if trainings else (mean.n if mean else 0)
        if mean is not None:
            return Measurement(metric, mean.value, n, mean.low, mean.high, slice, mean.tags)
        if len(trainings) == 1:
            return trainings[0]
        values = [row.value for row in trainings if row.value is not None]
        return Measurement(metric, float(np.mean(values)), n, slice=slice, tags=trainings[0].tags) if values else None

    def fall(self, family: str, part: str = "test") -> Measurement | None:
        """How much worse `family` is than the baseline; without an interval when the run did not compute one."""
        measured = self.measured(f"fall.{self.metric}", family, part)
        if measured is not None:
            return measured
        ours, theirs = self.score(family, part), self.score(BASELINE, part)
        if ours is None or theirs is None or ours.value is None or theirs.value is None:
            return None
        sign = 1 if higher_is_better(self.metric) else -1
        return Measurement(f"fall.{self.metric}", sign * (theirs.value - ours.value), ours.n)

    def measured(self, metric: str, family: str, part: str = "test") -> Measurement | None:
        """What else was measured on a part of a family, e.g. `label_noise`."""
        rows = self.rows(metric, family=family, part=part)
        return next((row for row in rows if row.value is not None), None)

    def _trainings(self, family: str, part: str, metric: str, slice: str) -> list[Measurement]:
        rows = self.rows(metric, slice, family=family, part=part)
        return [row for row in rows if "split" in row.tags and row.tags.get("seed") != "mean"]


def read_record(folder: str | Path, kind: str | None = None, whole: bool = False) -> RunRecord:
    """The finished run in `folder`; refuses one of another kind. What is missing or damaged is named in one error.

    With `whole` the rows of every split that the run names are read too, so that each is known to be as it was written.
    """
    folder, problems = Path(folder), list[str]()
    if not folder.is_dir():
        raise InputError(f"there is no run folder {folder}", fix=way_out(folder))
    about = tried(read_json, folder / ABOUT, problems, optional=True)
    if about is not None and kind is not None and about.get("kind") != kind:
        raise InputError(
            f"{folder} does not hold a run of the kind {kind}", got=str(about.get("kind") or "another"),
            fix=f"unseen runs report {folder} writes the page of a run of any kind",
        )  # fmt: skip
    kind = kind or str((about or {}).get("kind", ""))
    patterns = [*REQUIRED, *REQUIRED_OF.get(kind, ())]
    missing = [f"{pattern} is missing" for pattern in patterns if not any(folder.glob(pattern))]
    if missing:
        name = "a whole run folder" if (folder / ABOUT).is_file() else "the folder of a run"
        raise InputError(f"{folder} is not {name}", problems=[*missing, *problems], fix=way_out(folder))
    if about is not None:
        about = read_about(folder)
        tried(lambda path: _check(about or {}, kind, path), folder / ABOUT, problems)
    measurements = tried(read_measurements, folder / "measurements.csv", problems) or []
    examples = tried(_json(dict[str, Any], "texts by id"), folder / "examples.json", problems, True) or {}
    maps = [*folder.glob("map.parquet"), *sorted(folder.glob("maps/*.parquet"))]
    record = RunRecord(
        about or {},
        tuple(measurements),
        tuple(tried(read_findings, folder / "findings.csv", problems) or ()),
        folder,
        _splits(folder, about or {}, measurements, problems, whole),
        tuple(tried(read_measurements, folder / "properties.csv", problems, optional=True) or ()),
        {path.stem: drawn for path in maps if (drawn := tried(_map, path, problems)) is not None},
        tried(_json(tuple[Cluster, ...], "a list of clusters"), folder / "clusters.json", problems, True) or (),
        {name: text for name, text in examples.items() if isinstance(text, str)},  # those of attacks are a list
    )
    if problems or about is None:
        raise InputError(f"files of the run folder {folder} are damaged", problems=problems, fix=way_out(folder))
    return record


def _check(about: Mapping[str, Any], kind: str, path: Path) -> None:
    data = about.get("data")
    if not isinstance(about.get("settings", {}), dict):
        raise InputError(f"{path} does not say its settings")
    if kind == "stress" and not isinstance(data, dict):
        raise InputError(f"{path} does not say its data")
    names = data.get("label_names") if isinstance(data, dict) else None
    if kind == "stress" and not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        raise InputError(f"{path} does not say its label names")


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
    """Nested settings as one level of text, without those that are not set.

    Of data there is only what its fingerprint does not say.

    >>> flattened({"test": 0.1, "recipe": {"epochs": 3}, "seeds": [1, 2], "groups": None})
    {'test': '0.1', 'recipe.epochs': '3', 'seeds': '1, 2'}
    """
    texts: dict[str, str] = {}
    of_data = DESCRIBES_DATA if "fingerprint" in settings else ()
    for name, value in settings.items():
        if name in of_data:
            continue
        if isinstance(value := _numbered(value), Mapping):
            texts |= flattened(value, f"{before}{name}.")
        elif isinstance(value, list | tuple):
            texts[f"{before}{name}"] = ", ".join(map(str, value))
        elif value is not None:
            texts[f"{before}{name}"] = str(value)
    return texts


def _numbered(value: Any) -> Any:
    """Tables in a list by their number; anything else as it is."""
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return {str(number): item for number, item in enumerate(value, 1)}
    return value


def _fingerprinted(about: Mapping[str, Any], before: str = "") -> dict[str, dict[str, Any]]:
    """The tables in it that have a fingerprint, by dotted name."""
    tables: dict[str, dict[str, Any]] = {}
    for name, value in about.items():
        if isinstance(value := _numbered(value), Mapping):
            tables |= {f"{before}{name}": dict(value)} if "fingerprint" in value else {}
            tables |= _fingerprinted(value, f"{before}{name}.")
    return tables


def _has(row: Measurement, tags: Mapping[str, Any]) -> bool:
    return all(_matches(row.tags.get(name), value) for name, value in tags.items())


def _matches(tag: Any, value: Any) -> bool:
    if isinstance(value, tuple):
        return tag in value
    return tag is None if value is None else str(tag) == str(value)


def _study_file(text: str) -> dict[str, Any] | str:
    try:
        return parsed_toml(text)
    except (ValueError, RecursionError):
        return text


def _table(about: Mapping[str, Any], name: str) -> dict[str, Any]:
    content = about.get(name)
    return dict(content) if isinstance(content, Mapping) else {}


def _splits(
    folder: Path, about: Mapping[str, Any], measurements: Sequence[Measurement], problems: list[str], whole: bool
) -> dict[str, SplitFile]:
    """Those of the run; a folder may hold those of earlier settings too."""
    named = about.get("splits")
    paths = sorted(folder.glob("splits/*.json"))
    if isinstance(named, dict | list):
        ours = {folder / "splits" / f"{Path(str(name)).name}.json" for name in named}
        paths = sorted(ours) if whole else [path for path in paths if path in ours] or paths
    families = {
        row.tags["split"]: str(row.tags["family"]) for row in measurements if {"split", "family"} <= {*row.tags}
    }
    families |= named if isinstance(named, dict) else {}
    splits = [tried(lambda path: _split(path, families, whole), path, problems) for path in paths]
    last = sorted(
        (split for split in splits if split is not None),
        key=lambda split: (split.family != BASELINE, split.family == "closest", split.name),
    )
    return {split.name: split for split in last}


def _split(path: Path, families: Mapping[Any, Any], whole: bool) -> SplitFile:
    if whole:
        read_split(path)
    about = read_json(path)
    try:
        content, name = about["certificate"], str(about["name"])
        known = {column.name: content[column.name] for column in fields(Certificate) if column.name in content}
        certificate = Certificate(**known | {"notes": tuple(content.get("notes", ()))})
        if not {*certificate.asked} <= {*certificate.got}:
            raise ValueError("a label was asked for and not got")
        origin = origin_from({"step": ""} | about["origin"])
        if not all(isinstance(part, Mapping) for part in (origin.params, origin.inputs, origin.versions)):
            raise ValueError("its origin is not one")
        sizes = {part: int(about["sizes"].get(part, 0)) for part in PARTS}
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        raise InputError(f"{path} is not the certificate of a split: {type(cause).__name__}: {cause}") from cause
    family = str(families.get(name, VERSION.sub("", origin.step)))
    sha256, data = str(about.get("csv_sha256", "")), str(about.get("dataset", ""))
    return SplitFile(name, family, sizes, certificate, origin, data, sha256, path.with_suffix(".csv"))


def _map(path: Path) -> LatentMap:
    with door(path, "a map"):
        table = pq.read_table(path)
        lacking = {"id", "x", "y", "label"} - {*table.column_names}
        if lacking:
            raise InputError(f"{path} does not hold a map", expected=f"the columns {', '.join(sorted(lacking))}")
        points = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ("x", "y")])
        if not np.isfinite(points).all():
            raise InputError(f"{path} has coordinates that are not finite")
        named = {name: _strings(table[name]) for name in table.column_names if name not in ("id", "x", "y")}
        return LatentMap(table["id"].cast(pa.large_string()), points, named.pop("label"), named)


def _strings(values: pa.ChunkedArray) -> npt.NDArray[np.str_]:
    """A column as text; what is missing is empty. Few of its values differ, so each is made into text once."""
    encoded = pc.fill_null(values.cast(pa.large_string()), "").combine_chunks().dictionary_encode()
    names = np.array(encoded.dictionary.to_pylist() or [""], np.str_)
    return names[encoded.indices.to_numpy(zero_copy_only=False)]


def _json(kind: Any, what: str) -> Callable[[Path], Any]:
    """A function that reads a JSON file which holds this type."""

    def read(path: Path) -> Any:
        try:
            return TypeAdapter(kind).validate_json(path.read_bytes())
        except ValidationError as cause:
            first = cause.errors()[0]
            wrong = ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))
            raise InputError(f"{path} does not hold {what}: {wrong}") from cause

    return read
