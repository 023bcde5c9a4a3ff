"""What the answers of a validation study are worth: scores under each protocol, and prices between them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from unseen.evaluation.falls import Run, fall, level
from unseen.evaluation.metrics import metric as metric_of
from unseen.runs.validation.definition import AUTHORS, PUBLISHED
from unseen.runs.validation.materials import ValidationMaterials
from unseen.runs.validation.once import ONCE, counted_once, tests_copies
from unseen.runs.validation.steps import ProtocolAnswers
from unseen.types import Measurement

Groups = Mapping[tuple[str, str], Sequence[Run]]
"""Runs by learner and protocol."""


def measurements(materials: ValidationMaterials, answers: Sequence[ProtocolAnswers]) -> list[Measurement]:
    """Every score with its interval over authors and seeds, those of single seeds, and every price.

    A price, `fall.METRIC`, is the score under the first protocol less that under the second: what the first
    flatters by. Seeds are drawn together on both sides, and so are authors where both test the same rows. Where a
    published protocol tests copied rows, it is scored once more with every row once and the class mix of the data
    (slice `once`), and prices are taken from that: a changed mix is no price of a leak.
    """
    study, groups = materials.study, _runs(materials, answers)
    once = _once(materials, answers)
    metrics = list(dict.fromkeys([study.metric, *(f"f1[{name}]" for name in materials.pool.label_names)]))
    found = []
    for (learner, protocol), runs in groups.items():
        tags = {"data": materials.pool.name, "model": learner, "family": protocol, "part": "test"}
        for name in metrics:
            found += level(runs, name, tags=tags, seed=study.seed)
            found += [_of_seed(run, name, tags) for run in runs]
    found += [row for group, runs in once.items() for row in _sliced(materials, group, runs, metrics, ONCE)]
    return found + _prices(materials, groups, once, metrics) + _under_caps(materials, groups, metrics)


def _prices(materials: ValidationMaterials, groups: Groups, once: Groups, metrics: Sequence[str]) -> list[Measurement]:
    found = []
    for learner in dict.fromkeys(learner for learner, _ in groups):
        for price, (before, after) in materials.compared(learner).items():
            if (learner, before) in groups and (learner, after) in groups:
                tags = {
                    "data": materials.pool.name, "model": learner, "family": price, "part": "test",
                    "from": before, "to": after,
                }  # fmt: skip
                tags |= {"counted": ONCE} if (learner, before) in once else {}
                sides = once.get((learner, before), groups[learner, before]), groups[learner, after]
                found += [fall(*sides, name, tags=tags, seed=materials.study.seed) for name in metrics]
    return found


def _once(materials: ValidationMaterials, answers: Sequence[ProtocolAnswers]) -> Groups:
    """The published runs of learners that tested copied rows, without copies."""
    published = [each for each in answers if each.protocol == PUBLISHED]
    learners = {each.learner for each in published if tests_copies(each)}
    return _runs(materials, [counted_once(each, materials) for each in published if each.learner in learners])


def _sliced(
    materials: ValidationMaterials, group: tuple[str, str], runs: Sequence[Run], metrics: Sequence[str], name: str
) -> list[Measurement]:
    """Scores of a learner under a protocol on some rows."""
    tags = {"data": materials.pool.name, "model": group[0], "family": group[1], "part": "test"}
    rows = [row for metric in metrics for row in level(runs, metric, tags=tags, seed=materials.study.seed)]
    return [replace(row, slice=name) for row in rows]


def _under_caps(materials: ValidationMaterials, groups: Groups, metrics: Sequence[str]) -> list[Measurement]:
    """The protocols on new authors once more, tested only on rows that the cap leaves: slices `cap=N`."""
    found = []
    for cap in materials.caps:
        kept = materials.within(cap, materials.own, materials.study.seed)
        where = np.isin(materials.own, kept)
        for (learner, protocol), runs in groups.items():
            if protocol == AUTHORS or protocol.startswith(("capped-", "thinned-")):
                some = [run.only(where) for run in runs]
                found += _sliced(materials, (learner, protocol), some, metrics, f"cap={cap}")
    return found


def _of_seed(run: Run, name: str, tags: Mapping[str, str]) -> Measurement:
    value = metric_of(name)(run.gold, run.probabilities, run.label_names)
    n = 0 if value is None else len(run.gold)
    return Measurement(name, value, n, tags={**tags, "split": run.split, "seed": run.seed})


def _runs(materials: ValidationMaterials, answers: Sequence[ProtocolAnswers]) -> dict[tuple[str, str], list[Run]]:
    """The answers of one seed are one run: each row is tested once over the folds."""
    found: dict[tuple[str, str], list[Run]] = {}
    for each in answers:
        run = Run(
            each.protocol, each.protocol, each.seed, materials.pool.labels[each.rows], each.probabilities,
            materials.pool.label_names, materials.authors[each.rows],
            hashlib.sha256(each.rows.astype(np.int64).tobytes()).hexdigest()[:16],
        )  # fmt: skip
        found.setdefault((each.learner, each.protocol), []).append(run)
    return found
