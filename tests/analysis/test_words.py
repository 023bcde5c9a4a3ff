from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.analysis import Words
from unseen.analysis.words import _any_script, stop_words, words_of
from unseen.errors import MismatchError

TEXTS = ["The cat saw the cat", "", "a dog's day; the dog", "?!"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't DON’T don t", ["don't", "don't", "don", "t"]),
        ("'quoted' o'clock' rock'n'roll", ["quoted", "o'clock", "rock'n'roll"]),
        ("snake_case, #tag @name 3.5 x2", ["snake", "case", "tag", "name", "3", "5", "x2"]),
        ("Zoë Zoe\u0308 ΑΒΓ Straße", ["zoë", "zoë", "αβγ", "straße"]),
        ("हिन्दी में, สวัสดี", ["हिन्दी", "में", "สวัสดี"]),
        ("日本 語", ["日本", "語"]),
        ("İstanbul", ["i̇stanbul"]),
        ("… — 🙂 \u0301", []),
    ],
)
def test_words_of_a_text(text, words):
    assert words_of(text) == words


@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_way_through_ascii_finds_the_same(text):
    assert words_of(text) == _any_script().findall(text.lower())


def test_counts_of_a_corpus():
    words = Words.of_texts(TEXTS)
    assert words.vocabulary.tolist() == ["a", "cat", "day", "dog", "dog's", "saw", "the"]
    assert words.counts.toarray().tolist() == [[0, 2, 0, 0, 0, 1, 2], [0] * 7, [1, 0, 1, 1, 1, 0, 1], [0] * 7]
    assert words.counts.nnz == 8  # a word that is twice in a text has one entry
    assert words.lengths.tolist() == [5, 0, 5, 0]
    assert words.content.vocabulary.tolist() == ["cat", "day", "dog", "dog's", "saw"]
    assert words.content.counts.toarray()[0].tolist() == [2, 0, 0, 0, 1]
    assert {"the", "a"} <= stop_words()


def test_texts_without_any_word():
    words = Words.of_texts(["", "!"])
    assert words.lengths.tolist() == [0, 0]
    assert len(words.content.vocabulary) == 0


@given(st.lists(st.text("ab c'é", max_size=12), max_size=8))
def test_counts_are_those_of_the_texts(texts):
    words = Words.of_texts(texts)
    for row, text in enumerate(texts):
        counted = {words.vocabulary[at]: n for at, n in enumerate(words.counts.toarray()[row]) if n}
        assert counted == {word: words_of(text).count(word) for word in words_of(text)}
    assert words.vocabulary.tolist() == sorted({word for text in texts for word in words_of(text)})


def test_words_belong_to_one_dataset_in_one_order(tiny):
    data = tiny(texts=TEXTS)
    words = Words.of(data)
    assert words.for_data(tiny(texts=TEXTS)) is words
    for other in (data.take(np.array([1, 0, 2, 3])), tiny(texts=[*TEXTS[:3], "else"])):
        with pytest.raises(MismatchError, match="words are those of another dataset"):
            words.for_data(other)
    with pytest.raises(MismatchError):
        Words.of_texts(TEXTS).for_data(data)
