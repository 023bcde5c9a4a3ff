"""Small datasets of one task, each with words of its own."""

from __future__ import annotations

from typing import Any

from tiny_data import build
from unseen.runs.transfer_file import DatasetEntry
from unseen.seeding import generator
from unseen.types import Dataset

WORDS = {"no": ("calm", "kind", "warm", "mild"), "yes": ("loud", "harsh", "cold", "wild")}
LABELS = ("no", "yes")


def small(name: str, n: int = 120, label_names: tuple[str, ...] = LABELS) -> Dataset:
    """Posts whose label can often be told from their words, some of which only this dataset uses."""
    draw = generator(5, name)
    labels = [label_names[int(each)] for each in draw.integers(len(label_names), size=n)]
    kinds = [list(WORDS)[label_names.index(label) % 2] for label in labels]
    texts = []
    for row, kind in enumerate(kinds):
        said = list(WORDS)[int(draw.integers(2))] if draw.random() < 0.4 else kind
        own = [f"{name}{kind}{draw.integers(3)}", *(f"{name}{each}" for each in draw.integers(9, size=3))]
        texts.append(" ".join([*draw.choice(WORDS[said], 2), *own, f"{name} nr {row}"]))
    users = [f"u{int(each)}" for each in draw.integers(8, size=n)]
    parts = ["test" if row % 4 == 0 else "train" for row in range(n)]
    return build([f"{row:03}" for row in range(n)], texts, labels, label_names, user=users, part=parts)


def given(**changed: Any) -> dict[str, DatasetEntry]:
    return {
        "red": DatasetEntry(small("red")),
        "blue": DatasetEntry(small("blue", 90), groups="user"),
        "green": DatasetEntry(
            small("green", 100, ("fine", "bad", "odd")), map={"fine": "no", "bad": "yes", "odd": "drop"}
        ),
    } | changed
