"""What cleaning by rules does to a score, against cleaning nothing and against losing as many rows at random.

Without the random arm fewer rows and cleaner rows are one thing. Its rows have the labels of the flagged ones, so that
another class mix does not pass for an effect. The cleaned test part is cut by the same rules that clean the training
part, so a gain there alone says little: look at the original test part first. Findings say whether flagged rows harm,
and whether the models learnt at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from unseen import api
from unseen.audits.items import DEFAULT_PACKS, Flags, flag_items, rule_findings, rule_report, write_flags
from unseen.audits.price import can_be_sure, random_removals
from unseen.errors import InputError
from unseen.evaluation import wording
from unseen.evaluation.falls import Run
from unseen.evaluation.gates import Gate
from unseen.evaluation.measurements import drawn_groups
from unseen.evaluation.metrics import metric
from unseen.reports.columns import table_of, value
from unseen.reports.formats import Table
from unseen.reports.page import Page, Section, Verdict, sorted_findings
from unseen.reports.record import RunRecord
from unseen.runs.experiment import (
    Arm,
    Chosen,
    Contrast,
    Level,
    answers,
    measured,
    refuse_without_parts,
    removals,
    with_dev,
)
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.source import by_id, load_data, split_of
from unseen.runs.spaces import Model
from unseen.seeding import generator
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import PARTS, Dataset, Finding, Measurement, Predictions, Split, some
from unseen.types.arrays import Floats, Mask, Rows
from unseen.types.numbers import difference_in_points, percent, scored

TRAIN = ("original", "cleaned", "random")
TESTS = ("original", "cleaned")
COMPARED = (("cleaned", "original"), ("cleaned", "random"), ("random", "original"))
"""Which training is compared with which."""
METRICS = ("f1.macro", "accuracy")
TRAININGS = 5
COSTLY = 1
"""Random removals for each seed of a transformer, unless told."""
CLEANED = {"original": "all rows", "cleaned": "flagged rows left out", "random": "as many random rows left out"}
SAME = 0.5
"""With more than this share of identical answers a model hardly reads its texts."""
ONE_CLASS = 0.95
DIGITS = 6
SHARES = ("identical_answers", "largest_predicted_class")


@dataclass(frozen=True, kw_only=True)
class ItemEffectSettings:
    """What is trained and measured."""

    model: Model = field(default_factory=lambda: Model("logistic"))
    packs: tuple[str, ...] = DEFAULT_PACKS
    votes: int = 1
    """How many rules must flag a row."""
    trainings: int = TRAININGS
    repeats: int | None = None
    """Random removals for each seed; None: so many that there are 20 in all, and one for a transformer."""
    metrics: tuple[str, ...] = METRICS
    language: str = "en"
    groups: str | None = None
    """Attribute whose values are drawn together in the bootstrap."""
    seed: int = 42

    def __post_init__(self) -> None:
        if self.trainings < 2:
            raise InputError(
                "the spread over seeds needs several trainings", expected="2 or more", got=str(self.trainings)
            )
        if self.repeats is not None and self.repeats < 1:
            raise InputError("repeats is at least 1", got=str(self.repeats))
        if not self.metrics:
            raise InputError("there is no metric to measure")
        object.__setattr__(self, "metrics", tuple(metric(name).id for name in self.metrics))

    def check(self, data: Dataset) -> None:
        """Refuse a model that cannot be made, and metrics and groups that this data does not have."""
        self.model.check()
        guess = np.full((len(data), len(data.label_names)), 1 / len(data.label_names))
        for name in self.metrics:
            metric(name)(data.labels, guess, data.label_names)
        if self.groups is not None:
            drawn_groups(data.attribute(self.groups))

    @property
    def all_seeds(self) -> range:
        """Seeds of the trainings."""
        return range(self.seed, self.seed + self.trainings)

    @property
    def removals(self) -> int:
        """Random removals for each seed."""
        return removals(self.repeats, self.model, self.trainings, COSTLY)


def item_effect(
    data: Any,
    split: Split | str | Path | None = None,
    *,
    model: Any = "logistic",
    params: Mapping[str, Any] | None = None,
    packs: Sequence[str] = DEFAULT_PACKS,
    votes: int = 1,
    trainings: int = TRAININGS,
    repeats: int | None = None,
    metrics: Sequence[str] = METRICS,
    language: str = "en",
    groups: str | None = None,
    seed: int = 42,
    out: str | Path | None = None,
    workers: int = 1,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
) -> Result:
    """Train on all rows, on rows that are not flagged, and on as many random rows; test on all and on unflagged rows.

    A row is flagged where so many rules of the `packs` say so (`votes`). `model` is trained with `params` so many times
    (`trainings`), from `seed` on, that without random rows `repeats` times for each, the rows drawn anew; they have the
    labels of the flagged ones. Rows for dev are cleaned, or lost at random, like training rows.
    Without a split a fifth of the rows is the test part. Rules count on the training side alone. With `out` the flags,
    trainings, measurements and a page are kept there, and a run that was interrupted goes on. `difference.METRIC`
    above zero means that the first training (`train`) is better than the other (`than`) on the test rows `test`.
    """
    settings = ItemEffectSettings(
        model=replace(Model.of(model), params=params or {}), packs=tuple(packs), votes=votes, trainings=trainings,
        repeats=repeats, metrics=tuple(metrics), language=language, groups=groups, seed=seed,
    )  # fmt: skip
    data = load_data(data, {}, [settings.groups] if settings.groups else [])
    cut, data = split_of(data, split), by_id(data)
    settings.check(data)
    parts = _prepared(data, cut, settings.seed)
    flags = flag_items(data, settings.packs, parts, language=settings.language, seed=settings.seed)
    plan = ItemEffectPlan(data, parts, flags.flagged(settings.votes), settings)
    plan.check()
    about = {
        "data": described_data(data),
        "settings": {
            "model": settings.model.called, **settings.model.noted,
            "packs": list(settings.packs), "votes": settings.votes, "seeds": list(settings.all_seeds),
            "repeats": settings.removals, "metric": settings.metrics[0], "metrics": list(settings.metrics),
            "language": settings.language, "groups": settings.groups,
        },
        "splits": [file_name(parts.name)],
        "rules": {rule.name: {"pack": rule.pack, "trait": rule.trait} for rule in flags.rules},
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        write_flags(flags, folder / "flags.csv", data)
        return plan.carried_out(flags, folder.results, workers)

    return carry_through("item-effect", about, work, out=out, command=command, gates=gates)


@dataclass(frozen=True, eq=False)
class ItemEffectPlan:
    """The rows of every training and test."""

    data: Dataset
    split: Split
    flagged: Mask
    settings: ItemEffectSettings

    def rows(self, part: str, kind: str, seed: int = 0, repeat: int = 0) -> Rows:
        """Rows of a part as they are, without those flagged, or without as many random ones of the same labels."""
        rows = self.split.rows(part)
        if kind == "original":
            return rows
        flagged = self.flagged[rows]
        if kind == "cleaned":
            return rows[~flagged]
        draw = generator(seed, "random-removal", part, repeat)
        (removed,) = next(random_removals(self.data.labels[rows], flagged, 1, draw))
        return np.asarray(rows[~removed])

    def check(self) -> None:
        """Refuse a cleaning that cannot show anything, before anything is trained or written."""
        problems = []
        if not self.flagged[self.split.rows("train")].any():
            problems.append("no training row is flagged: cleaning would change nothing")
        for part in ("train", "test"):
            left, there = (set(self.data.labels[self.rows(part, kind)].tolist()) for kind in ("cleaned", "original"))
            if gone := there - left:
                names = some(self.data.label_names[code] for code in sorted(gone))
                problems.append(f"cleaning the {part} part leaves no row of {names}")
        if problems:
            raise InputError(
                "this cleaning cannot be measured",
                problems=problems,
                fix="other packs, another threshold, or another split",
            )

    @property
    def arms(self) -> list[Arm]:
        """One training for each kind and seed, several without random rows; all are asked about the whole test part."""
        test = Chosen(self.data, self.split.rows("test"))
        return [
            Arm(
                name,
                Chosen(self.data, self.rows("train", kind, seed, repeat)),
                Chosen(self.data, self.rows("dev", kind, seed, repeat)),
                {"test": test},
                seed,
            )
            for kind in TRAIN
            for name, seed, repeat in self._trained(kind)
        ]

    def _trained(self, kind: str) -> list[tuple[str, int, int]]:
        """Name, seed and number of removal of every training of a kind."""
        if kind != "random":
            return [(f"{kind}-{seed}", seed, 0) for seed in self.settings.all_seeds]
        every = product(self.settings.all_seeds, range(1, self.settings.removals + 1))
        return [(f"{kind}-{seed}-{repeat}", seed, repeat) for seed, repeat in every]

    def carried_out(self, flags: Flags, results: Results, workers: int) -> Output:
        """Train, ask and measure."""
        predictions = answers(self.arms, self.settings.model, results, workers=workers)
        runs = {(kind, test): self._runs(predictions, kind, test) for kind, test in product(TRAIN, TESTS)}
        levels = {(kind, test): Level(runs[kind, test], {"train": kind, "test": test}) for kind, test in runs}
        contrasts = [
            Contrast(
                runs[than, test], runs[kind, test], {"train": kind, "than": than, "test": test}, sign="difference",
                removals=than == "random",
            )
            for test, (kind, than) in product(TESTS, COMPARED)
        ]  # fmt: skip
        rows = [*rule_report(flags, self.data, self.split), *self._sizes()]
        rows += measured([*levels.values(), *contrasts], self.settings.metrics, self.settings.seed)
        for condition in levels.values():
            rows += sameness([run.probabilities for run in condition.runs], dict(condition.tags))
        findings = [*self._findings(rows), *rule_findings(flags, self.data)]
        return Output(rows, findings, data=self.data, splits={self.split.name: self.split})

    def _runs(self, predictions: Mapping[str, Mapping[str, Predictions]], kind: str, test: str) -> list[Run]:
        rows, groups = self.rows("test", test), self.settings.groups
        return [
            Run.of(self.data, predictions[name]["test"], rows, split=test, family=kind, seed=seed, groups=groups)
            for name, seed, _ in self._trained(kind)
        ]

    def _sizes(self) -> list[Measurement]:
        parts = (("train", TRAIN), ("dev", TRAIN), ("test", TESTS))
        sizes = [(part, kind, len(self.rows(part, kind))) for part, kinds in parts for kind in kinds]
        return [Measurement("rows", n, n, tags={"part": part, "kind": kind}) for part, kind, n in sizes if n]

    def _findings(self, rows: Sequence[Measurement]) -> list[Finding]:
        lost = int(self.flagged[self.split.rows("train")].sum())
        effects = [effect_of(rows, self.settings.metrics[0], test, lost) for test in TESTS]
        return [*effects, degenerate(rows, TRAIN, self._largest_gold), enough_seeds(self.settings.trainings, TRAININGS)]

    @property
    def _largest_gold(self) -> float:
        labels = self.data.labels[self.split.rows("test")]
        return float(np.bincount(labels).max() / len(labels))


def _prepared(data: Dataset, split: Split | None, seed: int) -> Split:
    """A split with training, dev and test rows; one without dev rows gives a tenth of its training rows to it."""
    if split is None:
        return api.split(data, "random", test=0.2, dev=0.1, seed=seed)
    split = refuse_without_parts(data, split)
    parts = split.parts.copy()
    parts[with_dev(data, split, seed)[1]] = PARTS.index("dev")
    return replace(split, parts=parts)


def page(record: RunRecord) -> Page:
    """What cleaning does to a score: scores, differences, whether models answer alike, what the rules flag."""
    settings, data = record.about["settings"], record.about["data"]
    tables = {
        "scores": score_table(record), "differences": difference_table(record), "answers": answer_table(record),
        "rules": rule_table(record),
    }  # fmt: skip
    ours = [finding for finding in record.findings if finding.check.startswith(("items.effect", "items.degenerate"))]
    level = "warn" if any(finding.level == "warn" for finding in ours) else "ok"
    headline, *sentences = [finding.message for finding in ours if finding.check.startswith("items.effect")]
    rules = "rule" if settings["votes"] == 1 else "rules"
    return Page(
        "item validity",
        f"What cleaning {data['name']} does to {settings['model']}",
        Verdict(headline, sentences, level, badge={"ok": "measured", "warn": "look closer"}[level]),
        f"{data['rows']:,} rows; packs {', '.join(settings['packs'])}; flagged from {settings['votes']} {rules} on",
        "The cleaned test part is cut by the rules that clean the training part: a gain there alone says little.",
        [
            Section("Scores", tables=[tables["scores"]]),
            Section("Differences", tables=[tables["differences"]]),
            Section("Do models answer alike?", tables=[tables["answers"]]),
            Section(
                "What the rules flag", tables=[tables["rules"]],
                note="Nothing was deleted from the data: flags.csv names the rows.",
            ),
            Section("Findings", findings=sorted_findings(record.findings)),
        ],
        tables,
        [tables["scores"], tables["differences"]],
        [finding for finding in record.findings if finding.check in ("items.degenerate", "items.seeds")],
        {"flagged rows": "flags.csv"},
    )  # fmt: skip


def score_table(record: RunRecord) -> Table:
    """Every metric of every training on both test parts."""
    lines = [
        (
            wording.called(name),
            title,
            *(scored(record.row(name, train=train, test=test)) for test in TESTS),
        )
        for name in record.about["settings"]["metrics"]
        for train, title in CLEANED.items()
    ]
    note = f"Means over {len(record.about['settings']['seeds'])} seeds; intervals of 95 % over seeds and texts."
    return Table("Scores", ("metric", "trained on", "all test rows", "unflagged test rows"), tuple(lines), note)


def difference_table(record: RunRecord) -> Table:
    """Differences between trainings on both test parts."""
    lines = [
        (
            wording.called(name),
            f"{CLEANED[str(row.tags['train'])]}, less {CLEANED[str(row.tags['than'])]}",
            "all" if row.tags["test"] == "original" else "unflagged",
            scored(row, wording.writer(name)),
        )
        for name in record.about["settings"]["metrics"]
        for row in record.rows(f"difference.{name}")
    ]
    note = (
        "Positive: the first training is better; of shares in points. Flagged less random is the effect of which rows "
        "were left out; its interval draws texts and adds the spread between random removals, the others draw seeds "
        "and texts."
    )
    return Table("Differences", ("metric", "trainings", "test rows", "difference"), tuple(lines), note)


def rule_table(record: RunRecord) -> Table:
    """What share of all rows and of the training and test parts each rule flags."""
    rules = record.about["rules"]
    lines = [((name, rule["pack"], rule["trait"]), record.where(rule=name)) for name, rule in rules.items()]
    places = {"all": "all", "train": "part=train", "test": "part=test"}
    columns = {head: value("rule_coverage", percent, place) for head, place in places.items()}
    return table_of("Rules", ("rule", "pack", "trait"), lines, columns, "Shares of rows flagged.")


def answer_table(record: RunRecord) -> Table:
    """Whether models answer alike whatever they are asked."""
    lines = {title: record.where(train=train, test="original") for train, title in CLEANED.items()}
    columns = {
        "most frequent answer": value("identical_answers", percent),
        "most frequent label": value("largest_predicted_class", percent),
    }
    return table_of("Answers", "trained on", lines, columns, "Shares of the test rows, means over seeds.")


def row_of(rows: Sequence[Measurement], metric: str, **tags: str) -> Measurement:
    """The measurement of this metric with these tags."""
    return next(row for row in rows if row.metric == metric and tags.items() <= dict(row.tags).items())


def effect_of(rows: Sequence[Measurement], metric: str, test: str, lost: int) -> Finding:
    """Whether rows that are flagged do more harm in training than others of the same labels do, on one test part."""
    gain = row_of(rows, f"difference.{metric}", train="cleaned", than="random", test=test)
    check = f"items.effect[{test}]"
    message = (
        f"{wording.capital(wording.called(metric))} on the {test} test part: training without the {lost:,} flagged "
        "rows less training without as many random rows of the same labels is "
        f"{difference_in_points(gain)}{_removals(gain)}"
    )
    if gain.low is None or gain.high is None or gain.low <= 0 <= gain.high:
        return Finding(check, "ok", f"{message}; this may be chance.", lost)
    if gain.low > 0:
        return Finding(check, "ok", f"{message}; cleaning helps.", lost)
    advice = "Keep these rows, or read them: the rules take out what the model needs."
    return Finding(check, "warn", f"{message}; cleaning harms.", lost, advice=advice)


def _removals(gain: Measurement) -> str:
    """How many of the random removals move the score as far, or that there are too few of them to tell."""
    removals, p = gain.tags.get("removals"), gain.tags.get("p")
    if removals is None or p is None:
        return ""
    if not can_be_sure(int(removals)):
        return f" (rests on {removals} random removals, too few to be sure)"
    return f" (of random removals {percent(float(p))} move it as far)"


def enough_seeds(seeds: int, enough: int) -> Finding:
    """Whether trainings were repeated often enough to see how far seeds differ."""
    message = f"Every training was repeated with {seeds} seeds."
    if seeds >= enough:
        return Finding("items.seeds", "ok", message, seeds)
    return Finding("items.seeds", "warn", message, seeds, advice=f"{enough} or more show the spread better.")


def sameness(answers: Sequence[Floats], tags: dict[str, str | int | float]) -> list[Measurement]:
    """Means over models of two shares of the tested rows, from probabilities [rows, classes] of each model.

    `identical_answers`: rows with the most frequent answer, to six digits. `largest_predicted_class`: rows given the
    label that is given most. Texts that are copies of each other have identical answers by right.
    """
    n = len(answers[0])
    same = [np.unique(np.round(p, DIGITS), axis=0, return_counts=True)[1].max() / n for p in answers]
    largest = [np.bincount(p.argmax(axis=1)).max() / n for p in answers]
    return [
        Measurement(name, float(np.mean(values)), n, tags=tags)
        for name, values in zip(SHARES, (same, largest), strict=True)
    ]


def degenerate(rows: Sequence[Measurement], trainings: Sequence[str], largest_gold: float) -> Finding:
    """Whether a training gave models that answer alike whatever they are asked, by `sameness` on the original rows.

    `largest_gold` is the share of the most frequent label among the tested rows.
    """
    bad = []
    for train in trainings:
        same, largest = (row_of(rows, name, train=train, test="original").value or 0 for name in SHARES)
        if same > SAME or largest > max(ONE_CLASS, largest_gold):
            bad.append(f"{train}: {percent(same, 1)} identical answers, {percent(largest, 1)} one label")
    if not bad:
        return Finding("items.degenerate", "ok", "No training gave a model that answers alike whatever it is asked.")
    advice = "Such a model has learnt nothing; its score says how frequent one label is."
    return Finding("items.degenerate", "warn", f"Models answer alike: {'; '.join(bad)}.", len(bad), advice=advice)
