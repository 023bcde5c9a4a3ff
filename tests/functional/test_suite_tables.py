"""Suites as files: read back as they were, and never over somebody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiny_data import build as dataset
from unseen.errors import InputError
from unseen.functional.suite import suite_of
from unseen.functional.tables import formulas, load_suite, write_suite
from unseen.types import Dataset

CASES = [
    {"id": "a-1", "text": "I cannot stand cooks.", "label": "rude", "functionality": "insult", "target": "cooks"},
    {"id": "b-1", "text": "Who minds cooks?", "label": "fine", "functionality": "contrast", "reference": "a-1"},
    {"id": "c-1", "text": "WHO MINDS COOKS?", "label": "fine", "functionality": "shout", "reference": "b-1"},
]
KINDS = ("functional", "functional", "invariance")


@pytest.fixture
def suite() -> Dataset:
    rows = [case | {"template": case["id"][0], "kind": kind} for case, kind in zip(CASES, KINDS, strict=True)]
    return suite_of("kitchen", rows, ("fine", "rude"))


def test_a_suite_is_read_back_as_it_was_written(suite: Dataset, tmp_path: Path) -> None:
    again = load_suite(write_suite(suite, tmp_path / "kitchen.csv"))
    assert again.attributes == suite.attributes
    assert again.label_names == suite.label_names
    assert again.table.equals(suite.table)
    about = json.loads((tmp_path / "kitchen.json").read_text(encoding="utf-8"))
    assert (about["suite"], about["cases"], about["label_names"]) == ("kitchen", len(suite), ["fine", "rude"])


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip)


@settings(max_examples=60)
@given(st.lists(st.tuples(texts, texts, st.sampled_from([None, "a", "-", "=b", "'c", '"d"'])), min_size=2, max_size=5))
def test_hostile_texts_are_read_back_as_they_were(tmp_path: Path, cases: list[tuple[str, str, str | None]]) -> None:
    found = [
        {"id": f"c{row}", "text": text, "label": "ab"[row % 2], "functionality": f"f {name}", "target": target}
        for row, (text, name, target) in enumerate(cases)
    ]
    suite = suite_of("hostile", found, ("a", "b"))
    again = load_suite(write_suite(suite, tmp_path / "hostile.csv"), labels=("a", "b"))
    assert again.table.select(suite.table.column_names).equals(suite.table)


def test_texts_that_look_like_formulas_are_counted() -> None:
    assert formulas(dataset(texts=["=1+1", "@user hi", "a = b", "- yes"])) == 3


def test_labels_without_cases_are_declared_beside_the_cases(suite: Dataset, tmp_path: Path) -> None:
    """The suite is read back with them, until somebody changes it."""
    cases = [{"id": each, "text": f"Not {each}!", "label": "rude", "functionality": "f"} for each in "xy"]
    left = suite_of("left", cases, ("rude", "fine"))
    path = write_suite(left, tmp_path / "left.csv")
    again = load_suite(path)
    assert again.label_names == ("rude", "fine")
    assert again.table.equals(left.table)
    path.write_text(path.read_text(encoding="utf-8") + "z,new,rude,f\n", encoding="utf-8")
    with pytest.raises(InputError, match="only one label occurs"):
        load_suite(path)


@pytest.mark.parametrize("named", [True, False])
def test_a_suite_of_one_label_is_read_with_declared_labels(tmp_path: Path, named: bool) -> None:
    """Labels stay the texts that they are; what else is wrong with the table is still told."""
    path, text = tmp_path / "one.csv", "id,text,label,functionality\n1,a,01,f\n2,b,01,g\n"
    path.write_text(text if named else text.replace("id,", "number,"), encoding="utf-8")
    suite = load_suite(path, labels=["02", "01"])
    assert suite.label_names == ("02", "01")
    assert suite.table["label"].to_pylist() == ["01", "01"]
    assert suite.texts.to_pylist() == ["a", "b"]
    assert suite.origin.params["columns"]["label"] == "label"
    assert load_suite(path, labels={"01": "yes", "0": "no"}).table["label"].to_pylist() == ["yes", "yes"]
    with pytest.raises(InputError, match="cannot be used as it is") as caught:
        load_suite(path, labels=["1", "2"])
    assert "2 rows have labels that are not declared: '01' 2" in str(caught.value)
    path.write_text(text.replace("2,b", "1,b") if named else text.replace(",b", ","), encoding="utf-8")
    with pytest.raises(InputError, match="the id of an earlier row" if named else "1 row has no text"):
        load_suite(path, labels=["01", "02"])


@pytest.mark.parametrize("rows", [[], [1]])
def test_what_could_not_be_read_back_is_not_written(suite: Dataset, tmp_path: Path, rows: list[int]) -> None:
    with pytest.raises(InputError, match=f"kitchen has {len(rows)} cases"):
        write_suite(suite.take(rows), tmp_path / "suite.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("values", [["1.0", "2.0", None, "3.0"], ["2020-01-01T10:00", "2021-01-01T10:00", None, None]])
def test_attributes_that_would_change_are_refused(tmp_path: Path, values: list[str | None]) -> None:
    suite = dataset(functionality=["a"] * 4, template=values)
    with pytest.raises(InputError, match="would give these attributes back as other values"):
        write_suite(suite, tmp_path / "suite.csv")
    assert list(tmp_path.iterdir()) == []


def test_files_of_others_are_not_overwritten(suite: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("id,text\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.csv is not a file of unseen's"):
        write_suite(suite, path)
    path.unlink()
    write_suite(suite, path)
    write_suite(suite, path)
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="was changed since"):
        write_suite(suite, path)
    with pytest.raises(InputError, match=r"does not end in \.csv"):
        write_suite(suite, tmp_path / "suite.txt")


def test_hatecheck_is_read_back_as_it_was_written(shared_data: Path, tmp_path: Path) -> None:
    suite = load_suite("hatecheck", data_dir=shared_data)
    path = write_suite(suite, tmp_path / "copy.csv")
    others = ["focus_words", "focus_lemma"]
    again = load_suite(path, labels=suite.label_names, attributes=others)
    assert again.fingerprint == suite.fingerprint
    assert all(again.attribute(name).equals(suite.attribute(name)) for name in suite.attributes)
