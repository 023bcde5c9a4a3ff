"""Models on a suite, from asking them to the report."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from unseen import inference
from unseen.errors import InputError
from unseen.evaluation.thresholds import at_threshold, check_threshold
from unseen.functional.checking import check, compare_on_suite, places, refuse_slices
from unseen.functional.gates import Gate, Judged, check_gates, judged
from unseen.functional.outcomes import TOLERANCE, check_tolerance, outcomes
from unseen.models import open_model
from unseen.redaction import redacted
from unseen.reports.check_page import write_check_page
from unseen.store import atomic, read_predictions, write_measurements, write_predictions
from unseen.store.files import csv_rows, file_name, harmless
from unseen.study.about import used_versions
from unseen.study.folder import RunFolder
from unseen.types import Dataset, Measurement, Predictions, some

PREDICTIONS = (".csv", ".parquet")


@dataclass(frozen=True)
class Asked:
    """How one model is asked: its place, its labels in the words of the suite, and a threshold where it has one."""

    source: Any
    """A model's place, a file of predictions, or a classifier."""
    rename: Mapping[str, str] | None = None
    threshold: Mapping[str, float] | None = None
    opening: Mapping[str, Any] | None = None
    """Parameters of `unseen.models.open_model`."""

    def predictions(self, suite: Dataset, work: str) -> Predictions:
        """What the model says about every case."""
        found = self._asked(suite, work)
        for label, threshold in (self.threshold or {}).items():
            if found.origin.params.get("hard"):
                raise InputError(
                    f"a threshold has no effect on labels: {self.described()['source']} gives no probabilities"
                )
            found = at_threshold(found, label, threshold)
        return found

    def check(self, suite: Dataset) -> None:
        """Refuse thresholds that cannot be meant, before the model is asked."""
        if self.threshold:
            check_threshold(suite.label_names, self.threshold)

    def _asked(self, suite: Dataset, work: str) -> Predictions:
        if isinstance(self.source, str | Path) and Path(self.source).suffix in PREDICTIONS:
            if self.opening:
                raise InputError(f"{', '.join(self.opening)} has no effect on a file of predictions")
            return read_predictions(self.source, suite, self.rename)
        model = self.source
        if isinstance(model, str | Path):
            model = open_model(model, rename=self.rename, **dict(self.opening or {}))
        elif self.rename:
            from unseen.models.renamed import Renamed

            model = Renamed(model, self.rename)
        return inference.predict(model, suite, work=work)

    def described(self) -> dict[str, Any]:
        """What decides the answers, as plain values."""
        said = redacted(str(self.source)) if isinstance(self.source, str | Path) else inference.name_of(self.source)
        return {"source": said, "rename": self.rename, "threshold": self.threshold}


@dataclass(frozen=True)
class Checked:
    """What came of a check."""

    measurements: tuple[Measurement, ...]
    gates: tuple[Judged, ...]
    report: Path | None = None

    @property
    def passed(self) -> bool:
        """Whether every gate was passed."""
        return all(each.passed for each in self.gates)


def check_models(
    models: Mapping[str, Asked],
    suite: Dataset,
    *,
    out: str | Path | None = None,
    slices: Sequence[str] = (),
    gates: Sequence[Gate] = (),
    tolerance: float = TOLERANCE,
    texts: bool = False,
    command: str | None = None,
    seed: int = 42,
) -> Checked:
    """Ask every model about every case, measure, compare each two, judge the gates, and write the folder of it.

    Without `out` nothing is written. The answers of a model are on disk as soon as it has given them: its file
    in `predictions/` can stand for the model next time. `texts` puts the failed cases' texts into failures.csv.
    """
    if not models:
        raise InputError("there is no model to check")
    check_tolerance(tolerance)
    refuse_slices(suite, slices)
    check_gates(gates, [name for name, _, _ in places(suite, slices)])
    for each in models.values():
        each.check(suite)
    names = [file_name(name) for name in models]
    if len(set(names)) < len(names):
        raise InputError("the files of two models would have one name", got=some(models), fix="other names: NAME=MODEL")
    if out is None:
        rows = _measured(_asked(models, suite, None), suite, slices, tolerance, seed)
        return Checked(tuple(rows), tuple(judged(gates, rows)))
    folder = RunFolder(out)
    with folder.locked():
        folder.begin(_about(models, suite, command, ()))
        for stale in ("predictions", "tables"):
            shutil.rmtree(folder / stale, ignore_errors=True)
        asked = _asked(models, suite, folder)
        rows = _measured(asked, suite, slices, tolerance, seed)
        found = tuple(judged(gates, rows))
        write_measurements(rows, folder / "measurements.csv")
        _write_failures(asked, suite, tolerance, texts, folder / "failures.csv")
        folder.finish(_about(models, suite, command, found))
        return Checked(tuple(rows), found, write_check_page(folder.path))


def _asked(models: Mapping[str, Asked], suite: Dataset, folder: RunFolder | None) -> dict[str, Predictions]:
    found = {}
    for name, each in models.items():
        found[name] = each.predictions(suite, f"ask {name}")
        if folder is not None:
            write_predictions(found[name], folder / "predictions" / f"{file_name(name)}.parquet")
    return found


def _measured(
    asked: Mapping[str, Predictions], suite: Dataset, slices: Sequence[str], tolerance: float, seed: int
) -> list[Measurement]:
    options: dict[str, Any] = {"slices": slices, "tolerance": tolerance, "seed": seed}
    rows = [row for name, each in asked.items() for row in check(suite, each, tags={"model": name}, **options)]
    for a, b in combinations(asked, 2):
        rows += compare_on_suite(suite, asked[a], asked[b], tags={"model": a, "other": b}, **options)
    return rows


def _write_failures(
    asked: Mapping[str, Predictions], suite: Dataset, tolerance: float, texts: bool, path: Path
) -> None:
    """Every failed case: model, id, functionality, label, what was said, its probability."""
    from unseen.evaluation.measuring import aligned

    names, functionality = np.array(suite.label_names), suite.attribute("functionality").to_pylist()
    ids = suite.ids.to_pylist()
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(["model", "id", "functionality", "label", "predicted", "probability", *(["text"] if texts else [])])
        for model, predictions in asked.items():
            p = aligned(suite, predictions, np.arange(len(suite)))
            for row in np.flatnonzero(outcomes(suite, predictions, tolerance) == 0).tolist():
                said = int(p[row].argmax())
                cells = [model, ids[row], functionality[row], names[suite.labels[row]], names[said]]
                more = [harmless(suite.texts[row].as_py())] if texts else []
                write_row([*map(harmless, map(str, cells)), f"{p[row, said]:.4f}", *more])


def _about(models: Mapping[str, Asked], suite: Dataset, command: str | None, gates: Sequence[Judged]) -> dict[str, Any]:
    return {
        "kind": "check",
        "command": command or f"check_models({list(models)}, {suite.name!r})",
        "models": {name: each.described() for name, each in models.items()},
        "suite": {
            "name": suite.name, "cases": len(suite), "counts": suite.label_counts, "fingerprint": suite.fingerprint,
        },
        "gates": [asdict(each) for each in gates],
        "versions": used_versions(),
    }  # fmt: skip
