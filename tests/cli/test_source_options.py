"""Options that say what is what."""

from __future__ import annotations

import pytest

from unseen.cli.check import of_models
from unseen.cli.source import declared, pairs
from unseen.errors import InputError


def test_commas_and_repeated_options_both_separate_pairs() -> None:
    assert pairs(["a=b, c = d=e", "f=g"], "--map") == {"a": "b", "c": "d=e", "f": "g"}
    assert pairs(None, "--map") == {}


@pytest.mark.parametrize("wrong", [["a"], ["=b"], ["a="], ["a=b,"], ["a=b", " = "]])
def test_what_is_not_a_pair_is_refused(wrong: list[str]) -> None:
    with pytest.raises(InputError, match=r"--map .*is not a pair"):
        pairs(wrong, "--map")


@pytest.mark.parametrize("wrong", [["a=b", "a=c"], ["a=b,a =c"], ["a=b", "d=e,a=b"]])
def test_nothing_is_said_twice(wrong: list[str]) -> None:
    with pytest.raises(InputError, match="--map says twice what 'a' is"):
        pairs(wrong, "--map")


def test_a_model_may_differ_from_the_others_but_not_from_itself() -> None:
    models = {"mine": "x", "yours": "y"}
    found = of_models(["a=b,c=d", "mine:a=e"], models, "--map")
    assert found == {"mine": {"a": "e", "c": "d"}, "yours": {"a": "b", "c": "d"}}
    assert of_models(None, models, "--map") == {"mine": None, "yours": None}
    with pytest.raises(InputError, match="says twice"):
        of_models(["mine:a=e", "mine:a=f"], models, "--map")


def test_labels_are_names_or_pairs() -> None:
    assert declared("a, b") == ["a", "b"]
    assert declared("0=a, 1 = b") == {"0": "a", "1": "b"}
    with pytest.raises(InputError, match="all names or all pairs"):
        declared("0=a,b")
    with pytest.raises(InputError, match="--labels says twice what '0' is"):
        declared("0=a,0=b")
