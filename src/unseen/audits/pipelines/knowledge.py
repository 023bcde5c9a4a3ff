"""What a pipeline knows and cannot know: planted labels, shuffled labels, its own training rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unseen.audits.pipelines.answered import PipelineAnswer, Rows
from unseen.audits.pipelines.bench import Bench, Result, skipped
from unseen.audits.pipelines.perturbing import labels_shuffled, planted_among
from unseen.audits.pipelines.shapes import TEST, split_like, trained_on
from unseen.seeding import generator
from unseen.types import Finding

DRAWS = 20_000
CHANCE = 0.001
"""How often chance alone may look like a leak."""
SHUFFLES = 7
"""Trainings on shuffled labels: all above chance by chance has the probability 1 in 128."""
ABOVE_CHANCE = 0.6


def planted(bench: Bench) -> Result:
    """Plant nonsense whose labels are coin tosses: whoever knows the labels of those it tests has seen them."""
    made = planted_among(bench.data, bench.to_plant, bench.seed)
    asked = made.data.take(made.rows)
    if bench.split is None:
        run = bench.run(made.data, None, asked)
    else:
        parts = np.concatenate([bench.split.parts, np.full(len(made.rows), TEST, np.int8)])
        run = bench.run(made.data, split_like(bench.split, made.data, parts), asked)
    answered, scores = _about(run, made.rows)
    rare = made.labels[answered]
    if math.comb(len(rare), int(rare.sum())) < 10 / CHANCE:
        return skipped("planted", f"{len(rare)} of {len(made.rows)} planted texts were tested: too few to judge")
    said = scores[:, made.codes[1]] - scores[:, made.codes[0]]
    found, bound, p = ranked(said, rare, bench.seed)
    names = [bench.data.label_names[code] for code in made.codes]
    message = (
        f"{len(made.rows)} nonsense texts were planted whose label, {names[0]!r} or {names[1]!r}, is a coin toss; of "
        f"the {len(rare)} tested, the right label was put higher in {100 * found:.0f} % of pairs (chance: 50 %, at "
        f"most {100 * bound:.0f} % in 999 of 1,000 cases)"
    )
    measured = [bench.measured("pipeline.planted_auc", found, len(rare), "planted")]
    if p > CHANCE:
        return Finding("pipeline.planted", "ok", message), measured
    advice = (
        "test rows, or copies of them, are in the training part with their labels: split first, then copy, select, fit"
    )
    return Finding(
        "pipeline.planted", "fail", f"{message}: the pipeline has learnt labels of what it tests", len(rare), (), advice
    ), measured


def shuffled(bench: Bench) -> Result:
    """Shuffle the training labels: nothing can be learnt any more, so no test score may stay above chance."""
    assert bench.split is not None
    common = int(np.bincount(bench.data.labels[bench.test]).argmax())
    is_common = bench.data.labels[bench.test] == common
    if is_common.all():
        return skipped("shuffled_training_labels", "the test part holds a single label")
    found = []
    for number in range(SHUFFLES):
        data = labels_shuffled(bench.data, trained_on(bench.split), bench.seed, number)
        run = bench.run(data, split_like(bench.split, data, bench.split.parts), data.take(bench.test))
        scores = run.scores if run.classifier is not None else run.at(bench.test)
        found.append(auc(scores[:, common], is_common))
    mean, n = float(np.mean(found)), len(bench.test)
    message = f"trained {SHUFFLES} times on shuffled labels, the mean AUC on {n} test rows is {mean:.3f} (chance: 0.5)"
    measured = [bench.measured("pipeline.shuffled_auc", mean, n, "shuffled_training_labels")]
    if min(found) <= 0.5 or mean < ABOVE_CHANCE:
        return Finding("pipeline.shuffled_training_labels", "ok", message), measured
    advice = "find out what it was taught before: a model of this task is fine only if it has not seen these test rows"
    return Finding(
        "pipeline.shuffled_training_labels",
        "warn",
        f"{message}, above it each time: the pipeline knows labels that it was not taught here",
        n,
        (),
        advice,
    ), measured


def both_sides(bench: Bench) -> Result:
    """Whether rows are tested that were trained on, where the pipeline says which it trained on."""
    train = bench.baseline.train
    if train is None:
        return skipped(
            "rows_on_both_sides", "the pipeline does not say its training rows; return (train, test, scores)"
        )
    both = np.intersect1d(train, bench.baseline.rows)
    message = f"{len(both)} of the {len(bench.baseline.rows)} rows tested are among its training rows"
    measured = [
        bench.measured("pipeline.rows_on_both_sides", len(both), len(bench.baseline.rows), "rows_on_both_sides")
    ]
    if not len(both):
        return Finding("pipeline.rows_on_both_sides", "ok", message), measured
    advice = "split first; copy (oversample) rows of the training part only"
    return Finding("pipeline.rows_on_both_sides", "fail", message, len(both), bench.ids(both), advice), measured


def auc(scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_]) -> float:
    """Share of pairs in which the positive one scores higher; ties count half."""
    from scipy.stats import rankdata

    n = int(positive.sum())
    return float((rankdata(scores)[positive].sum() - n * (n + 1) / 2) / (n * (len(scores) - n)))


def ranked(scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_], seed: int) -> tuple[float, float, float]:
    """AUC, what chance stays below in 999 of 1,000 cases, and how often chance reaches it.

    Chance is the labels dealt anew, which is exact: they were dealt by coin tosses.
    """
    from scipy.stats import rankdata

    n, ranks = int(positive.sum()), rankdata(scores)
    chance = generator(seed, "pipeline audit", "chance")
    dealt = chance.permuted(np.tile(ranks, (DRAWS, 1)), axis=1)[:, :n].sum(axis=1)
    by_chance = (dealt - n * (n + 1) / 2) / (n * (len(ranks) - n))
    found = auc(scores, positive)
    p = (1 + int((by_chance >= found - 1e-12).sum())) / (DRAWS + 1)
    return found, float(np.quantile(by_chance, 1 - CHANCE)), p


def _about(run: PipelineAnswer, rows: Rows) -> tuple[Rows, npt.NDArray[np.float64]]:
    """Which of the planted rows were answered, by their number, and their scores."""
    if run.classifier is not None:
        return np.arange(len(rows)), run.scores
    answered = np.flatnonzero(np.isin(rows, run.rows))
    return answered, run.at(rows[answered])
