"""Texts without trifles, and which of them are equal."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.duplicates import normal_forms, same, same_forms


def forms(*texts: str) -> list[str]:
    return normal_forms(pa.chunked_array([list(texts)])).to_pylist()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Good  MORNING, all!", "good morning all"),
        ("@ann: @bob_1 good morning", "good morning"),
        ("good https://a.b/c?d=1 morning www.a.b", "good morning"),
        ("RT @ann good morning", "good morning"),
        ("<user> good <number> morning", "good morning"),
        ("art start rt", "art start"),
        ("ÉTÉ über naïve", "été über naïve"),
        ("日本語、テスト。", "日本語 テスト"),
        ("a\u0301 n", "a\u0301 n"),
        ("5 < 6 > 4", "5 < 6 > 4"),
        ("!!! @ann http://x.y |~", ""),
        ("@ann😀 http://x.y/z😡!", "😀 😡"),
        ("I LOVE you❤️!!", "i love you ❤"),
        (
            "ok 👍🏽, 👩‍👩‍👧 and 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "ok 👍🏽 👩‍👩‍👧 and 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        ),
        ("मैं घर जाता हूँ।", "मैं घर जाता हूँ"),  # vowels of Hindi are marks
        ("يَكْتُبُ، الآن!", "يَكْتُبُ الآن"),
        ("ශ්\u200dරී ලංකා", "ශ්\u200dරී ලංකා"),
        ("Ничего — СЕБЕ…", "ничего себе"),
        ("아니요? 네!", "아니요 네"),
        ("50 € or 50 $", "50 € or 50 $"),
        ("", ""),
    ],
)
def test_a_form_is_what_is_said(text: str, form: str) -> None:
    assert forms(text) == [form]


def test_a_form_of_a_form_is_itself() -> None:
    once = forms("RT @a It's 5 o'clock", "x_y-z", "art <b> rt", "a😀b 👍🏽", "C++ > C")
    assert forms(*once) == once


def test_equal_texts_have_the_number_of_the_first() -> None:
    texts = pa.chunked_array([["b", "a"], ["b", "c", "a", "b"]])
    assert same(texts).tolist() == [0, 1, 0, 3, 1, 0]


def test_empty_forms_are_like_the_very_same_text_alone() -> None:
    texts = pa.chunked_array([["!!", "A.", "??", "a", "!!"]])
    assert same_forms(texts).tolist() == [0, 1, 2, 1, 0]


def test_texts_that_differ_in_emoji_alone_are_not_the_same() -> None:
    texts = pa.chunked_array(
        [["they are 😍", "they are 🤮", "They are 🤮!", "👍🏽", "👍🏿", "👍", "👩‍👧", "👩👧", "they are"]]
    )
    assert same_forms(texts).tolist() == [0, 1, 1, 3, 4, 5, 6, 7, 8]


@given(st.text(alphabet="ab \t\n\u00a0@<>|.,rt😀🏽€", max_size=20))
def test_words_are_separated_by_single_spaces(text: str) -> None:
    form = forms(text)[0]
    assert form == " ".join(form.split())
    assert same_forms(pa.chunked_array([[text, form]])).tolist() == [0, 0 if form or not text else 1]
