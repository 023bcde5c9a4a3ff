"""What `novel` holds out: whether it is new, stable, rightly labelled; writes docs/results/novelty.md.

    python -m benchmarks.novelty

Novelty of a test part: macro F1 of its rows when four fifths of it are in training (five folds, as many random
training rows with the same labels taken out), less macro F1 when all of it is held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.metrics import f1_score

import unseen
from benchmarks.setting import ROOT, data_folder, machine, table
from unseen.data.sample import sample_corpus
from unseen.inference import predict
from unseen.seeding import child_seed, generator
from unseen.splits.split_records import dealt
from unseen.training import RECIPES
from unseen.types import Dataset, Split

SEEDS = (42, 43, 44)
FOLDS = 5
METHODS = ("novel",)
"""Splitters measured on the sample: each costs 18 trainings."""
POSTS = 4_000
MANY = ((77, 130), (150, 100))

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Novelty:
    """Macro F1 of a test part, seen and unseen."""

    seen: float
    unseen: float


def novelty(data: Dataset, split: Split, model: str, seed: int) -> Novelty:
    """Trains once without the test part, and once per fold with the other folds of it."""
    test, train, draws = split.rows("test"), split.rows("train"), generator(seed, "benchmark", "novelty")
    fold_of = draws.permutation(len(test)) % FOLDS
    seen = np.empty(len(test), np.intp)
    for fold in range(FOLDS):
        back = test[fold_of != fold]
        kept = np.setdiff1d(train, _like(data, train, back, draws))
        seen[fold_of == fold] = _predicted(data, np.concatenate([kept, back]), test[fold_of == fold], model, seed)
    never = _predicted(data, train, test, model, seed)
    gold = data.labels[test]
    return Novelty(*(float(f1_score(gold, said, average="macro")) for said in (seen, never)))


def _like(data: Dataset, train: Rows, back: Rows, draws: np.random.Generator) -> Rows:
    """Training rows with the labels of `back`, at random."""
    counts = np.bincount(data.labels[back], minlength=len(data.label_names))
    of_label = [draws.permutation(train[data.labels[train] == label]) for label in range(len(counts))]
    return np.concatenate([rows[: min(count, len(rows) - 2)] for rows, count in zip(of_label, counts, strict=True)])


def _predicted(data: Dataset, train: Rows, test: Rows, model: str, seed: int) -> Rows:
    classifier = unseen.train(data.take(np.sort(train)), model, seed=seed)
    return np.asarray(predict(classifier, data, test).probabilities.argmax(axis=1))


def clean_sample() -> Dataset:
    """The bundled sample without its mislabelled texts."""
    data = sample_corpus()
    return data.take(np.flatnonzero(np.array(data.attribute("noisy").to_pylist()) == "no"))


def many_classes(classes: int, each: int, seed: int = 42) -> Dataset:
    """Texts of classes that each have a few words of their own and four sub-topics with more."""
    draws, texts, labels = generator(seed, "benchmark", "classes"), [], []
    for label in range(classes):
        for _ in range(each):
            topic = draws.integers(4)
            words = [f"own{label}x{word}" for word in draws.integers(6, size=draws.integers(3))]
            words += [f"topic{label}x{topic}x{word}" for word in draws.integers(8, size=3)]
            words += [f"common{word}" for word in draws.integers(300, size=5)]
            texts.append(" ".join(draws.permutation(words)))
            labels.append(f"class {label:03}")
    return unseen.load(pa.table({"text": texts, "label": labels}), text="text", label="label")


def overlap(splits: list[Split]) -> float:
    """Mean share of test rows that two of the splits have in common."""
    shared = [
        len(np.intersect1d(one.rows("test"), two.rows("test"))) / len(one.rows("test"))
        for one, two in combinations(splits, 2)
    ]
    return float(np.mean(shared))


def _out_of_fold(data: Dataset) -> Rows:
    """The label that logistic regression gives each row, trained on the other folds; a tenth of these tunes it."""
    fold_of, said, recipe = dealt(data, FOLDS, 42), np.empty(len(data), np.intp), RECIPES.make("logistic")
    for fold in range(FOLDS):
        others = np.flatnonzero(fold_of != fold)
        tuned = dealt(data.take(others), 10, child_seed(42, "dev", fold)) == 0
        train, dev = data.take(others[~tuned]), data.take(others[tuned])
        classifier = recipe.fit(train, dev, child_seed(42, "fold", fold))
        held = np.flatnonzero(fold_of == fold)
        said[held] = predict(classifier, data, held).probabilities.argmax(axis=1)
    return said


def sample_section() -> str:
    """The splitters on the clean sample."""
    data = clean_sample()
    vectors = unseen.encode(data)
    wrong = _out_of_fold(data) != data.labels
    rows = []
    for method in METHODS:
        splits = [unseen.split(data, method, using=vectors, seed=seed) for seed in SEEDS]
        found = [novelty(data, split, "neural", seed) for split, seed in zip(splits, SEEDS, strict=True)]
        points = [100 * (each.seen - each.unseen) for each in found]
        rows.append([
            f"`{method}`",
            f"{np.mean([each.seen for each in found]):.3f}",
            f"{np.mean([each.unseen for each in found]):.3f}",
            f"{np.mean(points):.1f} ({', '.join(f'{each:.1f}' for each in points)})",
            f"{np.mean([split.certificate.completed_share for split in splits]):.0%}",
            f"{100 * max(off_mix(split) for split in splits):.1f}",
            f"{np.mean([wrong[split.rows('test')].mean() for split in splits]):.1%}",
            f"{overlap(splits):.2f}",
        ])  # fmt: skip
        note = splits[0].certificate.notes
    header = ["split", "seen", "unseen", "novelty, points (each seed)", "added singly", "class off by at most, points",
              "cross-validated errors", "overlap"]  # fmt: skip
    return (
        f"## The sample without its {len(sample_corpus()) - len(data)} mislabelled texts\n\n"
        f"{len(data):,} texts, vectors by TF-IDF, macro F1 of `neural`, seeds {SEEDS} of split and training. Base rate of "
        f"cross-validated errors (logistic regression on TF-IDF): {wrong.mean():.1%}. Overlap is the mean share of test "
        f"rows that splits of two seeds have in common.\n\n{table(header, rows)}\nCertificate of `novel`: {note[1]}.\n"
    )


def off_mix(split: Split) -> float:
    """The largest difference of a class's share of the test part from what was asked."""
    asked, got = split.certificate.asked, split.certificate.got
    return max(abs(got[label] - asked[label]) for label in asked) / sum(asked.values())


def hatexplain_section() -> str:
    """Real posts, where they are at hand."""
    folder = data_folder()
    if folder is None:
        return ""
    data = unseen.load(folder / "hatexplain" / "train_test.csv", text="example", label="label")
    data = data.take(np.sort(generator(42, "benchmark", "posts").permutation(len(data))[:POSTS]))
    split = unseen.split(data, "novel")
    found = novelty(data, split, "logistic", 42)
    return (
        f"## HateXplain, {POSTS:,} posts\n\nCertificate: {'. '.join(split.certificate.notes)}. Logistic regression: "
        f"macro F1 {found.seen:.3f} seen, {found.unseen:.3f} unseen.\n"
    )


def classes_section() -> str:
    """Many classes: what is kept."""
    rows = []
    for classes, each in MANY:
        data = many_classes(classes, each)
        split = unseen.split(data, "novel", using=unseen.encode(data))
        got = split.certificate.got.values()
        sizes = f"{sum(split.certificate.asked.values())} / {sum(got)}"
        per_class = f"{min(got)}–{max(got)}"
        rows.append(
            [f"{classes} × {each}", split.certificate.n_clusters, sizes, per_class, split.certificate.completed]
        )
    header = ["classes × texts", "clusters", "rows asked / got", "rows per class", "added singly"]
    return f"## Many classes, synthetic\n\nEach class has a few words of its own and four sub-topics; seed 42.\n\n{table(header, rows)}"


if __name__ == "__main__":
    page = (
        f"# What `novel` holds out\n\n{machine()}. Written by `python -m benchmarks.novelty`. *Seen*: four fifths of the "
        "test part are in training, as many random rows with the same labels are not; *unseen*: all of it is held out; "
        "the difference is novelty.\n\n" + "\n".join([sample_section(), hatexplain_section(), classes_section()])
    )
    (ROOT / "docs" / "results" / "novelty.md").write_text(page, encoding="utf-8")
    print(page)
