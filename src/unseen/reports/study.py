"""The run folder of a study, read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.reports.kinds import kind_of
from unseen.reports.run import LatentMap, read_map
from unseen.store import read_findings, read_measurements
from unseen.store.manifest import read_about
from unseen.types import Finding, Measurement


@dataclass(frozen=True)
class Cell:
    """One model on the splits of one kind: the trainings that are summed up in one number."""

    data: str
    space: str
    """Empty for splits that cut no latent space."""
    family: str
    """The way of splitting, as the study calls it."""
    model: str
    own: bool
    """Whether the space that was cut is the model's."""
    test: float
    dev: float

    @property
    def tags(self) -> dict[str, Any]:
        """What its rows are marked with."""
        return {"data": self.data, "model": self.model} | ({"space": self.space} if self.space else {})


@dataclass(frozen=True, eq=False)
class StudyRun:
    """Everything that the folder of a study says."""

    folder: Path
    about: Mapping[str, Any]
    cells: tuple[Cell, ...]
    measurements: Sequence[Measurement]
    properties: Sequence[Measurement]
    findings: Sequence[Finding]
    maps: Mapping[str, LatentMap]
    """By data and space, joined by a point."""

    @property
    def metric(self) -> str:
        """The main metric."""
        return str(self.about["settings"]["metric"])

    @property
    def baseline(self) -> str:
        """What the random splits are called."""
        return str(self.about["baseline"])

    def level(self, cell: Cell, metric: str, part: str = "test") -> Measurement | None:
        """The mean over the trainings of a cell."""
        return self._found(cell, metric, part)

    def fall(self, cell: Cell, metric: str) -> Measurement | None:
        """How far a cell is below random splits."""
        return self._found(cell, f"fall.{metric}", "test")

    def _found(self, cell: Cell, metric: str, part: str) -> Measurement | None:
        wanted = {"data": cell.data, "model": cell.model, "family": cell.family, "part": part}
        for row in self.measurements:
            tags = row.tags
            if row.metric == metric and row.slice == "all" and "split" not in tags and (
                tags.get("space", "") == cell.space and all(tags.get(key) == value for key, value in wanted.items())
            ):  # fmt: skip
                return row
        return None

    def control_of(self, cell: Cell) -> Cell | None:
        """The random splits that a cell was compared with."""
        return next(
            (
                each for each in self.cells
                if (each.family, each.data, each.model, each.test) == (self.baseline, cell.data, cell.model, cell.test)
            ),
            None,
        )  # fmt: skip


def read_study_run(folder: str | Path) -> StudyRun:
    """The study in a run folder; what is damaged is said at once."""
    folder = Path(folder)
    about = read_about(folder)
    if kind_of(folder) != "study":
        raise InputError(f"{folder} does not hold a study", fix="unseen run writes one")
    try:
        cells = tuple(Cell(**each) for each in about["cells"])
        _ = about["settings"]["metric"], about["baseline"], about["datasets"]
    except (KeyError, TypeError) as cause:
        raise InputError(f"{folder / 'run.json'} is damaged: {type(cause).__name__}: {cause}") from cause
    return StudyRun(
        folder, about, cells, read_measurements(folder / "measurements.csv"),
        read_measurements(folder / "properties.csv"), read_findings(folder / "findings.csv"),
        {path.stem: read_map(path) for path in sorted((folder / "maps").glob("*.parquet"))},
    )  # fmt: skip
