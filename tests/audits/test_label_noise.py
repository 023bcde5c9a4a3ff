"""Wrong labels where the truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.audits import corrected_fall, label_noise
from unseen.audits.label_noise import LabelNoise, judged, noise_model, posterior
from unseen.errors import InputError, MismatchError
from unseen.evaluation import Run, fall
from unseen.evaluation.intervals import wilson
from unseen.types import Embeddings

NAMES = ("bird", "fish", "tree")
ROWS = 240


def words(row, code):
    """Three words of the class, or now and then of another one, and two of everybody."""
    draw = np.random.default_rng(row)
    classes = np.where(draw.random(3) < 0.15, draw.integers(3, size=3), code)
    own = [f"{NAMES[each]}{number}" for each, number in zip(classes, draw.integers(6, size=3), strict=True)]
    return " ".join([*own, *(f"word{each}" for each in draw.integers(20, size=2))])


TRUE = np.arange(ROWS) % 3
TEXTS = [words(row, code) for row, code in enumerate(TRUE)]
IDS = [f"r{row:03}" for row in range(ROWS)]
BAD = np.random.default_rng(1).random(ROWS) < 0.15
GIVEN = np.where(BAD, (TRUE + 1) % 3, TRUE)


@pytest.fixture(scope="module")
def right(tiny):
    return tiny(ids=IDS, texts=TEXTS, labels=[NAMES[code] for code in TRUE], label_names=NAMES)


@pytest.fixture(scope="module")
def noisy(tiny):
    return tiny(ids=IDS, texts=TEXTS, labels=[NAMES[code] for code in GIVEN], label_names=NAMES)


@pytest.fixture(scope="module")
def found(noisy):
    return label_noise(noisy)


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_the_posterior_is_bayes_rule(seed, k):
    draw = np.random.default_rng(seed)
    sure, rates = draw.dirichlet(np.ones(k), size=5), draw.dirichlet(np.ones(k), size=k)
    labels = draw.integers(k, size=5)
    got = posterior(sure, rates, labels)
    for row, label in enumerate(labels):
        worlds = [sure[row, true] * rates[true, label] for true in range(k)]
        assert got[row] == pytest.approx([each / sum(worlds) for each in worlds])


def test_sureness_and_noise_of_a_known_model_are_found():
    draw = np.random.default_rng(0)
    logs = draw.normal(0, 2.5, (20_000, 3))
    sure = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    true = np.array([draw.choice(3, p=each) for each in sure])
    rates = np.array([[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.0, 0.2, 0.8]])
    labels = np.array([draw.choice(3, p=rates[each]) for each in true])
    shy = np.exp(logs / 2) / np.exp(logs / 2).sum(
        axis=1, keepdims=True
    )  # a witness that is half as sure as it is right
    found, fitted = noise_model(shy, labels)
    assert fitted == pytest.approx(rates, abs=0.02)
    assert found == pytest.approx(sure, abs=0.03)
    assert 1 - posterior(found, fitted, labels)[np.arange(20_000), labels].mean() == pytest.approx(
        (labels != true).mean(), abs=0.01
    )


def test_planted_noise_is_found(found):
    suspect = found.wrong > 0.5
    assert (suspect & BAD).sum() / suspect.sum() > 0.85
    assert (suspect & BAD).sum() / BAD.sum() > 0.85
    assert found.share().value == pytest.approx(BAD.mean(), abs=0.03)
    assert found.share().low < BAD.mean() < found.share().high
    assert (found.likely[suspect & BAD] == TRUE[suspect & BAD]).mean() > 0.9
    assert (found.likely != GIVEN).all()
    assert found.clear
    assert "clear enough" in found.why


def test_right_labels_of_clear_classes_are_not_suspect(right):
    assert (label_noise(right).wrong > 0.5).mean() <= 0.01


def test_vectors_can_be_the_witness(tiny):
    data = tiny(ids=IDS, labels=[NAMES[code] for code in GIVEN], label_names=NAMES)  # the texts say nothing
    vectors = np.eye(3)[TRUE] + np.random.default_rng(0).normal(0, 0.2, (ROWS, 3))
    found = label_noise(data, vectors=Embeddings(data.ids, vectors.astype(np.float32)))
    assert ((found.wrong > 0.5) == BAD).mean() > 0.98


def test_the_order_of_rows_decides_nothing(noisy, found):
    order = np.random.default_rng(0).permutation(ROWS)
    again = label_noise(noisy.take(order))
    assert np.array_equal(again.wrong, found.wrong[order])
    assert again.suspects == found.suspects


def test_names_of_labels_decide_nothing(tiny, found):
    names = ("z", "m", "a")
    other = tiny(ids=IDS, texts=TEXTS, labels=[names[code] for code in GIVEN], label_names=names)
    assert np.array_equal(label_noise(other).wrong, found.wrong)


def test_no_label_has_a_say_about_itself(tiny, found):
    """The answers on which a row is judged are the same whatever its own label, but for the folds."""
    rows = np.flatnonzero(~BAD)[:1]
    labels = [NAMES[code] for code in GIVEN]
    labels[rows[0]] = NAMES[(TRUE[rows[0]] + 2) % 3]
    changed = label_noise(tiny(ids=IDS, texts=TEXTS, labels=labels, label_names=NAMES))
    assert found.wrong[rows] < 0.1
    assert changed.wrong[rows] > 0.9


def test_the_interval_counts_unsure_labels_both_ways(case):
    noise = replace(case[0], wrong=np.array([0.05, 0.5, 0.95, 0.05, 0.05, 0.05, 0.8, 0.05]))
    row = noise.share()
    assert row.value == pytest.approx(noise.wrong.mean())
    assert row.low == pytest.approx(wilson(0.95 + 0.25, 8)[0])
    assert row.high == pytest.approx(wilson(0.95 + 0.25 + 2, 8)[1])


def test_suspects_are_named_the_surest_first(found):
    confidences = [each.confidence for each in found.suspects]
    assert confidences == sorted(confidences, reverse=True)
    assert len(confidences) == (found.wrong > 0.5).sum()
    first = found.suspects[0]
    row = IDS.index(first.id)
    assert (first.given, first.likely) == (NAMES[GIVEN[row]], NAMES[TRUE[row]])


def test_classes_that_say_nothing_are_refused(tiny):
    labels = [NAMES[code] for code in np.random.default_rng(3).permutation(TRUE)]
    found = label_noise(tiny(ids=IDS, texts=TEXTS, labels=labels, label_names=NAMES))
    assert not found.clear
    assert "cannot be told" in found.why


def test_a_rare_label_is_not_judged(tiny):
    labels = [NAMES[code] for code in TRUE]
    labels[:3] = ["rare"] * 3
    found = label_noise(tiny(ids=IDS, texts=TEXTS, labels=labels, label_names=(*NAMES, "rare")))
    assert (found.wrong[:3] < 0.5).all()


@pytest.mark.parametrize(
    ("different", "share"), [(4, 0.3), (20, 0.1)], ids=["an empty fold", "all of a label are suspects"]
)
def test_a_fold_without_rows_or_with_one_label_is_no_end(tiny, different, share):
    draw = np.random.default_rng(3)
    texts = [TEXTS[each] for each in draw.integers(different, size=ROWS)]
    labels = [NAMES[code] for code in (draw.random(ROWS) < share).astype(int)]
    found = label_noise(tiny(ids=IDS, texts=texts, labels=labels, label_names=NAMES[:2]))
    assert ((found.wrong >= 0) & (found.wrong <= 1)).all()


def test_only_the_rows_asked_for_are_looked_at(noisy):
    rows = np.arange(ROWS)[::-2]
    found = label_noise(noisy, rows)
    assert found.ids.to_pylist() == [IDS[row] for row in rows]
    assert found.share(rows[:5]).value == pytest.approx(found.wrong[:5].mean())
    with pytest.raises(MismatchError, match="not looked for"):
        found.share([0])


def test_too_few_rows_are_refused(noisy):
    with pytest.raises(InputError, match="folds"):
        label_noise(noisy, np.arange(3))


@pytest.fixture
def case(right):
    """A model that is right on all eight rows, of which the control has none mislabelled and the hard part two."""
    wrong = np.array([0, 0, 0, 0, 0.9, 0.8, 0.4, 0.1])
    gold = np.array([0, 1, 0, 1, 1, 0, 0, 1])
    noise = LabelNoise(right.ids.slice(0, 8), np.arange(8), gold, 1 - gold, wrong, np.eye(2), ("a", "b"), 0.1)
    truth = np.where(wrong > 0.5, 1 - gold, gold)
    runs = [
        (Run(name, name, 1, gold[rows], np.eye(2)[truth[rows]], ("a", "b")), rows)
        for name, rows in (("random", np.arange(4)), ("hard", np.arange(4, 8)))
    ]
    return noise, runs


def test_a_fall_that_is_all_noise_is_corrected_to_nothing(case):
    noise, (control, hard) = case
    sure = replace(noise, wrong=(noise.wrong > 0.5).astype(float))
    assert fall([control[0]], [hard[0]], "accuracy").value == 0.5
    row = corrected_fall(sure, [control], [hard], "accuracy", tags={"model": "m"}, draws=50)
    assert (row.metric, row.value, row.n, row.tags) == ("fall.corrected.accuracy", 0.0, 2, {"model": "m"})


def test_a_corrected_fall_is_the_mean_over_draws_of_what_is_right(case):
    """A row stays out as often as its label is probably wrong; two of four are wrong answers to right labels."""
    noise, (control, hard) = case
    sole = replace(noise, wrong=np.array([0, 0, 0, 0, 0, 0, 0.5, 0.5]))
    row = corrected_fall(sole, [control], [hard], "accuracy", draws=50)
    expected = np.mean([2 / (2 + right) for right in (0, 1, 1, 2)])  # of the rows that are left, two are wrong
    assert row.value == pytest.approx(expected, abs=0.12)


def test_a_part_of_nothing_but_suspects_has_no_corrected_fall(case):
    noise, (control, hard) = case
    noise = replace(noise, wrong=np.where(noise.rows < 4, 0.0, 1.0))
    row = corrected_fall(noise, [control], [hard], "accuracy")
    assert (row.value, row.n) == (None, 0)


def test_judging_keeps_the_places(right):
    p = np.full((4, 3), 0.2)
    p[np.arange(4), [0, 1, 2, 0]] = 0.6
    rows = np.array([3, 0, 1, 2])
    assert np.array_equal(judged(right, rows, p).given, right.labels[rows])
