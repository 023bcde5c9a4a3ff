"""Two models on the same rows, against enumeration and scipy."""

import itertools
from math import comb

import numpy as np
import pytest
from scipy import stats

from unseen.errors import InputError, MismatchError
from unseen.evaluation import metric, paired_over_rows
from unseen.evaluation.contrasts import compare, mcnemar, swap_p_value
from unseen.types import Origin, Predictions

NAMES = ("a", "b", "c")


def answers(n, seed, k=3):
    draw = np.random.default_rng(seed)
    gold = np.concatenate([np.arange(k), draw.integers(k, size=n - k)])
    return gold, [draw.dirichlet(np.ones(k), n) for _ in range(2)]


def predictions(data, p, **params):
    return Predictions(data.ids, p, data.label_names, Origin("given", params))


@pytest.fixture
def rows(tiny):
    """`rows(gold, groups=…)` is a dataset with these labels."""

    def build(gold, **attributes):
        ids = [f"r{i:04}" for i in range(len(gold))]
        return tiny(ids=ids, labels=[NAMES[code] for code in gold], label_names=NAMES, **attributes)

    return build


def enumerated(score, gold, both, units):
    """The two-sided p-value by trying every way to swap, one at a time."""
    observed = abs(score(gold, both[0], NAMES) - score(gold, both[1], NAMES))
    hits = []
    for swaps in itertools.product([False, True], repeat=units.max() + 1):
        moved = np.array(swaps)[units][:, None]
        first, second = np.where(moved, both[1], both[0]), np.where(moved, both[0], both[1])
        hits.append(abs(score(gold, first, NAMES) - score(gold, second, NAMES)) >= observed - 1e-12)
    return np.mean(hits)


@pytest.mark.parametrize("name", ["accuracy", "f1.macro", "f1[b]", "log_loss", "roc_auc.ovr"])
@pytest.mark.parametrize("seed", range(3))
def test_few_rows_are_swapped_in_all_ways(name, seed):
    gold, both = answers(9, seed)
    expected = enumerated(metric(name), gold, both, np.arange(9))
    assert swap_p_value(metric(name), gold, both, NAMES) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["f1.macro", "brier"])
def test_groups_are_swapped_whole(name):
    gold, both = answers(24, 1)
    groups = np.arange(24) // 4
    expected = enumerated(metric(name), gold, both, groups)
    assert swap_p_value(metric(name), gold, both, NAMES, groups=groups * 7 + 3) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["accuracy", "f1.macro", "log_loss"])
def test_many_rows_give_the_p_value_of_scipy(name):
    draw = np.random.default_rng(5)
    gold = draw.integers(3, size=60)
    both = [np.eye(3)[np.where(draw.random(60) < right, gold, (gold + 1) % 3)] * 0.7 + 0.1 for right in (0.8, 0.62)]
    score = metric(name)

    def difference(x, y):
        first, second = (np.stack([both[0], both[1]])[each.astype(int), np.arange(60)] for each in (x, y))
        return score(gold, first, NAMES) - score(gold, second, NAMES)

    theirs = stats.permutation_test(
        (np.zeros(60), np.ones(60)),
        difference,
        permutation_type="samples",
        vectorized=False,
        n_resamples=3000,
        rng=np.random.default_rng(0),
    )
    assert swap_p_value(score, gold, both, NAMES, draws=3000) == pytest.approx(theirs.pvalue, abs=0.025)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (1, 0), (3, 9), (12, 4), (5, 5), (0, 8)])
def test_mcnemar_is_the_binomial_test(only_a, only_b):
    right_a = np.repeat([True, False, True, False], [only_a, only_b, 6, 2])
    right_b = np.repeat([False, True, True, False], [only_a, only_b, 6, 2])
    n = only_a + only_b
    as_uneven = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(only_a - only_b))
    assert mcnemar(right_a, right_b) == pytest.approx(as_uneven / 2**n)


@pytest.mark.parametrize("name", ["accuracy", "log_loss"])
def test_the_interval_of_a_difference_of_means_is_that_of_theory(rows, name):
    draw = np.random.default_rng(3)
    gold = draw.integers(3, size=500)
    both = [np.eye(3)[np.where(draw.random(500) < right, gold, (gold + 1) % 3)] * 0.7 + 0.1 for right in (0.8, 0.6)]
    data = rows(gold)
    a, b = (predictions(data, each) for each in both)
    found = paired_over_rows(data, a, b, np.arange(500), name, draws=4000)
    if name == "accuracy":
        each = [(p.argmax(axis=1) == gold).astype(float) for p in both]
    else:
        each = [-np.log(p[np.arange(500), gold]) for p in both]
    gaps = each[0] - each[1]
    reach = 1.96 * gaps.std() / np.sqrt(500)
    assert found.metric == f"difference.{name}"
    assert found.value == pytest.approx(gaps.mean())
    assert (found.low, found.high) == pytest.approx((gaps.mean() - reach, gaps.mean() + reach), abs=0.1 * reach)
    assert found.tags["p"] < 0.001
    assert ("p.mcnemar" in found.tags) == (name == "accuracy")


def test_errors_that_come_in_groups_widen_the_interval_and_raise_p(rows):
    draw = np.random.default_rng(8)
    gold, groups = draw.integers(3, size=400), np.repeat(np.arange(20), 20)
    right = draw.random(20)[groups] < 0.5  # whole groups are right or wrong
    first = np.eye(3)[np.where(right | (draw.random(400) < 0.1), gold, (gold + 1) % 3)]
    second = np.eye(3)[np.where(draw.random(400) < 0.45, gold, (gold + 1) % 3)]
    data = rows(gold, user=[f"u{each}" for each in groups])
    a, b = predictions(data, first), predictions(data, second)
    by_row, by_user = (paired_over_rows(data, a, b, np.arange(400), "accuracy", groups=each) for each in (None, "user"))
    assert by_user.high - by_user.low > 2 * (by_row.high - by_row.low)
    assert by_user.tags["p"] > by_row.tags["p"]
    assert "p.mcnemar" not in by_user.tags


def test_the_same_predictions_do_not_differ(rows):
    gold, (p, _) = answers(40, 0)
    data = rows(gold)
    a = predictions(data, p)
    found = paired_over_rows(data, a, a, np.arange(40), "f1.macro")
    assert (found.value, found.low, found.high, found.tags["p"]) == (0, 0, 0, 1)


def test_swapped_models_turn_the_sign(rows):
    gold, both = answers(80, 2)
    data = rows(gold)
    a, b = (predictions(data, each) for each in both)
    one, other = (paired_over_rows(data, *pair, np.arange(80), "f1.macro") for pair in ((a, b), (b, a)))
    assert one.value == -other.value
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=0.03)


def test_slices_are_compared_each(rows):
    gold, both = answers(60, 2)
    data = rows(gold, source=["app", "web"] * 30)
    a, b = (predictions(data, each) for each in both)
    found = compare(data, a, b, np.arange(60), ["accuracy"], slices=["source"], tags={"part": "test"})
    assert [(row.slice, row.n, row.tags["part"]) for row in found] == [
        ("all", 60, "test"),
        ("source=app", 30, "test"),
        ("source=web", 30, "test"),
    ]
    assert found[0].value == pytest.approx((found[1].value + found[2].value) / 2)


def test_labels_alone_have_no_ranking_on_either_side(rows):
    gold, both = answers(30, 2)
    data = rows(gold)
    soft, hard = predictions(data, both[0]), predictions(data, both[1], hard=True)
    for pair in ((soft, hard), (hard, soft)):
        with pytest.raises(InputError, match="needs probabilities"):
            paired_over_rows(data, *pair, np.arange(30), "log_loss")


def test_rows_without_an_answer_are_refused(rows):
    gold, both = answers(30, 2)
    data = rows(gold)
    few = Predictions(data.ids.slice(0, 10), both[0][:10], NAMES)
    with pytest.raises(MismatchError, match="20 of 30"):
        paired_over_rows(data, predictions(data, both[1]), few, np.arange(30), "accuracy")
