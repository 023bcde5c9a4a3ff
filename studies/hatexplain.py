"""MiniLM on HateXplain: the thesis's question asked of another model.

    python -m studies.hatexplain FOLDER [subset] [full]

The data is looked for in $UNSEEN_DATA or in shared/data beside the checkout. Runs go to FOLDER/subset and
FOLDER/full; interrupted and started again they go on. The page is written from the runs that are finished.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, data_folder, machine, table

from unseen.reports.run import Run, read_run
from unseen.reports.verdict import verdict
from unseen.study import stress

RUNS: dict[str, dict[str, Any]] = {
    "subset": {"limit": 6_000, "seeds": (42, 55, 83)},
    "full": {"random_splits": 1},
}
TITLES = {
    "subset": "6,000 posts drawn at random with the class mix of all; three seeds per family (each random split has its own)",
    "full": "all 17,305 posts; one seed",
}
THESIS = [
    ["BERT-base, full", "68.3", "47.3", "36.7", ""],
    ["BERT-base, bottleneck 50", "68.3", "51.3", "29.0", "67.1"],
    ["BERT-medium, bottleneck 50", "62.9", "", "28.2", "63.2"],
    ["HateBERT, bottleneck 50", "68.5", "", "30.1", ""],
    ["RoBERTa-large, bottleneck 50", "66.4", "", "33.1", "67.2"],
]
"""Test accuracy in percent, and that on independent posts after training on the closest split (Züfle 2023)."""
READING = """## What this says

Read on 16 November 2026 from the run on 6,000 posts.

- **The thesis's order holds for MiniLM.** Closest falls far more than subset-sum, subset-sum more than random, and the score on independent posts is that of random splits throughout. The closest split is as hard as the thesis's (accuracy 36.8 against 28 to 37 there).
- **Subset-sum falls less here** (7 points of accuracy; 17 for BERT-base with a bottleneck in the thesis). Its k and clusters are others, the data is a third, and ours solves the selection exactly, so that nothing is completed; which of these matters was not tested.
- **Most of the closest split's fall is in the completion.** The whole clusters of its test part, the region proper, are classified about as well as random posts. The rest was added one by one to keep size and class mix: for each class the posts nearest to the region. That region is one of mostly one class, so the posts of the other classes nearest to it are those that look like that class. Accuracy on them is far below chance. The published splits were completed to 37 and 48 %; the thesis does not report the two kinds apart.
- **Those posts are where labels conflict.** Almost half of the test part is labelled against its neighbours and against cross-validated predictions, three times as often as random posts. On the others the fall is still large (.44 against .76), so label noise and ambiguity explain a part, not all.
- So a closest split measures what a model does with texts of one class that look like another's in a region it has not seen: a real weakness, but not the score to expect in a new region. The whole-cluster score and subset-sum are nearer to that.
"""
FAMILIES = ("random", "subset-sum", "closest")


def settings(out: Path, name: str) -> dict[str, Any]:
    """The arguments of one run."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("HateXplain is not here: name its folder by UNSEEN_DATA")
    return {
        "source": str(folder / "hatexplain" / "train_test.csv"),
        "independent": str(folder / "hatexplain" / "dev.csv"),
        "text": "example", "label": "label", "attributes": ["target", "dataset"], "slices": ("target", "dataset"),
        "model": "minilm", "neutral": "noHate", "out": out / name,
        "command": f"python -m studies.hatexplain FOLDER {name}",
    } | RUNS[name]  # fmt: skip


def score(run: Run, family: str, part: str, metric: str) -> str:
    """Mean ± standard error over runs, in percent as in the thesis."""
    found = run.score(family, part, metric)
    if found is None or found.value is None:
        return ""
    error = next(
        (
            row.value
            for row in run.measurements
            if row.metric == f"standard_error.{metric}"
            and row.tags.get("family") == family
            and row.tags.get("part") == part
        ),
        None,
    )
    return f"{100 * found.value:.1f}" + ("" if error is None else f" ± {100 * error:.1f}")


def section(run: Run, title: str) -> str:
    """What one run measured."""
    scores = [
        [
            family,
            *(
                score(run, family, part, metric)
                for part in ("test", "independent")
                for metric in ("accuracy", "f1.macro")
            ),
        ]
        for family in FAMILIES
    ]
    falls = [
        [family, f"{100 * fall.value:.1f}", f"[{100 * (fall.low or 0):.1f}, {100 * (fall.high or 0):.1f}]"]
        for family in FAMILIES[1:]
        if (fall := run.fall(family)) is not None and fall.value is not None
    ]
    splits = [
        [
            card.name,
            str(card.certificate.n_clusters or ""),
            f"{card.certificate.completed_share:.0%}",
            str(card.sizes["test"]),
        ]
        for card in run.splits
    ]
    kinds = [
        [family, kind, str(found.n), f"{100 * found.value:.1f}"]
        for family in FAMILIES[1:]
        for kind in ("whole clusters", "added singly")
        if (found := run.score(family, "test", "accuracy", f"test part={kind}")) is not None and found.value is not None
    ]
    findings = "\n".join(f"- **{each.check}** ({each.level}): {each.message}" for each in run.findings)
    return (
        f"## {title}\n\n"
        + table(["split", "test accuracy", "test macro F1", "independent accuracy", "independent macro F1"], scores)
        + "\nMean over trainings ± standard error, in percent. Fall of macro F1 against the random splits, in points, with "
        "a 95 % interval over seeds and texts:\n\n"
        + table(["split", "fall", "interval"], falls)
        + "\n"
        + table(["split", "clusters", "completed singly", "test posts"], splits)
        + "\nAccuracy of the two kinds of test posts:\n\n"
        + table(["split", "test posts that came as", "posts", "accuracy"], kinds)
        + f"\nThe report's verdict:\n\n> {' '.join(str(verdict(run)).splitlines())}\n\nFindings:\n\n{findings}\n"
    )


def page(out: Path) -> str:
    """The page of all finished runs."""
    finished = [name for name in RUNS if (out / name / "report.html").exists()]
    parts = [section(read_run(out / name), TITLES[name]) for name in finished]
    missing = "".join(f"\nNot run yet: {TITLES[name]}.\n" for name in RUNS if name not in finished)
    return (
        "# MiniLM on HateXplain\n\n"
        f"{machine()}. Written by `python -m studies.hatexplain` (`studies/hatexplain.py` has all settings): all-MiniLM-L6-v2, bottleneck 50, "
        "fast preset (3 epochs, batches of 32, 1e-4); the thesis's set-aside file (1,924 posts) as independent part; test 10 %, validation "
        "10 % of the training posts.\n\n"
        "The thesis, for its own models, all 17,305 posts (test accuracy in percent, mean over seeds):\n\n"
        + table(["model", "random", "subset-sum", "closest", "independent after closest"], THESIS)
        + "\n"
        + "\n".join(parts)
        + missing
        + f"\n{READING}"
    )


def main() -> None:
    """Run what is named, or everything, then write the page."""
    out = Path(sys.argv[1])
    for name in sys.argv[2:] or RUNS:
        given = settings(out, name)
        stress(given.pop("source"), **given)
    (ROOT / "docs" / "results" / "hatexplain.md").write_text(page(out), encoding="utf-8")


if __name__ == "__main__":
    main()
