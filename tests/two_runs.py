"""Run folders of a few rows, written by hand, of which two can be compared and one can be tracked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unseen.store import write_findings, write_json, write_measurements, write_split
from unseen.types import Certificate, Measurement, Origin, Split, string_array

Scores = Mapping[str, Sequence[float]]
RANDOM, HARD = [0.80, 0.82, 0.81], [0.50, 0.52, 0.51]
BETTER = [0.54, 0.57, 0.55]
SEEDS = (42, 55, 83)
LETTERS = {"random": "RRRDTTII", "closest": "TTRRRDII"}
CODES = {"R": 0, "D": 1, "T": 2, "I": 3}


def split_of(name: str, letters: str, data: str = "abc", clusters: Sequence[int] = (-1,) * 8) -> Split:
    """A split of eight rows."""
    parts = np.array([CODES[each] for each in letters], dtype=np.int8)
    numbers = np.array(clusters, dtype=np.int32)
    certificate = Certificate({"spam": 1, "ham": 1}, {"spam": 1, "ham": 1})
    return Split(name, string_array(list("abcdefgh")), parts, numbers, certificate, data, Origin("random.v1"))


def trainings(
    family: str, values: Sequence[float], metric: str = "f1.macro", seeds: Sequence[int] = SEEDS, **tags: Any
) -> list[Measurement]:
    """A row for each value: one split of the family, a seed each."""
    named = {"split": family, "family": family, "model": "minilm", "part": "test"} | tags
    return [
        Measurement(metric, value, 2, tags=named | {"seed": seed}) for value, seed in zip(values, seeds, strict=False)
    ]


def summaries(scores: Scores, metric: str = "f1.macro", **tags: Any) -> list[Measurement]:
    """The mean of each family, and the fall of each from random splits."""
    means = {family: sum(values) / len(values) for family, values in scores.items()}
    named = {"model": "minilm", "part": "test"} | tags
    rows = [
        Measurement(metric, mean, 2, mean - 0.1, mean + 0.1, tags=named | {"family": family, "seed": "mean"})
        for family, mean in means.items()
    ]
    falls = {family: means["random"] - mean for family, mean in means.items() if family != "random"}
    return rows + [
        Measurement(f"fall.{metric}", fall, 2, fall - 0.05, fall + 0.05, tags=named | {"family": family})
        for family, fall in falls.items()
    ]


def run_folder(
    folder: Path,
    scores: Scores,
    rows: Sequence[Measurement] | None = None,
    letters: Mapping[str, str] = LETTERS,
    data: str = "abc",
    **settings: Any,
) -> Path:
    """A run with these scores per family, three seeds each, or with these `rows`."""
    if rows is None:
        single = [row for family, values in scores.items() for row in trainings(family, values)]
        rows = [*single, *summaries(scores)]
    for family, parts in letters.items():
        write_split(split_of(family, parts, data), folder / "splits" / f"{family}.csv")
    write_measurements(rows, folder / "measurements.csv")
    write_findings([], folder / "findings.csv")
    write_measurements([], folder / "properties.csv")
    about = {
        "kind": "stress",
        "command": "unseen stress mails.csv --model minilm",
        "settings": {"metric": "f1.macro", "model": "minilm", "groups": None, "recipe": {"epochs": 3}} | settings,
        "data": {"name": "mails", "rows": 8, "label_names": ["spam", "ham"], "fingerprint": data},
        "model": "minilm",
        "splits": {family: family for family in letters},
        "versions": {"unseen": "0.1.0", "numpy": "2.0"},
        "finished": "2026-11-16T01:00:00+00:00",
    }
    write_json(folder / "run.json", about)
    return folder


def two_runs(folder: Path, **more: Any) -> tuple[Path, Path]:
    """A, and B that is better on the hard split alone; `more` is for B."""
    a = run_folder(folder / "a", {"random": RANDOM, "closest": HARD})
    return a, run_folder(folder / "b", {"random": [0.81, 0.81, 0.81], "closest": BETTER}, **more)
