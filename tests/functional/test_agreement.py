"""Agreement against published examples and plain loops."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, UnknownNameError
from unseen.functional.agreement import LEVELS, agreement, fleiss_kappa, krippendorff_alpha, majority, rating_counts

FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""The worked example of Fleiss' kappa that textbooks share: .210."""
FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Krippendorff, Computing Krippendorff's Alpha-Reliability, the data with missing values."""
ratings = st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 5]), min_size=4, max_size=4), min_size=1, max_size=12)


def looped_kappa(counts: list[list[int]]) -> float | None:
    rows = [row for row in counts if sum(row) >= 2]
    if not rows:
        return None
    agree = 0.0
    for row in rows:
        n = sum(row)
        agree += sum(each * (each - 1) for each in row) / (n * (n - 1)) / len(rows)
    total = sum(map(sum, rows))
    chance = sum((sum(row[j] for row in rows) / total) ** 2 for j in range(len(rows[0])))
    return None if chance > 1 - 1e-12 else (agree - chance) / (1 - chance)


def looped_alpha(items: list[list[Any]], level: str) -> float | None:
    """Observed over expected disagreement, pair by pair."""
    rows = [[value for value in row if value is not None] for row in items]
    rows = [row for row in rows if len(row) >= 2]
    pooled = [value for row in rows for value in row]

    def apart(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "ordinal":
            low, high = min(a, b), max(a, b)
            between = sum(low <= each <= high for each in pooled)
            return float((between - (pooled.count(low) + pooled.count(high)) / 2) ** 2)
        return float((a - b) ** 2) if level == "interval" else float(((a - b) / (a + b)) ** 2)

    n = len(pooled)
    expected = sum(apart(a, b) for a, b in permutations(pooled, 2))
    if n < 2 or expected == 0:
        return None
    observed = sum(sum(apart(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows) / n
    return 1 - observed / (expected / (n * (n - 1)))


def test_the_worked_example_of_fleiss() -> None:
    assert fleiss_kappa(FOURTEEN_RATERS) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_the_worked_example_of_krippendorff(level: str, published: float) -> None:
    found = krippendorff_alpha(list(zip(*FOUR_OBSERVERS, strict=True)), level)
    assert found == pytest.approx(published, abs=5e-4)


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=12))
def test_kappa_is_that_of_plain_loops(counts: list[list[int]]) -> None:
    assert fleiss_kappa(counts) == pytest.approx(looped_kappa(counts))


@given(ratings, st.sampled_from(LEVELS))
def test_alpha_is_that_of_plain_loops(items: list[list[Any]], level: str) -> None:
    assert krippendorff_alpha(items, level) == pytest.approx(looped_alpha(items, level))


RANKED = [[1, 2, 10], [2, 2, 10], [10, 3, 2], [1, 1, 2], [3, 10, 3]]


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_numbers_written_as_texts_are_numbers(level: str) -> None:
    """Among texts, "10" stands before "2"."""
    texts = [[str(value) for value in row] for row in RANKED]
    assert krippendorff_alpha(texts, level) == pytest.approx(looped_alpha(RANKED, level))
    counts, values = rating_counts(texts)
    assert values == ["1", "10", "2", "3"]
    assert agreement(counts, values, level=level)[2].value == pytest.approx(looped_alpha(RANKED, level))


def test_ranks_that_are_no_numbers_need_an_order() -> None:
    words = {1: "low", 2: "middle", 3: "rather high", 10: "high"}
    named, expected = [[words[value] for value in row] for row in RANKED], looped_alpha(RANKED, "ordinal")
    order = [*words.values(), "never said"]
    assert krippendorff_alpha(named, "ordinal", order) == pytest.approx(expected)
    assert krippendorff_alpha(RANKED, "ordinal", [10, 3, 2, 1]) == pytest.approx(expected)
    assert krippendorff_alpha(RANKED, "ordinal", [1, 10, 2, 3]) != pytest.approx(expected)
    for call, said in (
        (lambda: krippendorff_alpha(named, "ordinal"), "needs numbers, or an order"),
        (lambda: krippendorff_alpha(named, "ordinal", order[1:]), "must name every value once"),
        (lambda: krippendorff_alpha(named, "ordinal", [*order, "low"]), "must name every value once"),
        (lambda: krippendorff_alpha(named, "nominal", order), "order has no effect on the level nominal"),
        (lambda: krippendorff_alpha([["1", "1.0"]], "ordinal"), "two values are the same number"),
        (lambda: krippendorff_alpha(named, "interval"), "the level interval needs numbers"),
        (lambda: krippendorff_alpha([["1", "nan"]], "ratio"), "the level ratio needs numbers"),
    ):
        with pytest.raises(InputError, match=said):
            call()


def test_values_of_two_kinds_are_refused() -> None:
    with pytest.raises(InputError, match="values of one kind") as caught:
        majority([[1, "a"]])
    assert "int and str" in str(caught.value)


def test_full_agreement_is_one_and_one_value_has_none() -> None:
    assert fleiss_kappa([[3, 0], [0, 3]]) == krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1
    assert fleiss_kappa([[3, 0], [3, 0]]) is None
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]) is None
    assert krippendorff_alpha([["a", None], [None, "b"]]) is krippendorff_alpha([]) is None
    assert fleiss_kappa(np.zeros((0, 2))) is fleiss_kappa([[1, 0], [0, 1]]) is None


def test_missing_values_may_be_not_a_number() -> None:
    table = np.array(FOUR_OBSERVERS, dtype=float).T
    assert krippendorff_alpha(table, "interval") == pytest.approx(0.849, abs=5e-4)


def test_majority_has_no_ties() -> None:
    assert majority([["a", "b", "b"], ["a", "b", None], [None, None, "c"], [None, None, None]]) == [
        "b",
        None,
        "c",
        None,
    ]
    assert majority([[None], [None]]) == [None, None]


def test_intervals_hold_the_value_and_follow_the_seed() -> None:
    rows = agreement(FOURTEEN_RATERS, list("abcde"))
    assert [row.metric for row in rows] == ["rater_agreement", "fleiss_kappa", "krippendorff_alpha.nominal"]
    assert all(row.low < row.value < row.high and row.n == 10 for row in rows)  # type: ignore[operator]
    assert rows == agreement(FOURTEEN_RATERS, list("abcde"))
    assert rows != agreement(FOURTEEN_RATERS, list("abcde"), seed=1)


def test_the_interval_is_that_of_drawing_items() -> None:
    draw, counts = np.random.default_rng(0), np.array(FOURTEEN_RATERS)
    drawn = [fleiss_kappa(counts[draw.integers(10, size=10)]) for _ in range(4000)]
    _, kappa, _ = agreement(counts, list("abcde"))
    assert [kappa.low, kappa.high] == pytest.approx(np.quantile(np.array(drawn), [0.025, 0.975]), abs=0.03)


def test_items_drawn_together_make_a_wider_interval() -> None:
    counts = np.repeat(FOURTEEN_RATERS, 8, axis=0)
    together = agreement(counts, list("abcde"), groups=np.repeat(np.arange(10), 8))[1]
    alone = agreement(counts, list("abcde"))[1]
    assert together.value == alone.value
    assert together.high - together.low > 2 * (alone.high - alone.low)  # type: ignore[operator]


def test_items_without_two_ratings_are_not_counted() -> None:
    _, kappa, _ = agreement([*FOURTEEN_RATERS, [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], list("abcde"))
    assert kappa.n == 10
    assert kappa.value == fleiss_kappa(FOURTEEN_RATERS)


def test_counts_of_ratings() -> None:
    counts, values = rating_counts([["b", "a", None], ["b", "b", "b"]])
    assert values == ["a", "b"]
    assert counts.tolist() == [[1, 1], [0, 3]]


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'nominal'"):
        krippendorff_alpha([[1, 2]], "nominl")
    with pytest.raises(InputError, match="needs numbers"):
        krippendorff_alpha([["a", "b"]], "interval")
    with pytest.raises(InputError, match="from zero on"):
        krippendorff_alpha([[-1, 1]], "ratio")
    for wrong in ([1, 2], [[0.5, 1]], [[-1, 2]], [[np.nan, 1]]):
        with pytest.raises(InputError, match="whole numbers of raters"):
            fleiss_kappa(wrong)
