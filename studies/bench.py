"""Five models on seven datasets: docs/results/bench.md.

python -m studies.bench FOLDER [MODEL…]

Trains the models that are named (or all) into FOLDER and goes on where it was interrupted; the page is written from the
run. The real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.setting import ROOT, data_folder, machine, table, write_measured

from unseen.engines import Local
from unseen.reports.board_page import BoardView, flip_table, outcome_table, rank_table, score_table
from unseen.reports.formats import Table
from unseen.reports.record import read_record
from unseen.runs.bench import HARD, ORDINARY, VIEWS, bench
from unseen.runs.bench_page import NAMES, data_table, fall_table, verdict

PAGE = ROOT / "docs" / "results" / "bench.md"
SUITE = """
title = "Seven datasets, five models"
seed = 42
trainings = 5
folds = 3
posts = true
reference = "logistic"
elsewhere = 1000

[hard]
model = "logistic"

[family.abuse]
labels = ["no", "yes"]

[data.davidson]
family = "abuse"
unit = "post"
published = 24802
limit = 2000
map = { neither = "no", offensive = "yes", hate = "yes" }

[data.stormfront]
family = "abuse"
unit = "sentence"
groups = "user_id"
published = 10568
limit = 2000
map = { noHate = "no", hate = "yes" }

[data.hatexplain]
source = "hatexplain-thesis"
family = "abuse"
unit = "post"
published = 20148
limit = 2000
map = { noHate = "no", offensive = "yes", hate = "yes" }

[data.offensive]
source = "DATA/tweeteval/offensive.csv"
family = "abuse"
unit = "post"
split = "split"
published = 14100
limit = 3000
map = { not-offensive = "no", offensive = "yes" }

[data.emotion]
source = "DATA/tweeteval/emotion.csv"
family = "tweets"
unit = "post"
split = "split"
published = 5052
limit = 3000

[data.irony]
source = "DATA/tweeteval/irony.csv"
family = "tweets"
unit = "post"
split = "split"
published = 4601
limit = 3000

[data.reviews]
source = "DATA/reviews/reviews.csv"
unit = "review"
groups = "product"
published = 14000
limit = 2000

[model.logistic]
trainings = 1

[model.svm]
trainings = 1

[model.neural]

[model.minilm-frozen]
use = "logistic"
features = "minilm"
trainings = 1

[model.minilm]
trainings = 1
"""
"""Recipes that draw nothing are trained once on each split; fine-tuning is too long for more on two cores."""


def plain(made: Table) -> str:
    """A table of a report in Markdown, without its title."""
    return table(list(made.columns), [["" if cell is None else cell for cell in row] for row in made.rows])


def write_page(folder: Path) -> None:
    """The page with its tables made anew."""
    record = read_record(folder, "bench")
    boards = {view: BoardView(record, {"view": view}) for view in VIEWS}
    parts = [f"{machine()}; seeds from 42 on.\n\n", "\n".join(f"> {line}" for line in verdict(record, boards).lines())]
    parts += ["\n\n## Data\n\n", plain(data_table(record))]
    for view, board in boards.items():
        parts += [f"\n## {NAMES[view]}\n\nMacro F1.\n\n", plain(score_table(board))]
        parts += ["\nAverage ranks.\n\n", plain(rank_table(board)), "\nWins / ties / losses.\n\n"]
        parts += [plain(outcome_table(board))]
        if view != ORDINARY:
            against = "the ordinary score" if view == HARD else "the same model trained on the tested dataset"
            parts += [f"\nFalls of macro F1 in points, from {against}.\n\n", plain(fall_table(board, view))]
    parts += ["\n## Pairs of models that two metrics order differently\n\n", plain(flip_table(boards[ORDINARY]))]
    write_measured(PAGE, "Benchmark", "".join(parts))


def main() -> None:
    """Train what is named, then write the page."""
    folder, models = Path(sys.argv[1]), sys.argv[2:]
    data = data_folder()
    if data is None:
        raise SystemExit("there is no real data: set UNSEEN_DATA")
    os.environ.setdefault("UNSEEN_DATA", str(data))
    folder.mkdir(parents=True, exist_ok=True)
    suite = folder / "suite.toml"
    suite.write_text(SUITE.replace("DATA", str(data)), encoding="utf-8")
    if models != ["page"]:
        bench(suite, models=models, out=folder / "run", engine=Local(1), announce=lambda plan: print(plan, flush=True))
    write_page(folder / "run")


if __name__ == "__main__":
    main()
