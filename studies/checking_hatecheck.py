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
from unseen.functional.suite import load_suite
from unseen.reports.formats import to_markdown
from unseen.reports.learning import LearningRun, learning_verdict, p_value, read_learning_run, said_p
from unseen.reports.learning_page import leak_table
from unseen.reports.wording import points, scored
from unseen.study.learning import learn_from_suite
from unseen.types import Measurement

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

**The baseline is weak, and that decides much of this page.** Settings were fixed before the run and not changed after
it. With balanced class weights the network stops after two epochs and calls 44 % of the tweets hateful: macro F1 .47
(the paper's BERT: .70; logistic regression with the same weights on the same split: .71, so it is the network, not the
data), though it ranks fairly (ROC AUC .86; logistic regression .89). On the suite it answers "hateful" to almost
everything: .69, where always saying so gives .6875. Effects "less task" are effects against that.

Agrees with the paper: random unseen cases are passed after training on others, with or without the task; covered is
above held out everywhere; held-out targets improve, and their gap is by far the smallest; held-out classes do not
improve (here they get worse). Functionalities and classes cannot be told apart here (gaps of 33 and 34 points, intervals overlap).

Does not agree:

- *Held-out functionalities* get worse here, not better. A baseline that says "hateful" has nearly all hateful cases
  right and can only lose them: by class, held-out "ref" and "threat" lose almost half of their cases while "counter"
  and "ident", which are not hateful, gain. The exact binomial test calls the loss certain (p < .001); by whole
  templates it is not (p = .071).
- *Macro F1 on the task* rises here and falls in the paper. It rises for a bad reason: the suite moved the threshold
  from calling 44 % of the tweets hateful to 1.5 %, and recall of the hateful ones fell from .88 to .10. ROC AUC fell
  from .86 to .71. That points the way the paper found, the task is forgotten; macro F1 does not show it here.
  ROC AUC was added to the measures, and to the verdict, after a first look at this run. By macro F1 alone, as planned,
  the verdict was: "The tests were learnt; that it helps beyond them is not shown."

Beyond the paper: held-out templates improve by 5 points; when their contrast partners are held out too, they get worse
by 7. What looks like learning from other templates may be recognising partners. One seed per training;
the paper's values (BERT, pooled validation) should be repeated with a fine-tuned transformer before anything more is
said about functionalities.
"""
"""Written by hand after looking at the numbers of the run."""


def study(out: Path) -> LearningRun:
    """The run, finished where it was interrupted."""
    learn_from_suite(
        load_suite("hatecheck"), unseen.load("davidson"), elsewhere=_elsewhere(), labels=LABELS,
        model="neural", params={"class_weights": "root"}, seed=SEED, out=out,
        command="python -m studies.checking_hatecheck FOLDER",
    )  # fmt: skip
    return read_learning_run(out)


def _elsewhere() -> unseen.Dataset:
    return unseen.load(Path(os.environ["UNSEEN_DATA"]) / "hatexplain" / "train_test.csv", text="example", label="label")


def write_page(run: LearningRun) -> str:
    """The questions of the paper, answered by the run."""
    about, sizes = run.about["datasets"], run.about["task_parts"]
    said = learning_verdict(run)
    seconds = sum(each["seconds"] for each in run.about["timings"])
    return "\n".join([
        "# Learning from HateCheck\n",
        f"{machine()}. Written by `python -m studies.checking_hatecheck`; {len(run.about['timings']) - 1} trainings of a "
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
        gap = run.row("gap.accuracy", scheme=scheme, configuration=BOTH)
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
