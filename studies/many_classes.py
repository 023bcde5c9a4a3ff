"""Stress runs on data of many classes: docs/results/many-classes.md.

python -m studies.many_classes FOLDER [NAME…]

Runs what is named (or everything) into FOLDER, goes on where it was interrupted, and writes the page from all that is
finished there. The real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.setting import ROOT, machine, real_file, table, write_measured

import unseen
from unseen.reports.case import cases
from unseen.reports.record import read_record
from unseen.runs.stress import stress
from unseen.types import Dataset, Measurement
from unseen.types.numbers import bounds, number, percent, points

SEED = 42
WORDS, SHARED, OWN = 1_600, 400, 8
"""Made-up words in all, those that every class uses, those of one topic of a class."""
PAGE = ROOT / "docs" / "results" / "many-classes.md"


def made_up(classes: int, rows: int) -> Dataset:
    """Texts of made-up words: each class has three topics; three words of ten are of one, and classes share words."""
    draw = np.random.default_rng(SEED)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    words = np.unique(["".join(draw.choice(syllables, size=3)) for _ in range(2 * WORDS)])[:WORDS]
    common, rest = words[:SHARED], words[SHARED:]
    topics = [draw.choice(rest, size=OWN, replace=False) for _ in range(3 * classes)]
    lines = []
    for number_ in range(classes * rows):
        topic = topics[3 * (number_ % classes) + int(draw.integers(3))]
        text = [*draw.choice(topic, size=3), *draw.choice(common, size=7)]
        lines.append({"text": " ".join(draw.permutation(text)), "label": f"intent-{number_ % classes:03d}"})
    return unseen.load(lines, name=f"made-up, {classes} classes")


def once(*path: str, **columns: Any) -> Dataset:
    """A file of the real data, repeated texts once."""
    data = unseen.load(real_file(*path), **columns)
    first = np.unique(np.array(data.texts.to_pylist(), dtype=object), return_index=True)[1]
    return data.take(np.sort(first))


DATA = {
    "made-up-77": lambda: made_up(77, 130),
    "made-up-150": lambda: made_up(150, 100),
    "emotion": lambda: once("tweeteval", "emotion.csv", name="TweetEval emotion"),
    "domains": lambda: once("reviews", "reviews.csv", label="domain", name="reviews by domain"),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "logistic": {"seeds": (SEED,), "space_seeds": 0, "seen_folds": 2},
    "neural": {"space_seeds": 0, "seen_folds": 2},
    "minilm": {
        "seeds": (SEED,), "splits": ("random", "closest"), "random_splits": 1, "seen_folds": 0, "space_seeds": 0,
    },
}  # fmt: skip
RUNS = [*(f"{name}.{model}" for name in DATA for model in ("logistic", "neural")), "made-up-150.minilm"]


def carry_out(name: str, out: Path) -> None:
    """One run."""
    data, _, model = name.partition(".")
    stress(DATA[data](), model=model, out=out / name, workers=None, **{"limit": 15_000, **SETTINGS[model]})


def said(row: Measurement | None) -> str:
    """A fall in points, with its interval."""
    return "–" if row is None or row.value is None else f"{points(row.value)} {bounds(row, points)}".strip()


def lines_of(folder: Path, model: str) -> Iterator[list[str]]:
    """A line a split."""
    run = read_record(folder, "stress")
    for case in cases(run):
        certificate = run.of_family(case.family)[0].certificate
        within = any("of each of" in note for note in certificate.notes)
        yield [
            str(run.about["data"]["name"]), str(len(run.about["data"]["label_names"])), model, case.family,
            "classes" if within else "the space", percent(certificate.completed_share), str(certificate.missed),
            number(case.random.value), number(case.hard.value), said(case.measured), said(case.novelty),
        ]  # fmt: skip
    for family, why in dict(run.about.get("impossible") or {}).items():
        yield [str(run.about["data"]["name"]), "", model, family, why.splitlines()[0], *[""] * 6]


def write_page(out: Path) -> None:
    """The page with its table made anew."""
    done = [name for name in RUNS if (out / name / "report.html").exists()]
    lines = [line for name in done for line in lines_of(out / name, name.partition(".")[2])]
    header = [
        "data", "classes", "model", "split", "clusters of", "added singly", "rows off", "random", "held out", "fall",
        "novelty",
    ]  # fmt: skip
    seeds = f"{machine()}; seed {SEED} (neural: 42, 55, 83)."
    write_measured(PAGE, "Many classes", f"{seeds}\n\n{table(header, lines)}")


def main() -> None:
    """Run what is named, then write the page."""
    out, names = Path(sys.argv[1]), sys.argv[2:] or RUNS
    for name in names:
        if name != "page":
            print(name, flush=True)
            carry_out(name, out)
    write_page(out)


if __name__ == "__main__":
    main()
