"""What a model says otherwise when only the group in a text is another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.bias.binary import binary
from unseen.bias.bounds import Bounds, bounds, exact_bounds, refusal
from unseen.evaluation.counting import AT_ONCE, times_drawn
from unseen.evaluation.intervals import DRAWS
from unseen.evaluation.measuring import aligned
from unseen.functional.outcomes import references
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, Predictions

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
MEANS = ("bias.flip_rate", "bias.mean_change", "bias.mean_absolute_change")


def swap_measurements(
    cases: Dataset,
    predictions: Predictions,
    positive: Sequence[str],
    *,
    originals: Predictions | None = None,
    tags: Mapping[str, Any] | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """What swaps change: of all, by the term that went, by the one that came, and by pair.

    `bias.flip_rate` is the share of versions whose predicted label is not the original's. The probability of the
    `positive` labels in the version less that in the original gives `bias.mean_change`, `bias.mean_absolute_change`
    and `bias.largest_change` (the furthest from zero; its tag `case` is the id). One bootstrap of whole originals
    with their versions serves all intervals. `predictions` are by id for the versions and for the originals, unless
    those have their own.
    """
    before = references(cases)
    versions = np.flatnonzero(before >= 0)
    sources = before[versions]
    told = (originals or predictions, sources), (predictions, versions)
    said = [aligned(cases, who, rows).argmax(axis=1) for who, rows in told]
    scores = [binary(cases, who, rows, positive)[1] for who, rows in told]
    change = scores[1] - scores[0]
    values = np.stack([said[0] != said[1], change, np.abs(change)]).astype(np.float64)
    slices = _slices(cases, versions)
    texts = [len(np.unique(sources[where])) for where in slices.versions()]
    around = _intervals(values, slices, sources, texts, seed)
    found = []
    for place, (name, where) in enumerate(zip(slices.names, slices.versions(), strict=True)):
        tagged, n = dict(tags or {}), len(where)
        means = values[:, where].mean(axis=1).tolist()
        flips, *others = around[place]
        reach = [exact_bounds(means[0], sources[where]) or flips, *others]
        for metric, mean, each in zip(MEANS, means, reach, strict=True):
            shown = {**tagged, **refusal(each, texts[place])}
            found.append(Measurement(metric, mean, n, *each, slice=name, tags=shown))
        furthest = where[np.abs(change[where]).argmax()]
        tagged = {**tagged, "case": cases.ids[int(versions[furthest])].as_py()}
        found.append(Measurement("bias.largest_change", float(change[furthest]), n, slice=name, tags=tagged))
    return found


class _Slices(NamedTuple):
    names: list[str]
    codes: Codes
    """[kinds, versions]: the slice of each kind that each version is in."""

    def versions(self) -> list[Codes]:
        """The places of the versions in each slice."""
        order = np.argsort(self.codes.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(self.codes.reshape(-1)))[:-1]
        return np.split(order % self.codes.shape[1], ends)


def _slices(cases: Dataset, versions: Codes) -> _Slices:
    """All versions, those by the term that went, by the one that came, and by pair."""
    old, new = (cases.attribute(name).take(pa.array(versions)).to_pylist() for name in ("from", "to"))
    pairs = [f"{a} → {b}" for a, b in zip(old, new, strict=True)]
    names, codes = ["all"], [np.zeros(len(versions), np.intp)]
    for kind, values in (("from", old), ("to", new), ("swap", pairs)):
        distinct = sorted(set(values))
        place = {value: len(names) + number for number, value in enumerate(distinct)}
        codes.append(np.array([place[value] for value in values], np.intp))
        names += [f"{kind}={value}" for value in distinct]
    return _Slices(names, np.stack(codes))


def _intervals(values: Floats, slices: _Slices, sources: Codes, texts: Sequence[int], seed: int) -> list[list[Bounds]]:
    """The 95 % interval of the mean of each row of `values` in each slice [slices][values]."""
    unit = np.unique(sources, return_inverse=True)[1].reshape(-1)
    totals = [_per_original(each, slices, unit) for each in (np.ones(len(unit)), *values)]
    found: list[list[Bounds]] = []
    some = max(1, AT_ONCE // DRAWS)  # slices at a time: lists of many terms have more pairs than memory has room for
    for start in range(0, len(slices.names), some):
        sizes, *sums = _drawn([each[start : start + some] for each in totals], int(unit.max()) + 1, seed)
        with np.errstate(invalid="ignore"):  # a draw without a version of a slice says nothing about it
            means = [each / sizes for each in sums]
        few = texts[start : start + some]
        found += [[bounds(each, n) for each in drawn] for *drawn, n in zip(*means, few, strict=True)]
    return found


def _per_original(values: Floats, slices: _Slices, unit: Codes) -> Any:
    """Sums of `values` [slices, originals]."""
    from scipy.sparse import csr_array

    kinds = len(slices.codes)
    where = slices.codes.reshape(-1), np.tile(unit, kinds)
    return csr_array((np.tile(values, kinds), where), shape=(len(slices.names), int(unit.max()) + 1))


def _drawn(totals: Sequence[Any], units: int, seed: int) -> list[Floats]:
    """What sums per original come to in the same bootstrap samples of originals [slices, draws]."""
    found: list[list[Floats]] = [[] for _ in totals]
    for times in times_drawn(units, DRAWS, generator(seed, "originals")):
        for pieces, each in zip(found, totals, strict=True):
            pieces.append(np.asarray(each @ times.T.astype(np.float64)))
    return [np.concatenate(pieces, axis=1) for pieces in found]
