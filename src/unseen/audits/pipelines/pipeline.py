"""Somebody's pipeline: by its name, place or file; its shape, told by the names of its parameters; how it is run.

::

    recipe      fit(train, dev, seed) -> classifier           an object with this `fit`, or the function
    protocol    fit(data, split, seed) -> answers             a whole notebook: given all rows, it must keep apart
                fit(data, folds, seed) -> answers             the same, given pairs of training and test rows
    own split   fit(data, seed=…) -> (rows tested, scores)    makes its own test part
    estimator   a scikit-learn estimator or Pipeline          from texts to labels, fitted or not

Whatever form it answers in (`FORMS`), a run becomes one `PipelineAnswer`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.pipelines.examples import EXAMPLES
from unseen.errors import InputError, UnknownNameError
from unseen.inference import predict
from unseen.models import PIPELINES
from unseen.models.scikit_learn import PipelineClassifier, open_scikit_learn
from unseen.registry import Registry, check_parameters, require_known
from unseen.splits.random import RandomSplit
from unseen.splits.split_records import split_records
from unseen.training import RECIPES
from unseen.types import Dataset, Predictions, Split
from unseen.types.arrays import Floats, Rows

Scores = Floats

FORMS = "a classifier, Predictions, scores [rows, labels], labels, or (rows, scores), also a list of these pairs"
SHAPES = ("recipe", "protocol", "own split", "estimator")
RECIPES_SAY = ("train", "training", "train_data", "train_set")
SPLITS_SAY = ("split", "folds")
DEFAULT_TEST = 0.2
"""Share of rows that a random split tests."""
PLACES = Registry("pipeline", {})


@dataclass(frozen=True, eq=False)
class PipelineAnswer:
    """Scores by row: each row once, a row that was answered several times by its mean."""

    rows: Rows
    """Positions in the data asked about, in ascending order."""
    scores: Scores
    classifier: Any = None
    """Where the pipeline gave one: then any text can be asked, whatever was done to the data it was fitted on."""
    train: Rows | None = None
    """Rows that the pipeline says it trained on."""
    folds: int = 1
    """Pairs of rows and scores that it answered with."""

    def at(self, rows: Rows) -> Scores:
        """Scores of `rows`, all of which were answered."""
        return self.scores[np.searchsorted(self.rows, rows)]


def read_answer(answer: Any, data: Dataset, test: Rows | None, asked: Dataset) -> PipelineAnswer:
    """The answer of a pipeline that was run on `data`; a classifier is asked about `asked`.

    `test` are the test rows that the pipeline was given, None where it makes its own split. Raises InputError for
    an answer that is not one of the forms.
    """
    if hasattr(answer, "predict_proba") or hasattr(answer, "classes_"):
        if test is None:
            raise InputError(
                "a pipeline that makes its own split must say which rows it tested", expected="(rows, scores)"
            )
        classifier = as_classifier(answer, data)
        return PipelineAnswer(np.arange(len(asked)), predict(classifier, asked, work="ask").probabilities, classifier)
    if isinstance(answer, Predictions):
        places = pc.index_in(answer.ids, value_set=data.ids)
        if places.null_count:
            raise InputError(f"the pipeline answered about {places.null_count} ids that are not in the data")
        return _once(places.to_numpy(zero_copy_only=False).astype(np.intp), _scores(answer.probabilities, data))
    if isinstance(answer, list) and answer and all(isinstance(pair, tuple) and len(pair) == 2 for pair in answer):
        rows = np.concatenate([_rows(rows, data) for rows, _ in answer])
        return replace(_once(rows, np.concatenate([_scores(scores, data) for _, scores in answer])), folds=len(answer))
    if isinstance(answer, tuple) and len(answer) in (2, 3):
        return _own_split(answer, data)
    return _positional(_scores(answer, data), data, test)


def as_classifier(answer: Any, data: Dataset) -> Any:
    """A scikit-learn model may give labels only, and may call them by their place."""
    if not hasattr(answer, "get_params"):
        return answer
    by_place = np.asarray(answer.classes_).dtype.kind in "iu" and len(answer.classes_) == len(data.label_names)
    return PipelineClassifier(answer, data.label_names if by_place else None, type(answer).__name__)


def _own_split(answer: tuple[Any, ...], data: Dataset) -> PipelineAnswer:
    """(rows, scores), (training rows, test rows, scores), or (Split, scores)."""
    if isinstance(answer[0], Split):
        split = answer[0].of(data)
        by_place = _positional(_scores(answer[-1], data), data, split.rows("test"))
        return replace(by_place, train=split.rows("train", "dev"))
    by_row = _once(_rows(answer[-2], data), _scores(answer[-1], data))
    return replace(by_row, train=_rows(answer[0], data) if len(answer) == 3 else None)


def _positional(scores: Scores, data: Dataset, test: Rows | None) -> PipelineAnswer:
    """Scores for all rows, or for the test rows, by their number."""
    if len(scores) == len(data):
        return PipelineAnswer(np.arange(len(data)), scores)
    if test is not None and len(scores) == len(test):
        return PipelineAnswer(test, scores)
    known = f"{len(data)} (all rows)" + ("" if test is None else f" or {len(test)} (the test rows)")
    raise InputError("the pipeline answered a wrong number of rows", expected=known, got=str(len(scores)))


def _once(rows: Rows, scores: Scores) -> PipelineAnswer:
    if len(rows) != len(scores):
        raise InputError(
            "the pipeline named other rows than it answered", got=f"{len(rows)} rows, {len(scores)} scores"
        )
    distinct, place, times = np.unique(rows, return_inverse=True, return_counts=True)
    sums = np.zeros((len(distinct), scores.shape[1]))
    np.add.at(sums, place, scores)
    return PipelineAnswer(distinct, sums / times[:, None])


def _rows(rows: Any, data: Dataset) -> Rows:
    places = np.asarray(rows)
    if places.ndim != 1 or (len(places) and places.dtype.kind not in "iu"):
        raise InputError("the pipeline did not name its rows", expected="positions of rows", got=str(places.dtype))
    if len(places) and not 0 <= places.min() <= places.max() < len(data):
        raise InputError("the pipeline named rows that are not there", expected=f"0 to {len(data) - 1}")
    return places.astype(np.intp)


def _scores(answer: Any, data: Dataset) -> Scores:
    """Scores [rows, labels]; labels, by name or place, become ones and zeros."""
    try:
        scores = np.asarray(answer.to_pylist() if isinstance(answer, pa.Array | pa.ChunkedArray) else answer)
    except ValueError as cause:
        raise InputError("the pipeline's answer cannot be read", expected=FORMS, got=str(cause)) from cause
    k = len(data.label_names)
    if scores.ndim == 1 and len(scores) and scores.dtype.kind in "iuUO":
        return np.eye(k)[_codes(scores, data.label_names)]
    if scores.ndim != 2 or scores.shape[1] != k or scores.dtype.kind not in "fiub":
        raise InputError("the pipeline's answer cannot be read", expected=FORMS, got=f"{scores.dtype} {scores.shape}")
    if not np.isfinite(scores).all():
        raise InputError("the pipeline answered with numbers that are not finite")
    return scores.astype(np.float64)


def _codes(labels: npt.NDArray[Any], names: tuple[str, ...]) -> Rows:
    if labels.dtype.kind in "iu":
        if not 0 <= labels.min() <= labels.max() < len(names):
            raise InputError("the pipeline answered labels that are not there", expected=f"0 to {len(names) - 1}")
        return labels.astype(np.intp)
    places = {name: place for place, name in enumerate(names)}
    require_known("label", names, *dict.fromkeys(labels.tolist()))
    return np.array([places[label] for label in labels.tolist()], np.intp)


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Somebody's pipeline, its shape, and the settings to run it with."""

    fit: Any
    shape: str
    name: str
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, fit: Any, shape: str | None = None, settings: Mapping[str, Any] | None = None) -> Pipeline:
        """The pipeline with the shape that it shows, or the one that is said."""
        shape = shape_of(fit, shape)
        named = getattr(fit, "func", fit)  # of functools.partial
        name = str(getattr(named, "__name__", type(named).__name__))
        if settings and shape in ("recipe", "estimator"):
            raise InputError(f"settings have no effect on a pipeline of the shape {shape!r}", got=str(settings))
        if settings:
            check_parameters(f"the pipeline {name}", fit, settings)
        return cls(fit, shape, name, dict(settings or {}))

    def run(self, data: Dataset, split: Split | None, seed: int, asked: Dataset) -> PipelineAnswer:
        """Run it once; a classifier that comes of it is asked about `asked`."""
        try:
            answer = self._called(data, split, seed)
        except InputError:
            raise
        except Exception as cause:  # whatever a pipeline of the user's may raise
            raise InputError(f"the pipeline {self.name} failed: {type(cause).__name__}: {cause}") from cause
        test = None if split is None or self.shape == "own split" else split.rows("test")
        return read_answer(answer, data, test, asked)

    def _called(self, data: Dataset, split: Split | None, seed: int) -> Any:
        if self.shape == "own split":
            return self.fit(data, **self._seed(seed), **self.settings)
        assert split is not None
        if self.shape == "recipe":
            fit = getattr(self.fit, "fit", self.fit)
            chance = (seed,) if len(inspect.signature(fit).parameters) > 2 else ()
            return fit(data.take(split.rows("train")), data.take(split.rows("dev")), *chance)
        if "folds" in list(inspect.signature(self.fit).parameters)[:2]:
            folds = [(split.rows("train", "dev"), split.rows("test"))]
            return self.fit(data, folds, **self._seed(seed), **self.settings)
        return self.fit(data, split, **self._seed(seed), **self.settings)

    def _seed(self, seed: int) -> dict[str, int]:
        """The seed, for a pipeline that takes one; one that does not may still be repeatable."""
        parameters = inspect.signature(self.fit).parameters.values()
        takes = any(parameter.name == "seed" or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        return {"seed": seed} if takes else {}


def shape_of(fit: Any, shape: str | None = None) -> str:
    """What kind of pipeline this is: what is said, or what it shows."""
    if shape is not None:
        require_known("shape", SHAPES, shape)
        return shape
    if hasattr(fit, "fit") and hasattr(fit, "get_params"):
        return "estimator"
    if hasattr(fit, "fit"):
        return "recipe"
    if not callable(fit) or isinstance(fit, type):
        raise InputError(
            "this is not a pipeline",
            expected="fit(data, split, seed), fit(train, dev, seed), fit(data, seed), or a scikit-learn estimator",
            got=type(fit).__name__ if not isinstance(fit, type) else f"the class {fit.__name__}",
        )
    names = list(inspect.signature(fit).parameters)
    if names[:1] and names[0] in RECIPES_SAY:
        return "recipe"
    return "protocol" if names[1:2] and names[1] in SPLITS_SAY else "own split"


def open_pipeline(pipeline: Any, *, trust: bool = False) -> Any:
    """The pipeline of this name, at this place (`module:function`) or in this file.

    What is no name comes back as it is. A .joblib file runs any code it holds when it is opened, so it needs `trust`.
    """
    if not isinstance(pipeline, str | Path):
        return pipeline
    name = str(pipeline)
    if Path(name).suffix in PIPELINES:
        return open_scikit_learn(name, trust=trust).model
    if trust:
        raise InputError("trust has no effect without a pipeline file", got=name)
    if ":" in name:
        opened = PLACES.get(name)
        return PLACES.make(name) if isinstance(opened, type) else opened
    known = name.partition(".v")[0]
    if known in list(EXAMPLES):
        return EXAMPLES.get(name)
    if known in list(RECIPES):
        return RECIPES.make(name)
    raise UnknownNameError.of("pipeline", name, [*EXAMPLES, *RECIPES], fix="or module:function of your own")


def default_split(
    fit: Any, data: Dataset, *, shape: str | None = None, test: float | None = None, seed: int = 42
) -> Split | None:
    """A random split for a pipeline that needs one; None for one that makes its own."""
    if shape_of(fit, shape) == "own split":
        if test is not None:
            raise InputError(
                "test has no effect on a pipeline that makes its own split", fix="a setting of its own: --set test=0.15"
            )
        return None
    splitter = RandomSplit(DEFAULT_TEST if test is None else test, random_state=seed)
    params = {"test_size": splitter.test_size, "random_state": seed}
    return split_records(splitter, data, seed=seed, name="random", step="random.v1", params=params)[0]
