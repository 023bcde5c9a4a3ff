from __future__ import annotations

import math

import pytest

from unseen.analysis import PropertyChange, largest_changes
from unseen.types import Measurement

RANDOM = ["random-1", "random-2"]


def row(split, metric, value, n=400, spread=None, slice="all", part="test"):
    low, high = (None, None) if spread is None else (value - spread, value + spread)
    return Measurement(metric, value, n, low, high, slice, {"split": split, "part": part})


def of_all(metric, hard, first, second, **more):
    return [
        row(split, metric, value, **more) for split, value in zip(["hard", *RANDOM], (hard, first, second), strict=True)
    ]


def test_the_sentence_of_a_change():
    (change,) = largest_changes(of_all("unigram_overlap", 0.31, 0.44, 0.46, spread=0.0196), "hard", RANDOM)
    assert change == PropertyChange(
        "unigram_overlap",
        0.31,
        pytest.approx(0.45),
        pytest.approx(-0.14 / 0.2),  # a spread of .0196 over 400 texts is a deviation of .2
        "test texts share fewer words with the nearest training text: .31 against .45",
    )


@pytest.mark.parametrize(
    ("metric", "hard", "random", "more", "sentence"),
    [
        ("unigram_overlap", 0.6, 0.45, {"spread": 0.02},
         "test texts share more words with the nearest training text: .60 against .45"),
        ("length.words", 30.0, 20.04, {"spread": 1}, "test texts are longer: 30.0 words against 20.0"),
        ("length.words", 8.0, 20.5, {"spread": 1}, "test texts are shorter: 8.0 words against 20.5"),
        ("rare_words", 1.5, 1.0, {"spread": 0.1}, "test texts hold more rare words: 1.50 per text against 1.00"),
        ("rare_words", 0.5, 1.0, {"spread": 0.1}, "test texts hold fewer rare words: .50 per text against 1.00"),
        ("split_groups.user", 0.0, 0.8, {}, "fewer groups of user have texts on both sides: 0 % against 80 %"),
        ("split_groups.user", 1.0, 0.8, {}, "more groups of user have texts on both sides: 100 % against 80 %"),
        ("class_word_overlap", 0.1, 0.3, {},
         "test and training have fewer of the words typical of a class in common: 10 % against 30 %"),
        ("class_word_overlap", 0.3, 0.1, {},
         "test and training have more of the words typical of a class in common: 30 % against 10 %"),
        ("nearest_train_distance.cosine", 0.4, 0.2, {"spread": 0.01},
         "test texts are farther from the nearest training text: .40 against .20"),
        ("nearest_train_distance.cosine", 0.1, 0.2, {"spread": 0.01},
         "test texts are nearer to the nearest training text: .10 against .20"),
        ("label_share", 0.7, 0.5, {"slice": "label=loud"}, "more test texts are labelled “loud”: 70 % against 50 %"),
        ("value_share", 0.7, 0.015, {"slice": "topic=a=b"}, "more test texts have topic “a=b”: 70 % against 1.5 %"),
        ("value_share", 0.0, 0.3, {"slice": "topic=pool"}, "fewer test texts have topic “pool”: 0 % against 30 %"),
    ],
)  # fmt: skip
def test_every_property_has_words(metric, hard, random, more, sentence):
    (change,) = largest_changes(of_all(metric, hard, random, random, **more), "hard", RANDOM)
    assert change.sentence == sentence
    assert (change.metric, change.value) == (metric, hard)
    assert math.copysign(1, change.difference) == math.copysign(1, hard - random)


def test_the_largest_comes_first_in_comparable_units():
    rows = of_all("length.words", 25.0, 20, 20, spread=0.98)  # deviation 10: half a deviation
    rows += of_all("unigram_overlap", 0.3, 0.45, 0.45, spread=0.0147)  # deviation .15: a whole one
    rows += of_all("split_groups.user", 0.0, 1.0, 1.0)  # from none to all: pi on the arcsine scale
    rows += of_all("value_share", 0.25, 0.0, 0.0, slice="topic=pool")  # from none to a quarter
    found = {change.metric: change.difference for change in largest_changes(rows, "hard", RANDOM)}
    assert list(found.items()) == [
        ("split_groups.user", pytest.approx(-math.pi)),
        ("value_share", pytest.approx(2 * math.asin(0.5))),
        ("unigram_overlap", pytest.approx(-1)),
        ("length.words", pytest.approx(0.5)),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        of_all("split_groups.user", 0.52, 0.5, 0.5),  # less than a tenth of a unit
        of_all("split_groups.user", 0.6, 0.4, 0.65),  # no more than the baselines differ
        of_all("unigram_overlap", 0.4, 0.45, 0.45, n=9, spread=0.2),  # what nine texts do by chance
        of_all("label_share", 0.7, 0.5, 0.5, n=9, slice="label=loud"),
        of_all("nearest_train_distance.cosine.matched_random", 0.9, 0.1, 0.1, spread=0.01),
        of_all("length.words", 90.0, 10, 10, spread=0.1, part="train"),
        of_all("class_word_overlap", 0.9, 0.1, 0.1, slice="label=loud"),
        of_all("rows", 900.0, 10, 10),
        of_all("split_groups.user", None, 0.1, 0.1, n=5),
        of_all("split_groups.user", 0.9, None, None, n=5),
        of_all("shift.topic", 0.9, 0.1, 0.1, n=5),  # a number that says nothing by itself
        of_all("value_share", 0.7, 0.5, 0.5, n=9, slice="topic=pool"),
        [],
    ],
)  # fmt: skip
def test_what_is_not_worth_a_word(rows):
    assert largest_changes(rows, "hard", RANDOM) == []


def test_of_the_values_of_an_attribute_the_one_that_differs_most_is_named():
    shares = {"topic=a": (0.5, 0.6), "topic=b": (0.9, 0.4), "topic=c": (0.0, 0.7), "source=x": (0.8, 0.4)}
    rows = []
    for slice, (hard, usual) in shares.items():
        rows += of_all("value_share", hard, usual, usual, slice=slice)
    assert [change.sentence for change in largest_changes(rows, "hard", RANDOM)] == [
        "fewer test texts have topic “c”: 0 % against 70 %",
        "more test texts have source “x”: 80 % against 40 %",
    ]


def test_figures_show_what_differs():
    (change,) = largest_changes(of_all("length.words", 20.01, 20.04, 20.04, spread=0.0001), "hard", RANDOM)
    assert change.sentence == "test texts are shorter: 20.01 words against 20.04"


def test_equal_texts_have_a_scale_too():
    (change,) = largest_changes(of_all("unigram_overlap", 0.5, 1.0, 1.0, spread=0.0), "hard", RANDOM)
    assert change.difference == -0.5
