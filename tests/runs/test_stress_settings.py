"""What a run is asked to do, settled and checked before it begins."""

from __future__ import annotations

from typing import Any

import pytest

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.gates import Gate
from unseen.runs.stress import StressSettings, _checked, settled


def test_the_small_budget_trains_transformers_once_per_split_and_light_models_from_three_seeds() -> None:
    runs = settled("minilm").runs
    assert runs == [
        ("random-1", "random", 42), ("random-2", "random", 42), ("random-3", "random", 42),
        ("subset-sum", "subset-sum", 42), ("closest", "closest", 42), ("novel", "novel", 42),
    ]  # fmt: skip
    assert [seed for _, family, seed in settled("neural").runs if family == "closest"] == [42, 55, 83]
    assert (settled("minilm").seen_folds, settled("neural").seen_folds) == (2, 5)
    assert (settled("minilm").space_seeds, settled("neural").space_seeds) == (1, 2)


def test_splits_of_others_are_compared_with_random_ones_alone() -> None:
    settings = settled("neural", split_files=["their/split.csv"])
    assert settings.families == ("random", "split")
    assert settings.hard == ("split",)
    assert settled("neural", split_files=["split.csv"], splits=["random", "closest"]).hard == ("closest", "split")


def test_the_thesis_budget_crosses_seeds_and_splits() -> None:
    settings = settled("minilm", "thesis")
    assert len(settings.runs) == 3 * 3 + 3 + 3 + 3
    assert (settings.seen_folds, settings.space_seeds) == (5, 2)
    assert settings.space.model.recipe().settings.batch == 4
    assert settled("logistic", "thesis").params == {}


def test_as_many_seeds_as_random_splits_are_paired_with_them() -> None:
    settings = settled("minilm", seeds=[1, 2, 3])
    assert [run for run in settings.runs if run[1] == "random"] == [
        ("random-1", "random", 1), ("random-2", "random", 2), ("random-3", "random", 3),
    ]  # fmt: skip
    assert [seed for _, family, seed in settings.runs if family == "closest"] == [1, 2, 3]
    assert len([run for run in settled("minilm", seeds=[1, 2]).runs if run[1] == "random"]) == 6


@pytest.mark.parametrize(
    ("model", "params", "said"),
    [
        ("logistic", {"C": "abc"}, "'C' takes float, not 'abc'"),
        ("logistic", {"C": -1}, "C must be above zero"),
        ("svm", {"class_weights": "even"}, "class_weights is wrong"),
        ("svm", {"class_weights": {"yes": "much"}}, "class_weights must be above zero"),
        ("char-ngrams", {"class_weights": 2}, "class_weights is wrong"),
        ("char-ngrams", {"features": "bert-like"}, "no encoder is called 'bert-like'"),
        ("logistic", {"features": 5}, "features are wrong"),
        ("neural", {"epochs": None}, "'epochs' takes int, not None"),
        ("neural", {"rate": -1.0}, "rate must be above 0"),
        ("birnn", {"batch": 2.5}, "'batch' takes int, not 2.5"),
        ("birnn-attention", {"supervision_weight": -1}, "supervision_weight must be at least 0"),
        ("cnn-gru", {"vectors": "nosuch.txt"}, "there is no file nosuch.txt"),
        ("minilm", {"epochs": "many"}, "'epochs' takes int, not 'many'"),
        ("minilm", {"class_weights": {"yes": 0}}, "class_weights must be above zero"),
    ],
)  # fmt: skip
def test_parameters_of_recipes_are_checked_by_value_before_anything_is_done(model: str, params: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        settled(model, params=params)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("fall.f1.macro where splt=closest<=0.2", "is called 'splt'; did you mean 'split'?"),
        ("fall.f1.macro where split=closets<=0.2", "is called 'closets'; did you mean 'closest'?"),
        ("fall.f1.macro where split=random<=0.2", "is called 'random'"),
        ("f1.macro where family=nov?<=0.2", "is called 'nov?'"),
        ("leaked.exact where split=random-4<=0", "is called 'random-4'; did you mean 'random-"),
        ("difference.f1.macro<=.2", "no number of a stress run is called 'difference.f1.macro'"),
    ],
)
def test_a_gate_about_nothing_that_the_run_measures_is_refused(gate: str, said: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        _checked(Gate.parsed(gate), settled("logistic"))
    assert said in str(caught.value)


def test_gates_about_what_the_run_measures_are_let_through() -> None:
    settings = settled("logistic", slices=["user"], split_files=["their/split.csv"], splits=["random", "closest"])
    for gate in (
        "fall.f1.macro where split=cl*, against=random, part=test<=0.2",
        "fall.selection.f1.macro where family=split<=.9", "f1.macro where split=random, user=u01 >= 0",
        "accuracy where slice=all, model=logistic>=0", "leaked.exact where split=random-1<=0",
        "pass_rate where functionality=*>=0", "findings.fail where check=leak<=0",
    ):  # fmt: skip
        _checked(Gate.parsed(gate), settings)


def test_mistakes() -> None:
    with pytest.raises(InputError) as caught:
        StressSettings("minilm", seeds=(1, 1), test=2, dev=0, independent=1, limit=3, random_splits=0, seen_folds=6,
                 space_seeds=-1)  # fmt: skip
    assert len(caught.value.problems) == 8
    with pytest.raises(InputError, match="against random"):
        settled("minilm", splits=["closest"])
    with pytest.raises(UnknownNameError, match="closest"):
        settled("minilm", splits=["random", "closets"])
    with pytest.raises(UnknownNameError, match="closest"):
        settled("minilm", splits=["closets"])
    with pytest.raises(InputError, match="reads an attribute"):
        settled("minilm", splits=["random", "time"])
    for name, said in (("hard-kfold", "several splits"), ("deployment", "needs texts"), ("grouped", "needs groups")):
        with pytest.raises(InputError, match=said):
            settled("minilm", splits=["random", name])
    assert settled("minilm", splits=["random", "grouped", "length"], groups="user").splits[1] == "grouped"
    with pytest.raises(UnknownNameError, match="small"):
        settled("minilm", "smal")
    with pytest.raises(UnknownNameError, match="bottleneck-50"):
        settled("minilm", representation="bottleneck50")
    with pytest.raises(InputError):
        settled("minilm", metric="f1")
    with pytest.raises(InputError, match="epoch"):
        settled("minilm", params={"epoch": 3}).space.model.recipe()
