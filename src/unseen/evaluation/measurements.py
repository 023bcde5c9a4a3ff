"""Predictions to measurements: any metric, any part, any slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, MismatchError
from unseen.evaluation.bootstrap import DRAWS
from unseen.evaluation.intervals import Interval, interval, wilson
from unseen.evaluation.metrics import METRICS, Metric, metric
from unseen.types import Dataset, Measurement, Predictions, Split, some
from unseen.types.arrays import Floats, Mask, Rows, is_list

DEFAULT_METRICS = ("accuracy", "f1.macro", "f1.dodrans", "f1.weighted")
NEED_PROBABILITIES = ("roc_auc", "average_precision", "log_loss", "brier", "ece")


def measure(
    data: Dataset,
    predictions: Predictions,
    rows: Rows,
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
    group = groups_of_rows(data, rows, groups)
    measurements = []
    for slice_, places in places_by_slice(data, rows, slices):
        gold, p = data.labels[rows[places]], probabilities[places]
        own_group = None if group is None else group[places]
        for one in chosen:
            value = one(gold, p, data.label_names)
            bounds = Interval(None, None)
            if value is not None and len(gold) > 1:
                bounds = interval(one, gold, p, data.label_names, groups=own_group, draws=draws, seed=seed)
            n = len(gold) if value is not None else 0
            own_tags = {**(tags or {}), **bounds.tags}
            measurements.append(Measurement(one.id, value, n, bounds.low, bounds.high, slice_, own_tags))
    return measurements


def share(metric: str, count: int, n: int, tags: Mapping[str, Any] | None = None, slice: str = "all") -> Measurement:
    """A share with Wilson's 95 % interval; no value of nothing."""
    tags = dict(tags or {})
    if not n:
        return Measurement(metric, None, 0, slice=slice, tags=tags)
    return Measurement(metric, count / n, n, *wilson(count, n), slice, tags)


def share_of(metric: str, where: Mask, tags: Mapping[str, Any] | None = None, slice: str = "all") -> Measurement:
    """The share of true values, with Wilson's 95 % interval."""
    return share(metric, int(where.sum()), len(where), tags, slice)


def by_part(
    data: Dataset,
    split: Split | None,
    predictions: Sequence[Predictions],
    measured: Callable[[Rows, dict[str, str]], list[Measurement]],
) -> list[Measurement]:
    """What is measured on each part of which some row has all the predictions; without a split, on all rows."""
    if split is None:
        return measured(np.arange(len(data)), {})
    split = split.of(data)
    known = np.logical_and.reduce([pc.is_in(data.ids, value_set=model.ids).to_numpy() for model in predictions])
    parts = [part for part in split.sizes if part != "unused" and known[split.rows(part)].any()]
    if not parts:
        lacking = "a prediction" if len(predictions) == 1 else "both predictions"
        raise InputError(f"no row of the split has {lacking}", expected="ids of the data in the predictions")
    for model in predictions:
        refuse_missing(data, model, np.sort(np.concatenate([split.rows(part) for part in parts])))
    return [row for part in parts for row in measured(split.rows(part), {"split": split.name, "part": part})]


def checked(name: str, predictions: Predictions) -> Metric:
    """The metric of that id; refuses one that needs probabilities when there are only labels."""
    if predictions.origin.params.get("hard") and name.partition(".")[0].partition("[")[0] in NEED_PROBABILITIES:
        raise InputError(f"{name} needs probabilities, but these predictions are labels", fix=f"one of {some(METRICS)}")
    return metric(name)


def aligned(data: Dataset, predictions: Predictions, rows: Rows) -> Floats:
    """Probabilities of `rows`, matched by id and by label name."""
    if set(predictions.label_names) != set(data.label_names):
        raise MismatchError(
            "the predictions are for other labels", expected=some(data.label_names), got=some(predictions.label_names)
        )
    places = pc.index_in(data.ids.take(pa.array(rows)), value_set=predictions.ids)
    if places.null_count:
        refuse_missing(data, predictions, rows)
    columns = [predictions.label_names.index(name) for name in data.label_names]
    return predictions.probabilities[places.to_numpy(zero_copy_only=False)][:, columns]


def refuse_missing(data: Dataset, predictions: Predictions, rows: Rows) -> None:
    """Refuse predictions that lack some of `rows`, and say which ids of theirs are of no row."""
    ids = data.ids.take(pa.array(rows))
    lacking = ids.filter(pc.invert(pc.is_in(ids, value_set=predictions.ids))).to_pylist()
    if not lacking:
        return
    predicted = predictions.ids.cast(data.ids.type)
    strange = predicted.filter(pc.invert(pc.is_in(predicted, value_set=data.ids))).to_pylist()
    problems = [f"no prediction has the id of the row {lacking[0]!r}"]
    if strange:
        share = f"{len(strange):,} of {len(predicted):,} predictions have ids of no row"
        problems.append(f"{share}, such as {strange[0]!r}")
    raise MismatchError(
        f"{len(lacking)} of {len(rows)} rows have no prediction",
        problems=problems,
        fix="name the column of the data that holds the ids of the predictions: id=…"
        if strange
        else "predict these rows too, or leave them out of the data",
    )


def rows_of(data: Dataset, predictions: Predictions) -> Rows:
    """The rows of `data` that predictions are about, in row order."""
    return np.flatnonzero(pc.is_in(data.ids, value_set=predictions.ids.cast(data.ids.type).combine_chunks()))


def places_by_slice(data: Dataset, rows: Rows, attributes: Sequence[str]) -> Iterator[tuple[str, Rows]]:
    """Names of slices and the places of their rows in `rows`; first of all, all of them."""
    yield "all", np.arange(len(rows))
    for attribute in attributes:
        places: dict[str, list[int]] = {}
        for place, values in enumerate(data.attribute(attribute).take(pa.array(rows)).to_pylist()):
            for value in values if isinstance(values, list) else [values]:
                places.setdefault("(none)" if value is None else str(value), []).append(place)
        for name in sorted(places):
            yield f"{attribute}={name}", np.array(places[name])


def groups_of_rows(data: Dataset, rows: Rows, attribute: str | None) -> Rows | None:
    """The group of each of `rows`, which a bootstrap draws whole: see `drawn_groups`; None without an attribute."""
    return None if attribute is None else drawn_groups(data.attribute(attribute))[rows]


def drawn_groups(values: pa.ChunkedArray) -> Rows:
    """A number per row, equal for equal values: what is drawn together. A row without a value stands alone."""
    if is_list(values.type):
        raise InputError("groups must have one value per row", got=str(values.type))
    names = [
        f"row {row}" if value is None or value == "" or value != value else f"value {value}"
        for row, value in enumerate(values.to_pylist())
    ]
    return np.unique(np.array(names, dtype=np.str_), return_inverse=True)[1].reshape(-1)
