"""Annotator tables: majority, agreement, and which cases go with which."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, MismatchError, TableError, UnknownNameError, UnseenWarning
from unseen.functional.annotations import Annotations, confirmed, load_annotations, rater_agreement
from unseen.functional.suite import as_suite
from unseen.functional.tables import load_suite
from unseen.types import Dataset

TABLE = """id,rater_1,rater_2,rater_10,rater_note
a,yes,yes,no,
b,no,,no,x
c,,,,
d,yes,no,,
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def said_of(ids: list[str], votes: list[list[int]]) -> Annotations:
    """Annotations from places in (no, yes); -1 is nothing."""
    codes = np.array(votes)
    return Annotations(tuple(ids), tuple(f"r{n}" for n in range(codes.shape[1])), ("no", "yes"), codes)


def suite_of(tiny: Any, template: list[str | None], reference: list[str | None], **more: list[Any]) -> Dataset:
    n = len(template)
    data = tiny(
        ids=[f"c{row}" for row in range(n)], labels=["yes"] * n, functionality=["f"] * n,
        template=template, reference=reference, **more,
    )  # fmt: skip
    return as_suite(data)


def test_a_table_is_read_by_prefix_or_by_names(table: Path) -> None:
    found = load_annotations(table, prefix="rater_")
    assert found.annotators == ("rater_1", "rater_2", "rater_10")
    assert found.ids == ("a", "b", "c", "d")
    assert found.values == ("no", "yes")
    assert found.codes.tolist() == [[1, 1, 0], [0, -1, 0], [-1, -1, -1], [1, 0, -1]]
    assert found.counts.tolist() == [[1, 2], [2, 0], [0, 0], [1, 1]]
    assert [found.summary(row) for row in range(4)] == ["yes 2, no 1", "no 2", "nothing", "no 1, yes 1"]
    named = load_annotations(table, annotators=["rater_10", "rater_1"])
    assert named.codes[:, 0].tolist() == found.codes[:, 2].tolist()


def test_json_lines_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text('{"id": "a", "r1": "yes", "r2": null}\n{"id": "b", "r1": "no", "r2": "no"}\n', encoding="utf-8")
    assert load_annotations(path, prefix="r").codes.tolist() == [[1, -1], [0, 0]]


def test_tables_that_cannot_be_used(table: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name the columns"):
        load_annotations(table)
    with pytest.raises(InputError, match="name the columns"):
        load_annotations(table, annotators=["rater_1"], prefix="rater_")
    with pytest.raises(UnknownNameError, match="did you mean 'rater_1"):
        load_annotations(table, annotators=["rater_11", "rater_2"])
    with pytest.raises(InputError, match="has 0 columns of annotators"):
        load_annotations(table, prefix="label_")
    with pytest.raises(TableError, match="holds no annotations"):
        load_annotations(_written(tmp_path, "id,r1,r2\na,,\n"), prefix="r")
    with pytest.raises(TableError, match=r"1 rows of .* have the id of another row"):
        load_annotations(_written(tmp_path, "id,r1,r2\na,x,y\na,x,\n"), prefix="r")
    with pytest.raises(TableError, match="have no id"):
        load_annotations(_written(tmp_path, "id,r1,r2\n,x,y\n"), prefix="r")


def _written(folder: Path, text: str) -> Path:
    path = folder / "wrong.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_too_few_votes_take_the_template_along(tiny: Any) -> None:
    suite = suite_of(tiny, ["s", "s", "t", None, None], [None] * 5)
    said = said_of([f"c{n}" for n in range(5)], [[1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 1, -1], [1, 1, 1]])
    found = confirmed(suite, said, 3)
    assert found.reasons == ("votes", "template", None, "votes", None)
    assert found.votes.tolist() == [2, 3, 3, 1, 3]
    assert found.kept.tolist() == [2, 4]
    assert confirmed(suite, said, 1).reasons == (None,) * 5


def test_what_refers_to_what_is_gone_goes_and_so_on(tiny: Any) -> None:
    suite = suite_of(tiny, ["s", "t", "t", "u", "v"], [None, "c0", None, "c2", None])
    said = said_of([f"c{n}" for n in range(5)], [[0, 0], [1, 1], [1, 1], [1, 1], [1, 1]])
    assert confirmed(suite, said, 2).reasons == ("votes", "reference", "reference", "reference", None)


def test_a_reference_may_be_a_template(tiny: Any) -> None:
    suite = suite_of(tiny, ["1", "2", "3"], [None] * 3, ref_templ_id=[None, 1, 3])
    said = said_of(["c0", "c1", "c2"], [[0, 0], [1, 1], [1, 1]])
    assert confirmed(suite, said, 2).reasons == ("votes", "reference", None)


rows = st.lists(
    st.tuples(st.sampled_from("stuv"), st.integers(-1, 7), st.lists(st.integers(-1, 1), min_size=3, max_size=3)),
    min_size=1,
    max_size=8,
)


@given(rows, st.integers(1, 3))
def test_the_closure_is_the_smallest_one(tiny: Any, drawn: list[tuple[str, int, list[int]]], least: int) -> None:
    n = len(drawn)
    reference = [f"c{at}" if at < n and at != row and at >= 0 else None for row, (_, at, _) in enumerate(drawn)]
    suite = suite_of(tiny, [each for each, _, _ in drawn], reference)
    gone = {row for row in range(n) if drawn[row][2].count(1) < least}
    for _ in range(n):
        gone |= {row for row in range(n) if any(drawn[row][0] == drawn[other][0] for other in gone)}
        gone |= {row for row in range(n) if reference[row] in {f"c{other}" for other in gone}}
    found = confirmed(suite, said_of([f"c{row}" for row in range(n)], [votes for _, _, votes in drawn]), least)
    assert set(range(n)) - set(found.kept.tolist()) == gone


def test_annotations_are_matched_by_id(tiny: Any) -> None:
    suite = suite_of(tiny, ["s", "t"], [None, None])
    said = said_of(["c1", "other", "c0"], [[0, 0], [0, 0], [1, 1]])
    with pytest.warns(UnseenWarning, match="1 annotated cases are not in tiny"):
        assert confirmed(suite, said, 2).reasons == (None, "votes")
    with pytest.raises(MismatchError, match="1 of 2 cases of tiny have no annotations"):
        confirmed(suite, said_of(["c0"], [[1, 1]]), 2)


def test_values_that_are_no_labels_confirm_nothing(tiny: Any) -> None:
    suite = suite_of(tiny, ["s"], [None])
    said = Annotations(("c0",), ("r1", "r2"), ("unsure", "yes"), np.array([[0, 1]]))
    with pytest.warns(UnseenWarning, match="annotators also said unsure"):
        assert confirmed(suite, said, 2).votes.tolist() == [1]


def test_annotations_in_other_words_are_refused_or_renamed(tiny: Any) -> None:
    """Otherwise every case would go."""
    suite = suite_of(tiny, ["s", "t"], [None, None])
    said = Annotations(("c0", "c1"), ("r1", "r2"), ("0", "1", "2"), np.array([[1, 2], [0, -1]]))
    with pytest.raises(MismatchError, match="nothing that annotators said is a label of tiny") as caught:
        confirmed(suite, said, 1)
    assert "--map theirs=ours" in str(caught.value)
    ours = said.renamed({"0": "no", "1": "yes", "2": "yes"}, suite)
    assert ours.values == ("no", "yes")
    assert ours.codes.tolist() == [[1, 1], [0, -1]]
    assert confirmed(suite, ours, 2).votes.tolist() == [2, 0]
    with pytest.raises(UnknownNameError, match="no value of the annotators is called '3'"):
        said.renamed({"3": "yes"}, suite)
    with pytest.raises(UnknownNameError, match="did you mean 'yes'"):
        said.renamed({"1": "yess"}, suite)


@pytest.mark.parametrize("least", [0, 3])
def test_least_is_a_number_of_annotators(tiny: Any, least: int) -> None:
    with pytest.raises(InputError, match="must be a number of annotators"):
        confirmed(suite_of(tiny, ["s"], [None]), said_of(["c0"], [[1, 1]]), least)


def test_hatecheck_keeps_exactly_what_was_published(shared_data: Path) -> None:
    folder = shared_data / "hatecheck"
    every = load_suite(folder / "all_cases.csv")
    said = load_annotations(folder / "all_annotations.csv", prefix="label_")
    assert (len(every), len(said.annotators), {*np.count_nonzero(said.codes >= 0, axis=1).tolist()}) == (3901, 10, {5})
    found = confirmed(every, said, 4)
    published = load_suite("hatecheck", data_dir=shared_data)
    assert every.take(found.kept).ids.to_pylist() == published.ids.to_pylist()
    assert Counter(found.reasons) == {None: 3728, "votes": 22, "template": 132, "reference": 19}


def test_agreement_on_hatecheck_is_the_published_one(shared_data: Path) -> None:
    folder = shared_data / "hatecheck"
    said = load_annotations(folder / "all_annotations.csv", prefix="label_")
    _, kappa, alpha = rater_agreement(load_suite(folder / "all_cases.csv"), said)
    assert round(kappa.value or 0, 2) == round(alpha.value or 0, 2) == 0.93
    assert kappa.n == 3901
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < 0.9285 < kappa.high
