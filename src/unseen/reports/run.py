"""A run folder, read for its report. No texts are read but those that were asked for when the run was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.reports.record import RunRecord, read_record, tried
from unseen.reports.wording import higher_is_better
from unseen.store import read_json, read_measurements
from unseen.store.manifest import way_out
from unseen.types import PARTS, Certificate, Finding, Measurement

BASELINE = "random"
"""The family every other one is compared with."""
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
class StressRun:
    """The record of a stress run, by family of splits. Fields of files that may be absent are then empty or None."""

    record: RunRecord
    splits: tuple[SplitCard, ...]
    properties: tuple[Measurement, ...] = ()
    map: LatentMap | None = None
    clusters: tuple[Cluster, ...] = ()
    examples: Mapping[str, str] | None = None

    @classmethod
    def of(cls, record: RunRecord) -> StressRun:
        """The stress run of a record; every file that is missing or damaged is named in one error."""
        folder = record.folder
        assert folder is not None
        problems: list[str] = []
        record = replace(record, measurements=_of_model(record.measurements, str(record.about.get("model", ""))))
        tried(lambda path: _check(record.about, path), folder / "run.json", problems)
        properties = tried(read_measurements, folder / "properties.csv", problems)
        splits = tried(lambda path: _splits(path, record), folder / "splits", problems)
        map_ = tried(read_map, folder / "map.parquet", problems, optional=True)
        clusters = tried(_clusters, folder / "clusters.json", problems, optional=True)
        examples = tried(_examples, folder / "examples.json", problems, optional=True)
        if problems:
            raise InputError(f"files of the run folder {folder} are damaged", problems=problems, fix=way_out(folder))
        return cls(record, splits or (), tuple(properties or ()), map_, clusters or (), examples)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.record.place

    @property
    def about(self) -> Mapping[str, Any]:
        """run.json."""
        return self.record.about

    @property
    def measurements(self) -> Sequence[Measurement]:
        """Every number."""
        return self.record.measurements

    @property
    def findings(self) -> Sequence[Finding]:
        """What checks found."""
        return self.record.findings

    @property
    def metric(self) -> str:
        """Id of the metric the verdict speaks of."""
        return self.record.metric

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
        rows = self.record.rows(metric, slice, family=family, part=part, seed="mean")
        mean = next((row for row in rows if row.value is not None), None)
        n = round(float(np.mean([row.n for row in runs]))) if runs else (mean.n if mean else 0)
        if mean is not None:
            return Measurement(metric, mean.value, n, mean.low, mean.high, slice, mean.tags)
        if len(runs) == 1:
            return runs[0]
        values = [row.value for row in runs if row.value is not None]
        return Measurement(metric, float(np.mean(values)), n, slice=slice, tags=runs[0].tags) if values else None

    def fall(self, family: str, part: str = "test") -> Measurement | None:
        """How much worse `family` is than the baseline; without an interval when the run did not compute one."""
        rows = self.record.rows(f"fall.{self.metric}", family=family, part=part)
        measured = next((row for row in rows if row.value is not None), None)
        if measured is not None:
            return measured
        ours, theirs = self.score(family, part), self.score(BASELINE, part)
        if ours is None or theirs is None or ours.value is None or theirs.value is None:
            return None
        sign = 1 if higher_is_better(self.metric) else -1
        return Measurement(f"fall.{self.metric}", sign * (theirs.value - ours.value), ours.n)

    def found(self, metric: str, family: str) -> Measurement | None:
        """What the findings measured on the test part of a family, e.g. `label_noise`."""
        rows = self.record.rows(metric, family=family, part="test")
        return next((row for row in rows if row.value is not None), None)

    def _runs(self, family: str, part: str, metric: str, slice: str) -> list[Measurement]:
        rows = self.record.rows(metric, slice, family=family, part=part)
        return [row for row in rows if "split" in row.tags and row.tags.get("seed") != "mean"]


def read_run(folder: str | Path) -> StressRun:
    """The stress run in `folder`; every file that is missing or damaged is named in one error."""
    return StressRun.of(read_record(folder, "stress"))


def _check(about: Mapping[str, Any], path: Path) -> None:
    for name in ("settings", "data"):
        if not isinstance(about.get(name), dict):
            raise InputError(f"{path} does not say its {name}")
    names = about["data"].get("label_names")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"{path} does not say its label names")


def _of_model(rows: Sequence[Measurement], model: str) -> Sequence[Measurement]:
    """The rows of the run's own model, when rows of several are there."""
    if len({row.tags["model"] for row in rows if "model" in row.tags}) < 2:
        return rows
    return [row for row in rows if row.tags.get("model", model) == model]


def _splits(folder: Path, record: RunRecord) -> tuple[SplitCard, ...]:
    """The splits of the run; a folder may hold those of earlier settings too."""
    measured, named = record.measurements, record.about.get("splits")
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
