"""Metric names with parameters: one way to write each, whatever the labels are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.f_scores import SCHEMES, SCORES
from unseen.evaluation.gates import Gate
from unseen.evaluation.intervals import interval
from unseen.evaluation.metrics import METRICS, canonical, metric, without
from unseen.evaluation.weighting import PLAIN, Weighting
from unseen.evaluation.wording import called

LABELS = st.lists(st.text(min_size=1), min_size=1, max_size=3, unique=True)
TALLY = np.array([[5.0, 2.0, 0.0], [7.0, 3.0, 1.0], [6.0, 5.0, 0.0]])
"""hits, predicted and gold rows of three labels, of which the last has no rows"""


@given(LABELS, st.sampled_from(SCHEMES), st.sampled_from(SCORES), st.booleans())
@example(['a, b=(c)|"d"[e] where f>=1', "\\", " "], "entropy", "f1", True)
def test_a_name_is_read_as_it_is_written(labels, scheme, score, included):
    total = "included" if included and scheme == "entropy" else "all"
    weighting = Weighting(scheme, excluded=tuple(sorted(labels)), total=total)
    name = f"{score}.{weighting}"
    assert metric(name).weighting == weighting
    assert metric(name).id == canonical(name) == name
    gate = Gate.parsed(f"fall.{name} where split=a <= 0.5")
    assert gate == Gate(f"fall.{name}", "<=", 0.5, {"split": "a"})
    assert Gate.parsed(str(gate)) == gate
    assert all(f"“{label}”" in called(name) for label in labels)


@given(LABELS, st.lists(st.integers(1, 1000), min_size=3, max_size=3), st.floats(0, 1))
def test_powers_and_mixes_are_read_as_they_are_written(labels, counts, power):
    total = sum(counts[: len(labels)])
    mix = tuple(sorted((label, count / total) for label, count in zip(labels, counts, strict=False)))
    for weighting in (Weighting("mix", mix=mix), Weighting("power", power, tuple(sorted(labels)))):
        assert metric(f"recall.{weighting}").weighting == weighting


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("f1.macro( exclude = b | a | b )", "f1.macro(exclude=a|b)"),
        ("f1.macro(exclude=no relation)", 'f1.macro(exclude="no relation")'),
        ("f1.entropy(total=included,exclude=a)", "f1.entropy(exclude=a,total=included)"),
        ("f1.entropy(exclude=a,total=all)", "f1.entropy(exclude=a)"),
        ("f1.entropy(total=included)", "f1.entropy"),
        ("recall.power(.50)", "recall.power(0.5)"),
        ("recall.power(1, exclude=a)", "recall.power(1,exclude=a)"),
        ("precision.mix(no=.99,hate=1e-2,other=0)", "precision.mix(hate=0.01,no=0.99)"),
        ('f1.mix("exclude"=0.5,"0.5"=0.5)', "f1.mix(0.5=0.5,exclude=0.5)"),
    ],
)
def test_one_spelling(typed, written):
    assert metric(typed).id == written
    assert metric(written).id == written


@pytest.mark.parametrize(
    "wrong",
    [
        "f1.macro()", "f1.macro(a)", "f1.macro(exclude=)", "f1.macro(exclude=a,)", "f1.macro(exclude=a,exclude=b)",
        "f1.macro(total=included)", "f1.macro(exclude=a(b))", 'f1.macro(exclude="a)', "f1.power", "f1.power()",
        "f1.power(2)", "f1.power(nan)", "f1.power(exclude=a)", "f1.mix()", "f1.mix(a)", "f1.mix(a=0.5)",
        "f1.mix(a=0.5,a=0.5)", "f1.mix(a=2,b=-1)", "f1.mix(a=much)", "f1.entropy(exclude=a,total=some)",
        "f1.macro(exclude=a==b)", "f1.macro(exclude=a|)", "log_loss(exclude=a)", "accuracy(exclude=a)",
    ],
)  # fmt: skip
def test_what_is_no_weighting_is_refused(wrong):
    with pytest.raises(InputError):
        metric(wrong)


def test_a_label_that_is_not_there_is_refused_with_the_nearest():
    for name in ("f1.macro(exclude=nome)", "f1.micro(exclude=nome)", "recall.mix(nome=1)"):
        with pytest.raises(UnknownNameError, match="did you mean 'none'"):
            metric(name).of_counts(TALLY, ["hate", "none", "other"])
    with pytest.raises(UnknownNameError, match="did you mean 'macro'"):
        metric("f1.makro(exclude=a)")
    with pytest.raises(UnknownNameError, match="did you mean 'exclude'"):
        Gate.parsed("fall.f1.macro(exlude=a)<=0.2")


def test_powers_are_the_schemes_at_their_places():
    for power, scheme in ((0, "macro"), (0.75, "dodrans"), (1, "weighted")):
        for inside in ("", ",exclude=a"):
            by_power = metric(f"f1.power({power}{inside})").of_counts(TALLY, ["a", "b", "c"])
            by_name = metric(f"f1.{scheme}" + (f"({inside[1:]})" if inside else "")).of_counts(TALLY, ["a", "b", "c"])
            assert by_power == pytest.approx(by_name)


def test_recall_in_a_mix_is_the_accuracy_on_texts_of_that_mix():
    names, mix = ["a", "b", "c"], "recall.mix(a=0.9,b=0.1)"
    assert metric(mix).of_counts(TALLY, names) == pytest.approx(0.9 * 5 / 6 + 0.1 * 2 / 5)
    drawn_so = np.array([[750.0, 40.0, 0.0], [790.0, 150.0, 60.0], [900.0, 100.0, 0.0]])  # the same recalls, 9 : 1
    assert metric("accuracy").of_counts(drawn_so, names) == pytest.approx(metric(mix).of_counts(TALLY, names))
    assert np.isnan(metric("recall.mix(a=0.5,c=0.5)").of_counts(TALLY, names)), "nobody knows how it does on c"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("inside", ["", "(exclude=c)", "(exclude=a)"])
def test_labels_without_rows_make_no_nan(scheme, inside):
    value = float(metric(f"f1.{scheme}{inside}").of_counts(TALLY, ["a", "b", "c"]))
    assert 0 <= value <= 1
    left = {"": [0, 1], "(exclude=c)": [0, 1], "(exclude=a)": [1]}[inside]
    if scheme == "macro":
        f1 = 2 * TALLY[0] / (TALLY[1] + TALLY[2])
        assert value == pytest.approx(f1[left].mean())


def test_where_nothing_counts_there_is_no_value():
    assert np.isnan(metric("f1.macro(exclude=a|b)").of_counts(TALLY, ["a", "b", "c"]))
    assert np.isnan(metric("f1.micro(exclude=a|b)").of_counts(TALLY, ["a", "b", "c"]))
    assert np.isnan(metric("f1.entropy(exclude=a,total=included)").of_counts(TALLY, ["a", "b", "c"])), (
        "all weights are 0"
    )


def test_an_excluded_label_is_left_out_of_metrics_that_average():
    assert without("f1.entropy(exclude=b,total=included)", ["a"]) == "f1.entropy(exclude=a|b,total=included)"
    assert without("f1.micro", ["a"]) == "f1.micro(exclude=a)"
    assert without("f1[a]", ["a"]) == "f1[a]"
    assert without("average_precision.macro", ["a"]) == "average_precision.macro"
    with pytest.raises(InputError, match="names the labels that count"):
        without("f1.mix(a=1)", ["b"])


def test_intervals_follow_the_labels_that_count():
    draw = np.random.default_rng(7)
    gold = np.concatenate([np.zeros(900, int), 1 + np.arange(100) % 2])
    probabilities = np.eye(3)[np.where(draw.random(1000) < 0.8, gold, draw.integers(3, size=1000))]
    names = ["none", "a", "b"]
    wide, narrow = (
        interval(metric(name), gold, probabilities, names) for name in ("f1.macro(exclude=none)", "f1.weighted")
    )
    value = metric("f1.macro(exclude=none)")(gold, probabilities, names)
    assert wide.low < value < wide.high
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low), "a hundred texts, not a thousand"


def test_the_rarest_label_that_refuses_an_interval_is_one_that_counts():
    gold = np.concatenate([np.repeat(np.arange(40), 5), np.zeros(50, int), np.full(2, 40)])
    names = [f"l{code}" for code in range(41)]
    p = np.eye(41)[np.roll(gold, 1)]
    assert interval(METRICS["f1.macro"], gold, p, names).tags == {"few_rows": 2}
    assert interval(metric("f1.macro(exclude=l40)"), gold, p, names).tags == {"few_rows": 5}
    assert interval(metric("f1.macro(exclude=l0|l40)"), gold, p, names).tags == {}, "all that count have equally many"


def test_plain_schemes_are_written_plainly():
    assert [str(weighting) for weighting in PLAIN.values()] == list(SCHEMES)
    assert called("f1.entropy(exclude=a|b,total=included)") == "entropy F1 without “a” and “b” (N of the rest)"
    assert called("f1.power(0.5,exclude=a)") == "F1 weighted by rows to the power of 0.5 without “a”"
    assert called("f1.nonsense(exclude=a)") == "f1.nonsense(exclude=a)"
