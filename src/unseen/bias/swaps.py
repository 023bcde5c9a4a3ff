"""Identity swaps: what a model says when only the group in a text is another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.bias.binary import binary
from unseen.bias.bounds import bounds
from unseen.bias.terms import Finder, checked_terms, folded_term
from unseen.errors import InputError
from unseen.evaluation.counting import times_drawn
from unseen.evaluation.intervals import DRAWS
from unseen.evaluation.measuring import aligned
from unseen.functional.rates import rate
from unseen.seeding import generator
from unseen.store.datasets import encode_labels
from unseen.types import Dataset, Measurement, Origin, Predictions, string_array

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Row = dict[str, str | None]
ATTRIBUTES = ("functionality", "kind", "template", "reference", "from", "to")


def swap_cases(
    data: Dataset, terms: Mapping[str, Sequence[str]] | Sequence[str], rows: npt.NDArray[np.intp] | None = None
) -> Dataset:
    """A suite of the texts that hold a term of a list, each followed by its versions with every other term of it.

    `terms` are lists of terms that can stand for each other, or one such list. A version has one term replaced
    wherever it stands; terms that the text holds already are not put in. Capital letters stay. Nothing else is
    adapted, neither articles nor meaning: read some before you believe a number. Versions have the label of their
    original (`reference`), the kind `invariance`, and the terms in `from` and `to`.
    """
    lists = _interchangeable(terms)
    distinct = list(dict.fromkeys(each for members in lists for each in members))
    finder, cases = Finder(distinct), []
    chosen = data if rows is None else data.take(rows)
    for columns in chosen.batches("id", "text", "label"):
        for name, text, label in zip(*columns, strict=True):
            versions = list(_versions(text, finder, lists))
            if versions:
                shared: Row = {"label": label, "template": name}
                cases.append(shared | {"id": name, "text": text, "functionality": "original", "kind": "functional"})
                swapped = shared | {"functionality": "swap", "kind": "invariance", "reference": name}
                cases += [
                    swapped | {"id": f"{name}~{old}~{new}", "text": made, "from": old, "to": new}
                    for old, new, made in versions
                ]
    if not cases:
        raise InputError("no text holds a term that can be swapped", fix="other terms, or other texts")
    return _suite(chosen, cases, lists)


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
    and `bias.largest_change` (the furthest from zero; its tag `case` is the id). Intervals draw whole originals
    with their versions. `predictions` are by id for the versions and for the originals, unless those have their own.
    """
    references = cases.attribute("reference")
    versions = np.flatnonzero(references.is_valid().to_numpy())
    sources = pc.index_in(references, value_set=cases.ids).to_numpy(zero_copy_only=False)[versions].astype(np.intp)
    before, after = (originals or predictions, sources), (predictions, versions)
    said = [aligned(cases, who, rows).argmax(axis=1) for who, rows in (before, after)]
    scores = [binary(cases, who, rows, positive)[1] for who, rows in (before, after)]
    flipped, change = (said[0] != said[1]).astype(np.float64), scores[1] - scores[0]
    ids = cases.ids.take(pa.array(versions)).to_pylist()
    found = []
    for name, where in _slices(cases, versions):
        tagged = dict(tags or {})
        found.append(rate("bias.flip_rate", flipped[where], sources[where], slice=name, tags=tagged, seed=seed))
        for metric, values in (("mean_change", change), ("mean_absolute_change", np.abs(change))):
            around = _drawn_means(values[where], sources[where], seed)
            mean = float(values[where].mean())
            found.append(Measurement(f"bias.{metric}", mean, len(where), *around, slice=name, tags=tagged))
        furthest = where[np.abs(change[where]).argmax()]
        tagged = {**tagged, "case": ids[furthest]}
        found.append(Measurement("bias.largest_change", float(change[furthest]), len(where), slice=name, tags=tagged))
    return found


def _interchangeable(terms: Mapping[str, Sequence[str]] | Sequence[str]) -> list[list[str]]:
    lists = checked_terms(terms if isinstance(terms, Mapping) else {"terms": list(terms)}, "the swap list")
    short = [name for name, members in lists.items() if len(members) < 2]
    if short:
        raise InputError(
            "a swap needs another term",
            expected='at least two terms in each list, e.g. people = ["nurse", "farmer"]',
            got=f"one in {', '.join(short)}",
        )
    return list(lists.values())


def _versions(text: str, finder: Finder, lists: Sequence[Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """The term that goes, the term that comes and the text, for every swap that can be made."""
    places: dict[str, list[tuple[int, int]]] = {}
    end = 0
    for term, start, stop in sorted(finder.spans(text), key=lambda span: (span[1], -span[2])):
        if start >= end:  # of overlapping terms the longest that begins first
            places.setdefault(finder.terms[term], []).append((start, stop))
            end = stop
    there = {folded_term(each) for each in places}
    pairs = {
        (old, new): None
        for members in lists
        for old in members
        if old in places
        for new in members
        if folded_term(new) not in there
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
    """`new` in capitals where `old` is, and with a first letter like its."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    if old[:1].isupper():
        return new[:1].upper() + new[1:]
    return new if new.isupper() else new[:1].lower() + new[1:]


def _suite(data: Dataset, cases: Sequence[Row], lists: Sequence[Sequence[str]]) -> Dataset:
    columns = {key: string_array([case.get(key) for case in cases]) for key in ("id", "text", "label", *ATTRIBUTES)}  # type: ignore[misc]
    columns["label"] = encode_labels(columns["label"], data.label_names)
    origin = Origin("swap", {"terms": [list(each) for each in lists]}, inputs={"dataset": data.fingerprint})
    return Dataset(f"{data.name}-swapped", pa.table(columns), data.label_names, ATTRIBUTES, origin)


def _slices(cases: Dataset, versions: Codes) -> Iterator[tuple[str, Codes]]:
    """Names of slices and the places of their versions: all, by term that went, by term that came, by pair."""
    old, new = (cases.attribute(name).take(pa.array(versions)).to_pylist() for name in ("from", "to"))
    yield "all", np.arange(len(versions))
    pairs = [f"{a} → {b}" for a, b in zip(old, new, strict=True)]
    for kind, values in (("from", old), ("to", new), ("swap", pairs)):
        names, codes = np.unique(np.array(values, dtype=object), return_inverse=True)
        order = np.argsort(codes, kind="stable")
        for name, where in zip(names, np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True):
            yield f"{kind}={name}", where


def _drawn_means(values: Floats, sources: Codes, seed: int) -> tuple[float | None, float | None]:
    """The 95 % interval of a mean from drawing whole originals; none with one original."""
    unit = np.unique(sources, return_inverse=True)[1].reshape(-1)
    sums, sizes = np.bincount(unit, values), np.bincount(unit).astype(np.float64)
    if len(sizes) < 2:
        return None, None
    blocks = times_drawn(len(sizes), DRAWS, generator(seed, "originals"))
    return bounds(np.concatenate([(times @ sums) / (times @ sizes) for times in blocks]))
