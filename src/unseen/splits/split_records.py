"""From a dataset and a splitter to split records: parts set aside, groups kept whole, rows by id."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.data.groups import NONE, alone, group_codes, holds_links
from unseen.errors import InfeasibleError, InputError, UnseenWarning
from unseen.seeding import child_seed, generator
from unseen.splits.problem import Choice, pose
from unseen.splits.quotas import rows_asked
from unseen.types import DEV, INDEPENDENT, TEST, TRAIN, Certificate, Dataset, Origin, Split, some
from unseen.types.arrays import Mask, Rows, is_list
from unseen.types.records import versions


def split_records(
    splitter: Any,
    data: Dataset,
    X: Any = None,
    *,
    groups: str | None = None,
    dev: float = 0,
    independent: float | Mask = 0,
    seed: int = 42,
    name: str = "split",
    step: str = "split",
    params: Mapping[str, Any] | None = None,
    inputs: Mapping[str, str] | None = None,
) -> list[Split]:
    """One split per test part that `splitter` chooses.

    `X` is what the splitter reads, in the row order of `data`; None when it reads nothing. `groups` is the attribute
    whose values must not be on both sides of anything. `dev` and `independent` are shares of all rows, or rows; a
    mask in the row order of `data` names the very rows that are `independent`. `step`, `params` and `inputs` go into
    the origin. Rows are handled in the order of their ids, so the order of the file decides nothing.
    """
    by_id = data.by_id
    labels = np.array(data.label_names)[data.labels[by_id]]
    group_of = None if groups is None else group_values(data, groups)[by_id]

    noted: dict[str, str] = {}

    def drawn(part: str, size: float, among: Mask) -> Mask:
        """A random, stratified share of all rows, taken from those `among`; whole groups."""
        chosen = np.zeros(len(data), bool)
        if size:
            rows = np.flatnonzero(among)
            asked = rows_asked(rows_asked(size, len(data), part), len(rows), part)
            groups_there = None if group_of is None else group_of[rows]
            there, noted[part] = random_part(part, asked, labels[rows], groups_there, child_seed(seed, part))
            chosen[rows[there]] = True
        return chosen

    if isinstance(independent, np.ndarray):
        aside = _checked_mask(independent, len(data))[by_id]
    else:
        aside = drawn("independent", independent, np.ones(len(data), bool))
    rest = np.flatnonzero(~aside)
    values = None if X is None else _take(X, by_id[rest])
    choices = _choices(splitter, values, labels[rest], None if group_of is None else group_of[rest])
    origin = Origin(step, dict(params or {}), seed, {"dataset": data.fingerprint, **(inputs or {})}, versions())
    splits = []
    for number, choice in enumerate(choices, start=1):
        parts = np.full(len(data), TRAIN, np.int8)
        parts[aside] = INDEPENDENT
        parts[rest[choice.test]] = TEST
        if choice.dev is not None:
            parts[rest[choice.dev]] = DEV
        if choice.unused is not None:
            parts[rest[choice.unused]] = INDEPENDENT
        parts[drawn("dev", dev, parts == TRAIN)] = DEV
        choice = choice.amended(*filter(None, noted.values()))
        clusters = np.full(len(data), -1, np.int32)
        clusters[rest] = choice.clusters
        in_file_order = np.argsort(by_id)
        splits.append(
            Split(
                name=f"{name}-{number}" if len(choices) > 1 else name,
                ids=data.ids,
                parts=parts[in_file_order],
                clusters=clusters[in_file_order],
                certificate=_in_words_of(data, choice.certificate, groups),
                dataset=data.fingerprint,
                origin=origin,
            )
        )
    return splits


def random_rows(
    data: Dataset, part: str, size: float, *, groups: str | None = None, seed: int = 42
) -> tuple[Mask, str]:
    """Random rows of `data` for a part that is not tested on, in the order of `data`; and what `random_part` notes."""
    by_id = data.by_id
    labels = np.array(data.label_names)[data.labels[by_id]]
    group_of = None if groups is None else group_values(data, groups)[by_id]
    chosen, note = random_part(part, rows_asked(size, len(data), part), labels, group_of, seed)
    return chosen[np.argsort(by_id)], note


def random_part(
    part: str, rows: int, labels: npt.NDArray[Any], groups: npt.NDArray[Any] | None, seed: int
) -> tuple[Mask, str]:
    """So many random rows with the class mix of all, in whole groups.

    What is set aside, or stopped by, need not have rows of each class: where it cannot, a note says so.
    """
    note = ""
    try:
        problem = pose(labels, groups, len(labels), test_size=rows)
    except InfeasibleError:
        if np.unique(labels, return_counts=True)[1].max() < 2:
            raise
        problem = pose(labels, groups, len(labels), test_size=rows, every_class=False)
        if lacking := int((problem.quota == 0).sum()):
            few = "it is too small for all, or they have one row"
            note = f"the {part} part of {rows:,} rows has none of {lacking:,} of {len(problem.quota):,} classes: {few}"
    filled = problem.fill(problem.quota, generator(seed, "random").permutation(problem.n_units))
    return problem.rows_in(filled.chosen), note


def _choices(splitter: Any, X: Any, labels: npt.NDArray[Any], groups: npt.NDArray[Any] | None) -> list[Choice]:
    """The choices of one of our splitters, or those of anything that speaks scikit-learn's protocol."""
    if hasattr(splitter, "folds"):
        return list(splitter.folds(X, labels, groups))
    choices = []
    for train, test in splitter.split(np.zeros(len(labels)) if X is None else X, labels, groups):
        chosen, unused = np.zeros(len(labels), bool), np.ones(len(labels), bool)
        chosen[test] = True
        unused[test] = unused[train] = False
        choices.append(Choice.given(chosen, labels, unused=unused))
    return choices


def _in_words_of(data: Dataset, certificate: Certificate, groups: str | None) -> Certificate:
    """The certificate with labels in the declared order, and the name of the attribute that groups rows."""
    if set(certificate.got) <= set(data.label_names):
        asked, got = (
            {name: counts[name] for name in data.label_names if name in counts}
            for counts in (certificate.asked, certificate.got)
        )
        certificate = replace(certificate, asked=asked, got=got)
    if certificate.groups is not None:
        certificate = replace(certificate, groups={"attribute": groups, **certificate.groups})
    return certificate


def _checked_mask(mask: npt.NDArray[Any], rows: int) -> Mask:
    if mask.dtype != np.bool_ or mask.shape != (rows,) or mask.all():
        raise InputError(
            "the rows to set aside are not named by a mask",
            expected=f"{rows} values True or False, not all True",
            got=f"{mask.dtype} {mask.shape}",
        )
    return mask


def _take(values: Any, rows: Rows) -> Any:
    if isinstance(values, list):
        return [values[row] for row in rows]
    return values[rows]


def group_values(data: Dataset, attribute: str) -> npt.NDArray[Any]:
    """One group per row; refuses attributes with several values in a row, or with none in any.

    Rows without a value are groups of their own, and a warning says so. Rows whose values are ids of other rows are in
    the group of those, named by its first id.
    """
    values = data.attribute(attribute)
    if is_list(values.type):
        raise InputError(
            f"the attribute {attribute!r} has several values per row, so it does not group rows",
            expected="an attribute with one value per row, such as an author",
        )
    if not holds_links(data, attribute):
        return _own_groups(data, attribute, np.asarray(values.to_pylist(), dtype=object))
    by_id = data.by_id
    codes = alone(group_codes(data, attribute, links=True))[by_id]
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    named = np.empty(len(data), dtype=object)
    named[by_id] = np.asarray(data.ids.to_pylist(), dtype=object)[by_id[first[place.reshape(-1)]]]
    return named


def _own_groups(data: Dataset, attribute: str, named: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """`named` with a group of its own for each row that has none."""
    missing = np.flatnonzero(group_codes(data, attribute) == NONE)
    ids = data.ids.take(pa.array(missing)).to_pylist()
    if len(missing) == len(data):
        raise InputError(f"no row has a value in {attribute!r}: there are no groups", fix="name another column")
    if ids:
        named[missing] = [f"{name} (no {attribute})" for name in ids]
        warning = f"{len(ids):,} rows have no {attribute}, each is a group of its own: {some(ids)}"
        warnings.warn(warning, UnseenWarning, stacklevel=2)
    return named


def dealt(data: Dataset, folds: int, seed: int, groups: str | None = None) -> Rows:
    """The fold of each row: distinct texts of one label (that of their first id) dealt out in random order.

    With `groups`, what is dealt out are the values of that attribute. The order of rows decides nothing.
    """
    by_id = data.by_id
    units = (data.texts if groups is None else data.attribute(groups)).take(pa.array(by_id)).combine_chunks()
    codes = units.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False)
    first = np.unique(codes, return_index=True)[1]  # codes are 0, 1, …: the place in `first` is the code
    labels = data.labels[by_id[first]]
    shuffled = generator(seed, "folds").permutation(len(first))
    of_text = np.empty(len(first), np.intp)
    of_text[shuffled[np.argsort(labels[shuffled], kind="stable")]] = np.arange(len(first)) % folds
    fold = np.empty(len(data), np.intp)
    fold[by_id] = of_text[codes]
    return fold
