from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, entropy

from unseen.evaluation.invariance import BIASED, CLASSIFIER, NOTHING, OPEN, AnsweredPairs, HeldOut, outcome

NAMES = ("a", "b", "c")


def hard(codes: np.ndarray, labels: int) -> np.ndarray:
    return np.eye(labels)[codes]


def pairs_of(gold: np.ndarray, before: np.ndarray, after: np.ndarray, labels: int = 2, **more: object) -> AnsweredPairs:
    still = {"identity": np.zeros(len(gold))}
    options = {"floors": still, "changed": np.ones(len(gold), bool)} | more
    return AnsweredPairs(gold, hard(before, labels), hard(after, labels), NAMES[:labels], **options)  # type: ignore[arg-type]


def value(rows: list, metric: str, slice: str = "all", **tags: object) -> float:
    (row,) = [
        row for row in rows
        if (row.metric, row.slice) == (metric, slice) and "seed" not in row.tags
        and tags.items() <= dict(row.tags).items()
    ]  # fmt: skip
    return row.value


@pytest.mark.parametrize("labels", [2, 3])
def test_every_number_is_what_counting_gives(labels: int) -> None:
    draw = np.random.default_rng(labels)
    gold, before, after, floor = draw.integers(0, labels, (4, 200))
    soft = draw.dirichlet(np.ones(labels), (2, 200))
    floors = {"identity": np.zeros(200), "other": (before != floor).astype(float)}
    changed = draw.random(200) < 0.7
    pairs = replace(pairs_of(gold, before, after, labels), floors=floors, changed=changed)
    rows = pairs.measurements({"transformation": "t"}, draws=50)
    counts = {"gold": gold, "original": before, "transformed": after}
    shares = {side: np.bincount(codes, minlength=labels) / 200 for side, codes in counts.items()}
    for place, name in enumerate(NAMES[:labels]):
        for side, share in shares.items():
            assert value(rows, f"share[{name}]", side=side) == pytest.approx(share[place])
        shift = shares["transformed"][place] - shares["original"][place]
        assert value(rows, f"difference.skew[{name}]") == pytest.approx(shift)
        assert value(rows, "flip_rate", f"from={name}") == pytest.approx((after != before)[before == place].mean())
    to_before, to_after = (entropy(shares["gold"], shares[side]) for side in ("original", "transformed"))
    assert value(rows, "kl.gold", side="transformed") == pytest.approx(to_after, abs=1e-6)
    assert value(rows, "difference.kl.gold") == pytest.approx(to_after - to_before, abs=1e-6)
    assert value(rows, "kl.answers") == pytest.approx(entropy(shares["original"], shares["transformed"]), abs=1e-6)
    assert value(rows, "flip_rate") == pytest.approx((before != after).mean())
    assert value(rows, "flip_rate", "changed") == pytest.approx((before != after)[changed].mean())
    assert value(rows, "flip_rate.floor", floor="other") == pytest.approx((before != floor).mean())
    surplus = (before != after).mean() - (before != floor).mean()
    assert value(rows, "difference.flip_rate", than="other") == pytest.approx(surplus)
    expected = sum(
        (gold == label).mean() * (before[gold == label] == i).mean() * (after[gold == label] == j).mean()
        for label, i, j in product(range(labels), repeat=3) if i != j
    )  # fmt: skip
    assert value(rows, "flip_rate.independent") == pytest.approx(expected)
    softly = replace(pairs, original=soft[0], transformed=soft[1]).measurements({}, draws=50)
    expected = entropy(shares["gold"], soft[1].mean(axis=0))
    assert value(softly, "soft_kl.gold", side="transformed") == pytest.approx(expected, abs=1e-6)
    assert value(softly, "probability_moved") == pytest.approx(np.abs(soft[0] - soft[1]).sum(axis=1).mean() / 2)


def test_two_labels_have_the_exact_paired_test_and_groups_none() -> None:
    draw = np.random.default_rng(5)
    gold, before, after = draw.integers(0, 2, (3, 60))
    pairs = pairs_of(gold, before, after)
    (row,) = [row for row in pairs.measurements({}, draws=20) if row.metric == "kl.answers"]
    gone, came = int(((before == 0) & (after == 1)).sum()), int(((before == 1) & (after == 0)).sum())
    assert row.tags["p.mcnemar"] == pytest.approx(binomtest(gone, gone + came).pvalue)
    grouped = replace(pairs, groups=np.arange(60) // 3).measurements({}, draws=20)
    assert all(not name.startswith("p.") for row in grouped for name in row.tags)


def test_groups_that_move_together_widen_the_interval() -> None:
    gold = np.tile([0, 1], 100)
    after = np.repeat(np.random.default_rng(3).integers(0, 2, 20), 10)
    alone = pairs_of(gold, gold, after)

    def width(pairs: AnsweredPairs) -> float:
        (row,) = [
            row for row in pairs.measurements({}) if row.metric == "share[a]" and row.tags["side"] == "transformed"
        ]
        return row.high - row.low  # type: ignore[operator]

    assert width(replace(alone, groups=np.repeat(np.arange(20), 10))) > 2 * width(alone)


def test_a_distance_that_is_chance_begins_at_zero() -> None:
    """However many texts flip, as long as about as many flip back."""
    gold = np.tile([0, 1], 2000)
    near, far = gold.copy(), gold.copy()
    near[0:800:2], near[1:761:2], far[:400] = 1, 0, 1
    for after, begins in ((near, True), (far, False)):
        rows = pairs_of(gold, gold, after).measurements({"transformation": "t"})
        (row,) = [row for row in rows if row.metric == "kl.gold" and row.tags["side"] == "transformed"]
        assert row.low <= row.value <= row.high  # type: ignore[operator]
        assert (row.low == 0) == begins


GOLD = np.tile([0, 1], 200)
SKEWED = np.where(np.arange(400) % 5 == 0, 1, GOLD)
MOVED = np.where(np.arange(400) % 4 == 0, 1, GOLD)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (GOLD, GOLD, NOTHING),
        (GOLD, MOVED, BIASED),
        (SKEWED, SKEWED, CLASSIFIER),
        (SKEWED, np.where(np.arange(400) % 5 == 1, 0, SKEWED), BIASED),
    ],
    ids=["same", "moved", "both-skewed", "moved-back"],
)
def test_whose_bias_it_is(before: np.ndarray, after: np.ndarray, kind: str) -> None:
    pairs = pairs_of(GOLD, before, after)
    assert outcome(pairs, pairs.measurements({})).kind == kind


def test_a_shift_that_another_training_turns_round_is_undecidable() -> None:
    back = np.where(np.arange(400) % 8 == 1, 0, GOLD)
    steady = [(hard(GOLD, 2), hard(MOVED, 2))] * 2
    pairs = pairs_of(GOLD, GOLD, MOVED, retrained=steady)
    assert outcome(pairs, pairs.measurements({})).kind == BIASED
    pairs = pairs_of(GOLD, GOLD, MOVED, retrained=[*steady, (hard(GOLD, 2), hard(back, 2))])
    assert outcome(pairs, pairs.measurements({})).kind == OPEN


def test_two_classifiers_must_be_as_good_and_as_skewed_as_each_other() -> None:
    right, noisy = (
        HeldOut(GOLD, hard(GOLD, 2)),
        HeldOut(GOLD, hard(np.roll(GOLD, 1) * (np.arange(400) < 80) + GOLD * (np.arange(400) >= 80), 2)),
    )
    skewed = HeldOut(GOLD, hard(MOVED, 2))

    def judged(first: HeldOut | None, second: HeldOut | None, margin: float = 0.5) -> str:
        held = {side: one for side, one in (("original", first), ("transformed", second)) if one is not None}
        pairs = pairs_of(GOLD, GOLD, MOVED, two=True, held_out=held)
        return outcome(pairs, pairs.measurements({}), margin).kind

    assert judged(right, right) == BIASED
    assert judged(right, None) == judged(None, right) == OPEN
    assert judged(right, noisy, margin=0.05) == OPEN
    assert judged(right, skewed) == OPEN, "the second classifier gives that label too often wherever it is asked"


def test_the_skew_that_a_classifier_brings_is_that_of_its_confusions() -> None:
    held = HeldOut(np.array([0, 0, 0, 0, 1, 1]), hard(np.array([0, 0, 0, 1, 1, 0]), 2))
    gold = np.array([0, 1, 1, 1])
    assert held.expected(gold).tolist() == pytest.approx([0.25 * 0.75 + 0.75 * 0.5, 0.25 * 0.25 + 0.75 * 0.5])
