"""What a fall is made of, on real data: docs/results/what-a-fall-is-made-of.md.

    python -m studies.what_a_fall_is_made_of FOLDER [NAME…]

Runs what is named (or everything) into FOLDER, goes on where it was interrupted, and writes the page from all that is
finished there. The data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.setting import ROOT, machine, real_file, table, write_measured

import unseen
from unseen.audits import FOLDS, seen_fold
from unseen.data.sample import sample_corpus
from unseen.evaluation import metric
from unseen.reports.case import cases
from unseen.reports.record import RunRecord, read_record
from unseen.runs.stress import stress
from unseen.store import read_json, write_json
from unseen.types import Dataset, Measurement
from unseen.types.numbers import bounds, number, percent, points

Rows = npt.NDArray[np.intp]

ROWS = 3_000
SPLITS = ("random", "closest", "subset-sum", "novel")
PUBLISHED = {
    "closest_bert_bottleneck50": "published BERT split",
    "closest_roberta_bottleneck50": "published RoBERTa split",
}
WORDS_ONLY = "words-only.json"
SEED = 42
PAGE = ROOT / "docs" / "results" / "what-a-fall-is-made-of.md"


@dataclass(frozen=True)
class Corpus:
    """Data of the study, and the splits of it that hold out something with a name."""

    title: str
    load: Callable[[], Dataset]
    held_out: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Splits by what they hold out: what `unseen.split` takes."""


def sample(clean: bool) -> Dataset:
    """The bundled sample, with its wrong labels or without those texts."""
    data = sample_corpus()
    kept = np.array([not clean or each == "no" for each in data.attribute("noisy").to_pylist()])
    return data.take(np.flatnonzero(kept))


def hatexplain() -> Dataset:
    """The 17,305 posts of the thesis."""
    return unseen.load(
        real_file("hatexplain", "train_test.csv"), text="example", label="label", attributes=["dataset"]
    )  # fmt: skip


def davidson() -> Dataset:
    """Davidson's tweets; most of three annotators decided."""
    return unseen.load(real_file("davidson", "labeled_data.csv"), text="tweet", label="class")


def stormfront() -> Dataset:
    """Sentences of a forum that were called hateful or not."""
    return unseen.load("stormfront", data_dir=real_file())


def reviews() -> Dataset:
    """Reviews of seven domains, repeated texts once."""
    data = unseen.load(real_file("reviews", "reviews.csv"), text="text", label="label", id="id", attributes=["domain"])
    first = np.unique(np.array(data.texts.to_pylist(), dtype=object), return_index=True)[1]
    return data.take(np.sort(first))


CORPORA = {
    "sample-clean": Corpus("sample without wrong labels", lambda: sample(clean=True), {"authors": {"method": "grouped", "groups": "author"}}),
    "sample": Corpus("sample, 4 % wrong labels", lambda: sample(clean=False)),
    "hatexplain": Corpus("HateXplain", hatexplain),
    "davidson": Corpus("Davidson", davidson),
    "stormfront": Corpus("Stormfront", stormfront, {"users": {"method": "grouped", "groups": "user_id"}}),
    "reviews": Corpus("reviews", reviews, {"imdb": {"method": "attribute", "by": "domain", "values": ["imdb"]}}),
}  # fmt: skip
LIGHT = ("logistic", "neural")
FINE_TUNED = ("hatexplain",)
"""Where MiniLM is fine-tuned: two cores do not allow for more."""
TFIDF = ("sample-clean", "davidson")
"""Where `neural` is also tested on closest splits of TF-IDF vectors, in which no label was seen."""
RUNS = [
    *(f"{name}.{model}" for name in CORPORA for model in LIGHT),
    *(f"{name}.tfidf" for name in TFIDF),
    "published.logistic",
    "published.words",
    *(f"{name}.minilm" for name in FINE_TUNED),
]


def carry_out(name: str, out: Path) -> None:
    """One run of the study."""
    corpus, _, model = name.partition(".")
    if name == "published.words":
        words_only(out)
        return
    if corpus == "published":
        folder = real_file("hatexplain", "published_splits")
        files = [str(folder / f"{each}.txt") for each in PUBLISHED]
        stress(
            real_file("hatexplain", "train_test.csv"), text="example", label="label", model="logistic", out=out / name,
            independent=str(real_file("hatexplain", "dev.csv")), split_files=files, seeds=(42,), random_splits=3,
        )  # fmt: skip
        return
    data = CORPORA[corpus].load()
    settings: dict[str, Any] = {"model": model, "splits": SPLITS, "limit": ROWS}
    if model == "tfidf":
        settings |= {"model": "neural", "representation": "pretrained", "splits": ("random", "closest")}
    if model == "logistic":  # no luck in its training
        settings |= {"seeds": (42,), "random_splits": 3}
    if model == "minilm":
        settings |= {"limit": 2_000, "splits": ("random", "closest", "novel"), "space_seeds": 0}
    files = [] if model == "tfidf" else [str(each) for each in held_out(corpus, data, out)]
    stress(data, out=out / name, split_files=files, **settings)


def words_only(out: Path) -> None:
    """The published splits again with the plainest model there is: single words, C = 1."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    data = hatexplain()
    texts, score = np.array(data.texts.to_pylist(), dtype=object), metric("f1.macro")

    def asked(train: Rows, test: Rows) -> Any:
        model = make_pipeline(TfidfVectorizer(min_df=2, sublinear_tf=True), LogisticRegression(max_iter=300))
        return model.fit(texts[train], data.labels[train]).predict_proba(texts[test])

    found = {}
    for name in PUBLISHED:
        file = real_file("hatexplain", "published_splits", f"{name}.txt")
        split = unseen.split(data, "predefined", by=file, name=name)
        folds = [seen_fold(data, split, fold, seed=SEED) for fold in range(FOLDS)]
        answers = np.concatenate([asked(fold.train, fold.test) for fold in folds])
        rows, test = np.concatenate([fold.test for fold in folds]), split.rows("test")
        found[name] = {
            "seen": score(data.labels[rows], answers, data.label_names),
            "unseen": score(data.labels[test], asked(split.rows("train"), test), data.label_names),
        }
    write_json(out / WORDS_ONLY, found)


def held_out(corpus: str, data: Dataset, out: Path) -> Iterator[Path]:
    """Files of the splits of a corpus that hold out something with a name."""
    for name, how in CORPORA[corpus].held_out.items():
        path = out / "splits" / corpus / f"{name}.csv"
        if not path.exists():
            given = dict(how) | ({"test": 0.1} if how["method"] == "grouped" else {})
            unseen.write_split(unseen.split(data, given.pop("method"), **given, name=name), path)
        yield path


def said(row: Measurement | None) -> str:
    """A fall in points, with its interval."""
    return "–" if row is None or row.value is None else f"{points(row.value)} {bounds(row, points)}".strip()


def rows_of(run: RunRecord, corpus: str, model: str) -> Iterator[list[str]]:
    """A line a split: random, seen, unseen, the fall and its parts, wrong labels."""
    for case in cases(run):
        if "TF-IDF" in model and case.family != "closest":
            continue
        noise = "cannot be told" if case.noise is None else percent(case.noise.value)
        yield [
            corpus, model, PUBLISHED.get(case.family, case.family), number(case.random.value),
            "–" if case.seen is None else number(case.seen.value), number(case.hard.value), said(case.measured),
            said(case.selection), f"**{said(run.measured(f'fall.novelty.{run.metric}', case.family))}**", noise,
            said(case.corrected) if case.noise is not None else "–",
            "–" if case.overlap is None else percent(case.overlap.value),
        ]  # fmt: skip


def tables(out: Path) -> str:
    """The lines of every run that is finished."""
    lines = []
    for name in RUNS:
        folder = out / name
        if not (folder / "report.html").exists():
            continue
        corpus, _, model = name.partition(".")
        title = "HateXplain, all posts" if corpus == "published" else CORPORA[corpus].title
        called = {"tfidf": "neural, TF-IDF space", "minilm": "MiniLM, fine-tuned"}.get(model, model)
        lines += rows_of(read_record(folder, "stress"), title, called)
    header = [
        "data", "model", "split", "random", "seen", "unseen", "fall", "selection", "novelty", "wrong labels",
        "fall of right labels", "stays",
    ]  # fmt: skip
    return table(header, lines) + _words(out)


def _words(out: Path) -> str:
    if not (out / WORDS_ONLY).exists():
        return ""
    found = read_json(out / WORDS_ONLY)
    said = [
        f"{PUBLISHED[name]}: seen {number(each['seen'], 3)}, unseen {number(each['unseen'], 3)}, novelty "
        f"{points(each['seen'] - each['unseen'])}"
        for name, each in found.items()
    ]
    return f"\nThe published splits with single words and C = 1 in place of our `logistic`: {'; '.join(said)}.\n"


def write_page(out: Path) -> None:
    """The page with its table made anew."""
    seeds = f"{machine()}; seeds 42, 55, 83 (MiniLM and logistic: 42)."
    write_measured(PAGE, "What a fall is made of", f"{seeds}\n\n{tables(out)}")


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
