"""Posts, a model of them and words for an attack, small enough for sessions of people in tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import unseen
from tiny_data import build
from unseen.attacks.recipes import WordAttack
from unseen.attacks.sources import Synonyms
from unseen.seeding import generator
from unseen.types import Dataset

WORDS = {"good": ("fine", "lovely", "bright", "warm"), "bad": ("awful", "dull", "cold", "bitter")}
OTHER = ("film", "dinner", "evening", "story", "garden", "letter")
WEAKER = {"fine": ["dull", "okay"], "lovely": ["cold", "nice"], "awful": ["fine", "poor"], "dull": ["warm", "slow"]}
SYNONYMS = "".join(f"{word} {other}\n" for word, others in WEAKER.items() for other in others)


def posts(n: int = 80, evil: str = "") -> Dataset:
    """Posts of three words that carry the label, among others that do not."""
    draw = generator(3, "attacked posts")
    labels = [("good", "bad")[row % 2] for row in range(n)]
    texts = []
    for label in labels:
        (one, other), (first, second) = draw.choice(OTHER, 2), draw.choice(WORDS[label], 2, replace=False)
        texts.append(f"The {one} was {first} and {second}, the {other} {draw.choice(WORDS[label])}.{evil}")
    return build([f"p{row:02}" for row in range(n)], texts, labels, ("bad", "good"))


def fitted(data: Dataset) -> Any:
    return unseen.train(data, model="logistic")


class DeletionAttack(WordAttack):
    """Words of a list by what deleting each does."""

    name: ClassVar[str] = "listed"
    source = Synonyms(lambda word: WEAKER.get(word, ()))  # type: ignore[assignment]


def write_synonyms(folder: Path) -> Path:
    path = folder / "synonyms.txt"
    path.write_text(SYNONYMS, encoding="utf-8")
    return path
