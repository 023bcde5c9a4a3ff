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
from benchmarks.setting import ROOT, data_folder, machine, table

import unseen
from unseen.data.sample import sample_corpus
from unseen.reports.case import cases
from unseen.reports.run import Run, read_run
from unseen.reports.wording import bounds, number, percent, points
from unseen.study import stress
from unseen.types import Dataset, Measurement

ROWS = 3_000
SPLITS = ("random", "closest", "subset-sum", "novel")
PUBLISHED = {
    "closest_bert_bottleneck50": "published BERT split",
    "closest_roberta_bottleneck50": "published RoBERTa split",
}
PAGE = ROOT / "docs" / "results" / "what-a-fall-is-made-of.md"


@dataclass(frozen=True)
class Corpus:
    """Data of the study, and the splits of it that hold out something with a name."""

    title: str
    load: Callable[[], Dataset]
    held_out: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Splits by what they hold out: what `unseen.split` takes."""


def shared(*path: str) -> Path:
    """A file of the real data."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("there is no real data: set UNSEEN_DATA")
    return folder.joinpath(*path)


def sample(clean: bool) -> Dataset:
    """The bundled sample, with its wrong labels or without those texts."""
    data = sample_corpus()
    kept = np.array([not clean or each == "no" for each in data.attribute("noisy").to_pylist()])
    return data.take(np.flatnonzero(kept))


def hatexplain() -> Dataset:
    """The 17,305 posts of the thesis."""
    return unseen.load(
        shared("hatexplain", "train_test.csv"), text="example", label="label", attributes=["dataset"]
    )  # fmt: skip


def davidson() -> Dataset:
    """Davidson's tweets; most of three annotators decided."""
    return unseen.load(shared("davidson", "labeled_data.csv"), text="tweet", label="class")


def stormfront() -> Dataset:
    """Sentences of a forum that were called hateful or not."""
    return unseen.load("stormfront", data_dir=shared())


def reviews() -> Dataset:
    """Reviews of seven domains, repeated texts once."""
    data = unseen.load(shared("reviews", "reviews.csv"), text="text", label="label", id="id", attributes=["domain"])
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
    *(f"{name}.minilm" for name in FINE_TUNED),
]


def carry_out(name: str, out: Path) -> None:
    """One run of the study."""
    corpus, _, model = name.partition(".")
    if corpus == "published":
        folder = shared("hatexplain", "published_splits")
        files = [str(folder / f"{each}.txt") for each in PUBLISHED]
        stress(
            shared("hatexplain", "train_test.csv"), text="example", label="label", model="logistic", out=out / name,
            independent=str(shared("hatexplain", "dev.csv")), split_files=files, seeds=(42,), random_splits=3,
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
    stress(data, out=out / name, split_files=[str(each) for each in held_out(corpus, data, out)], **settings)


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


def rows_of(run: Run, corpus: str, model: str) -> Iterator[list[str]]:
    """A line a split: random, seen, unseen, the fall and its parts, wrong labels."""
    for case in cases(run):
        noise = "cannot be told" if case.noise is None else percent(case.noise.value)
        yield [
            corpus, model, PUBLISHED.get(case.family, case.family), number(case.random.value),
            "–" if case.seen is None else number(case.seen.value), number(case.hard.value), said(case.measured),
            said(case.selection), f"**{said(run.found(f'fall.novelty.{run.metric}', case.family))}**", noise,
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
        lines += rows_of(read_run(folder), title, called)
    header = [
        "data", "model", "split", "random", "seen", "unseen", "fall", "selection", "novelty", "wrong labels",
        "fall of right labels", "stays",
    ]  # fmt: skip
    return table(header, lines)


def write_page(out: Path) -> None:
    """The page with its table made anew; what is written by people around it stays."""
    begin, end = "<!-- measured -->", "<!-- end -->"
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else f"# What a fall is made of\n\n{begin}\n{end}\n"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    made = f"{begin}\n{machine()}; seeds 42, 55, 83 (MiniLM and logistic: 42).\n\n{tables(out)}{end}"
    PAGE.write_text(before + made + after, encoding="utf-8")


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
