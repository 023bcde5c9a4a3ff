"""A run folder with predictions and labels, of which everything about the right labels is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from small_run import data_of

from unseen.audits.reviewed_labels import INVALID, UNCLEAR
from unseen.evaluation import Run, fall, level
from unseen.store import (
    write_findings,
    write_json,
    write_measurements,
    write_predictions,
    write_split,
    write_suspects,
)
from unseen.types import Certificate, Origin, Predictions, Split, SuspectLabel, string_array

NAMES = ("a", "b", "c")
METRIC = "f1.macro"


@dataclass
class MadeReviews:
    """A population: the test part of `closest` overlaps those of two random splits, wrong labels in both."""

    rows: int = 500
    errors: tuple[float, float] = (0.25, 0.08)
    """Share of wrong labels in the hard part, and elsewhere."""
    doubtful: float = 0.04
    """Share of texts that cannot be told or are invalid."""
    seed: int = 0

    def __post_init__(self) -> None:
        draw, n = np.random.default_rng(self.seed), self.rows
        truth = draw.choice(3, n, p=[0.5, 0.3, 0.2])
        hard = np.arange(n) < n // 3
        wrong = draw.random(n) < np.where(hard, *self.errors)
        self.given = np.where(wrong, (truth + draw.integers(1, 3, n)) % 3, truth)
        self.suspect = draw.random(n) < np.where(wrong, 0.5, 0.05)
        self.truth, doubt = truth.copy(), draw.random(n)
        self.truth[doubt < self.doubtful] = UNCLEAR
        self.truth[doubt < self.doubtful / 2] = INVALID
        self.ids = [f"r{row:04}" for row in range(n)]
        later = np.flatnonzero(np.arange(n) >= n // 4)
        tests = {name: np.sort(draw.choice(later, n // 3, replace=False)) for name in ("random-1", "random-2")}
        self.tests = tests | {"closest": np.flatnonzero(hard)}
        self.runs: list[Run] = []
        for split, seed in (("random-1", 1), ("random-2", 2), ("closest", 1), ("closest", 2)):
            rows, family = self.tests[split], split.partition("-")[0]
            skill = 0.6 if family == "closest" else 0.85
            right = draw.random(len(rows)) < skill
            answers = np.where(right, truth[rows], (truth[rows] + draw.integers(1, 3, len(rows))) % 3)
            self.runs.append(Run(split, family, seed, self.given[rows], np.eye(3)[answers], NAMES, sample=split))

    def of(self, family: str) -> list[Run]:
        return [run for run in self.runs if run.family == family]

    def fall_with_right_labels(self, metric: str = METRIC) -> float:
        """The fall when everything is known: recomputed from scratch, doubtful rows left out."""
        scores = {
            family: np.mean([self._score(run, metric) for run in self.of(family)]) for family in ("random", "closest")
        }
        return float(scores["random"] - scores["closest"])

    def _score(self, run: Run, metric: str) -> float:
        from unseen.evaluation.metrics import metric as metric_of

        truth = self.truth[self.tests[run.split]]
        value = metric_of(metric)(truth[truth >= 0], run.probabilities[truth >= 0], NAMES)
        assert value is not None
        return value

    def write(self, folder: Path) -> Path:
        measured = [fall(self.of("random"), self.of("closest"), METRIC, tags={"family": "closest", "part": "test"})]
        for family in ("random", "closest"):
            tags = {"family": family, "part": "test"}
            measured += level(self.of(family), METRIC, tags=tags)
            for run in self.of(family):
                measured += level([run], METRIC, tags=tags | {"split": run.split, "seed": run.seed})
        for name, rows in self.tests.items():
            parts = np.zeros(self.rows, np.int8)
            parts[rows] = 2
            origin = Origin("random.v1" if name.startswith("random") else "closest.v1")
            clusters = np.full(self.rows, -1, np.int32)
            certificate = Certificate({}, {})
            split = Split(name, string_array(self.ids), parts, clusters, certificate, "abc", origin)
            write_split(split, folder / "splits" / f"{name}.csv")
        for run in self.runs:
            ids = string_array([self.ids[row] for row in self.tests[run.split]])
            predictions = Predictions(ids, run.probabilities, NAMES, Origin("made up"))
            write_predictions(predictions, folder / "predictions" / f"{run.split}-seed{run.seed}.parquet")
        labels = [NAMES[code] for code in self.given]
        nowhere = np.zeros(self.rows)
        table = pa.table({"id": self.ids, "x": nowhere, "y": nowhere, "label": labels})
        pq.write_table(table, folder / "map.parquet")
        suspects = [SuspectLabel(self.ids[row], labels[row], "a", 0.9) for row in np.flatnonzero(self.suspect)]
        write_suspects(suspects, folder / "suspects.csv")
        write_measurements(measured, folder / "measurements.csv")
        write_measurements([], folder / "properties.csv")
        write_findings([], folder / "findings.csv")
        splits = {name: name.partition("-")[0] for name in self.tests}
        about = {"kind": "stress", "settings": {"metric": METRIC}, "model": "m", "splits": splits}
        write_json(folder / "run.json", about | {"data": data_of("posts", labels=NAMES), "finished": "2026-11-16"})
        return folder
