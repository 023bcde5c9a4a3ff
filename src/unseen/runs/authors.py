"""The authors of a dataset: who wrote how much, what names alone give away, and the score on unseen authors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from unseen import api
from unseen.audits.author_estimate import estimate_shared_authors
from unseen.audits.authors import (
    Writers,
    author_findings,
    concentration,
    know_the_author,
    lorenz,
)
from unseen.audits.price import random_removals
from unseen.errors import InfeasibleError, InputError
from unseen.evaluation.falls import Run
from unseen.evaluation.gates import Gate
from unseen.evaluation.metrics import metric as metric_of
from unseen.evaluation.wording import called
from unseen.reports.figures import CurvePoint, Series, curve_chart
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, sorted_findings, two_widths, with_lines, worst_level
from unseen.reports.record import RunRecord
from unseen.runs.experiment import Arm, Chosen, Contrast, Level, answers, in_order, measured, refuse_without_parts
from unseen.runs.frame import Output, Result, carry_through, described_data, described_split
from unseen.runs.source import load_data, split_of
from unseen.runs.spaces import Model
from unseen.seeding import generator
from unseen.splits.quotas import within_cap
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Measurement, Split
from unseen.types.arrays import Mask, Rows
from unseen.types.numbers import number, percent, points, scored

CAP = 250
"""Rows per author and class that a capped training part has at most, as in the published remedy."""
NEEDED = "Give the data with an author column, or --calibrate DATA with --calibrate-author COLUMN."
TOPS = ("1", "2", "5", "10")
RULES = {"leave-one-out": "the author's other rows", "split": "the author's rows in training"}
FAMILIES = {
    "random": "random split",
    "grouped": "unseen authors",
    "thinned": "unseen authors, trained without random rows",
    "capped": "unseen authors, trained with a cap per author and class",
}
MOST_CURVES = 7
BADGES = {"ok": "no concern", "warn": "look closer", "fail": "authors carry it", "skipped": "not measured"}


@dataclass(frozen=True)
class UnseenAuthors:
    """How the score on unseen authors is measured."""

    model: Model = field(default_factory=lambda: Model("logistic"))
    metric: str = "f1.macro"
    trainings: int = 3
    """Splits of each kind, each with a training of its own."""
    share: float = 0.2
    """Of the rows, for testing."""
    cap: int = CAP
    seed: int = 42

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", metric_of(self.metric).id)
        if self.trainings < 1 or self.cap < 1:
            raise InputError("trainings and cap are at least 1", got=f"{self.trainings} and {self.cap}")


def authors(
    data: Any,
    split: Split | str | Path | None = None,
    *,
    author: str | None = None,
    model: Any = None,
    params: Mapping[str, Any] | None = None,
    metric: str | None = None,
    trainings: int | None = None,
    test: float | None = None,
    cap: int | None = None,
    calibrate: Any = None,
    calibrate_author: str | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
) -> Result:
    """Everything about the authors that the attribute `author` names, or an estimate where there is none.

    `data` is what `unseen.load` takes, or a Dataset; `split` a Split or a file of anybody's. With `model`, a recipe
    with `params`, the score on unseen authors is measured: `trainings` splits of each kind (3), `test` of the rows for
    testing (0.2), at most `cap` rows per author and class (250) in a capped training part, `seed` of all that is drawn
    (42). `calibrate` is other data, whose attribute `calibrate_author` names the authors: what the estimate learns
    style from. Without `out` nothing is written.
    """
    given: dict[str, Any] = {"metric": metric, "trainings": trainings, "test": test, "cap": cap, "seed": seed}
    given = {name: value for name, value in (given | {"params": params or None}).items() if value is not None}
    _refuse_contradictions(author, model, calibrate, calibrate_author, given)
    data = load_data(data, {}, [author] if author else [])
    split = split_of(data, split)
    settings = None if model is None else _settled(model, **given)
    calibration = None
    if calibrate is not None and calibrate_author is not None:
        calibration = load_data(calibrate, {}, [calibrate_author]), calibrate_author
    if split is not None:
        split = refuse_without_parts(data, split)
    if author is not None and settings is not None and not Writers.of(data, author).count:
        raise InputError(f"no row has a value in {author!r}: there are no unseen authors to test on")
    training: dict[str, Any] = {} if settings is None else asdict(settings) | {"model": settings.model.described}
    about = {
        "data": described_data(data),
        "split": described_split(split),
        "settings": {
            "author": author, "calibration": None if calibration is None else described_data(calibration[0]),
            **training,
        },
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        if author is None:
            return _estimated(data, split, calibration)
        return _audited(data, split, author, settings, folder.results, workers)

    return carry_through("authors", about, work, out=out, command=command, gates=gates)


def _settled(
    model: Any,
    *,
    params: Mapping[str, Any] | None = None,
    trainings: int = UnseenAuthors.trainings,
    test: float = UnseenAuthors.share,
    **given: Any,
) -> UnseenAuthors:
    trained = replace(Model.of(model), params=params or {})
    return UnseenAuthors(trained, trainings=trainings, share=test, **given)


def _refuse_contradictions(
    author: str | None, model: Any, calibrate: Any, column: str | None, training: Mapping[str, Any]
) -> None:
    """Settings that would have no effect, all at once."""
    problems = []
    if model is None:
        own = [f"{name}={value!r}" for name, value in training.items() if name != "params"]
        own += ["params=… (--set)"] * ("params" in training)
        problems += [f"{setting} has no effect without model=…" for setting in own]
    if model is not None and author is None:
        problems.append("model=… has no effect without author=…: there are no unseen authors to test on")
    if author is not None and calibrate is not None:
        problems.append("calibrate=… has no effect with author=…: nothing needs an estimate")
    if (calibrate is None) != (column is None):
        problems.append("calibrate=… and calibrate_author=… go together")
    if problems:
        raise InputError("these settings do not go together", problems=problems)


def _audited(
    data: Dataset,
    split: Split | None,
    author: str,
    settings: UnseenAuthors | None,
    results: Results,
    workers: int,
) -> Output:
    writers = Writers.of(data, author)
    rows = [*concentration(data, author), *lorenz(data, author)]
    rows += know_the_author(data, split, author) if writers.count else []
    notes: list[Finding] = []
    known = data.take(np.flatnonzero(writers.known))
    if settings is not None and len(np.unique(known.labels)) < 2:
        message = "The score on unseen authors was not measured: the rows with a known author have one label only."
        notes = [Finding("unseen_authors", "skipped", message, len(known))]
    elif settings is not None:
        try:
            rows += unseen_authors(known, author, settings, results, workers)
        except InfeasibleError as cause:
            message = f"The score on unseen authors was not measured: {cause.message}."
            notes = [Finding("unseen_authors", "skipped", message, advice="Collect more authors.")]
    return Output(rows, [*author_findings(rows), *notes])


def _estimated(data: Dataset, split: Split | None, calibration: tuple[Dataset, str] | None) -> Output:
    """The estimate without authors, or why there is none."""
    if calibration is None:
        message = (
            "Nothing is known about the authors, and no estimate was made: without calibration it would have no "
            "measured error."
        )
        return Output([], [Finding("estimated_authors", "skipped", message, advice=NEEDED)])
    rows = estimate_shared_authors(data, split or api.split(data, "random", test=UnseenAuthors.share), *calibration)
    return Output(rows, author_findings(rows))


def unseen_authors(
    data: Dataset, author: str, settings: UnseenAuthors, results: Results, workers: int = 1
) -> list[Measurement]:
    """Scores on random and on author-disjoint splits of equal size and mix, and the fall from one to the other.

    Every row needs an author. Splits are checked on their final rows: `authors_on_both_sides` counts authors in
    training and test. Where `cap` takes rows away, `capped` trains with at most so many per author and class, and
    `thinned`, its control, without as many random rows of the same labels.
    """
    writers = Writers.of(data, author)
    seeds = range(settings.seed, settings.seed + settings.trainings)
    cuts = {name: cut for seed in seeds for name, cut in _cuts(data, author, settings, seed)}
    arms = {}
    for (family, seed), (train, dev, test) in cuts.items():
        learnt, chosen, asked = (Chosen(data, rows) for rows in (train, dev, test))
        arms[family, seed] = Arm(f"{family} {seed}", learnt, chosen, {"test": asked}, seed)
    predictions = answers(list(arms.values()), settings.model, results, workers=workers)
    conditions: dict[str, list[Run]] = {}
    for (family, seed), (_, _, test) in cuts.items():
        asked_about = predictions[f"{family} {seed}"]["test"]
        run = Run.of(data, asked_about, test, split=f"{family}-{seed}", family=family, seed=seed, groups=author)
        conditions.setdefault(family, []).append(run)
    pairs = [("random", "grouped"), *([("thinned", "capped")] if "capped" in conditions else [])]
    contrasts = [
        Contrast(conditions[than], conditions[family], {**_tags(family), "than": than}) for than, family in pairs
    ]
    levels = [Level(runs, _tags(family)) for family, runs in conditions.items()]
    rows = measured([*levels, *contrasts], [settings.metric])
    for (family, seed), (train, dev, test) in cuts.items():
        both = np.intersect1d(writers.code[np.concatenate([train, dev])], writers.code[test])
        tags: dict[str, str | int | float] = {
            **_tags(family), "seed": seed, "trained": len(train), "cap": settings.cap,
        }  # fmt: skip
        rows.append(Measurement("authors_on_both_sides", float(len(both)), len(test), tags=tags))
    return rows


def _cuts(
    data: Dataset, author: str, settings: UnseenAuthors, seed: int
) -> list[tuple[tuple[str, int], tuple[Rows, Rows, Rows]]]:
    """Training, dev and test rows of each family of splits."""
    grouped = api.split(data, "grouped", groups=author, test=settings.share, dev=settings.share / 2, seed=seed)
    sizes, got = grouped.sizes, grouped.certificate.got
    mix = {label: got[label] / sizes["test"] for label in got}
    random = api.split(data, "random", test=sizes["test"], dev=sizes.get("dev", 0), mix=mix, seed=seed)
    cuts = [((cut.name, seed), _parts(data, cut)) for cut in (random, grouped)]
    train, dev, test = cuts[1][1]
    dropped = over_cap(Writers.of(data, author).code[train], data.labels[train], settings.cap, seed)
    if dropped.any():
        thinned = next(iter(random_removals(data.labels[train], dropped, 1, generator(seed, "thinned"))))[0]
        cuts += [(("capped", seed), (train[~dropped], dev, test)), (("thinned", seed), (train[~thinned], dev, test))]
    return cuts


def _parts(data: Dataset, split: Split) -> tuple[Rows, Rows, Rows]:
    """Rows of train, dev and test in the order of their ids."""
    train, dev, test = (in_order(data, split.rows(part)) for part in ("train", "dev", "test"))
    return train, dev, test


def over_cap(author: Rows, labels: npt.NDArray[np.integer], most: int, seed: int) -> Mask:
    """Rows beyond the `most` that each author may have of each label; which of them stay is drawn."""
    cells = author * (int(labels.max(initial=0)) + 1) + labels
    return ~within_cap(cells, most, generator(seed, "cap"))


def _tags(family: str) -> dict[str, str]:
    return {"split": family, "part": "test"}


def page(record: RunRecord) -> Page:
    """What few authors carry: findings, the Lorenz curve, tables."""
    findings = sorted_findings(record.findings)
    level, first = worst_level(findings), findings[0]
    tables = with_lines({
        "concentration": concentration_table(record), "know-the-author": rule_table(record),
        "top-authors": top_table(record), "unseen-authors": unseen_table(record), "estimate": estimate_table(record),
    })  # fmt: skip
    curves = Section(
        "Few authors, many rows",
        "The further a line sags below “equal”, the fewer authors wrote most of the rows (Lorenz curve).",
        list(filter(None, [lorenz_figure(record)])),
    )
    data, split = record.about["data"], record.about["split"]
    return Page(
        "authors",
        f"The authors of {data['name']}",
        Verdict(first.message, [message for message in (first.advice,) if message], level, badge=BADGES[level]),
        subtitle=f"{data['rows']:,} rows" + (f"; split {split['name']}" if split else ""),
        sections=[
            Section("Findings", findings=findings),
            *([curves] if curves.pictures else []),
            *(Section(table.title, tables=[table]) for table in tables.values()),
        ],
        tables=tables,
        printed=list(tables.values()),
        printed_findings=findings,
    )


def concentration_table(record: RunRecord) -> Table:
    """A line per class: rows, authors, Gini and the shares of the top authors."""
    lines: list[tuple[Cell, ...]] = []
    for row in record.measurements:
        if row.metric == "authors.unknown":
            authors, gini = (record.value(name, row.slice) for name in ("authors.count", "author_gini"))
            shares = [percent(record.value(f"author_share.top{top}", row.slice)) for top in TOPS]
            lines.append((_class(row.slice), row.n, percent(row.value), int(authors or 0), number(gini), *shares))
    heads = ("class", "rows", "unknown author", "authors", "Gini", *(f"top {top}" for top in TOPS))
    note = "Gini 0: all authors wrote equally much; towards 1: few wrote all. Of rows whose author is known."
    return Table("How rows are spread over authors", heads, tuple(lines), note)


def rule_table(record: RunRecord) -> Table:
    """A line per metric and rule: predicting by author alone, beside chance and the majority label."""
    lines: list[tuple[Cell, ...]] = []
    for row in record.measurements:
        if row.metric.startswith("know_the_author."):
            metric, rule = row.metric.removeprefix("know_the_author."), str(row.tags["rule"])
            majority = record.row(f"majority_class.{metric}", rule=rule)
            chance = record.row(f"permuted_authors.{metric}", rule=rule)
            lines.append((RULES.get(rule, rule), called(metric), row.n, *map(scored, (row, chance, majority))))
    heads = ("what the rule knows", "metric", "rows", "by author alone", "by chance", "majority label")
    note = "By chance: the same rule when the authors of rows are permuted."
    return Table("Predicting by author alone", heads, tuple(lines), note)


def top_table(record: RunRecord) -> Table:
    """A line per class and number of top authors: precision, recall and F1 of calling all their rows that class."""
    lines: list[tuple[Cell, ...]] = []
    for row in record.measurements:
        if row.metric == "know_top_authors.f1.macro":
            label, top = row.slice.removeprefix("label="), str(row.tags["authors"])
            names = (f"precision[{label}]", f"recall[{label}]", f"f1[{label}]", "f1.macro", "f1.weighted")
            values = [record.value(f"know_top_authors.{name}", row.slice, authors=top) for name in names]
            lines.append((_class(row.slice), int(top), *map(number, values)))
    heads = ("class", "top authors", "precision", "recall", "F1", "macro F1", "weighted F1")
    note = "Every row of these authors is called that class, every other row is not."
    return Table("Knowing a few authors", heads, tuple(lines), note)


def unseen_table(record: RunRecord) -> Table:
    """A line per kind of split: score, and the fall where it is compared."""
    lines: list[tuple[Cell, ...]] = []
    metric = record.metric
    for family, title in FAMILIES.items():
        score, fall = record.row(metric, split=family), record.row(f"fall.{metric}", split=family)
        if score is None:
            continue
        sides = list(record.rows("authors_on_both_sides", split=family))
        sizes, both = _range([row.n for row in sides]), _range([int(row.value or 0) for row in sides])
        compared = ("", "") if fall is None else (scored(fall, points), FAMILIES[str(fall.tags["than"])])
        lines.append((title, sizes, both, scored(score), *compared))
    heads = ("split", "test rows", "authors on both sides", called(metric), "fall, points", "against")
    note = "Test rows of one split, of which there is one per seed. Intervals draw seeds and whole authors."
    return Table("Random and unseen authors", heads, tuple(lines), note)


def estimate_table(record: RunRecord) -> Table:
    """The estimate, its measured error, and what its verifier is worth."""
    names = {
        "estimate.shared_author": "estimate: test rows whose nearest training row in style has their author",
        "estimate.error": "measured error of the estimate: mean, on calibration authors whose names were hidden",
        "verifier.precision": "verifier of the estimate: pairs it takes for one author's that are",
        "verifier.recall": "verifier of the estimate: pairs of one author that it finds",
        "verifier.false_alarms": "verifier of the estimate: pairs of two authors that it takes for one's",
        "verifier.alarms_here": "verifier of the estimate: pairs of this data that it takes for one author's",
    }
    rows = [(title, row) for name, title in names.items() if (row := record.row(name)) is not None]
    lines: list[tuple[Cell, ...]] = [(title, scored(row), row.n) for title, row in rows]
    return Table("An estimate, with its measured error", ("what", "share", "of"), tuple(lines))


def lorenz_figure(record: RunRecord) -> Markup | None:
    """Share of rows over share of authors, a line for all rows and for each class; None without authors."""
    curves: dict[str, list[CurvePoint]] = {}
    for row in record.measurements:
        if row.metric == "author_lorenz" and row.value is not None:
            curves.setdefault(_class(row.slice), []).append(CurvePoint(float(row.tags["authors"]), row.value))
    if not curves:
        return None
    shown = [Series(name, tuple(curve)) for name, curve in list(curves.items())[:MOST_CURVES]]
    equal = Series("equal", (CurvePoint(0, 0), CurvePoint(1, 1)), dashed=True)
    axes = "share of authors, least prolific first", "share of rows"
    return two_widths(lambda narrow: curve_chart([*shown, equal], *axes, narrow=narrow, marked=False))


def _range(counts: Sequence[int]) -> int | str:
    """What all have; from the least to the most when they differ."""
    least, most = min(counts), max(counts)
    return least if least == most else f"{least:,}–{most:,}"


def _class(slice: str) -> str:
    return "all rows" if slice == "all" else slice.removeprefix("label=")
