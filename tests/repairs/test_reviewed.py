"""Rows that people have read are relabelled or taken out, where all who read them agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from leaky_data import given

from tiny_data import build
from unseen.audits.reviewed_labels import reviews_of
from unseen.errors import InputError, UnseenWarning
from unseen.repairs import Repaired, repair, write_repaired
from unseen.store.reviews import Review, append_review

REVIEWS = [
    Review("a", "ann", "other", "yes"), Review("a", "bob", "other", "yes"), Review("b", "ann", "invalid"),
    Review("c", "ann", "other", "yes"), Review("c", "bob", "right"), Review("d", "ann", "unclear"),
    Review("e", "ann", "right"), Review("h", "ann", "other", "no"),
]  # fmt: skip


def repaired(*reviews: Review) -> Repaired:
    texts = [f"a text about {thing}" for thing in ("tea", "soup", "rain", "cats", "trains", "bread", "snow", "salt")]
    data = build(ids=list("abcdefgh"), texts=texts, labels=["no", "yes"] * 4)
    split = given(data, ["train", "train", "train", "test", "test", "train", "test", "independent"])
    return repair(data, split, reviews=reviews)


@pytest.mark.usefixtures("unaudited")
def test_where_all_agree_rows_are_changed_and_each_change_is_written_down() -> None:
    made = repaired(*REVIEWS)
    changes = [(change.id, change.action, change.before, change.after, change.reason) for change in made.changes]
    assert changes == [
        ("b", "dropped", "train", "unused", "1 reviewer says that it is not a valid item"),
        ("a", "relabelled", "no", "yes", "2 reviewers say that this label is right"),
    ]
    assert made.data.table["label"].to_pylist() == ["yes", "yes", "no", "yes", "no", "yes", "no", "yes"]
    note = "5 rows were reviewed; 1 on which reviewers disagree and 1 that cannot be told were left as they are"
    assert note in made.split.certificate.notes
    assert len(made.recipe.settings["reviews"]) == 32


@pytest.mark.usefixtures("unaudited")
def test_the_relabelled_data_is_a_file_of_its_own(tmp_path: Path) -> None:
    assert "data" in write_repaired(repaired(*REVIEWS), tmp_path / "fixed.csv")
    lines = (tmp_path / "fixed.changes.csv").read_text().splitlines()
    assert lines[2].startswith("a,relabelled,2 reviewers say that this label is right,no,yes")
    assert "data" not in write_repaired(repaired(REVIEWS[2]), tmp_path / "fixed.csv")


def test_without_reviews_there_is_nothing_to_repair() -> None:
    with pytest.raises(InputError, match="nothing to repair"):
        repaired()


def test_files_of_reviews_are_read_by_id(tmp_path: Path) -> None:
    data, path = build(ids=["a", "b"], texts=["x", "y"], labels=["no", "yes"]), tmp_path / "reviews.jsonl"
    for review in REVIEWS[:4]:
        append_review(path, review)
    with pytest.warns(UnseenWarning, match="1 of 4 reviews are of texts that are not in"):
        reviews = reviews_of([path, path], data)
    assert [(review.id, review.reviewer, review.run) for review in reviews] == [
        ("a", "ann", str(path)), ("a", "bob", str(path)), ("b", "ann", str(path)),
    ]  # fmt: skip
    with pytest.raises(InputError, match="there is no file"):
        reviews_of([tmp_path / "nothing.jsonl"], data)
    append_review(tmp_path / "more.jsonl", Review("b", "bob", "other", "perhaps"))
    with pytest.raises(InputError, match="label, in the review of 'b'"):
        reviews_of([tmp_path / "more.jsonl"], data)
