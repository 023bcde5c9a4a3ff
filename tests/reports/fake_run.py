"""A run folder as `unseen stress` leaves it, with made-up numbers and harmless words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.store import write_findings, write_json, write_measurements, write_split
from unseen.types import PARTS, Certificate, Finding, Measurement, Origin, Split, string_array

LABELS = ("complaint", "question", "praise")
WORDS = ("parcel", "late", "driver", "depot", "window", "refund", "card", "invoice", "charge", "router", "login")
SCORES = {"random": (0.66, 0.65), "subset-sum": (0.53, 0.645), "closest": (0.27, 0.65)}
"""Family -> mean score on the test part and on the independent part."""


@dataclass
class FakeRun:
    """What to make; the names may be hostile."""

    rows: int = 3_000
    name: str = "support-tickets"
    labels: Sequence[str] = LABELS
    splits: Mapping[str, str] = field(
        default_factory=lambda: {
            **dict.fromkeys(("random-1", "random-2", "random-3"), "random"),
            "subset-sum": "subset-sum",
            "closest": "closest",
        }
    )
    scores: Mapping[str, tuple[float, float]] = field(default_factory=lambda: dict(SCORES))
    seeds: Sequence[int] = (42, 55, 83)
    slices: Sequence[str] = tuple(
        f"{attribute}={value}"
        for attribute, values in (
            ("channel", ("mail", "chat", "phone", "letter")),
            ("country", ("at", "be", "ch", "de", "dk", "es", "fr", "it", "nl", "no", "pl", "se")),
        )
        for value in values
    )
    words: Sequence[str] = WORDS
    command: str = "unseen stress tickets.csv --model minilm --seeds 42,55,83 --out runs/tickets"
    texts: bool = False
    noise: float = 0.24
    findings: Sequence[Finding] = ()
    """Further ones."""

    def write(self, folder: Path) -> Path:
        """Write the whole folder."""
        self.random = np.random.default_rng(7)
        folder.mkdir(parents=True, exist_ok=True)
        self._place_points()
        self._write_splits(folder)
        self._write_map(folder)
        clusters = self._clusters()
        (folder / "clusters.json").write_text(json.dumps(clusters), encoding="utf-8")
        if self.texts:
            ids = [each for cluster in clusters for each in cluster["examples"]]
            texts = {each: f"the {self.words[0]} of {each} is {self.words[-1]}" for each in ids}
            write_json(folder / "examples.json", texts)
        write_measurements([*self._scores(), *self._shares()], folder / "measurements.csv")
        write_measurements(self._properties(), folder / "properties.csv")
        self._write_findings(folder)
        write_json(folder / "run.json", self._about())
        return folder

    def _place_points(self) -> None:
        self.ids = [f"t{row:05d}" for row in range(self.rows)]
        self.codes = self.random.choice(len(self.labels), self.rows, p=_falling(len(self.labels)))
        k = 14
        self.cluster = self.random.integers(0, k, self.rows)
        centres = self.random.normal(0, 5, (k, 2))
        self.points = centres[self.cluster] + self.random.normal(0, 1.1, (self.rows, 2))
        self.points += 1.5 * np.column_stack([np.cos(self.codes * 2.1), np.sin(self.codes * 2.1)])
        self.parts = {name: self._parts(family) for name, family in self.splits.items()}
        self.cluster[: self.rows // 10] = -1

    def _parts(self, family: str) -> np.ndarray[Any, Any]:
        chosen = {"closest": (0,), "subset-sum": (3, 8)}.get(family)
        test = np.isin(self.cluster, chosen) if chosen else self.random.random(self.rows) < 0.11
        parts = np.where(test, "test", np.where(self.random.random(self.rows) < 0.1, "dev", "train")).astype("<U11")
        parts[: self.rows // 10] = "independent"
        return parts

    def _write_splits(self, folder: Path) -> None:
        for number, (name, family) in enumerate(self.splits.items()):
            clustered = family != "random"
            codes = np.array([PARTS.index(part) for part in self.parts[name]], dtype=np.int8)
            counts = np.bincount(self.codes[self.parts[name] == "test"], minlength=len(self.labels)).tolist()
            got = dict(zip(self.labels, counts, strict=True))
            certificate = Certificate(
                {label: count + (family == "subset-sum") for label, count in got.items()},
                got,
                completed=11 if clustered else 0,
                n_clusters=14 if clustered else None,
                missed_at_least=3 if family == "subset-sum" else None,
                optimal=True if family == "subset-sum" else None,
                notes=("The sweep over k stopped early.",) if family == "closest" else (),
            )
            groups = self.cluster if clustered else np.full(self.rows, -1)
            split = Split(
                name, string_array(self.ids), codes, groups.astype(np.int32), certificate, "f" * 16,
                Origin(f"{family}.v1", seed=42),
            )  # fmt: skip
            write_split(split, folder / "splits" / f"{number}.csv")

    def _write_map(self, folder: Path) -> None:
        columns = {
            "id": self.ids,
            "x": self.points[:, 0],
            "y": self.points[:, 1],
            "label": [self.labels[code] for code in self.codes],
        }
        pq.write_table(pa.table(columns | {name: parts.tolist() for name, parts in self.parts.items()}),
                       folder / "map.parquet")  # fmt: skip

    def _clusters(self) -> list[dict[str, Any]]:
        found = []
        for name, family in self.splits.items():
            for cluster in range(14) if family != "random" else ():
                rows = np.flatnonzero(self.cluster == cluster)
                counts = np.bincount(self.codes[rows], minlength=len(self.labels)).tolist()
                found.append(
                    {
                        "split": name,
                        "cluster": cluster,
                        "size": len(rows),
                        "test": int((self.parts[name][rows] == "test").sum()),
                        "labels": dict(zip(self.labels, counts, strict=True)),
                        "words": [self.words[(cluster + each) % len(self.words)] for each in range(10)],
                        "examples": [self.ids[row] for row in rows[:5]],
                    }
                )
        return found

    def _scores(self) -> list[Measurement]:
        rows = []
        metrics = ["f1.macro", "accuracy", *(f"f1[{label}]" for label in self.labels)]
        for family in dict.fromkeys(self.splits.values()):
            names = [name for name, each in self.splits.items() if each == family]
            runs = [(name, seed) for name in names for seed in (self.seeds[:1] if len(names) > 1 else self.seeds)]
            for part, middle in zip(("test", "independent", "dev"), (*self.scores[family], 0.68), strict=True):
                places = [(metric, "all") for metric in metrics]
                places += [("f1.macro", each) for each in self.slices] if part == "test" else []
                for metric, slice_ in places:
                    rows += self._of_runs(metric, slice_, family, part, middle, runs)
        for family in dict.fromkeys(self.splits.values()):
            if family != "random" and "random" in self.scores:
                fall = self.scores["random"][0] - self.scores[family][0]
                tags = {"family": family, "against": "random", "model": "minilm", "part": "test"}
                rows.append(Measurement("fall.f1.macro", fall, 300, fall - 0.03, fall + 0.025, tags=tags))
        return rows

    def _of_runs(
        self, metric: str, slice_: str, family: str, part: str, middle: float, runs: Sequence[tuple[str, int]]
    ) -> list[Measurement]:
        shift = 0.0 if (metric, slice_) == ("f1.macro", "all") else float(self.random.normal(0, 0.07))
        n = 300 if slice_ == "all" else int(self.random.integers(12, 90))
        offsets = np.linspace(-0.012, 0.012, len(runs)) if len(runs) > 1 else np.zeros(1)
        values = np.clip(middle + shift + offsets, 0, 1)
        tags = {"family": family, "model": "minilm", "part": part}
        rows = [
            Measurement(metric, float(value), n, float(value) - 0.03, float(value) + 0.03, slice_,
                        {"split": name, **tags, "seed": seed})
            for value, (name, seed) in zip(values, runs, strict=True)
        ]  # fmt: skip
        mean = float(values.mean())
        rows.append(Measurement(metric, mean, n, mean - 0.022, mean + 0.024, slice_, {**tags, "seed": "mean"}))
        return rows

    def _shares(self) -> list[Measurement]:
        rows = []
        for name, family in self.splits.items():
            if family != "random":
                tags = {"split": name, "family": family, "model": "minilm", "part": "test"}
                share = self.noise if family == "closest" else 0.1
                unseen, random = self.scores[family][0], self.scores.get("random", (0.66, 0.65))[0]
                seen = unseen + 0.05
                for metric, value in (
                    ("suspect_labels", share),
                    ("suspect_labels.control", 0.09),
                    ("label_noise", share),
                    ("label_noise.control", 0.09),
                    ("fall.corrected.f1.macro", random - unseen - share),
                    ("chance.f1.macro", 0.33),
                ):
                    rows.append(Measurement(metric, value, 300, value - 0.03, value + 0.03, tags=tags))
                tags = {"family": family, "against": "random", "model": "minilm", "part": "test"}
                for metric, value in (
                    ("fall.selection.f1.macro", random - seen),
                    ("fall.novelty.f1.macro", seen - unseen),
                    ("test_overlap.space_seeds", 0.4),
                ):
                    rows.append(Measurement(metric, value, 300, value - 0.03, value + 0.03, tags=tags))
                rows += self._of_runs(
                    "seen.f1.macro", "all", family, "test", seen, [(name, each) for each in self.seeds]
                )
        return rows

    def _properties(self) -> list[Measurement]:
        rows = []
        for name, family in self.splits.items():
            far = {"random": 0.0, "subset-sum": 0.5}.get(family, 1.0)
            for metric, start, change, parts in (
                ("unigram_overlap", 0.52, -0.16, ("test",)),
                ("length.words", 23.4, 9.1, ("train", "test")),
                ("rare_words", 0.41, 0.33, ("train", "test")),
                ("nearest_train_distance.cosine", 0.11, 0.12, ("test",)),
                ("nearest_train_distance_ratio.cosine", 1.0, 0.9, ("test",)),
                ("class_word_overlap", 0.38, -0.12, ("test",)),
                ("shift.channel", 0.02, 0.21, ("test",)),
                ("under_represented.channel", 0.0, 2.0, ("test",)),
                ("split_groups.customer", 0.31, -0.1, ("test",)),
            ):
                for part in parts:
                    noise = 0 if metric.startswith("under") else float(self.random.normal(0, 0.004))
                    value = start + change * far * (part != "train") + noise
                    tags = {"split": name, "part": part}
                    spread = 0.05 * abs(start) if "." not in metric or "words" in metric else None
                    ends = (value - spread, value + spread) if spread else (None, None)
                    rows.append(Measurement(metric, value, 300, *ends, tags=tags))
            rows += [
                Measurement("train_share", 0.9 - 0.5 * far, 300, slice=each, tags={"split": name, "part": "test"})
                for each in self.slices
            ]
            rows += [
                Measurement("label_share", 1 / 3, 300, slice=f"label={label}", tags={"split": name, "part": "test"})
                for label in self.labels
            ]
        return rows

    def _write_findings(self, folder: Path) -> None:
        last = list(self.splits)[-1]
        lines = [
            ("class-mix[random-1]", "ok", "The class mix of test and train is the same.", 0, [], ""),
            (f"label-noise[{last}]", "warn", "About 24 % of the test labels are wrong.", 72,
             self.ids[:12], "Have a second person label these texts."),
            (f"matched-random[{last}]", "fail", "A random split of the same size and class mix does not fall.", 0, [],
             "The fall is due to which texts are tested, not to how many there are."),
            ("annotators", "skipped", "The data does not say who labelled what.", 0, [], ""),
        ]  # fmt: skip
        found = [Finding(*line[:4], tuple(line[4]), line[5]) for line in lines]
        write_findings([*found, *self.findings], folder / "findings.csv")

    def _about(self) -> dict[str, Any]:
        counts = np.bincount(self.codes, minlength=len(self.labels)).tolist()
        return {
            "kind": "stress",
            "command": self.command,
            "settings": {"metric": "f1.macro", "budget": "small", "seeds": list(self.seeds), "recipe": {"epochs": 4}},
            "data": {
                "name": self.name,
                "rows": self.rows,
                "label_names": list(self.labels),
                "fingerprint": "f" * 16,
                "counts": dict(zip(self.labels, counts, strict=True)),
            },
            "model": "minilm",
            "versions": {"unseen": "0.1.0", "torch": "2.13.0", "numpy": "2.3.1"},
            "host": {"cpu": "2 cores", "memory": "8 GB"},
            "timings": [
                {"step": "fine-tune", "seconds": 312.4},
                {"step": "encode", "seconds": 41.9},
                {"step": "split", "seconds": 6.25},
                {"step": "retrain", "seconds": 2811.0},
                {"step": "properties", "seconds": 12.0},
            ],
            "finished": "2026-11-15T21:04:00+00:00",
        }


def _falling(count: int) -> np.ndarray[Any, Any]:
    weights = 1 / np.arange(2, 2 + count)
    return weights / weights.sum()
