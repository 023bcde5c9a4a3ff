"""What groups give away, and by chance, against brute force."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import f1_score

from unseen.audits.chance import chance_of_groups, commonest_label, macro_f1

N = 400


def rows_of(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    codes, labels = draw.integers(-1, 25, size=N), draw.integers(3, size=N)
    order = draw.permutation(N)
    return codes, labels, order[:250], order[250:]


def test_the_commonest_label_is_that_of_counting() -> None:
    codes, labels, train, test = rows_of(0)
    everywhere = Counter(labels[train].tolist())
    said = commonest_label(codes, labels, train)
    for row in test:
        own = Counter(labels[[each for each in train if codes[each] == codes[row] >= 0]].tolist())
        assert said[row] == max(range(3), key=lambda label: (own[label], everywhere[label], -label))
    assert macro_f1(labels[test], said[test]) == pytest.approx(f1_score(labels[test], said[test], average="macro"))


def test_chance_is_what_groups_give_that_tell_nothing() -> None:
    codes, labels, train, test = rows_of(1)
    draw, scores = np.random.default_rng(9), []
    for _ in range(200):
        shuffled = codes.copy()
        shuffled[train] = draw.permutation(codes[train])
        scores.append(f1_score(labels[test], commonest_label(shuffled, labels, train, codes)[test], average="macro"))
    assert chance_of_groups(codes, labels, train, test) == pytest.approx(np.mean(scores), abs=0.02)
    telling = labels.copy()
    assert chance_of_groups(telling, labels, train, test) < 0.6  # type: ignore[operator]


def test_the_order_of_rows_decides_nothing() -> None:
    codes, labels, train, test = rows_of(2)
    turn = np.random.default_rng(3).permutation(N)
    place = np.argsort(turn)
    again = chance_of_groups(codes[turn], labels[turn], np.sort(place[train]), np.sort(place[test]))
    assert again == chance_of_groups(codes, labels, train, test)


def test_no_rows_have_no_chance() -> None:
    codes, labels, train, test = rows_of(0)
    assert chance_of_groups(codes, labels, train[:0], test) is None
    assert chance_of_groups(np.full(N, -1), labels, train, test) is not None
