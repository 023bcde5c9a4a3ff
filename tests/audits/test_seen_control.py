"""The seen control: the same rows with the rest of their region in training."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

import unseen
from unseen.audits import FOLDS, parts_of_fall, seen_fold
from unseen.evaluation import Run, fall

LABELS = ("no", "yes")


def region(tiny, n=200, seed=0, **attributes):
    """Rows of two labels, a fifth of them the test part."""
    draw = np.random.default_rng(seed)
    labels = np.where(draw.random(n) < 0.4, "yes", "no")
    part = np.where(np.arange(n) % 5 == 0, "test", np.where(np.arange(n) % 7 == 0, "dev", "train"))
    data = tiny(ids=[f"{row:04}" for row in range(n)], labels=labels, part=part.tolist(), **attributes)
    return data, unseen.split(data, "predefined", by="part", name="hard")


def counts(data, rows):
    return np.bincount(data.labels[rows], minlength=2).tolist()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_every_test_row_is_asked_about_once_and_training_keeps_its_size_and_mix(tiny, seed):
    data, split = region(tiny, seed=seed)
    train, test = split.rows("train"), split.rows("test")
    folds = [seen_fold(data, split, fold, seed=seed) for fold in range(FOLDS)]
    assert np.sort(np.concatenate([fold.test for fold in folds])).tolist() == test.tolist()
    for fold in folds:
        assert not set(fold.train) & set(fold.test)
        assert set(fold.train) <= set(train) | set(test)  # nothing of dev
        assert set(test) - set(fold.test) <= set(fold.train)
        assert counts(data, fold.train) == counts(data, train)


def test_the_order_of_rows_decides_nothing(tiny):
    data, split = region(tiny)
    shuffled = data.take(np.random.default_rng(1).permutation(len(data)))
    ids = [
        [set(of.ids.take(rows).to_pylist()) for rows in (fold.train, fold.test)]
        for of in (data, shuffled)
        if (fold := seen_fold(of, split.of(of), 2))
    ]
    assert ids[0] == ids[1]


def test_equal_texts_and_groups_are_in_one_fold(tiny):
    users = [f"u{row // 40}" for row in range(200)]
    texts = [f"text {row // 10}" for row in range(200)]
    data, split = region(tiny, texts=texts, user=users)
    for groups, values in ((None, texts), ("user", users)):
        folds = [seen_fold(data, split, fold, groups=groups) for fold in range(FOLDS)]
        of_value = [{values[row] for row in fold.test} for fold in folds]
        assert sum(map(len, of_value)) == len(set().union(*of_value))


def test_a_test_part_with_fewer_texts_than_folds_has_empty_folds(tiny):
    data, split = region(tiny, texts=["same"] * 200)
    sizes = sorted(len(seen_fold(data, split, fold).test) for fold in range(FOLDS))
    assert sizes == [0, 0, 0, 0, 40]


def run(gold, right, seed, sample, family="hard"):
    """Answers with these rows right."""
    said = np.where(right, gold, 1 - gold)
    return Run(family, family, seed, gold, np.eye(2)[said], LABELS, sample=sample)


def test_the_two_parts_add_up_to_the_fall():
    draw = np.random.default_rng(3)
    gold = (np.arange(300) % 2).astype(np.int64)
    shares = {"random": 0.9, "seen": 0.7, "unseen": 0.5}
    runs = {
        name: [
            run(gold, draw.random(300) < share, seed, "" if name == "random" else "test", name) for seed in (1, 2, 3)
        ]
        for name, share in shares.items()
    }
    seen, selection, novelty = parts_of_fall(runs["random"], runs["seen"], runs["unseen"], "f1.macro")
    assert (seen.metric, selection.metric, novelty.metric) == (
        "seen.f1.macro", "fall.selection.f1.macro", "fall.novelty.f1.macro",
    )  # fmt: skip
    whole = fall(runs["random"], runs["unseen"], "f1.macro").value
    assert selection.value + novelty.value == pytest.approx(whole)
    oracle = np.mean([f1_score(gold, each.probabilities.argmax(axis=1), average="macro") for each in runs["seen"]])
    assert seen.value == pytest.approx(oracle)
    assert novelty.low < novelty.value < novelty.high
    assert novelty.low > 0.1


@pytest.mark.parametrize("metric", ["f1.macro", "log_loss"])
def test_some_folds_stand_for_the_whole_part(metric):
    """What the folds that were scored are easier than the rest goes to selection, not to novelty."""
    draw = np.random.default_rng(4)
    gold = (np.arange(400) % 2).astype(np.int64)

    def soft(right, rows, seed, sample):
        answers = np.where(np.eye(2, dtype=bool)[gold[rows]] == right[rows, None], 0.8, 0.2)
        return Run(sample, sample, seed, gold[rows], answers, LABELS, sample=sample)

    everything, folds = np.arange(400), np.arange(160)
    random = [soft(draw.random(400) < 0.9, everything, seed, "random") for seed in (1, 2)]
    unseen_right = [draw.random(400) < np.where(everything < 160, 0.6, 0.3) for _ in (1, 2)]
    whole = [soft(right, everything, seed, "test") for seed, right in enumerate(unseen_right)]
    unseen_folds = [soft(right, folds, seed, "folds") for seed, right in enumerate(unseen_right)]
    seen = [soft(draw.random(400) < 0.75, folds, seed, "folds") for seed in (0, 1)]
    rows = parts_of_fall(random, seen, unseen_folds, metric, whole=whole)
    total = fall(random, whole, metric)
    assert rows[1].value + rows[2].value == pytest.approx(total.value)
    assert rows[2].value == pytest.approx(fall(seen, unseen_folds, metric).value)
    assert rows[1].high - rows[1].low == pytest.approx(
        (plain := fall(random, seen, metric)).high - plain.low
    )  # moved, not widened


def test_no_interval_goes_beyond_what_a_metric_can_be():
    """Folds that were scored are harder than the rest, so what they score when seen is moved up."""
    gold = (np.arange(40) % 2).astype(np.int64)
    random = [run(gold, np.arange(40) % 5 > 0, seed, "random") for seed in (1, 2)]
    whole = [run(gold, np.arange(40) % 4 > 3 - seed, seed, "test") for seed in (1, 2)]
    unseen_folds = [run(gold[:12], np.arange(12) >= 9, seed, "folds") for seed in (1, 2)]
    seen = [run(gold[:12], np.arange(12) >= 4 + seed, seed, "folds") for seed in (1, 2)]
    level, selection, _ = parts_of_fall(random, seen, unseen_folds, "f1.macro", whole=whole)
    assert 0 <= level.low < level.value < level.high <= 1
    assert -1 <= selection.low < selection.value < selection.high <= 1
