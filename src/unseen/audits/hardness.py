"""Is a split hard, or is it broken? What a low score on it may come from besides unseen texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.audits.annotators import annotators
from unseen.audits.label_noise import LabelNoise, corrected_fall
from unseen.audits.shares import comparable, percent, points, score, share, worse
from unseen.audits.trials import Case, Trial, trained_on
from unseen.errors import InputError
from unseen.evaluation import fall, level, metric
from unseen.evaluation.chance import chance
from unseen.evaluation.intervals import DRAWS
from unseen.types import Dataset, Finding, Measurement

Found = tuple[list[Measurement], Finding]

NEAR, FAR = 0.05, 0.10
"""Independent scores that differ by less are near; by more, the task was not learnt."""
SINGLES = 0.2
"""Share of singly added test rows from which a split is less a region than a selection."""
MIX, SKEWED = 0.02, 0.10
"""Largest difference of a label's share between training and test that is even; from which on it is skewed."""
MOST = 0.5
"""Share of wrong labels that decides the score."""


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
    ours, theirs = ([replace(each, split=each.split.of(data)) for each in some] for some in (hard, control))
    case = Case(data, noise, ours, theirs, metric_id, groups, agreement, tags or {}, draws, seed)
    if not case.hard_runs:
        raise InputError(f"no predictions for the test part of {case.split.name!r}")
    found = [check(case) for check in CHECKS]
    return [row for rows, _ in found for row in rows], [finding for _, finding in found]


def _learnt(case: Case) -> Found:
    """Whether a model trained on the hard split does as well on independent rows as one trained on a random one."""
    ours, theirs = case.runs(case.hard, "independent"), case.runs(case.control, "independent")
    if not ours or not theirs:
        why = "no independent rows with predictions" if not ours else "no random split to compare with"
        return [], case.finding("learnt", "skipped", f"Whether the task was learnt is not known: {why}.")
    tags = {"family": ours[0].family, "against": theirs[0].family, "part": "independent", **case.more}
    gap = fall(theirs, ours, case.metric, tags=tags, draws=case.draws, seed=case.seed)
    mine, other = (level(runs, case.metric, draws=case.draws, seed=case.seed)[0] for runs in (ours, theirs))
    if gap.value is None:
        return [], case.finding("learnt", "skipped", f"{case.metric} has no value on the independent rows.")
    said = (
        f"Trained on this split, {case.metric} on {mine.n:,} independent texts is {score(mine)}; trained on random "
        f"splits it is {score(other)}: a difference of {points(gap)}."
    )
    if gap.value <= NEAR:
        return [gap], case.finding("learnt", "ok", f"{said} The task was learnt.")
    advice = "Look at the class mix and size of the training part, and train longer before blaming the test part."
    if gap.value <= FAR:
        return [gap], case.finding("learnt", "warn", f"{said} Part of the fall is poorer training.", advice=advice)
    return [gap], case.finding(
        "learnt", "fail", f"{said} The task was not learnt from this training part.", None, advice
    )


def _control(case: Case) -> Found:
    """Whether the split is harder than random splits of the same size and class mix."""
    if not case.control_runs:
        return [], case.finding("control", "skipped", "No random split of the same size and class mix was tested.")
    unlike = [each.name for each in case.controls if not comparable(case.data, each, case.split, MIX)]
    if unlike:
        said = f"The random splits {', '.join(unlike)} have another test size or class mix, so the fall mixes causes."
        return [], case.finding("control", "warn", said, advice="Make random splits of the same size and class mix.")
    drop = fall(case.control_runs, case.hard_runs, case.metric, draws=case.draws, seed=case.seed)
    said = f"Against random splits of the same size and class mix, {case.metric} {worse(drop)}."
    if drop.low is not None and drop.low > 0:
        return [], case.finding("control", "ok", said)
    return [], case.finding("control", "warn", f"{said} That is not clearly harder than chance makes it.")


def _completed(case: Case) -> Found:
    """How much of the test part was added singly."""
    certificate = case.split.certificate
    if certificate.n_clusters is None:
        return [], case.finding("completed", "skipped", "The split was made without clusters.")
    total, part = sum(certificate.got.values()), certificate.completed_share
    said = f"{certificate.completed:,} of {total:,} test texts ({percent(part)}) were added singly to whole clusters."
    if part <= SINGLES:
        return [], case.finding("completed", "ok", said)
    advice = "Those texts were chosen one by one near the region; read the score of the whole clusters too."
    return [], case.finding("completed", "warn", said, advice=advice)


def _class_mix(case: Case) -> Found:
    """Whether training and test part have the same class mix."""
    k = len(case.data.label_names)
    test, train = (
        np.bincount(case.data.labels[rows], minlength=k) / len(rows)
        for rows in (case.split.rows("test"), trained_on(case.split))
    )
    worst = int(np.abs(test - train).argmax())
    apart = float(np.abs(test - train)[worst])
    label = case.data.label_names[worst]
    said = f"{label!r} is {percent(test[worst])} of the test part and {percent(train[worst])} of the training part."
    if apart <= MIX + 1 / len(case.split.rows("test")):
        return [], case.finding("class-mix", "ok", f"Training and test have the same class mix; at most, {said}")
    advice = "Ask for the same class mix, or compare per-class scores only."
    return [], case.finding("class-mix", "fail" if apart > SKEWED else "warn", f"At most, {said}", advice=advice)


def _label_noise(case: Case) -> Found:
    """How many labels are wrong in the test part and in the control, and the fall had they been right."""
    noise, test = case.noise, case.split.rows("test")
    control = np.unique(np.concatenate([each.rows("test") for each in case.controls] or [trained_on(case.split)]))
    suspects = noise.suspect_rows(test)
    shares = [
        share(f"suspect_labels{of}", np.isin(rows, noise.suspect_rows(rows)), case.tags)
        for of, rows in (("", test), (".control", control))
    ]
    beside = "random test parts" if case.controls else "training part"
    if not noise.told:
        unknown = [
            Measurement(f"label_noise{of}", None, row.n, tags=case.tags | {"undefined": noise.why})
            for of, row in zip(("", ".control"), shares, strict=True)
        ]
        said = (
            f"{noise.why} {percent(shares[0].value)} of the labels are suspect ({beside}: {percent(shares[1].value)})."
        )
        advice = "Have people read the most suspect texts, in suspects.csv."
        return [*shares, *unknown], case.finding("label-noise", "warn", said, suspects, advice)
    here, there = (
        replace(noise.share(rows, case.tags), metric=f"label_noise{of}")
        for of, rows in (("", test), (".control", control))
    )
    rows = [*shares, here, there, *_corrected(case)]
    said = f"About {percent(here.value)} of the test labels are wrong ({beside}: {percent(there.value)})"
    said += f"; among right labels alone {case.metric} {worse(rows[-1])}." if len(rows) > 4 else "."
    advice = "Check the suspects, in suspects.csv, before trusting the score."
    return rows, case.finding("label-noise", _how_many(here, there), said, suspects, advice)


def _corrected(case: Case) -> list[Measurement]:
    """The fall among right labels alone."""
    if not case.control_runs:
        return []
    control, hard = (
        [(run, trial.split.rows("test")) for run, trial in zip(runs, trials, strict=True)]
        for runs, trials in ((case.control_runs, case.control), (case.hard_runs, case.hard))
    )
    return [corrected_fall(case.noise, control, hard, case.metric, tags=case.tags, draws=case.draws, seed=case.seed)]


def _below_chance(case: Case) -> Found:
    """Whether the score is below that of guessing, and if so, whether label conflict explains it."""
    chosen, gold = metric(case.metric), case.hard_runs[0].gold
    mix = np.bincount(case.data.labels[trained_on(case.split)], minlength=len(case.data.label_names))
    guessed = chance(chosen, gold, mix / mix.sum(), case.data.label_names)
    got = case.mean(case.hard_runs, case.metric)
    if guessed is None or got.value is None:
        return [], case.finding("below-chance", "skipped", f"{case.metric} has no level of chance here.")
    sign = 1 if chosen.higher_is_better else -1
    row = Measurement(f"chance.{case.metric}", guessed, len(gold), tags=case.tags)
    said = f"{case.metric} is {score(got)}; guessing by the class mix gives {guessed:.3f}."
    if sign * (got.value - guessed) >= 0:
        return [row], case.finding("below-chance", "ok", f"Not below chance: {said}")
    farther = got.high if sign > 0 else got.low
    below = farther is not None and sign * (farther - guessed) < 0
    advice = "Look at the suspect labels, then for a label that changed its meaning or swapped label names."
    how = "Below chance" if below else "Not above chance"
    return [row], case.finding("below-chance", "fail" if below else "warn", f"{how}: {said}", advice=advice)


def _annotators(case: Case) -> Found:
    """Whether annotators agreed less on the test texts than on the training texts."""
    rows, level, said, advice = annotators(case.data, case.split, trained_on(case.split), case.agreement)
    return rows, case.finding("annotators", level, said, advice=advice)


def _how_many(here: Measurement, there: Measurement) -> str:
    """The level of a share: `fail` for most texts, `warn` where it is certainly more than in the control."""
    if (here.value or 0.0) >= MOST:
        return "fail"
    return "warn" if (here.low or 0.0) > (there.high or 0.0) else "ok"


CHECKS: tuple[Callable[[Case], Found], ...] = (
    _learnt, _control, _completed, _class_mix, _label_noise, _below_chance, _annotators,
)  # fmt: skip
