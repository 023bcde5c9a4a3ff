from __future__ import annotations

import time

import numpy as np
import pytest

import unseen
from unseen.analysis import Words, class_topics, top_words
from unseen.analysis.words import stop_words, words_of
from unseen.errors import InputError


def naive(texts, groups, top):
    """Class-based TF-IDF, word by word."""
    words = [[word for word in words_of(text) if word not in stop_words()] for text in texts]
    joined = {key: [] for key in groups}
    for key, own in zip(groups, words, strict=True):
        joined[key] += own
    everything = [word for own in words for word in own]
    mean = len(everything) / len(joined)
    return {
        key: sorted(
            dict.fromkeys(own),
            key=lambda word: (-own.count(word) * np.log(1 + mean / everything.count(word)), word),
        )[:top]
        for key, own in joined.items()
    }


def corpus(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{number:03}" for number in rng.zipf(1.3, 15) % 400) for _ in range(n)]


def test_top_words_are_those_of_a_naive_loop():
    texts, groups = corpus(80), np.random.default_rng(1).integers(0, 5, 80)
    assert top_words(texts, groups, top=12) == naive(texts, groups.tolist(), 12)
    assert top_words(Words.of_texts(texts), groups.tolist()) == naive(texts, groups.tolist(), 10)


def test_words_that_all_groups_have_come_last():
    found = top_words(["rain tea the the the the", "rain goal", "rain goal"], [3, -1, -1], top=5)
    assert found == {3: ["tea", "rain"], -1: ["goal", "rain"]}


def test_groups_without_words():
    assert top_words(["the", "sea"], ["a", "b"]) == {"a": [], "b": ["sea"]}
    assert top_words([], []) == {}
    with pytest.raises(InputError, match="each text needs a group"):
        top_words(["sea"], [1, 2])


def test_topics_of_each_class_on_each_side(tiny):
    data = tiny(
        ids=list("abcdef"),
        texts=["rain", "goal", "wind", "ball", "snow", "secret"],
        labels=["no", "yes", "no", "yes", "no", "yes"],
        part=["train", "train", "dev", "test", "test", "independent"],
    )
    assert class_topics(data, unseen.split(data, "predefined", by="part")) == {
        ("no", "train"): ["rain", "wind"], ("yes", "train"): ["goal"], ("yes", "test"): ["ball"],
        ("no", "test"): ["snow"],
    }  # fmt: skip


def test_twenty_thousand_texts_take_little_time():
    texts, groups = corpus(20_000), np.random.default_rng(1).integers(0, 50, 20_000)
    start = time.perf_counter()
    found = top_words(texts, groups)
    assert time.perf_counter() - start < 10  # about one second on an idle core
    assert len(found) == 50
    assert {len(words) for words in found.values()} == {10}
