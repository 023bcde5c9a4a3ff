"""Is the validation sound? Studies of leaks, users and other data, run for real, beside the paper's figures.

`python -m studies.validation FOLDER [NAME…]` runs what is named (or everything) into FOLDER, goes on where it was
interrupted, and writes docs/results/validation.md from all that is finished there.
"""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, data_folder, machine, table

import unseen
from unseen import load, repair
from unseen.engines import Local
from unseen.evaluation.intervals import wilson
from unseen.repairs import Repaired
from unseen.reports.formats import to_markdown
from unseen.reports.validation_page import ValidationRun, price_table, read_validation_run, score_table
from unseen.study.validation import run_validation

STUDY = "arango2019.toml"
PAPER = [
    ("features learnt on all data, then 10-fold (features)", "93.1", "73.1 (learnt inside each fold)"),
    ("minority copied, then split (oversampled)", "94.5", "79.6 (copied in training only)"),
    ("the same two, no user on both sides", "", "43.9 / 34.9"),
    ("capped at 250 per user and class, enriched, no user on both sides", "", "78.4 / 75.8"),
]
PAPER_FOREIGN = [
    ("trained on Waseem & Hovy", "21.1 / 21.6"),
    ("capped and enriched", "52.8 / 62.3"),
]
READING = ""
"""What was seen in the numbers, by hand."""


def pipelines_part(folder: Path) -> str:
    """Leaking and corrected pipelines, random folds and new users: our numbers, then the paper's."""
    run = read_validation_run(folder)
    data, settings = run.about["data"], run.about["settings"]
    parts = [
        f"## Leaks, users and other data (`studies/{STUDY}`)\n",
        f"{data['name']}: {data['rows']:,} texts by {data['authors']:,} users; {data['added']:,} hateful texts of Davidson "
        f"to enrich; {data['foreign']:,} texts of HateXplain as the other dataset. {settings['folds']} folds, seeds "
        f"{', '.join(map(str, settings['seeds']))}; a score is over all folds of a seed together, then the mean over "
        "seeds; intervals are over users, drawn whole, and seeds.\n",
        _reduced(),
        to_markdown(score_table(run)),
        to_markdown(price_table(run)),
        "The paper (Arango, Pérez & Poblete 2019), macro F1 in percent on Waseem & Hovy's tweets:\n",
        table(["", "as published", "corrected"], PAPER),
        "F1 of the hateful class on SemEval-2019, in percent:\n",
        table(["", "features / oversampled"], PAPER_FOREIGN),
        READING,
        "### Are the sides apart?\n",
        "\n".join(f"- {each.level}: {each.message}" for each in run.findings) + "\n",
        _costs(run),
    ]
    return "\n".join(part for part in parts if part)


def _reduced() -> str:
    """What the study file says of itself in its comments."""
    lines = (ROOT / "studies" / STUDY).read_text(encoding="utf-8").splitlines()
    said = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    return said[said.index("Reduced against the paper") :] + "\n"


def _costs(run: ValidationRun) -> str:
    """How many times the processor time of the lightest learner each takes; seconds would be those of one machine."""
    seconds: dict[str, float] = dict.fromkeys(run.about["learners"], 0.0)
    for each in run.about["timings"]:
        seconds[each["learner"]] += each["cpu_seconds"]
    least = min(seconds.values()) or 1.0
    said = ", ".join(f"{name} {value / least:.0f}" for name, value in seconds.items())
    return f"{len(run.about['timings'])} trainings. Processor time, relative to the lightest learner: {said}.\n"


@dataclass(frozen=True)
class Job:
    """One command of ours on real data, and what the page takes from its folder."""

    title: str
    command: str
    """Without the program's name and --out."""
    tables: tuple[str, ...]
    reading: str
    """What was seen in the numbers, by hand."""

    def run(self, out: Path) -> None:
        """Run it into `out`; a run that was interrupted goes on."""
        command = [sys.executable, "-m", "unseen", *shlex.split(self.command), "--quiet", "--out", str(out)]
        done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{self.command} failed")

    def part(self, out: Path) -> str:
        """Command, verdict, tables and reading."""
        told = [sys.executable, "-m", "unseen", "report", str(out), "--json"]
        verdict = json.loads(subprocess.run(told, capture_output=True, text=True, check=True).stdout)["verdict"]
        found = [(out / "tables" / f"{name}.md").read_text(encoding="utf-8") for name in self.tables]
        said = "\n".join(f"> {each}" for each in verdict)
        return "\n".join([f"## {self.title}\n", f"`unseen {self.command}`\n", f"{said}\n", *found, f"{self.reading}\n"])


JOBS = {
    "price": Job(
        "What the leaks of a published split buy",
        "price stormfront --by sampled_split --leaks exact,author,conversation --author user_id "
        "--conversation comment_id --model logistic",
        ("test-side", "train-side"),
        "",
    ),
    "authors": Job(
        "Who wrote it, and what is left on new authors",
        "authors stormfront --author user_id --model logistic --seeds 5 --cap 20",
        ("concentration", "know-the-author", "unseen-authors"),
        "",
    ),
    "transfer-plain": Job(
        "Trained on one dataset, tested on another",
        "transfer --labels studies/transfer-hate.toml --model logistic --seeds 1 --merge --cap 250",
        ("matrix-f1.macro", "matrix-f1_hateful_", "falls-same-test", "overlap"),
        "",
    ),
    "transfer": Job(
        "The same with weighted labels",
        "transfer --labels studies/transfer-hate.toml --model logistic --set class_weights=balanced --seeds 1 --merge "
        "--cap 20",
        ("matrix-f1.macro", "matrix-f1_hateful_", "falls-same-test"),
        "",
    ),
}
"""By name of the folder."""


def run_repairs(out: Path) -> None:
    """Repair Stormfront's published split in the ways of `REPAIRS`."""
    out.mkdir(parents=True, exist_ok=True)
    data = load("stormfront")
    split = unseen.split(data, "predefined", by="sampled_split")
    rows = []
    for name, recipe in REPAIRS.items():
        made = repair(data, split, columns={"author": "user_id", "conversation": "comment_id"}, **recipe)
        rows.append([name, *(f"{made.split.sizes.get(part, 0):,}" for part in ("train", "test")), *_audited(made)])
    checks = [f"{check}: before → after" for check in AUDITED]
    (out / "table.md").write_text(table(["repair", "train", "test", *checks], rows), encoding="utf-8")
    (out / "run.json").write_text(json.dumps(REPAIRS), encoding="utf-8")


def _audited(made: Repaired) -> list[str]:
    before, after = ({each.check: each.count for each in some} for some in (made.before, made.after))
    return [f"{before[check]} → {after[check]}" for check in AUDITED]


REPAIRS: dict[str, dict[str, Any]] = {
    "new parts, whole users, near copies out": {"groups": ["user_id"], "dedupe": "near"},
    "new parts, whole users and comments": {"groups": ["user_id", "comment_id"], "dedupe": "near"},
    "published parts, leaking training rows out": {
        "groups": ["user_id", "comment_id"], "dedupe": "near", "minimal": "drop"
    },
    "published parts, leaking rows moved": {"groups": ["user_id", "comment_id"], "dedupe": "near", "minimal": "move"},
}  # fmt: skip
AUDITED = ("author", "conversation", "exact_duplicates", "near_duplicates")


def repairs_part(out: Path) -> str:
    """The table of repairs."""
    return (
        "## Repairing the published split\n\nTest rows of Stormfront's published split (1,914 and 478 rows) that are tied "
        "to training, counted by `unseen audit` before and after `unseen repair`, on the final rows.\n\n"
        + (out / "table.md").read_text(encoding="utf-8")
    )


def judged_part() -> str:
    """How many of a sample of near-duplicates a reader calls the same text."""
    with (ROOT / "studies" / "near_duplicates.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = []
    for name, some in (
        ("all", rows),
        *((name, [each for each in rows if each["dataset"] == name]) for name in DATASETS),
    ):
        right = sum(each["same"] == "yes" for each in some)
        low, high = wilson(right, len(some))
        lines.append([name, len(some), right, f"{100 * right / len(some):.0f} % [{100 * low:.0f}, {100 * high:.0f}]"])
    return (
        "## Are near-duplicates what a person would call the same text?\n\n"
        "100 pairs drawn (seed 42) from the 235 that `near_pairs` finds at .8 in Davidson, HateXplain and Stormfront, "
        "pairs with equal normal forms left out, for these are the same by definition. One of us read what differs in each and "
        "said whether both say the same thing; the verdicts are in `studies/near_duplicates.csv`, by row.\n\n"
        + table(["dataset", "pairs read", "same text", "95 % interval"], lines)
        + "\nMost differ by an emoji, quotation marks, a spelling or a cut-off end. The two that are not the same: another "
        "word in a text of four, and a notice with other dates. Seven pairs have at most four words, which two people may "
        "well write independently: short texts are alike by chance more often than long ones.\n"
    )


DATASETS = ("davidson", "hatexplain-thesis", "stormfront")
PARTS: dict[str, tuple[Callable[[Path], object], Callable[[Path], str]]] = {
    "arango2019": (
        lambda out: run_validation(
            ROOT / "studies" / STUDY, engine=Local(), out=out, store=out.parent / "steps",
            command=f"unseen run studies/{STUDY}",
        ),
        pipelines_part,
    ),
    **{name: (job.run, job.part) for name, job in JOBS.items()},
    "repairs": (run_repairs, repairs_part),
}  # fmt: skip
"""By name of its folder: what runs a part into it, and what writes it from there."""


def write_page(out: Path) -> str:
    """The page of all parts that are finished in `out`."""
    head = (
        "# Is the validation sound?\n\n"
        f"{machine()}. Written by `python -m studies.validation`; seeds and settings are in the study files named below.\n"
    )
    done = [write(out / name) for name, (_, write) in PARTS.items() if (out / name / "run.json").is_file()]
    missing = [name for name in PARTS if not (out / name / "run.json").is_file()]
    return "\n".join([head, *done, judged_part(), *([f"Not run yet: {', '.join(missing)}.\n"] if missing else [])])


def main() -> None:
    """Run what is named, or everything, then write the page."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("the datasets are not here: name their folder by UNSEEN_DATA")
    os.environ["UNSEEN_DATA"] = str(folder)
    out = Path(sys.argv[1])
    for name in sys.argv[2:] or PARTS:
        PARTS[name][0](out / name)
    page = ROOT / "docs" / "results" / "validation.md"
    page.write_text(write_page(out), encoding="utf-8")


if __name__ == "__main__":
    main()
