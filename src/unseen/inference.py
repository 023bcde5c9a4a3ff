"""The only place a classifier is called: in batches, its answers checked, its labels matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, MismatchError
from unseen.label_maps import rename_hint
from unseen.progress import track
from unseen.redaction import redacted
from unseen.types import Dataset, Origin, Predictions, bounded, some

BATCH = 1024
TOLERANCE = 1e-3
"""How far from one a row of probabilities may sum; such a row is rescaled."""


def predict(
    classifier: Any, data: Dataset, rows: npt.ArrayLike | None = None, *, batch: int = BATCH, work: str = "predict"
) -> Predictions:
    """What `classifier` says about these rows of `data`, with columns in the order of the data's labels.

    A classifier whose `classes_` is None answers with names: its `for_labels(label_names)` is asked instead.
    The origin names the model (its `source`, `name` or type) and says `hard` where a model gave labels only:
    such predictions have no ranking and no calibration. `work` is the name under which progress is reported.
    """
    if batch < 1:
        raise InputError("batch must be at least 1", got=repr(batch))
    classifier = ready(classifier, data.label_names)
    columns = matched(classifier.classes_, data.label_names)
    chosen = data if rows is None else data.take(np.asarray(rows, dtype=None if np.size(rows) else np.int64))
    probabilities = np.empty((len(chosen), len(columns)))
    depths = np.empty(len(chosen), np.int16) if hasattr(classifier, "predict_with_depth") else None
    starts = range(0, len(chosen), batch)
    for start in track(starts, work, len(starts)):
        ids = chosen.ids.slice(start, batch).to_pylist()
        texts = bounded(chosen.texts.slice(start, batch).to_pylist(), ids)
        answer = _ask(classifier, texts, len(columns), start, depths)
        probabilities[start : start + len(texts)] = answer[:, columns]
    params = {"model": name_of(classifier), "hard": bool(getattr(classifier, "hard", False))}
    origin = Origin("predict", params, inputs={"dataset": data.fingerprint})
    return Predictions(chosen.ids, probabilities, data.label_names, origin, depths)


def ready(classifier: Any, label_names: Sequence[str]) -> Any:
    """The classifier with its labels known; refuses what is none."""
    if getattr(classifier, "classes_", ()) is None and hasattr(classifier, "for_labels"):
        classifier = classifier.for_labels(label_names)
    _check_classifier(classifier)
    return classifier


def answers(classifier: Any, texts: Sequence[str], work: str | None = None) -> npt.NDArray[np.float64]:
    """What a classifier that is ready says about texts [texts, classes], its columns in the order of its own labels."""
    classes = len(classifier.classes_)
    probabilities = np.empty((len(texts), classes))
    starts = range(0, len(texts), BATCH)
    for start in starts if work is None else track(starts, work, len(starts)):
        some_texts = bounded(list(texts[start : start + BATCH]))
        probabilities[start : start + BATCH] = _ask(classifier, some_texts, classes, start)
    return probabilities


def name_of(classifier: Any) -> str:
    """What a classifier is called in records: its place without secrets, its `source` or `name`, or its type."""
    if isinstance(classifier, str | Path):
        return redacted(str(classifier))
    name = getattr(classifier, "source", None) or getattr(classifier, "name", None)
    return str(name or type(classifier).__name__)


def _check_classifier(classifier: Any) -> None:
    """Refuse an object without `predict_proba` or `classes_`."""
    lacking = [name for name in ("predict_proba", "classes_") if getattr(classifier, name, None) is None]
    if lacking or isinstance(classifier, type):
        raise InputError(
            "this is not a classifier" + (f": it has no {' and no '.join(lacking)}" if lacking else ", but a class"),
            expected="an object with predict_proba(texts) and classes_",
            got=repr(type(classifier).__name__ if not isinstance(classifier, type) else classifier.__name__),
            fix="unseen.models.open_model opens files, folders, functions and endpoints",
        )


def matched(classes: Sequence[Any], label_names: Sequence[str]) -> npt.NDArray[np.intp]:
    """The column of each label among the `classes` of a classifier, which may stand in any order."""
    names = [str(name) for name in classes]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise MismatchError("the classifier names a label twice", got=some(repeated))
    problems = [f"the classifier does not know the label {label!r}" for label in label_names if label not in names]
    problems += [f"the data does not declare the label {name!r}" for name in names if name not in label_names]
    if problems:
        raise MismatchError(
            "the labels of the classifier are not those of the data",
            problems=problems,
            expected=some(label_names, 20),
            got=some(names, 20),
            fix=f"{rename_hint(names, label_names)}; or labels=[…] when loading the data",
        )
    return np.asarray([names.index(label) for label in label_names], dtype=np.intp)


def _ask(
    classifier: Any, texts: list[str], classes: int, start: int, depths: npt.NDArray[np.int16] | None = None
) -> npt.NDArray[np.float64]:
    """The checked answer to one batch: [texts, classes], each row summing to one; `depths` is filled in."""
    name = name_of(classifier)
    if depths is None:
        answer = classifier.predict_proba(texts)
    else:
        answer, depths[start : start + len(texts)] = classifier.predict_with_depth(texts)
    try:
        probabilities = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"{name} did not answer with numbers", got=f"{type(answer).__name__}: {cause}") from cause
    if probabilities.shape != (len(texts), classes):
        raise InputError(
            f"{name} answered in the wrong shape",
            expected=f"{(len(texts), classes)}: a row per text, a column per label",
            got=str(probabilities.shape),
        )
    sums = probabilities.sum(axis=1)
    wrong = ~((probabilities >= 0).all(axis=1) & (np.abs(sums - 1) < TOLERANCE))  # NaN is neither, infinity not both
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} gave {int(wrong.sum())} rows that are not probabilities",
            expected="numbers from 0 to 1 that sum to one in each row",
            got=f"row {start + row}: {probabilities[row].tolist()}",
            fix="if these are scores, turn them into probabilities (e.g. softmax) in a function of yours",
        )
    return probabilities / sums[:, None]
