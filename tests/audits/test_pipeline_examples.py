"""The published pipelines: what they return, that they repeat themselves, and that the leaking ones score higher."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tiny_data import build
from unseen.audits.pipelines.examples import (
    EXAMPLES,
    WordNetwork,
    features_in_each_fold,
    features_on_all_data,
    oversampled_before_split,
    oversampled_in_each_fold,
    oversampled_in_training,
)
from unseen.errors import InputError
from unseen.types import Dataset

SMALL = {"embedding": 12, "hidden": 6, "epochs": 6, "batch": 32, "rate": 0.03, "longest": 6}


@pytest.fixture(scope="module")
def coins() -> Dataset:
    """Labels that no text tells: above chance only what was learnt by heart scores."""
    chance = np.random.default_rng(3)
    labels = np.where(chance.random(150) < 0.3, "yes", "no")
    texts = [f"word{row} term{row} thing{row}" for row in range(150)]
    return build([f"r{row}" for row in range(150)], texts, labels.tolist(), user=[f"u{row // 3}" for row in range(150)])


def minority(data: Dataset, rows: Any, scores: Any) -> float:
    """Recall of the label 'yes'."""
    return float((scores.argmax(axis=1) == 1)[data.labels[rows] == 1].mean())


def test_word_vectors_of_all_rows_know_coin_tosses(coins: Dataset) -> None:
    order = np.random.default_rng(1).permutation(150)
    folds = [(order[50:], order[:50]), (order[:100], order[100:])]
    longer = SMALL | {"epochs": 15}
    leaking = features_on_all_data(coins, folds, 1, **longer, trees=20)
    correct = features_in_each_fold(coins, folds, 1, **longer, trees=20)
    for told in (leaking, correct):
        assert [rows.tolist() for rows, _ in told] == [test.tolist() for _, test in folds]
        assert all(np.allclose(scores.sum(axis=1), 1) for _, scores in told)
    assert min(roc_auc_score(coins.labels[rows], scores[:, 1]) for rows, scores in leaking) > 0.85
    assert {roc_auc_score(coins.labels[rows], scores[:, 1]) for rows, scores in correct} == {0.5}  # unheard words only


def test_copies_before_the_split_know_coin_tosses(coins: Dataset) -> None:
    rows, scores = oversampled_before_split(coins, 0.15, 1, **SMALL)
    kept, fair = oversampled_in_training(coins, 0.15, 1, **SMALL)
    counts = np.bincount(coins.labels)
    assert len(rows) == pytest.approx(0.15 * (counts[0] + 3 * counts[1]), abs=1)
    assert len(rows) > len(np.unique(rows))
    assert len(kept) == len(np.unique(kept)) == pytest.approx(22, abs=1)
    assert scores.shape == (len(rows), 2)
    assert minority(coins, rows, scores) > minority(coins, kept, fair) + 0.2


def test_groups_keep_copies_together(coins: Dataset) -> None:
    rows, _ = oversampled_before_split(coins, 0.2, 1, groups="user", **(SMALL | {"epochs": 1}))
    copied = coins.labels[rows] == 1
    assert set(np.bincount(rows[copied])[np.unique(rows[copied])]) == {3}
    users = np.array(coins.attribute("user").to_pylist())
    assert all(np.isin(np.flatnonzero(users == user), rows).all() for user in set(users[rows]))


def test_minority_rows_of_a_fold_are_copied_in_training_alone(coins: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Counter[str]] = []
    plain = WordNetwork.fit
    monkeypatch.setattr(
        WordNetwork, "fit", lambda self, texts, *more: seen.append(Counter(texts)) or plain(self, texts, *more)
    )
    train, test = np.arange(60), np.arange(60, 80)
    ((rows, probabilities),) = oversampled_in_each_fold(coins, [(train, test)], 1, **(SMALL | {"epochs": 1}))
    assert rows.tolist() == test.tolist()
    assert probabilities.shape == (20, 2)
    texts, rare = coins.texts.to_pylist(), np.bincount(coins.labels[train]).argmin()
    assert seen == [Counter({texts[row]: 3 if coins.labels[row] == rare else 1 for row in train})]


def test_the_same_seed_gives_the_same_answers(coins: Dataset) -> None:
    first, again, other = (oversampled_in_training(coins, 0.2, seed, **SMALL) for seed in (1, 1, 2))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_mean_vectors_are_means_of_known_words() -> None:
    labels = np.array([0, 1, 0, 1])
    learnt = WordNetwork(embedding=4, hidden=3, epochs=1).fit(["a b", "c", "a", "b c"], labels, 2, 1)
    vectors = learnt.network.words.weight.detach().numpy()
    places = [learnt.places[word] for word in "ab"]
    means = learnt.mean_vectors(["A, b! unheard", "", "unheard"])
    assert means[0] == pytest.approx(vectors[places].mean(axis=0))
    assert not means[1:].any()
    assert np.allclose(learnt.probabilities(["", "a b c"]).sum(axis=1), 1)


def test_wrong_settings_and_folds_are_refused(coins: Dataset) -> None:
    rows = np.arange(150)
    with pytest.raises(InputError, match="parameters it does not take"):
        features_on_all_data(coins, [(rows[:100], rows[100:])], epoch=3)
    with pytest.raises(InputError) as caught:
        features_in_each_fold(coins, [(rows[:100], rows[90:]), (rows, rows[:0])])
    assert caught.value.problems == ("fold 1 has 10 rows on both sides", "fold 2 has 150 training and 0 test rows")
    with pytest.raises(InputError, match="folds cannot be used"):
        features_in_each_fold(coins, [])
    with pytest.raises(InputError) as caught:
        WordNetwork(embedding=0, dropout=(0.1, 1.0), rate=0)
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError, match="copies must be at least 2"):
        oversampled_in_training(coins, copies=1)


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_examples_have_names_and_say_whether_they_leak(name: str) -> None:
    told = EXAMPLES.summary(name)
    assert told.startswith("LEAKS" if name.endswith(("all-data", "before-split")) else "The corrected form")
