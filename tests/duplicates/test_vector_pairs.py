"""Vectors that point nearly the same way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from unseen.duplicates import vector_pairs, vectors
from unseen.errors import InputError


def clumps(n: int, seed: int, dimensions: int = 32, spread: float = 0.04) -> npt.NDArray[np.float32]:
    """Half of the vectors near another one."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((n // 2, dimensions))
    near = centres + spread * draw.standard_normal(centres.shape)
    return np.concatenate([centres, near]).astype(np.float32) * draw.uniform(0.5, 2, (2 * (n // 2), 1))


def by_force(given: npt.NDArray[np.float32], threshold: float) -> set[tuple[int, int]]:
    unit = given / np.linalg.norm(given, axis=1, keepdims=True)
    first, second = np.nonzero(np.triu(unit @ unit.T >= threshold, 1))
    return set(zip(first.tolist(), second.tolist(), strict=True))


def found(given: npt.NDArray[np.float32], threshold: float) -> set[tuple[int, int]]:
    pairs = vector_pairs(given, threshold)
    return set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


@pytest.mark.parametrize("block", [7, 4096])
def test_few_vectors_are_all_compared(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(vectors, "BLOCK", block)
    given = clumps(60, seed=1, dimensions=5, spread=0.2)
    assert len(by_force(given, 0.95)) > 20
    assert found(given, 0.95) == by_force(given, 0.95)


def test_many_vectors_are_hashed_and_nearly_none_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT", 100)
    given = clumps(2000, seed=2)
    expected, some = by_force(given, 0.95), found(given, 0.95)
    assert len(expected) >= 1000
    assert some <= expected
    assert len(some) >= 0.99 * len(expected)


def test_zeros_are_like_none_and_keep_their_places() -> None:
    given = np.array([[0, 0], [1, 0], [0, 0], [2, 0], [0, 3]], dtype=np.float32)
    pairs = vector_pairs(given)
    assert (pairs.rows, pairs.first.tolist(), pairs.second.tolist(), pairs.similarity.tolist()) == (5, [1], [3], [1.0])


@pytest.mark.parametrize("exact", [0, 20_000])
def test_equal_vectors_are_one(monkeypatch: pytest.MonkeyPatch, exact: int) -> None:
    monkeypatch.setattr(vectors, "EXACT", exact)
    given = np.repeat(np.array([[1.0, 0, 0], [0, 1, 0], [0.99, 0.01, 0]], dtype=np.float32), [300, 1, 1], axis=0)
    given[0] = [1.0, -0.0, -0.0]
    pairs = vector_pairs(given)
    assert pairs.stands_for.tolist() == [0] * 300 + [300, 301]
    assert len(pairs) <= 1
    left = np.arange(302) < 150
    assert len(pairs.across(left, ~left)[0]) == 150


def test_the_order_of_rows_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT", 100)
    given = clumps(600, seed=5)
    forth, back = found(given, 0.95), found(given[::-1], 0.95)
    assert {(599 - b, 599 - a) for a, b in back} == forth


def test_many_alike_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "PARTNERS", 5)
    given = np.ones((200, 4), dtype=np.float32) + 0.01 * np.random.default_rng(6).standard_normal((200, 4))
    pairs = vector_pairs(given)
    assert len(pairs) <= 200 * 5
    assert len(set(pairs.groups().tolist())) == 1


def test_wrong_vectors_are_refused() -> None:
    with pytest.raises(InputError, match="wrong shape"):
        vector_pairs(np.zeros(3))
    with pytest.raises(InputError, match="above 0"):
        vector_pairs(np.zeros((3, 2)), threshold=0)
