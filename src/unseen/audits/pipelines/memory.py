"""What a pipeline remembers of test rows: words of theirs alone, weights that only they explain, whole datasets.

Fitted vectorisers and datasets are looked for in its steps, closures and global names.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.audits.findings import MOST_EVIDENCE, Judgement
from unseen.audits.pipelines.answers import Rows, as_classifier
from unseen.audits.pipelines.bench import ROUNDING, Bench, skipped
from unseen.errors import InputError
from unseen.inference import predict
from unseen.models.scikit_learn import PipelineClassifier
from unseen.types import Dataset, some
from unseen.types.numbers import magnitude

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
