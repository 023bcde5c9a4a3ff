"""A run folder, read for its report. No texts are read but those that were asked for when the run was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.reports.reading import tried
from unseen.reports.wording import higher_is_better
from unseen.store import read_findings, read_json, read_measurements
from unseen.store.files import holds
from unseen.store.manifest import read_about
from unseen.types import PARTS, Certificate, Finding, Measurement

DEFAULT_METRIC = "f1.macro"
BASELINE = "random"
"""The family every other one is compared with."""
REQUIRED = ("run.json", "measurements.csv", "properties.csv", "findings.csv")
Read = TypeVar("Read")


@dataclass(frozen=True)
class SplitCard:
    """Everything about a split but its rows."""

    name: str
    family: str
    sizes: Mapping[str, int]
    certificate: Certificate
    step: str
    seed: int | None
    sha256: str


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

    points: npt.NDArray[np.float64]
    labels: npt.NDArray[np.str_]
    parts: Mapping[str, npt.NDArray[np.str_]]


@dataclass(frozen=True, eq=False)
class Run:
    """What a run folder holds. Where files are optional and absent, the field is empty or None."""

    folder: Path
    about: Mapping[str, Any]
    """run.json as it is."""
    splits: tuple[SplitCard, ...]
    measurements: tuple[Measurement, ...]
    properties: tuple[Measurement, ...]
    findings: tuple[Finding, ...]
    map: LatentMap | None = None
    clusters: tuple[Cluster, ...] = ()
    examples: Mapping[str, str] | None = None
    _index: dict[tuple[str, str, str, str], list[Measurement]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index: dict[tuple[str, str, str, str], list[Measurement]] = {}
        for row in self.measurements:
            place = (row.metric, str(row.tags.get("family", "")), str(row.tags.get("part", "")), row.slice)
            index.setdefault(place, []).append(row)
        object.__setattr__(self, "_index", index)

    @property
    def metric(self) -> str:
        """Id of the metric the verdict speaks of."""
        return str(self.about["settings"].get("metric") or DEFAULT_METRIC)

    @property
    def label_names(self) -> tuple[str, ...]:
        """Labels in their declared order."""
        return tuple(self.about["data"]["label_names"])

    @property
    def families(self) -> tuple[str, ...]:
        """Families of splits: the baseline first, the others in the order of their splits."""
        found = dict.fromkeys(split.family for split in self.splits)
        return tuple(sorted(found, key=lambda each: each != BASELINE))

    def of_family(self, family: str) -> list[SplitCard]:
        """The splits of one family."""
        return [split for split in self.splits if split.family == family]

    def single(self, family: str, part: str = "test", metric: str | None = None, slice: str = "all") -> list[float]:
        """Score of each training run, in file order."""
        rows = self._runs(family, part, metric or self.metric, slice)
        return [row.value for row in rows if row.value is not None]

    def score(
        self, family: str, part: str = "test", metric: str | None = None, slice: str = "all"
    ) -> Measurement | None:
        """Mean over the runs with its interval; without such a row the mean of the runs, or the one run as it is.

        `n` is the number of examples one run was tested on, as far as the runs say.
        """
        metric = metric or self.metric
        runs = [row for row in self._runs(family, part, metric, slice) if row.value is not None]
        rows = self._index.get((metric, family, part, slice), [])
        mean = next((row for row in rows if row.tags.get("seed") == "mean" and row.value is not None), None)
        n = round(float(np.mean([row.n for row in runs]))) if runs else (mean.n if mean else 0)
        if mean is not None:
            return Measurement(metric, mean.value, n, mean.low, mean.high, slice, mean.tags)
        if len(runs) == 1:
            return runs[0]
        values = [row.value for row in runs if row.value is not None]
        return Measurement(metric, float(np.mean(values)), n, slice=slice, tags=runs[0].tags) if values else None

    def fall(self, family: str, part: str = "test") -> Measurement | None:
        """How much worse `family` is than the baseline; without an interval when the run did not compute one."""
        rows = self._index.get((f"fall.{self.metric}", family, part, "all"), [])
        found = next((row for row in rows if row.value is not None), None)
        if found is not None:
            return found
        ours, theirs = self.score(family, part), self.score(BASELINE, part)
        if ours is None or theirs is None or ours.value is None or theirs.value is None:
            return None
        sign = 1 if higher_is_better(self.metric) else -1
        return Measurement(f"fall.{self.metric}", sign * (theirs.value - ours.value), ours.n)

    def found(self, metric: str, family: str) -> Measurement | None:
        """What the findings measured on the test part of a family, e.g. `label_noise`."""
        rows = self._index.get((metric, family, "test", "all"), [])
        return next((row for row in rows if row.value is not None), None)

    def _runs(self, family: str, part: str, metric: str, slice: str) -> list[Measurement]:
        rows = self._index.get((metric, family, part, slice), [])
        return [row for row in rows if "split" in row.tags and row.tags.get("seed") != "mean"]


def read_run(folder: str | Path) -> Run:
    """The run in `folder`; every file that is missing or damaged is named in one error."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"there is no run folder {folder}", fix="name the folder that unseen stress wrote")
    lacking = [name for name in REQUIRED if not (folder / name).is_file()]
    if not list((folder / "splits").glob("*.json")):
        lacking.append("splits/*.json")
    if lacking:
        raise InputError(
            f"{folder} is not a whole run folder",
            problems=[f"{name} is missing" for name in lacking],
            fix="run the same unseen stress command again: it goes on where it stopped",
        )
    if holds(folder / "run.json", set()):
        read_about(folder)
    problems: list[str] = []
    about = tried(_about, folder / "run.json", problems)
    measured = tried(read_measurements, folder / "measurements.csv", problems)
    properties = tried(read_measurements, folder / "properties.csv", problems)
    findings = tried(read_findings, folder / "findings.csv", problems)
    named = about.get("splits") if about else None
    splits = tried(lambda path: _splits(path, measured or [], named), folder / "splits", problems)
    map_ = tried(read_map, folder / "map.parquet", problems, optional=True)
    clusters = tried(_clusters, folder / "clusters.json", problems, optional=True)
    examples = tried(_examples, folder / "examples.json", problems, optional=True)
    if about is None or measured is None or properties is None or findings is None or splits is None or problems:
        raise InputError(f"files of the run folder {folder} are damaged", problems=problems)
    measured = _of_model(measured, str(about.get("model", "")))
    return Run(
        folder, about, splits, tuple(measured), tuple(properties), tuple(findings), map_, clusters or (), examples
    )


def _about(path: Path) -> dict[str, Any]:
    about = read_json(path)
    for name in ("settings", "data"):
        if not isinstance(about.get(name), dict):
            raise InputError(f"{path} does not say its {name}")
    names = about["data"].get("label_names")
    if not isinstance(names, list) or not names or not all(isinstance(each, str) for each in names):
        raise InputError(f"{path} does not say its label names")
    return about


def _of_model(rows: list[Measurement], model: str) -> list[Measurement]:
    """The rows of the run's own model, when rows of several are there."""
    if len({row.tags["model"] for row in rows if "model" in row.tags}) < 2:
        return rows
    return [row for row in rows if row.tags.get("model", model) == model]


def _splits(folder: Path, measured: list[Measurement], named: Any) -> tuple[SplitCard, ...]:
    """The splits of the run; a folder may hold those of earlier settings too."""
    families = {row.tags["split"]: str(row.tags["family"]) for row in measured if {"split", "family"} <= {*row.tags}}
    paths = [path for path in sorted(folder.glob("*.json")) if not isinstance(named, dict) or path.stem in named]
    cards = [_split(path, families) for path in paths]
    return tuple(sorted(cards, key=lambda card: (card.family != BASELINE, card.family == "closest", card.name)))


def _split(path: Path, families: Mapping[str | int | float, str]) -> SplitCard:
    about = read_json(path)
    try:
        content, origin = about["certificate"], about["origin"]
        known = {each.name: content[each.name] for each in fields(Certificate) if each.name in content}
        certificate = Certificate(**known | {"notes": tuple(content.get("notes", ()))})
        if not {*certificate.asked} <= {*certificate.got}:
            raise ValueError("a label was asked for and not got")
        step, name = str(origin.get("step", "")), str(about["name"])
        sizes = {part: int(about["sizes"].get(part, 0)) for part in PARTS}
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        raise InputError(f"{path} is not the certificate of a split: {type(cause).__name__}: {cause}") from cause
    family = families.get(name, step.partition(".")[0])
    return SplitCard(name, family, sizes, certificate, step, origin.get("seed"), str(about.get("csv_sha256", "")))


def read_map(path: Path) -> LatentMap:
    """Where texts lie in the plane, with their label and their part in every split."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as cause:
        raise InputError(f"cannot read {path}: {cause}") from cause
    lacking = {"id", "x", "y", "label"} - {*table.column_names}
    if lacking:
        raise InputError(f"{path} does not hold a map", expected=f"the columns {', '.join(sorted(lacking))}")
    points = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ("x", "y")])
    if not np.isfinite(points).all():
        raise InputError(f"{path} has coordinates that are not finite")
    named = {name: _strings(table[name]) for name in table.column_names if name not in ("id", "x", "y")}
    return LatentMap(points, named.pop("label"), named)


def _strings(column: Any) -> npt.NDArray[np.str_]:
    return np.array(["" if each is None else str(each) for each in column.to_pylist()], dtype=np.str_)


def _json(path: Path, kind: type[Read], what: str) -> Read:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise InputError(f"{path} is not valid JSON: {cause}") from cause
    if not isinstance(content, kind):
        raise InputError(f"{path} does not hold {what}")
    return content


def _clusters(path: Path) -> tuple[Cluster, ...]:
    return tuple(
        Cluster(
            str(each["split"]),
            int(each["cluster"]),
            int(each["size"]),
            int(each["test"]),
            {str(label): int(count) for label, count in each["labels"].items()},
            tuple(map(str, each["words"])),
            tuple(map(str, each["examples"])),
        )
        for each in _json(path, list, "a list of clusters")
    )


def _examples(path: Path) -> dict[str, str]:
    return {str(name): str(text) for name, text in _json(path, dict, "texts by id").items()}
