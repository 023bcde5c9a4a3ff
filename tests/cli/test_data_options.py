"""Options that say what is what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from unseen.cli.check import of_models
from unseen.cli.data_options import takes_data
from unseen.cli.options import declared_labels, named_places, pairs
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


def test_places_have_names_or_are_called_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("posts.csv", "x=y.csv"):
        Path(name).touch()
    typed = ["posts.csv", "x=y.csv", "mine=posts.csv", "sample", "https://a.b/c?d=e", "runs/rate=1"]
    assert named_places(typed, "datasets") == {
        "posts": "posts.csv", "x=y": "x=y.csv", "mine": "posts.csv", "sample": "sample",
        "https://a.b/c?d=e": "https://a.b/c?d=e", "runs/rate=1": "runs/rate=1",
    }  # fmt: skip


def test_a_board_is_not_made_of_two_datasets_of_one_name(unseen: Callable[..., Any]) -> None:
    for wrong, what in (
        (["a=one.csv", "a=two.csv"], "datasets"),
        (["sample", "--split", "a=b", "--split", "a=c"], "splits"),
    ):
        done = unseen("runs", "leaderboard", "answers", *wrong)
        assert done.code == 2
        assert f"two {what} are called 'a'" in done.err


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
