from __future__ import annotations

import inspect
import pickle

import pytest

from unseen import errors
from unseen.errors import (
    SHOWN_NAMES,
    SHOWN_PROBLEMS,
    InputError,
    MissingPackageError,
    TableError,
    UnknownNameError,
    UnseenError,
    UnseenWarning,
    nearest_name,
)

RAISED = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, UnseenError)]


def test_a_message_says_what_was_expected_what_was_found_and_what_to_do() -> None:
    error = InputError("no test rows", expected="a share above 0", got="0", fix="--test 0.1")
    assert str(error).splitlines() == [
        "no test rows",
        "  expected: a share above 0",
        "  got: 0",
        "  what to do: --test 0.1",
    ]


def test_a_bare_message_is_one_line() -> None:
    assert str(UnseenError("nothing there")) == "nothing there"


def test_every_problem_is_kept_and_the_first_are_shown() -> None:
    problems = [f"line {line}" for line in range(SHOWN_PROBLEMS + 3)]
    error = TableError("wrong rows", problems=problems)
    assert error.problems == tuple(problems)
    assert str(error).splitlines()[SHOWN_PROBLEMS:] == [f"  - line {SHOWN_PROBLEMS - 1}", "  - … and 3 more"]


@pytest.mark.parametrize("kind", RAISED)
def test_an_error_crosses_processes_whole(kind: type[UnseenError]) -> None:
    error = kind("wrong", expected="a", got="b", fix="c", problems=["p", "q"])
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


@pytest.mark.parametrize("kind", RAISED)
def test_every_error_exits_with_2_and_stands_in_the_tree(kind: type[UnseenError]) -> None:
    assert kind.exit_code == 2
    assert kind.__name__ in (errors.__doc__ or "")


def test_wrong_input_is_a_value_error_and_a_missing_package_is_not() -> None:
    values = {each.__name__ for each in RAISED if issubclass(each, ValueError)}
    assert {each.__name__ for each in RAISED} - values == {"UnseenError", "FetchError", "MissingPackageError"}
    assert not issubclass(UnseenWarning, UnseenError)


def test_an_unknown_name_gets_the_nearest_known_one() -> None:
    error = UnknownNameError.of("splitter", "Closset", iter(["random", "closest"]), fix="look")
    assert str(error).splitlines() == [
        "no splitter is called 'Closset'; did you mean 'closest'?",
        "  expected: one of random, closest",
        "  what to do: look",
    ]


def test_of_many_names_the_nearest_come_first_and_the_rest_are_counted() -> None:
    slices = ["all", *(f"target=group {place}" for place in range(100)), "target=cooks", "target=cooks & part=b"]
    error = UnknownNameError.of("slice", "Cook", slices)
    assert error.message.endswith("did you mean 'target=cooks'?")
    assert error.expected.startswith("one of target=cooks, ")
    assert error.expected.endswith(f", … and {len(slices) - SHOWN_NAMES} more")
    assert error.expected.count(",") == SHOWN_NAMES


def test_a_name_near_nothing_gets_no_hint() -> None:
    assert str(UnknownNameError.of("splitter", "zzz", [])) == "no splitter is called 'zzz'"


@pytest.mark.parametrize(
    ("name", "near"), [("TEXT", "Text"), ("txt", "Text"), ("labl", "LABEL"), ("xyzzy", None), ("", None)]
)
def test_nearest_name_ignores_case_and_answers_as_spelled(name: str, near: str | None) -> None:
    assert nearest_name(name, ["Text", "LABEL"]) == near


def test_a_missing_package_comes_with_its_install_command() -> None:
    error = MissingPackageError.of("datasets", "loading from the hub", "hf")
    assert "needs the package 'datasets'" in str(error)
    assert "pip install 'unseen[hf]'" in str(error)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("lable", "label"),
        ("txt", "text"),
        ("TEXT", "text"),
        ("cra", "car"),
        ("dog", None),
        ("a", None),
        ("texture", "text"),
        ("tex t u r e", None),
        ("x" * 10_000, None),
    ],
)
def test_only_near_names_are_hints(name: str, near: str | None) -> None:
    assert nearest_name(name, ["text", "label", "car", "ab", "x" * 10_001]) == near
