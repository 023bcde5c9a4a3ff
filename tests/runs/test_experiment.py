"""Trainings on chosen rows and what they answer."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from unseen import load
from unseen.errors import InputError
from unseen.inference import predict
from unseen.naming import recipe_of
from unseen.runs.experiment import Arm, Chosen, answers, taken
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
    train, dev, test, other = parts
    return [
        Arm("whole", train, dev, {"test": test, "other": other}),
        Arm("half", train.take(np.arange(75)), dev, {"test": test}, seed=7),
    ]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_answers_are_those_of_the_recipe(parts: list[Dataset], workers: int) -> None:
    found = answers(arms(parts), LIGHT, workers=workers)
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
    again = answers([*arms(parts), Arm("whole again", parts[0], parts[1], arms(parts)[0].ask)], LIGHT, results)
    for name in ("test", "other"):
        assert (again["whole again"][name].probabilities == first["whole"][name].probabilities).all()


def test_other_rows_are_another_training(parts: list[Dataset]) -> None:
    train, dev, test, _ = parts
    keys = {
        Arm("a", rows, dev, {"test": asked}, seed).step(model).key
        for rows, asked, seed, model in (
            (train, test, 42, LIGHT),
            (train.take(np.arange(149)), test, 42, LIGHT),
            (train, test.take(np.arange(59)), 42, LIGHT),
            (train, test, 43, LIGHT),
            (train, test, 42, Model("svm")),
        )
    }
    assert len(keys) == 5


def test_two_arms_of_one_name_are_refused(parts: list[Dataset]) -> None:
    with pytest.raises(InputError, match="two arms have one name"):
        answers([arms(parts)[0], arms(parts)[0]], LIGHT)


def test_chosen_rows_are_the_same_training_as_their_copy(parts: list[Dataset]) -> None:
    train, dev, test, _ = parts
    rows = np.arange(149)[::-1]
    copied = Arm("a", train.take(rows), dev, {"test": test})
    chosen = Arm("b", Chosen(train, rows), Chosen(dev, np.arange(len(dev))), {"test": test})
    assert chosen.step(LIGHT).key == copied.step(LIGHT).key
    found = answers([copied, chosen], LIGHT)
    np.testing.assert_array_equal(found["a"]["test"].probabilities, found["b"]["test"].probabilities)


def test_another_process_is_handed_chosen_rows_alone(parts: list[Dataset]) -> None:
    few = pickle.loads(pickle.dumps(Chosen(parts[0], np.array([3, 1]))))
    assert len(few.data) == 2
    assert taken(few).ids.to_pylist() == parts[0].take([3, 1]).ids.to_pylist()


def test_step_keys_are_those_of_earlier_runs(parts: list[Dataset]) -> None:
    """Finished trainings in folders of runs are found by these."""
    settings = arms(parts)[1].step(LIGHT).settings
    train, dev, test, _ = parts
    half = train.take(np.arange(75))
    assert settings == {
        "model": LIGHT.described, "train": [half.fingerprint, half.order], "dev": [dev.fingerprint, dev.order],
        "ask": {"test": [test.fingerprint, test.order]}, "seed": 7,
    }  # fmt: skip
