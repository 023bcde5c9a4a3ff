"""Predictions files whose labels are not the data's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from unseen.errors import InputError, UnknownNameError
from unseen.store import read_predictions
from unseen.types import Dataset

Builder = Callable[..., Dataset]


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_probabilities_of_labels_that_become_one_are_added(tmp_path: Path, tiny: Builder) -> None:
    path = written(tmp_path / "p.csv", "id,hate,offensive,neither", "1,.2,.3,.5", "2,.1,.0,.9")
    names = {"hate": "yes", "offensive": "yes", "neither": "no"}
    found = read_predictions(path, tiny(ids=["1", "2"]), names)
    assert found.probabilities.tolist() == [[0.5, 0.5], [0.9, pytest.approx(0.1)]]
    assert found.origin.params["rename"] == names


def test_predicted_labels_are_renamed_and_a_star_is_the_rest(tmp_path: Path, tiny: Builder) -> None:
    path = written(tmp_path / "p.csv", "id,prediction", "1,none", "2,mild", "3,severe")
    found = read_predictions(path, tiny(ids=["1", "2", "3"]), {"none": "no", "*": "yes"})
    assert found.probabilities.argmax(axis=1).tolist() == [0, 1, 1]
    assert found.origin.params["hard"] is True
    with pytest.raises(UnknownNameError, match="mild"):
        read_predictions(path, tiny(ids=["1", "2", "3"]), {"none": "no", "severe": "yes"})


def test_one_score_is_enough_for_two_labels(tmp_path: Path, tiny: Builder) -> None:
    path = written(tmp_path / "p.csv", "id,score", "1,.2", "2,.75")
    found = read_predictions(path, tiny(ids=["1", "2"]), {"score": "yes"})
    assert found.probabilities.tolist() == [[0.8, 0.2], [0.25, 0.75]]
    three = tiny(ids=["1", "2"], label_names=("a", "b", "c"), labels=["a", "b"])
    with pytest.raises(InputError, match="lacks the probabilities"):
        read_predictions(path, three, {"score": "a"})
    with pytest.raises(InputError, match="not probabilities"):
        read_predictions(written(tmp_path / "q.csv", "id,score", "1,1.2"), tiny(ids=["1"]), {"score": "yes"})


def test_a_label_nobody_declared_is_refused(tmp_path: Path, tiny: Builder) -> None:
    path = written(tmp_path / "p.csv", "id,score", "1,.2")
    with pytest.raises(UnknownNameError, match="yes"):
        read_predictions(path, tiny(ids=["1"]), {"score": "yess"})


def test_a_blank_prediction_is_no_label(tmp_path: Path, tiny: Builder) -> None:
    path = written(tmp_path / "p.csv", "id,prediction", "1,no", "2,")
    with pytest.raises(InputError, match=r"1 rows .* have no prediction"):
        read_predictions(path, tiny(ids=["1", "2"]), {"no": "no", "*": "yes"})


def test_a_typing_mistake_in_the_map_is_seen(tmp_path: Path, tiny: Builder) -> None:
    path = written(tmp_path / "p.csv", "id,hate,offensive,normal", "1,.3,.5,.2")
    data = tiny(ids=["1"])
    with pytest.raises(UnknownNameError, match="offensive"):
        read_predictions(path, data, {"hate": "yes", "offensve": "yes", "normal": "no"})
    with pytest.raises(InputError, match="offensive, normal"):
        read_predictions(path, data, {"hate": "yes"})
    labels = written(tmp_path / "q.csv", "id,prediction", "1,none")
    with pytest.raises(UnknownNameError, match="none"):
        read_predictions(labels, data, {"nome": "no", "*": "yes"})


def test_a_column_of_our_own_name_counts_beside_renamed_ones(tmp_path: Path, tiny: Builder) -> None:
    path = written(tmp_path / "p.csv", "id,yes,offensive,no", "1,.3,.5,.2")
    found = read_predictions(path, tiny(ids=["1"]), {"offensive": "yes"})
    assert found.probabilities.tolist() == [[0.2, 0.8]]


def test_a_column_twice_is_refused(tmp_path: Path, tiny: Builder) -> None:
    with pytest.raises(InputError, match="two columns"):
        read_predictions(written(tmp_path / "p.csv", "id,id,yes,no", "1,1,.5,.5"), tiny(ids=["1"]))
