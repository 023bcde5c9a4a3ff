"""The datasets under common labels, each with its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen import api
from unseen.errors import InputError, UnknownNameError, UnseenError, hint
from unseen.runs.source import by_id
from unseen.runs.transfer_file import DatasetEntry
from unseen.splits.problem import given_certificate
from unseen.types import PARTS, Dataset, Split, some

DEV = 0.1
"""Share of the rows for validation, where the published split has none."""
LEFT_OUT = ("", "drop")
USED = ("train", "dev", "test")
MERGED, MAJORITY, CAPPED = "merged", "majority", " capped"
OTHERS, ALL, OWN = "the others", "all tests", "its own"
RESERVED = (MERGED, MAJORITY, OTHERS, ALL, OWN, f"{MERGED}{CAPPED}")
"""Names in the tables that no dataset may have."""
WITHOUT = "without overlap"
"""The slice of test texts that stand in no training set concerned."""


@dataclass(frozen=True, eq=False)
class Member:
    """One dataset under the labels of all, in the order of its ids."""

    name: str
    data: Dataset
    parts: Split
    entry: DatasetEntry
    left_out: Mapping[str, int]
    """Texts of labels that are left out, by label."""

    def rows(self, part: str) -> npt.NDArray[np.intp]:
        """Rows of one part."""
        return self.parts.rows(part)


def members(
    entries: Mapping[str, DatasetEntry],
    labels: Sequence[str] | None,
    *,
    also: Sequence[str] = (),
    test: float = 0.2,
    seed: int = 42,
) -> list[Member]:
    """The datasets, loaded, relabelled and split; whatever is wrong with any of them is told at once."""
    problems: list[str] = _wrong_names(list(entries))
    loaded: dict[str, Dataset] = {}
    for name, entry in entries.items():
        with _noted(f"{name}:", problems):
            loaded[name] = entry.data(name, also)
    _refuse(problems)
    named = shared_labels(loaded, entries) if labels is None else _declared(labels)
    for name, data in loaded.items():
        problems += label_problems(name, data, entries[name].map, named)
    _refuse(problems)
    found = []
    for name, data in loaded.items():
        with _noted(f"{name}:", problems):
            found.append(_member(name, data, entries[name], named, test, seed))
    _refuse(problems)
    return found


def shared_labels(loaded: Mapping[str, Dataset], entries: Mapping[str, DatasetEntry]) -> tuple[str, ...]:
    """The labels of the first dataset, which all others must have, when nobody declares any."""
    first = next(iter(loaded.values())).label_names
    differing = [name for name, data in loaded.items() if set(data.label_names) != set(first)]
    if differing or any(entry.map for entry in entries.values()):
        raise InputError(
            "the datasets have other labels than each other" if differing else "a map needs the labels it maps to",
            problems=[f"{name}: {some(data.label_names, 20)}" for name, data in loaded.items()],
            fix="declare the labels and say what each of theirs is, in a TOML file: --label-map FILE",
        )
    return first


def label_problems(name: str, data: Dataset, renamed: Mapping[str, str], labels: Sequence[str]) -> list[str]:
    """What a map of labels leaves unsaid or says wrongly."""
    found = []
    for theirs, ours in renamed.items():
        if theirs not in data.label_names:
            found.append(f"{name}: it has no label {theirs!r}{hint(theirs, data.label_names)}")
        if ours not in (*labels, *LEFT_OUT):
            found.append(f"{name}: {theirs!r} is mapped to {ours!r}, which is no label here{hint(ours, labels)}")
    for theirs in data.label_names:
        if theirs not in renamed and theirs not in labels:
            count = data.label_counts[theirs]
            found.append(f"{name}: nobody says what its label {theirs!r} ({count:,} texts) is here; or 'drop' it")
    return found


def relabelled(data: Dataset, renamed: Mapping[str, str], labels: Sequence[str]) -> tuple[Dataset, dict[str, int]]:
    """`data` under `labels` without the texts of labels that are left out, and how many those are."""
    said = {name: renamed.get(name, name) for name in data.label_names}
    left_out = {name: data.label_counts[name] for name, ours in said.items() if ours in LEFT_OUT}
    places = np.array([-1 if name in left_out else list(labels).index(said[name]) for name in data.label_names])
    codes = places[data.labels].astype(np.int32)
    column = pa.DictionaryArray.from_arrays(pa.array(np.maximum(codes, 0)), pa.array(list(labels), pa.string()))
    table = data.table.set_column(2, "label", pa.chunked_array([column]))
    made = replace(data, table=table, label_names=tuple(labels))
    return made.take(np.flatnonzero(codes >= 0)) if left_out else made, left_out


def _member(name: str, data: Dataset, entry: DatasetEntry, labels: Sequence[str], test: float, seed: int) -> Member:
    ours, left_out = relabelled(by_id(data), entry.map, labels)
    if entry.groups is not None:
        ours.attribute(entry.groups)
    if entry.split is None:
        parts = api.split(ours, "random", test=test, dev=DEV, groups=entry.groups, seed=seed, name=name)
    else:
        parts = _published(data, ours, entry.split, name, seed)
    _refuse_empty(ours, parts)
    return Member(name, ours, parts, entry, left_out)


def _published(data: Dataset, ours: Dataset, split: str | Path, name: str, seed: int) -> Split:
    """The published split of the rows that are left; a tenth of its training rows validate where nothing does."""
    parts = api.split(data, "predefined", by=split, name=name)
    if "dev" not in parts.sizes:
        parts = api.split(data, "predefined", by=split, dev=max(1, parts.sizes["train"] // 10), seed=seed, name=name)
    places = pc.index_in(ours.ids, value_set=data.ids).to_numpy(zero_copy_only=False).astype(np.intp)
    kept = parts.parts[places]
    test = given_certificate(kept == PARTS.index("test"), np.array(ours.label_names)[ours.labels])
    return replace(
        parts, ids=ours.ids, parts=kept, clusters=parts.clusters[places], certificate=test, dataset=ours.fingerprint
    )


def _refuse_empty(data: Dataset, parts: Split) -> None:
    counts = {part: data.take(parts.rows(part)).label_counts for part in USED}
    lacking = [label for label, n in counts["train"].items() if not n]
    if lacking:
        raise InputError(f"no text to train on has the label {some(lacking)}")
    empty = [part for part in USED if not sum(counts[part].values())]
    if empty:
        raise InputError(f"no texts are left for {some(empty)}")


def _declared(labels: Sequence[str]) -> tuple[str, ...]:
    wrong = [name for name in labels if name.strip() in LEFT_OUT]
    if wrong or len(set(labels)) < max(2, len(labels)):
        raise InputError(
            "the labels cannot be told apart", expected="two or more different names, none of them 'drop'",
            got=some(map(repr, labels)),
        )  # fmt: skip
    return tuple(labels)


def _wrong_names(names: Sequence[str]) -> list[str]:
    if len(names) < 2:
        raise InputError("one dataset has nowhere to go", expected="two or more", got=some(names) if names else "none")
    return [f"{name}: that name has a meaning of its own in the tables" for name in names if name in RESERVED]


@contextmanager
def _noted(place: str, problems: list[str]) -> Iterator[None]:
    """What goes wrong inside becomes one more problem."""
    try:
        yield
    except UnseenError as cause:
        problems.append(f"{place} " + "; ".join([cause.message, *cause.problems]))


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise InputError("the datasets cannot be used as they are", problems=problems)


def check_positive(positive: str | None, labels: Sequence[str]) -> None:
    """Refuse a positive label that is none."""
    if positive is not None and positive not in labels:
        raise UnknownNameError.of("label", positive, labels)
