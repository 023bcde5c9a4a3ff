from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold

from unseen.errors import InfeasibleError, InputError
from unseen.splits import GroupedSplit


def zipf_authors(n=2000, seed=0):
    """Authors of whom the first writes most: what whole groups are hard to cut from."""
    rng = np.random.default_rng(seed)
    authors = rng.choice(300, n, p=(shares := 1 / np.arange(1, 301)) / shares.sum())
    return authors, (rng.random(n) < np.where(authors % 3 == 0, 0.3, 0.05)).astype(int)


@pytest.mark.parametrize("seed", range(5))
def test_twenty_per_cent_are_twenty_per_cent(seed):
    authors, y = zipf_authors(seed=seed)
    splitter = GroupedSplit(0.2, random_state=seed)
    train, test = next(splitter.split(y, y, authors))
    (certificate,) = splitter.certificates_
    assert not set(authors[train]) & set(authors[test])
    assert len(test) == 400
    assert (certificate.missed, certificate.missed_at_least, certificate.optimal) == (0, 0, True)
    assert y[test].mean() == pytest.approx(y.mean(), abs=1 / 400)


def test_scikit_learn_is_farther_off():
    authors, y = zipf_authors()
    _, ours = next(GroupedSplit(0.2).split(y, y, authors))
    _, shuffled = next(GroupShuffleSplit(1, test_size=0.2, random_state=0).split(y, y, authors))
    _, folded = next(StratifiedGroupKFold(5, shuffle=True, random_state=0).split(y, y, authors))
    off = [abs(len(test) - 400) + abs(int(y[test].sum()) - int(y.sum() / 5)) for test in (ours, shuffled, folded)]
    assert off[0] <= 1 < min(off[1:])


def test_what_is_impossible_is_missed_by_the_least_and_proven():
    users, y = np.repeat([0, 1, 2, 3], [40, 30, 20, 10]), np.arange(100) % 2
    splitter = GroupedSplit(0.25)
    _, test = next(splitter.split(y, y, users))
    assert len(test) in (20, 30)
    (certificate,) = splitter.certificates_
    assert certificate.missed == certificate.missed_at_least
    assert certificate.optimal
    assert certificate.groups == {"count": 4, "largest": 40, "on_both_sides": 0}


def test_groups_larger_than_the_test_part_are_named():
    with pytest.raises(
        InfeasibleError, match=r"whole groups cannot give a test part of 10 rows(.|\n)*'big' \(60 rows\)"
    ):
        next(GroupedSplit(10).split(np.zeros(100), groups=["big"] * 60 + ["small"] * 40))


def test_it_needs_groups():
    with pytest.raises(InputError, match="needs groups"):
        next(GroupedSplit(0.2).split(np.zeros(10), ["a", "b"] * 5))


def test_fifty_thousand_authors():
    rng = np.random.default_rng(0)
    sizes = np.minimum(rng.zipf(1.7, 50_000), 5000)
    authors = np.repeat(np.arange(50_000), sizes)
    y = rng.integers(0, 3, len(authors))
    splitter = GroupedSplit(0.1)
    _, test = next(splitter.split(y, y, authors))
    assert splitter.certificates_[0].missed == 0
    assert len(test) == len(y) // 10
