"""A small suite about kitchen workers and a task that it tests, for learning from the one and the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tiny_data import build
from unseen.types import Dataset

PRAISE, BLAME = ["kind", "swift", "tidy", "warm"], ["lazy", "rude", "slow", "loud"]
FUNCTIONALITIES: Mapping[str, str] = {
    "plain_blame": "rude", "plain_praise": "fine", "negate_blame": "fine", "negate_praise": "rude",
    "spell_swap": "rude", "ask_blame": "rude", "ask_praise": "fine",
}  # fmt: skip
GROUPS = ("cooks", "waiters", None)
LABELS = {"insult": "rude", "other": "fine"}


def text_of(functionality: str, template: int, group: str | None) -> str:
    kind, _, tone = functionality.partition("_")
    word = (BLAME if tone in ("blame", "swap") else PRAISE)[template % 4]
    word = word[0] + word[2] + word[1] + word[3:] if tone == "swap" else word
    who = group or "the soup"
    return {"negate": f"{who} are not {word} number{template}", "ask": f"why are {who} so {word} number{template}"}.get(
        kind, f"{who} are {word} number{template}"
    )


def small_suite(templates: int = 6) -> Dataset:
    """Seven functionalities in four classes, `templates` templates each, two groups and cases about none.

    Negations and spellings refer to the plain case that they alter.
    """
    rows = [
        (name, template, group)
        for name in FUNCTIONALITIES
        for template in range(templates)
        for group in GROUPS
    ]  # fmt: skip
    plain = {"negate_blame": "plain_blame", "negate_praise": "plain_praise", "spell_swap": "plain_blame"}
    return build(
        [f"{name}-{template}-{group}" for name, template, group in rows],
        [text_of(*row) for row in rows],
        [FUNCTIONALITIES[name] for name, _, _ in rows],
        ("fine", "rude"),
        functionality=[name for name, _, _ in rows],
        target=[group for _, _, group in rows],
        template=[f"{name}-{template}" for name, template, _ in rows],
        reference=[f"{plain[name]}-{template}-{group}" if name in plain else None for name, template, group in rows],
    )


def small_task(number: int = 240, seed: int = 0, names: Sequence[str] = ("insult", "other")) -> Dataset:
    """Texts in which a word of praise or blame tells the label, most of the time."""
    draw = np.random.default_rng(seed)
    blame = draw.random(number) < 0.4
    swapped = draw.random(number) < 0.1
    fillers = ["today", "again", "here", "they", "we", "said", "dinner", "table"]
    texts = [
        " ".join([*draw.choice(fillers, 3), str(draw.choice(BLAME if each else PRAISE)), f"n{row}"])
        for row, each in enumerate(blame)
    ]
    labels = [names[0] if each else names[1] for each in blame ^ swapped]
    return build([f"t{row}" for row in range(number)], texts, labels, tuple(names))
