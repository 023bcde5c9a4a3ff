"""The sample corpus: invented messages to the services of a town that does not exist.

Nobody wrote these texts. A seeded grammar does, from the phrases in `sample.toml`, so that demos and
tests have something to split without a download. It is built to flatter a random split: each topic says
a label in its own manner, and what means one label here means another there. Scores on it say nothing
about real messages.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from itertools import accumulate, count
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from unseen.errors import InputError
from unseen.seeding import generator
from unseen.types import Dataset, Origin, string_array
from unseen.types.arrays import encode_labels

T = TypeVar("T")
Phrases = dict[str, list[list[str]]]

ATTRIBUTES = ("author", "source", "thread", "topic", "written", "register", "manner", "noisy")
SMALLEST = 100
"""Fewer texts cannot show every label in several topics."""
WORDS = (5, 30)
FIRST_DAY = date(2023, 1, 1)
DAYS = 730
NOISE = 0.04
"""Share of texts whose label was replaced by another; `noisy` tells which."""
REPOSTS = 0.07
"""Share of threads that repeat an earlier text."""
VERBATIM = 0.2
"""Share of reposts without any change."""
FAVOURITE = 8
"""How much likelier than others a person is to write about a favourite topic."""
AT_HOME = 0.7
"""Share of a person's messages in their own source or register."""
HABIT = 0.25
"""Share of a person's messages that carry their pet phrase, and of those that carry their sign-off."""


def sample_corpus(n: int = 3000, seed: int = 42) -> Dataset:
    """`n` synthetic messages labelled complaint, request or praise, oldest first; the same for the same arguments.

    About 4 % of the labels are wrong on purpose (`noisy` is "yes" there), about 1 % of the texts repeat
    an earlier one and some 4 % nearly do. `manner` says how the true label was put into words, `register`
    how carefully. A smaller corpus is not the beginning of a larger one.
    """
    _check("n", n, SMALLEST)
    _check("seed", seed, 0)
    material = _material()
    names = tuple(material["labels"])
    messages = _messages(int(n), material, int(seed))
    draw = Draws(generator(int(seed), "sample", "noise"))
    noisy = [draw.chance(NOISE) for _ in messages]
    others = {label: [name for name in names if name != label] for label in names}
    labels = [
        draw.one(others[message.label]) if wrong else message.label
        for message, wrong in zip(messages, noisy, strict=True)
    ]
    columns: dict[str, Any] = {
        "id": string_array([f"sample-{row:05d}" for row in range(n)]),
        "text": string_array([message.text for message in messages]),
        "label": encode_labels(pa.chunked_array([labels]), names),
        **{name: [getattr(message, name) for message in messages] for name in ATTRIBUTES[:-1]},
        "noisy": ["yes" if wrong else "no" for wrong in noisy],
    }
    return Dataset("sample", pa.table(columns), names, ATTRIBUTES, Origin("sample", {"n": int(n)}, int(seed)))


def _check(name: str, value: int, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        expected = f"a whole number, at least {least}"
        raise InputError(f"the sample corpus cannot be made with this {name}", expected=expected, got=repr(value))


@cache
def _material() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("sample.toml").read_text(encoding="utf-8"))


class Draws:
    """Choices made with one stream of uniform numbers, the part of numpy's generator that never changes."""

    def __init__(self, random: np.random.Generator) -> None:
        self._numbers: Iterator[float] = (number for _ in count() for number in random.random(4096).tolist())

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return next(self._numbers) < probability

    def one(self, items: Sequence[T]) -> T:
        """One of `items`, all equally likely."""
        return items[int(next(self._numbers) * len(items))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, as likely as its weight says."""
        sums = list(accumulate(weights.values()))
        return list(weights)[bisect(sums, next(self._numbers) * sums[-1])]


def _parsed(texts: Mapping[str, Sequence[str]]) -> Phrases:
    """Phrases by name, each as a list with literals at even places and names of slots at odd ones."""
    phrases: Phrases = {}
    waiting = [(name, [form for text in own for form in _counted(text)]) for name, own in texts.items()]
    while waiting:
        name, forms = waiting.pop()
        phrases[name] = [re.split(r"\{([^{}]+)\}", form) for form in forms]
        slots = [slot for parts in phrases[name] for slot in parts[1::2]]
        waiting += [(slot, slot.split("|")) for slot in slots if "|" in slot and slot not in phrases]
    return phrases


def _counted(text: str) -> list[str]:
    """The numbers that "3..9" stands for; any other text alone."""
    ends = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    return [str(number) for number in range(int(ends[1]), int(ends[2]) + 1)] if ends else [text]


def _say(name: str, phrases: Phrases, draw: Draws) -> str:
    """A phrase of this name, its slots filled."""
    parts = draw.one(phrases[name])
    return "".join(_say(part, phrases, draw) if place % 2 else part for place, part in enumerate(parts))


class Register:
    """A way of writing: words shortened or dropped, slips of the finger, no capitals, no full stop."""

    def __init__(self, habits: Mapping[str, float], swap: Mapping[str, str]) -> None:
        self._habits, self._swap = habits, swap
        longest_first = sorted(swap, key=len, reverse=True)
        self._swapped = re.compile(rf"\b(?:{'|'.join(longest_first)})\b") if swap else None

    def has(self, habit: str, draw: Draws) -> bool:
        """Whether a message shows the habit."""
        return draw.chance(self._habits[habit])

    def write(self, text: str, draw: Draws) -> str:
        """`text` in this register."""
        if self._swapped:
            text = self._swapped.sub(lambda match: self._swap[match[0]], text)
        if self._habits["typo"]:
            text = " ".join(_slip(word, draw) if self.has("typo", draw) else word for word in text.split(" "))
        text = re.sub(r" +([,.?;:] )", r"\1", " ".join(text.split())).lstrip(",: ")
        text = text if self.has("stop", draw) else text.rstrip(".?")
        if self.has("lower", draw):
            return text.lower()
        return re.sub(r"(^|[.?!] )([a-z])", lambda match: match[1] + match[2].upper(), text)


def _slip(word: str, draw: Draws) -> str:
    """`word` with two letters swapped, one dropped or one doubled; short words and numbers as they are."""
    if len(word) < 3 or not word.isalpha():
        return word
    at = draw.one(range(1, len(word) - 1))
    before, letter, after = word[:at], word[at], word[at + 1 :]
    return before + draw.one((after[0] + letter + after[1:], after, letter + letter + after))


@dataclass(frozen=True)
class Person:
    """Somebody who writes, with their ways."""

    author: str
    register: str
    source: str
    topics: tuple[str, ...]
    temperament: tuple[float, ...]
    """How many messages of each label they write for one of an average person."""
    aside: str
    sign: str


@dataclass(frozen=True)
class Message:
    """One text and the truth about it."""

    text: str
    label: str
    author: str
    source: str
    thread: str
    topic: str
    written: str
    register: str
    manner: str


def _people(material: Mapping[str, Any], draw: Draws) -> Iterator[Person]:
    people, sources = material["people"], material["sources"]
    names = [f"{first}_{second}" for first in people["first"] for second in people["second"]]
    topics, temperaments = list(material["topics"]), material["temperaments"]
    for number in range(people["count"]):
        source = draw.weighted({name: table["share"] for name, table in sources.items()})
        yield Person(
            author=names.pop(draw.one(range(len(names)))),
            register=draw.weighted(sources[source]["registers"]),
            source=source,
            topics=(topics[number % len(topics)], draw.one(topics)),
            temperament=tuple(temperaments[number % len(temperaments)]),
            aside=draw.one(people["asides"]),
            sign=draw.one(people["signs"]),
        )


class Town:
    """Who writes what about which topic, and when."""

    def __init__(self, material: Mapping[str, Any], draw: Draws) -> None:
        self._draw = draw
        self._labels: Sequence[str] = material["labels"]
        self._topics: Mapping[str, Any] = material["topics"]
        self._sources: Mapping[str, Any] = material["sources"]
        registers = material["registers"]
        self._registers = {name: Register(table["habits"], table["swap"]) for name, table in registers.items()}
        shared = _parsed(material["phrases"])
        of_register = {name: _parsed(table["phrases"]) for name, table in registers.items()}
        of_topic = {name: _parsed(table["phrases"]) for name, table in self._topics.items()}
        self._phrases = {
            (topic, register): {**shared, **of_register[register], **of_topic[topic]}
            for topic in of_topic
            for register in of_register
        }
        # Zipf-like: whoever stands in the list more often writes more often.
        people = enumerate(_people(material, draw))
        self._openers = [person for rank, person in people for _ in range(600 // (rank + 3))]
        self._repliers = {
            topic: [person for person in self._openers for _ in range(_taste(person, topic))] for topic in of_topic
        }

    def conversation(self, thread: str) -> list[Message]:
        """The messages of one thread, about one topic in one source; where `private`, all by one person."""
        draw = self._draw
        opener = draw.one(self._openers)
        day = draw.one(range(DAYS))
        quarter = day * 8 // DAYS
        shares = {name: table["share"][quarter] for name, table in self._topics.items()}
        topic = draw.weighted({name: share * _taste(opener, name) for name, share in shares.items()})
        source = opener.source if draw.chance(AT_HOME) else draw.one(list(self._sources))
        about = self._sources[source]
        messages = [self._message(opener, topic, source, day, thread)]
        while draw.chance(about["replies"]):
            writer = opener if about["private"] or draw.chance(0.3) else draw.one(self._repliers[topic])
            day = min(DAYS - 1, day + draw.one(range(4)))
            messages.append(self._message(writer, topic, source, day, thread))
        return messages

    def repost(self, message: Message, thread: str) -> Message:
        """`message` sent once more by its author in a thread of its own, as it was or with a small change."""
        draw, text = self._draw, message.text
        if not draw.chance(VERBATIM):
            word = draw.one(text.split())
            text = text.replace(word, _slip(word, draw), 1)
            longer = _say("intro", self._phrases[message.topic, message.register], draw) + " " + text
            text = longer if len(longer.split()) <= WORDS[1] else text
        later = date.fromisoformat(message.written) + timedelta(draw.one(range(6)))
        written = min(later, FIRST_DAY + timedelta(DAYS - 1)).isoformat()
        return replace(message, text=text, source=draw.one(list(self._sources)), thread=thread, written=written)

    def _message(self, person: Person, topic: str, source: str, day: int, thread: str) -> Message:
        draw, about = self._draw, self._topics[topic]
        register = person.register if draw.chance(AT_HOME) else draw.weighted(self._sources[source]["registers"])
        mix = zip(self._labels, about["mix"], person.temperament, strict=True)
        label = draw.weighted({name: share * tilt for name, share, tilt in mix})
        manner = draw.weighted(about["manners"][label])
        text = ""
        while not WORDS[0] <= len(text.split()) <= WORDS[1]:
            text = self._text(person, self._phrases[topic, register], register, f"{label}.{manner}")
        written = (FIRST_DAY + timedelta(day)).isoformat()
        return Message(text, label, person.author, source, thread, topic, written, register, manner)

    def _text(self, person: Person, phrases: Phrases, register: str, kind: str) -> str:
        """What was meant, with or without greeting, aside and sign-off; of any length."""
        draw, style = self._draw, self._registers[register]
        text = _say(kind, phrases, draw)
        if style.has("aside", draw):
            text += " " + _say("aside", phrases, draw)
        if draw.chance(HABIT):
            text = f"{person.aside}, {text}"
        elif style.has("opener", draw):
            text = _say("opener", phrases, draw) + " " + text
        if style.has("closer", draw):
            text += " " + _say("closer", phrases, draw)
        text = style.write(text, draw)
        return f"{text} {person.sign}".strip() if draw.chance(HABIT) else text


def _taste(person: Person, topic: str) -> int:
    return FAVOURITE if topic in person.topics else 1


def _messages(n: int, material: Mapping[str, Any], seed: int) -> list[Message]:
    draw = Draws(generator(seed, "sample", "messages"))
    town = Town(material, draw)
    threads = (f"thread-{number:05d}" for number in count())
    messages: list[Message] = []
    while len(messages) < n:
        again = messages and draw.chance(REPOSTS)
        messages += [town.repost(draw.one(messages), next(threads))] if again else town.conversation(next(threads))
    return sorted(messages[:n], key=lambda message: message.written)
