"""What scoring with intervals costs as the number of classes grows: docs/results/scoring.md.

python -m benchmarks.scoring
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, in_fresh_process, machine, seconds, table

CLASSES = (3, 77, 150, 1_000)
ROWS = (1_000, 10_000, 100_000)
LABELS = ("accuracy", "f1.macro", "f1.dodrans", "f1.weighted")
AREA = ("roc_auc.ovo",)
PEER_DRAWS = 5
DRAWS = 1_000


def answers(rows: int, classes: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
    """Gold labels and probabilities that know a little; all classes occur."""
    draw = np.random.default_rng(0)
    gold = draw.permutation(np.arange(rows) % classes)
    p = draw.random((rows, classes))
    p[np.arange(rows), gold] += 0.3 * draw.random(rows)
    return gold, p / p.sum(axis=1, keepdims=True), [f"c{each}" for each in range(classes)]


def one(rows: int, classes: int) -> None:
    """Print seconds of ours, of areas, of scikit-learn (extrapolated from a few resamples), and the peak memory in GB."""
    import resource

    from sklearn.metrics import accuracy_score, f1_score

    from unseen.evaluation.intervals import interval
    from unseen.evaluation.metrics import metric

    gold, p, names = answers(rows, classes)
    interval(metric("accuracy"), gold[:100], p[:100], names)  # imports are not measured
    ours, area = (
        seconds(lambda chosen=chosen: [interval(metric(name), gold, p, names, draws=DRAWS) for name in chosen])[0]
        for chosen in (LABELS, AREA)
    )
    draw, said = np.random.default_rng(1), p.argmax(axis=1)

    def peer() -> None:
        for _ in range(PEER_DRAWS):
            some = draw.integers(rows, size=rows)
            accuracy_score(gold[some], said[some])
            for average in ("macro", "weighted"):
                f1_score(gold[some], said[some], average=average, zero_division=0)

    theirs = seconds(peer)[0] * DRAWS / PEER_DRAWS
    print(ours, area, theirs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def main() -> None:
    """Measure each size in a process of its own and write the page."""
    lines, first = [], None
    for rows in ROWS:
        for classes in CLASSES:
            if classes > rows // 2:
                continue
            found = in_fresh_process("-m", "benchmarks.scoring", str(rows), str(classes))
            ours, area, theirs, memory = map(float, found.split())
            first = first or ours
            ratios = [f"{ours / first:.1f}", f"{area / first:.1f}", f"{theirs / ours:.0f}", f"{memory:.1f} GB"]
            lines.append([f"{rows:,}", f"{classes:,}", *ratios])
            print(lines[-1], flush=True)
    slowest = f"The largest took {ours:.0f} seconds for the four metrics and {area:.0f} for the areas."
    page = (
        "# Scoring with intervals: what was measured\n\n"
        f"{machine()}; seed 0. `python -m benchmarks.scoring`.\n\n"
        "Accuracy and three averages of F1 with 95 % intervals from 1,000 resamples, and the mean one-vs-one area under "
        "ROC with its interval; times are relative to the first line. The last ratio is scikit-learn's time for accuracy "
        "and two averages of F1 of 1,000 resamples in a loop (extrapolated from five), through ours. Memory includes the "
        "probabilities. No number grows with the square of the classes: labels are scored from three counts a class, and "
        f"areas take one pass over the rows for each class. {slowest}\n\n"
        + table(["rows", "classes", "labels", "areas", "scikit-learn / ours", "peak memory"], lines)
    )
    (ROOT / "docs" / "results" / "scoring.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(*map(int, sys.argv[1:]))
    else:
        main()
