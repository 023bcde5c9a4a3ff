"""Labelled texts as suites of originals and versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unseen.errors import InputError, UnknownNameError
from unseen.functional.alterations import addition, altered_suite, perturbation
from unseen.functional.pass_rates import outcomes
from unseen.functional.suite import as_suite
from unseen.functional.tables import load_suite, write_suite
from unseen.types import Dataset, Predictions

TEXTS = ["warm bread today", "no soup at all", "1 2 3", "the waiter was rude", "more salt please", "a lovely evening"]


def raised(text: str, draw: Any) -> str | None:
    """Somebody's own perturbation."""
    return None if "soup" in text else f"{text}!"


def unchanged(text: str, draw: Any) -> str:
    return text


def wrong(text: str, draw: Any) -> Any:
    return 7


@pytest.fixture
def posts(tiny: Any) -> Dataset:
    return tiny(ids=[f"p{n}" for n in range(6)], texts=TEXTS)


def both(seed: int = 42) -> dict[str, Any]:
    return {name: perturbation(name, seed=seed) for name in ("swap", "leet")}


def test_versions_refer_to_their_original(posts: Dataset) -> None:
    suite = altered_suite(posts, both())
    rows = {row["id"]: row for row in suite.table.to_pylist()}
    assert list(rows)[:4] == ["p0", "p0-swap", "p0-leet", "p1"]
    assert "p2" not in rows
    for row in rows.values():
        original = rows[row["reference"] or row["id"]]
        assert row["template"] == original["id"]
        assert row["label"] == original["label"]
        version = row["reference"] is not None
        assert row["kind"] == ("invariance" if version else "functional")
        assert row["functionality"] == (row["id"].partition("-")[2] or "original")
        assert (row["text"] != original["text"]) == version
    assert as_suite(suite).table.select(suite.table.column_names).equals(suite.table)


def test_the_order_of_rows_does_not_matter(posts: Dataset) -> None:
    shuffled = posts.take([3, 1, 5, 0, 2, 4])
    for most in (None, 3):
        one, other = (altered_suite(each, both(), most=most).table.sort_by("id") for each in (posts, shuffled))
        assert one.equals(other)


def test_the_seed_decides(posts: Dataset) -> None:
    assert altered_suite(posts, both(1)).table.equals(altered_suite(posts, both(1)).table)
    assert not altered_suite(posts, both(1)).table.equals(altered_suite(posts, both(2)).table)
    drawn = {tuple(altered_suite(posts, both(), most=2, seed=seed).ids.to_pylist()) for seed in range(9)}
    assert len(drawn) > 1


def test_so_many_originals_are_drawn_with_every_label(tiny: Any) -> None:
    data = tiny(ids=[f"p{n:02}" for n in range(60)], texts=["warm bread"] * 60, labels=["no"] * 59 + ["yes"])
    for seed in range(5):
        suite = altered_suite(data, both(), most=10, seed=seed)
        assert suite.attribute("functionality").to_pylist().count("original") == 10
        assert suite.label_counts["yes"] == 3
    with pytest.raises(InputError, match="every label needs an original"):
        altered_suite(data, both(), most=1)


def test_sentences_are_added_with_a_space_between() -> None:
    assert addition("I hate it.")("id", "Soup.") == "Soup. I hate it."
    assert addition(" I hate it.")("id", "Soup.") == "Soup. I hate it."
    assert addition("I hate it.")("id", "Soup. ") == "Soup. I hate it."
    with pytest.raises(InputError, match="nothing to append"):
        addition("  ")


def test_directional_versions_are_judged_by_where_the_probability_moves(posts: Dataset) -> None:
    suite = altered_suite(posts, {"added": addition("Awful!")}, kind="directional", expect="up yes")
    rows = suite.table.to_pylist()
    yes = [0.5 if row["reference"] is None else (0.9 if row["id"] == "p0-added" else 0.1) for row in rows]
    said = Predictions(suite.ids, np.array([[1 - p, p] for p in yes]), ("no", "yes"))
    found = dict(zip(suite.ids.to_pylist(), outcomes(suite, said), strict=True))
    assert found["p0-added"] == 1
    assert found["p1-added"] == 0


def test_a_perturbation_of_ones_own(posts: Dataset) -> None:
    suite = altered_suite(posts, {"raised": perturbation(f"{__name__}:raised")}, kind="functional")
    assert "p1" not in suite.ids.to_pylist()
    assert suite.texts.to_pylist()[:2] == ["warm bread today", "warm bread today!"]
    with pytest.raises(InputError, match="gave int"):
        altered_suite(posts, {"wrong": perturbation(f"{__name__}:wrong")})


def test_what_changes_nothing_does_not_apply() -> None:
    assert perturbation(f"{__name__}:unchanged")("p0", "warm bread") is None


def test_every_case_is_drawn_for_on_its_own() -> None:
    alter = perturbation("delete")
    assert len({alter(f"p{n}", "warm bread today") for n in range(40)}) > 4
    assert alter("p1", "warm bread today") == alter("p1", "warm bread today")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "invariant"}, "did you mean 'invariance'"),
        ({"kind": "directional"}, "has an expectation"),
        ({"expect": "up yes"}, "has an expectation"),
        ({"kind": "directional", "expect": "up maybe"}, "no label is called 'maybe'"),
        ({"kind": "directional", "expect": "yes"}, "expect is 'yes'"),
        ({"alterations": {}}, "there is no alteration"),
        ({"alterations": {"original": addition("x")}}, "cannot be called 'original'"),
        ({"alterations": {"upper": lambda case, text: None}}, "none of upper applies"),
    ],
)
def test_what_cannot_be_is_refused(posts: Dataset, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        altered_suite(posts, options.pop("alterations", both()), **options)


def test_unknown_perturbations_and_focus_without_effect() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'swap'"):
        perturbation("swaps")
    with pytest.raises(InputError, match="does not take"):
        perturbation("unpunctuated", focus=["soup"])
    with pytest.raises(InputError, match="cannot be imported"):
        perturbation("nowhere:nothing")


def test_an_altered_suite_is_read_back(posts: Dataset, tmp_path: Path) -> None:
    suite = altered_suite(posts, {"added": addition("Awful!")}, kind="directional", expect="down no")
    again = load_suite(write_suite(suite, tmp_path / "altered.csv"))
    assert again.table.equals(suite.table)
