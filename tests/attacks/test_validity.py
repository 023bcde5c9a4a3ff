"""What checks object to; hand-made changes, the published bad examples among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unseen.attacks import validity
from unseen.attacks.validity import ChangedText, Knowledge, judged, learn_label_words, misread

TAGS = {"bad": ("JJ",), "good": ("JJ",), "waste": ("NN", "VB"), "moor": ("NN",), "a": ("DT",), "walks": ("VBZ", "NNS"),
        "walk": ("VB", "NN"), "goes": ("VBZ",), "poor": ("JJ",)}  # fmt: skip
KNOWN = Knowledge(
    {"calm": frozenset({"rain"}), "loud": frozenset({"goal"})}, {"bad": ("good",), "good": ("bad",)}, TAGS, None, "en"
)


def verdicts(original: str, changed: str, label: str = "calm", characters: bool = False) -> dict[str, bool | None]:
    change = ChangedText(original, changed, label, characters)
    return {name: of_change[0] for name, of_change in judged([change], KNOWN).items()}


@pytest.mark.parametrize(
    ("original", "changed", "check", "verdict"),
    [
        ("a bad film", "a good film", "antonyms", False),
        ("a bad film", "a poor film", "antonyms", True),
        ("such a waste of film", "such a moor of film", "part of speech", True),  # a noun for a noun: not enough
        ("a film", "axerophthol film", "readable", False),
        ("he walks home", "he goes home", "grammar", True),
        ("he walks home", "he walk home", "grammar", False),
        ("he walks home", "he walk home", "part of speech", True),
        ("he walks home", "he bad home", "part of speech", False),
        ("he xyzzy home", "he walk home", "part of speech", None),
        ("so much rain here", "so much water here", "label words", False),
        ("so much water here", "so much goal here", "label words", False),
        ("so much water here", "so much rain here", "label words", True),
        ("one two three four five", "one six three four seven", "few edits", False),
        ("one two", "one six", "few edits", True),
    ],
)
def test_checks_of_words(original: str, changed: str, check: str, verdict: bool | None) -> None:
    assert verdicts(original, changed)[check] is verdict


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [("kitchen", "kitzchen", False), ("kitchen", "kithcen", False), ("kitchen", "zitchen", True),
     ("hate", "have", True), ("mess", "mzzs", True), ("can", "czn", True)],
)  # fmt: skip
def test_a_misspelt_word_is_read_unless_it_is_another_or_too_far(old: str, new: str, wrong: bool) -> None:
    assert misread(old, new) is wrong
    assert verdicts(f"the {old} here", f"the {new} here", characters=True)["readable"] is not wrong


def test_misspelt_words_carry_their_label_still() -> None:
    of_spelling = verdicts("so much rain here", "so much ra1n here", characters=True)
    assert of_spelling["label words"] is of_spelling["part of speech"] is of_spelling["grammar"] is None


def test_another_language_is_told() -> None:
    english = "this is a text that is written in the language of these people and of no others"
    german = "dies ist ein Text der in der Sprache von diesen Leuten geschrieben ist und nicht anders"
    assert verdicts(english, english.replace("text", "story"))["language"] is True
    assert verdicts(english, german)["language"] is False
    assert verdicts(german, german.replace("Text", "Brief"))["language"] is None


def test_similarity_is_of_whole_texts_and_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def cosines(encoder: str, pairs: list[tuple[str, str]]) -> Any:
        asked.append((encoder, pairs))
        return np.array([0.9, 0.5])

    monkeypatch.setattr(validity, "cosines", cosines)
    changes = [ChangedText("a b", "a c", "calm"), ChangedText("a", "x", "calm", True), ChangedText("d", "e", "calm")]
    assert validity.similar(changes, "minilm") == [True, None, False]
    assert asked == [("minilm", [("a b", "a c"), ("d", "e")])]


def test_what_is_not_given_is_not_checked_and_named() -> None:
    nothing = Knowledge({}, None, None, None, None)
    assert nothing.unchecked == ["antonyms", "part of speech", "grammar", "similarity", "language", "readable"]
    told = judged([ChangedText("bad film", "good film", "calm")], nothing)
    assert {name for name, verdict in told.items() if verdict == [None]} == set(nothing.unchecked)


def test_words_that_carry_a_label_are_learnt(tiny: Any) -> None:
    texts = ["rain today"] * 20 + ["goal today"] * 20 + ["rare calm thing"]
    data = tiny(
        ids=[str(row) for row in range(41)], texts=texts, labels=["calm"] * 20 + ["loud"] * 20 + ["calm"],
        label_names=("calm", "loud"),
    )  # fmt: skip
    assert learn_label_words(data) == {"calm": {"rain", "calm"}, "loud": {"goal", "loud"}}
