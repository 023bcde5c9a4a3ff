"""Texts as words and gaps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.attacks.worded_text import WordedText, edit_rate, like, swaps

SENTENCES = st.lists(st.sampled_from(["rain", "don't", "X", "…", ",", "well-known", "42", "@", "👍"]), max_size=8)


@given(st.text(max_size=40) | SENTENCES.map(" ".join))
def test_words_and_gaps_are_the_whole_text(text: str) -> None:
    worded = WordedText.of(text)
    assert worded.text == text
    assert len(worded.gaps) == len(worded.words) + 1


@given(SENTENCES.map(" ".join), st.data())
def test_changing_a_word_changes_nothing_else(text: str, data: st.DataObject) -> None:
    worded = WordedText.of(text)
    if worded.words:
        place = data.draw(st.integers(0, len(worded.words) - 1))
        changed = worded.with_word(place, "zzz")
        assert changed.with_word(place, worded.words[place]) == worded
        assert WordedText.of(changed.text).words == changed.words
        assert WordedText.of(worded.without(place)).words == worded.words[:place] + worded.words[place + 1 :]


@pytest.mark.parametrize(
    ("text", "place", "left"),
    [("a b c", 1, "a c"), ("a b, c", 1, "a, c"), ("a b", 1, "a"), ("a b", 0, "b"), ("(a) b", 0, "() b"), ("a", 0, "")],
)
def test_a_deleted_word_leaves_no_double_blank(text: str, place: int, left: str) -> None:
    assert WordedText.of(text).without(place) == left


@pytest.mark.parametrize(("place", "window"), [(0, "a b c"), (3, "c d, e"), (5, "d, e f")])
def test_a_window_has_so_many_words_around_a_place(place: int, window: str) -> None:
    assert WordedText.of("a b c d, e f").window(place, 3) == window


@pytest.mark.parametrize(
    ("original", "word"), [("Rain", "Storm"), ("RAIN", "STORM"), ("rain", "storm"), ("I", "Storm")]
)
def test_case_is_kept(original: str, word: str) -> None:
    assert like(original, "storm") == word


def test_swaps_tell_what_changed() -> None:
    assert swaps("so much rain here", "so much snow here") == [("rain", "snow")]
    assert swaps("so much rain here", "so much ra in here") == [("rain", "ra in")]
    assert swaps("so much rain", "so much") == [("rain", "")]


def test_edit_rate_is_of_words() -> None:
    assert edit_rate("a b c d", "a x c d") == 0.25
    assert edit_rate("a b c d", "a b c d") == 0.0
