from __future__ import annotations

import math
import time

import numpy as np
import pytest

import unseen
from unseen.analysis import Words, class_topics, class_word_overlap, top_words
from unseen.analysis.words import SMOOTHING, stop_words, typical_words, words_of
from unseen.errors import InputError, UnknownNameError


def split_of(tiny, train, test, names):
    """A split of (label, text) pairs."""
    both = [*train, *test]
    data = tiny(
        ids=[str(row) for row in range(len(both))],
        texts=[text for _, text in both],
        labels=[label for label, _ in both],
        label_names=names,
        part=["train"] * len(train) + ["test"] * len(test),
    )
    return data, unseen.split(data, "predefined", by="part", name="mine")


TEXTS = ["goal ball", "goal team team team", "goal rain", "rain wind", "ball rain", "zeal"]
IS_CLASS = np.array([True, True, True, False, False, True])


def test_words_that_lean_to_a_class_by_brute_force():
    words = Words.of_texts(TEXTS)
    found = words.vocabulary[typical_words(words, np.arange(6), IS_CLASS)].tolist()

    def score(word):
        inside = np.mean([word in text.split() for text, own in zip(TEXTS, IS_CLASS, strict=True) if own])
        outside = np.mean([word in text.split() for text, own in zip(TEXTS, IS_CLASS, strict=True) if not own])
        return math.log(inside + SMOOTHING / 6) - math.log(outside + SMOOTHING / 6)

    assert found == ["goal", "team", "zeal"]  # team is in one text, however often; equal scores by alphabet
    assert score("goal") > score("team") == score("zeal") > 0 > max(score("ball"), score("rain"), score("wind"))


def test_the_word_in_more_texts_comes_first_among_equals(monkeypatch):
    monkeypatch.setattr("unseen.analysis.words.SMOOTHING", 0.0)
    words = Words.of_texts(["aa bb", "bb cc", "bb dd", "cc dd"])
    with np.errstate(divide="ignore"):
        found = typical_words(words, np.arange(4), np.array([True, True, True, False]))
    assert words.vocabulary[found].tolist() == ["bb", "aa"]


def test_a_side_with_one_class_has_no_typical_words():
    words = Words.of_texts(TEXTS)
    assert len(typical_words(words, np.array([0, 1]), IS_CLASS)) == 0
    assert len(typical_words(words, np.array([3, 4]), IS_CLASS)) == 0


NAMES = ("calm", "loud", "odd")
TRAIN = [("calm", "rain wind"), ("loud", "goal ball"), ("odd", "tea cup")] * 5
TEST = [("calm", "rain sea"), ("loud", "goal ball"), ("odd", "jam pot")] * 2


def test_overlap_per_class_and_on_average(tiny):
    data, split = split_of(tiny, TRAIN, TEST, NAMES)
    mean, *each = class_word_overlap(data, split)
    assert {row.slice: (row.value, row.n) for row in each} == {
        "label=calm": (0.5, 2), "label=loud": (1, 2), "label=odd": (0, 2)
    }  # fmt: skip
    assert (mean.metric, mean.slice, mean.value, mean.n) == ("class_word_overlap", "all", 0.5, 6)
    assert mean.tags == {"split": "mine", "part": "test"}


def test_a_neutral_class_is_left_out(tiny):
    data, split = split_of(tiny, TRAIN, TEST, NAMES)
    mean, *each = class_word_overlap(data, split, neutral="odd")
    assert [row.slice for row in each] == ["label=calm", "label=loud"]
    assert mean.value == 0.75
    with pytest.raises(UnknownNameError, match="did you mean 'odd'"):
        class_word_overlap(data, split, neutral="od")


def test_as_many_words_as_the_poorer_side_has(tiny):
    train = [("calm", "rain wind sea"), ("calm", "rain wind"), ("loud", "goal")]
    data, split = split_of(tiny, train, [("calm", "rain"), ("loud", "goal")], ("calm", "loud"))
    assert [(row.value, row.n) for row in class_word_overlap(data, split)] == [(1, 2), (1, 1), (1, 1)]
    assert class_word_overlap(data, split, top=1)[1].n == 1


def test_a_class_that_one_side_lacks_has_no_value(tiny):
    data, split = split_of(tiny, TRAIN, [("calm", "rain"), ("loud", "ball")], NAMES)
    mean, _, _, odd = class_word_overlap(data, split)
    assert (odd.value, odd.n) == (None, 0)
    assert mean.value == 1


def test_without_words_there_is_no_value(tiny):
    data, split = split_of(tiny, [("calm", "the"), ("loud", "of")], [("calm", "!"), ("loud", "?")], ("calm", "loud"))
    assert [(row.value, row.n) for row in class_word_overlap(data, split)] == [(None, 0)] * 3


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
