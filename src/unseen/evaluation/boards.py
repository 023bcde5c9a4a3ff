"""Boards: several models on several datasets, by several metrics: who is better, and do all metrics say so.

Every cell of a board holds the runs of one model on one test set. Models of a dataset are tested on the same rows, so
they are compared in pairs, text by text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.contrasts import with_holm
from unseen.evaluation.f_scores import class_scores, tally
from unseen.evaluation.falls import Resampled, Run, fall, level, resampled
from unseen.evaluation.metrics import metric as metric_of
from unseen.evaluation.rankings import (
    ALPHA,
    GAINS,
    agreement,
    average_ranks,
    critical_difference,
    friedman,
    ranks,
)
from unseen.progress import track
from unseen.types import Measurement, some
from unseen.types.arrays import Floats
from unseen.types.numbers import turned

ALL = "all"
"""The family of all datasets."""
WIN, TIE, LOSS = "win", "tie", "loss"


@dataclass(frozen=True, eq=False)
class Board:
    """The runs of models, by dataset, then by model."""

    runs: Mapping[str, Mapping[str, Sequence[Run]]]
    families: Mapping[str, str] = field(default_factory=dict)
    """The family of each dataset that has one."""
    tags: Mapping[str, Any] = field(default_factory=dict)
    """Put on every measurement."""

    def __post_init__(self) -> None:
        for data, of_models in self.runs.items():
            samples = {run.sample for runs in of_models.values() for run in runs}
            if len(samples) > 1:
                raise InputError(f"the models of {data} were tested on different rows", got=some(sorted(samples)))

    @cached_property
    def models(self) -> list[str]:
        """All models, in the order in which they occur."""
        return list(dict.fromkeys(model for of_models in self.runs.values() for model in of_models))

    @cached_property
    def whole(self) -> list[str]:
        """Datasets on which every model was tested: those that models are ranked on."""
        return [data for data, of_models in self.runs.items() if not {*self.models} - {*of_models}]

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The datasets of every family of two or more, and all of them where no family has them all."""
        named = dict.fromkeys(self.families[data] for data in self.whole if data in self.families)
        made = {name: [data for data in self.whole if self.families.get(data) == name] for name in named}
        everything = {} if self.whole in made.values() else {ALL: self.whole}
        return {name: members for name, members in (made | everything).items() if len(members) > 1}


def board_measurements(
    board: Board, metrics: Sequence[str], reference: str | None = None, seed: int = 42
) -> list[Measurement]:
    """Everything that is measured of a board, the main metric first.

    Of each metric: its level in every cell and, as a mean over datasets, in every family; the difference of every two
    models on every dataset with p-values (Holm's for the pairs of a dataset); ranks and average ranks, Friedman's p
    and Nemenyi's critical difference. Of the main one also gains over `reference`. Then F1 of each label, without an
    interval, from which every weighting of labels follows, and how far metrics agree.
    """
    rows: list[Measurement] = []
    for name in track(list(metrics), "compare models", len(metrics)):
        drawn: dict[int, Floats] = {}
        for of_models in board.runs.values():
            drawn |= resampled([run for runs in of_models.values() for run in runs], metric_of(name), seed=seed)
        levels = list(_levels(board, name, drawn))
        rows += [*levels, *_differences(board, name, drawn), *_rankings(board, name, levels)]
    rows += _of_labels(board)
    if reference is not None:
        rows += _gains(board, metrics[0], reference, rows)
    rows += _agreements(board, metrics, rows)
    return [replace(row, tags={**board.tags, **row.tags}) for row in rows]


def outcome(row: Measurement | None) -> str:
    """`win`, `tie` or `loss` of the first model of a difference."""
    p = None if row is None else row.tags.get("p.holm")
    if row is None or row.value is None or p is None or float(p) >= ALPHA:
        return TIE
    return WIN if row.value > 0 else LOSS


def _levels(board: Board, name: str, drawn: Resampled) -> Iterator[Measurement]:
    for data, of_models in board.runs.items():
        for model, runs in of_models.items():
            yield from level(runs, name, tags={"data": data, "model": model}, drawn=drawn)
    for family, members in board.groups.items():
        for model in board.models:
            runs = [run for data in members for run in board.runs[data][model]]
            yield from level(runs, name, tags={"family": family, "model": model}, drawn=drawn)


def _of_labels(board: Board) -> Iterator[Measurement]:
    """F1 of each label, the mean over runs; of labels that have rows."""
    for data, of_models in board.runs.items():
        for model, runs in of_models.items():
            names = runs[0].label_names
            tallies = [tally(run.gold, run.probabilities.argmax(axis=1), len(names)) for run in runs]
            scores = np.mean([class_scores(tallied) for tallied in tallies], axis=0)
            for label, value, count in zip(names, scores, tallies[0][2], strict=True):
                if count:
                    tags = {"data": data, "model": model, "seed": "mean"}
                    yield Measurement(f"f1[{label}]", float(value), int(count), tags=tags)


def _differences(board: Board, name: str, drawn: Resampled) -> Iterator[Measurement]:
    """By how much the first model of every pair is better than the second, on every dataset."""
    for data, of_models in board.runs.items():
        pairs = list(combinations(of_models, 2))
        made = [
            turned(fall(of_models[than], of_models[model], name, tags={"model": model, "than": than}, drawn=drawn))
            for model, than in pairs
        ]
        for row in with_holm([replace(row, tags={"data": data, **row.tags, **_p_value(row)}) for row in made]):
            yield replace(row, metric=f"difference.{name}")


def _p_value(row: Measurement) -> dict[str, float]:
    """The tag `p`, two-sided, by Student's t, from the standard error of a difference; none without an interval."""
    from scipy.special import stdtr

    error = row.tags.get("standard_error")
    if row.value is None or row.low is None or not error:
        return {}
    return {"p": float(2 * stdtr(row.tags["df"], -abs(row.value) / float(error)))}


def _scores(rows: Sequence[Measurement], name: str, datasets: Sequence[str], models: Sequence[str]) -> Floats:
    values = {
        (row.tags["data"], row.tags["model"]): row.value
        for row in rows
        if row.metric == name and "data" in row.tags and "than" not in row.tags
    }
    return np.array([[values[data, model] for model in models] for data in datasets], np.float64)


def _rankings(board: Board, name: str, levels: Sequence[Measurement]) -> Iterator[Measurement]:
    scores = _scores(levels, name, board.whole, board.models)
    known = np.flatnonzero(np.isfinite(scores).all(axis=1)) if len(scores) else ()
    datasets = [board.whole[place] for place in known]
    if not datasets or len(board.models) < 2:
        return
    ranked = ranks(scores[list(known)], metric_of(name).higher_is_better)
    for data, line in zip(datasets, ranked, strict=True):
        for model, rank in zip(board.models, line, strict=True):
            yield Measurement(f"rank.{name}", float(rank), 1, tags={"data": data, "model": model})
    for model, (mean, _, low, high) in zip(board.models, average_ranks(ranked), strict=True):
        yield Measurement(f"average_rank.{name}", mean, len(datasets), low, high, tags={"model": model})
    if len(datasets) > 1:
        yield Measurement(f"friedman_p.{name}", friedman(ranked), len(datasets))
        yield Measurement(
            f"critical_difference.{name}", critical_difference(len(board.models), len(datasets)), len(datasets)
        )


def _gains(board: Board, name: str, reference: str, rows: Sequence[Measurement]) -> Iterator[Measurement]:
    """Gains over the reference under every definition, of datasets and of families; of shares alone.

    Those of a family are of its mean scores. Bounds are those of the difference in the unit of the gain.
    """
    chosen = metric_of(name)
    if not chosen.higher_is_better or (chosen.low, chosen.high) != (0.0, 1.0) or reference not in board.models:
        return
    values = {
        (place, row.tags[place], row.tags["model"]): row
        for row in rows
        if row.metric == name and "than" not in row.tags
        for place in ("data", "family")
        if place in row.tags
    }
    differences = _both_ways(rows, name)
    for (place, where, model), row in values.items():
        before = values.get((place, where, reference))
        if model == reference or before is None or before.value is None or row.value is None:
            continue
        difference = differences.get((str(where), str(model), reference)) if place == "data" else None
        bounds = (None, None) if difference is None else (difference.low, difference.high)
        for gain, of in GAINS.items():
            value, low, high = (
                None if rise is None else float(of(np.array(before.value + rise), np.array(before.value)))
                for rise in (row.value - before.value, *bounds)
            )
            if value is not None and np.isfinite(value):
                tags = {place: where, "model": model, "than": reference}
                yield Measurement(f"gain.{gain}.{name}", value, row.n, low, high, tags=tags)


def _agreements(board: Board, metrics: Sequence[str], rows: Sequence[Measurement]) -> Iterator[Measurement]:
    """Kendall's τ of every two metrics, of average ranks; and which pairs of models flip on which dataset.

    A flip is `certain` where both metrics tell the two models apart.
    """
    if len(board.models) < 2 or not board.whole:
        return
    differences = {name: _both_ways(rows, name) for name in metrics}

    def is_certain(data: str, better: str, worse: str, first: str, second: str) -> bool:
        results = [outcome(differences[name].get((data, better, worse))) for name in (first, second)]
        return results == [WIN, LOSS]

    for first, second in combinations(metrics, 2):
        both = [
            _scores(rows, name, board.whole, board.models) * (1 if metric_of(name).higher_is_better else -1)
            for name in (first, second)
        ]
        known = np.flatnonzero(np.isfinite(both).all(axis=(0, 2)))
        if not len(known):
            continue
        means = [-ranks(scores[known]).mean(axis=0) for scores in both]
        tags = {"ranked_by": first, "than": second}
        yield Measurement("kendall_tau", agreement(*means).tau, len(board.models), tags=tags)
        for place in known:
            data = board.whole[place]
            flips = [(board.models[a], board.models[b]) for a, b in agreement(*(side[place] for side in both)).flips]
            certain = [pair for pair in flips if is_certain(data, *pair, first, second)]
            more = {
                kind: "; ".join(" > ".join(pair) for pair in pairs)
                for kind, pairs in (("pairs", flips), ("certain", certain))
                if pairs
            }
            yield Measurement("rank_flips", len(flips), len(board.models), tags=tags | {"data": data} | more)


def _both_ways(rows: Sequence[Measurement], name: str) -> dict[tuple[str, str, str], Measurement]:
    """Differences by dataset, model and the model it is compared with, whichever of the two was measured first."""
    known: dict[tuple[str, str, str], Measurement] = {}
    for row in rows:
        if row.metric == f"difference.{name}":
            data, model, than = (str(row.tags[tag]) for tag in ("data", "model", "than"))
            known |= {(data, model, than): row, (data, than, model): turned(row)}
    return known
