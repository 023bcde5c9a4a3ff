"""Options that say what is what."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from unseen.cli.check import of_models
from unseen.cli.data_options import takes_data
from unseen.cli.options import declared_labels, pairs
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


def test_data_may_be_optional_and_comes_last() -> None:
    app, seen = typer.Typer(), []

    def look(card: Annotated[str, typer.Argument()], data: Any, quiet: bool = False) -> None:
        seen.append((card, None if data is None else data.name))

    app.command()(takes_data(look, optional=True))
    runner = CliRunner()
    assert runner.invoke(app, ["mine"]).exit_code == 0
    assert runner.invoke(app, ["mine", "sample"]).exit_code == 0
    assert seen == [("mine", None), ("mine", "sample")]
    refused = runner.invoke(app, ["mine", "--drop", "empty", "--delimiter", ";"]).exception
    assert isinstance(refused, InputError)
    assert refused.message == "--drop, --delimiter has no effect without DATA"
    assert len(seen) == 2


def test_labels_are_names_or_pairs() -> None:
    assert declared_labels("a, b") == ["a", "b"]
    assert declared_labels("0=a, 1 = b") == {"0": "a", "1": "b"}
    with pytest.raises(InputError, match="all names or all pairs"):
        declared_labels("0=a,b")
    with pytest.raises(InputError, match="--labels says twice what '0' is"):
        declared_labels("0=a,0=b")
