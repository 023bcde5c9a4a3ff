"""From a dataset and a splitter to split records: parts set aside, groups kept whole, rows by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.groups import alone, group_codes, holds_links
from unseen.errors import InputError
from unseen.seeding import child_seed
from unseen.splits.attribute import described
from unseen.splits.holdout import Choice
from unseen.splits.quotas import rows_asked
from unseen.splits.random import RandomSplit
from unseen.types import PARTS, Dataset, Origin, Split

TRAIN, DEV, TEST, INDEPENDENT = map(PARTS.index, ("train", "dev", "test", "independent"))
DECISIVE = ("unseen", "numpy", "scikit-learn", "ortools", "numba")


@dataclass(frozen=True, eq=False)
class Request:
    """What to split, and what to keep apart besides the test part. Sizes are shares of all rows, or rows."""

    data: Dataset
    X: Any
    """What the splitter reads, in the row order of `data`; None when it reads nothing."""
    groups: str | None = None
    """Attribute whose values must not be on both sides of anything."""
    dev: float = 0
    independent: float | npt.NDArray[np.bool_] = 0
    """A mask in the row order of `data` names the very rows."""
    seed: int = 42
    name: str = "split"
    step: str = "split"
    params: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)


def partition(request: Request, splitter: Any) -> list[Split]:
    """One split per test part that `splitter` chooses.

    Rows are handled in the order of their ids, so the order of the file decides nothing.
    """
    data = request.data
    by_id = pc.sort_indices(data.ids).to_numpy().astype(np.intp)
    labels = np.array(data.label_names)[data.labels[by_id]]
    groups = None if request.groups is None else group_values(data, request.groups)[by_id]
    if isinstance(request.independent, np.ndarray):
        aside = _asked_aside(request.independent, len(data))[by_id]
    else:
        aside = _drawn(request, "independent", request.independent, labels, groups, np.ones(len(data), bool))
    rest = np.flatnonzero(~aside)
    X = None if request.X is None else _take(request.X, by_id[rest])
    choices = _choices(splitter, X, labels[rest], None if groups is None else groups[rest])
    made = []
    for number, choice in enumerate(choices, start=1):
        parts = np.full(len(data), TRAIN, np.int8)
        parts[aside] = INDEPENDENT
        parts[rest[choice.test]] = TEST
        if choice.dev is not None:
            parts[rest[choice.dev]] = DEV
        if choice.unused is not None:
            parts[rest[choice.unused]] = INDEPENDENT
        parts[_drawn(request, "dev", request.dev, labels, groups, parts == TRAIN)] = DEV
        clusters = np.full(len(data), -1, np.int32)
        clusters[rest] = choice.clusters
        made.append(_record(request, number if len(choices) > 1 else None, by_id, parts, clusters, choice))
    return made


def _choices(splitter: Any, X: Any, labels: npt.NDArray[Any], groups: npt.NDArray[Any] | None) -> list[Choice]:
    """The choices of one of our splitters, or those of anything that speaks scikit-learn's protocol."""
    if hasattr(splitter, "folds"):
        return list(splitter.folds(X, labels, groups))
    choices = []
    for train, test in splitter.split(np.zeros(len(labels)) if X is None else X, labels, groups):
        chosen, unused = np.zeros(len(labels), bool), np.ones(len(labels), bool)
        chosen[test] = True
        unused[test] = unused[train] = False
        choices.append(Choice(chosen, np.full(len(labels), -1, np.int32), described(chosen, labels), None, unused))
    return choices


def _drawn(
    request: Request,
    part: str,
    size: float,
    labels: npt.NDArray[Any],
    groups: npt.NDArray[Any] | None,
    among: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """A random, stratified share of all rows, taken from those `among`; whole groups."""
    drawn = np.zeros(len(labels), bool)
    if size:
        rows = np.flatnonzero(among)
        asked = rows_asked(rows_asked(size, len(labels), part), len(rows), part)
        draw = RandomSplit(asked, random_state=child_seed(request.seed, part))
        chosen = draw.folds(None, labels[rows], None if groups is None else groups[rows])[0]
        drawn[rows[chosen.test]] = True
    return drawn


def _asked_aside(mask: npt.NDArray[Any], rows: int) -> npt.NDArray[np.bool_]:
    if mask.dtype != np.bool_ or mask.shape != (rows,) or mask.all():
        raise InputError(
            "the rows to set aside are not named by a mask",
            expected=f"{rows} values True or False, not all True",
            got=f"{mask.dtype} {mask.shape}",
        )
    return mask


def _record(
    request: Request,
    number: int | None,
    by_id: npt.NDArray[np.intp],
    parts: npt.NDArray[np.int8],
    clusters: npt.NDArray[np.int32],
    choice: Choice,
) -> Split:
    data = request.data
    in_file_order = np.empty(len(by_id), np.intp)
    in_file_order[by_id] = np.arange(len(by_id))
    certificate = choice.certificate
    if set(certificate.got) <= set(data.label_names):
        certificate = replace(
            certificate,
            asked={name: certificate.asked[name] for name in data.label_names if name in certificate.asked},
            got={name: certificate.got[name] for name in data.label_names if name in certificate.got},
        )
    if certificate.groups is not None:
        certificate = replace(certificate, groups={"attribute": request.groups, **certificate.groups})
    return Split(
        name=request.name if number is None else f"{request.name}-{number}",
        ids=data.ids,
        parts=parts[in_file_order],
        clusters=clusters[in_file_order],
        certificate=certificate,
        dataset=data.fingerprint,
        origin=Origin(
            request.step,
            dict(request.params),
            request.seed,
            {"dataset": data.fingerprint, **request.inputs},
            versions(),
        ),
    )


def _take(values: Any, rows: npt.NDArray[np.intp]) -> Any:
    if isinstance(values, list):
        return [values[row] for row in rows]
    return values[rows]


def group_values(data: Dataset, attribute: str) -> npt.NDArray[Any]:
    """One group per row; refuses attributes with several values in a row.

    Rows whose values are ids of other rows are in the group of those, named by its first id.
    """
    values = data.attribute(attribute)
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        raise InputError(
            f"the attribute {attribute!r} has several values per row, so it does not group rows",
            expected="an attribute with one value per row, such as an author",
        )
    if not holds_links(data, attribute):
        return np.asarray(values.to_pylist(), dtype=object)
    by_id = pc.sort_indices(data.ids).to_numpy().astype(np.intp)
    codes = alone(group_codes(data, attribute, links=True))[by_id]
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    named = np.empty(len(data), dtype=object)
    named[by_id] = np.asarray(data.ids.to_pylist(), dtype=object)[by_id[first[place.reshape(-1)]]]
    return named


def word_lengths(data: Dataset) -> npt.NDArray[np.int64]:
    """Words per text."""
    words = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(data.texts))
    return pc.list_value_length(words).to_numpy(zero_copy_only=False).astype(np.int64)


def versions() -> dict[str, str]:
    """Versions of the packages that decide a split."""
    found = {}
    for package in DECISIVE:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
