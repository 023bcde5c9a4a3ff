"""What models say and what is measured of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import InputError, UnknownNameError
from unseen.types.arrays import frozen, refuse_repeats
from unseen.types.dataset import Dataset
from unseen.types.origin import Origin


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
    """Rows behind the number; without any there is no value."""
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
