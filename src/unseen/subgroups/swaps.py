"""Identity swaps: texts in which only the group is another, and what a model predicts otherwise about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from unseen.errors import InputError, UnseenWarning
from unseen.evaluation.bootstrap import DRAWS, times_drawn
from unseen.evaluation.intervals import Bounds
from unseen.evaluation.measurements import aligned
from unseen.functional.alterations import ORIGINAL
from unseen.functional.suite import references, suite_of
from unseen.seeding import generator
from unseen.subgroups.bounds import bounds, exact_bounds, refusal
from unseen.subgroups.groups import Finder, Terms, checked_terms, folded_term
from unseen.subgroups.positives import binary
from unseen.types import Dataset, Measurement, Origin, Predictions
from unseen.types.arrays import NUMBERS_AT_ONCE, Floats, Rows

Case = dict[str, str | None]
Swap = tuple[str, str, str]
TERMS = ("from", "to")
"""Attributes that these suites have beyond those of all: the term that went, and the one that came."""
MEANS = ("bias.flip_rate", "bias.mean_change", "bias.mean_absolute_change")


def swap_cases(
    data: Dataset,
    terms: Terms,
    rows: Rows | None = None,
    *,
    most: int | None = None,
    seed: int = 42,
) -> Dataset:
    """A suite of the texts that hold a term of a list, each followed by its versions with every other term of it.

    `terms` are lists of terms that can stand for each other, or one such list. A version has one term replaced
    wherever it stands; terms that the text holds already are not put in. A term is put in as it is written in the
    list, with capitals where the one that goes has them. Nothing else is adapted, neither articles nor meaning:
    read some before you believe a number. Versions have the label of their original (`reference`), the kind
    `invariance`, and the terms in `from` and `to`.

    Versions multiply: `most` draws so many originals, the same ones for the same seed, and warns if there are more.
    """
    if most is not None and most < 1:
        raise InputError("most must be at least 1", got=str(most))
    lists = _interchangeable(terms)
    chosen = data if rows is None else data.take(rows)
    cases = _swapped(chosen, lists, most, seed)
    if not cases:
        raise InputError("no text holds a term that can be swapped", fix="other terms, or other texts")
    params = {"terms": lists} | ({} if most is None else {"most": most})
    origin = Origin("swap", params, None if most is None else seed, {"dataset": data.fingerprint})
    in_order = [case for row in sorted(cases) for case in cases[row]]
    return suite_of(f"{data.name}-swapped", in_order, data.label_names, origin, further=TERMS)


def _swapped(data: Dataset, lists: Sequence[Sequence[str]], most: int | None, seed: int) -> dict[int, list[Case]]:
    """The cases of every row, or of the `most` first in an order of chance, that has a term to swap."""
    finder = Finder(list(dict.fromkeys(term for members in lists for term in members)))
    ids, texts, labels = (data.table[name].to_pylist() for name in ("id", "text", "label"))
    cases: dict[int, list[Case]] = {}
    by_chance = generator(seed, "swaps").permutation(data.by_id).tolist()
    for row in range(len(data)) if most is None else by_chance:
        versions = list(_versions(texts[row], finder, lists))
        if versions and len(cases) == most:
            note = f"swaps are made of {most:,} texts, drawn with the seed {seed}; more texts hold a term (--limit N)"
            warnings.warn(note, UnseenWarning, stacklevel=3)
            break
        if versions:
            cases[row] = _cases(ids[row], texts[row], labels[row], versions)
    return cases


def _cases(name: str, text: str, label: str, versions: Sequence[Swap]) -> list[Case]:
    """An original and its versions."""
    shared: Case = {"label": label, "template": name}
    swapped = shared | {"functionality": "swap", "kind": "invariance", "reference": name}
    return [
        shared | {"id": name, "text": text, "functionality": ORIGINAL, "kind": "functional"},
        *(swapped | {"id": f"{name}~{old}~{new}", "text": made, "from": old, "to": new} for old, new, made in versions),
    ]


def _interchangeable(terms: Terms) -> list[list[str]]:
    lists = checked_terms(terms if isinstance(terms, Mapping) else {"terms": list(terms)}, "the swap list")
    short = [name for name, members in lists.items() if len(members) < 2]
    if short:
        raise InputError(
            "a swap needs another term",
            expected='at least two terms in each list, e.g. people = ["nurse", "farmer"]',
            got=f"one in {', '.join(short)}",
        )
    return list(lists.values())


def _versions(text: str, finder: Finder, lists: Sequence[Sequence[str]]) -> Iterator[Swap]:
    """The term that goes, the term that comes and the text, for every swap that can be made."""
    places: dict[str, list[tuple[int, int]]] = {}
    end = 0
    for term, start, stop in sorted(finder.spans(text), key=lambda span: (span[1], -span[2])):
        if start >= end:  # of overlapping terms the longest that begins first
            places.setdefault(finder.terms[term], []).append((start, stop))
            end = stop
    present = {folded_term(term) for term in places}
    pairs = {
        (old, new): None
        for members in lists
        for old in members
        if old in places
        for new in members
        if folded_term(new) not in present
    }
    for old, new in pairs:
        yield old, new, _replaced(text, places[old], new)


def _replaced(text: str, places: Sequence[tuple[int, int]], new: str) -> str:
    pieces, end = [], 0
    for start, stop in places:
        pieces += [text[end:start], _in_case_of(text[start:stop], new)]
        end = stop
    return "".join([*pieces, text[end:]])


def _in_case_of(old: str, new: str) -> str:
    """`new` in capitals where `old` is, and with a first capital where `old` has one; else as it is written."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


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
    reference = references(cases)
    versions = np.flatnonzero(reference >= 0)
    sources = reference[versions]
    before_and_after = (originals or predictions, sources), (predictions, versions)
    before, after = (aligned(cases, model, rows).argmax(axis=1) for model, rows in before_and_after)
    score_before, score_after = (binary(cases, model, rows, positive)[1] for model, rows in before_and_after)
    change = score_after - score_before
    values = np.stack([before != after, change, np.abs(change)]).astype(np.float64)
    slices = _slices(cases, versions)
    texts = [len(np.unique(sources[places])) for places in slices.versions()]
    intervals = _intervals(values, slices, sources, texts, seed)
    measurements = []
    for number, (name, places) in enumerate(zip(slices.names, slices.versions(), strict=True)):
        n, means = len(places), values[:, places].mean(axis=1).tolist()
        of_flips, *others = intervals[number]
        of_flips = exact_bounds(means[0], sources[places]) or of_flips
        for metric, mean, interval in zip(MEANS, means, [of_flips, *others], strict=True):
            own_tags = {**(tags or {}), **refusal(interval, texts[number])}
            measurements.append(Measurement(metric, mean, n, *interval, slice=name, tags=own_tags))
        furthest = places[np.abs(change[places]).argmax()]
        own_tags = {**(tags or {}), "case": cases.ids[int(versions[furthest])].as_py()}
        measurements.append(Measurement("bias.largest_change", float(change[furthest]), n, slice=name, tags=own_tags))
    return measurements


class _Slices(NamedTuple):
    names: list[str]
    codes: Rows
    """[kinds, versions]: the slice of each kind that each version is in."""

    def versions(self) -> list[Rows]:
        """The places of the versions in each slice."""
        order = np.argsort(self.codes.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(self.codes.reshape(-1)))[:-1]
        return np.split(order % self.codes.shape[1], ends)


def _slices(cases: Dataset, versions: Rows) -> _Slices:
    """All versions, those by the term that went, by the one that came, and by pair."""
    old, new = (cases.attribute(name).take(pa.array(versions)).to_pylist() for name in TERMS)
    pairs = [f"{went} → {came}" for went, came in zip(old, new, strict=True)]
    names, codes = ["all"], [np.zeros(len(versions), np.intp)]
    for kind, values in (("from", old), ("to", new), ("swap", pairs)):
        distinct = sorted(set(values))
        place = {value: len(names) + number for number, value in enumerate(distinct)}
        codes.append(np.array([place[value] for value in values], np.intp))
        names += [f"{kind}={value}" for value in distinct]
    return _Slices(names, np.stack(codes))


def _intervals(values: Floats, slices: _Slices, sources: Rows, texts: Sequence[int], seed: int) -> list[list[Bounds]]:
    """The 95 % interval of the mean of each row of `values` in each slice [slices][values]."""
    source = np.unique(sources, return_inverse=True)[1].reshape(-1)
    totals = [_per_original(of_versions, slices, source) for of_versions in (np.ones(len(source)), *values)]
    intervals: list[list[Bounds]] = []
    some = max(
        1, NUMBERS_AT_ONCE // DRAWS
    )  # slices at a time: lists of many terms have more pairs than memory has room for
    for start in range(0, len(slices.names), some):
        sizes, *sums = _drawn([total[start : start + some] for total in totals], int(source.max()) + 1, seed)
        with np.errstate(invalid="ignore"):  # a draw without a version of a slice says nothing about it
            means = [of_draws / sizes for of_draws in sums]
        few = texts[start : start + some]
        intervals += [[bounds(mean, n) for mean in of_slice] for *of_slice, n in zip(*means, few, strict=True)]
    return intervals


def _per_original(values: Floats, slices: _Slices, source: Rows) -> Any:
    """Sums of `values` [slices, originals]."""
    from scipy.sparse import csr_array

    kinds = len(slices.codes)
    places = slices.codes.reshape(-1), np.tile(source, kinds)
    return csr_array((np.tile(values, kinds), places), shape=(len(slices.names), int(source.max()) + 1))


def _drawn(totals: Sequence[Any], originals: int, seed: int) -> list[Floats]:
    """What sums per original come to in the same bootstrap samples of originals [slices, draws]."""
    blocks: list[list[Floats]] = [[] for _ in totals]
    for times in times_drawn(originals, DRAWS, generator(seed, "originals")):
        for of_total, total in zip(blocks, totals, strict=True):
            of_total.append(np.asarray(total @ times.T.astype(np.float64)))
    return [np.concatenate(of_total, axis=1) for of_total in blocks]
