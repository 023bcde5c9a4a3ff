"""Run folders of a few rows, written by hand: every number in them can be counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unseen.store import write_findings, write_json, write_measurements, write_split
from unseen.types import PARTS, Certificate, Finding, Measurement, Origin, Split, string_array

IDS = ["007", "-b", "c", "d", "e", "f", "g", "h"]
LETTERS = "RRRDTTII"
"""Part of each row: train, dev, test, independent."""
CODES = {"R": 0, "D": 1, "T": 2, "I": 3, "U": 4}


def split_of(
    name: str, step: str, fingerprint: str = "abc", letters: str = LETTERS, got: Mapping[str, int] | None = None
) -> Split:
    """A split of eight rows; latent ones have two clusters and one row that was added singly."""
    latent = not step.startswith("random")
    params: dict[str, Any] = {"test_size": 0.25, "dev": 1, "independent": 2}
    certificate = Certificate(
        {"spam": 1, "ham": 1}, got or {"spam": 1, "ham": 1}, completed=1 if latent else 0,
        n_clusters=2 if latent else None, missed_at_least=0 if latent else None, optimal=latent or None,
        notes=("one whole cluster of 2",) if latent else (),
    )  # fmt: skip
    origin = Origin(
        step, params | ({"encoder": "tiny-50"} if latent else {}), 42,
        {"dataset": fingerprint} | ({"vectors": "fed"} if latent else {}), {"numpy": "2.0"},
    )  # fmt: skip
    clusters = np.array([0, 0, 1, 1, 1, 0, -1, -1] if latent else [-1] * 8, dtype=np.int32)
    parts = np.array([CODES[each] for each in letters], dtype=np.int8)
    assert len(PARTS) == len(CODES)
    return Split(name, string_array(IDS), parts, clusters, certificate, fingerprint, origin)


def data_of(name: str, fingerprint: str = "abc", labels: Sequence[str] = ("spam", "ham")) -> dict[str, Any]:
    """What run.json says about eight rows."""
    counts = dict.fromkeys(labels, 8 // len(labels))
    return {"name": name, "rows": 8, "label_names": [*labels], "counts": counts, "fingerprint": fingerprint}


def mean(family: str, value: float, part: str = "test", **tags: str) -> Measurement:
    """A mean over runs with its interval."""
    named = {"family": family, "part": part, "seed": "mean"} | tags
    return Measurement("f1.macro", value, 2, value - 0.1, value + 0.1, tags=named)


def stress_folder(folder: Path, **more: Any) -> Path:
    """A random and a hard split, measured and checked; `more` goes into run.json."""
    write_split(split_of("random-1", "random.v1"), folder / "splits" / "random-1.csv")
    write_split(split_of("closest", "closest.v1", letters="TTRRRDII"), folder / "splits" / "closest.csv")
    hard = {"family": "closest", "part": "test", "model": "minilm"}
    rows = [
        mean("random", 0.8, model="minilm"), mean("closest", 0.5, model="minilm"),
        mean("random", 0.7, "independent", model="minilm"), mean("closest", 0.7, "independent", model="minilm"),
        Measurement("f1.macro", 0.8, 2, tags={"split": "random-1", "seed": 7} | hard | {"family": "random"}),
        Measurement("f1.macro", 0.5, 2, tags={"split": "closest", "seed": 7} | hard),
        Measurement("fall.f1.macro", 0.3, 2, 0.25, 0.35, tags=hard | {"against": "random"}),
        Measurement("label_noise", 0.5, 2, 0.3, 0.7, tags=hard),
        Measurement("label_noise.control", 0.1, 2, 0.05, 0.15, tags=hard),
    ]  # fmt: skip
    write_measurements(rows, folder / "measurements.csv")
    write_measurements([], folder / "properties.csv")
    findings = [
        Finding("learnt[closest]", "ok", "The task was learnt."),
        Finding("x", "warn", "Look.", 1, ("c",), "Do."),
    ]
    write_findings(findings, folder / "findings.csv")
    about = {
        "kind": "stress", "command": "unseen stress mails.csv --model minilm",
        "settings": {"metric": "f1.macro", "representation": "bottleneck-50", "independent": "/home/me/other.csv",
                     "recipe": {"encoder": "minilm", "epochs": 3, "patience": 2, "max_tokens": 128}},
        "data": data_of("mails"), "model": "minilm", "splits": {"random-1": "random", "closest": "closest"},
        "versions": {"unseen": "0.1.0"}, "host": {"system": "Linux"}, "timings": [{"step": "split", "seconds": 90}],
        "finished": "2026-11-16T01:00:00+00:00",
    }  # fmt: skip
    write_json(folder / "run.json", about | more)
    return folder


def study_folder(folder: Path) -> Path:
    """Two datasets, each with a random and a hard split; no findings, measurements told apart by dataset."""
    names = {}
    for dataset, fingerprint in (("mails", "abc"), ("posts", "def")):
        for family in ("random", "closest"):
            name = f"{dataset}.full.{family}.1"
            names[name] = family
            write_split(split_of(name, f"{family}.v1", fingerprint), folder / "splits" / f"{name}.csv")
    rows = [
        mean(family, value, data=dataset, model="logistic")
        for dataset, family, value in (
            ("mails", "random", 0.9), ("mails", "closest", 0.6), ("posts", "random", 0.4), ("posts", "closest", 0.2),
        )
    ]  # fmt: skip
    write_measurements(rows, folder / "measurements.csv")
    datasets = {"mails": data_of("mails"), "posts": data_of("posts", "def")}
    write_findings([], folder / "findings.csv")
    write_measurements([], folder / "properties.csv")
    about = {"kind": "study", "settings": {}, "datasets": datasets, "splits": names, "model": "logistic"}
    write_json(folder / "run.json", about)
    return folder
