"""What is counted in a suite, and what is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unseen.functional.counts import SuiteCounts, check_suite, count
from unseen.functional.suite import as_suite
from unseen.functional.tables import load_suite
from unseen.types import Dataset


@pytest.fixture
def suite(tiny: Any) -> Dataset:
    """Six cases: two templates for both groups, one for one of them, one for nobody."""
    data = tiny(
        ids=list("abcdef"),
        texts=["A cooks", "A waiters", "B cooks", "B waiters", "C cooks", "D"],
        labels=["yes", "yes", "no", "no", "yes", "no"],
        functionality=["x_one", "x_one", "x_two", "x_two", "x_one", "y"],
        template=["A", "A", "B", "B", "C", "D"],
        target=["cooks", "waiters", "cooks", "waiters", "cooks", None],
        reference=[None, None, "a", "b", None, "e"],
    )
    return as_suite(data)


def levels(suite: Dataset) -> dict[str, str]:
    return {each.check.removeprefix("suite_"): each.level for each in check_suite(suite)}


def test_counts(suite: Dataset) -> None:
    found = count(suite)
    assert [
        (each.functionality, each.class_, each.labels, each.cases, each.templates) for each in found.functionalities
    ] == [
        ("x_one", "x", ("yes",), 3, 2),
        ("x_two", "x", ("no",), 2, 1),
        ("y", "y", ("no",), 1, 1),
    ]
    assert [(each.target, each.cases, each.balanced) for each in found.targets] == [("cooks", 3, 2), ("waiters", 2, 2)]
    assert (found.cases, found.untargeted, found.templates, found.shared_templates) == (6, 1, 4, 2)
    assert (found.references, found.contrasts, found.straddling) == (3, 3, 1)
    assert found.classes == {"x": 5, "y": 1}
    assert found.labels == {"no": 3, "yes": 3}


def test_findings(suite: Dataset) -> None:
    assert levels(suite) == {
        "labels": "ok",
        "templates": "warn",
        "duplicates": "ok",
        "groups": "warn",
        "references": "warn",
    }
    messages = {each.check: each.message for each in check_suite(suite)}
    assert "x_two" in messages["suite_templates"]
    assert messages["suite_groups"] == "Targets have 2 to 3 cases; 2 of each are of templates that all share."


def test_a_suite_without_more_than_functionalities(tiny: Any) -> None:
    plain = as_suite(tiny(functionality=["a", "a", "b", "b"]))
    found = count(plain)
    assert (found.templates, found.references, found.targets, found.untargeted) == (None, 0, (), 4)
    assert levels(plain) == {
        "labels": "warn", "templates": "skipped", "duplicates": "ok", "groups": "skipped", "references": "skipped",
    }  # fmt: skip


def test_labels_may_differ_where_they_are_not_judged(tiny: Any) -> None:
    mixed = tiny(
        functionality=["original"] * 2 + ["leet"] * 2,
        kind=[None, None] + ["invariance"] * 2,
        reference=[None, None, "1", "2"],
    )
    assert levels(as_suite(mixed))["labels"] == "ok"


@pytest.mark.parametrize(
    ("labels", "level"), [(["no", "no", "yes", "yes"], "warn"), (["no", "yes", "yes", "no"], "fail")]
)
def test_texts_that_occur_twice(tiny: Any, labels: list[str], level: str) -> None:
    suite = as_suite(tiny(texts=["a b", "a  b ", "c", "d"], labels=labels, functionality=["x", "x", "y", "y"]))
    (found,) = [each for each in check_suite(suite) if each.check == "suite_duplicates"]
    assert (found.level, found.evidence, found.count) == (level, ("1", "2"), 1)


def test_groups_that_share_everything_are_fine(suite: Dataset) -> None:
    shared = suite.take([0, 1, 2, 3])
    assert levels(shared)["groups"] == "ok"
    assert "same 2 sentences" in next(each.message for each in check_suite(shared) if each.check == "suite_groups")


def test_groups_of_one_size_may_share_nothing(suite: Dataset) -> None:
    (found,) = [each for each in check_suite(suite.take([1, 4])) if each.check == "suite_groups"]
    assert (found.level, found.advice) == ("warn", "Targets cannot be compared.")


@pytest.fixture(scope="module")
def hatecheck(shared_data: Path) -> SuiteCounts:
    return count(load_suite("hatecheck", data_dir=shared_data))


def test_hatecheck_has_its_functionalities(hatecheck: SuiteCounts) -> None:
    assert len(hatecheck.functionalities) == 29
    assert all(len(each.labels) == 1 for each in hatecheck.functionalities)
    assert hatecheck.labels == {"non-hateful": 1165, "hateful": 2563}
    assert hatecheck.classes == {
        "derog": 560, "threat": 273, "slur": 255, "profanity": 240, "ref": 273, "negate": 273, "phrase": 273,
        "ident": 315, "counter": 314, "target": 192, "spell": 760,
    }  # fmt: skip
    assert [each.cases for each in hatecheck.functionalities] == [
        140, 140, 140, 140, 133, 140, 144, 30, 81, 140, 100, 140, 133, 140, 133, 140, 133, 126, 189, 173, 141,
        65, 65, 62, 133, 140, 141, 173, 173,
    ]  # fmt: skip
    assert [each.labels[0] == "hateful" for each in hatecheck.functionalities].count(True) == 18


def test_hatecheck_has_its_targets(hatecheck: SuiteCounts) -> None:
    assert sorted(each.cases for each in hatecheck.targets) == [463, 463, 482, 484, 484, 509, 551]
    assert {each.balanced for each in hatecheck.targets} == {421}
    assert hatecheck.untargeted == 292


def test_hatecheck_has_its_templates_and_references(hatecheck: SuiteCounts) -> None:
    assert (hatecheck.templates, hatecheck.shared_templates, hatecheck.references) == (845, 442, 2046)
    assert (hatecheck.contrasts, hatecheck.straddling) == (600, 2046)
