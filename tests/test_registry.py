from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from unseen.attacks.characters import Characters
from unseen.errors import InputError, MissingPackageError, UnknownNameError
from unseen.naming import splitter_of
from unseen.registry import (
    BelowOne,
    Count,
    NotNegative,
    Positive,
    Registry,
    Share,
    check_numbers,
    check_parameters,
    require_known,
)
from unseen.representations import ENCODERS
from unseen.training import RECIPES

SHAPES = Registry(
    "shape",
    {
        "circle.v2": "shapes_for_tests:Circle",
        "circle.v10": "shapes_for_tests:RoundCircle",
        "square.v1": "shapes_for_tests:Square",
        "broken.v1": "shapes_for_tests:Nothing",
    },
)


@pytest.fixture(autouse=True)
def shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shapes_for_tests.py").write_text(
        "class Circle:\n    'A circle.\\n\\n    More.'\n    def __init__(self, radius=1): self.radius = radius\n"
        "class RoundCircle(Circle): pass\n"
        "def Square(side, *, corner='sharp'): return side, corner\n"
        "def anything(**params): return params\n"
        "SIZE = 3\n"
    )
    (tmp_path / "raises_for_tests.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shapes_for_tests", raising=False)


def test_names_are_listed_bare_once_and_in_order() -> None:
    assert list(SHAPES) == ["circle", "square", "broken"]


def test_a_bare_name_means_its_newest_version_by_number() -> None:
    assert SHAPES.full_name("circle") == "circle.v10"
    assert SHAPES.full_name("circle.v2") == "circle.v2"


def test_nothing_is_imported_before_it_is_used() -> None:
    assert list(SHAPES)
    assert SHAPES.full_name("square") == "square.v1"
    assert "shapes_for_tests" not in sys.modules
    assert SHAPES.get("circle.v2").__name__ == "Circle"
    assert "shapes_for_tests" in sys.modules


@pytest.mark.parametrize("name", ["circl", "Circle", "circle.v3"])
def test_an_unknown_name_is_refused_with_the_nearest(name: str) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'circle'") as caught:
        SHAPES.get(name)
    assert "one of circle, square, broken" in str(caught.value)


def test_a_place_of_the_users_own_needs_no_registration() -> None:
    assert SHAPES.full_name("shapes_for_tests:anything") == "shapes_for_tests:anything"
    assert SHAPES.make("shapes_for_tests:anything", x=1) == {"x": 1}


@pytest.mark.parametrize(
    "place",
    ["nowhere_to_be_found:x", "shapes_for_tests:x", "shapes_for_tests:", ":x", ".x:y", "raises_for_tests:x", ":"],
)
def test_a_place_that_cannot_be_imported_is_wrong_input(place: str) -> None:
    with pytest.raises(InputError, match="cannot be imported") as caught:
        SHAPES.get(place)
    assert repr(place) in str(caught.value)


def test_a_broken_entry_of_our_own_is_a_bug_not_wrong_input() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        SHAPES.get("broken")


def test_make_passes_parameters_on() -> None:
    assert SHAPES.make("circle", radius=5).radius == 5
    assert SHAPES.make("square", side=2, corner="round") == (2, "round")


def test_wrong_parameters_are_refused_all_at_once() -> None:
    with pytest.raises(InputError) as caught:
        SHAPES.make("square", sides=2, korner="x", zzz=0, side=1)
    assert caught.value.problems == (
        "'sides' is not a parameter; did you mean 'side'?",
        "'korner' is not a parameter; did you mean 'corner'?",
        "'zzz' is not a parameter",
    )
    assert "some of side, corner" in str(caught.value)
    assert "shape 'square'" in str(caught.value)


def test_what_is_no_number_is_refused_where_annotations_say_so() -> None:
    with pytest.raises(InputError, match="else than numbers") as caught:
        check_numbers("characters", Characters, {"places": "many", "edits": 1.5, "readable": "maybe", "alphabet": "ab"})
    takes = ("'places' takes int", "'edits' takes int", "'readable' takes bool")
    assert all(one in str(caught.value) for one in takes)
    check_numbers("characters", Characters, {"places": np.int64(3), "edits": None, "readable": False})


def test_a_number_out_of_the_range_that_its_annotation_names_is_refused() -> None:
    def settings(count: Count, rate: Positive, weight: NotNegative, dropout: BelowOne, share: Share | None) -> None:
        pass

    def problems(**given: float | str | None) -> tuple[str, ...]:
        with pytest.raises(InputError) as caught:
            check_numbers("a recipe", settings, given, lambda: ["does not go together"])
        return caught.value.problems

    assert problems(count=0, rate=math.inf, weight=-0.1, dropout=1, share=np.float32(1)) == (
        "count must be at least 1, not 0", "rate must be above 0, not inf", "weight must be at least 0, not -0.1",
        "dropout must be from 0 to below 1, not 1", f"share must be between 0 and 1, not {np.float32(1)!r}",
        "does not go together",
    )  # fmt: skip
    assert problems(count="1", rate=0) == ("'count' takes int, not '1'", "rate must be above 0, not 0")
    assert problems(share=None, weight=0, count=np.int8(1)) == ("does not go together",)


def test_what_cannot_be_called_is_wrong_input() -> None:
    with pytest.raises(InputError, match="cannot be called"):
        SHAPES.make("shapes_for_tests:SIZE")


def test_something_without_parameters_says_so() -> None:
    with pytest.raises(InputError, match="no parameters"):
        check_parameters("it", lambda: None, {"x": 1})


def test_a_summary_is_the_first_line_of_the_docstring() -> None:
    assert SHAPES.summary("circle.v2") == "A circle."
    assert SHAPES.summary("square") == ""


def test_a_registry_keeps_its_own_copy_of_the_entries() -> None:
    entries = {"a.v1": "m:a"}
    registry = Registry("letter", entries)
    entries["b.v1"] = "m:b"
    assert list(registry) == ["a"]


def test_kinds_that_a_command_lists_name_it() -> None:
    with pytest.raises(UnknownNameError, match="'unseen split ls splitters' lists them"):
        Registry("splitter", {"random.v1": "unseen.splits.random:RandomSplit"}).get("randm")


def test_settings_that_are_no_numbers_are_wrong_input() -> None:
    with pytest.raises(InputError, match="'time_limit' takes float, not 'abc'"):
        splitter_of("subset-sum", None, 42, {"time_limit": "abc"})
    with pytest.raises(InputError, match="'dimensions' takes int, not 'x'"):
        ENCODERS.make("tfidf", dimensions="x")
    with pytest.raises(InputError, match="'max_tokens' takes int"):
        ENCODERS.outline("minilm", {"max_tokens": "x"})


def test_what_needs_an_extra_says_what_works_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.errors.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="needs the package 'torch'; model='logistic' does not"):
        RECIPES.get("transformer")
    with pytest.raises(MissingPackageError, match="using='tfidf'"):
        ENCODERS.get("minilm")


def test_the_first_of_several_names_that_is_not_known_is_refused() -> None:
    require_known("part", iter(["train", "test"]), "test", "train")
    with pytest.raises(UnknownNameError, match="no part is called 'tets'; did you mean 'test'") as caught:
        require_known("part", ["train", "test"], "train", "tets", "tran", fix="look")
    assert caught.value.fix == "look"
