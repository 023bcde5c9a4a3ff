"""What a score costs, and longer input or larger model: docs/results/cost.md.

python -m studies.cost FOLDER [RUN…]

Makes the runs that are named (or all) in FOLDER, goes on where it was interrupted, and writes their sections of the
page; those of runs that are not in FOLDER stay as they are. The real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, machine, real_file, table, write_measured

import unseen
from unseen.functional import load_suite
from unseen.reports.formats import Table
from unseen.reports.record import read_record
from unseen.representations.checkpoints import find_checkpoint, open_pretrained
from unseen.runs.cost_page import CostRecord, tables, verdict
from unseen.seeding import generator

PAGE = ROOT / "docs" / "results" / "cost.md"
SEED = 42
LAYERS = 3
BUDGET = "memory=2GB"
TRAININGS, LONG_TRAININGS = 5, 3
"""Of each model; of each on long texts."""
EPOCHS = 4
RUNS = {
    "hatexplain": "HateXplain: four models",
    "smollm2": "A decoder, on a sample",
    "reviews": f"Reviews: longer input or larger model, at equal memory ({BUDGET.partition('=')[2]})",
    "batches": "Reviews: is it the batch?",
}
COLUMNS = ("quality", "training", "inference", "batches", "at-once", "estimates")


def sample(data: unseen.Dataset, rows: int) -> unseen.Dataset:
    """So many rows, drawn with the seed."""
    return data.take(generator(SEED, "cost study").permutation(len(data))[:rows])


def cut_encoder(folder: Path) -> Path:
    """MiniLM with its first layers alone, as a folder."""
    made = folder / f"minilm-{LAYERS}-layers"
    if not made.is_dir():
        place = find_checkpoint("minilm").place
        network = open_pretrained("AutoModel", place, trust=False)
        network.encoder.layer = network.encoder.layer[:LAYERS]
        network.config.num_hidden_layers = LAYERS
        network.save_pretrained(made)
        open_pretrained("AutoTokenizer", place, trust=False).save_pretrained(made)
    return made


def made(name: str, folder: Path) -> None:
    """One run."""
    short = f"minilm-{LAYERS}"
    minilm = {"minilm": "minilm", short: str(cut_encoder(folder))}
    light = {"logistic": "logistic", "neural": "neural"}
    posts = unseen.load("hatexplain-thesis", data_dir=real_file())
    reviews = sample(unseen.load(real_file("reviews", "reviews.csv"), text="text", label="label", id="id"), 2_000)
    split = unseen.split(reviews, "random", test=0.4, dev=0.06, seed=SEED)
    epochs: dict[str, dict[str, Any]] = {name: {"epochs": EPOCHS} for name in minilm}
    common: dict[str, Any] = {"out": folder / name, "seed": SEED, "command": f"python -m studies.cost FOLDER {name}"}
    if name == "hatexplain":
        suite = load_suite("hatecheck", data_dir=real_file())
        words = {label: "non-hateful" if label == "noHate" else "hateful" for label in posts.label_names}
        unseen.cost(
            sample(posts, 1_500), {**light, **minilm}, suite=suite, suite_map=words, trainings=TRAININGS, **common
        )
    elif name == "smollm2":
        few = sample(posts, 480)
        models = {"logistic": "logistic", **minilm, "smollm2": "smollm2"}
        one = {"epochs": 2, "batch": 8}
        unseen.cost(
            few, models, params={name: one for name in models if name != "logistic"}, texts=24, hard="none",
            trainings=3, **common,
        )  # fmt: skip
    elif name == "reviews":
        unseen.cost(
            reviews, {**light, **minilm}, params=epochs, lengths=(64, 128, 256), budget=BUDGET, split=split, hard="none",
            trainings=LONG_TRAININGS, texts=80, **common,
        )  # fmt: skip
    else:
        unseen.cost(
            reviews, {short: minilm[short]}, params={short: epochs[short]}, lengths=(64,), batches=(8, 128), split=split,
            hard="none", trainings=TRAININGS, texts=40, **common,
        )  # fmt: skip


def plain(shown: Table) -> str:
    """A table of a report in Markdown, without its title."""
    return table(list(shown.columns), [["" if cell is None else cell for cell in row] for row in shown.rows])


def write_page(folder: Path) -> None:
    """The page, with the tables of the runs in the folder made anew."""
    sections = re.split(r"^(?=## |<!-- end)", PAGE.read_text(encoding="utf-8"), flags=re.M)
    before = {section.partition("\n")[0].removeprefix("## "): section.strip() for section in sections}
    parts = []
    for name, title in RUNS.items():
        if not (folder / name / "measurements.csv").is_file():
            parts.append(before.get(title, "") + "\n")
            continue
        record = read_record(folder / name)
        costs = CostRecord(record)
        shown = tables(costs)
        about = record.about
        sizes = ", ".join(f"{part} {rows:,}" for part, rows in about["split"]["sizes"].items() if rows)
        settings = about["settings"]
        parts.append(
            f"## {title}\n\n{machine()}; seed {SEED}. {about['data']['rows']:,} texts ({sizes}), {settings['trainings']} trainings each, "
            f"{settings['repeats']} repeats of every timing, {settings['texts']} texts timed, {settings['threads']} "
            "thread.\n"
        )
        parts += [f"> {line}\n" for line in verdict(costs).lines()]
        for kind in COLUMNS:
            if shown[kind].rows:
                parts.append(f"### {title.partition(':')[0]}: {shown[kind].title.lower()}\n\n{plain(shown[kind])}")
        parts += [f"- {finding.message}" for finding in record.findings if finding.check.startswith("budget")]
        parts.append("")
    write_measured(PAGE, "What a score costs", "\n".join(parts) + "\n")


if __name__ == "__main__":
    place = Path(sys.argv[1]).resolve()
    place.mkdir(parents=True, exist_ok=True)
    for chosen in sys.argv[2:] or RUNS:
        made(chosen, place)
    write_page(place)
