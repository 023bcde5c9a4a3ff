"""Estimators of accuracy without labels beside NannyML's CBPE and QuaPy: docs/results/forecast-peers.md.

`python -m benchmarks.forecast_peers FOLDER PYTHON` reads the answers that `python -m studies.forecast FOLDER
reviews.logistic hate.logistic` kept. PYTHON is the interpreter of another environment, in which nannyml and quapy are
installed: `pip install nannyml quapy statsmodels`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from studies.forecast import METRIC, SHIFTS, TITLES, Pair, pairs_of

from benchmarks.setting import ROOT, in_fresh_process, machine, seconds, table, write_measured
from unseen.forecasts.estimators import ESTIMATORS, estimates, score_of, true_score

PAGE = ROOT / "docs" / "results" / "forecast-peers.md"
UNIT = "unseen average-confidence"
"""The method whose time is 1."""


def ours(pairs: Sequence[Pair]) -> list[dict[str, tuple[float, float]]]:
    """The accuracy and the seconds of each of our estimators, for each pair."""
    names = list(estimates(pairs[0].home, pairs[0].unlabelled))  # what is loaded late is loaded before the clock starts
    found = []
    for pair in pairs:
        found.append({"score at home": (true_score(pair.home, METRIC, pair.label_names), np.nan)})
        for name in names:
            target = pair.unlabelled
            taken, joint = seconds(lambda pair=pair, name=name, target=target: ESTIMATORS.get(name)(pair.home, target))
            found[-1][f"unseen {name}"] = (score_of(joint, METRIC, pair.label_names), taken)
    return found


def theirs(pairs: Sequence[Pair], python: str) -> dict[str, Any]:
    """What the peers say of the same answers, in their own environment: versions, and the pairs in our order."""
    with TemporaryDirectory() as folder:
        for row, pair in enumerate(pairs):
            home = {"home": pair.home.probabilities, "labels": pair.home.known}
            np.savez(Path(folder) / f"{row:03}.npz", **home, target=pair.answers.probabilities)
        found: dict[str, Any] = json.loads(in_fresh_process("-m", "benchmarks.cbpe_and_quapy", folder, python=python))
    return {**found, "pairs": [found["pairs"][f"{row:03}"] for row in range(len(pairs))]}


def lines(truths: Sequence[float], found: Sequence[Mapping[str, tuple[float, float]]]) -> list[list[str]]:
    """A line for each method, the smallest mean error first; the time is the median over pairs."""
    rows = []
    unit = np.median([pair[UNIT][1] for pair in found])
    for name in found[0]:
        values, taken = np.array([pair[name] for pair in found]).T
        sizes, time = 100 * np.abs(values - truths), np.median(taken)
        clock = ["–", "–"] if np.isnan(time) else [f"{1000 * time:.1f}", f"{time / unit:.1f}"]
        rows.append((sizes.mean(), [name, f"{sizes.mean():.1f}", f"{sizes.max():.1f}", *clock]))
    return [line for _, line in sorted(rows)]


def main() -> None:
    """Measure each shift of which answers are kept, and write the page."""
    folder, python = Path(sys.argv[1]), sys.argv[2]
    parts: list[str] = []
    for shift in ("reviews", "hate"):
        sets = SHIFTS[shift]()
        kept = {name: folder / f"{shift}.logistic.{name}.npz" for name in sets}
        pairs = [pair for name, file in kept.items() if file.exists() for pair in pairs_of(name, sets, file)]
        if not pairs:
            continue
        peers = theirs(pairs, python)
        found = [mine | other for mine, other in zip(ours(pairs), peers["pairs"], strict=True)]
        if not parts:
            versions = ", ".join(f"{name} {number}" for name, number in peers["versions"].items())
            parts.append(f"{machine()}. The peers' environment: {versions}.\n")
        truths = [pair.truth for pair in pairs]
        parts.append(f"## {shift}\n\nWhere {TITLES[shift]}; mean accuracy {100 * np.mean(truths):.0f} %.\n")
        parts.append(table(["accuracy by", "mean error", "worst", "ms a pair", "time, relative"], lines(truths, found)))
    write_measured(PAGE, "Forecasts beside other programs", "\n".join(parts))


if __name__ == "__main__":
    main()
