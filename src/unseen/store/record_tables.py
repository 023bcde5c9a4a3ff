"""Measurements, findings and suspect labels as CSV files: a row each, with the columns that are named here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from unseen.errors import InputError
from unseen.store.files import harmless, read_rows, unharmed, write_rows
from unseen.types import Dataset, Finding, Measurement, SuspectLabel, located

MEASUREMENT = ["metric", "value", "low", "high", "n", "slice"]
"""A column per tag follows."""
FINDING = ["check", "level", "message", "count", "evidence", "advice", "rows"]
SUSPECT = ["id", "given", "likely", "confidence", "row", "test_of"]
BETWEEN = ";"
"""Between the names of splits."""


def write_measurements(measurements: Iterable[Measurement], path: str | Path) -> Path:
    """Write one line per measurement; tags become columns."""
    measurements = list(measurements)
    tags = list(dict.fromkeys(tag for measurement in measurements for tag in measurement.tags))
    if not set(tags).isdisjoint(MEASUREMENT):
        raise InputError("a tag has the name of a column", got=", ".join(sorted({*tags} & {*MEASUREMENT})))

    def line(measurement: Measurement) -> list[str | int]:
        bounds = (measurement.value, measurement.low, measurement.high)
        numbers = ["" if number is None else repr(float(number)) for number in bounds]
        values = [harmless(str(measurement.tags.get(tag, ""))) for tag in tags]
        return [measurement.metric, *numbers, measurement.n, harmless(measurement.slice), *values]

    return write_rows(path, MEASUREMENT + tags, map(line, measurements))


def read_measurements(path: str | Path) -> list[Measurement]:
    """The measurements in `path`; tags come back as strings."""
    return read_rows(path, "measurements", MEASUREMENT, _measurement)


def _measurement(line: dict[str, str]) -> Measurement:
    value, low, high = (float(line[name]) if line[name] else None for name in ("value", "low", "high"))
    tags = {tag: unharmed(text) for tag, text in line.items() if tag not in MEASUREMENT and text}
    return Measurement(line["metric"], value, int(line["n"]), low, high, unharmed(line["slice"]), tags)


def write_findings(findings: Iterable[Finding], path: str | Path, data: Dataset | None = None) -> Path:
    """Write one line per finding; the ids of its evidence are a JSON list, as are their places in `data`."""

    def line(finding: Finding) -> list[str | int]:
        evidence, rows = (json.dumps(list(names), ensure_ascii=False) for names in (finding.evidence, finding.rows))
        check, message, advice = map(harmless, (finding.check, finding.message, finding.advice))
        return [check, finding.level, message, finding.count, evidence, advice, rows]

    return write_rows(path, FINDING, map(line, findings if data is None else located(findings, data)))


def read_findings(path: str | Path) -> list[Finding]:
    """The findings in `path`."""
    return read_rows(path, "findings", FINDING, _finding)


def _finding(line: dict[str, str]) -> Finding:
    evidence, rows = (json.loads(line[name]) for name in ("evidence", "rows"))
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in (evidence, rows)):
        raise ValueError("evidence or rows are not a JSON list of texts")
    if rows and len(rows) != len(evidence):
        raise ValueError("not as many rows as ids in evidence")
    check, message, advice = (unharmed(line[name]) for name in ("check", "message", "advice"))
    return Finding(check, line["level"], message, int(line["count"]), tuple(evidence), advice, tuple(rows))


def write_suspects(suspects: Iterable[SuspectLabel], path: str | Path) -> Path:
    """Write one line per suspect, in their order, the most suspect first; no texts."""

    def line(suspect: SuspectLabel) -> list[str]:
        labels = [harmless(name) for name in (suspect.id, suspect.given, suspect.likely)]
        return [*labels, f"{suspect.confidence:.4f}", suspect.row, harmless(BETWEEN.join(suspect.test_of))]

    return write_rows(path, SUSPECT, map(line, suspects))


def read_suspects(path: str | Path) -> list[SuspectLabel]:
    """The suspects in `path`."""
    return read_rows(path, "suspect labels", SUSPECT, _suspect)


def _suspect(line: dict[str, str]) -> SuspectLabel:
    name, given, likely = (unharmed(line[column]) for column in SUSPECT[:3])
    test_of = tuple(filter(None, unharmed(line["test_of"]).split(BETWEEN)))
    return SuspectLabel(name, given, likely, float(line["confidence"]), line["row"], test_of)
