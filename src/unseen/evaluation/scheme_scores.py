"""Models under every weighting scheme: scores, weights, imbalance, influence; of several models, who wins by which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from unseen.evaluation.bootstrap import DRAWS
from unseen.evaluation.class_weights import (
    AlphaSweep,
    SeedScores,
    alpha_sweep,
    breaches,
    imbalance,
    rank_flips,
    welch,
)
from unseen.evaluation.f_scores import class_scores, tally
from unseen.evaluation.influence import WAYS, influence
from unseen.evaluation.measurements import aligned, measure
from unseen.evaluation.metrics import metric
from unseen.evaluation.weighting import PLAIN, Weighting
from unseen.types import Dataset, Measurement, Predictions, as_names
from unseen.types.arrays import Codes, Floats, Rows

SHOWN_IDS = 3


def scheme_scores(
    data: Dataset,
    models: Mapping[str, Sequence[Predictions]],
    rows: Rows,
    *,
    score: str = "f1",
    exclude: Sequence[str] = (),
    mix: Weighting | None = None,
    groups: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """What the schemes make of the predictions of each model, one or several trainings of it, on the same rows.

    ================================  ==============================================================================
    `label_perplexity`                how many labels of equal size are as hard to guess; `.included`, without `exclude`
    `class_ratio`                     rows of the largest label for each of the smallest
    `weight.SCHEME`                   of each label (its slice)
    `demands_broken.SCHEME`           how many of D0–D2; the tags `D1` and `D2` name the pair of labels
    METRIC                            under each scheme, with its interval
    `influence.removal.METRIC`        how far the strongest single text moves it by being left out; the tag `flagged`
                                      counts the texts that move it by more than a point, `ids` names some
    `influence.correction.METRIC`     the same by being right
    `winner_change`                   an α at which the best model changes when labels weigh rows^α
    `rank_flip`                       two models that schemes rank differently: by how much their difference moves
    `difference.METRIC`               of models with several trainings each: `p.welch`, Cohen's `d` and its `band`
    ================================  ==============================================================================
    """
    tags, exclude = dict(tags or {}), as_names(exclude)
    names, gold = data.label_names, data.labels[rows]
    counts = np.bincount(gold, minlength=len(names)).astype(np.float64)
    weightings = [*(one.without(exclude) for one in PLAIN.values()), *([] if mix is None else [mix])]
    metrics = [f"{score}.{weighting}" for weighting in weightings]
    ids = data.ids.take(rows).to_pylist()
    measured = [*_of_labels(counts, names, weightings, exclude, tags)]
    of_classes: dict[str, list[Floats]] = {}
    scores: dict[str, dict[str, list[float]]] = {name: {} for name in metrics}
    for model, trainings in models.items():
        for number, predictions in enumerate(trainings):
            own = tags | ({"model": model} if len(models) > 1 else {})
            own |= {"training": number} if len(trainings) > 1 else {}
            rows_of_model = measure(data, predictions, rows, metrics, groups=groups, tags=own, draws=draws, seed=seed)
            predicted = aligned(data, predictions, rows).argmax(axis=1)
            measured += [*rows_of_model, *_influences(metrics, gold, predicted, names, ids, own)]
            of_classes.setdefault(model, []).append(class_scores(tally(gold, predicted, len(names)), score))
            for row in rows_of_model:
                if row.value is not None:
                    scores[row.metric].setdefault(model, []).append(row.value)
    if len(models) < 2:
        return measured
    included = np.where(PLAIN["weighted"].without(exclude).weights(counts, names) > 0, counts, 0.0)
    sweep = alpha_sweep({model: (np.mean(values, axis=0), included) for model, values in of_classes.items()})
    return [*measured, *_winners(sweep, score, scores, len(gold), tags), *_over_seeds(scores, tags)]


def _of_labels(
    counts: Floats, names: Sequence[str], weightings: Sequence[Weighting], exclude: Sequence[str], tags: dict[str, Any]
) -> Iterator[Measurement]:
    """Imbalance, weights, and the demands that they break."""
    n = int(counts.sum())
    excluded = [place for place, name in enumerate(names) if name in exclude]
    uneven = imbalance(counts, excluded)
    yield Measurement("label_perplexity", uneven.perplexity, n, tags=tags)
    if excluded:
        yield Measurement("label_perplexity.included", uneven.perplexity_included, n, tags=tags)
    yield Measurement("class_ratio", uneven.ratio, n, tags=tags)
    for weighting in weightings:
        if weighting.pooled:
            continue
        weights = weighting.weights(counts, names)
        for name, rows, weight in zip(names, counts, weights, strict=True):
            value = float(weight) if rows else None
            yield Measurement(f"weight.{weighting}", value, int(rows), slice=f"label={name}", tags=tags)
        broken = breaches(counts, weights, names)
        pairs = {breach.demand: f"{breach.larger}, {breach.smaller}" for breach in broken}
        yield Measurement(f"demands_broken.{weighting}", len(broken), n, tags=tags | pairs)


def _influences(
    metrics: Sequence[str], gold: Codes, predicted: Codes, names: tuple[str, ...], ids: Sequence[str],
    tags: dict[str, Any],
) -> Iterator[Measurement]:  # fmt: skip
    for name in metrics:
        for way in WAYS:
            moved = influence(metric(name), gold, predicted, names, way)
            cell = moved.strongest
            if cell is None:
                continue
            texts = np.flatnonzero(moved.of_row == cell)[:SHOWN_IDS]
            about = {
                "flagged": moved.flagged_texts, "gold": names[moved.gold[cell]],
                "predicted": names[moved.predicted[cell]], "texts": int(moved.texts[cell]),
                "ids": ", ".join(str(ids[row]) for row in texts),
            }  # fmt: skip
            yield Measurement(f"influence.{way}.{name}", float(moved.moves[cell]), len(gold), tags=tags | about)


def _winners(
    sweep: AlphaSweep, score: str, scores: Mapping[str, Mapping[str, Sequence[float]]], n: int, tags: dict[str, Any]
) -> Iterator[Measurement]:
    """Where the winner changes with the power of the counts, and which models schemes rank differently."""
    for change in sweep.changes:
        yield Measurement(
            "winner_change",
            change.alpha,
            n,
            tags=tags | {"score": score, "before": change.before, "after": change.after},
        )
    means = {name: {model: float(np.mean(values)) for model, values in by.items()} for name, by in scores.items()}
    for flip in rank_flips(means):
        differences = [by[flip.one] - by[flip.other] for by in means.values() if {flip.one, flip.other} <= by.keys()]
        about = {"one": flip.one, "other": flip.other}
        about |= {"one_wins": ", ".join(flip.one_wins), "other_wins": ", ".join(flip.other_wins)}
        yield Measurement("rank_flip", max(differences) - min(differences), n, tags=tags | about)


def _over_seeds(scores: Mapping[str, Mapping[str, Sequence[float]]], tags: dict[str, Any]) -> Iterator[Measurement]:
    for name, by_model in scores.items():
        several = {model: SeedScores.of(values) for model, values in by_model.items() if len(values) > 1}
        for one, other in combinations(several, 2):
            contrast = welch(several[one], several[other])
            about: dict[str, Any] = {
                "model": one,
                "than": other,
                "seeds": min(several[one].seeds, several[other].seeds),
            }
            if contrast.p is not None and contrast.d is not None:
                about |= {"p.welch": contrast.p, "d": contrast.d, "band": contrast.band}
            yield Measurement(f"difference.{name}", contrast.difference, about["seeds"], tags=tags | about)
