"""Labels that may not be the classes somebody meant."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import unseen
from unseen.data.labels import doubts, several, spelling_key, variants
from unseen.errors import InputError, UnseenWarning


def rows(*labels: str) -> list[dict[str, Any]]:
    return [{"text": f"text {number}", "label": label} for number, label in enumerate(labels)]


def said(data: Any, **options: Any) -> tuple[unseen.Dataset, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = unseen.load(data, **options)
    assert all(each.category is UnseenWarning for each in caught)
    return loaded, "\n".join(str(each.message) for each in caught)


@pytest.mark.parametrize(
    "other",
    ["YES", " yes", "yes\t", "ye\u200bs", "\ufeffyes", "yes\u00a0"],
    ids=["case", "blank", "tab", "zw", "bom", "nb"],
)
def test_spellings_of_one_label_are_named_and_can_be_merged(other: str) -> None:
    data = rows("yes", "yes", "no", "no", other)
    loaded, warned = said(data)
    assert len(loaded.label_names) == 3
    assert f"{other!r} (1) beside 'yes' (2)" in warned
    assert "to merge them: merge=True" in warned
    merged, nothing = said(data, merge=True)
    assert (merged.label_counts, nothing) == ({"no": 2, "yes": 3}, "")


def test_unicode_forms_and_spellings_of_numbers_are_one_label() -> None:
    assert spelling_key("caf\u00e9") == spelling_key("cafe\u0301")
    assert variants({"0": 3, "0.0": 1, "1": 3, "10": 1, "no": 2, "No": 2}) == {"0.0": "0", "no": "No"}
    assert variants({"YES": 9, "yes": 1}, declared=["yes"]) == {"YES": "yes"}


def test_declared_labels_decide_what_spellings_are_merged_into() -> None:
    merged, nothing = said(rows("YES", "YES", "no", "yes"), labels=["yes", "no"], merge=True)
    assert (merged.label_names, merged.labels.tolist(), nothing) == (("yes", "no"), [0, 0, 1, 0], "")


@pytest.mark.parametrize("label", ["NA", "nan", "null", "None", "N/A"])
def test_what_stands_for_no_label_is_a_class_until_it_is_dropped(label: str) -> None:
    loaded, warned = said(rows("a", "b", label))
    assert label in loaded.label_names
    assert f"{label!r} (1); to leave them out: drop=['placeholders']" in warned
    dropped, nothing = said(rows("a", "b", label), drop=["placeholders"])
    assert (dropped.label_names, nothing) == (("a", "b"), "")
    assert dropped.origin.params["dropped"] == {"placeholders": 1}


def test_several_labels_in_one_need_parts_that_are_labels() -> None:
    assert several(["a", "b", "a|b", "a; b", "yes, of course", "yes", "x|", "c"]) == ["a|b", "a; b"]
    assert several(["a", "b|c", "a|b"]) == ["b|c", "a|b"]
    assert several(["a", "b", "a|c"]) == several(["a|c", "b", "a"]) == ["a|c"]
    assert several(["a|b", "c|d"]) == ["a|b", "c|d"]
    assert several(["x|y", "|z", "a", "R&B", "R&amp;B", "B", "a, b"]) == ["x|y"]
    assert several(["a|b", "b|c", "c|a"]) == ["a|b", "b|c", "c|a"]
    assert said(rows("a", "b", "a|b"), drop="several")[0].label_names == ("a", "b")


def test_rare_classes_are_named_in_data_of_some_size_only() -> None:
    labels = ["a"] * 50 + ["b"] * 47 + ["odd"] * 3
    warned = said(rows(*labels))[1]
    assert "classes with fewer than 10 rows: 'odd' (3); to leave them out: drop=['rare']" in warned
    assert said(rows(*labels), drop="rare")[0].label_counts == {"a": 50, "b": 47}
    assert "drop=['undeclared']" in said(rows(*labels), labels=["a", "b", "odd"])[1]
    assert doubts({"a": 5, "b": 2}, declared=False) == []
    (only,) = doubts({"a": 90, "b": 5, "c": 5}, declared=False)
    assert only == "classes with fewer than 10 rows: 'b' (5), 'c' (5)", "one class alone would be left"


def test_doubtful_labels_cannot_be_dropped_where_labels_are_declared() -> None:
    with pytest.raises(InputError, match="they are declared"):
        unseen.load(rows("a", "b", "NA"), labels=["a", "b", "NA"], drop="placeholders")


def test_a_rare_label_that_is_another_spelling_of_a_class_is_not_dropped_unsaid() -> None:
    labels = ["optimism"] * 50 + ["anger"] * 47 + ["OPTIMISM"] * 4 + ["odd"] * 3
    data, warned = said(rows(*labels), drop="rare")
    assert data.label_counts == {"anger": 47, "optimism": 50}
    assert "'OPTIMISM' (4), which may be 'optimism' (50); to keep them: merge=True" in warned
    assert "odd" not in warned
    data, warned = said(rows(*labels), drop="rare", merge=True)
    assert (data.label_counts["optimism"], warned) == (54, "")


def test_labels_that_look_alike_are_told_apart() -> None:
    (warned,) = doubts({"caf\u00e9": 60, "cafe\u0301": 50}, declared=False)
    assert r"'cafe\u0301' (50) beside 'café' (60)" in warned
