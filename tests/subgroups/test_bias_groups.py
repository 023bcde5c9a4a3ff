"""Which rows mention which group."""

from __future__ import annotations

import re
import tracemalloc
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, TableError, UnknownNameError
from unseen.subgroups import Groups, groups_by_attribute, groups_by_terms, read_terms
from unseen.subgroups.groups import Finder, checked_terms, drawn_together


def rows_of(groups: Groups) -> dict[str, list[int]]:
    return {name: np.flatnonzero(groups.members[:, place]).tolist() for place, name in enumerate(groups.names)}


def test_an_attribute_of_single_values_or_of_lists(tiny):
    data = tiny(
        crew=["cook", None, "", "clerk"], crews=[["cook", "clerk"], [], ["cook", "cook"], None], age=[3, 4, 3, 3]
    )
    assert rows_of(groups_by_attribute(data, "crew")) == {"clerk": [3], "cook": [0]}
    assert rows_of(groups_by_attribute(data, "crews")) == {"clerk": [0], "cook": [0, 2]}
    assert rows_of(groups_by_attribute(data, "age")) == {"3": [0, 2, 3], "4": [1]}
    assert groups_by_attribute(data, "crew").slices == ("crew=clerk", "crew=cook")


def test_small_groups_do_not_count_and_only_those_named_are_kept(tiny):
    data = tiny(crews=[["a", "b"], ["a"], ["a", "c"], ["c"]])
    assert groups_by_attribute(data, "crews", fewest=2).names == ("a", "c")
    assert rows_of(groups_by_attribute(data, "crews", only=["c", "b"])) == {"c": [2, 3], "b": [0]}
    with pytest.raises(UnknownNameError, match="'crew b'"):
        groups_by_attribute(data, "crews", only=["crew b"])
    with pytest.raises(InputError, match="no group of 'crews' has 9 rows"):
        groups_by_attribute(data, "crews", fewest=9)
    with pytest.raises(InputError, match="at least 1"):
        groups_by_attribute(data, "crews", fewest=0)
    with pytest.raises(UnknownNameError):
        groups_by_attribute(data, "crew")


def test_terms_are_whole_words_in_any_case(tiny):
    texts = ["A COOK, here", "cooking cooks", "deaf\n cook's knife", "über_cook Ärzte"]
    found = groups_by_terms(tiny(texts=texts), {"kitchen": ["cook", "cooks"], "doctors": ["ärzte"]})
    assert rows_of(found) == {"kitchen": [0, 1, 2], "doctors": [3]}
    assert found.grouping == "term"


def test_terms_that_overlap_are_all_found(tiny):
    texts = ["a deaf cook", "deaf cooks", "the cook deaf", "a deaf  cook book"]
    found = groups_by_terms(tiny(texts=texts), ["deaf cook", "deaf", "cook", "cook book"])
    assert rows_of(found) == {"deaf cook": [0, 3], "deaf": [0, 1, 2, 3], "cook": [0, 2, 3], "cook book": [3]}


def test_accents_and_signs_belong_to_their_word():
    finder = Finder(["café", "cafe", "हिन्द"])
    composed, apart = (unicodedata.normalize(form, "Café") for form in ("NFC", "NFD"))
    assert finder.terms_in(composed) == finder.terms_in(apart) == {0}
    assert finder.terms_in("cafe") == {1}
    assert finder.terms_in("हिन्दू") == set()  # another word: a vowel sign follows
    assert finder.terms_in("हिन्द है") == {2}


words = st.lists(st.sampled_from(["ann", "an", "Ann", "nan", "n", "a", ",", "bo", "BO"]), max_size=8)


@given(words.map(" ".join), st.lists(words.filter(bool).map(" ".join), min_size=1, max_size=5, unique=True))
def test_terms_are_found_as_by_looking_for_each_alone(text, terms):
    alone = {n for n, term in enumerate(terms) if re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE)}
    assert Finder(terms).terms_in(text) == alone
    spans = {(n, *m.span(1)) for n, term in enumerate(terms)
             for m in re.finditer(rf"(?<!\w)(?=({re.escape(term)})(?!\w))", text, re.IGNORECASE)}  # fmt: skip
    assert set(Finder(terms).spans(text)) == spans


def test_files_of_terms(tmp_path):
    (tmp_path / "t.toml").write_text('kitchen = ["cook",  "head  chef"]\n"the desk" = ["clerk"]\n', encoding="utf-8")
    assert read_terms(tmp_path / "t.toml") == {"kitchen": ["cook", "head chef"], "the desk": ["clerk"]}
    (tmp_path / "t.txt").write_text("\ufeffcook\n\n head chef \n", encoding="utf-8")
    assert read_terms(tmp_path / "t.txt") == {"cook": ["cook"], "head chef": ["head chef"]}


def test_every_problem_of_a_file_of_terms_is_named(tmp_path, tiny):
    path = tmp_path / "t.toml"
    path.write_text('a = "cook"\nb = [1, "x"]\nc = []\nd = ["Cook", "cook"]\n', encoding="utf-8")
    with pytest.raises(TableError) as error:
        read_terms(path)
    assert [problem[:2] for problem in error.value.problems] == ["a:", "b:", "c:", "d:"]
    path.write_text("a = [", encoding="utf-8")
    with pytest.raises(InputError, match="cannot read terms"):
        read_terms(path)
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(TableError, match="names no term"):
        read_terms(tmp_path / "empty.txt")
    with pytest.raises(TableError) as error:
        groups_by_terms(tiny(), ["cook", "clerk", "cook"])
    assert error.value.problems == ("'cook' stands there twice",)


class Numbered:
    """Finds the numbers that a text consists of, instead of terms: thousands of patterns take long to compile."""

    def __init__(self, terms: list[str]) -> None:
        pass

    def terms_in(self, text: str) -> set[int]:
        return set(map(int, text.split()))


def test_many_terms_of_few_groups_take_the_room_of_the_groups(tiny, monkeypatch):
    """A column per term would be 2,000 × 4,000 bytes; a column per group is 2,000 × 2."""
    monkeypatch.setattr("unseen.subgroups.groups.Finder", Numbered)
    terms = {"low": [f"w{n}" for n in range(2_000)], "high": [f"w{n}" for n in range(2_000, 4_000)]}
    data = tiny(ids=[str(n) for n in range(2_000)], texts=[f"{n} {n * n % 4_000}" for n in range(2_000)])
    tracemalloc.start()
    found = groups_by_terms(data, terms)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows_of(found) == {"low": list(range(2_000)), "high": [n for n in range(2_000) if n * n % 4_000 >= 2_000]}
    assert most < 2_000 * 4_000 / 2


class Watched(str):
    """A word that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Watched.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize("named", [False, True])
def test_long_lists_of_terms_are_not_compared_each_with_each(named, monkeypatch):
    monkeypatch.setattr("unseen.subgroups.groups.folded_term", lambda term: Watched(term.lower()))
    monkeypatch.setattr(Watched, "compared", 0)
    terms = [Watched(f"w{n}") for n in range(300)]
    checked_terms({"all": terms} if named else terms)
    assert Watched.compared < 3_000
    with pytest.raises(TableError) as error:
        checked_terms({"all": [*terms, "W7"]} if named else [*terms, "w7"])
    assert error.value.problems == ("all: 'w7' stands there twice" if named else "'w7' stands there twice",)


def test_rows_without_a_unit_are_units_of_their_own(tiny):
    data = tiny(ids=list("abcdefgh"), author=["x", None, "", "x", None, "", "None", "y"])
    unit = drawn_together(data, np.array([7, 6, 5, 4, 3, 2, 1, 0]), "author")
    assert sorted(set(unit.tolist())) == list(range(7))
    assert unit[4] == unit[7]
    assert drawn_together(data, np.array([1, 2, 4]), "author").tolist() == [0, 1, 2]
    numbers = tiny(author=[3, None, 3, None])
    unit = drawn_together(numbers, np.arange(4), "author")
    assert unit[0] == unit[2]
    assert len(set(unit.tolist())) == 3
    assert len(drawn_together(data, np.array([], np.intp), "author")) == 0


def test_groups_of_other_data_are_refused(tiny):
    groups = groups_by_terms(tiny(), ["text"])
    with pytest.raises(InputError, match="other data"):
        groups.of_rows(tiny(ids=["1", "2"]), np.arange(2))
    with pytest.raises(InputError, match="repeat"):
        Groups("term", ("a", "a"), np.ones((3, 2), bool))
    with pytest.raises(InputError, match="column per name"):
        Groups("term", ("a",), np.ones((3, 2), bool))
