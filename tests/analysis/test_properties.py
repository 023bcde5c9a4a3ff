from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.analysis import Words, largest_changes, properties
from unseen.errors import MismatchError, UnknownNameError


@pytest.fixture(scope="module")
def data(tiny):
    n = 240
    topics = [("rain", "wind", "cloud"), ("bread", "soup", "salt")]
    texts = [" ".join(topics[row % 3 == 0][(row // 3 + k) % 3] for k in range(3)) + f" w{row % 40}" for row in range(n)]
    return tiny(
        ids=[f"{row:03}" for row in range(n)],
        texts=texts,
        source=["app" if row % 3 == 0 else "mail" for row in range(n)],
        user=[f"u{row // 2}" for row in range(n)],
    )


def test_all_properties_of_a_split(data):
    split = unseen.split(data, "attribute", by="source", values=["app"], name="apart")
    rows = properties(data, split)
    assert [(row.metric, row.slice, row.tags["part"]) for row in rows] == [
        ("unigram_overlap", "all", "test"),
        ("length.words", "all", "train"),
        ("length.words", "all", "test"),
        ("rare_words", "all", "train"),
        ("rare_words", "all", "test"),
        ("class_word_overlap", "all", "test"),
        ("class_word_overlap", "label=no", "test"),
        ("class_word_overlap", "label=yes", "test"),
        ("under_represented.source", "all", "test"),
        ("train_share", "source=app", "test"),
        ("train_share", "source=mail", "test"),
        ("value_share", "source=app", "test"),
        ("value_share", "source=mail", "test"),
        ("shift.source", "all", "test"),
        ("split_groups.user", "all", "test"),
    ]
    assert {row.tags["split"] for row in rows} == {"apart"}
    found = {(row.metric, row.tags["part"]): row.value for row in rows if row.slice == "all"}
    assert found["under_represented.source", "test"] == 1
    assert found["shift.source", "test"] > 0.9
    assert found["length.words", "test"] == found["length.words", "train"] == 4


def test_words_made_once_serve_all_splits(data, monkeypatch):
    words = Words.of(data)
    splits = [unseen.split(data, "random", test=0.2, seed=seed, name=f"random-{seed}") for seed in (1, 2)]
    expected = [properties(data, split) for split in splits]
    monkeypatch.setattr(Words, "of", None)
    assert [properties(data, split, words) for split in splits] == expected
    with pytest.raises(MismatchError, match="words are those of another dataset"):
        properties(data.take(np.arange(len(data))[::-1]), splits[0], words)


def test_settings_reach_the_properties(data):
    split = unseen.split(data, "random", test=0.2)
    rows = unseen.analyse(data, split, categories=[], groups=["source"], neutral="no", english=["w3"])
    assert [row.metric for row in rows if "." in row.metric] == ["length.words"] * 2 + ["split_groups.source"]
    assert [row.slice for row in rows if row.metric == "class_word_overlap"] == ["all", "label=yes"]
    assert next(row for row in rows if row.metric == "rare_words").tags["list"] == "own"
    with pytest.raises(UnknownNameError, match="no attribute is called 'sauce'"):
        unseen.analyse(data, split, categories=["sauce"])


def test_order_of_rows_changes_nothing(data):
    split, order = unseen.split(data, "random", test=0.2), np.random.default_rng(0).permutation(len(data))
    assert [(row.metric, row.slice, row.n) for row in properties(data.take(order), split)] == [
        (row.metric, row.slice, row.n) for row in properties(data, split)
    ]
    values = [[row.value for row in properties(each, split)] for each in (data, data.take(order))]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


@pytest.mark.parametrize(("part", "has_properties"), [(0, True), (1, True), (2, False), (3, False)])
def test_properties_need_two_sides(data, part, has_properties):
    split = unseen.split(data, "random", test=0.2)
    others = replace(split, parts=np.where(split.parts == 0, part, split.parts))
    assert ("unigram_overlap" in {row.metric for row in unseen.analyse(data, others)}) == has_properties
    without_test = replace(split, parts=np.zeros(len(data)))
    assert {row.metric for row in unseen.analyse(data, without_test)} == {"rows", "label_share"}


def test_a_published_hard_split_differs_from_random_ones(shared_data):
    folder = shared_data / "hatexplain"
    posts = unseen.load(folder / "train_test.csv", text="example", label="label", attributes=["target", "dataset"])
    file = folder / "published_splits" / "closest_bert_bottleneck50.txt"
    hard = unseen.split(posts, "predefined", by=file, name="hard")
    names = [f"random-{seed}" for seed in (1, 2, 3)]
    random = [unseen.split(posts, "random", test=1_730, seed=seed, name=f"random-{seed}") for seed in (1, 2, 3)]
    start = time.perf_counter()
    words = Words.of(posts)
    rows = [row for split in (hard, *random) for row in properties(posts, split, words)]
    assert time.perf_counter() - start < 60  # about three seconds on an idle core
    overlap = {row.tags["split"]: row for row in rows if row.metric == "unigram_overlap"}
    assert overlap["hard"].high < min(overlap[name].low for name in names)
    changes = largest_changes(rows, "hard", names)
    assert {"unigram_overlap", "value_share", "length.words"} <= {change.metric for change in changes}
    said = [change.sentence for change in changes if change.metric == "unigram_overlap"]
    assert said == ["test texts share fewer words with the nearest training text: .40 against .45"]
    for name in names:
        others = [each for each in names if each != name]
        assert "unigram_overlap" not in {change.metric for change in largest_changes(rows, name, others)}
