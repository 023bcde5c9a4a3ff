"""Identity swaps: texts in which only the group is another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unseen.bias.terms import Finder, checked_terms, folded_term
from unseen.errors import InputError, UnseenWarning
from unseen.functional.alterations import ORIGINAL
from unseen.functional.writing import suite_of
from unseen.seeding import generator
from unseen.types import Dataset, Origin, string_array

Row = dict[str, str | None]
Swap = tuple[str, str, str]
TERMS = ("from", "to")
"""Attributes that these suites have beyond those of all: the term that went, and the one that came."""


def swap_cases(
    data: Dataset,
    terms: Mapping[str, Sequence[str]] | Sequence[str],
    rows: npt.NDArray[np.intp] | None = None,
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
    found = _swapped(chosen, lists, most, seed)
    if not found:
        raise InputError("no text holds a term that can be swapped", fix="other terms, or other texts")
    params = {"terms": lists} | ({} if most is None else {"most": most})
    origin = Origin("swap", params, None if most is None else seed, {"dataset": data.fingerprint})
    return _suite(chosen, [case for row in sorted(found) for case in found[row]], origin)


def _swapped(data: Dataset, lists: Sequence[Sequence[str]], most: int | None, seed: int) -> dict[int, list[Row]]:
    """The cases of every row, or of the `most` first in an order of chance, that has a term to swap."""
    finder = Finder(list(dict.fromkeys(each for members in lists for each in members)))
    names, texts, labels = (data.table[name].to_pylist() for name in ("id", "text", "label"))
    found: dict[int, list[Row]] = {}
    for row in range(len(data)) if most is None else _by_chance(names, seed):
        versions = list(_versions(texts[row], finder, lists))
        if versions and len(found) == most:
            note = f"swaps are made of {most:,} texts, drawn with the seed {seed}; more texts hold a term (--most N)"
            warnings.warn(note, UnseenWarning, stacklevel=3)
            break
        if versions:
            found[row] = _cases(names[row], texts[row], labels[row], versions)
    return found


def _by_chance(names: Sequence[str], seed: int) -> list[int]:
    """Rows in an order that depends on the seed and the ids alone."""
    rows = sorted(range(len(names)), key=names.__getitem__)
    return [rows[place] for place in generator(seed, "swaps").permutation(len(rows)).tolist()]


def _cases(name: str, text: str, label: str, versions: Sequence[Swap]) -> list[Row]:
    """An original and its versions."""
    shared: Row = {"label": label, "template": name}
    swapped = shared | {"functionality": "swap", "kind": "invariance", "reference": name}
    return [
        shared | {"id": name, "text": text, "functionality": ORIGINAL, "kind": "functional"},
        *(swapped | {"id": f"{name}~{old}~{new}", "text": made, "from": old, "to": new} for old, new, made in versions),
    ]


def _suite(data: Dataset, cases: Sequence[Row], origin: Origin) -> Dataset:
    suite = suite_of(f"{data.name}-swapped", cases, data.label_names, origin)
    table = suite.table
    for name in TERMS:
        table = table.append_column(name, string_array([case.get(name) for case in cases]))  # type: ignore[misc]
    return Dataset(suite.name, table, suite.label_names, (*suite.attributes, *TERMS), origin)


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


def _versions(text: str, finder: Finder, lists: Sequence[Sequence[str]]) -> Iterator[Swap]:
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
    """`new` in capitals where `old` is, and with a first capital where `old` has one; else as it is written."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
