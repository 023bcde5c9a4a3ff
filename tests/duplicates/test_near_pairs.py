"""Near-duplicates against the comparison of all pairs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.duplicates import candidates, near_pairs, normal_forms
from unseen.errors import InputError

WORDS = [f"{a}{b}{c}" for a in "lmnrst" for b in "aeiou" for c in "lmnrst"]


def shingles(text: str) -> set[str]:
    return {text[at : at + 5] for at in range(max(1, len(text) - 4))} if text else set()


def jaccard(one: str, other: str) -> float:
    a, b = shingles(one), shingles(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def made(n: int, seed: int, edited: float = 0.5) -> list[str]:
    """Texts, some of them with one word of an earlier one replaced."""
    draw = np.random.default_rng(seed)
    texts: list[str] = []
    for _ in range(n):
        if texts and draw.random() < edited:
            words = texts[int(draw.integers(len(texts)))].split()
            words[int(draw.integers(len(words)))] = str(draw.choice(WORDS))
        else:
            words = [str(word) for word in draw.choice(WORDS, int(draw.integers(5, 30)))]
        texts.append(" ".join(words))
    return texts


def as_found(texts: list[str], threshold: float = 0.8) -> dict[tuple[str, str], float]:
    """Pairs of distinct forms with their similarity."""
    column = pa.chunked_array([texts])
    form = normal_forms(column).to_pylist()
    pairs = near_pairs(column, threshold)
    ends = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return {
        (min(form[a], form[b]), max(form[a], form[b])): value
        for (a, b), value in zip(ends, pairs.similarity.tolist(), strict=True)
    }


def by_force(texts: list[str], threshold: float = 0.8) -> dict[tuple[str, str], float]:
    forms = sorted(set(normal_forms(pa.chunked_array([texts])).to_pylist()))
    return {
        (a, b): jaccard(a, b) for place, a in enumerate(forms) for b in forms[place + 1 :] if jaccard(a, b) >= threshold
    }


@pytest.mark.parametrize(("threshold", "at_least"), [(0.8, 50), (0.9, 5)])
def test_all_pairs_above_the_threshold_and_no_others(threshold: float, at_least: int) -> None:
    texts = made(400, seed=1)
    expected = by_force(texts, threshold)
    assert len(expected) >= at_least
    assert as_found(texts, threshold) == pytest.approx(expected)


@given(st.lists(st.text(alphabet="ab é日!", max_size=14), min_size=1, max_size=8))
def test_no_text_breaks_it(texts: list[str]) -> None:
    expected = by_force(texts)
    found = as_found(texts)
    assert found.keys() <= expected.keys()
    assert all(found[each] == pytest.approx(expected[each]) for each in found)


def test_the_order_of_rows_decides_nothing() -> None:
    texts = made(300, seed=2)
    assert as_found(texts) == as_found(texts[::-1])


def crowd(n: int) -> list[str]:
    """Different texts that are all alike."""
    stem = " ".join(made(1, seed=3, edited=0) * 6)
    return [f"{stem} {row:04}" for row in range(n)]


def test_a_crowd_is_not_compared_as_a_whole_and_stays_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST", 4)
    monkeypatch.setattr(candidates, "FEW", 1)
    pairs = near_pairs(pa.chunked_array([crowd(100)]))
    assert len(set(pairs.groups().tolist())) == 1
    assert len(pairs) < 100 * 25  # of 4,950
    assert len(set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))) == len(pairs)


def test_the_two_sides_of_a_crowd_find_each_other() -> None:
    """The first and the last in the order of texts, as a split by time or topic parts them."""
    texts = crowd(600)
    left = np.arange(600) < 300
    rows, _, similarity = near_pairs(pa.chunked_array([texts])).across(left, ~left)
    assert len(rows) == 300
    assert similarity.min() >= 0.8


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.7])
def test_lower_thresholds_are_searched_as_well(threshold: float) -> None:
    texts = made(300, seed=4, edited=0.8)
    expected, found = by_force(texts, threshold), as_found(texts, threshold)
    assert len(expected) > 100
    assert len(found.keys() & expected.keys()) >= 0.99 * len(expected)


def test_equal_forms_stand_for_each_other() -> None:
    texts = ["Good morning to all!", "@ann good morning to all", "good morning to all", "quite another text"]
    pairs = near_pairs(pa.chunked_array([texts]))
    assert pairs.stands_for.tolist() == [0, 0, 0, 3]
    assert len(pairs) == 0


@pytest.mark.parametrize("threshold", [0.3, 1.2])
def test_thresholds_that_mean_nothing_are_refused(threshold: float) -> None:
    with pytest.raises(InputError, match=r"from 0\.5 to 1"):
        near_pairs(pa.chunked_array([["a"]]), threshold)


def test_no_texts_have_no_pairs() -> None:
    assert len(near_pairs(pa.chunked_array([pa.array([], pa.string())]))) == 0
