"""Faithfulness against brute force over all orders, against scipy, and on published examples."""

from __future__ import annotations

from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from unseen.errors import InputError
from unseen.explanations import faithfulness as module
from unseen.explanations.faithfulness import Ask, Faithfulness, agreement, erasure_bounds, faithfulness, leave_one_out

METHODS = ("G", "IG", "SHAP", "SOC")
EXAMPLES = {
    "T1": ("-.1 1.1 -.0 .8 -47.6", ".11 .10 .09 .25 .27",
        "-.17 .18 -.09 -.35 -.20", ".00 -.14 -.04 -.03 .78", ".07 -.13 .03 .03 .52"),
    "T3": ("-.3 -.2 -35.6 .8", ".11 .19 .32 .18",
        ".26 .00 .14 -.60", "-.03 .52 .28 -.17", "-.01 .03 .51 -.14"),
    "T4": ("-.02 .2 .8 .3 -.1 .03 -13.4", ".10 .08 .14 .07 .08 .10 .25",
        "-.14 -.16 -.08 -.05 -.20 -.22 -.16", ".24 -.03 .07 -.05 .05 -.06 .50", ".20 -.02 .26 -.02 .07 .00 .29"),
    "T5a": ("-40.4 15.4 12.7 -12.6 -24.3", ".25 .16 .08 .10 .21",
        "-.15 .18 .12 -.33 -.22", ".27 -.31 -.15 -.01 .27", ".28 -.19 -.06 .10 .07"),
    "T5b": ("-1.0 8.0 -1.3 -5.8 -6.7", ".19 .18 .09 .09 .28",
        "-.36 .14 .09 -.25 -.17", "-.29 -.38 -.19 -.05 .09", "-.25 -.11 -.03 .04 .05"),
    "T6a": ("94.7 79.7 -.8 -.6 .3 -.7 -.6", ".17 .15 .06 .07 .11 .07 .13",
        "-.25 -.10 -.09 -.16 -.04 .21 .13", "-.69 -.01 .01 .05 .05 .05 .14", "-.56 -.07 .00 .04 .05 -.05 .22"),
    "T6b": ("1.0 -2.3 -1.3 .4 .3 -22.9", ".20 .08 .10 .14 .08 .21",
        "-.12 -.03 -.25 .11 .17 .32", ".15 .10 .13 .10 .10 .43", ".00 .05 .07 .04 -.12 .57"),
}  # fmt: skip
"""ΔP by erasing each unit, in percentage points, and the scores of four methods (Attanasio et al. 2022)."""
PUBLISHED = {
    "G": ([0.40, 0.33, 0.25, 0.60, 0.11, -0.85, -0.14], 0.10, 0.43, 9, 6),
    "IG": ([-0.40, 0.67, -0.39, -0.40, -0.20, 0.49, 0.33], 0.01, -0.03, 4, 2),
    "SHAP": ([0.80, 0.33, 0.33, 0.95, 1.0, 0.37, 0.15], 0.56, 0.82, 12, 5),
    "SOC": ([0.95, 0.67, 0.39, 0.80, 0.80, 0.29, 0.60], 0.64, 0.82, 14, 6),
}
"""τ of each example, its mean, the mean of Pearson's r, signs right of 14, top units right of 7."""


def asking(*tables: np.ndarray) -> Ask:
    """A model that knows the probability of every subset of units of each text, at the number of its bits."""

    def ask(texts: np.ndarray, kept: list[np.ndarray]) -> np.ndarray:
        requests = zip(texts, kept, strict=True)
        ask.calls += 1  # type: ignore[attr-defined]
        return np.array([tables[text][int(mask @ (1 << np.arange(len(mask))))] for text, mask in requests])

    ask.calls = 0  # type: ignore[attr-defined]
    return ask


def drawn_tables(*units: int, seed: int = 1) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    return [draw.random(2**n) for n in units]


def brute(table: np.ndarray, order: tuple[int, ...]) -> tuple[float, float]:
    """Comprehensiveness and sufficiency over k = 1 … N of one order, word by word from their definitions."""
    whole = len(table) - 1
    tops = [sum(1 << unit for unit in order[:k]) for k in range(1, len(order) + 1)]
    return (
        float(np.mean([table[whole] - table[whole ^ top] for top in tops])),
        float(np.mean([table[whole] - table[top] for top in tops])),
    )


@pytest.mark.parametrize("method", METHODS)
def test_published_examples(method: str) -> None:
    rows = [[np.array(text.split(), float) for text in example] for example in EXAMPLES.values()]
    drops = [-row[0] / 100 for row in rows]
    tau, pearson, right, decided, top = agreement([row[1 + METHODS.index(method)] for row in rows], drops)
    taus, mean_tau, mean_pearson, signs, tops = PUBLISHED[method]
    assert tau == pytest.approx(taus, abs=0.00501)
    assert tau.mean() == pytest.approx(mean_tau, abs=0.00501)
    assert pearson.mean() == pytest.approx(mean_pearson, abs=0.00501)
    assert (right.sum(), decided.sum(), top.sum()) == (signs, 14, tops)


def test_agreement_is_that_of_scipy_also_with_ties() -> None:
    draw = np.random.default_rng(3)
    scores = [draw.integers(0, 4, 9).astype(float) for _ in range(20)]
    drops = [draw.integers(-3, 3, 9) / 20 for _ in range(20)]
    tau, pearson, *_ = agreement(scores, drops)
    assert tau == pytest.approx([kendalltau(a, b).statistic for a, b in zip(scores, drops, strict=True)])
    assert pearson == pytest.approx([pearsonr(a, b).statistic for a, b in zip(scores, drops, strict=True)])


def test_drops_that_differ_by_rounding_are_tied_and_equal_scores_have_no_agreement() -> None:
    drops = [np.array([0.3, 1e-9, 2e-9]), np.array([0.3, 0.1, 0.2])]
    tau, pearson, *_ = agreement([np.array([3.0, 2.0, 1.0]), np.full(3, 0.1)], drops)
    assert tau[0] == pytest.approx(kendalltau([3, 2, 1], [1, 0, 0]).statistic)
    assert np.isnan([tau[1], pearson[1]]).all()


@pytest.mark.parametrize("exact", [8, 0], ids=["subsets", "beam"])
def test_bounds_are_those_of_all_orders_in_both_directions(exact: int) -> None:
    tables = drawn_tables(2, 3, 4, 5, 5)
    sizes = [2, 3, 4, 5, 5]
    bounds = erasure_bounds(asking(*tables), sizes, exact=exact, width=100)
    for text, table in enumerate(tables):
        orders = list(permutations(range(sizes[text])))
        comprehensive, sufficient = np.array([brute(table, order) for order in orders]).T
        assert bounds.lowest[text] == pytest.approx(comprehensive.min())
        assert bounds.highest[text] == pytest.approx(comprehensive.max())
        assert bounds.highest[text] - bounds.emptied[text] == pytest.approx(sufficient.max())
        assert bounds.lowest[text] - bounds.emptied[text] == pytest.approx(sufficient.min())
        reverse = [brute(table, order[::-1])[1] for order in orders]
        assert comprehensive == pytest.approx(np.array(reverse) + bounds.emptied[text])
    assert bounds.exact.all() == (exact == 8)


def test_full_range_and_normalised_values_of_every_order() -> None:
    (table,) = drawn_tables(4, seed=2)
    ask, orders = asking(table), list(permutations(range(4)))
    bounds = erasure_bounds(ask, [4])
    results = [faithfulness(ask, [-np.argsort(order).astype(float)], bounds=bounds) for order in orders]
    expected = np.array([brute(table, order) for order in orders])
    actual = np.array([[r.comprehensiveness_full[0], r.sufficiency_full[0]] for r in results])
    assert actual == pytest.approx(expected)
    normal = np.array([[r.comprehensiveness_normalised[0], r.sufficiency_normalised[0]] for r in results])
    low, high = expected.min(axis=0), expected.max(axis=0)
    assert normal == pytest.approx(np.abs(expected - [low[0], high[1]]) / (high - low))
    assert (normal.min(), normal.max()) == pytest.approx((0, 1))


def test_a_beam_asks_once_per_depth_and_lies_within_the_exact_bounds() -> None:
    tables = drawn_tables(9, 10, 9, seed=4)
    ask = asking(*tables)
    beam, exact = erasure_bounds(ask, [9, 10, 9]), erasure_bounds(asking(*tables), [9, 10, 9], exact=10)
    assert ask.calls == 1 + 10  # type: ignore[attr-defined]
    assert (beam.lowest >= exact.lowest - 1e-12).all()
    assert (beam.highest <= exact.highest + 1e-12).all()
    span = exact.highest - exact.lowest
    assert ((beam.highest - beam.lowest) / span > 0.9).all()
    greedy = erasure_bounds(asking(*tables), [9, 10, 9], width=1)
    assert (greedy.highest < beam.highest).any()


def test_top_units_and_shares() -> None:
    weights = np.arange(40, 0, -1) / 1000  # an additive model: the first k of n weights are known
    values = [weights, weights[:3], weights[:1]]

    def ask(texts: np.ndarray, kept: list[np.ndarray]) -> np.ndarray:
        return np.array([values[text] @ mask for text, mask in zip(texts, kept, strict=True)])

    result = faithfulness(ask, values)
    first = np.cumsum(weights)
    assert result.comprehensiveness == pytest.approx([first[4], first[2], first[0]])
    assert result.sufficiency == pytest.approx([first[-1] - first[4], 0, 0])
    assert result.comprehensiveness_aopc == pytest.approx(
        [first[[0, 1, 3, 7, 19]].mean(), first[:2].mean(), first[0]]  # of 3: 1, 1, 1, 1 and 2; of 1: 1 alone
    )
    assert result.sufficiency_aopc[0] == pytest.approx(first[-1] - first[[0, 1, 3, 7, 19]].mean())
    assert faithfulness(ask, values, k=2).comprehensiveness == pytest.approx([first[1], first[1], first[0]])
    assert np.isnan(result.comprehensiveness_normalised).all()
    assert result.tau[:2] == pytest.approx(1)
    assert result.interaction[:2] == pytest.approx(0)


def test_equal_scores_go_by_position_and_size_may_count() -> None:
    (table,) = drawn_tables(3)
    ask = asking(table)
    ties = faithfulness(ask, [np.ones(3)], k=1)
    assert ties.comprehensiveness[0] == pytest.approx(table[7] - table[6])
    scores = [np.array([0.2, -0.9, 0.1])]
    assert faithfulness(ask, scores, k=1).sufficiency[0] == pytest.approx(table[7] - table[1])
    assert faithfulness(ask, scores, k=1, absolute=True).sufficiency[0] == pytest.approx(table[7] - table[2])


def test_words_that_stand_for_each_other_mislead() -> None:
    either = np.array([0.1, 0.9, 0.9, 0.9, 0.1, 0.9, 0.9, 0.9])  # either of the first two units is enough
    alone = np.array([0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9])  # the first unit decides
    one = np.array([0.1, 0.9])
    ask = asking(either, alone, one)
    (first, second, third) = leave_one_out(ask, [3, 3, 1])
    assert (first.tolist(), second, third) == ([0, 0, 0], pytest.approx([0.8, 0, 0]), pytest.approx([0.8]))
    result = faithfulness(ask, [np.array([0.5, 0.4, 0.0]), np.array([0.5, 0.4, 0.0]), np.array([1.0])])
    assert result.interaction_top[:2] == pytest.approx([0.8, 0])
    assert result.misled[:2].tolist() == [1, 0]
    assert np.isnan([result.interaction[2], result.interaction_top[2], result.misled[2]]).all()
    by_drop = faithfulness(ask, [np.array([0.0, 0.0, 1.0])] * 2 + [np.array([1.0])])
    assert by_drop.interaction[:2] == pytest.approx([0.8, 0])  # equal drops go by position


def test_texts_that_have_no_units_or_do_not_matter_have_no_value() -> None:
    ask = asking(np.array([0.4]), np.full(8, 0.4))
    bounds = erasure_bounds(ask, [0, 3])
    result = faithfulness(ask, [np.empty(0), np.array([3.0, 2.0, 1.0])], bounds=bounds)
    for field in fields(Faithfulness):
        if field.name not in ("signs_right", "signs_decided"):
            assert np.isnan(getattr(result, field.name)[0]), field.name
    assert result.comprehensiveness_full[1] == 0
    assert np.isnan([result.comprehensiveness_normalised[1], result.sufficiency_normalised[1], result.tau[1]]).all()
    assert len(faithfulness(ask, [], bounds=erasure_bounds(ask, [])).tau) == 0


def test_what_is_no_number_is_refused() -> None:
    ask = asking(np.full(4, np.nan))
    with pytest.raises(InputError, match="scores of text 0"):
        faithfulness(ask, [np.array([0.1, np.nan])])
    with pytest.raises(InputError, match="one finite number per request"):
        leave_one_out(ask, [2])
    with pytest.raises(InputError, match="a score and a drop"):
        agreement([np.ones(2)], [np.ones(3)])
    assert module.MISLEADING == 2 * module.DECISIVE_DROP
