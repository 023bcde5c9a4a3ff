"""Is a split hard, or is it broken? What a low score on it may come from besides unseen texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.findings import Judgement, evidence_of
from unseen.audits.label_noise import LabelNoise, corrected_fall
from unseen.errors import InputError
from unseen.evaluation import Run, fall, level, metric
from unseen.evaluation.bootstrap import DRAWS
from unseen.evaluation.measurements import share
from unseen.evaluation.metrics import chance
from unseen.evaluation.wording import called, capital
from unseen.types import Dataset, ExitTrace, Finding, Measurement, Predictions, Split
from unseen.types.arrays import Rows
from unseen.types.numbers import number, percent, portion, scored, told_apart, worse

NEAR, FAR = 0.05, 0.10
"""Independent scores that differ by less are near; by more, the task was not learnt."""
SINGLES = 0.2
"""Share of singly added test rows from which a split is less a region than a selection."""
MIX, SKEWED = 0.02, 0.10
"""Largest difference of a label's share between training and test that is even; from which on it is skewed."""
MOST = 0.5
"""Share of wrong labels that decides the score."""
SMALL = 0.2
"""Differences of mean agreement below so many standard deviations are small."""
MOST_EVIDENCE = 20


@dataclass(frozen=True, eq=False)
class Trial:
    """One model trained on one split, and what it says about the rows of its parts."""

    split: Split
    seed: int
    predictions: Predictions
    """For all test rows; for the independent rows too, where there are some."""
    family: str = ""
    """Method of the split; by default its name."""
    seen: Predictions | None = None
    """For test rows, all or some, by models that were trained on the others: the seen control."""
    exits: ExitTrace | None = None
    """What every layer says about the same rows as `predictions`, where the model stops early."""


@dataclass(frozen=True, eq=False)
class HardSplit:
    """A hard split, the models trained on it, and everything to compare them with."""

    data: Dataset
    noise: LabelNoise
    hard: Sequence[Trial]
    control: Sequence[Trial]
    metric: str
    groups: str | None = None
    agreement: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further tags, e.g. the model."""
    draws: int = DRAWS
    seed: int = 42

    @property
    def score(self) -> str:
        """What the metric is called in a sentence."""
        return called(self.metric)

    @property
    def split(self) -> Split:
        """The hard split."""
        return self.hard[0].split

    @cached_property
    def train(self) -> Rows:
        """Rows that models of the hard split learn from: training and development part."""
        return self.split.rows("train", "dev")

    @cached_property
    def controls(self) -> list[Split]:
        """The different random splits."""
        return list({trial.split.name: trial.split for trial in self.control}.values())

    @property
    def tags(self) -> dict[str, str | int | float]:
        """Tags of what is measured on the hard test part."""
        return {"split": self.split.name, "part": "test", **self.more}

    def runs(self, trials: Sequence[Trial], part: str) -> list[Run]:
        """The trials on a part; none when a trial has no predictions there."""
        runs = []
        for trial in trials:
            rows, name, predictions = trial.split.rows(part), trial.split.name, trial.predictions
            known = pc.is_in(self.data.ids.take(pa.array(rows)), value_set=predictions.ids)
            if not len(rows) or not pc.any(known).as_py():
                return []
            family = trial.family or name
            runs.append(
                Run.of(self.data, predictions, rows, split=name, family=family, seed=trial.seed, groups=self.groups)
            )
        return runs

    @cached_property
    def hard_runs(self) -> list[Run]:
        """The trials on the hard test part."""
        return self.runs(self.hard, "test")

    @cached_property
    def control_runs(self) -> list[Run]:
        """The trials of random splits on their test parts."""
        return self.runs(self.control, "test")

    def level(self, runs: Sequence[Run]) -> Measurement:
        """The mean score of these runs."""
        return level(runs, self.metric, draws=self.draws, seed=self.seed)[0]

    def fall(self, control: Sequence[Run], hard: Sequence[Run], tags: Mapping[str, Any] | None = None) -> Measurement:
        """How far the score falls from `control` to `hard`."""
        return fall(control, hard, self.metric, tags=tags, draws=self.draws, seed=self.seed)

    def finding(self, check: str, level: str, message: str, advice: str = "", rows: Rows | None = None) -> Finding:
        """A finding about this split; `rows` are the evidence."""
        count, evidence = (0, ()) if rows is None else (len(rows), evidence_of(self.data, rows, MOST_EVIDENCE))
        return Finding(f"{check}[{self.split.name}]", level, message, count, evidence, advice)


def hard_or_broken(
    data: Dataset,
    noise: LabelNoise,
    hard: Sequence[Trial],
    control: Sequence[Trial],
    metric_id: str = "f1.macro",
    *,
    groups: str | None = None,
    agreement: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> tuple[list[Measurement], list[Finding]]:
    """What speaks for a hard split and what for a broken one: measurements, and one finding per question.

    `hard` are the trials of one split, one per training seed; `control` those of the random splits.
    `noise` (`label_noise`) covers the training and test rows of all these splits. `groups` is the attribute drawn
    together in intervals; `agreement` a numeric attribute, higher where the annotators of a text agreed more. `tags`
    are put on every measurement, e.g. the model.
    """
    metric(metric_id)
    if not hard or len({trial.split.name for trial in hard}) > 1:
        raise InputError("hard_or_broken looks at one hard split", got=f"{len(hard)} trials of other splits, or none")
    hard, control = ([replace(trial, split=trial.split.of(data)) for trial in trials] for trials in (hard, control))
    case = HardSplit(data, noise, hard, control, metric_id, groups, agreement, tags or {}, draws, seed)
    if not case.hard_runs:
        raise InputError(f"no predictions for the test part of {case.split.name!r}")
    answers = [check(case) for check in QUESTIONS]
    return [row for rows, _ in answers for row in rows], [finding for _, finding in answers]


def _learnt(case: HardSplit) -> Judgement:
    """Whether a model trained on the hard split does as well on independent rows as one trained on a random one."""
    ours, theirs = case.runs(case.hard, "independent"), case.runs(case.control, "independent")
    if not ours or not theirs:
        why = "no independent rows with predictions" if not ours else "no random split to compare with"
        return [], case.finding("learnt", "skipped", f"Whether the task was learnt is not known: {why}.")
    tags = {"family": ours[0].family, "against": theirs[0].family, "part": "independent", **case.more}
    gap = case.fall(theirs, ours, tags)
    if gap.value is None:
        return [], case.finding("learnt", "skipped", f"{capital(case.score)} has no value on the independent rows.")
    mine, other = case.level(ours), case.level(theirs)
    message = (
        f"Trained on this split, {case.score} on {mine.n:,} independent texts {worse(gap)} than trained on random "
        f"splits: {scored(mine)} against {scored(other)}."
    )
    if gap.value <= NEAR:
        return [gap], case.finding("learnt", "ok", f"{message} The task was learnt.")
    grave = gap.value > FAR
    why = "The task was not learnt from this training part." if grave else "Part of the fall is poorer training."
    advice = "Look at the class mix and size of the training part, and train longer before blaming the test part."
    return [gap], case.finding("learnt", "fail" if grave else "warn", f"{message} {why}", advice)


def _control(case: HardSplit) -> Judgement:
    """Whether the split is harder than random splits of the same size and class mix."""
    if not case.control_runs:
        return [], case.finding("control", "skipped", "No random split of the same size and class mix was tested.")
    unlike = [split.name for split in case.controls if not comparable(case.data, split, case.split)]
    if unlike:
        names = ", ".join(unlike)
        message = f"The random splits {names} have another test size or class mix, so the fall mixes causes."
        return [], case.finding("control", "warn", message, "Make random splits of the same size and class mix.")
    drop = case.fall(case.control_runs, case.hard_runs)
    message = f"Against random splits of the same size and class mix, {case.score} {worse(drop)}."
    if drop.low is not None and drop.low > 0:
        return [], case.finding("control", "ok", f"{message} That is clearly harder.")
    clear = "clearly easier" if drop.high is not None and drop.high < 0 else "not clearly harder than chance makes it"
    return [], case.finding("control", "warn", f"{message} That is {clear}.")


def comparable(data: Dataset, one: Split, other: Split) -> bool:
    """Whether the test parts of two splits differ in no label by more than a hair: `MIX` of the rows."""
    k = len(data.label_names)
    first, second = (np.bincount(data.labels[split.rows("test")], minlength=k) for split in (one, other))
    return bool(np.abs(first - second).max() <= max(1.0, MIX * second.sum()))


def _completed(case: HardSplit) -> Judgement:
    """How much of the test part was added singly."""
    certificate = case.split.certificate
    if certificate.n_clusters is None:
        return [], case.finding("completed", "skipped", "The split was made without clusters.")
    singles = portion(certificate.completed, sum(certificate.got.values()), "test texts")
    message = f"{singles} were added singly to whole clusters."
    if certificate.completed_share <= SINGLES:
        return [], case.finding("completed", "ok", message)
    advice = "Those texts were chosen one by one near the region; read the score of the whole clusters too."
    return [], case.finding("completed", "warn", message, advice)


def _class_mix(case: HardSplit) -> Judgement:
    """Whether training and test part have the same class mix."""
    k, rows = len(case.data.label_names), case.split.rows("test")
    test, train = (np.bincount(case.data.labels[part], minlength=k) / len(part) for part in (rows, case.train))
    worst = int(np.abs(test - train).argmax())
    apart = float(np.abs(test - train)[worst])
    label = case.data.label_names[worst]
    tested, trained = percent(test[worst], 1), percent(train[worst], 1)
    shares = f"{label!r} is {tested} of the test part and {trained} of the training part."
    if apart <= MIX + 1 / len(rows):
        return [], case.finding("class-mix", "ok", f"Training and test have the same class mix; at most, {shares}")
    advice = "Ask for the same class mix, or compare per-class scores only."
    return [], case.finding("class-mix", "fail" if apart > SKEWED else "warn", f"At most, {shares}", advice)


def _label_noise(case: HardSplit) -> Judgement:
    """How many labels are wrong in the test part and in the control, and the fall had they been right."""
    noise, test = case.noise, case.split.rows("test")
    control = np.unique(np.concatenate([split.rows("test") for split in case.controls] or [case.train]))
    parts, suspects = {"": test, ".control": control}, noise.suspect_rows(test)
    shares = [
        share(f"suspect_labels{of}", len(noise.suspect_rows(rows)), len(rows), case.tags) for of, rows in parts.items()
    ]
    beside = "random test parts" if case.controls else "training part"
    if not noise.clear:
        unknown = [
            Measurement(f"label_noise{of}", None, len(rows), tags=case.tags | {"undefined": noise.why})
            for of, rows in parts.items()
        ]
        here, there = (percent(row.value) for row in shares)
        message = f"{noise.why} {here} of the labels are suspect ({beside}: {there})."
        advice = "Have people read the most suspect texts, in suspects.csv."
        return [*shares, *unknown], case.finding("label-noise", "warn", message, advice, suspects)
    wrong, elsewhere = (replace(noise.share(rows, case.tags), metric=f"label_noise{of}") for of, rows in parts.items())
    message = f"About {percent(wrong.value)} of the test labels are wrong ({beside}: {percent(elsewhere.value)})"
    corrected = _corrected(case)
    message += "".join(f"; among right labels alone {case.score} {worse(row)}" for row in corrected)
    more = (wrong.low or 0.0) > (elsewhere.high or 0.0)
    level = "fail" if (wrong.value or 0.0) >= MOST else "warn" if more else "ok"
    advice = "Check the suspects, in suspects.csv, before trusting the score."
    finding = case.finding("label-noise", level, f"{message}.", advice, suspects)
    return [*shares, wrong, elsewhere, *corrected], finding


def _corrected(case: HardSplit) -> list[Measurement]:
    """The fall among right labels alone; nothing without a control."""
    if not case.control_runs:
        return []
    control, hard = (
        [(run, trial.split.rows("test")) for run, trial in zip(runs, trials, strict=True)]
        for runs, trials in ((case.control_runs, case.control), (case.hard_runs, case.hard))
    )
    return [corrected_fall(case.noise, control, hard, case.metric, tags=case.tags, draws=case.draws, seed=case.seed)]


def _below_chance(case: HardSplit) -> Judgement:
    """Whether the score is below that of guessing, and if so, whether label conflict explains it."""
    chosen, gold = metric(case.metric), case.hard_runs[0].gold
    mix = np.bincount(case.data.labels[case.train], minlength=len(case.data.label_names))
    guessed = chance(chosen, gold, mix / mix.sum(), case.data.label_names)
    score = case.level(case.hard_runs)
    if guessed is None or score.value is None:
        return [], case.finding("below-chance", "skipped", f"{capital(case.score)} has no level of chance here.")
    sign = 1 if chosen.higher_is_better else -1
    row = Measurement(f"chance.{case.metric}", guessed, len(gold), tags=case.tags)
    message = f"{case.score} is {scored(score)}; guessing by the class mix gives {number(guessed)}."
    if sign * (score.value - guessed) >= 0:
        return [row], case.finding("below-chance", "ok", f"Not below chance: {message}")
    farther = score.high if sign > 0 else score.low
    below = farther is not None and sign * (farther - guessed) < 0
    advice = "Look at the suspect labels, then for a label that changed its meaning or swapped label names."
    summary, level = ("Below chance", "fail") if below else ("Not above chance", "warn")
    return [row], case.finding("below-chance", level, f"{summary}: {message}", advice)


def _annotators(case: HardSplit) -> Judgement:
    """Whether annotators agreed less on the test texts than on the training texts; of rows that have a number."""
    if case.agreement is None:
        return [], case.finding("annotators", "skipped", "No attribute says how far annotators agreed.")
    column = case.data.attribute(case.agreement)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        message = f"The attribute {case.agreement!r} is not numeric, but {column.type}."
        return [], case.finding("annotators", "skipped", message)
    values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    test, train = (values[rows][np.isfinite(values[rows])] for rows in (case.split.rows("test"), case.train))
    if len(test) < 2 or len(train) < 2:
        message = f"The attribute {case.agreement!r} is missing in nearly all rows."
        return [], case.finding("annotators", "skipped", message)
    rows = []
    for part, numbers in (("test", test), ("train", train)):
        mean, reach = float(numbers.mean()), 1.96 * float(numbers.std(ddof=1)) / len(numbers) ** 0.5
        tags = case.tags | {"part": part}
        rows.append(Measurement("annotator_agreement", mean, len(numbers), mean - reach, mean + reach, tags=tags))
    apart = float(train.mean() - test.mean())
    error = float(np.sqrt(train.var(ddof=1) / len(train) + test.var(ddof=1) / len(test)))
    here, there = told_apart(float(test.mean()), float(train.mean()))
    message = f"Mean {case.agreement!r} is {here} in the test part and {there} in the training part"
    if apart > 1.96 * error and apart > SMALL * float(train.std(ddof=1)):
        advice = "Score the texts on which annotators agreed on their own: disputed texts have no right answer."
        return rows, case.finding("annotators", "warn", f"{message}: annotators agreed less on the test texts.", advice)
    return rows, case.finding("annotators", "ok", f"{message}: no less agreement on the test texts worth naming.")


QUESTIONS: tuple[Callable[[HardSplit], Judgement], ...] = (
    _learnt, _control, _completed, _class_mix, _label_noise, _below_chance, _annotators,
)  # fmt: skip
