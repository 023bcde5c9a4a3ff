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

from unseen.registry import Registry

NAMES = ("swap", "delete", "join", "spread", "leet", "double", "neighbour", "upper", "lower", "unpunctuated")
PERTURBATIONS = Registry("perturbation", {f"{name}.v1": f"{__name__}:{name}" for name in NAMES})
JOINER = "\u200d"
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
    return _replaced(seen, _places(seen, focus), draw, lambda letter: "")


def double(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Writes a character inside a word twice: `kitchen` → `kittchen`."""
    seen = characters(text)
    return _replaced(seen, _places(seen, focus), draw, lambda letter: letter * 2)


def neighbour(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Hits the key beside a letter, on a QWERTY keyboard: `kitchen` → `kotchen`."""
    seen = characters(text)
    places = _places(seen, focus, lambda at, word: seen[at].lower() in KEYS_BESIDE)
    return _replaced(seen, places, draw, lambda letter: _like(letter, str(draw.choice(KEYS_BESIDE[letter.lower()]))))


def leet(text: str, draw: Generator, focus: Sequence[str] = ()) -> str | None:
    """Writes a digit for a letter that looks like it: `kitchen` → `k1tchen`."""
    seen = characters(text)
    places = [at for word in _words(seen, focus) for at in range(word.start, word.end) if seen[at].lower() in LEET]
    return _replaced(seen, places, draw, lambda letter: LEET[letter.lower()])


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
    kept = "".join(token if _is_address(token) else _bare(token) for token in re.split(r"(\s+)", text))
    return kept if kept != text and kept.strip() else None


def characters(text: str) -> list[str]:
    """The text cut between user-perceived characters, as far as the standard library tells.

    Combining marks, variation selectors, skin tones, joined emoji, flags and the vowels and finals of decomposed
    Hangul stay with what they belong to; the full rules of Unicode's annex 29 know more scripts.

    >>> characters("e\u0301a") == ["e\u0301", "a"]
    True
    """
    if text.isascii():
        return list(text)
    seen: list[str] = []
    for point in text:
        if seen and _belongs(seen[-1], point):
            seen[-1] += point
        else:
            seen.append(point)
    return seen


def _belongs(before: str, point: str) -> bool:
    """Whether a code point is part of the character that it follows."""
    if point.isascii():
        return False
    if unicodedata.category(point) in ("Mn", "Me", "Mc") or point == JOINER:
        return True
    if before[-1] == JOINER:
        return not point.isalpha()
    is_tone = "\U0001f3fb" <= point <= "\U0001f3ff"
    is_tag = "\U000e0020" <= point <= "\U000e007f"
    is_inner_jamo = "\u1160" <= point <= "\u11ff"
    is_half_flag = _is_flag(point) and len(before) == 1 and _is_flag(before)
    return is_tone or is_tag or is_inner_jamo or is_half_flag


def _is_flag(point: str) -> bool:
    return "\U0001f1e6" <= point <= "\U0001f1ff"


def _bare(token: str) -> str:
    seen = characters(token)
    return "".join(character for at, character in enumerate(seen) if not _is_loose(seen, at))


def _is_loose(seen: Sequence[str], at: int) -> bool:
    """Whether a character is punctuation that stands neither inside a word nor, as `#`, before one."""
    if not unicodedata.category(seen[at][0]).startswith("P"):
        return False
    before = at > 0 and seen[at - 1][0].isalnum()
    after = at + 1 < len(seen) and seen[at + 1][0].isalnum()
    return not (after and (before or seen[at] == "#"))


def _cased(text: str, focus: Sequence[str], case: Callable[[str], str]) -> str | None:
    if not focus:
        changed = case(text)
    else:
        seen = characters(text)
        for word in _words(seen, focus, shortest=1):
            seen[word.start : word.end] = [case(character) for character in seen[word.start : word.end]]
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
    focused = {part.casefold() for term in focus for part in term.split()}
    at_least = shortest if focus else SHORTEST
    for start, end in _runs([not character.isspace() for character in seen]):
        address = _is_address("".join(seen[start:end]))
        for first, last in _runs([character[0].isalpha() for character in seen[start:end]]):
            word = "".join(seen[start + first : start + last])
            chosen = word.casefold() in focused if focus else not address
            yield Word(start + first, start + last, chosen and last - first >= at_least, address)


def _is_address(token: str) -> bool:
    return any(sign in token for sign in ADDRESS) or token.startswith("www.")


def _runs(belongs: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Where neighbours belong: first place, and the place after the last."""
    start = 0
    for at, is_inside in enumerate([*belongs, False]):
        if not is_inside:
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
