from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unseen
from unseen.analysis import Words, lengths, unigram_overlap
from unseen.analysis import overlap as module
from unseen.analysis.overlap import highest_overlaps
from unseen.analysis.sides import mean_of
from unseen.analysis.words import stop_words, words_of
from unseen.errors import InputError
from unseen.types import PARTS as PARTS_OF_A_SPLIT


def naive(text, others):
    def counted(each):
        return Counter(word for word in words_of(each) if word not in stop_words())

    def cosine(a, b):
        lengths = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
        return sum(n * b[word] for word, n in a.items()) / lengths if lengths else 0.0

    return max(cosine(counted(text), counted(other)) for other in others)


texts = st.lists(st.lists(st.sampled_from(["rain", "wind", "sea", "the", "of", "sun", "!"]), max_size=9).map(" ".join))


@given(texts.filter(lambda each: len(each) > 1), st.integers(1, 5), st.integers(1, 4))
def test_overlap_is_that_of_a_naive_loop(texts, cut, block):
    cut = min(cut, len(texts) - 1)
    rows = np.arange(len(texts))
    before, module.BLOCK = module.BLOCK, block
    try:
        found = highest_overlaps(Words.of_texts(texts), rows[:cut], rows[cut:])
    finally:
        module.BLOCK = before
    assert found == pytest.approx([naive(text, texts[cut:]) for text in texts[:cut]], abs=1e-12)


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    words = Words.of_texts([" ".join(f"w{n}" for n in rng.zipf(1.5, 12) % 300) for _ in range(1_500)])
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(highest_overlaps(words, np.arange(700), np.arange(700, 1_500)))
    assert (found[0] == found[1]).all()
    assert 0 < found[0].mean() < 1


def test_a_text_seen_in_training_is_exactly_one():
    words = Words.of_texts(["rain rain wind sea sun sun sun", "other", "rain rain wind sea sun sun sun"])
    assert highest_overlaps(words, np.array([0]), np.array([1, 2])).tolist() == [1.0]


PARTS = ["train", "dev", "test", "test", "test", "independent"]
TEXTS = ["rain wind", "sea sun", "rain rain", "the sea", "of the", "the the the sea snow"]


@pytest.fixture
def data(tiny):
    return tiny(ids=list("abcdef"), texts=TEXTS, part=PARTS)


@pytest.fixture
def split(data):
    return unseen.split(data, "predefined", by="part", name="mine")


def test_overlap_of_a_split(data, split):
    (row,) = unigram_overlap(data, split)
    each = np.array([1 / math.sqrt(2), 1 / math.sqrt(2), 0])  # dev is on the training side; no words counts as 0
    assert (row.metric, row.n, row.slice, row.tags) == ("unigram_overlap", 3, "all", {"split": "mine", "part": "test"})
    assert row.value == pytest.approx(each.mean())
    spread = 1.96 * each.std(ddof=1) / math.sqrt(3)
    assert (row.low, row.high) == pytest.approx((max(0, each.mean() - spread), each.mean() + spread))


def test_an_interval_stays_within_its_bounds():
    low = mean_of("share", np.array([0, 0, 1]), {}, most=1)
    high = mean_of("share", np.array([1, 1, 0]), {}, most=1)
    assert (low.low, high.high) == (0, 1)
    assert low.high < 1
    assert high.low > 0
    assert mean_of("share", np.array([]), {}).value is None


def test_lengths_of_both_sides(data, split):
    train, test = lengths(data, split)
    assert (train.metric, train.tags["part"], train.value, train.n) == ("length.words", "train", 2, 2)
    assert (test.metric, test.tags["part"], test.value, test.n) == ("length.words", "test", 2, 3)
    assert (train.low, train.high) == (2, 2)


def test_one_text_has_no_interval(data):
    split = unseen.split(data, "random", test=1, stratify=False)
    (row,) = unigram_overlap(data, split)
    assert row.n == 1
    assert row.value is not None
    assert row.low is row.high is None


@pytest.mark.parametrize("part", ["train", "test", "independent"])
def test_a_split_without_two_sides_is_refused(data, split, part):
    lopsided = replace(split, parts=np.full(len(data), PARTS_OF_A_SPLIT.index(part)))
    with pytest.raises(InputError, match=f"nothing to compare(.|\n)*{part} 6"):
        unigram_overlap(data, lopsided)
