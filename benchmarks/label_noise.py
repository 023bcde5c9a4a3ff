"""Wrong labels that were planted, and what `label_noise` says about them: docs/results/label-noise.md.

    python -m benchmarks.label_noise

Labels are changed at random (uniform: to any other label; by class: only between labels of a pair) on data whose labels
are right, or taken to be. Then, on the sample, the region that a network trained on those labels finds hardest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import unseen
from benchmarks.setting import ROOT, data_folder, machine, table
from unseen.audits import LabelNoise, corrected_fall, label_noise
from unseen.audits.label_noise import AMBIGUOUS, SUSPECT
from unseen.data.sample import sample_corpus
from unseen.evaluation import Run, fall
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, string_array
from unseen.types.arrays import encode_labels

SEED = 42
POSTS = 3000
PLANTED = (("none", 0.0), ("uniform", 0.04), ("uniform", 0.1), ("uniform", 0.2), ("by class", 0.2))
CLASSES, PER_CLASS, WORDS = 50, 50, 30
CONTROLS = (1, 2, 3)
METRIC = "f1.macro"
Mask = npt.NDArray[np.bool_]


def main() -> None:
    """Measure and write the page."""
    rows = [_judged(name, kind, rate, data) for name, data in datasets() for kind, rate in PLANTED]
    falls = [_fallen(kind, rate) for kind, rate in PLANTED]
    page = (
        "# Label noise: what was measured\n\n"
        f"{machine()}; seed {SEED}. Written by `python -m benchmarks.label_noise`.\n\n"
        "## Planted noise\n\n"
        "Uniform: a label is replaced by any other one; by class: labels are paired, and replaced by their partner. The "
        "sample is taken without its own wrong labels; the labels of real posts and reviews are taken as they are, so what "
        "is found there may be real noise too. Suspects without planted noise are false alarms.\n\n"
        + table(
            ["data", "planted", "share", "estimated", "suspects", "precision of “wrong”", "recall of “wrong”",
             "ambiguity", "told"],
            rows,
        )
        + f"\nAmbiguity is the share of right labels that the witness expects to get wrong; from {AMBIGUOUS:.0%} on, noise "
        "is not told.\n\n"
        "## The region that a model finds hardest\n\n"
        f"The sample, noise planted, a small network trained on it, `closest` in its own space, against {len(CONTROLS)} random "
        f"splits; one training each. Falls are points of {METRIC}: of all rows; of those whose label is right, which is the "
        "truth; without the suspects; and as `fall.corrected` estimates it, leaving rows out as often as their label is "
        "probably wrong.\n\n"
        + table(
            ["planted", "share in the test part", "estimated", "precision of “wrong”", "recall of “wrong”", "fall",
             "right labels", "no suspects", "corrected"],
            falls,
        )
    )  # fmt: skip
    (ROOT / "docs" / "results" / "label-noise.md").write_text(page, encoding="utf-8")


def datasets() -> Iterator[tuple[str, Dataset]]:
    """The data with labels that are right, or taken to be."""
    yield "sample", right_sample()
    yield f"made, {CLASSES} classes", many_classes()
    folder = data_folder()
    if folder is None:
        print("no real data: set UNSEEN_DATA to their folder", file=sys.stderr)
        return
    posts = unseen.load("hatexplain-thesis", data_dir=folder)
    yield "HateXplain", posts.take(np.sort(generator(SEED, "posts").choice(len(posts), POSTS, replace=False)))
    reviews = unseen.load(
        folder / "reviews" / "reviews.csv", text="text", label="label", id="id", attributes=["domain"]
    )
    yield "reviews of kitchenware", reviews.take(np.flatnonzero(_is(reviews, "domain", "kitchen")))


def right_sample() -> Dataset:
    """The rows of the sample whose label is right."""
    data = sample_corpus()
    return data.take(np.flatnonzero(_is(data, "noisy", "no")))


def many_classes() -> Dataset:
    """Texts of many classes: words of their own, of a family of four classes, of everybody, and a few of others."""
    draw = generator(SEED, "classes")
    names = tuple(f"class {number}" for number in range(CLASSES))
    texts, labels = [], []
    for row in range(CLASSES * PER_CLASS):
        own = row % CLASSES
        kinds = draw.choice(["own", "family", "other", "any"], p=[0.2, 0.2, 0.05, 0.55], size=int(draw.integers(6, 16)))
        of = {"own": own, "family": own // 4, "other": int(draw.integers(CLASSES)), "any": 0}
        ranks = (WORDS * draw.random(len(kinds)) ** 2).astype(int)  # the first words are the most frequent
        said = [("own" if kind == "other" else kind, of[kind], rank) for kind, rank in zip(kinds, ranks, strict=True)]
        texts.append(" ".join(f"{kind}{number}x{rank}" for kind, number, rank in said))
        labels.append(names[own])
    ids = [f"made-{row:05d}" for row in range(len(texts))]
    columns = pa.table({"id": ids, "text": texts, "label": labels})
    return unseen.load(columns, text="text", label="label", id="id", labels=names)


def planted(data: Dataset, kind: str, rate: float) -> Dataset:
    """The data with a share of its labels changed."""
    draw, classes = generator(SEED, "planted", kind, str(rate)), len(data.label_names)
    changed = draw.random(len(data)) < rate
    if kind == "by class":
        other = np.where((data.labels ^ 1) < classes, data.labels ^ 1, data.labels)
    else:
        other = (data.labels + draw.integers(1, classes, size=len(data))) % classes
    codes = np.where(changed, other, data.labels)
    labels = encode_labels(string_array([data.label_names[code] for code in codes]), data.label_names)
    return replace(data, table=data.table.set_column(2, "label", labels))


def _judged(name: str, kind: str, rate: float, right: Dataset) -> list[Any]:
    data = planted(right, kind, rate)
    bad, noise = data.labels != right.labels, label_noise(data, seed=SEED)
    precision, recall = _found(noise, bad, np.arange(len(data)))
    line = [name, kind, f"{bad.mean():.1%}", _said(noise.share()),
            f"{(noise.wrong > SUSPECT).mean():.1%}", precision, recall, f"{noise.ambiguity:.2f}",
            "yes" if noise.clear else "no"]  # fmt: skip
    print(*line, sep=" | ", file=sys.stderr, flush=True)
    return line


def _fallen(kind: str, rate: float) -> list[Any]:
    right = right_sample()
    data = planted(right, kind, rate)
    bad, noise = data.labels != right.labels, label_noise(data, seed=SEED)
    space = unseen.encode(data, unseen.train(data, "neural", seed=SEED))
    hard = [_run(data, "closest", using=space, seed=SEED)]
    control = [_run(data, "random", seed=seed) for seed in CONTROLS]
    rows = hard[0][1]
    numbers = [
        fall(*([run.only(~left_out[rows]) for run, rows in side] for side in (control, hard)), METRIC).value
        for left_out in (np.zeros(len(data), bool), bad, noise.wrong > SUSPECT)
    ]
    numbers.append(corrected_fall(noise, control, hard, METRIC).value)
    line = [f"{kind} {rate:.0%}", f"{bad[rows].mean():.1%}", _said(noise.share(rows)), *_found(noise, bad, rows),
            *(f"{100 * (each or 0):.1f}" for each in numbers)]  # fmt: skip
    print(*line, sep=" | ", file=sys.stderr, flush=True)
    return line


def _run(data: Dataset, method: str, **request: Any) -> tuple[Run, npt.NDArray[np.intp]]:
    split = unseen.split(data, method, test=0.1, dev=0.1, **request)
    train, dev = (data.take(split.rows(part)) for part in ("train", "dev"))
    predictions = unseen.predict(data, unseen.train(train, "neural", dev=dev, seed=SEED))
    rows, name = split.rows("test"), f"{method}-{request['seed']}"
    return Run.of(data, predictions, rows, split=name, family=method, seed=SEED), rows


def _found(noise: LabelNoise, bad: Mask, rows: npt.NDArray[np.intp]) -> tuple[str, str]:
    suspect, bad = noise.wrong[rows] > SUSPECT, bad[rows]
    hits = int((suspect & bad).sum())
    return tuple(f"{hits / n:.2f}" if bad.any() and (n := int(side.sum())) else "–" for side in (suspect, bad))  # type: ignore[return-value]


def _said(share: Measurement) -> str:
    return f"{share.value:.1%} [{share.low:.1%}, {share.high:.1%}]"


def _is(data: Dataset, attribute: str, value: str) -> Mask:
    return np.asarray(data.attribute(attribute).to_pylist(), dtype=object) == value


if __name__ == "__main__":
    main()
