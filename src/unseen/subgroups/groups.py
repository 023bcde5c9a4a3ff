"""Which rows mention which group: by an attribute of the data, or by words in the texts.

Words and phrases are found as whole words, in any case, in any script that parts its words. A file of terms is TOML,
`name = ["term", "other term"]`, or plain text with one term per line.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from unseen.errors import InputError, TableError, complaint
from unseen.evaluation.bootstrap import group_numbers
from unseen.evaluation.measurements import groups_of_rows
from unseen.registry import require_known
from unseen.store.files import parsed_toml
from unseen.types import Dataset, frozen, some
from unseen.types.arrays import Mask, Rows

Terms = Mapping[str, Sequence[str]] | Sequence[str]
"""Lists of terms by name, or a plain list of them."""


class Finder:
    """Finds many terms at once, overlapping ones too: "deaf cook" holds `deaf`, `cook` and `deaf cook`.

    A term is found where no letter, digit, underscore or combining mark touches it; a space in it stands for any
    white space.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        self.terms = tuple(terms)
        word = f"[\\w{_marks()}]"
        self._single = [re.compile(f"(?:{_written(term)})(?!{word})", re.IGNORECASE) for term in terms]
        longest = sorted(self.terms, key=len, reverse=True)
        # A lookahead consumes nothing, so that a term may begin inside another.
        alternatives = "|".join(map(_written, longest))
        self._any = re.compile(f"(?<!{word})(?=({alternatives})(?!{word}))", re.IGNORECASE)
        self._at_start: dict[str, tuple[int, ...]] = {}

    def spans(self, text: str) -> Iterator[tuple[int, int, int]]:
        """The number of a term and where it begins and ends, for every occurrence of every term."""
        for longest in self._any.finditer(text):
            for term in self._beginning(longest[1]):
                match = self._single[term].match(text, longest.start())
                if match is not None:
                    yield term, match.start(), match.end()

    def terms_in(self, text: str) -> set[int]:
        """The numbers of the terms in `text`."""
        return {term for matched in self._any.findall(text) for term in self._beginning(matched)}

    def _beginning(self, matched: str) -> tuple[int, ...]:
        """Terms that stand at the start of what the longest of them matched."""
        if matched not in self._at_start:
            self._at_start[matched] = tuple(n for n, pattern in enumerate(self._single) if pattern.match(matched))
        return self._at_start[matched]


def read_terms(path: str | Path) -> dict[str, list[str]]:
    """The lists of terms in a file; in plain text each line is a list of its own."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        content = parsed_toml(text) if Path(path).suffix == ".toml" else [line.strip() for line in text.splitlines()]
    except (OSError, ValueError, RecursionError) as cause:
        raise InputError(
            f"cannot read terms from {path}: {complaint(cause)}",
            expected='TOML (name.toml) with lines like name = ["term", "other term"], or one term per line',
        ) from cause
    if isinstance(content, list):
        content = [term for term in content if term]
    return checked_terms(content, str(path))


def checked_terms(terms: Terms, place: str = "the terms") -> dict[str, list[str]]:
    """`terms` as lists by name; of a plain list each term is a list of its own. Every problem in one error."""
    named = terms if isinstance(terms, Mapping) else {term: [term] for term in terms}
    problems = [] if isinstance(terms, Mapping) else [f"{term!r} stands there twice" for term in _repeated(terms)]
    for name, members in named.items():
        problems += _problems(name, members)
    if problems or not named:
        raise TableError(
            f"{place} cannot be looked for" if named else f"{place} names no term",
            problems=problems,
            expected='lists of words or phrases, e.g. name = ["term", "other term"]',
        )
    return {name: [" ".join(term.split()) for term in members] for name, members in named.items()}


def _problems(name: str, members: object) -> list[str]:
    if isinstance(members, str) or not isinstance(members, Sequence) or not members:
        return [f"{name}: not a list of terms, but {members!r}"]
    wrong = [term for term in members if not isinstance(term, str) or not term.strip()]
    problems = [f"{name}: {term!r} is not a term" for term in wrong]
    folded = [folded_term(term) for term in members if isinstance(term, str)]
    return problems + [f"{name}: {term!r} stands there twice" for term in _repeated(folded)]


def _repeated(terms: Sequence[str]) -> list[str]:
    return sorted(term for term, times in Counter(terms).items() if times > 1)


def folded_term(term: str) -> str:
    """A term as it is compared with others: without case and with single spaces."""
    return unicodedata.normalize("NFC", " ".join(term.casefold().split()))


def _written(term: str) -> str:
    """The pattern of a term, with accents as characters of their own and as part of the letter."""
    forms = dict.fromkeys(unicodedata.normalize(form, term) for form in ("NFC", "NFD"))
    return "|".join(r"\s+".join(map(re.escape, form.split())) for form in forms)


@cache
def _marks() -> str:
    """Combining marks as ranges of a character class: to `\\w` they are not part of a word."""
    codes = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in ranges)


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups and the rows that mention them; a row may mention several, or none."""

    grouping: str
    """Where the groups come from: the name of the attribute, or `term`."""
    names: tuple[str, ...]
    members: Mask
    """[rows of the data, groups]"""

    def __post_init__(self) -> None:
        if self.members.ndim != 2 or self.members.shape[1] != len(self.names):
            raise InputError(
                "groups need a column per name", expected=f"[rows, {len(self.names)}]", got=str(self.members.shape)
            )
        if len(set(self.names)) < len(self.names):
            raise InputError("names of groups repeat", got=some(self.names))
        object.__setattr__(self, "members", frozen(self.members, np.bool_))

    @property
    def slices(self) -> tuple[str, ...]:
        """The name of each group's slice."""
        return tuple(f"{self.grouping}={name}" for name in self.names)

    def of_rows(self, data: Dataset, rows: Rows) -> Mask:
        """The members among `rows`; refuses groups of other data."""
        if len(self.members) != len(data):
            raise InputError("the groups are of other data", expected=f"{len(data)} rows", got=f"{len(self.members)}")
        return self.members[rows]


def groups_by_attribute(data: Dataset, attribute: str, *, fewest: int = 1, only: Sequence[str] | None = None) -> Groups:
    """A group per value of an attribute, which may hold one value per row or a list; no value is no group.

    A group counts with at least `fewest` rows in `data`. `only` names the groups to keep, in this order: which
    groups there are decides what the background `mentioned` is.
    """
    places: dict[str, list[int]] = {}
    for row, value in enumerate(data.attribute(attribute).to_pylist()):
        for name in dict.fromkeys(value if isinstance(value, list) else [value]):
            if name is not None and name != "":
                places.setdefault(str(name), []).append(row)
    names = sorted(places)
    members = np.zeros((len(data), len(names)), bool)
    for column, name in enumerate(names):
        members[places[name], column] = True
    return _large_enough(attribute, names, members, fewest, only)


def groups_by_terms(
    data: Dataset,
    terms: Terms,
    *,
    fewest: int = 1,
    only: Sequence[str] | None = None,
) -> Groups:
    """A group per list of terms, or per term of a plain list: the rows whose text holds one of them.

    Misleads where a word has other meanings: a colour is not a group of people.
    """
    named = checked_terms(terms)
    groups_of: dict[str, list[int]] = {}
    for column, listed in enumerate(named.values()):
        for term in listed:
            groups_of.setdefault(term, []).append(column)
    finder, columns = Finder(list(groups_of)), list(groups_of.values())
    members = np.zeros((len(data), len(named)), bool)
    row = 0
    for (texts,) in data.batches("text"):
        for text in texts:
            for number in finder.terms_in(text):
                members[row, columns[number]] = True
            row += 1
    return _large_enough("term", list(named), members, fewest, only)


def drawn_together(data: Dataset, rows: Rows, units: str | None) -> Rows:
    """Which unit of the bootstrap each of `rows` is, counted from 0: a value of the attribute `units`, or itself.

    A row without a value, or with an empty one, is a unit of its own: texts of unknown authors are not of one author.
    """
    return group_numbers(groups_of_rows(data, rows, units), len(rows))


def _large_enough(grouping: str, names: list[str], members: Mask, fewest: int, only: Sequence[str] | None) -> Groups:
    """The groups that are asked for and large enough; refuses to be left with none."""
    if fewest < 1:
        raise InputError("fewest must be at least 1", got=str(fewest))
    require_known(f"group of {grouping!r}", names, *(only or ()))
    asked = list(dict.fromkeys(only)) if only else names
    sizes = dict(zip(names, members.sum(axis=0).tolist(), strict=True))
    kept = [name for name in asked if sizes[name] >= fewest]
    if not kept:
        raise InputError(
            f"no group of {grouping!r} has {fewest} rows",
            got=some([f"{name}: {sizes[name]}" for name in asked]) or "no value in any row",
            fix="a smaller fewest, another attribute, or other terms",
        )
    return Groups(grouping, tuple(kept), members[:, [names.index(name) for name in kept]])
