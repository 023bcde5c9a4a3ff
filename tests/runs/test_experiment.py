"""Trainings on chosen rows and what they answer."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tiny_data import build
from unseen import load
from unseen.errors import InputError
from unseen.evaluation.falls import Run, fall, level
from unseen.inference import predict
from unseen.naming import recipe_of
from unseen.runs.experiment import Arm, Chosen, Contrast, Level, answers, measured, relabelled, trainings_done
from unseen.runs.spaces import Model
from unseen.store.results import Results
from unseen.types import Dataset

LIGHT = Model("logistic")


@pytest.fixture(scope="module")
def parts() -> list[Dataset]:
    data = load("sample")
    rows = np.random.default_rng(1).permutation(len(data))
    return [data.take(rows[:150]), data.take(rows[150:200]), data.take(rows[200:260]), data.take(rows[260:300])]


def arms(parts: list[Dataset]) -> list[Arm]:
    train, dev, test, other = map(Chosen, parts)
    return [
        Arm("whole", train, dev, {"test": test, "other": other}),
        Arm("half", Chosen(train.taken().take(np.arange(75))), dev, {"test": test}, seed=7),
    ]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_answers_are_those_of_the_recipe(parts: list[Dataset], workers: int, tmp_path: Path) -> None:
    found = answers(arms(parts), LIGHT, Results(tmp_path), workers=workers)
    assert {name: list(asked) for name, asked in found.items()} == {"whole": ["test", "other"], "half": ["test"]}
    train, dev, test, _ = parts
    for name, rows, seed in (("whole", train, 42), ("half", train.take(np.arange(75)), 7)):
        expected = predict(recipe_of("logistic").fit(rows, dev, seed), test)
        assert found[name]["test"].ids.equals(test.ids)
        np.testing.assert_allclose(found[name]["test"].probabilities, expected.probabilities, atol=1e-9)


def test_nothing_is_trained_twice(parts: list[Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(tmp_path)
    first = answers(arms(parts), LIGHT, results)
    monkeypatch.setattr("unseen.runs.experiment.fit", lambda *given: pytest.fail("trained again"))
    again = answers([*arms(parts), replace(arms(parts)[0], name="whole again")], LIGHT, results)
    for name in ("test", "other"):
        assert (again["whole again"][name].probabilities == first["whole"][name].probabilities).all()


def test_other_rows_are_another_training(parts: list[Dataset]) -> None:
    train, dev, test, _ = parts
    keys = {
        Arm("a", Chosen(rows), Chosen(dev), {"test": Chosen(asked)}, seed).step(model).key
        for rows, asked, seed, model in (
            (train, test, 42, LIGHT),
            (train.take(np.arange(149)), test, 42, LIGHT),
            (train, test.take(np.arange(59)), 42, LIGHT),
            (train, test, 43, LIGHT),
            (train, test, 42, Model("svm")),
        )
    }
    assert len(keys) == 5


def test_two_arms_of_one_name_are_refused(parts: list[Dataset], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two arms have one name"):
        answers([arms(parts)[0], arms(parts)[0]], LIGHT, Results(tmp_path))


def test_chosen_rows_are_the_same_training_as_their_copy(parts: list[Dataset], tmp_path: Path) -> None:
    train, dev, test, _ = parts
    rows = np.arange(149)[::-1]
    copied = Arm("a", Chosen(train.take(rows)), Chosen(dev), {"test": Chosen(test)})
    chosen = Arm("b", Chosen(train, rows), Chosen(dev, np.arange(len(dev))), {"test": Chosen(test)})
    assert chosen.step(LIGHT).key == copied.step(LIGHT).key
    found = answers([copied, chosen], LIGHT, Results(tmp_path))
    np.testing.assert_array_equal(found["a"]["test"].probabilities, found["b"]["test"].probabilities)


def test_another_process_is_handed_chosen_rows_alone(parts: list[Dataset]) -> None:
    few = pickle.loads(pickle.dumps(Chosen(parts[0], np.array([3, 1]))))
    assert len(few.data) == 2
    assert few.taken().ids.to_pylist() == parts[0].take([3, 1]).ids.to_pylist()


def test_step_keys_are_those_of_earlier_runs(parts: list[Dataset]) -> None:
    """Finished trainings in folders of runs are found by these."""
    settings = arms(parts)[1].step(LIGHT).settings
    train, dev, test, _ = parts
    half = train.take(np.arange(75))
    assert settings == {
        "model": LIGHT.described, "train": [half.fingerprint, half.order], "dev": [dev.fingerprint, dev.order],
        "ask": {"test": [test.fingerprint, test.order]}, "seed": 7,
    }  # fmt: skip


NEURAL = Model("neural", {"epochs": 3, "width": 8, "bottleneck": 8})


def warm(parts: list[Dataset], kept: bool = True) -> list[Arm]:
    """A first training, and one that goes on from its model."""
    train, dev, test, other = map(Chosen, parts)
    first = Arm("first", train, dev, {"test": test}, 3, kept=kept)
    return [first, Arm("second", other, dev, {"test": Chosen(test.data, np.arange(20)[::-1])}, 3, start=first)]


def test_an_arm_goes_on_from_the_model_of_another(parts: list[Dataset], tmp_path: Path) -> None:
    train, dev, test, other = parts
    results, asked = Results(tmp_path), test.take(np.arange(20)[::-1])
    assert trainings_done(warm(parts), NEURAL, results) == (2, 0)
    found = answers(warm(parts)[::-1], NEURAL, results)  # in whichever order they are listed
    assert trainings_done(warm(parts), NEURAL, results) == (2, 2)
    recipe = NEURAL.recipe()
    first = recipe.fit(train, dev, 3)
    expected = {"first": predict(first, test), "second": predict(recipe.fit(other, dev, 3, start=first), asked)}
    for name, predictions in expected.items():
        assert found[name]["test"].ids.equals(predictions.ids)
        np.testing.assert_allclose(found[name]["test"].probabilities, predictions.probabilities, atol=1e-6)
    alone = predict(recipe.fit(other, dev, 3), asked).probabilities
    assert np.abs(found["second"]["test"].probabilities - alone).max() > 1e-3


def test_an_arm_that_starts_elsewhere_is_another_training(parts: list[Dataset]) -> None:
    first, second = warm(parts)
    steps = [arm.step(NEURAL) for arm in (first, second, Arm("cold", second.train, second.dev, second.ask, 3))]
    assert len({step.key for step in steps}) == 3
    assert steps[1].needs["start"].key == steps[0].key
    with pytest.raises(InputError, match="'first' is not kept, so 'second' cannot"):
        warm(parts, kept=False)


def run_of(seed: int, sample: str = "all") -> Run:
    """A model that is right on about two rows of three."""
    draw = np.random.default_rng(seed)
    gold = np.random.default_rng(0).integers(2, size=60)
    answered = np.where(draw.random(60) < 0.7, gold, 1 - gold)
    return Run("s", "f", seed, gold, np.eye(2)[answered], ("no", "yes"), sample=sample)


def test_levels_and_contrasts_are_measured_metric_by_metric_in_their_order() -> None:
    one, other = [run_of(1), run_of(2)], [run_of(3), run_of(4)]
    measures = [
        Level(one, {"arm": "one"}, "whole", singly=True),
        Contrast(one, other, {"arm": "other"}, "part"),
        Contrast(one, other, {"arm": "other"}, sign="difference"),
        Level([], {"arm": "none"}, "empty"),
        Contrast(one, [], {"arm": "none"}, "empty"),
    ]
    rows = measured(measures, ["accuracy", "f1.macro"], seed=5)
    assert [(row.metric, row.slice, row.tags["arm"], row.tags.get("seed")) for row in rows[:8]] == [
        ("accuracy", "whole", "one", 1), ("accuracy", "whole", "one", 2), ("accuracy", "whole", "one", "mean"),
        ("standard_error.accuracy", "whole", "one", "mean"), ("fall.accuracy", "part", "other", None),
        ("difference.accuracy", "all", "other", None), ("accuracy", "empty", "none", None),
        ("fall.accuracy", "empty", "none", None),
    ]  # fmt: skip
    assert [row.metric.removesuffix("accuracy") for row in rows[:8]] == [
        row.metric.removesuffix("f1.macro") for row in rows[8:]
    ]
    assert [replace(row, slice="all") for row in rows[2:4]] == level(one, "accuracy", tags={"arm": "one"}, seed=5)
    assert [row.value for row in rows[:2]] == [(run.probabilities.argmax(1) == run.gold).mean() for run in one]
    expected = fall(one, other, "accuracy", tags={"arm": "other"}, seed=5)
    assert (rows[4].value, rows[4].low, rows[4].high, rows[4].tags) == (
        expected.value, expected.low, expected.high, expected.tags,
    )  # fmt: skip
    assert (rows[5].value, rows[5].low) == (-expected.value, -expected.high)  # type: ignore[operator]
    assert [(row.value, row.n) for row in rows[6:8]] == [(None, 0), (None, 0)]


def test_labels_are_mapped_by_what_was_said() -> None:
    data = build(["1", "2", "3"], labels=["a", "b", "c"], label_names=("a", "b", "c"))
    found = relabelled(data, {"a": "yes", "b": "no"}, ("no", "yes", "c"))
    assert found.table["label"].to_pylist() == ["yes", "no", "c"]
    assert found.label_names == ("no", "yes", "c")
    assert found.texts.equals(data.texts)


def test_rows_whose_label_becomes_none_are_left_out() -> None:
    data = build(list("abcdef"), labels=["x", "y", "z", "x", "z", "y"], label_names=("x", "y", "z"))
    ours = relabelled(data, {"x": "yes", "y": "no", "z": ""}, ("no", "yes"))
    assert [ours.label_names[code] for code in ours.labels] == ["yes", "no", "yes", "no"]
    assert ours.ids.to_pylist() == ["a", "b", "d", "f"]
