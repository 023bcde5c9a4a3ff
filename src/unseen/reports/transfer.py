"""The run folder of a transfer between datasets, read, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.reports.kinds import kind_of
from unseen.reports.verdict import Verdict
from unseen.reports.wording import DASH, bounds, called, capital, percent, points, scored
from unseen.store import read_findings, read_measurements
from unseen.store.manifest import read_about
from unseen.types import Finding, Measurement

MERGED, MAJORITY, CAPPED = "merged", "majority", " capped"
OTHERS, ALL, OWN = "the others", "all tests", "its own"
RESERVED = (MERGED, MAJORITY, OTHERS, ALL, OWN, f"{MERGED}{CAPPED}")
"""Names in the tables that no dataset may have."""
WITHOUT = "without overlap"
"""The slice of test texts that stand in no training set concerned."""
MAIN = "f1.macro"
NO_FALL = "no clear fall"
PLACE = ("train", "test", "than_train", "than_test")
"""Tags that tell where a number is from."""


@dataclass(frozen=True, eq=False)
class TransferRun:
    """Everything that the folder of a transfer says."""

    folder: Path
    about: Mapping[str, Any]
    measurements: Sequence[Measurement]
    findings: Sequence[Finding]

    @property
    def names(self) -> list[str]:
        """The datasets."""
        return list(self.about["datasets"])

    @property
    def sets(self) -> list[str]:
        """The training sets, those of one whole dataset first."""
        return list(self.about["training_sets"])

    @property
    def extras(self) -> list[str]:
        """Training sets that are no dataset as it is."""
        return [name for name in self.sets if name not in self.names]

    @property
    def labels(self) -> list[str]:
        """Labels, in order."""
        return list(self.about["settings"]["labels"])

    @property
    def metrics(self) -> list[str]:
        """Everything that was measured in each cell, the main one first."""
        return [MAIN, "accuracy", *(f"f1[{label}]" for label in self.labels)]

    @property
    def elsewhere(self) -> list[tuple[str, str]]:
        """Trained on one dataset, tested on another."""
        return [(train, test) for train in self.names for test in self.names if train != test]

    def mean_over(self, train: str) -> str:
        """The tests that a training set's mean is over: the other datasets; of several datasets together, all."""
        return ALL if len(self.about["training_sets"][train]["of"]) > 1 else OTHERS

    def row(self, metric: str, train: str, test: str, slice: str = "all", **than: str) -> Measurement | None:
        """The number of that place, the mean over seeds; None when it was not measured."""
        tags = {"train": train, "test": test} | than
        return self._by_place.get((metric, slice, *(tags.get(name, "") for name in PLACE)))

    def fall(self, train: str, test: str, metric: str = MAIN, slice: str = "all") -> Measurement | None:
        """By how much training on the test's own dataset is better."""
        own = OWN if OTHERS in (train, test) or test == ALL else test
        return self.row(f"fall.{metric}", train, test, slice, than_train=own, than_test=test)

    @cached_property
    def _by_place(self) -> dict[tuple[str, ...], Measurement]:
        found: dict[tuple[str, ...], Measurement] = {}
        for row in self.measurements:
            if row.tags.get("seed", "mean") == "mean":
                place = (str(row.tags.get(name, "")) for name in PLACE)
                found.setdefault((row.metric, row.slice, *place), row)
        return found


def read_transfer_run(folder: str | Path) -> TransferRun:
    """The run in a folder; what is damaged is said at once."""
    folder = Path(folder)
    about = read_about(folder)
    if kind_of(folder) != "transfer":
        raise InputError(f"{folder} is not a transfer between datasets", fix="unseen transfer writes one")
    try:
        _ = about["settings"]["labels"], [each["counts"] for each in about["datasets"].values()]
        _ = [each["of"] for each in about["training_sets"].values()]
    except (KeyError, TypeError, AttributeError) as cause:
        raise InputError(f"{folder / 'run.json'} is damaged: {type(cause).__name__}: {cause}") from cause
    rows = read_measurements(folder / "measurements.csv")
    return TransferRun(folder, about, rows, read_findings(folder / "findings.csv"))


def transfer_verdict(run: TransferRun) -> Verdict:
    """How much of a score is left elsewhere.

    `warn`: a fall that is more than chance, on average or of one pair, or test texts that were seen; else `ok`.
    """
    mean, level = run.fall(OTHERS, OTHERS), "ok" if badge(run) == NO_FALL else "warn"
    if mean is None or mean.value is None:
        return Verdict("No verdict: a label is missing in a test part, so not all scores exist.", [], level)
    way, size = change(mean)
    sure = _falls(mean) or (mean.high is not None and mean.high < 0)
    how = f"{way}s by {size}" if sure else f"does not clearly {way}: by {size}"
    sentences = [
        *_some(run), *_worst(run), *_positive(run), *_below_majority(run), *_merged(run), *_capped(run),
        *_overlapping(run),
    ]  # fmt: skip
    said = f"Trained elsewhere, {called(MAIN)} {how} points on average."
    return Verdict(said, [capital(each) for each in sentences], level)


def badge(run: TransferRun) -> str:
    """The verdict in a few words."""
    mean = run.fall(OTHERS, OTHERS)
    if _falls(mean):
        return "falls elsewhere"
    if _falling(run):
        return "some fall"
    seen = any(each.level == "fail" and each.check.startswith("overlap") for each in run.findings)
    return "look closer" if seen or mean is None or mean.value is None else NO_FALL


def change(row: Measurement) -> tuple[str, str]:
    """Whether it is a fall or a rise, and by how many points, with its interval."""
    if row.value is None or row.value >= 0:
        return "fall", written(row)
    low, high = (None if each is None else -each for each in (row.high, row.low))
    return "rise", written(replace(row, value=-row.value, low=low, high=high))


def _falls(row: Measurement | None) -> bool:
    return row is not None and row.low is not None and row.low > 0


def _falling(run: TransferRun) -> list[str]:
    return [f"{train} → {test}" for train, test in run.elsewhere if _falls(run.fall(train, test))]


def _some(run: TransferRun) -> Iterator[str]:
    falling = _falling(run)
    if falling and not _falls(run.fall(OTHERS, OTHERS)):
        yield f"{len(falling)} of {len(run.elsewhere)} fall by more than chance: {', '.join(falling)}."


def _worst(run: TransferRun) -> Iterator[str]:
    rows = {cell: row for cell in run.elsewhere if (row := run.fall(*cell)) is not None and row.value is not None}
    if not rows:
        return
    ends = {"Worst": max(rows, key=lambda cell: rows[cell].value or 0.0)}
    if len(rows) > 2:
        ends["Best"] = min(rows, key=lambda cell: rows[cell].value or 0.0)
    for word, (train, test) in ends.items():
        own, other = run.row(MAIN, test, test), run.row(MAIN, train, test)
        way, size = change(rows[train, test])
        yield (
            f"{word}: on {test}, {scored(own)} when trained on its own texts and {scored(other)} when trained on "
            f"{train}, a {way} of {size} points."
        )


def _positive(run: TransferRun) -> Iterator[str]:
    label = run.about["settings"].get("positive")
    row = run.fall(OTHERS, OTHERS, f"f1[{label}]")
    if label and row is not None and row.value is not None:
        way, size = change(row)
        yield f"{called(f'f1[{label}]')} {way}s by {size} points on average."


def _below_majority(run: TransferRun) -> Iterator[str]:
    below = [f"{train} → {test}" for train, test in run.elsewhere if _no_better(run, train, test)]
    if below:
        own = sum(_no_better(run, name, name) for name in run.names)
        yield (
            f"{len(below)} of {len(run.elsewhere)} are right no more often than always giving the most frequent label: "
            f"{', '.join(below)}. Of those trained on the tested dataset itself, it is {own} of {len(run.names)}."
        )


def _no_better(run: TransferRun, train: str, test: str) -> bool:
    score, least = run.row("accuracy", train, test), run.row("accuracy", MAJORITY, test)
    if score is None or least is None or score.value is None or least.value is None:
        return False
    return score.value <= least.value


def _merged(run: TransferRun) -> Iterator[str]:
    row = run.fall(MERGED, ALL)
    if row is None or row.value is None or row.low is None or row.high is None:
        return
    better = "worse" if row.low > 0 else "better" if row.high < 0 else "neither clearly better nor worse"
    way, size = change(row)
    yield (
        f"a model trained on all together is {better} than those trained on each dataset's own texts: "
        f"{called(MAIN)} {way}s by {size} points on average."
    )


def _capped(run: TransferRun) -> Iterator[str]:
    for name in run.extras:
        whole = run.about["training_sets"][name].get("uncapped")
        if whole in run.names:
            others = [test for test in run.names if test != whole]
            rows = [run.row(f"fall.{MAIN}", name, test, than_train=whole, than_test=test) for test in others]
            said = [f"{test} {points(-row.value)}" for test, row in zip(others, rows, strict=True)
                    if row is not None and row.value is not None]  # fmt: skip
            yield f"capping {whole} changes {called(MAIN)} elsewhere, in points: {', '.join(said)}."


def _overlapping(run: TransferRun) -> Iterator[str]:
    cells = [(train, test) for train in run.names for test in run.names]
    shares = {cell: row.value for cell in cells if (row := run.row("overlap.near", *cell)) and row.value}
    if not shares:
        yield "no test text stands in any training data, not even nearly."
        return
    train, test = max(shares, key=lambda cell: shares[cell])
    most = f"at most {percent(shares[train, test])} ({train} → {test})"
    yield f"test texts stand in training data for {len(shares)} of {len(cells)} pairs, {most}."
    without = run.fall(OTHERS, OTHERS, slice=WITHOUT)
    if without is not None and without.value is not None:
        way, size = change(without)
        yield f"without such texts the mean {way} is {size} points."


def score_of(run: TransferRun, metric: str, train: str, test: str) -> float | None:
    """A score as a bare number."""
    row = run.row(metric, train, test)
    return None if row is None else row.value


def written(row: Measurement | None) -> str:
    """A difference in points with its interval."""
    return DASH if row is None else " ".join(filter(None, [points(row.value), bounds(row, points)]))
