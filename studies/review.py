"""A review of a stress run on HateXplain: docs/results/review.md.

python -m studies.review FOLDER

FOLDER gets the run, and the answers that one reader gave to 100 of its posts (`hatexplain_reviews.jsonl`: ids and
answers, no texts). The draw is the same on every machine that makes the same splits; where it is not, answers about posts
that are not in the test parts count for nothing. The real data is looked for in $UNSEEN_DATA or in shared/data beside
the checkout.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.setting import ROOT, machine, real_file, table, write_measured

import unseen
from unseen.evaluation.wording import fallen
from unseen.reports.review import review_items
from unseen.store.reviews import REVIEWS, read_reviews
from unseen.types.numbers import bounds, percent, scored

PAGE = ROOT / "docs" / "results" / "review.md"
ANSWERS = Path(__file__).parent / "hatexplain_reviews.jsonl"
SETTINGS = {
    "model": "logistic", "limit": 6_000, "seeds": (42, 55), "seen_folds": 1, "space_seeds": 0, "random_splits": 2,
    "splits": ("random", "closest", "novel"), "texts": True,
}  # fmt: skip
METRIC = "f1.macro"


def main(folder: Path) -> None:
    """Run, put the answers there, report."""
    unseen.stress(real_file("hatexplain", "train_test.csv"), text="example", label="label", out=folder, **SETTINGS)
    if not (folder / REVIEWS).exists():
        shutil.copy(ANSWERS, folder / REVIEWS)
    result = unseen.report(folder)
    record = result.record
    drawn = {item.id for item in review_items(record, 100, 42)}
    answered = [review for review in read_reviews(folder / REVIEWS) if review.id in drawn]
    rows = []
    for family in ("random", "closest"):
        read = record.measured("reviewed_texts", family)
        shares = [record.measured(name, family) for name in ("label_errors", "unclear_texts", "invalid_texts")]
        cells = ["" if row is None else f"{percent(row.value)} {bounds(row, percent)}" for row in shares]
        rows.append([family, f"{read.value:.0f} of {read.n:,}", *cells, scored(record.score(family))])
    falls = [record.fall("closest"), record.measured(f"fall.reviewed.{METRIC}", "closest")]
    header = ["test part", "posts read", "label errors", "cannot be told", "not valid", "macro F1, given labels"]
    about = f"{machine()}; seeds 42 and 55; {len(answered)} of 100 answers are about posts of this draw.\n"
    found = f"Fall on closest: {fallen(METRIC, falls[0])}; against the reader's labels: {fallen(METRIC, falls[1])}.\n"
    write_measured(PAGE, "A review of HateXplain", "\n".join([about, table(header, rows), found]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
