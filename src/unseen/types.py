"""The records that flow through unseen: frozen, checked when made, arrays read-only.

::

    Dataset ──> Embeddings ──> Split ──> Predictions ──> Measurement
                                    └──> Explanation     Finding

Each carries an Origin: how it was made, from what, with which seed and versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, MismatchError, UnknownNameError, VectorsError

PARTS = ("train", "dev", "test", "independent")
"""Where a row of a split can be. `independent` is set aside before the split and takes no part in it."""

ROWS_AT_ONCE = 65_536
"""Rows handled together wherever a whole column would be too large to copy."""


@dataclass(frozen=True)
class Origin:
    """How a record was made."""

    step: str
    """Name of the verb or method, e.g. `closest.v1`."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Resolved settings."""
    seed: int | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of the records it was made from, by role."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the packages that decide the result."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled texts. The order of labels is declared, not observed."""

    name: str
    table: pa.Table
    """Columns `id`, `text`, `label` (dictionary in the order of `label_names`), then the attributes."""
    label_names: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    """Metadata columns; a multi-valued one holds lists of strings."""
    origin: Origin = field(default_factory=lambda: Origin("given"))

    def __post_init__(self) -> None:
        wanted = ["id", "text", "label", *self.attributes]
        if self.table.column_names != wanted:
            raise InputError("a Dataset's columns are wrong", expected=str(wanted), got=str(self.table.column_names))
        for name, right in (("id", _is_text), ("text", _is_text), ("label", pa.types.is_dictionary)):
            if not right(self.table.schema.field(name).type):
                raise InputError(f"the column {name!r} has the wrong type", got=str(self.table.schema.field(name).type))
            if self.table[name].null_count:
                raise InputError(f"{self.table[name].null_count} rows have no {name}")
        if len(set(self.label_names)) < len(self.label_names):
            raise InputError("label names repeat", got=str(self.label_names))
        refuse_repeats(self.ids)
        for chunk in self.table["label"].chunks:
            if tuple(chunk.dictionary.to_pylist()) != self.label_names:
                raise InputError("the label column does not use the declared label names")

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def ids(self) -> pa.ChunkedArray:
        """Identifiers, in row order."""
        return self.table["id"]

    @cached_property
    def order(self) -> str:
        """Hash of the ids in their row order: equal for two datasets whose rows stand in the same places."""
        digest = hashlib.sha256()
        for (ids,) in self.batches("id"):
            digest.update("".join(f"{len(each)}:{each}" for each in ids).encode())
        return digest.hexdigest()[:32]

    @property
    def texts(self) -> pa.ChunkedArray:
        """Texts, in row order."""
        return self.table["text"]

    @cached_property
    def labels(self) -> npt.NDArray[np.int32]:
        """Position of each row's label in `label_names`."""
        chunks = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in self.table["label"].chunks]
        return frozen(np.concatenate(chunks) if chunks else np.empty(0), np.int32)

    @cached_property
    def label_counts(self) -> dict[str, int]:
        """Rows per label, in declared order."""
        counts = np.bincount(self.labels, minlength=len(self.label_names))
        return dict(zip(self.label_names, counts.tolist(), strict=True))

    def attribute(self, name: str) -> pa.ChunkedArray:
        """The column of one attribute."""
        if name not in self.attributes:
            raise UnknownNameError.of(
                "attribute", name, self.attributes, fix=f"name the column when loading: attributes=[{name!r}]"
            )
        return self.table[name]

    def batches(self, *columns: str) -> Iterator[tuple[list[Any], ...]]:
        """The named columns as Python lists, some thousand rows at a time."""
        for batch in self.table.select(columns).to_batches(max_chunksize=ROWS_AT_ONCE):
            yield tuple(column.to_pylist() for column in batch.columns)

    def take(self, rows: npt.ArrayLike) -> Dataset:
        """The dataset of these row positions, in this order."""
        positions = np.asarray(rows)
        if len(positions) and positions.dtype.kind not in "iu":
            raise InputError("take needs row positions", got=f"dtype {positions.dtype}", fix="numpy.flatnonzero(mask)")
        return replace(self, table=self.table.take(pa.array(positions.astype(np.int64))))

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of ids, texts and labels; the order of rows and the attributes do not matter."""
        total = 0
        for ids, texts, labels in self.batches("id", "text", "label"):
            for name, text, label in zip(ids, texts, labels, strict=True):
                # lengths first: no character separates fields that may hold any character
                row = f"{len(name)}:{len(text)}:{name}{text}{label}".encode()
                total += int.from_bytes(hashlib.blake2b(row, digest_size=16).digest(), "big")
        names = "".join(f"{len(name)}:{name}" for name in self.label_names).encode()
        return hashlib.sha256(names + (total % 2**128).to_bytes(16, "big")).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class Embeddings:
    """One finite vector per row of a dataset, in its order."""

    ids: pa.ChunkedArray
    vectors: npt.NDArray[np.float32]
    origin: Origin = field(default_factory=lambda: Origin("given"))

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2:
            raise VectorsError(
                "vectors must be a table", expected="two dimensions [rows, numbers]", got=f"shape {self.vectors.shape}"
            )
        if len(self.ids) != len(self.vectors):
            raise VectorsError(
                "vectors of another length",
                expected=f"{len(self.ids)} rows, one per text",
                got=f"{len(self.vectors)} rows",
                fix="encode this dataset again",
            )
        refuse_repeats(self.ids)
        object.__setattr__(self, "vectors", finite_float32(self.vectors))

    def __len__(self) -> int:
        return len(self.vectors)


@dataclass(frozen=True)
class Certificate:
    """What a split was asked for, what it is, and what is proven about it."""

    asked: Mapping[str, int]
    """Test rows per label that were asked for."""
    got: Mapping[str, int]
    """Test rows per label in the split."""
    completed: int = 0
    """Test rows that were added singly because whole clusters did not add up to the size asked for."""
    n_clusters: int | None = None
    """Clusters of the clustering that was chosen; None when nothing was clustered."""
    missed_at_least: int | None = None
    """Proven: no choice of whole units comes nearer than this many rows. None when nothing is proven."""
    optimal: bool | None = None
    """The choice is proven to be the nearest possible. None when the method does not optimise."""
    groups: Mapping[str, Any] | None = None
    """Grouping attribute, number of groups, groups on both sides; None without groups."""
    notes: tuple[str, ...] = ()

    @property
    def missed(self) -> int:
        """Rows by which the test part differs from what was asked, summed over labels."""
        return sum(abs(self.asked[label] - self.got[label]) for label in self.asked)

    @property
    def completed_share(self) -> float:
        """Share of the test rows that were added singly."""
        return self.completed / max(1, sum(self.got.values()))


@dataclass(frozen=True, eq=False)
class Split:
    """A partition of a dataset's rows into parts."""

    name: str
    ids: pa.ChunkedArray
    parts: npt.NDArray[np.int8]
    """Position of each row's part in `PARTS`."""
    clusters: npt.NDArray[np.int32]
    """Cluster of each row; -1 where the row was not clustered."""
    certificate: Certificate
    dataset: str
    """Fingerprint of the dataset that was split."""
    origin: Origin = field(default_factory=lambda: Origin("given"))

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.parts) == len(self.clusters):
            raise InputError(
                "a Split needs one part and one cluster per id",
                got=f"{len(self.ids)} ids, {len(self.parts)} parts, {len(self.clusters)} clusters",
            )
        refuse_repeats(self.ids)
        if len(self.parts) and not 0 <= self.parts.min() <= self.parts.max() < len(PARTS):
            raise InputError("a Split has an unknown part", expected=f"positions in {PARTS}")
        object.__setattr__(self, "parts", frozen(self.parts, np.int8))
        object.__setattr__(self, "clusters", frozen(self.clusters, np.int32))

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, part: str) -> npt.NDArray[np.intp]:
        """Row positions of one part."""
        if part not in PARTS:
            raise UnknownNameError.of("part", part, PARTS)
        return np.flatnonzero(self.parts == PARTS.index(part))

    @property
    def sizes(self) -> dict[str, int]:
        """Rows per part, parts without rows left out."""
        counts = np.bincount(self.parts, minlength=len(PARTS)).tolist()
        return {part: count for part, count in zip(PARTS, counts, strict=True) if count}

    def of(self, data: Dataset) -> Split:
        """The same split in the row order of `data`; refuses a dataset with other content."""
        if self.dataset != data.fingerprint:
            raise MismatchError(
                f"the split {self.name!r} belongs to another dataset",
                expected=f"fingerprint {self.dataset}, {len(self)} rows",
                got=f"{data.name}: fingerprint {data.fingerprint}, {len(data)} rows",
                fix="load the same file with the same columns, labels and ids as when the split was made",
            )
        if self.ids.equals(data.ids):
            return self
        places = pc.index_in(data.ids, value_set=self.ids)
        if len(self) != len(data) or places.null_count:
            raise MismatchError(f"the ids of the split {self.name!r} are not those of {data.name}")
        order = places.to_numpy(zero_copy_only=False).astype(np.intp)
        return replace(self, ids=data.ids, parts=self.parts[order], clusters=self.clusters[order])


@dataclass(frozen=True, eq=False)
class Predictions:
    """Class probabilities per id; columns are matched by label name, rows by id."""

    ids: pa.ChunkedArray
    probabilities: npt.NDArray[np.float64]
    label_names: tuple[str, ...]
    origin: Origin = field(default_factory=lambda: Origin("given"))

    def __post_init__(self) -> None:
        shape = (len(self.ids), len(self.label_names))
        if self.probabilities.shape != shape:
            raise InputError("predictions have the wrong shape", expected=str(shape), got=str(self.probabilities.shape))
        if len(set(self.label_names)) < len(self.label_names):
            raise InputError("label names repeat", got=str(self.label_names))
        refuse_repeats(self.ids)
        sums = self.probabilities.sum(axis=1)
        wrong = ~(np.abs(sums - 1) < 1e-3) | (self.probabilities < 0).any(axis=1)
        if wrong.any():
            raise InputError(
                f"{int(wrong.sum())} rows of the predictions are not probabilities",
                expected="numbers from 0 to 1 that sum to one in each row",
                got=f"row {int(wrong.argmax())}: {self.probabilities[wrong.argmax()].tolist()}",
            )
        object.__setattr__(self, "probabilities", frozen(self.probabilities, np.float64))


@dataclass(frozen=True)
class Explanation:
    """What each token contributed to the score of a label."""

    id: str
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Character positions of each token in the text."""
    scores: tuple[float, ...]
    label: str
    method: str

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.spans) == len(self.scores):
            raise InputError(f"the explanation of {self.id!r} needs one span and one score per token")


@dataclass(frozen=True)
class Measurement:
    """One measured number; everything that is measured becomes a row of this kind."""

    metric: str
    """Full identity, e.g. `nearest_train_distance.cosine`."""
    value: float | None
    n: int
    """Examples behind the number; without any there is no value."""
    low: float | None = None
    high: float | None = None
    slice: str = "all"
    tags: Mapping[str, str | int | float] = field(default_factory=dict)
    """Split, model, seed, part and whatever else tells rows apart."""

    def __post_init__(self) -> None:
        if self.n < 1 and self.value is not None:
            raise InputError(f"{self.metric} has a value without data", expected="value None when n is 0")


LEVELS = ("ok", "warn", "fail", "skipped")


@dataclass(frozen=True)
class Finding:
    """What a check found. `skipped` says why in its message."""

    check: str
    level: str
    message: str
    count: int = 0
    evidence: tuple[str, ...] = ()
    """Ids of examples."""
    advice: str = ""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise UnknownNameError.of("level", self.level, LEVELS)


def refuse_repeats(ids: pa.ChunkedArray) -> None:
    """Refuse ids of which two are equal."""
    repeated = len(ids) - pc.count_distinct(ids).as_py()
    if repeated:
        raise InputError(f"{repeated} rows have the id of another row", expected="unique ids")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """`values` as a read-only array of `dtype`; the caller's array stays writable."""
    array = np.asarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array


def finite_float32(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """`vectors` as read-only float32; refuses NaN, infinity and numbers beyond float32, naming the rows."""
    if not (np.issubdtype(vectors.dtype, np.number) or vectors.dtype == bool) or np.iscomplexobj(vectors):
        raise VectorsError("vectors must be numbers", got=f"dtype {vectors.dtype}")
    with np.errstate(over="ignore"):
        array = frozen(vectors, np.float32)
    wrong: list[int] = []
    for start in range(0, len(array), ROWS_AT_ONCE):
        block = array[start : start + ROWS_AT_ONCE]
        wrong += (np.flatnonzero(~np.isfinite(block).all(axis=1)) + start).tolist()
    if wrong:
        raise VectorsError(
            f"{len(wrong)} of {len(array)} vectors are not finite",
            expected="no NaN, no infinity",
            got=f"rows {some(wrong)}",
            fix="look at the texts of these rows, or drop them before encoding",
        )
    return array


def some(values: Iterable[Any], most: int = 5) -> str:
    """The first few values, for a message."""
    values = list(values)
    return ", ".join(str(value) for value in values[:most]) + (", …" if len(values) > most else "")


def string_array(values: Sequence[str] | pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """`values` as a column of strings that may exceed two gigabytes."""
    if isinstance(values, pa.ChunkedArray):
        return values.cast(pa.large_string())
    return pa.chunked_array([pa.array(values, type=pa.large_string())])
