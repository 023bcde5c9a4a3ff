"""Models under every weighting scheme, as measurements."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.api import score_by_schemes
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.class_weights import SeedScores, welch
from unseen.evaluation.metrics import metric
from unseen.types import Predictions

GOLD = ["A"] * 600 + ["B"] * 300 + ["C"] * 80 + ["D"] * 20
MATRIX = [[570, 25, 4, 1], [25, 262, 10, 3], [10, 18, 46, 6], [4, 5, 5, 6]]
"""The worked example: rows are gold labels, columns answers."""


@pytest.fixture(scope="module")
def data():
    rows = [{"text": f"text {row}", "label": label, "id": f"t{row}"} for row, label in enumerate(GOLD)]
    return unseen.load(rows, text="text", label="label", id="id")


def answered(data, codes):
    return Predictions(data.ids, np.eye(4)[codes], data.label_names)


@pytest.fixture(scope="module")
def worked(data):
    return answered(data, np.concatenate([np.repeat(range(4), row) for row in MATRIX]))


def values(rows, **tags):
    return {(row.metric, row.slice): row.value for row in rows if tags.items() <= row.tags.items()}


def test_the_worked_example(data, worked):
    rows = score_by_schemes(data, {"m": [worked]}, exclude=["A"], mix={"B": 0.5, "C": 0.5})
    found = values(rows)
    assert found["f1.micro(exclude=A)", "all"] == pytest.approx(0.7939, abs=5e-5)
    assert found["f1.entropy(exclude=A)", "all"] == pytest.approx(0.7242, abs=5e-5)
    assert found["f1.mix(B=0.5,C=0.5)", "all"] == pytest.approx((0.8590 + 0.6345) / 2, abs=5e-5)
    assert [found["weight.dodrans(exclude=A)", f"label={name}"] for name in "ABCD"] == pytest.approx(
        [0, 0.6657, 0.2470, 0.0873], abs=5e-5
    )
    assert found["class_ratio", "all"] == 15
    assert {"label_perplexity", "label_perplexity.included"} <= {row.metric for row in rows}
    by_name = {row.metric: row for row in rows}
    assert by_name["f1.macro(exclude=A)"].low < 0.6089 < by_name["f1.macro(exclude=A)"].high
    assert "model" not in by_name["f1.macro(exclude=A)"].tags
    whole = {row.metric: row for row in score_by_schemes(data, {"m": [worked]})}
    assert (whole["demands_broken.entropy"].value, whole["demands_broken.entropy"].tags["D1"]) == (1, "A, B")
    assert whole["demands_broken.dodrans"].value == 0


def test_influence_is_told_with_texts_that_have_it(data, worked):
    rows = {row.metric: row for row in score_by_schemes(data, {"m": [worked]})}
    corrected = rows["influence.correction.f1.macro"]
    right = np.eye(4)[np.argmax(worked.probabilities, axis=1)]
    row = int(corrected.tags["ids"].split(", ")[0].removeprefix("t"))
    right[row] = np.eye(4)[data.labels[row]]
    after = metric("f1.macro")(data.labels, right, data.label_names)
    assert after - rows["f1.macro"].value == pytest.approx(corrected.value)
    assert corrected.tags["gold"] == data.label_names[data.labels[row]] == "D"
    assert corrected.tags["flagged"] == 14, "every text of D that is missed moves it by more than a point"
    assert rows["influence.correction.f1.weighted"].tags["flagged"] == 0


def test_winners_flips_and_effects_over_trainings(data):
    draw = np.random.default_rng(5)

    def model(accuracy):
        right = draw.random(len(GOLD)) < np.array(accuracy)[data.labels]
        return answered(data, np.where(right, data.labels, draw.integers(4, size=len(GOLD))))

    models = {name: [model(accuracy) for _ in range(3)] for name, accuracy in
              {"frequent": [0.95, 0.9, 0.3, 0.1], "rare": [0.85, 0.8, 0.9, 0.9]}.items()}  # fmt: skip
    rows = score_by_schemes(data, models)
    (change,) = [row for row in rows if row.metric == "winner_change"]
    assert (change.tags["before"], change.tags["after"]) == ("rare", "frequent")
    macro, weighted = (
        {
            name: [row.value for row in rows if row.metric == f"f1.{scheme}" and row.tags["model"] == name]
            for name in models
        }
        for scheme in ("macro", "weighted")
    )
    assert np.mean(macro["rare"]) > np.mean(macro["frequent"])
    assert np.mean(weighted["rare"]) < np.mean(weighted["frequent"])
    (flip,) = [row for row in rows if row.metric == "rank_flip"]
    assert "f1.weighted" in flip.tags["one_wins"]
    assert "f1.macro" in flip.tags["other_wins"]
    effects = {row.metric: row for row in rows if row.metric.startswith("difference.")}
    expected = welch(SeedScores.of(macro["frequent"]), SeedScores.of(macro["rare"]))
    assert effects["difference.f1.macro"].tags["d"] == pytest.approx(expected.d)
    assert effects["difference.f1.macro"].tags["p.welch"] == pytest.approx(expected.p)
    assert {row.tags["training"] for row in rows if row.metric == "f1.macro"} == {0, 1, 2}


def test_labels_that_are_not_there_are_refused(data, worked):
    with pytest.raises(UnknownNameError, match="no label is called 'Z'"):
        score_by_schemes(data, {"m": [worked]}, exclude=["Z"])
    with pytest.raises(InputError, match="no class with rows is left"):
        score_by_schemes(data, {"m": [worked]}, exclude=["A", "B", "C", "D"])
    with pytest.raises(InputError, match="must sum to one"):
        score_by_schemes(data, {"m": [worked]}, mix={"A": 0.2})
