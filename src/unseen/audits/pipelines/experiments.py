"""Experiments on a pipeline: change what it must not use, and see whether it notices; ask what it cannot know.

Some look into it for what it remembers of test rows: words of theirs alone, weights that only they explain, whole
datasets. Fitted vectorisers and datasets are looked for in its steps, closures and global names.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.audits.findings import MOST_EVIDENCE, Judgement
from unseen.audits.pipelines.bench import (
    NO_ROWS,
    ROUNDING,
    Bench,
    RowChange,
    labels_exchanged,
    labels_shuffled,
    ordered,
    planted_among,
    skipped,
    texts_replaced,
)
from unseen.audits.pipelines.pipeline import PipelineAnswer, as_classifier
from unseen.errors import InputError
from unseen.evaluation.probability_scores import auc
from unseen.inference import predict
from unseen.models.scikit_learn import PipelineClassifier
from unseen.seeding import generator
from unseen.types import TEST, Dataset, some
from unseen.types.arrays import Floats, Mask, Rows
from unseen.types.numbers import magnitude, number, percent

FIT_INSIDE = "fit everything (vocabulary, weights, selected features, embeddings, scalers) on the training rows alone"
DRAWS = 20_000
CHANCE = 0.001
"""How often chance alone may look like a leak."""
SHUFFLES = 7
"""Trainings on shuffled labels: all above chance by chance has the probability 1 in 128."""
ABOVE_CHANCE = 0.6
SHOWN_WORDS = 5
SHOWN_LETTERS = 24
GIVEN = "its vocabulary was given: make sure nobody chose it on test rows"
INSIDE = "put the vectoriser into the pipeline, so that it is fitted on the training rows alone"
PLAIN = (str, bytes, int, float, np.generic, np.ndarray)
DEEPEST = 8
MOST = 20_000
"""Objects that are looked at, so that no graph of objects is too large."""
OPAQUE = ("torch", "numpy", "scipy", "pyarrow", "unseen", "builtins", "typing", "re")
"""Packages whose objects hold nothing to look for."""


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


def ranked(scores: Floats, positive: Mask, seed: int) -> tuple[float, float, float]:
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


def vocabulary(bench: Bench) -> Judgement:
    """Words that a fitted vectoriser can have from test rows only, and document frequencies that are those of all."""
    assert bench.split is not None
    fitted = vectorisers(bench.pipeline.fit, bench.pipeline.settings, bench.baseline.classifier)
    if not fitted:
        return skipped("vocabulary", "no fitted vectoriser was found in the pipeline, its model or what it refers to")
    texts = bench.data.texts.to_pylist()
    train, test = ([texts[row] for row in rows] for rows in (bench.split.rows("train", "dev"), bench.test))
    judgements = [_words(bench, vectoriser, train, test) for vectoriser in fitted]
    return next(of for level in ("fail", "warn", "ok") for of in judgements if of[1].level == level)


def _words(bench: Bench, vectoriser: Any, train: list[str], test: list[str]) -> Judgement:
    terms, analyse = set(vectoriser.vocabulary_), vectoriser.build_analyzer()
    in_train, in_test = (terms & {term for text in texts for term in analyse(text)} for texts in (train, test))
    only, outside = in_test - in_train, terms - in_test - in_train
    numbers = {"test_only_words": len(only), "outside_words": len(outside)}
    name = type(vectoriser).__name__
    message = f"{len(only)} of {len(terms)} terms of a {name} occur in test rows and in no training row"
    if not only and _weighed_on_all(vectoriser, train, [*train, *test]):
        message = (
            f"the document frequencies of a {name} are those of all {len(train) + len(test)} rows, test rows included, "
            f"and not those of the {len(train)} training rows"
        )
        return bench.judgement("vocabulary", "fail", message, numbers, len(terms), count=len(terms), advice=INSIDE)
    if not only:
        return bench.judgement("vocabulary", "ok", message, numbers, len(terms))
    shown = ", ".join(_shown(term) for term in sorted(only)[:SHOWN_WORDS])
    message += f" ({shown}{', …' if len(only) > SHOWN_WORDS else ''})"
    if outside:
        message += (
            f"; {len(outside)} occur in neither, so it was made from other texts too, maybe without the test rows"
        )
    given = bool(getattr(vectoriser, "fixed_vocabulary_", False))
    level, advice = "warn" if outside or given else "fail", GIVEN if given else INSIDE
    holders = [row for row, text in zip(bench.test, test, strict=True) if not only.isdisjoint(analyse(text))]
    evidence = bench.ids(np.array(holders, np.intp))
    return bench.judgement(
        "vocabulary", level, message, numbers, len(terms), count=len(only), evidence=evidence, advice=advice
    )


def _shown(term: str) -> str:
    """A term as a sentence can hold it: short, in quotes, what cannot be printed as an escape."""
    return repr(term if len(term) <= SHOWN_LETTERS else term[: SHOWN_LETTERS - 1] + "…")


def _weighed_on_all(vectoriser: Any, train: list[str], every: list[str]) -> bool:
    """Whether document frequencies were provably counted on all rows, not on the training rows."""
    from sklearn.base import clone

    if getattr(vectoriser, "idf_", None) is None or getattr(vectoriser, "fixed_vocabulary_", False):
        return False
    weights = _weights(vectoriser)
    of_train, of_every = (_weights(clone(vectoriser).fit(texts)) for texts in (train, every))
    return not _same(weights, of_train) and _same(weights, of_every)


def _weights(vectoriser: Any) -> dict[str, float]:
    """The weight of each term, in the order of the terms."""
    weights = np.asarray(vectoriser.idf_).tolist()
    return {term: weights[place] for term, place in sorted(vectoriser.vocabulary_.items())}


def _same(one: dict[str, float], other: dict[str, float]) -> bool:
    return one.keys() == other.keys() and np.allclose(list(one.values()), list(other.values()), rtol=0, atol=1e-9)


def refit(bench: Bench) -> Judgement:
    """Whether a fitted estimator is what comes of fitting it on the training rows, or on all rows."""
    assert bench.split is not None
    estimator, split, data = bench.pipeline.fit, bench.split, bench.data
    if getattr(estimator, "classes_", None) is None:
        return skipped("refit", "the estimator comes unfitted, so it cannot hold anything of the test rows")
    trials = [
        ("ok", "the training rows", split.rows("train")),
        ("ok", "the training and validation rows", split.rows("train", "dev")),
        ("fail", "all rows, test rows included", split.rows("train", "dev", "test")),
        ("fail", "all rows of the data", np.arange(len(data))),
    ]
    asked, n = data.take(bench.watched), len(bench.watched)
    given = predict(as_classifier(estimator, data), asked, work="ask").probabilities
    for level, what, rows in trials:
        again = predict(fitted(estimator, data, rows), asked, work="ask").probabilities
        largest = float(np.abs(given - again).max(initial=0))
        if largest > ROUNDING:
            continue
        answers = f"it answers the same about {n} rows (to {magnitude(largest)})"
        message = f"fitted anew on {what} ({len(rows)}) {answers}"
        return bench.judgement(
            "refit",
            level,
            message if level == "ok" else f"{message}: it was fitted on the test rows",
            {"refit_change": largest},
            n,
            count=len(bench.test),
            evidence=bench.ids(bench.test),
            advice="fit it on the training rows alone; a score of this one on these test rows means nothing",
        )
    why = "the estimator is neither what comes of the training rows nor of all rows: order or chance differ"
    return skipped("refit", why)


def fitted(estimator: Any, data: Dataset, rows: Rows, seed: int | None = None) -> PipelineClassifier:
    """A copy of the estimator fitted on these rows, with labels as it knows them; with the seed where one is given."""
    from sklearn.base import clone

    model = clone(estimator)
    if seed is not None:
        chance = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
        model.set_params(**dict.fromkeys(chance, seed))
    texts = data.take(rows).texts.to_pylist()
    try:
        model.fit(texts, np.array(data.label_names)[data.labels[rows]])
    except Exception as cause:  # whatever an estimator of the user's may raise
        raise InputError(f"{type(estimator).__name__} cannot be fitted: {type(cause).__name__}: {cause}") from cause
    return PipelineClassifier(model, None, type(estimator).__name__)


def captured(bench: Bench) -> Judgement:
    """Whether a function that is given training rows refers to a dataset that holds test rows as well."""
    fit, test = bench.pipeline.fit, set(bench.data.ids.take(pa.array(bench.test)).to_pylist())
    datasets = [item for item in held_by(fit, getattr(fit, "fit", None)) if isinstance(item, Dataset)]
    shared = [(data.name, test & set(data.ids.to_pylist())) for data in datasets]
    names, rows = [name for name, ids in shared if ids], set[str]().union(*(ids for _, ids in shared))
    if not rows:
        return bench.judgement("captured_data", "ok", "the function refers to no dataset that holds test rows")
    return bench.judgement(
        "captured_data",
        "warn",
        f"the function refers to a dataset ({some(names)}) that holds {len(rows)} of {len(test)} test rows",
        count=len(rows),
        evidence=tuple(sorted(rows)[:MOST_EVIDENCE]),
        advice="work with the rows that are given only",
    )


def held_by(*roots: Any) -> Iterator[Any]:
    """Everything reachable from `roots`, each object once, the nearest first.

    Followed are attributes, containers, bound methods, closures and the global names that a function uses; arrays
    and the objects of numerical packages are not opened.
    """
    level, seen, kept = list(roots), set[int](), []
    for _ in range(DEEPEST):
        below: list[Any] = []
        for item in level:
            if id(item) in seen or len(seen) >= MOST:
                continue
            seen.add(id(item))
            kept.append(item)  # ids are those of living objects only
            yield item
            below += _parts(item)
        level = below


def vectorisers(*roots: Any) -> list[Any]:
    """Fitted vectorisers of texts: objects with a `vocabulary_` and an analyser."""
    return [
        item
        for item in held_by(*roots)
        if not isinstance(item, type) and hasattr(item, "build_analyzer") and isinstance(_vocabulary(item), Mapping)
    ]


def _vocabulary(item: Any) -> Any:
    try:
        return getattr(item, "vocabulary_", None)
    except Exception:  # a property of somebody's that cannot be read
        return None


def _parts(item: Any) -> list[Any]:
    """What an object holds or refers to."""
    if isinstance(item, types.MethodType):
        return [item.__self__, item.__func__]
    if isinstance(item, functools.partial):
        return [item.func, *item.args, *item.keywords.values()]
    if isinstance(item, types.FunctionType):
        return _of_function(item)
    if isinstance(item, Mapping | list | tuple | set):
        return [part for part in (item.values() if isinstance(item, Mapping) else item) if not isinstance(part, PLAIN)]
    if isinstance(item, type | types.ModuleType):
        return []
    own = getattr(item, "__dict__", {})
    if _package(type(item)) in OPAQUE:  # a classifier of ours may wrap anybody's model
        return [own[name] for name in ("model", "_pipeline", "function") if name in own]
    return list(own.values())


def _of_function(function: types.FunctionType) -> list[Any]:
    parts: list[Any] = list(function.__defaults__ or ())
    for cell in function.__closure__ or ():
        try:
            parts.append(cell.cell_contents)
        except ValueError:  # a name that has no value yet
            continue
    if _package(function) in (*OPAQUE, "sklearn"):
        return parts
    return parts + [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]


def _names(code: types.CodeType) -> set[str]:
    """Global names that a function or one inside it uses."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _package(item: Any) -> str:
    return str(getattr(item, "__module__", None) or "").partition(".")[0]
