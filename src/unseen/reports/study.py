"""The run folder of a study, read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unseen.reports.record import RunRecord, read_record
from unseen.reports.run import LatentMap, read_map
from unseen.store import read_measurements
from unseen.types import Measurement


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
    """The record of a study, by cell."""

    record: RunRecord
    cells: tuple[Cell, ...]
    properties: Sequence[Measurement] = ()
    maps: Mapping[str, LatentMap] = field(default_factory=dict)
    """By data and space, joined by a point."""

    @classmethod
    def of(cls, record: RunRecord) -> StudyRun:
        """The study of a record, with its properties and maps."""
        cells = tuple(Cell(**cell) for cell in record.about["cells"])
        if record.folder is None:
            return cls(record, cells)
        maps = {path.stem: read_map(path) for path in sorted((record.folder / "maps").glob("*.parquet"))}
        return cls(record, cells, read_measurements(record.folder / "properties.csv"), maps)

    @property
    def about(self) -> Mapping[str, Any]:
        """run.json."""
        return self.record.about

    @property
    def measurements(self) -> Sequence[Measurement]:
        """Every number."""
        return self.record.measurements

    @property
    def metric(self) -> str:
        """The main metric."""
        return self.record.metric

    @property
    def baseline(self) -> str:
        """What the random splits are called."""
        return str(self.about["baseline"])

    def level(self, cell: Cell, metric: str, part: str = "test") -> Measurement | None:
        """The mean over the trainings of a cell."""
        place = {"data": cell.data, "model": cell.model, "family": cell.family, "space": cell.space or None}
        return self.record.row(metric, part=part, split=None, **place)

    def fall(self, cell: Cell, metric: str) -> Measurement | None:
        """How far a cell is below random splits."""
        return self.level(cell, f"fall.{metric}")

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
    """The study in a run folder."""
    return StudyRun.of(read_record(folder, "study"))
