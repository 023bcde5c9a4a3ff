"""Training on HateCheck, as Luz de Araujo and Roth (2022) did, with what runs without a network.

    python -m studies.checking_hatecheck FOLDER

Runs into FOLDER, resumably, and writes docs/results/suite-learning.md. The data is looked for in $UNSEEN_DATA or in
shared/data beside the checkout.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, data_folder, machine, table

import unseen
from unseen.functional.holdout import BOTH, SUITE, TASK
from unseen.functional.tables import load_suite
from unseen.reports.formats import to_markdown
from unseen.reports.record import read_record
from unseen.runs.learning import learn_from_suite
from unseen.runs.learning_page import LearningRun, leak_table, learning_verdict, p_value, said_p
from unseen.types import Measurement
from unseen.types.numbers import points, scored

LABELS = {"hate": "hateful", "offensive": "non-hateful", "neither": "non-hateful", "noHate": "non-hateful"}
SEED = 123
PAPER: dict[str, str] = {
    "all": "better, p < .001 (Davidson and Founta)",
    "functionality": "better, p < .001",
    "target": "better, p < .001; more than functionalities",
    "class": "slightly worse, p = .723 (Davidson), .174 (Founta)",
    "template": "not done",
    "pair": "not done",
    "task test": "worse, p < .001",
    "elsewhere": "worse, p < .001 (Davidson's model on Founta)",
    "suite": "no difference, p = .219 (Davidson), .727 (Founta)",
}
READING = """## Reading

Read on 16 November 2026. The task model is sound: macro F1 .70 on Davidson's test part, what the paper's BERT had (.70). A
first run with balanced class weights was not (.47: it called 44 % of the tweets hateful); the weights of this run were
then chosen by macro F1 on the validation part among four, before anything else was looked at. ROC AUC was added to the
measures after the first run.

**Why balanced weights failed was found later**: the loss of the small network smoothed every tweet towards the rare
label by that label's weight, and divided by the weights of each batch. That was mended on 17 November 2026. The run of
this page is older and has both faults, with milder weights; it was not made again. Differences between trainings that
share them say more than levels.

**Q1, as in the paper**: trained on half of the cases, a model passes the others (97 to 98 %), with or without the task;
the task adds nothing. But 97 % of these test cases have a sibling or a contrast partner in train.

**Q2, as in the paper for functionalities and targets**: both improve (9 and 35 points), targets far more and with by
far the smallest gap (6 points): what is learnt there is to replace one name by another, since 96 % of the held-out cases
have their very template in train. **Classes differ**: they improve by 7 points here and did not in the paper. The
small network starts lower on the suite (.57; the paper's BERT .63), so there is more to gain; gaps of functionalities and
classes (31 and 33 points) cannot be told apart. Whole templates held out improve by 18 points, and as much when their
contrast partners are held out too, so partners are not what carries it.

**Q3, as in the paper**: macro F1 on the task falls by 9 points and on other data by 8, the order of scores (ROC AUC) by
even more. The suite was learnt at the cost of the task.

A first version of the pair scheme let 292 cases through that name the template of their partner instead of the case; its
figures (worse by 7 points) were withdrawn. One seed per training; a fine-tuned transformer was not tried here.
"""
"""Written by hand after looking at the numbers of the run."""


def study(out: Path) -> LearningRun:
    """The run, finished where it was interrupted."""
    learn_from_suite(
        load_suite("hatecheck"), unseen.load("davidson"), elsewhere=_elsewhere(), labels=LABELS,
        model="neural", params={"class_weights": "root"}, seed=SEED, out=out,
        command="python -m studies.checking_hatecheck FOLDER",
    )  # fmt: skip
    return LearningRun(read_record(out, "learning"))


def _elsewhere() -> unseen.Dataset:
    return unseen.load(Path(os.environ["UNSEEN_DATA"]) / "hatexplain" / "train_test.csv", text="example", label="label")


def write_page(run: LearningRun) -> str:
    """The questions of the paper, answered by the run."""
    about, sizes = run.record.about["datasets"], run.record.about["task_parts"]
    said = learning_verdict(run)
    seconds = sum(each["seconds"] for each in run.record.about["timings"])
    return "\n".join([
        "# Learning from HateCheck\n",
        f"{machine()}. Written by `python -m studies.checking_hatecheck`; {len(run.record.about['timings']) - 1} trainings of a "
        f"small network on hashed n-grams, {seconds / 60:.0f} minutes on the clock, one core shared with other work. Luz de Araujo and Roth (2022) fine-tuned "
        "BERT-base; levels cannot be compared, directions can.\n",
        f"Task: Davidson ({about['task']['rows']:,} tweets; hateful or not; {sizes['train']:,} / {sizes['dev']:,} / "
        f"{sizes['test']:,}, stratified, seed {SEED}), classes weighted by the root of what would balance them. Suite: HateCheck "
        f"({about['suite']['rows']:,} cases). Elsewhere, in place of Founta, which is not here: HateXplain "
        f"({about['elsewhere']['rows']:,} posts; hateful or not), only for testing. Validation is strict: no held-out case "
        "serves for choosing a model, and all of them test; the paper pooled them.\n",
        f"**{said.headline}**\n",
        "## Q1: unseen cases of what was trained on\n", _first(run),
        "## Q2: what was held out\n", _second(run),
        "Covered and held out after training on the task, then the suite:\n", _gaps(run),
        "## Q3: the task itself\n", _third(run),
        "## Leaks of the suite\n", to_markdown(leak_table(run)),
        READING,
    ])  # fmt: skip


def _first(run: LearningRun) -> str:
    levels = {each: run.row("accuracy", scheme="all", part="test", configuration=each) for each in (TASK, SUITE, BOTH)}
    rows = [["accuracy, " + name, scored(row), ""] for name, row in levels.items()]
    for than, key in ((TASK, "all"), (SUITE, "suite")):
        row = run.row("difference.accuracy", scheme="all", part="test", configuration=BOTH, than=than)
        rows.append([f"{BOTH}, less {than}", _effect(row, "p.mcnemar"), PAPER[key]])
    return table(["random test cases", "here", "the paper"], rows)


def _second(run: LearningRun) -> str:
    rows = []
    for scheme in run.schemes:
        where: dict[str, str] = {"scheme": scheme, "part": "held-out"}
        before, alone, both = (run.row("accuracy", configuration=each, **where) for each in (TASK, SUITE, BOTH))
        row = run.row("difference.accuracy", configuration=BOTH, than=TASK, **where)
        effect, by_template = _effect(row, "p.mcnemar"), said_p(p_value(row))
        rows.append([scheme, scored(before), scored(alone), scored(both), effect, by_template, PAPER[scheme]])
    columns = ["held out by", "task only", "suite only", BOTH, "effect, points", "by whole templates", "the paper"]
    return table(columns, rows)


def _gaps(run: LearningRun) -> str:
    rows = []
    for scheme in run.schemes:
        covered, out = (
            run.row("accuracy", scheme=scheme, part=part, configuration=BOTH) for part in ("covered", "held-out")
        )
        gap = run.row("fall.accuracy", scheme=scheme, part="held-out", configuration=BOTH, than="covered")
        rows.append([scheme, scored(covered), scored(out), _points(gap)])
    return table(["scheme", "covered", "held out", "gap, points"], rows)


def _third(run: LearningRun) -> str:
    rows: list[list[Any]] = []
    for part, called in (("task test", "Davidson, test part"), ("elsewhere", "HateXplain")):
        for metric, said, paper in (("f1.macro", "macro F1", PAPER[part]), (run.ranking, "ROC AUC", "not reported")):
            levels = [run.row(metric, part=part, configuration=each) for each in (TASK, SUITE, BOTH)]
            row = run.row(f"difference.{metric}", part=part, configuration=BOTH, than=TASK)
            rows.append([called, said, *map(scored, levels), _effect(row, "p"), paper])
    columns = ["tested on", "score", "task only", "suite only", BOTH, "effect, points", "the paper"]
    return table(columns, rows)


def _points(row: Measurement | None) -> str:
    if row is None or row.low is None or row.high is None:
        return ""
    return f"{points(row.value)} [{points(row.low)}, {points(row.high)}]"


def _effect(row: Measurement | None, test: str) -> str:
    return f"{_points(row)}, {said_p(p_value(row, test))}"


def main() -> None:
    """Run the study, then write the page."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("the data is not here: name its folder by UNSEEN_DATA")
    os.environ["UNSEEN_DATA"] = str(folder)
    run = study(Path(sys.argv[1]))
    (ROOT / "docs" / "results" / "suite-learning.md").write_text(write_page(run), encoding="utf-8")


if __name__ == "__main__":
    main()
