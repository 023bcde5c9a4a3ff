"""Words and phrases in texts: whole words, in any case, in any script that parts its words.

A file of terms is TOML, `name = ["term", "other term"]`, or plain text with one term per line.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from unseen.errors import InputError, TableError, complaint
from unseen.store.files import parsed_toml

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
