"""Metrics against scikit-learn, and the worked numbers of Harbecke et al. (2022)."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.f_scores import SCHEMES, class_scores, scheme_weights
from unseen.evaluation.metrics import METRICS, metric

MATRIX = np.array([[570, 25, 4, 1], [25, 262, 10, 3], [10, 18, 46, 6], [4, 5, 5, 6]], dtype=float)
TALLY = np.array([np.diag(MATRIX), MATRIX.sum(axis=0), MATRIX.sum(axis=1)])
WORKED = {"micro": 0.8840, "weighted": 0.8809, "dodrans": 0.8555, "entropy": 0.7949, "macro": 0.6924}
WITHOUT_FIRST = {"micro": 0.7939, "weighted": 0.7878, "dodrans": 0.7576, "entropy": 0.7242, "macro": 0.6089}


def of_tally(name):
    return float(metric(name).of_counts(TALLY, ["A", "B", "C", "D"]))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_worked_numbers(scheme):
    assert of_tally(f"f1.{scheme}") == pytest.approx(WORKED[scheme], abs=5e-5)
    assert of_tally(f"f1.{scheme}(exclude=A)") == pytest.approx(WITHOUT_FIRST[scheme], abs=5e-5)


def test_entropy_depends_on_whether_excluded_rows_count():
    assert of_tally("f1.entropy(exclude=A,total=included)") == pytest.approx(0.6393, abs=5e-5)
    assert of_tally("precision.micro(exclude=A)") == pytest.approx(0.8031, abs=5e-5)
    assert of_tally("recall.micro(exclude=A)") == pytest.approx(0.7850, abs=5e-5)


def test_the_worked_numbers_of_the_documents():
    page = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    numbers = re.findall(r"^\| `(.+)` \| (0\.\d{4}) \|$", page, re.M)
    assert len(numbers) == 13
    assert {name: f"{of_tally(name):.4f}" for name, _ in numbers} == dict(numbers)


def test_per_class_numbers():
    assert class_scores(TALLY, "precision").round(4).tolist() == [0.9360, 0.8452, 0.7077, 0.3750]
    assert class_scores(TALLY, "recall").round(4).tolist() == [0.9500, 0.8733, 0.5750, 0.3000]
    assert class_scores(TALLY).round(4).tolist() == [0.9429, 0.8590, 0.6345, 0.3333]


def test_weights_of_the_schemes():
    counts = MATRIX.sum(axis=1)
    assert scheme_weights(counts, "dodrans").round(4).tolist() == [0.5282, 0.3141, 0.1165, 0.0412]
    assert scheme_weights(counts, "entropy").round(4).tolist() == [0.3233, 0.3810, 0.2131, 0.0825]


def test_a_class_without_rows_has_no_weight():
    assert scheme_weights(np.array([5.0, 0.0, 5.0]), "macro").tolist() == [0.5, 0.0, 0.5]
    assert np.isfinite(scheme_weights(np.array([5.0, 0.0, 5.0]), "entropy")).all()


def predicted(k, n, seed):
    draw = np.random.default_rng(seed)
    gold = np.concatenate([np.arange(k), draw.integers(k, size=n - k)])
    p = draw.dirichlet(np.ones(k), n).round(2) + 0.01
    return gold, p / p.sum(axis=1, keepdims=True), [f"c{i}" for i in range(k)]


@given(st.integers(2, 6), st.integers(8, 60), st.integers(0, 10**6))
def test_scores_are_those_of_scikit_learn(k, n, seed):
    gold, p, names = predicted(k, n, seed)
    said = p.argmax(axis=1)
    assert METRICS["accuracy"](gold, p, names) == pytest.approx(sk.accuracy_score(gold, said))
    assert METRICS["log_loss"](gold, p, names) == pytest.approx(sk.log_loss(gold, p))
    for score in ("f1", "precision", "recall"):
        theirs = getattr(sk, f"{score}_score")
        for average in ("micro", "macro", "weighted"):
            expected = theirs(gold, said, labels=range(k), average=average, zero_division=0)
            assert METRICS[f"{score}.{average}"](gold, p, names) == pytest.approx(expected)
        expected = theirs(gold, said, labels=[1], average=None, zero_division=0)[0]
        assert metric(f"{score}[c1]")(gold, p, names) == pytest.approx(expected)


@given(st.integers(3, 6), st.integers(8, 60), st.integers(0, 10**6))
def test_areas_are_those_of_scikit_learn(k, n, seed):
    gold, p, names = predicted(k, n, seed)
    for kind in ("ovo", "ovr"):
        assert METRICS[f"roc_auc.{kind}"](gold, p, names) == pytest.approx(sk.roc_auc_score(gold, p, multi_class=kind))
    expected = sk.average_precision_score(np.eye(k)[gold], p)
    assert METRICS["average_precision.macro"](gold, p, names) == pytest.approx(expected)


@given(st.integers(4, 60), st.integers(0, 10**6))
def test_two_classes_are_those_of_scikit_learn(n, seed):
    gold, p, names = predicted(2, n, seed)
    assert METRICS["roc_auc.binary"](gold, p, names) == pytest.approx(sk.roc_auc_score(gold, p[:, 1]))
    assert METRICS["brier"](gold, p, names) == pytest.approx(sk.brier_score_loss(gold, p[:, 1]))


def test_calibration_error_by_hand():
    p = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    gold = np.array([0, 1, 1, 1])
    assert METRICS["ece.15"](gold, p, ["a", "b"]) == pytest.approx(0.5 * 0.4 + 0.5 * 0.4)


@pytest.mark.parametrize("name", ["f1", "precision", "roc_auc"])
def test_a_bare_name_is_refused(name):
    with pytest.raises(InputError, match="does not say which"):
        metric(name)


def test_unknown_names_have_a_hint():
    with pytest.raises(UnknownNameError, match=r"did you mean 'f1\.macro'"):
        metric("f1.makro")
    with pytest.raises(UnknownNameError, match="no label is called 'z'"):
        metric("f1[z]")(np.array([0]), np.array([[1.0, 0.0]]), ["a", "b"])


def test_no_data_gives_no_score():
    nothing = np.empty(0, int), np.empty((0, 2)), ["a", "b"]
    assert all(each(*nothing) is None for each in METRICS.values())
    one_class = np.array([0, 0]), np.array([[0.6, 0.4], [0.2, 0.8]]), ["a", "b"]
    assert METRICS["roc_auc.binary"](*one_class) is None
    assert metric("f1[b]")(*one_class) is None
