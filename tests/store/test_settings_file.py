"""Files that people write: what is read, what is refused, and in which words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import ConfigDict, Field, StrictInt, model_validator

from unseen.errors import InputError
from unseen.store.settings_file import (
    NO_OTHER_KEYS,
    KeyPath,
    Listed,
    Names,
    Numbers,
    Problems,
    SettingsTable,
    Share,
    Text,
    read_content,
    read_settings,
    settings_schema,
    toml_table,
)


class Posts(SettingsTable):
    source: str = Field(description="a file or a known dataset")
    only: Listed[str] = ()
    test: Share = 0.1
    limit: Annotated[int, Field(ge=50)] | None = None

    @model_validator(mode="after")
    def _only_with_limit(self) -> Posts:
        if self.only and self.limit is None:
            raise InputError("only needs a limit")
        return self


class Machine(SettingsTable):
    model_config = ConfigDict(extra="allow")

    use: str = "linear"


class Bound(SettingsTable):
    name: Text = "bound"
    mark: Annotated[str, Field(pattern="^#[0-9]+$", description="# and a number")] = "#1"
    what: Literal["fall", "score"]
    at_most: float | None = None
    class_: str | None = Field(None, alias="class")


class Plan(SettingsTable):
    title: str = ""
    seed: int = 42
    seeds: int | Listed[int] = 42
    fast: bool = False
    data: dict[str, Posts] = Field(default_factory=dict)
    model: dict[str, Machine] = Field(default_factory=dict)
    gate: Listed[Bound] = ()


SOUND = """
title = "Plan"
seeds = [1, 2]
[data.posts]
source = "posts.csv"
only = ["a", "b"]
limit = 60
[model.net]
use = "net"
epochs = 3
[[gate]]
what = "fall"
at_most = 1
class = "x"
"""


def written(tmp_path: Path, text: str, ending: str = ".toml") -> Path:
    path = tmp_path / f"plan{ending}"
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(InputError, match=r"plan\.toml cannot be run as it is") as caught:
        read_settings(written(tmp_path, text), Plan, "cannot be run as it is")
    return list(caught.value.problems)


def test_a_sound_file_is_read(tmp_path: Path) -> None:
    plan = read_settings(written(tmp_path, SOUND), Plan)
    assert (plan.title, plan.seed, plan.seeds, plan.data["posts"].only) == ("Plan", 42, (1, 2), ("a", "b"))
    assert plan.model["net"].model_extra == {"epochs": 3}
    assert (plan.gate[0].at_most, plan.gate[0].class_) == (1.0, "x")


@pytest.mark.parametrize(
    ("ending", "text"), [(".json", '{"title": "T", "seeds": [3]}'), (".yaml", "title: T\nseeds: [3]\n")]
)
def test_json_and_yaml_say_the_same(tmp_path: Path, ending: str, text: str) -> None:
    plan = read_settings(written(tmp_path, text, ending), Plan)
    assert (plan.title, plan.seeds) == ("T", (3,))


@pytest.mark.parametrize(
    ("ending", "text", "message"),
    [
        (".toml", "a =", "is not TOML"),
        (".json", "[1]", "does not hold a JSON object"),
        (".json", "{", "is not valid JSON"),
        (".yml", "a: [", "YAML that cannot be read"),
    ],
)
def test_files_that_hold_nothing_of_the_kind(tmp_path: Path, ending: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_content(written(tmp_path, text, ending))


def test_files_that_are_too_deep(tmp_path: Path) -> None:
    for ending, text, message in (
        (".toml", "a." * 100 + "a = 1", "a key has more than 100 parts"),
        (".toml", "[" + '\'a\' . "b\\"" . ' * 50 + "a]", "a key has more than 100 parts"),
        (".toml", "a = " + "[" * 10_000, "is not TOML: it is nested too deeply"),
        (".json", "[" * 200_000, "is not valid JSON: it is nested too deeply"),
    ):
        with pytest.raises(InputError, match=message):
            read_content(written(tmp_path, text, ending))


def test_a_long_text_is_no_long_key(tmp_path: Path) -> None:
    text = "a.b " * 200 + "no.no.no. " * 200 + "x" * 100_000
    assert read_content(written(tmp_path, f'title = "{text}"')) == {"title": text}


@pytest.mark.parametrize("ending", [".toml", ".json", ".yaml"])
def test_files_that_are_not_there_or_are_no_text(tmp_path: Path, ending: str) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_content(tmp_path / f"none{ending}")
    (tmp_path / f"bytes{ending}").write_bytes(b"a: \xff\xfe")
    with pytest.raises(InputError, match="is not"):
        read_content(tmp_path / f"bytes{ending}")


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = """
titel = "x"
seed = "3"
seeds = ["a"]
fast = "yes"
[data.posts]
sorce = "posts.csv"
test = 1.5
limit = 3
only = [1, "b"]
[data.more]
source = 3
[data]
third = "x"
[[gate]]
what = "fal"
at_most = "much"
[[gate]]
clas = "x"
what = 2020-01-01
""".replace("[data]\nthird", "[data.fourth]\nsource = 'x'\nonly = 'b'\n[model]\nthird")
    assert problems_of(tmp_path, text) == [
        "seed must be a whole number, not '3'",
        "seeds item 1 must be a whole number, not 'a'",
        "fast must be true or false, not 'yes'",
        "[data.posts] source is missing: a file or a known dataset",
        "[data.posts] only item 1 must be a text, not 1; put it in quotes",
        "[data.posts] test must be a number between 0 and 1, not 1.5",
        "[data.posts] limit must be a whole number from 50 on, not 3",
        "[data.posts]: 'sorce' is not known here; did you mean 'source'?",
        "[data.more] source must be a text, not 3; put it in quotes",
        "[data.fourth] only must be a list of texts, not 'b'",
        "[model.third] must be a table, not 'x'",
        "[[gate]] 1 what must be one of fall, score, not 'fal'; did you mean 'fall'?",
        "[[gate]] 1 at_most must be a number, not 'much'",
        "[[gate]] 2 what must be one of fall, score, not datetime.date(2020, 1, 1)",
        "[[gate]] 2: 'clas' is not known here; did you mean 'class'?",
        "the file: 'titel' is not known here; did you mean 'title'?",
    ]


def test_an_alternative_that_fits_none_is_one_problem(tmp_path: Path) -> None:
    assert problems_of(tmp_path, "seeds = 'x'") == ["seeds must be a whole number or a list of whole numbers, not 'x'"]


def test_texts_must_say_something_and_may_need_a_form(tmp_path: Path) -> None:
    text = "[[gate]]\nwhat = 'fall'\nname = ' '\nmark = '1'"
    assert problems_of(tmp_path, text) == [
        "[[gate]] 1 name must be a text, not ' '",
        "[[gate]] 1 mark must be # and a number, not '1'",
    ]


def test_numbers_are_not_truth_values(tmp_path: Path) -> None:
    assert problems_of(tmp_path, "seed = true") == ["seed must be a whole number, not True"]
    assert problems_of(tmp_path, "fast = 1") == ["fast must be true or false, not 1"]


def test_checks_of_a_whole_table_run_although_a_key_is_wrong(tmp_path: Path) -> None:
    text = "[data.posts]\nsource = 'x'\nonly = ['a']\nlimits = 60\n"
    assert problems_of(tmp_path, text) == [
        "[data.posts]: 'limits' is not known here; did you mean 'limit'?",
        "[data.posts] only needs a limit",
    ]


def test_checks_of_a_whole_table_wait_for_its_values(tmp_path: Path) -> None:
    text = "[data.posts]\nsource = 'x'\nonly = ['a']\nlimit = 3\n[data.more]\nsource = 'x'\nonly = ['a']\n"
    assert problems_of(tmp_path, text) == [
        "[data.posts] limit must be a whole number from 50 on, not 3",
        "[data.more] only needs a limit",
    ]


def test_a_table_that_is_left_out_is_no_second_problem(tmp_path: Path) -> None:
    problems = Problems()
    assert problems.read(Posts, {"source": 3}, ("data",)) is None
    assert problems.lines == ["[data] source must be a text, not 3; put it in quotes"]


def test_what_is_sound_goes_on_to_further_checks() -> None:
    problems = Problems()
    posts = problems.read(Posts, {"source": "x", "test": 7, "tset": 1}, ("data", "posts"))
    assert posts is not None
    assert (posts.source, posts.test) == ("x", 0.1)
    with problems.noted("[data.posts]"):
        raise InputError("nothing is there", problems=["no row"])
    problems.add("[data.posts] nothing is there; no row")
    assert problems.lines[2:] == ["[data.posts] nothing is there; no row"]
    with pytest.raises(InputError, match="wrong") as caught:
        problems.refuse("wrong")
    assert len(caught.value.problems) == 3
    Problems().refuse("nothing")


def test_a_value_that_is_wrong_is_not_missing_as_well() -> None:
    problems = Problems()
    problems.read(Plan, {"title": 3})
    problems.missing(("title",), "what it is about")
    problems.missing(("data", "posts", "limit"), "how many")
    assert problems.lines == [
        "title must be a text, not 3; put it in quotes",
        "[data.posts] limit is missing: how many",
    ]


def test_one_or_several(tmp_path: Path) -> None:
    class Lists(SettingsTable):
        names: Names = ()
        numbers: Numbers = (1,)
        pair: Annotated[Listed[str], Field(min_length=2)] = ("a", "b")

    path = written(tmp_path, "names = 'a'\nnumbers = [3, 2]")
    assert read_settings(path, Lists) == Lists(names=("a",), numbers=(3, 2))
    path = written(tmp_path, "names = ['a', 'b', 'a']\nnumbers = []\npair = ['a']")
    with pytest.raises(InputError) as caught:
        read_settings(path, Lists)
    assert caught.value.problems == (
        "names: 'a' must not stand there twice",
        "numbers must be a whole number or a list of whole numbers with at least one in it, not []",
        "pair must be a list of texts with at least 2 in it, not ['a']",
    )
    path = written(tmp_path, "names = 3\nnumbers = 'a'")
    with pytest.raises(InputError) as caught:
        read_settings(path, Lists)
    assert caught.value.problems == (
        "names must be a text or a list of texts, not 3; put it in quotes",
        "numbers must be a whole number or a list of whole numbers with at least one in it, not 'a'",
    )


def test_tables_have_the_names_that_a_reader_gives_them() -> None:
    content: Any = {"gate": [{"what": "up", "wat": 1}], "seed": "x"}

    def naming(path: KeyPath) -> str:
        return f"test {int(path[-1]) + 1} (mine):" if path else "top:"

    problems = Problems(naming)
    problems.read(Plan, content)
    assert problems.lines == [
        "top: seed must be a whole number, not 'x'",
        "test 1 (mine): what must be one of fall, score, not 'up'",
        "test 1 (mine): 'wat' is not known here; did you mean 'what'?",
    ]


def test_names_of_tables() -> None:
    assert [toml_table(path) for path in ((), ("data",), ("data", "a"), ("gate", 1))] == [
        "",
        "[data]",
        "[data.a]",
        "[[gate]] 2",
    ]


def test_a_schema_for_editors() -> None:
    schema = settings_schema(Plan)
    assert schema["$schema"].startswith("https://json-schema.org")
    assert schema["$defs"]["Posts"]["additionalProperties"] is False
    assert schema["$defs"]["Bound"]["properties"]["class"]


@dataclass(frozen=True)
class Address:
    __pydantic_config__ = NO_OTHER_KEYS

    town: str
    number: StrictInt = 1
    tags: tuple[str, ...] = ()


def test_a_dataclass_is_a_table_as_well(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path, "town = 'x'\ntags = ['a']"), Address) == Address("x", 1, ("a",))
    with pytest.raises(InputError) as caught:
        read_settings(written(tmp_path, "number = '3'\ntwon = 'x'"), Address)
    assert caught.value.problems == (
        "town is missing",
        "number must be a whole number, not '3'",
        "the file: 'twon' is not known here; did you mean 'town'?",
    )
