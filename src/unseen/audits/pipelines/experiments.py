"""Experiments on a pipeline: change what it must not use, and see whether it notices; ask what it cannot know."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unseen.audits.findings import Judgement
from unseen.audits.pipelines.answers import PipelineAnswer, Rows
from unseen.audits.pipelines.bench import NO_ROWS, Bench, RowChange, skipped
from unseen.audits.pipelines.perturbations import (
    labels_exchanged,
    labels_shuffled,
    ordered,
    planted_among,
    texts_replaced,
)
from unseen.evaluation.probability_scores import auc
from unseen.seeding import generator
from unseen.types import TEST
from unseen.types.numbers import magnitude, number, percent

FIT_INSIDE = "fit everything (vocabulary, weights, selected features, embeddings, scalers) on the training rows alone"
DRAWS = 20_000
CHANCE = 0.001
"""How often chance alone may look like a leak."""
SHUFFLES = 7
"""Trainings on shuffled labels: all above chance by chance has the probability 1 in 128."""
ABOVE_CHANCE = 0.6


def repeatable(bench: Bench) -> Judgement:
    """Whether equal runs answer the same: what changes by itself proves nothing."""
    noise, n = bench.noise, len(bench.baseline.rows)
    numbers = {"noise": noise.largest} if math.isfinite(noise.largest) else {}
    if noise.repeatable:
        message = f"two runs on the same data differ by at most {magnitude(noise.largest)} in {n} answers"
        return bench.judgement("repeatable", "ok", message, numbers, n)
    how = "test other rows" if math.isinf(noise.largest) else f"differ by up to {magnitude(noise.largest)}"
    message = f"{noise.runs} runs on the same data with the same seed {how}: smaller effects of a leak would not show"
    advice = "take every random number from the seed that is given"
    return bench.judgement("repeatable", "warn", message, numbers, n, advice=advice)


def also_trained_on(bench: Bench) -> str:
    """Why rows tested by a pipeline that makes its own split may rightly be learnt from; empty where they may not.

    In a cross-validation the rows of one fold train the others, so their change must show. One that joins some of
    its folds into a single answer cannot be told from a single test part.
    """
    baseline = bench.baseline
    if bench.split is not None:
        return ""
    if baseline.folds > 1:
        return f"tested rows train other folds: {baseline.folds} folds were answered"
    if len(baseline.rows) == len(bench.data):
        return "tested rows train other folds: every row is tested"
    both = 0 if baseline.train is None else len(np.intersect1d(baseline.train, baseline.rows))
    return f"tested rows train other folds: {both} of them are among its training rows" if both else ""


def exchanged_labels(bench: Bench) -> Judgement:
    """Exchange the labels of test rows: no answer may change, not even about the test rows."""
    if why := also_trained_on(bench):
        return skipped("test_labels", why)
    data, touched = labels_exchanged(bench.data, bench.test, bench.seed)
    if not len(touched):
        return skipped("test_labels", "the test part holds a single label, so labels cannot be exchanged")
    what = f"the labels of {len(touched)} of {len(bench.test)} test rows were exchanged and nothing else"
    advice = f"the pipeline learns from labels of test rows: {FIT_INSIDE}"
    return _compared(bench, "test_labels", what, advice, bench.run_changed(data), NO_ROWS)


def nonsense_texts(bench: Bench) -> Judgement:
    """Replace half of the test texts by nonsense: no answer about any other row may change."""
    if why := also_trained_on(bench):
        return skipped("test_texts", why)
    touched = np.sort(ordered(bench.data, bench.test, bench.seed, "half")[: max(1, len(bench.test) // 2)])
    data = texts_replaced(bench.data, touched, bench.seed)
    what = f"the texts of {len(touched)} of {len(bench.test)} test rows were replaced by nonsense and nothing else"
    advice = f"the pipeline learns from texts of test rows, or from copies of them: {FIT_INSIDE}"
    return _compared(bench, "test_texts", what, advice, bench.run_changed(data), touched)


def fewer_rows(bench: Bench) -> Judgement:
    """Take half of the test rows out: no answer about any other row may change."""
    assert bench.split is not None
    if len(bench.test) < 2:
        return skipped("fewer_rows", "there is one test row only")
    gone = ordered(bench.data, bench.test, bench.seed, "half")[: len(bench.test) // 2]
    kept = np.setdiff1d(np.arange(len(bench.data)), gone)
    run = bench.run_changed(bench.data.take(kept), bench.split.parts[kept])
    what = f"{len(gone)} of {len(bench.test)} test rows were taken out and nothing else"
    advice = "something depends on the number of test rows, if only the order of random numbers: draw on training rows"
    measurements, finding = _compared(bench, "fewer_rows", what, advice, run, gone, kept)
    return measurements, replace(finding, level="warn" if finding.level == "fail" else finding.level)


def _compared(
    bench: Bench, experiment: str, what: str, advice: str, run: PipelineAnswer, touched: Rows, old: Rows | None = None
) -> Judgement:
    """The finding about answers that should not have changed."""
    if math.isinf(bench.noise.largest):
        return skipped(experiment, "runs on the same data test different rows, so that runs cannot be compared")
    change = bench.change(bench.baseline, run, touched, old)
    if change is None:
        return skipped(experiment, f"{what}, and the pipeline tested other rows: its split follows them")
    n = len(change.rows)
    if not n:
        return skipped(experiment, "the pipeline answers about no row that was left alone")
    if not bench.noise.repeatable:
        changes = [bench.change(equal, run, touched, old) for equal in bench.equal_runs]
        return _in_noise(bench, experiment, what, advice, [change for change in changes if change is not None])
    moved, largest = change.sizes > bench.noise.tolerance, float(change.sizes.max())
    numbers = {"changed_share": float(moved.mean()), "largest_change": largest}
    count = int(moved.sum())
    if not count:
        least = magnitude(bench.noise.tolerance)
        message = f"{what}; none of {n} answers about texts left alone changed (by over {least})"
        return bench.judgement(experiment, "ok", message, numbers, n)
    message = f"{what}; {count} of {n} answers about texts left alone changed, the most by {magnitude(largest)}"
    worst = bench.ids(change.rows[np.argsort(-change.sizes, kind="stable")][:count])
    return bench.judgement(experiment, "fail", message, numbers, n, count=count, evidence=worst, advice=advice)


def _in_noise(bench: Bench, experiment: str, what: str, advice: str, changes: list[RowChange]) -> Judgement:
    """The finding about a pipeline that is not repeatable: only twice its own noise is a change."""
    mean, n = float(np.mean([change.sizes.mean() for change in changes])), len(changes[0].rows)
    numbers = {"mean_change": mean}
    message = f"{what}; answers about texts left alone changed by {magnitude(mean)} on average"
    noise = f"{magnitude(bench.noise.mean)} between equal runs"
    if not mean > 2 * bench.noise.mean:
        message += f", within twice the {noise}: a leak cannot be told from chance"
        return bench.judgement(experiment, "skipped", message, numbers, n)
    worst = bench.ids(changes[0].rows[np.argsort(-changes[0].sizes, kind="stable")])
    message += f", against at most {noise}"
    return bench.judgement(experiment, "fail", message, numbers, n, count=n, evidence=worst, advice=advice)


def planted(bench: Bench) -> Judgement:
    """Plant nonsense whose labels are coin tosses: whoever knows the labels of those it tests has seen them."""
    plants = planted_among(bench.data, bench.to_plant, bench.seed)
    in_test = np.full(len(plants.rows), TEST, np.int8)
    parts = None if bench.split is None else np.concatenate([bench.split.parts, in_test])
    run = bench.run_changed(plants.data, parts, plants.data.take(plants.rows))
    if run.classifier is not None:
        tested, scores = np.arange(len(plants.rows)), run.scores
    else:
        tested = np.flatnonzero(np.isin(plants.rows, run.rows))
        scores = run.at(plants.rows[tested])
    rare, n = plants.labels[tested], len(tested)
    if math.comb(n, int(rare.sum())) < 10 / CHANCE:
        return skipped("planted", f"{n} of {len(plants.rows)} planted texts were tested: too few to judge")
    common, rarest = plants.codes
    area, bound, p = ranked(scores[:, rarest] - scores[:, common], rare, bench.seed)
    message = (
        f"{len(plants.rows)} nonsense texts were planted whose label, {bench.data.label_names[common]!r} or "
        f"{bench.data.label_names[rarest]!r}, is a coin toss; of the {n} tested, the right label was put higher in "
        f"{percent(area, places=0)} of pairs (chance: 50 %, at most {percent(bound, places=0)} in 999 of 1,000 cases)"
    )
    if p > CHANCE:
        return bench.judgement("planted", "ok", message, {"planted_auc": area}, n)
    message += ": the pipeline has learnt labels of what it tests"
    advice = (
        "test rows, or copies of them, are in the training part with their labels: split first, then copy, select, fit"
    )
    return bench.judgement("planted", "fail", message, {"planted_auc": area}, n, count=n, advice=advice)


def ranked(scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_], seed: int) -> tuple[float, float, float]:
    """AUC, what chance stays below in 999 of 1,000 cases, and how often chance reaches it.

    Chance is the labels dealt anew, which is exact: they were dealt by coin tosses.
    """
    from scipy.stats import rankdata

    area = auc(positive, scores)
    assert area is not None  # both labels were planted
    n, ranks = int(positive.sum()), rankdata(scores)
    draw = generator(seed, "pipeline audit", "chance")
    dealt = draw.permuted(np.tile(ranks, (DRAWS, 1)), axis=1)[:, :n].sum(axis=1)
    by_chance = (dealt - n * (n + 1) / 2) / (n * (len(ranks) - n))
    p = (1 + int((by_chance >= area - 1e-12).sum())) / (DRAWS + 1)
    return area, float(np.quantile(by_chance, 1 - CHANCE)), p


def shuffled(bench: Bench) -> Judgement:
    """Shuffle the training labels: nothing can be learnt any more, so no test score may stay above chance."""
    assert bench.split is not None
    common = int(np.bincount(bench.data.labels[bench.test]).argmax())
    is_common = bench.data.labels[bench.test] == common
    if is_common.all():
        return skipped("shuffled_training_labels", "the test part holds a single label")
    areas = []
    for turn in range(SHUFFLES):
        data = labels_shuffled(bench.data, bench.split.rows("train", "dev"), bench.seed, turn)
        run = bench.run_changed(data, asked=data.take(bench.test))
        scores = run.scores if run.classifier is not None else run.at(bench.test)
        areas.append(auc(is_common, scores[:, common]) or 0.0)
    mean, n = float(np.mean(areas)), len(bench.test)
    numbers = {"shuffled_auc": mean}
    message = (
        f"trained {SHUFFLES} times on shuffled labels, the mean AUC on {n} test rows is {number(mean)} (chance: .50)"
    )
    if min(areas) <= 0.5 or mean < ABOVE_CHANCE:
        return bench.judgement("shuffled_training_labels", "ok", message, numbers, n)
    message += ", above it each time: the pipeline knows labels that it was not taught here"
    advice = "find out what it was taught before: a model of this task is fine only if it has not seen these test rows"
    return bench.judgement("shuffled_training_labels", "warn", message, numbers, n, count=n, advice=advice)


def both_sides(bench: Bench) -> Judgement:
    """Whether rows are tested that were trained on, where the pipeline says which it trained on."""
    train, tested = bench.baseline.train, bench.baseline.rows
    if train is None:
        why = "the pipeline does not say its training rows; return (train, test, scores)"
        return skipped("rows_on_both_sides", why)
    both = np.intersect1d(train, tested)
    return bench.judgement(
        "rows_on_both_sides",
        "fail" if len(both) else "ok",
        f"{len(both)} of the {len(tested)} rows tested are among its training rows",
        {"rows_on_both_sides": len(both)},
        len(tested),
        count=len(both),
        evidence=bench.ids(both),
        advice="split first; copy (oversample) rows of the training part only",
    )
