"""Perturbations: what each changes, what it never breaks, and where it does not apply."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.functional.perturbations import KEYS_BESIDE, LEET, PERTURBATIONS, characters
from unseen.seeding import generator

TEXT = "The angry waiter dropped every single bowl of soup."
FOCUSED = [name for name in PERTURBATIONS if name != "unpunctuated"]
words = st.text(st.sampled_from("abcdefgh óñ.,!@#'\u0301\U0001f44d\U0001f3fd\u200d"), max_size=40)


def applied(name: str, text: str, seed: int = 0, **more: object) -> str | None:
    return PERTURBATIONS.get(name)(text, generator(seed, "case"), **more)


def changed_words(name: str, text: str, seed: int = 0, **more: object) -> list[tuple[str, str]]:
    made = applied(name, text, seed, **more)
    assert made is not None
    return [(a, b) for a, b in zip(text.split(), made.split(), strict=True) if a != b]


@pytest.mark.parametrize("seed", range(10))
def test_swap_exchanges_two_inner_neighbours(seed: int) -> None:
    ((old, new),) = changed_words("swap", TEXT, seed)
    at = next(i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
    assert new == old[:at] + old[at + 1] + old[at] + old[at + 2 :]
    assert old[0] == new[0]
    assert old.rstrip(".")[-1] == new.rstrip(".")[-1]
    assert len(old) >= 4


@pytest.mark.parametrize("seed", range(10))
def test_delete_leaves_out_one_inner_character(seed: int) -> None:
    ((old, new),) = changed_words("delete", TEXT, seed)
    assert new in {old[:at] + old[at + 1 :] for at in range(1, len(old.rstrip(".")) - 1)}


@pytest.mark.parametrize("seed", range(10))
def test_double_repeats_one_inner_character(seed: int) -> None:
    ((old, new),) = changed_words("double", TEXT, seed)
    assert new in {old[: at + 1] + old[at:] for at in range(1, len(old.rstrip(".")) - 1)}


@pytest.mark.parametrize("seed", range(10))
def test_leet_writes_one_digit(seed: int) -> None:
    ((old, new),) = changed_words("leet", TEXT.upper(), seed)
    ((letter, digit),) = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert LEET[letter.lower()] == digit


@pytest.mark.parametrize("seed", range(10))
def test_neighbour_hits_a_key_beside_and_keeps_the_case(seed: int) -> None:
    ((old, new),) = changed_words("neighbour", TEXT.upper(), seed)
    ((letter, hit),) = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert hit.isupper()
    assert hit.lower() in KEYS_BESIDE[letter.lower()]


def test_keys_beside_each_other_are_so_both_ways() -> None:
    assert sorted(KEYS_BESIDE["s"]) == sorted("wedxza")
    assert sorted(KEYS_BESIDE["p"]) == sorted("ol")
    assert len(KEYS_BESIDE) == 26
    assert all(key in KEYS_BESIDE[other] for key, others in KEYS_BESIDE.items() for other in others)


@pytest.mark.parametrize("seed", range(10))
def test_spread_and_join_change_only_spaces(seed: int) -> None:
    spread, joined = applied("spread", TEXT, seed), applied("join", TEXT, seed)
    assert spread is not None
    assert joined is not None
    assert spread.replace(" ", "") == joined.replace(" ", "") == TEXT.replace(" ", "")
    assert joined.count(" ") == TEXT.count(" ") - 1
    assert spread.count(" ") >= TEXT.count(" ") + 3


def test_case_and_punctuation() -> None:
    text = "Hot, isn't it?! #Soup by @the_cook: see https://soup.example/a,b!"
    assert applied("upper", text) == text.upper()
    assert applied("lower", text) == text.lower()
    assert applied("unpunctuated", text) == "Hot isn't it #Soup by @the_cook: see https://soup.example/a,b!"
    assert applied("upper", "ALL") is applied("lower", "all") is applied("unpunctuated", "no mark") is None
    assert applied("unpunctuated", "?!") is None


@pytest.mark.parametrize("name", FOCUSED)
def test_a_focus_chooses_the_word(name: str) -> None:
    text = "A bowl of Broth and another bowl"
    for seed in range(5):
        made = applied(name, text, seed, focus=["some thing", "cold broth"])
        assert made is not None
        assert made != text
        assert made.startswith("A bowl of")
        assert made.endswith("and another bowl")
        assert applied(name, text, seed, focus=["spoon"]) is None


def test_punctuation_takes_no_focus() -> None:
    with pytest.raises(TypeError):
        applied("unpunctuated", TEXT, focus=["soup"])


@pytest.mark.parametrize("name", [name for name in FOCUSED if name not in ("upper", "lower")])
@pytest.mark.parametrize(
    "text", ["", "a of the", "1234 5678", "@someone http://soup.example/page www.soup.example ???"]
)
def test_what_has_no_word_to_change_is_not_changed(name: str, text: str) -> None:
    assert applied(name, text) is None


@pytest.mark.parametrize("name", ["swap", "delete", "double", "leet", "neighbour", "spread", "join"])
def test_mentions_and_addresses_stay(name: str) -> None:
    for seed in range(20):
        made = applied(name, "ask @someone about soup on https://soup.example/menu today", seed)
        assert made is not None
        assert "@someone " in made
        assert " https://soup.example/menu " in made


@given(words, st.sampled_from(list(PERTURBATIONS)), st.integers(0, 3))
def test_characters_that_a_reader_sees_stay_whole(text: str, name: str, seed: int) -> None:
    made = applied(name, text, seed)
    joins = name == "unpunctuated" and "\u200d" in text  # what a joiner meets when a mark is gone is joined
    if made is None or joins or name in ("upper", "lower"):
        return
    marks = {each for each in characters(text) if len(each) > 1}
    new = {each for each in characters(made) if len(each) > 1}
    assert new <= marks


@given(words, st.sampled_from(list(PERTURBATIONS)))
def test_the_same_generator_gives_the_same_text(text: str, name: str) -> None:
    assert applied(name, text, 3) == applied(name, text, 3)


def test_accents_move_with_their_letters() -> None:
    text = "cre\u0301me"
    assert {applied("swap", text, seed) for seed in range(20)} == {"ce\u0301rme", "crme\u0301e"}
    assert "cr\u0301me" not in {applied("delete", text, seed) for seed in range(20)}
    assert applied("spread", text) == "c r e\u0301 m e"


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301\u0323",
        "\U0001f44d\U0001f3fd",
        "\U0001f469\u200d\U0001f373",
        "\U0001f1eb\U0001f1f7",
        "\u2764\ufe0f",
        "\u1112\u1161\u11ab",
    ],
)
def test_what_looks_like_one_character_is_one(whole: str) -> None:
    assert characters(f"a{whole}b") == ["a", whole, "b"]


def test_two_flags_are_two_characters() -> None:
    assert characters("\U0001f1eb\U0001f1f7\U0001f1ee\U0001f1f9") == ["\U0001f1eb\U0001f1f7", "\U0001f1ee\U0001f1f9"]


def test_every_word_and_place_is_chosen_sometimes() -> None:
    draw = np.random.default_rng(0)
    made = Counter(PERTURBATIONS.get("delete")("salt pepper", draw) for _ in range(400))
    assert set(made) == {"slt pepper", "sat pepper"} | {f"salt {w}" for w in ("ppper", "peper", "peppr")}
