"""What a run will cost, tried beforehand."""

from __future__ import annotations

from typing import Any

import pytest

import unseen
from unseen.runs import estimate
from unseen.runs.spaces import Model
from unseen.runs.stress import plan


def posts(rows: int, labels: int = 2, rare: int = 0) -> unseen.Dataset:
    texts = [f"post number {row} about {'cats' if row % labels else 'dogs'} and more" for row in range(rows)]
    return unseen.load(
        [{"text": text, "label": "rare" if row < rare else f"label {row % labels}"} for row, text in enumerate(texts)]
    )


def test_light_recipes_and_the_measuring_have_a_time_that_workers_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "_timed", lambda work: 2.0)  # whatever is tried takes two seconds
    data = posts(500)
    one, two = (plan(data, model="logistic", out="nowhere", workers=workers) for workers in (1, 2))
    assert one.texts_per_second == 500 / 2
    assert one.seconds is not None
    assert two.seconds is not None
    trained = (one.texts + (one.trainings * 95 + 500) / estimate.FASTER) / one.texts_per_second
    noise = estimate.WITNESS * 450 / 250
    scored = 12 * 3 * 2.0  # splits of four families and three seeds; alone, in the mean, in the fall
    besides = 5 + 0.013 * 450  # splits, map, leaks, properties of the rows that are split
    assert one.seconds == pytest.approx(trained + noise + scored + besides)
    assert two.seconds == pytest.approx(one.seconds / 2)


def test_a_recipe_of_the_users_own_is_not_tried() -> None:
    assert estimate.speed(Model("some.module:Recipe"), posts(40)) is None


def test_texts_too_few_to_try_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "SAMPLE", 20)
    data = posts(8_000, labels=1, rare=10)
    assert estimate.speed(Model("logistic"), data) is None
    assert estimate.label_noise_seconds(data, 8_000) == 0


def test_scoring_grows_with_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []
    monkeypatch.setattr(estimate, "measure", lambda data, *rest: tried.append(len(data)))
    monkeypatch.setattr(estimate, "_timed", lambda work: (work(), 1.0)[1])
    assert estimate.scoring_seconds(posts(3_000), 2_500, ["accuracy"]) == 2.5
    assert tried == [estimate.SAMPLE]
