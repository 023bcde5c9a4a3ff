"""Small datasets full of faults, and slow but plain ways to find them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tiny_data import build
from unseen.repairs import Repaired
from unseen.types import PARTS, Certificate, Dataset, Split

WORDS = [
    "rain", "wind", "cloud", "storm", "bread", "soup", "salt", "pan", "goal", "team", "ball", "match", "river", "stone",
]  # fmt: skip


def leaky(seed: int, n: int = 90) -> Dataset:
    """Texts with copies, copies but for trifles and near copies; conflicting labels; crowded users, some missing."""
    rng = np.random.default_rng(seed)
    texts: list[str] = []
    for row in range(n):
        draw = rng.random()
        source = texts[int(rng.integers(row))] if row else ""
        if row and draw < 0.12:
            texts.append(source)
        elif row and draw < 0.22:
            texts.append(f"@ann {source.upper()}!!")
        elif row and draw < 0.3:
            texts.append(f"{source} x")
        else:
            texts.append(" ".join(rng.choice(WORDS, 12)))
    users = [None if rng.random() < 0.1 else f"u{int(rng.zipf(1.6)) % 30}" for _ in range(n)]
    return build(
        ids=[f"r{number:03}" for number in rng.permutation(n)],
        texts=texts,
        labels=[("no", "yes")[int(each)] for each in rng.integers(0, 2, n)],
        user=users,
        thread=[f"t{int(each)}" for each in rng.integers(0, 40, n)],
    )


def divided(data: Dataset, seed: int = 0, shares: Sequence[float] = (0.55, 0.1, 0.25, 0.05, 0.05)) -> Split:
    """A random split with rows in every part."""
    parts = np.random.default_rng(seed).choice(len(PARTS), len(data), p=shares).astype(np.int8)
    return given(data, [PARTS[part] for part in parts])


def given(data: Dataset, parts: Iterable[str]) -> Split:
    """The split with these parts."""
    codes = np.array([PARTS.index(part) for part in parts], dtype=np.int8)
    return Split("given", data.ids, codes, np.full(len(codes), -1), Certificate({}, {}), data.fingerprint)


def side_of(part: str) -> str | None:
    return {"train": "train", "dev": "train", "test": "test"}.get(part)


def parts_by_id(split: Split) -> dict[str, str]:
    return dict(zip(split.ids.to_pylist(), (PARTS[part] for part in split.parts), strict=True))


def column(data: Dataset, name: str) -> dict[str, Any]:
    return dict(zip(data.ids.to_pylist(), data.table[name].to_pylist(), strict=True))


def on_both_sides(data: Dataset, split: Split, attribute: str) -> set[Any]:
    """Values with rows in test and in train or dev."""
    sides = defaultdict(set)
    for name, part in parts_by_id(split).items():
        sides[column(data, attribute)[name]].add(side_of(part))
    return {value for value, found in sides.items() if value is not None and {"train", "test"} <= found}


def form(text: str) -> str:
    """The normal form of the texts of `leaky`."""
    return " ".join(re.sub(r"[^a-z0-9 ]", " ", re.sub(r"@\S+", " ", text.lower())).split())


def are_alike(one: str, other: str, kind: str) -> bool:
    if kind == "exact":
        return one == other
    one, other = form(one), form(other)
    if kind == "normalised":
        return one == other
    first, second = ({text[at : at + 5] for at in range(len(text) - 4)} for text in (one, other))
    return len(first & second) >= 0.8 * len(first | second)


def alike_pairs(data: Dataset, split: Split, kind: str) -> list[tuple[str, str]]:
    """Parts of each pair of alike texts among rows that are used."""
    texts, parts = column(data, "text"), parts_by_id(split)
    names = [name for name in texts if side_of(parts[name])]
    return [
        (parts[one], parts[other])
        for place, one in enumerate(names)
        for other in names[:place]
        if are_alike(texts[one], texts[other], kind)
    ]


def crowds(data: Dataset, split: Split, attribute: str, parts: set[str]) -> list[int]:
    """Rows per value and class in these parts."""
    counts: dict[Any, int] = defaultdict(int)
    values, labels = column(data, attribute), column(data, "label")
    for name, part in parts_by_id(split).items():
        if part in parts and values[name] is not None:
            counts[values[name], labels[name]] += 1
    return list(counts.values())


def outcome(made: Repaired) -> tuple[dict[str, str], dict[str, str], set[tuple[str, ...]]]:
    """Parts, labels and changes by id: what must not depend on the order of rows."""
    changes = {(each.id, each.action, each.reason, each.before, each.after, each.like) for each in made.changes}
    return parts_by_id(made.split), column(made.data, "label"), changes
