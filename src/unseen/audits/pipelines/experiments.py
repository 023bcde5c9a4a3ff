"""Experiments on a pipeline that is given all rows: change what it must not use, and see whether it notices."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from unseen.audits.pipelines.answered import PipelineAnswer, Rows
from unseen.audits.pipelines.bench import Bench, Result, RowChange, skipped
from unseen.audits.pipelines.perturbing import labels_exchanged, ordered, texts_replaced
from unseen.errors import InputError
from unseen.types import Finding

NONE: Rows = np.empty(0, np.intp)

FIT_INSIDE = "fit everything (vocabulary, weights, selected features, embeddings, scalers) on the training rows alone"


def repeatable(bench: Bench) -> Result:
    """Whether equal runs answer the same: what changes by itself proves nothing."""
    noise = bench.noise
    n = len(bench.baseline.rows)
    measured = (
        [bench.measured("pipeline.noise", noise.largest, n, "repeatable")] if math.isfinite(noise.largest) else []
    )
    if noise.repeatable:
        message = f"two runs on the same data differ by at most {noise.largest:.1g} in {n} answers"
        return Finding("pipeline.repeatable", "ok", message), measured
    told = "test other rows" if math.isinf(noise.largest) else f"differ by up to {noise.largest:.3f}"
    return Finding(
        "pipeline.repeatable",
        "warn",
        f"{noise.runs} runs on the same data with the same seed {told}: smaller effects of a leak would not show",
        advice="take every random number from the seed that is given",
    ), measured


def also_trained_on(bench: Bench) -> str:
    """Why rows tested by a pipeline that makes its own split may rightly be learnt from; empty where they may not.

    In a cross-validation the rows of one fold train the others, so their change must show. One that joins some of
    its folds into a single answer cannot be told from a single test part.
    """
    found = bench.baseline
    if bench.split is not None:
        return ""
    if found.folds > 1:
        return f"tested rows train other folds: {found.folds} folds were answered"
    if len(found.rows) == len(bench.data):
        return "tested rows train other folds: every row is tested"
    known = 0 if found.train is None else len(np.intersect1d(found.train, found.rows))
    return f"tested rows train other folds: {known} of them are among its training rows" if known else ""


def exchanged_labels(bench: Bench) -> Result:
    """Exchange the labels of test rows: no answer may change, not even about the test rows."""
    if why := also_trained_on(bench):
        return skipped("test_labels", why)
    data, touched = labels_exchanged(bench.data, bench.test, bench.seed)
    what = f"the labels of {len(touched)} of {len(bench.test)} test rows were exchanged and nothing else"
    if not len(touched):
        return skipped("test_labels", "the test part holds a single label, so labels cannot be exchanged")
    advice = f"the pipeline learns from labels of test rows: {FIT_INSIDE}"
    return _judged(bench, "test_labels", what, advice, bench.changed_data(data), NONE)


def nonsense_texts(bench: Bench) -> Result:
    """Replace half of the test texts by nonsense: no answer about any other row may change."""
    if why := also_trained_on(bench):
        return skipped("test_texts", why)
    touched = np.sort(ordered(bench.data, bench.test, bench.seed, "half")[: max(1, len(bench.test) // 2)])
    data = texts_replaced(bench.data, touched, bench.seed)
    what = f"the texts of {len(touched)} of {len(bench.test)} test rows were replaced by nonsense and nothing else"
    advice = f"the pipeline learns from texts of test rows, or from copies of them: {FIT_INSIDE}"
    return _judged(bench, "test_texts", what, advice, bench.changed_data(data), touched)


def fewer_rows(bench: Bench) -> Result:
    """Take half of the test rows out: no answer about any other row may change."""
    assert bench.split is not None
    if len(bench.test) < 2:
        return skipped("fewer_rows", "there is one test row only")
    gone = ordered(bench.data, bench.test, bench.seed, "half")[: len(bench.test) // 2]
    kept = np.setdiff1d(np.arange(len(bench.data)), gone)
    run = bench.changed_data(bench.data.take(kept), bench.split.parts[kept])
    what = f"{len(gone)} of {len(bench.test)} test rows were taken out and nothing else"
    advice = "something depends on the number of test rows, if only the order of random numbers: draw on training rows"
    finding, measured = _judged(bench, "fewer_rows", what, advice, run, gone, kept)
    level = "warn" if finding.level == "fail" else finding.level
    return Finding(finding.check, level, finding.message, finding.count, finding.evidence, finding.advice), measured


def _judged(
    bench: Bench, check: str, what: str, advice: str, run: PipelineAnswer, touched: Rows, old: Rows | None = None
) -> Result:
    """The finding about answers that should not have changed."""
    if math.isinf(bench.noise.largest):
        return skipped(check, "runs on the same data test different rows, so that runs cannot be compared")
    change = bench.change(bench.baseline, run, touched, old)
    if change is None:
        return skipped(check, f"{what}, and the pipeline tested other rows: its split follows them")
    if not len(change.rows):
        return skipped(check, "the pipeline answers about no row that was left alone")
    if not bench.noise.repeatable:
        return _judged_in_noise(bench, check, what, advice, run, touched, old)
    moved = change.sizes > bench.noise.tolerance
    largest = float(change.sizes.max())
    measured = [
        bench.measured("pipeline.changed_share", float(moved.mean()), len(moved), check),
        bench.measured("pipeline.largest_change", largest, len(moved), check),
    ]
    if not moved.any():
        message = (
            f"{what}; none of {len(moved)} answers about texts left alone changed (by over {bench.noise.tolerance:.1g})"
        )
        return Finding(f"pipeline.{check}", "ok", message), measured
    message = (
        f"{what}; {int(moved.sum())} of {len(moved)} answers about texts left alone changed, the most by {largest:.3g}"
    )
    worst = change.rows[np.argsort(-change.sizes, kind="stable")][: int(moved.sum())]
    return Finding(f"pipeline.{check}", "fail", message, int(moved.sum()), bench.ids(worst), advice), measured


def _judged_in_noise(
    bench: Bench, check: str, what: str, advice: str, run: PipelineAnswer, touched: Rows, old: Rows | None
) -> Result:
    """The finding about a pipeline that is not repeatable: only twice its own noise is a change."""
    changes = [bench.change(each, run, touched, old) for each in bench.equal_runs]
    known: list[RowChange] = [each for each in changes if each is not None]
    mean = float(np.mean([each.sizes.mean() for each in known]))
    measured = [bench.measured("pipeline.mean_change", mean, len(known[0].rows), check)]
    told = f"{what}; answers about texts left alone changed by {mean:.3g} on average"
    noise = f"{bench.noise.mean:.3g} between equal runs"
    if not mean > 2 * bench.noise.mean:
        return skipped(check, f"{told}, within twice the {noise}: a leak cannot be told from chance")[0], measured
    worst = known[0].rows[np.argsort(-known[0].sizes, kind="stable")]
    return Finding(
        f"pipeline.{check}", "fail", f"{told}, against at most {noise}", len(worst), bench.ids(worst), advice
    ), measured


def guarded(bench: Bench, check: str, experiment: Callable[[Bench], Result]) -> Result:
    """An experiment, skipped where the pipeline cannot be run on the changed data."""
    try:
        return experiment(bench)
    except InputError as cause:
        return skipped(check, f"the pipeline could not be run on the changed data: {cause.message}")
