"""What leaked test rows buy, against brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import f1_score, log_loss

from unseen.audits.price import price_findings, price_on_test, random_removals, removable
from unseen.types import Dataset, Measurement, Predictions

Builder = Callable[..., Dataset]
N = 200


@pytest.fixture(scope="module")
def data(tiny: Builder) -> Dataset:
    labels = ["no", "yes", "no", "no"] * (N // 4)
    return tiny(ids=[f"{row:03}" for row in range(N)], labels=labels, user=[f"u{row // 4}" for row in range(N)])


def answers(data: Dataset, right: npt.NDArray[np.bool_], seed: int = 0) -> Predictions:
    """Right on these rows, and on most of the others."""
    lucky = right | (np.random.default_rng(seed).random(len(data)) < 0.6)
    said = np.where(lucky, data.labels, 1 - data.labels)
    return Predictions(data.ids, np.eye(2)[said] * 0.8 + 0.1, data.label_names)


def only(found_in: Sequence[Measurement], metric: str, /, **tags: str) -> Measurement:
    (found,) = (row for row in found_in if row.metric == metric and all(row.tags.get(k) == v for k, v in tags.items()))
    return found


@pytest.fixture(scope="module")
def leaked() -> npt.NDArray[np.bool_]:
    return np.random.default_rng(1).random(N) < 0.3


def test_scores_and_price_are_those_of_brute_force(data: Dataset, leaked: npt.NDArray[np.bool_]) -> None:
    said = answers(data, leaked)
    rows = price_on_test(data, [said], np.arange(N), leaked, "f1.macro")
    gold, predicted = data.labels, said.probabilities.argmax(axis=1)
    for name, where in (("all", leaked | ~leaked), ("leaked", leaked), ("unleaked", ~leaked)):
        expected = f1_score(gold[where], predicted[where], average="macro")
        assert only(rows, "f1.macro", rows=name).value == pytest.approx(expected)
        assert only(rows, "f1.macro", rows=name).n == where.sum()
    draw, scores = np.random.default_rng(5), []
    for _ in range(500):
        kept = np.ones(N, bool)
        for label in (0, 1):
            kept[draw.choice(np.flatnonzero(gold == label), (leaked & (gold == label)).sum(), replace=False)] = False
        scores.append(f1_score(gold[kept], predicted[kept], average="macro"))
    random = only(rows, "f1.macro", rows="random")
    assert random.value == pytest.approx(np.mean(scores), abs=0.005)
    assert (random.low, random.high) == pytest.approx(tuple(np.quantile(scores, [0.025, 0.975])), abs=0.015)
    price = only(rows, "fall.f1.macro")
    unleaked = only(rows, "f1.macro", rows="unleaked").value
    assert price.value == pytest.approx(random.value - unleaked)  # type: ignore[operator]
    assert 0.03 < price.low < price.value < price.high  # type: ignore[operator]
    assert price.tags["p"] < 0.01


def test_metrics_that_are_no_counts_have_a_price_too(data: Dataset, leaked: npt.NDArray[np.bool_]) -> None:
    said = answers(data, leaked)
    rows = price_on_test(data, [said], np.arange(N), leaked, "log_loss", draws=50)
    expected = log_loss(data.labels[~leaked], said.probabilities[~leaked])
    assert only(rows, "log_loss", rows="unleaked").value == pytest.approx(expected)
    price = only(rows, "fall.log_loss")
    assert price.low < price.value < price.high  # type: ignore[operator]
    # less is better: the leaks flatter by what the loss rises without them
    assert price.value > 0  # type: ignore[operator]
    assert expected > only(rows, "log_loss", rows="random").value  # type: ignore[operator]


def test_leaks_that_are_no_easier_have_no_price(data: Dataset) -> None:
    inside, runs = 0, 100
    for seed in range(runs):
        said = answers(data, np.zeros(N, bool), seed)
        leaked = np.random.default_rng(1000 + seed).random(N) < 0.3
        price = only(price_on_test(data, [said], np.arange(N), leaked, draws=200), "fall.f1.macro")
        inside += price.low <= 0 <= price.high  # type: ignore[operator]
    assert inside >= 0.9 * runs


def test_several_models_are_averaged(data: Dataset, leaked: npt.NDArray[np.bool_]) -> None:
    both = [answers(data, leaked, 0), answers(data, leaked, 1)]
    together = only(price_on_test(data, both, np.arange(N), leaked), "f1.macro", rows="unleaked").value
    singly = [
        only(price_on_test(data, [each], np.arange(N), leaked), "f1.macro", rows="unleaked").value for each in both
    ]
    assert together == pytest.approx(np.mean(singly))  # type: ignore[arg-type]


def test_whole_units_widen_the_interval(data: Dataset) -> None:
    by_user = np.arange(N) // 4 % 3 == 0
    said = answers(data, (np.arange(N) // 4 % 2 == 0))
    wide, narrow = (
        only(price_on_test(data, [said], np.arange(N), by_user, units=units), "fall.f1.macro")
        for units in ("user", None)
    )
    assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)  # type: ignore[operator]


def test_random_removals_keep_the_label_counts() -> None:
    strata = np.random.default_rng(0).integers(3, size=50)
    leaked = np.arange(50) % 4 == 0
    removed = np.concatenate(list(random_removals(strata, leaked, 400, np.random.default_rng(1))))
    for stratum in range(3):
        assert (removed[:, strata == stratum].sum(axis=1) == (leaked & (strata == stratum)).sum()).all()
    assert len(np.unique(removed, axis=0)) > 390
    for stratum in range(3):
        share = leaked[strata == stratum].mean()
        assert removed[:, strata == stratum].mean(axis=0) == pytest.approx(share, abs=0.1)


def test_whole_units_are_removed_at_random() -> None:
    """Ten authors with two rows of each label; three of them leak, so any three go and no other row."""
    unit, strata = np.repeat(np.arange(10), 4), np.tile([0, 0, 1, 1], 10)
    (removed,) = random_removals(strata, unit < 3, 200, np.random.default_rng(1), unit)
    by_unit = removed.reshape(200, 10, 4)
    assert (by_unit.all(axis=2) == by_unit.any(axis=2)).all()
    assert (by_unit.all(axis=2).sum(axis=1) == 3).all()
    assert by_unit.mean(axis=(0, 2)) == pytest.approx(0.3, abs=0.1)


def test_a_price_by_units_is_judged_by_removals_of_units(data: Dataset) -> None:
    """Errors that come by user make removals of users vary more than removals of rows."""
    users = np.array([int(str(each)[1:]) for each in data.attribute("user").to_pylist()])
    p = np.eye(len(data.label_names))[np.where(users % 2, data.labels, 1 - data.labels)]
    said = Predictions(data.ids, p, data.label_names)
    spread = {}
    for units in ("user", None):
        rows = price_on_test(data, [said], np.arange(N), users < 15, "accuracy", units=units)
        found = next(row for row in rows if row.tags["rows"] == "random")
        spread[units] = (found.high or 0) - (found.low or 0)
    assert spread["user"] > 1.5 * spread[None]


@pytest.mark.parametrize(
    ("leaked", "can"), [([0, 0, 0, 0], False), ([1, 0, 0, 0], True), ([0, 1, 0, 1], False), ([1, 1, 0, 0], True)]
)
def test_nothing_is_priced_without_leaks_or_without_a_label(leaked: list[int], can: bool, tiny: Builder) -> None:
    four, where = tiny(), np.array(leaked, bool)
    assert removable(four.labels, where) == can
    said = Predictions(four.ids, np.full((4, 2), 0.5), four.label_names)
    rows = price_on_test(four, [said], np.arange(4), where, "accuracy", draws=20)
    assert (only(rows, "fall.accuracy").value is not None) == can


def measured(test: int, train: int, price: tuple[float, float, float] | None) -> list[Measurement]:
    tags = {"leak": "near"}
    value, low, high = price or (None, None, None)
    return [
        Measurement("leaked_rows", test, 100, tags={**tags, "side": "test"}),
        Measurement("leaked_rows", train, 900, tags={**tags, "side": "train"}),
        Measurement(
            "fall.f1.macro", value, 100 if price else 0, low, high, tags={**tags, "side": "test", "rows": "all"}
        ),
    ]


@pytest.mark.parametrize(
    ("test", "price", "level", "said"),
    [
        (0, None, "ok", "nothing to price"),
        (30, (0.05, 0.02, 0.08), "fail", "buy 5.0 points [2.0, 8.0] of macro F1"),
        (30, (0.01, 0.001, 0.02), "warn", "1.0 points"),
        (30, (0.01, -0.01, 0.03), "ok", "No price of the 30 leaked of"),
        (4, (0.05, 0.02, 0.08), "warn", "4 leaked test rows are few"),
        (30, None, "skipped", "cannot be priced"),
        (
            30,
            (-0.163, -0.209, -0.115),
            "warn",
            "too low: removing them from the test part adds 16 points [12, 21] to",
        ),
        (30, (-0.02, -0.05, 0.01), "ok", "is seen, −2.0 points [−5.0, 1.0] of macro F1: the fall by removing them"),
    ],
)
def test_findings_say_how_sure_a_price_is(
    test: int, price: tuple[float, float, float] | None, level: str, said: str
) -> None:
    (finding,) = price_findings(measured(test, 40, price), "f1.macro")
    assert finding.level == level
    assert said in finding.message
    assert finding.count == test
