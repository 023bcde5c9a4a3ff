"""The records that stages hand on, in the order of the flow: frozen, checked when made, arrays read-only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, MismatchError, UnknownNameError, VectorsError
from unseen.types.arrays import ROWS_AT_ONCE, bounded, finite_float32, frozen, is_text, refuse_repeats

DECISIVE = ("unseen", "numpy", "scikit-learn", "ortools", "numba")
"""Packages whose versions decide vectors and splits."""
PARTS = ("train", "dev", "test", "independent", "unused")
"""Where a row of a split can be. `independent` is set aside before the split and takes no part in it; `unused` are
rows that nobody should train or test on, such as copies that a repair took out."""
TRAIN, DEV, TEST, INDEPENDENT, UNUSED = range(len(PARTS))
LEVELS = ("ok", "warn", "fail", "skipped")
"""Of findings."""


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


def versions() -> dict[str, str]:
    """Versions of the packages that decide vectors and splits."""
    installed = {}
    for package in DECISIVE:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "unknown"
    return installed


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
    left_out: frozenset[str] = frozenset()
    """Ids of rows that the source has and that were dropped when it was loaded: splits may still name them."""
    places: npt.NDArray[np.int64] | None = None
    """Where each row stands in the source, from 1, or 0 where nobody knows; no part of the fingerprint."""
    on_lines: bool = False
    """Whether `places` are lines of a file, not rows of a table."""

    def __post_init__(self) -> None:
        columns = ["id", "text", "label", *self.attributes]
        if self.table.column_names != columns:
            raise InputError("a Dataset's columns are wrong", expected=str(columns), got=str(self.table.column_names))
        for name, right in (("id", is_text), ("text", is_text), ("label", pa.types.is_dictionary)):
            if not right(self.table.schema.field(name).type):
                raise InputError(f"the column {name!r} has the wrong type", got=str(self.table.schema.field(name).type))
            if self.table[name].null_count:
                raise InputError(f"{self.table[name].null_count} rows have no {name}")
        if len(set(self.label_names)) < len(self.label_names):
            raise InputError("label names repeat", got=str(self.label_names))
        refuse_repeats(self.ids)
        if self.places is not None and len(self.places) != len(self):
            raise InputError("a Dataset needs one place per row", expected=str(len(self)), got=str(len(self.places)))
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
    def by_id(self) -> npt.NDArray[np.intp]:
        """Row positions in the order of the ids, for work that the order of rows must not decide."""
        return frozen(pc.sort_indices(self.ids).to_numpy(), np.intp)

    @cached_property
    def order(self) -> str:
        """Hash of the ids in their row order: equal for two datasets whose rows stand in the same places."""
        digest = hashlib.sha256()
        for (ids,) in self.batches("id"):
            digest.update("".join(f"{len(name)}:{name}" for name in ids).encode())
        return digest.hexdigest()[:32]

    @property
    def texts(self) -> pa.ChunkedArray:
        """Texts, in row order."""
        return self.table["text"]

    def texts_by_id(self) -> list[str]:
        """The texts as models read them, in the order of the ids; warns of those that are cut."""
        rows = pa.array(self.by_id)
        return bounded(self.texts.take(rows).to_pylist(), self.ids.take(rows).to_pylist())

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
        positions = positions.astype(np.int64)
        places = None if self.places is None else self.places[positions]
        return replace(self, table=self.table.take(pa.array(positions)), places=places)

    def longer(self, table: pa.Table) -> Dataset:
        """The dataset with further rows at the end of its table; they stand nowhere in the source."""
        unknown = np.zeros(len(table) - len(self), np.int64)
        places = None if self.places is None else np.concatenate([self.places, unknown])
        return replace(self, table=table, places=places)

    def with_column(self, name: str, values: pa.ChunkedArray) -> Dataset:
        """The same rows with other values in this column, or with a further attribute."""
        if name in self.table.column_names:
            place, kind = self.table.column_names.index(name), self.table.schema.field(name).type
            return replace(self, table=self.table.set_column(place, name, values.cast(kind)))
        return replace(self, table=self.table.append_column(name, values), attributes=(*self.attributes, name))

    def with_labels(self, codes: npt.NDArray[np.integer]) -> Dataset:
        """The same rows with other labels, given by their positions in `label_names`."""
        labels = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(self.label_names, pa.string()))
        return self.with_column("label", pa.chunked_array([labels]))

    def place(self, row: int) -> str:
        """Where the row at this position stands in its source: `line 17` or `row 17`, nothing where nobody knows."""
        number = 0 if self.places is None else int(self.places[row])
        return f"{'line' if self.on_lines else 'row'} {number}" if number else ""

    def places_of(self, ids: Sequence[str]) -> dict[str, str]:
        """The place of each of these ids."""
        if self.places is None or not ids:
            return dict.fromkeys(ids, "")
        rows = pc.index_in(pa.array(ids, self.ids.type), value_set=self.ids.combine_chunks()).to_pylist()
        return {name: "" if row is None else self.place(row) for name, row in zip(ids, rows, strict=True)}

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

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.vectors, dtype=dtype) if copy else np.asarray(self.vectors, dtype=dtype)

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of the vectors, in row order."""
        digest = hashlib.sha256(repr(self.vectors.shape).encode())
        for start in range(0, len(self), ROWS_AT_ONCE):
            digest.update(self.vectors[start : start + ROWS_AT_ONCE].tobytes())
        return digest.hexdigest()[:32]


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
    """The choice of whole units is proven to be the nearest possible. None when the method does not optimise."""
    groups: Mapping[str, Any] | None = None
    """Grouping attribute, number of groups, groups on both sides; None without groups."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        counts = [*self.asked.values(), *self.got.values(), self.completed, self.n_clusters or 0]
        if not all(isinstance(count, int) for count in counts):
            raise InputError("a certificate counts rows in whole numbers", got=", ".join(map(repr, counts[:10])))

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
    """Every row of a dataset in one part."""

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

    def rows(self, *parts: str) -> npt.NDArray[np.intp]:
        """Row positions of one part, or of several together, in row order."""
        for part in parts:
            if part not in PARTS:
                raise UnknownNameError.of("part", part, PARTS)
        return np.flatnonzero(np.isin(self.parts, [PARTS.index(part) for part in parts]))

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
                fix="load the same file with the same columns, labels and ids as when the split was made; a run with a "
                "limit splits only a part of its rows",
            )
        if self.ids.equals(data.ids):
            return self
        rows = pc.index_in(data.ids, value_set=self.ids)
        if len(self) != len(data) or rows.null_count:
            raise MismatchError(f"the ids of the split {self.name!r} are not those of {data.name}")
        order = rows.to_numpy(zero_copy_only=False).astype(np.intp)
        return replace(self, ids=data.ids, parts=self.parts[order], clusters=self.clusters[order])


@dataclass(frozen=True, eq=False)
class Predictions:
    """Class probabilities per id; columns are matched by label name, rows by id."""

    ids: pa.ChunkedArray
    probabilities: npt.NDArray[np.float64]
    label_names: tuple[str, ...]
    origin: Origin = field(default_factory=lambda: Origin("given"))
    depths: npt.NDArray[np.int16] | None = None
    """Layers that each answer took, of a classifier that stops early."""

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
        if self.depths is not None:
            if self.depths.shape != (len(self.ids),) or (self.depths < 1).any():
                raise InputError("every prediction needs the number of its layers, from 1 on", got=str(self.depths))
            object.__setattr__(self, "depths", frozen(self.depths, np.int16))


@dataclass(frozen=True, eq=False)
class ExitTrace:
    """What a classifier that can stop after any of its layers would answer there, and how ready it is to stop."""

    ids: pa.ChunkedArray
    answers: npt.NDArray[np.int16]
    """Label after each layer [texts, layers], as its place among `label_names`."""
    scores: npt.NDArray[np.float32]
    """Readiness after each layer [texts, layers]: a text stops where it reaches the threshold, else after the last."""
    threshold: float
    """The one that the classifier uses."""
    label_names: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.answers.shape != self.scores.shape or self.answers.ndim != 2 or len(self.answers) != len(self.ids):
            shapes = f"{len(self.ids)} ids, answers {self.answers.shape}, scores {self.scores.shape}"
            raise InputError("a trace needs an answer and a score of every text after every layer", got=shapes)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def layers(self) -> int:
        """Layers of the classifier."""
        return self.answers.shape[1]

    def depths(self, threshold: float | None = None) -> npt.NDArray[np.int16]:
        """After how many layers each text stops, at the classifier's own threshold or another."""
        ready = self.scores >= (self.threshold if threshold is None else threshold)
        ready[:, -1] = True
        return (ready.argmax(axis=1) + 1).astype(np.int16)

    def at(self, depths: npt.NDArray[np.integer]) -> npt.NDArray[np.int16]:
        """The answer of each text after that many layers."""
        return self.answers[np.arange(len(self)), depths - 1]

    def of(self, ids: pa.ChunkedArray) -> ExitTrace:
        """The texts with these ids, in their order."""
        rows = pc.index_in(ids, value_set=self.ids)
        if rows.null_count:
            raise MismatchError(f"{rows.null_count} texts are not in this trace")
        places = rows.to_numpy(zero_copy_only=False).astype(np.intp)
        return replace(self, ids=ids, answers=self.answers[places], scores=self.scores[places])


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
    """Rows behind the number; without any there is no value."""
    low: float | None = None
    high: float | None = None
    slice: str = "all"
    tags: Mapping[str, str | int | float] = field(default_factory=dict)
    """Split, model, seed, part and whatever else tells rows apart."""

    def __post_init__(self) -> None:
        if self.n < 1 and self.value is not None:
            raise InputError(f"{self.metric} has a value without data", expected="value None when n is 0")


@dataclass(frozen=True)
class Finding:
    """What a check found. `skipped` says why in its message."""

    check: str
    level: str
    message: str
    count: int = 0
    evidence: tuple[str, ...] = ()
    """Ids of rows that show it."""
    advice: str = ""
    rows: tuple[str, ...] = ()
    """Where each of these stands in the data: `line 17`; empty where nobody knows."""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise UnknownNameError.of("level", self.level, LEVELS)

    @property
    def shown(self) -> tuple[str, ...]:
        """The rows of the evidence, for people to look up: `7c2e91 (line 17)`."""
        places = self.rows or ("",) * len(self.evidence)
        return tuple(f"{name} ({row})" if row else name for name, row in zip(self.evidence, places, strict=True))


def located(findings: Iterable[Finding], data: Dataset) -> list[Finding]:
    """The findings with the places of their evidence in `data`."""
    findings = list(findings)
    places = data.places_of(list(dict.fromkeys(name for finding in findings for name in finding.evidence)))
    if not any(places.values()):
        return findings
    return [replace(finding, rows=tuple(places[name] for name in finding.evidence)) for finding in findings]


@dataclass(frozen=True)
class SuspectLabel:
    """A label that is probably wrong."""

    id: str
    given: str
    likely: str
    """The label it would probably have instead."""
    confidence: float
    """Probability that the given label is wrong."""
    row: str = ""
    """Where it stands in the data: `line 17`."""
    test_of: tuple[str, ...] = ()
    """Splits that test it."""
