"""What the graph and the store cost per step, and what the engines cost and gain: docs/results/studies.md.

    python -m benchmarks.studies [FOLDER]

A study of the bundled sample with light models is run by every engine from nothing, and once more when it is
finished; then as many steps that do nothing are run, which leaves the overhead alone.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.setting import ROOT, machine, table
from unseen.engines import ENGINES, Step, Workspace, in_order
from unseen.runs.study import run_study
from unseen.store import read_measurements
from unseen.store.results import Results

STUDY = """
[data.sample]
limit = 1000
[model.neural]
[model.tfidf]
use = "logistic"
[space.all]
model = ["neural", "tfidf"]
[split.random]
seeds = [1, 2, 3]
[split.subset-sum]
seeds = [1, 2, 3]
[split.closest]
seeds = [1, 2, 3]
[train]
seeds = [1, 2, 3]
[[experiment]]
name = "all"
models = ["neural", "tfidf"]
"""
ENGINES_TRIED = ("inline", "local", "ray")
EMPTY_STEPS = 200


def nothing(here: Workspace) -> None:
    """A step that writes one small file."""
    (here.folder / "done.txt").write_text("done")


def main() -> None:
    """Measure and write the page."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(tempfile.mkdtemp())
    (folder / "study.toml").write_text(STUDY)
    whole = {name: _study(name, folder) for name in ENGINES_TRIED}
    empty = {name: _empty(name, folder) for name in ENGINES_TRIED}
    numbers = {name: _numbers(folder / name) for name in ENGINES_TRIED}
    first = numbers[ENGINES_TRIED[0]]
    slowest = whole[ENGINES_TRIED[0]][0]
    rows = [
        [
            name,
            f"{slowest / first_run:.2f}",
            f"{again / first_run:.1%}",
            f"{1000 * empty[name] / EMPTY_STEPS:.0f}",
            "the same" if numbers[name] == first else "other",
        ]
        for name, (first_run, again) in whole.items()
    ]
    page = (
        "# What studies cost beside the work\n\n"
        f"{machine()}. Written by `python -m benchmarks.studies`: a study of 1,000 texts of the bundled sample with a small "
        "network and logistic regression, two workers of one thread each for local and Ray; the inline engine has one "
        "thread too. Ratios of one run; the time of Ray includes starting and stopping it.\n\n"
        + table(["engine", "speed against inline", "finished study run again", "ms per empty step", "numbers"], rows)
        + f"\nThe finished study is loaded, planned, published and reported anew; nothing is trained. Empty steps: "
        f"{EMPTY_STEPS} steps that write one small file; two workers.\n"
    )
    (ROOT / "docs" / "results" / "studies.md").write_text(page, encoding="utf-8")


def _engine(name: str) -> Any:
    return ENGINES.make(name, **{} if name == "inline" else {"workers": 2})


def _study(name: str, folder: Path) -> tuple[float, float]:
    taken = []
    for _ in range(2):
        begun = perf_counter()
        done = run_study(folder / "study.toml", engine=_engine(name), out=folder / name, store=folder / f"{name}-steps")
        taken.append(perf_counter() - begun)
        assert not done.failures, done.failures
    return taken[0], taken[1]


def _empty(name: str, folder: Path) -> float:
    first = Step("first", "benchmarks.studies:nothing", {"number": -1})
    steps = [
        Step(str(number), "benchmarks.studies:nothing", {"number": number}, {"of": first})
        for number in range(EMPTY_STEPS)
    ]
    begun = perf_counter()
    outcomes = list(_engine(name).run(in_order(steps), Results(folder / f"{name}-empty"), {}))
    assert len(outcomes) == EMPTY_STEPS + 1
    assert not any(each.error for each in outcomes)
    return perf_counter() - begun


def _numbers(folder: Path) -> list[tuple[str, float | None]]:
    return [(f"{row.metric} {row.slice} {sorted(row.tags.items())}", row.value) for row in
            read_measurements(folder / "measurements.csv")]  # fmt: skip


if __name__ == "__main__":
    main()
