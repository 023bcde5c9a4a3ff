"""Methods side by side: intervals and tests against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap, permutation_test

from unseen.errors import InputError
from unseen.evaluation.contrasts import holm
from unseen.explanations.comparison import method_differences, method_means
from unseen.explanations.measurements import share_of_sums
from unseen.explanations.plausibility import f1_of_means

NAN = np.nan


def methods(texts: int, *shifts: float, seed: int = 3) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    level = draw.random(texts)
    return {f"m{number}": level + shift + draw.normal(0, 0.2, texts) for number, shift in enumerate(shifts)}


def test_few_texts_have_the_exact_p_value_of_scipy() -> None:
    both = methods(9, 0.0, 0.15)
    (row,) = method_differences("tau", both)
    difference = both["m0"] - both["m1"]
    expected = permutation_test((difference,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert row.tags["p"] == pytest.approx(expected)
    assert row.value == pytest.approx(difference.mean())
    assert (row.metric, row.n, row.tags["method"], row.tags["reference"]) == ("difference.tau", 9, "m0", "m1")


def test_many_texts_have_the_interval_and_p_value_of_scipy() -> None:
    both = methods(150, 0.0, 0.04)
    (row,) = method_differences("tau", both, draws=4000)
    difference = both["m0"] - both["m1"]
    interval = bootstrap((difference,), np.mean, method="percentile", n_resamples=4000, rng=1).confidence_interval
    assert (row.low, row.high) == pytest.approx(tuple(interval), abs=0.004)
    expected = permutation_test((difference,), np.mean, permutation_type="samples", n_resamples=4000, rng=1).pvalue
    assert row.tags["p"] == pytest.approx(expected, abs=0.02)
    (level, _) = method_means("tau", both, draws=4000)
    interval = bootstrap((both["m0"],), np.mean, method="percentile", n_resamples=4000, rng=1).confidence_interval
    assert (level.low, level.high) == pytest.approx(tuple(interval), abs=0.01)
    assert level.value == pytest.approx(both["m0"].mean())


def test_p_values_are_corrected_for_all_pairs() -> None:
    rows = method_differences("tau", {**methods(60, 0.0, 0.08, 0.2), "none": np.full(60, NAN)})
    tested = [row for row in rows if row.n]
    assert (len(rows), len(tested)) == (6, 3)
    assert [row.tags["p.holm"] for row in tested] == holm([row.tags["p"] for row in tested])
    assert [row.value for row in rows if not row.n] == [None] * 3
    assert all("p" not in row.tags for row in rows if not row.n)


def test_texts_without_a_value_of_both_are_left_out() -> None:
    a, b = np.array([1.0, NAN, 3.0, 5.0]), np.array([0.0, 9.0, NAN, 1.0])
    (row,) = method_differences("tau", {"a": a, "b": b})
    assert (row.value, row.n) == (2.5, 2)
    assert [(mean.value, mean.n) for mean in method_means("tau", {"a": a, "n": a * NAN})] == [(3, 3), (None, 0)]


def test_a_metric_of_two_means() -> None:
    draw = np.random.default_rng(8)
    a, b = draw.random((8, 2)), draw.random((8, 2))
    b[:, 0] = a[:, 0]  # so that the first column alone has no spread
    (row,) = method_differences("iou_f1", {"a": a, "b": b}, f1_of_means)

    def f1(table: np.ndarray) -> float:
        precision, recall = table.mean(axis=0)
        return 2 * precision * recall / (precision + recall)

    assert row.value == pytest.approx(f1(a) - f1(b))
    swaps = [np.array([bool(way >> text & 1) for text in range(8)])[:, None] for way in range(256)]
    apart = [abs(f1(np.where(swap, b, a)) - f1(np.where(swap, a, b))) for swap in swaps]
    assert row.tags["p"] == pytest.approx(np.mean(np.array(apart) >= abs(row.value) - 1e-12))
    assert row.low < row.value < row.high


def test_texts_of_a_group_are_drawn_and_swapped_together() -> None:
    both = methods(6, 0.0, 0.1)
    thrice = {name: values.repeat(3) for name, values in both.items()}
    (plain,), (grouped,) = method_differences("t", both), method_differences("t", thrice, groups=np.arange(6).repeat(3))
    assert (grouped.low, grouped.high, grouped.tags["p"]) == pytest.approx((plain.low, plain.high, plain.tags["p"]))
    assert method_differences("t", thrice)[0].tags["p"] < plain.tags["p"]


def test_methods_of_other_texts_are_refused() -> None:
    with pytest.raises(InputError, match="same texts"):
        method_differences("t", {"a": np.ones(3), "b": np.ones(4)})


def test_what_no_text_decides_has_no_value() -> None:
    signs = np.zeros((4, 2))  # none of the units moves anything
    (row,) = method_means("sign.leave_one_out", {"occlusion": signs}, share_of_sums, draws=20)
    assert (row.value, row.low, row.high) == (None, None, None)
