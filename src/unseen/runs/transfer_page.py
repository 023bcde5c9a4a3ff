"""What a transfer between datasets says: verdict, tables, page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unseen.evaluation.wording import called, capital
from unseen.reports.formats import Cell, Strong, Table
from unseen.reports.heat_map import heat_map
from unseen.reports.page import Page, Section, Verdict, sorted_findings, with_lines
from unseen.reports.record import MEAN, RunRecord
from unseen.runs.transfer import ALL, MAJORITY, MERGED, OTHERS, OWN, WITHOUT
from unseen.store.files import file_name
from unseen.types import Measurement
from unseen.types.numbers import DASH, percent, points, scored, turned

MAIN = "f1.macro"
NO_FALL = "no clear fall"
PARTS = ("train", "dev", "test")
READING = (
    "In brackets: 95 % intervals over training seeds and test texts. Datasets differ in texts, in what their labels "
    "mean and in how often each occurs; a fall does not say which of these it is."
)


def page(record: RunRecord) -> Page:
    """What is left of a model on another dataset."""
    run = TransferRun(record)
    shown, settings = tables(run), record.about["settings"]
    trainings = f"{settings['trainings']} {'training' if settings['trainings'] == 1 else 'trainings'} each"
    matched = ", all training sets of one size" if settings["matched"] else ""
    return Page(
        "transfer",
        f"What is left of {record.about['model']} on another dataset?",
        transfer_verdict(run),
        f"{', '.join(run.names)} · {trainings}{matched}",
        READING,
        [
            Section(
                "Trained on each, tested on each", pictures=[_map(run, MAIN)],
                folded={"With intervals": [matrix_table(run, MAIN)]}, note=_extras(run),
            ),
            Section("Falls, in points", tables=[same_test_table(run), same_training_table(run)]),
            Section("Each label", pictures=[_map(run, metric) for metric in (*run.metrics[2:], "accuracy")]),
            Section(
                "Was it seen in training?",
                tables=[shown["overlap"], *([shown["without-overlap"]] if "without-overlap" in shown else [])],
                findings=sorted_findings(record.findings),
            ),
            Section("Data and labels", tables=[size_table(run), label_table(run)]),
        ],
        shown,
        [matrix_table(run, MAIN)],
        [finding for finding in record.findings if finding.level != "ok"],
        {"which text is where": "splits/", "what models said": "predictions/"},
    )  # fmt: skip


def _extras(run: TransferRun) -> str:
    """What the training sets are made of that are no dataset as it is."""
    sets = run.record.about["training_sets"]
    made = [f"{name}: {sets[name]['rows']:,} training texts of {', '.join(sets[name]['of'])}" for name in run.extras]
    return f"{'; '.join(made)}." if made else ""


@dataclass(frozen=True, eq=False)
class TransferRun:
    """The record of a transfer, by training set and test."""

    record: RunRecord

    @property
    def names(self) -> list[str]:
        """The datasets."""
        return list(self.record.about["datasets"])

    @property
    def sets(self) -> list[str]:
        """The training sets, those of one whole dataset first."""
        return list(self.record.about["training_sets"])

    @property
    def extras(self) -> list[str]:
        """Training sets that are no dataset as it is."""
        return [name for name in self.sets if name not in self.names]

    @property
    def labels(self) -> list[str]:
        """Labels, in order."""
        return list(self.record.about["settings"]["labels"])

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
        return ALL if len(self.record.about["training_sets"][train]["of"]) > 1 else OTHERS

    def row(self, metric: str, train: str, test: str, slice: str = "all", **than: str) -> Measurement | None:
        """The number of that place, the mean over seeds; None when it was not measured."""
        return self.record.row(metric, slice, train=train, test=test, seed=MEAN, **than)

    def fall(self, train: str, test: str, metric: str = MAIN, slice: str = "all") -> Measurement | None:
        """By how much training on the test's own dataset is better."""
        own = OWN if OTHERS in (train, test) or test == ALL else test
        return self.row(f"fall.{metric}", train, test, slice, than_train=own, than_test=test)


def transfer_verdict(run: TransferRun) -> Verdict:
    """How much of a score is left elsewhere.

    `warn`: a fall that is more than chance, on average or of one pair, or test texts that were seen; else `ok`.
    """
    mean, level = run.fall(OTHERS, OTHERS), "ok" if badge(run) == NO_FALL else "warn"
    if mean is None or mean.value is None:
        return Verdict(
            "No verdict: a label is missing in a test part, so not all scores exist.", [], level, badge=badge(run)
        )
    way, size = change(mean)
    sure = _falls(mean) or (mean.high is not None and mean.high < 0)
    result = f"{way}s by {size}" if sure else f"does not clearly {way}: by {size}"
    sentences = [
        *_some(run), *_worst(run), *_positive(run), *_below_majority(run), *_merged(run), *_capped(run),
        *_overlapping(run),
    ]  # fmt: skip
    headline = f"Trained elsewhere, {called(MAIN)} {result} points on average."
    return Verdict(headline, [capital(sentence) for sentence in sentences], level, badge=badge(run))


def badge(run: TransferRun) -> str:
    """The verdict in a few words."""
    mean = run.fall(OTHERS, OTHERS)
    if _falls(mean):
        return "falls elsewhere"
    if _falling(run):
        return "some fall"
    seen = any(finding.level == "fail" and finding.check.startswith("overlap") for finding in run.record.findings)
    return "look closer" if seen or mean is None or mean.value is None else NO_FALL


def change(row: Measurement) -> tuple[str, str]:
    """Whether it is a fall or a rise, and by how many points, with its interval."""
    rises = row.value is not None and row.value < 0
    return ("rise", scored(turned(row), points)) if rises else ("fall", scored(row, points))


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
    label = run.record.about["settings"].get("positive")
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
        whole = run.record.about["training_sets"][name].get("uncapped")
        if whole in run.names:
            others = [test for test in run.names if test != whole]
            rows = {test: run.row(f"fall.{MAIN}", name, test, than_train=whole, than_test=test) for test in others}
            changes = [f"{test} {points(-row.value)}" for test, row in rows.items() if row and row.value is not None]
            yield f"capping {whole} changes {called(MAIN)} elsewhere, in points: {', '.join(changes)}."


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


def tables(run: TransferRun) -> dict[str, Table]:
    """Every table by the name of its file."""
    named = {f"matrix-{file_name(metric)}": matrix_table(run, metric) for metric in run.metrics}
    named |= {"falls-same-test": same_test_table(run), "falls-same-training": same_training_table(run)}
    named |= {"overlap": overlap_table(run), "sizes": size_table(run), "labels": label_table(run)}
    return with_lines(named | {"without-overlap": table_of_unseen(run)})


def _map(run: TransferRun, metric: str) -> Markup:
    """The heat map of one metric; all have one scale."""
    rows = [*run.sets, MAJORITY]
    scores = [[run.row(metric, train, test) for test in run.names] for train in rows]
    values = [[row.value if row else None for row in line] for line in scores]
    title = f"{capital(called(metric))}: trained on the row, tested on the column"
    return Markup(heat_map(values, rows, run.names, title=title, scale=(0.0, 1.0)))


def matrix_table(run: TransferRun, metric: str) -> Table:
    """Scores with intervals; those of a dataset on itself stand out."""
    lines: list[tuple[Cell, ...]] = []
    for train in run.sets:
        cells = [scored(run.row(metric, train, test)) for test in run.names]
        cells = [Strong(cell) if train == test else cell for cell, test in zip(cells, run.names, strict=True)]
        elsewhere = run.row(metric, train, run.mean_over(train))
        rows = int(run.record.about["training_sets"][train]["rows"])
        lines.append((train, rows, *cells, scored(elsewhere)))
    lines.append((MAJORITY, None, *(scored(run.row(metric, MAJORITY, test)) for test in run.names), DASH))
    lines.append((OTHERS, None, *(scored(run.row(metric, OTHERS, test)) for test in run.names), DASH))
    note = (
        "95 % intervals over seeds and test texts. Mean: over the other datasets; of merged sets, over all. "
        f"{capital(MAJORITY)}: always the most frequent label. "
        f"{capital(OTHERS)}: mean over training on each other dataset."
    )
    columns = ("trained on", "texts", *(f"tested on {name}" for name in run.names), "mean")
    return Table(capital(called(metric)), columns, tuple(lines), note)


def same_test_table(run: TransferRun) -> Table:
    """The fall from training on the test's own dataset, the same test texts on both sides."""
    rows = {train: [*run.names, run.mean_over(train)] for train in run.sets} | {OTHERS: [*run.names, OTHERS]}
    lines = [(train, *(scored(run.fall(train, test), points) for test in tests)) for train, tests in rows.items()]
    columns = ("trained on", *(f"tested on {name}" for name in run.names), "mean")
    note = "Points below a model trained on the dataset that is tested; paired, because the test texts are the same."
    return Table(f"Fall of {called(MAIN)} by training elsewhere", columns, tuple(lines), note)


def same_training_table(run: TransferRun) -> Table:
    """The fall from a model's own test part to those of others."""
    rows = [
        [run.row(f"fall.{MAIN}", train, test, than_train=train, than_test=train) for test in run.names]
        for train in run.names
    ]
    lines = [(train, *(scored(row, points) for row in line)) for train, line in zip(run.names, rows, strict=True)]
    note = (
        "Points below the same model's score on its own test texts. Other texts and another mix of labels: "
        "part of it is that the other test is easier or harder for everybody."
    )
    columns = ("trained on", *(f"tested on {name}" for name in run.names))
    return Table(f"Fall of {called(MAIN)} by testing elsewhere", columns, tuple(lines), note)


def overlap_table(run: TransferRun) -> Table:
    """How many test texts each training set has."""

    def cell(train: str, test: str) -> str:
        near, conflict = (run.row(f"overlap.{kind}", train, test) for kind in ("near", "conflict"))
        if near is None or near.value is None:
            return DASH
        count = round(near.value * near.n)
        other = round(conflict.value * conflict.n) if conflict is not None and conflict.value is not None else 0
        return f"{count:,} ({percent(near.value)}), {other:,} other label" if count else "0"

    lines = [(train, *(cell(train, test) for test in run.names)) for train in run.sets]
    columns = ("training texts of", *(f"test texts of {name}" for name in run.names))
    note = "Test texts that stand in the training or validation texts, word for word or nearly."
    return Table("Test texts that were seen in training", columns, tuple(lines), note)


def table_of_unseen(run: TransferRun) -> Table:
    """Scores with and without the test texts that the training set has, where it has any."""
    lines: list[tuple[Cell, ...]] = []
    for train in run.sets:
        for test in run.names:
            row = run.row(MAIN, train, test, WITHOUT)
            if row is not None:
                falls = [run.fall(train, test, slice=where) for where in ("all", WITHOUT)]
                scores = (scored(run.row(MAIN, train, test)), scored(row), *(scored(fall, points) for fall in falls))
                lines.append((f"{train} → {test}", row.n, *scores))
    name = called(MAIN)
    columns = ("trained → tested", "texts left", f"{name}, all", f"{name}, without", "fall, all", "fall, without")
    note = "The same predictions. Falls without: texts that neither of the two training sets has."
    return Table("Without test texts that were seen in training", columns, tuple(lines), note)


def size_table(run: TransferRun) -> Table:
    """Texts per part and label of each dataset."""
    lines: list[tuple[Cell, ...]] = []
    for name, about in run.record.about["datasets"].items():
        for part in PARTS:
            counts = about["counts"][part]
            total = sum(counts.values())
            cells = [f"{counts[label]:,} ({percent(counts[label] / max(1, total))})" for label in run.labels]
            lines.append((name, part, total, *cells))
    note = "; ".join(f"{name}: {_how_split(about)}" for name, about in run.record.about["datasets"].items())
    return Table("Texts", ("dataset", "part", "texts", *run.labels), tuple(lines), f"Split: {note}.")


def _how_split(about: dict[str, Any]) -> str:
    if about.get("split"):
        return f"published ({about['split']})"
    return f"random, {about['groups']} on one side" if about.get("groups") else "random"


def label_table(run: TransferRun) -> Table:
    """What each label of each dataset is called here."""
    lines: list[tuple[Cell, ...]] = []
    for name, about in run.record.about["datasets"].items():
        left_out = about.get("left_out", {})
        for theirs, ours in about["map"].items():
            lines.append((name, theirs, f"left out ({left_out[theirs]:,} texts)" if theirs in left_out else ours))
        if not about["map"]:
            lines.append((name, "every label", "the same"))
    return Table("Labels", ("dataset", "its label", "here"), tuple(lines))
