"""Small changes of spelling that a reader looks past.

A perturbation is a pure function of a text and a random generator; None says that it does not apply to that text.
Those that change one word take `focus`, the words to choose from; by default it is any word of at least four
letters that is not part of a mention or an address. Characters are those a reader sees: an accent or an emoji's
skin colour stays with what it belongs to. What a perturbation keeps of the meaning is for people to say: `delete`
can turn a word into another one, and `join` can hide a negation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from numpy.random import Generator

from unseen.functional.characters import characters
from unseen.registry import Registry

Perturbation = Callable[..., str | None]

NAMES = ("swap", "delete", "join", "spread", "leet", "double", "neighbour", "upper", "lower", "unpunctuated")
PERTURBATIONS = Registry("perturbation", {f"{name}.v1": f"{__name__}:{name}" for name in NAMES})
SHORTEST = 4
"""Letters of the shortest word that is changed when no focus is given."""
LEET = {"a": "4", "e": "3", "i": "1", "o": "0", "s": "5", "t": "7"}
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
ADDRESS = ("@", "://")
"""What a word may not stand beside when no focus is given: it is a mention or an address."""


class Word(NamedTuple):
    """A run of letters: places in the list of characters, from `start` up to `end`."""

    start: int
    end: int
    chosen: bool
    """Whether it may be changed."""
    address: bool
    """Whether it is part of a mention or an address."""


def swap(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Swaps two neighbouring characters inside a word: `kitchen` → `kicthen`."""
    seen = characters(text)
    places = _places(seen, focus, lambda at, word: at + 1 < word.end - 1 and seen[at] != seen[at + 1])
    if (at := _one(places, draw)) is None:
        return None
    return "".join([*seen[:at], seen[at + 1], seen[at], *seen[at + 2 :]])


def delete(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Leaves out a character inside a word: `kitchen` → `kithen`."""
    seen = characters(text)
    return _replaced(seen, _places(seen, focus), draw, lambda each: "")


def double(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Writes a character inside a word twice: `kitchen` → `kittchen`."""
    seen = characters(text)
    return _replaced(seen, _places(seen, focus), draw, lambda each: each * 2)


def neighbour(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Hits the key beside a letter, on a QWERTY keyboard: `kitchen` → `kotchen`."""
    seen = characters(text)
    places = _places(seen, focus, lambda at, word: seen[at].lower() in KEYS_BESIDE)
    return _replaced(seen, places, draw, lambda each: _like(each, str(draw.choice(KEYS_BESIDE[each.lower()]))))


def leet(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Writes a digit for a letter that looks like it: `kitchen` → `k1tchen`."""
    seen = characters(text)
    places = [at for word in _words(seen, focus) for at in range(word.start, word.end) if seen[at].lower() in LEET]
    return _replaced(seen, places, draw, lambda each: LEET[each.lower()])


def spread(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Puts spaces between the characters of a word: `kitchen` → `k i t c h e n`."""
    seen = characters(text)
    words = _words(seen, focus, shortest=2)
    if not words:
        return None
    word = words[int(draw.integers(len(words)))]
    return "".join([*seen[: word.start], " ".join(seen[word.start : word.end]), *seen[word.end :]])


def join(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Leaves out the space between a word and the next or the one before: `the kitchen` → `thekitchen`."""
    seen = characters(text)
    words = list(_all_words(seen, focus, 1))
    pairs = [(left, right) for left, right in pairwise(words) if not (left.address or right.address)]
    gaps = [(left.end, right.start) for left, right in pairs if left.chosen or right.chosen]
    gaps = [(start, end) for start, end in gaps if "".join(seen[start:end]).isspace()]
    if not gaps:
        return None
    start, end = gaps[int(draw.integers(len(gaps)))]
    return "".join([*seen[:start], *seen[end:]])


def upper(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Writes the text in capitals, or only the words of the focus: `KITCHEN`."""
    return _cased(text, focus, str.upper)


def lower(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Writes the text without capitals, or only the words of the focus: `kitchen`."""
    return _cased(text, focus, str.lower)


def unpunctuated(text: str, draw: Generator) -> str | None:
    """Leaves out punctuation: `Hot, isn't it?` → `Hot isn't it`; what is inside a word and `#` stay, and addresses."""
    kept = "".join(each if _is_address(each) else _bare(each) for each in re.split(r"(\s+)", text))
    return kept if kept != text and kept.strip() else None


def _bare(token: str) -> str:
    seen = characters(token)
    return "".join(each for at, each in enumerate(seen) if not _is_loose(seen, at))


def _is_loose(seen: Sequence[str], at: int) -> bool:
    if not unicodedata.category(seen[at][0]).startswith("P"):
        return False
    before, after = (each[0].isalnum() if each else False for each in (_at(seen, at - 1), _at(seen, at + 1)))
    return not (after and (before or seen[at] == "#"))


def _at(seen: Sequence[str], place: int) -> str:
    return seen[place] if 0 <= place < len(seen) else ""


def _cased(text: str, focus: Sequence[str], case: Callable[[str], str]) -> str | None:
    if not focus:
        changed = case(text)
    else:
        seen = characters(text)
        for word in _words(seen, focus, shortest=1):
            seen[word.start : word.end] = [case(each) for each in seen[word.start : word.end]]
        changed = "".join(seen)
    return changed if changed != text else None


def _places(
    seen: Sequence[str], focus: Sequence[str], fits: Callable[[int, Word], bool] = lambda at, word: True
) -> list[int]:
    """Places inside words that may be changed, neither first nor last in their word."""
    return [at for word in _words(seen, focus) for at in range(word.start + 1, word.end - 1) if fits(at, word)]


def _one(places: Sequence[int], draw: Generator) -> int | None:
    return places[int(draw.integers(len(places)))] if places else None


def _replaced(seen: list[str], places: Sequence[int], draw: Generator, by: Callable[[str], str]) -> str | None:
    if (at := _one(places, draw)) is None:
        return None
    return "".join([*seen[:at], by(seen[at]), *seen[at + 1 :]])


def _like(letter: str, other: str) -> str:
    return other.upper() if letter.isupper() else other


def _words(seen: Sequence[str], focus: Sequence[str], shortest: int = 3) -> list[Word]:
    return [word for word in _all_words(seen, focus, shortest) if word.chosen]


def _all_words(seen: Sequence[str], focus: Sequence[str], shortest: int) -> Iterator[Word]:
    """Runs of letters; `shortest` is the least length of a word of the focus that may be changed."""
    wanted = {part.casefold() for each in focus for part in each.split()}
    at_least = shortest if focus else SHORTEST
    for start, end in _runs([not each.isspace() for each in seen]):
        address = _is_address("".join(seen[start:end]))
        for first, last in _runs([each[0].isalpha() for each in seen[start:end]]):
            word = "".join(seen[start + first : start + last])
            chosen = word.casefold() in wanted if focus else not address
            yield Word(start + first, start + last, chosen and last - first >= at_least, address)


def _is_address(token: str) -> bool:
    return any(sign in token for sign in ADDRESS) or token.startswith("www.")


def _runs(belongs: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Where neighbours belong: first place, and the place after the last."""
    start = 0
    for at, each in enumerate([*belongs, False]):
        if not each:
            if at > start:
                yield start, at
            start = at + 1


def _beside() -> dict[str, list[str]]:
    """The keys that touch each letter's key: the rows of a keyboard are shifted by half a key."""
    where = {key: (row, place + row / 2) for row, keys in enumerate(KEYS) for place, key in enumerate(keys)}
    return {
        key: [other for other, (r, x) in where.items() if other != key and abs(r - row) <= 1 and abs(x - place) <= 1]
        for key, (row, place) in where.items()
    }


KEYS_BESIDE = _beside()
