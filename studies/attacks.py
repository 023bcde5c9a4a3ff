"""Attacks on models of hateful posts: docs/results/attacks.md.

python -m studies.attacks FOLDER --wordnet DICT --tags FILE [NAME…]

Runs what is named (`davidson.logistic`, …) or everything into FOLDER, goes on where it was interrupted, and writes the
page from all that is finished there. DICT is WordNet's dictionary (a folder or an archive), FILE a list of parts of
speech. The real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.setting import ROOT, machine, real_file, table, write_measured

import unseen
from unseen.reports.attack_page import RAW, VALID, attacks_of
from unseen.reports.record import RunRecord, read_record
from unseen.runs.attack import attack
from unseen.types import Dataset, Measurement, Split
from unseen.types.numbers import bounds, number, percent, points

SEED, ROWS, TEXTS = 42, 4_000, 60
"""The seed, posts of each dataset that are used, and posts of each part that are attacked."""
PAGE = ROOT / "docs" / "results" / "attacks.md"
ATTACKS = ("characters", "pwws", "pwws-synonyms", "textfooler-minilm")
DATA: dict[str, dict[str, Any]] = {
    "davidson": {
        "file": ("davidson", "labeled_data.csv"), "text": "tweet", "label": "class",
        "labels": {"0": "hateful", "1": "offensive", "2": "neither"},
    },
    "hatexplain": {"file": ("hatexplain", "train_test.csv"), "text": "example", "label": "label", "delimiter": "\t"},
}  # fmt: skip
MODELS = ("logistic", "minilm")


def posts(name: str) -> Dataset:
    """Some posts of a dataset, repeated ones once."""
    columns = dict(DATA[name])
    data = unseen.load(real_file(*columns.pop("file")), name=name, **columns)
    first = np.unique(np.array(data.texts.to_pylist(), dtype=object), return_index=True)[1]
    drawn = np.random.default_rng(SEED).permutation(np.sort(first))[:ROWS]
    return data.take(np.sort(drawn))


def hard_split(data: Dataset) -> Split:
    """Whole regions of MiniLM's space as the test part, and a tenth of the posts set aside at random first."""
    return unseen.split(data, "closest", using=unseen.encode(data, "minilm"), independent=0.1, seed=SEED)


def carry_out(name: str, out: Path, wordnet: str, tags: str) -> None:
    """Train a model on the training part of the hard split and attack posts of the test part and of those set aside."""
    dataset, _, recipe = name.partition(".")
    data = posts(dataset)
    split = hard_split(data)
    model = out / "models" / name
    if not model.exists():
        unseen.train(data.take(split.rows("train")), recipe, seed=SEED).save(model)
    lexicons = real_file("lexicons", "ppdb_synonyms.txt").parent
    attack(
        data, model=str(model), attacks=ATTACKS, split=split, limit=TEXTS, texts=True, out=out / name, seed=SEED,
        tags=tags, antonyms=[lexicons / "wordnet_antonyms.txt", lexicons / "ppdb_antonyms.txt"],
        params={
            "pwws": {"wordnet": wordnet}, "pwws-synonyms": {"synonyms": str(lexicons / "ppdb_synonyms.txt")},
            "textfooler-minilm": {"tags": tags},
        },
    )  # fmt: skip


def share(row: Measurement | None) -> str:
    """A share with its interval."""
    return "–" if row is None or row.value is None else f"{percent(row.value)} {bounds(row, percent)}".strip()


def lines(name: str, run: RunRecord) -> Iterator[list[str]]:
    """A line an attack."""
    dataset, _, model = name.partition(".")
    for one in attacks_of(run):
        parts = {part: run.row(VALID, f"part={part}", attack=one) for part in ("test", "independent")}
        difference = run.row(f"difference.{VALID}", attack=one)
        yield [
            dataset, model, one, str(run.row(VALID, attack=one).n), share(run.row(RAW, attack=one)),  # type: ignore[union-attr]
            share(run.row(VALID, attack=one)), number(run.value("queries", attack=one), 0),
            percent(run.value("edit_rate", attack=one)), *(share(row) for row in parts.values()),
            "–" if difference is None else f"{points(difference.value)} {bounds(difference, points)}",
        ]  # fmt: skip


def objections(name: str, run: RunRecord) -> Iterator[list[str]]:
    """A line a check."""
    checks = dict.fromkeys(row.metric for row in run.measurements if row.metric.startswith("check."))
    for check in checks:
        cells = []
        for one in attacks_of(run):
            row = run.row(check, attack=one)
            cells.append("–" if row is None or row.value is None else f"{percent(1 - row.value)} of {row.n}")
        yield [*name.split("."), check.removeprefix("check.").replace("_", " "), *cells]


def write_page(out: Path) -> None:
    """The page with its tables made anew."""
    names = [f"{dataset}.{model}" for dataset in DATA for model in MODELS]
    runs = {name: read_record(out / name, "attack") for name in names if (out / name / "report.html").exists()}
    success = table(
        ["data", "model", "attack", "attacked", "raw success", "valid success", "queries", "words changed",
         "valid, hard part", "valid, set aside", "difference, points"],
        [line for name, run in runs.items() for line in lines(name, run)],
    )  # fmt: skip
    objected = table(
        ["data", "model", "check", *ATTACKS], [line for name, run in runs.items() for line in objections(name, run)]
    )
    write_measured(
        PAGE, "Attacks", f"{machine()}; seed {SEED}.\n\n{success}\n\n## What the checks object to\n\n{objected}"
    )


def main() -> None:
    """Run what is named, then write the page."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("out", type=Path)
    reader.add_argument("names", nargs="*")
    reader.add_argument("--wordnet", default="")
    reader.add_argument("--tags", default="")
    given = reader.parse_intermixed_args()
    every = [f"{dataset}.{model}" for model in MODELS for dataset in DATA]
    for name in given.names or every:
        if name != "page":
            print(name, flush=True)
            carry_out(name, given.out, given.wordnet, given.tags)
    write_page(given.out)


if __name__ == "__main__":
    main()
