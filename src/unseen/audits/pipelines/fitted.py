"""What something fitted remembers of test rows: words of theirs alone, weights that only they explain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from unseen.audits.pipelines.answered import Rows, as_classifier
from unseen.audits.pipelines.bench import ROUNDING, Bench, Result, skipped
from unseen.audits.pipelines.captured import datasets, vectorisers
from unseen.audits.pipelines.shapes import trained_on
from unseen.errors import InputError
from unseen.inference import predict
from unseen.models.scikit_learn import PipelineClassifier
from unseen.types import Dataset, Finding, some

SHOWN_WORDS = 5
SHOWN_LETTERS = 24
GIVEN = "its vocabulary was given: make sure nobody chose it on test rows"
INSIDE = "put the vectoriser into the pipeline, so that it is fitted on the training rows alone"


def vocabulary(bench: Bench) -> Result:
    """Words that a fitted vectoriser can have from test rows only, and document frequencies that are those of all."""
    assert bench.split is not None
    found = vectorisers(bench.pipeline.fit, bench.pipeline.settings, bench.baseline.classifier)
    if not found:
        return skipped("vocabulary", "no fitted vectoriser was found in the pipeline, its model or what it refers to")
    texts = bench.data.texts.to_pylist()
    train, test = ([texts[row] for row in rows] for rows in (trained_on(bench.split), bench.test))
    results = [_words(bench, each, train, test) for each in found]
    return next(each for level in ("fail", "warn", "ok") for each in results if each[0].level == level)


def _words(bench: Bench, vectoriser: Any, train: list[str], test: list[str]) -> Result:
    terms = set(vectoriser.vocabulary_)
    analyse = vectoriser.build_analyzer()
    in_train, in_test = (terms & {term for text in texts for term in analyse(text)} for texts in (train, test))
    only, outside = in_test - in_train, terms - in_test - in_train
    name = type(vectoriser).__name__
    measured = [
        bench.measured("pipeline.test_only_words", len(only), len(terms), "vocabulary"),
        bench.measured("pipeline.outside_words", len(outside), len(terms), "vocabulary"),
    ]
    message = f"{len(only)} of {len(terms)} terms of a {name} occur in test rows and in no training row"
    if not only:
        weights = _weights(vectoriser, train, [*train, *test])
        level = "fail" if weights else "ok"
        return Finding(
            "pipeline.vocabulary",
            level,
            weights or message,
            len(terms) if weights else 0,
            (),
            INSIDE if weights else "",
        ), measured
    message += (
        f" ({', '.join(_shown(each) for each in sorted(only)[:SHOWN_WORDS])}{', …' if len(only) > SHOWN_WORDS else ''})"
    )
    rows = _rows_with(bench, analyse, only)
    if outside:
        message += (
            f"; {len(outside)} occur in neither, so it was made from other texts too, maybe without the test rows"
        )
    given = bool(getattr(vectoriser, "fixed_vocabulary_", False))
    level, advice = "warn" if outside or given else "fail", GIVEN if given else INSIDE
    return Finding("pipeline.vocabulary", level, message, len(only), bench.ids(rows), advice), measured


def _weights(vectoriser: Any, train: list[str], every: list[str]) -> str:
    """The proof that document frequencies were counted on all rows; empty without one."""
    from sklearn.base import clone

    given = getattr(vectoriser, "idf_", None)
    if given is None or getattr(vectoriser, "fixed_vocabulary_", False):
        return ""
    of_train, of_every = (clone(vectoriser).fit(texts) for texts in (train, every))
    same = [
        each.vocabulary_.keys() == vectoriser.vocabulary_.keys()
        and np.allclose(each.idf_[_order(each)], np.asarray(given)[_order(vectoriser)], rtol=0, atol=1e-9)
        for each in (of_train, of_every)
    ]
    if same[0] or not same[1]:
        return ""
    return (
        f"the document frequencies of a {type(vectoriser).__name__} are those of all {len(every)} rows, test rows "
        f"included, and not those of the {len(train)} training rows"
    )


def _order(vectoriser: Any) -> list[int]:
    return [vectoriser.vocabulary_[term] for term in sorted(vectoriser.vocabulary_)]


def refit(bench: Bench) -> Result:
    """Whether a fitted estimator is what comes of fitting it on the training rows, or on all rows."""
    assert bench.split is not None
    given = bench.pipeline.fit
    if getattr(given, "classes_", None) is None:
        return skipped("refit", "the estimator comes unfitted, so it cannot hold anything of the test rows")
    split, data = bench.split, bench.data
    used = np.sort(np.concatenate([trained_on(split), split.rows("test")]))
    kinds = {"the training rows": split.rows("train"), "the training and validation rows": trained_on(split)}
    leaks = {"all rows, test rows included": used, "all rows of the data": np.arange(len(data))}
    asked = data.take(bench.watched)
    said = predict(as_classifier(given, data), asked, work="ask").probabilities
    for level, trials in (("ok", kinds), ("fail", leaks)):
        for told, rows in trials.items():
            again = predict(fitted(given, data, rows), asked, work="ask").probabilities
            largest = float(np.abs(said - again).max(initial=0))
            if largest <= ROUNDING:
                return _told(bench, level, told, len(rows), largest)
    return skipped(
        "refit", "the estimator is neither what comes of the training rows nor of all rows: order or chance differ"
    )


def _told(bench: Bench, level: str, told: str, n: int, largest: float) -> Result:
    message = f"fitted anew on {told} ({n}) it answers the same about {len(bench.watched)} rows (to {largest:.1g})"
    measured = [bench.measured("pipeline.refit_change", largest, len(bench.watched), "refit")]
    if level == "ok":
        return Finding("pipeline.refit", "ok", message), measured
    advice = "fit it on the training rows alone; a score of this one on these test rows means nothing"
    return Finding(
        "pipeline.refit",
        "fail",
        f"{message}: it was fitted on the test rows",
        len(bench.test),
        bench.ids(bench.test),
        advice,
    ), measured


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


def captured(bench: Bench) -> Result:
    """Whether a function that is given training rows refers to a dataset that holds test rows as well."""
    fit, ids = bench.pipeline.fit, set(bench.data.ids.take(pa.array(bench.test)).to_pylist())
    found = [each for each in datasets(fit, getattr(fit, "fit", None)) if ids & set(each.ids.to_pylist())]
    if not found:
        return Finding("pipeline.captured_data", "ok", "the function refers to no dataset that holds test rows"), []
    names = some(each.name for each in found)
    shared = ids & {each for one in found for each in one.ids.to_pylist()}
    message = f"the function refers to a dataset ({names}) that holds {len(shared)} of {len(ids)} test rows"
    advice = "work with the rows that are given only"
    return Finding("pipeline.captured_data", "warn", message, len(shared), tuple(sorted(shared)[:10]), advice), []


def _rows_with(bench: Bench, analyse: Any, only: set[str]) -> Rows:
    texts = bench.data.texts.to_pylist()
    return np.array([row for row in bench.test if not only.isdisjoint(analyse(texts[row]))], np.intp)


def _shown(term: str) -> str:
    """A term as a sentence can hold it: short, in quotes, what cannot be printed as an escape."""
    return repr(term if len(term) <= SHOWN_LETTERS else term[: SHOWN_LETTERS - 1] + "…")
