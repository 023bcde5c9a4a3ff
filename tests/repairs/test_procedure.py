"""Whole repairs, with their audits and files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from leaky_data import divided, given, leaky, parts_by_id

from tiny_data import build
from unseen import load, split
from unseen.repairs import RepairRecipe, procedure, repair, write_repaired
from unseen.repairs.procedure import roles_of, unrepaired
from unseen.store import read_dataset, read_split, write_dataset
from unseen.types import Finding


@pytest.mark.parametrize("minimal", [None, "move", "drop"])
def test_the_audits_fail_before_and_not_after(minimal: str | None) -> None:
    data = leaky(0, 200)
    made = repair(
        data, divided(data), groups="user", dedupe="near", conflicts="drop", minimal=minimal, columns={"author": "user"}
    )
    before, after = ({each.check: each for each in findings} for findings in (made.before, made.after))
    for check in ("exact_duplicates", "normalised_duplicates", "near_duplicates", "author"):
        assert (before[check].level, after[check].level, after[check].count) == ("fail", "ok", 0)
    assert before["conflicting_labels"].level == "warn"
    assert after["conflicting_labels"].level == "ok"
    assert made.remaining == ()


def test_a_leak_that_is_left_remains_whatever_was_asked_for() -> None:
    data = leaky(0, 200)
    made = repair(data, divided(data), dedupe="exact", columns={"author": "user"})
    assert {each.check for each in made.remaining} == {"normalised_duplicates", "near_duplicates", "author"}
    assert {"class_mix", "time_order", "exact_duplicates"} <= {each.check for each in made.after}


def test_what_the_recipe_should_have_removed_is() -> None:
    found = [
        Finding("exact_duplicates", "warn", "1 copy", 1), Finding("near_duplicates", "warn", "9 copies", 9),
        Finding("author", "warn", "both", 3), Finding("conflicting_labels.normalised", "warn", "2", 2),
        Finding("conflicting_labels.near", "warn", "2", 2), Finding("normalised_duplicates", "ok", "none"),
    ]  # fmt: skip

    def left(**asked: object) -> list[str]:
        return [each.check for each in unrepaired(found, RepairRecipe(**asked), None)]  # type: ignore[arg-type]

    assert left(dedupe="exact") == ["exact_duplicates"]
    assert left(dedupe="near") == left(together="near") == ["exact_duplicates", "near_duplicates"]
    assert left(groups=("user",)) == ["author"]
    assert left(cap=3, cap_by="user") == left(conflicts="keep") == []
    assert left(conflicts="drop") == ["conflicting_labels.normalised"]


def test_attributes_have_the_roles_that_their_names_suggest() -> None:
    assert roles_of(RepairRecipe(groups=("comment_id", "town"), cap_by="User")) == {
        "conversation": "comment_id", "source": "town", "author": "User",
    }  # fmt: skip


def test_the_files_hold_the_split_the_changes_and_both_audits(tmp_path: Path) -> None:
    data = build(
        ids=["=1+1", "b", "c", "d", "e", "f"],
        texts=["x", "x", "y", "z", "z w", "v"],
        user=["a", "b", "c", "d", "e", "f"],
    )
    made = repair(data, given(data, ["train", "test", "train", "train", "test", "test"]), dedupe="exact", name="fixed")
    written = write_repaired(made, tmp_path / "fixed.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "fixed.audit.json", "fixed.changes.csv", "fixed.csv", "fixed.json",
    ]  # fmt: skip
    assert parts_by_id(read_split(written["split"], data)) == parts_by_id(made.split)
    with written["changes"].open() as file:
        (line,) = csv.DictReader(file)
    assert line == {
        "id": "'=1+1", "action": "dropped", "reason": "the same text as another row", "from": "train", "to": "unused",
        "like": "b", "row": "", "like_row": "",
    }  # fmt: skip
    audits = json.loads(written["audit"].read_text())
    assert audits["counts"] == {"dropped": 1}
    assert audits["remaining"] == []
    levels = {when: {each["check"]: each["level"] for each in audits[when]} for when in ("before", "after")}
    assert (levels["before"]["exact_duplicates"], levels["after"]["exact_duplicates"]) == ("fail", "ok")


def test_a_relabelled_dataset_is_written_and_the_split_belongs_to_it(tmp_path: Path) -> None:
    data = build(
        ids=list("abcdef"), texts=["x", "X", "x!", "y", "z", "v"], labels=["no", "no", "yes", "yes", "no", "yes"]
    )
    made = repair(data, given(data, ["train"] * 3 + ["test"] * 3), conflicts="relabel")
    written = write_repaired(made, tmp_path / "fixed.csv")
    back = read_dataset(written["data"])
    assert back.table["label"].to_pylist() == ["no", "no", "no", "yes", "no", "yes"]
    assert back.fingerprint == made.split.dataset != data.fingerprint
    assert parts_by_id(read_split(written["split"], back)) == parts_by_id(made.split)
    assert made.split.origin.inputs["dataset"] == data.fingerprint


def test_a_dataset_of_an_earlier_repair_is_not_left_behind(tmp_path: Path) -> None:
    data = build(
        ids=list("abcdef"), texts=["x", "X", "x!", "y", "z", "v"], labels=["no", "no", "yes", "yes", "no", "no"]
    )
    parts = given(data, ["train", "test"] * 3)
    path = write_repaired(repair(data, parts, conflicts="relabel", dedupe="normalised"), tmp_path / "fixed.csv")["data"]
    assert path.exists()
    assert "data" not in write_repaired(repair(data, parts, conflicts="drop"), tmp_path / "fixed.csv")
    assert not path.exists()


def test_a_file_that_no_repair_wrote_is_not_removed(tmp_path: Path) -> None:
    data = build(ids=list("abcd"), texts=["x", "x", "y", "z"])
    made = repair(data, given(data, ["train", "test"] * 2), dedupe="exact")
    path = tmp_path / "fixed.data.parquet"
    path.write_text("mine")
    write_repaired(made, tmp_path / "fixed.csv")
    assert path.read_text() == "mine"
    write_dataset(data, path)
    write_repaired(made, tmp_path / "fixed.csv")
    assert read_dataset(path).fingerprint == data.fingerprint


def test_the_given_split_is_named_by_its_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procedure, "audited", lambda *given: ())
    data = leaky(1)
    order = np.random.default_rng(0).permutation(len(data))
    one, other = divided(data), divided(data, 1)
    found = [
        repair(each, split, dedupe="exact").split.origin.inputs["split"]
        for each, split in ((data, one), (data.take(order), one), (data, other))
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.slow
def test_stormfront_loses_its_leaks_whatever_the_repair(shared_data: Path) -> None:
    """Of the 478 published test sentences 270 share their user with training, 129 their comment, 3 their text."""
    if not (shared_data / "stormfront" / "stormfront.csv").exists():
        pytest.skip("Stormfront is not here")
    data = load("stormfront", data_dir=shared_data)
    published = split(data, "predefined", by="sampled_split")
    for more in ({}, {"minimal": "move"}, {"minimal": "drop"}):
        made = repair(data, published, groups=["user_id", "comment_id"], dedupe="exact", **more)  # type: ignore[arg-type]
        counts = [{each.check: each.count for each in findings} for findings in (made.before, made.after)]
        for check, published_count in (("author", 270), ("conversation", 129), ("exact_duplicates", 3)):
            assert [found[check] for found in counts] == [published_count, 0]
        assert made.remaining == ()
        assert made.split.sizes["independent"] == 8311
