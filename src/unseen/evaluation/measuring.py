"""Predictions to measurements: any metric, any part, any slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, MismatchError
from unseen.evaluation.intervals import DRAWS, Interval, interval
from unseen.evaluation.metrics import METRICS, Floats, Metric, metric
from unseen.types import Dataset, Measurement, Predictions, some

DEFAULT_METRICS = ("accuracy", "f1.macro", "f1.dodrans", "f1.weighted")
NEED_PROBABILITIES = ("roc_auc", "average_precision", "log_loss", "brier", "ece")


def measure(
    data: Dataset,
    predictions: Predictions,
    rows: npt.NDArray[np.intp],
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    slices: Sequence[str] = (),
    groups: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """Each metric on `rows`, then on each slice of them, with bootstrap intervals.

    `slices` are attributes; rows with several values belong to several slices. `groups` is the attribute
    whose values are drawn together in the bootstrap. Where no interval would hold there is none, and the tag
    `few_groups`, `few_rows` or `no_spread` says why.
    """
    chosen = [checked(name, predictions) for name in metrics]
    probabilities = aligned(data, predictions, rows)
    units = None if groups is None else unit_codes(data.attribute(groups))[rows]
    found = []
    for name, where in places_by_slice(data, rows, slices):
        gold, p = data.labels[rows[where]], probabilities[where]
        for each in chosen:
            value = each(gold, p, data.label_names)
            grouped = None if units is None else units[where]
            bounds = Interval(None, None)
            if value is not None and len(gold) > 1:
                bounds = interval(each, gold, p, data.label_names, groups=grouped, draws=draws, seed=seed)
            n = len(gold) if value is not None else 0
            found.append(Measurement(each.id, value, n, bounds.low, bounds.high, name, {**(tags or {}), **bounds.tags}))
    return found


def checked(name: str, predictions: Predictions) -> Metric:
    """The metric of that id; refuses one that needs probabilities when there are only labels."""
    if predictions.origin.params.get("hard") and name.partition(".")[0].partition("[")[0] in NEED_PROBABILITIES:
        raise InputError(f"{name} needs probabilities, but these predictions are labels", fix=f"one of {some(METRICS)}")
    return metric(name)


def aligned(data: Dataset, predictions: Predictions, rows: npt.NDArray[np.intp]) -> Floats:
    """Probabilities of `rows`, matched by id and by label name."""
    if set(predictions.label_names) != set(data.label_names):
        raise MismatchError(
            "the predictions are for other labels", expected=some(data.label_names), got=some(predictions.label_names)
        )
    ids = data.ids.take(pa.array(rows))
    at = pc.index_in(ids, value_set=predictions.ids)
    if at.null_count:
        lacking = ids.filter(at.is_null()).to_pylist()
        raise MismatchError(f"{len(lacking)} of {len(rows)} rows have no prediction", got=f"ids {some(lacking)}")
    columns = [predictions.label_names.index(name) for name in data.label_names]
    return predictions.probabilities[at.to_numpy(zero_copy_only=False)][:, columns]


def rows_of(data: Dataset, predictions: Predictions) -> npt.NDArray[np.intp]:
    """The rows of `data` that predictions are about, in row order."""
    return np.flatnonzero(pc.is_in(data.ids, value_set=predictions.ids.cast(data.ids.type).combine_chunks()))


def places_by_slice(
    data: Dataset, rows: npt.NDArray[np.intp], attributes: Sequence[str]
) -> Iterator[tuple[str, npt.NDArray[np.intp]]]:
    """Names of slices and the places of their rows in `rows`; first of all, all of them."""
    yield "all", np.arange(len(rows))
    for attribute in attributes:
        places: dict[str, list[int]] = {}
        for place, value in enumerate(data.attribute(attribute).take(pa.array(rows)).to_pylist()):
            for each in value if isinstance(value, list) else [value]:
                places.setdefault("(none)" if each is None else str(each), []).append(place)
        for value in sorted(places):
            yield f"{attribute}={value}", np.array(places[value])


def unit_codes(values: pa.ChunkedArray) -> npt.NDArray[np.intp]:
    """A number per row, equal for equal values: what is drawn together. A row without a value stands alone."""
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        raise InputError("groups must have one value per row", got=str(values.type))
    known = enumerate(values.to_pylist())
    named = [f"row {row}" if each is None or each == "" or each != each else f"value {each}" for row, each in known]
    return np.unique(np.array(named, dtype=np.str_), return_inverse=True)[1].reshape(-1)
