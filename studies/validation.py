"""Is the validation sound? Studies of leaks, users and other data, run for real, beside the paper's figures.

`python -m studies.validation FOLDER [NAME…]` runs what is named (or everything) into FOLDER, goes on where it was
interrupted, and writes docs/results/validation.md from all that is finished there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.setting import ROOT, data_folder, machine, table

from unseen.engines import Local
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


PARTS: dict[str, tuple[Callable[[Path], object], Callable[[Path], str]]] = {
    "arango2019": (
        lambda out: run_validation(
            ROOT / "studies" / STUDY, engine=Local(), out=out / "arango2019", store=out / "steps",
            command=f"unseen run studies/{STUDY}",
        ),
        lambda out: pipelines_part(out / "arango2019"),
    ),
}  # fmt: skip
"""By name: what runs a part into the folder, and what writes it from there."""


def write_page(out: Path) -> str:
    """The page of all parts that are finished in `out`."""
    head = (
        "# Is the validation sound?\n\n"
        f"{machine()}. Written by `python -m studies.validation`; seeds and settings are in the study files named below.\n"
    )
    done = [write(out) for name, (_, write) in PARTS.items() if (out / name / "run.json").is_file()]
    missing = [name for name in PARTS if not (out / name / "run.json").is_file()]
    return "\n".join([head, *done, *([f"Not run yet: {', '.join(missing)}.\n"] if missing else [])])


def main() -> None:
    """Run what is named, or everything, then write the page."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("the datasets are not here: name their folder by UNSEEN_DATA")
    os.environ["UNSEEN_DATA"] = str(folder)
    out = Path(sys.argv[1])
    for name in sys.argv[2:] or PARTS:
        PARTS[name][0](out)
    page = ROOT / "docs" / "results" / "validation.md"
    page.write_text(write_page(out), encoding="utf-8")


if __name__ == "__main__":
    main()
