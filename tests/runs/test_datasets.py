"""Datasets under common labels, each with its parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from small_datasets import LABELS, given, small
from unseen.errors import InputError
from unseen.runs.transfer_file import DatasetEntry, members, read_datasets


def test_texts_of_labels_that_are_left_out_are_counted() -> None:
    green = given()["green"]
    found = members(given(), LABELS)["green"]
    assert found.left_out == {"odd": green.data("green").label_counts["odd"]}
    assert len(found.data) == len(green.data("green")) - found.left_out["odd"]


def test_labels_that_nobody_maps_are_told_at_once() -> None:
    entries = given(
        green=DatasetEntry(small("green", 60, ("fine", "bad", "odd")), map={"fine": "no", "bda": "yes"}),
        blue=DatasetEntry(small("blue", 60, ("no", "mean")), map={"no": "nay"}),
    )
    with pytest.raises(InputError) as error:
        members(entries, LABELS)
    assert [each.split(";")[0] for each in error.value.problems] == [
        "blue: 'no' is mapped to 'nay', which is no label here",
        f"blue: nobody says what its label 'mean' ({small('blue', 60).label_counts['yes']} texts) is here",
        "green: it has no label 'bda'",
        *(
            f"green: nobody says what its label {label!r} ({count} texts) is here"
            for label, count in list(entries["green"].data("g").label_counts.items())[1:]
        ),
    ]


def test_without_declared_labels_all_must_share_them() -> None:
    with pytest.raises(InputError, match="other labels than each other") as error:
        members({"red": DatasetEntry(small("red")), "blue": DatasetEntry(small("blue", 60, ("fine", "bad")))}, None)
    assert error.value.problems == ("red: no, yes", "blue: fine, bad")
    found = members({"red": DatasetEntry(small("red")), "blue": DatasetEntry(small("blue", 60, ("yes", "no")))}, None)
    assert {member.data.label_names for member in found.values()} == {LABELS}


FILE = """
labels = ["no", "yes"]
positive = "yes"
[data.here]
source = "posts.csv"
text = "body"
groups = "user"
split = "published.csv"
map = { fine = "no", bad = "yes", odd = "drop" }
[data.sample]
"""


def test_a_file_names_datasets(tmp_path: Path) -> None:
    for name in ("posts.csv", "published.csv"):
        (tmp_path / name).write_text("x")
    (tmp_path / "labels.toml").write_text(FILE)
    found = read_datasets(tmp_path / "labels.toml")
    assert (found.labels, found.positive) == (LABELS, "yes")
    assert found.entries["here"] == DatasetEntry(
        str(tmp_path / "posts.csv"), {"text": "body"}, {"fine": "no", "bad": "yes", "odd": "drop"}, "user",
        str(tmp_path / "published.csv"),
    )  # fmt: skip
    assert found.entries["sample"] == DatasetEntry("sample")


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    wrong = (
        FILE.replace("labels", "lables").replace("groups", "gruops").replace('"drop"', "3") + 'source = "stromfront"'
    )
    (tmp_path / "labels.toml").write_text(wrong)
    with pytest.raises(InputError) as error:
        read_datasets(tmp_path / "labels.toml")
    told = "\n".join(error.value.problems)
    for said in (
        "did you mean 'labels'",
        "did you mean 'groups'",
        "[data.here.map] odd must be a text, not 3",
        "mean 'stormfront'",
        "labels is m",
    ):
        assert said in told


def test_a_published_split_is_kept_whatever_is_left_out(tmp_path: Path) -> None:
    data = small("green", 100, ("fine", "bad", "odd"))
    parts = zip(data.ids.to_pylist(), data.attribute("part").to_pylist(), strict=True)
    (tmp_path / "published.csv").write_text("id,part\n" + "".join(f"{name},{part}\n" for name, part in parts))
    for split in ("part", tmp_path / "published.csv"):
        entry = DatasetEntry(data.take(np.arange(100)), map={"fine": "no", "bad": "yes", "odd": ""}, split=split)
        found = members({"red": DatasetEntry(small("red")), "green": entry}, LABELS)["green"]
        test = [found.data.attribute("part")[int(row)].as_py() for row in found.rows("test")]
        assert set(test) == {"test"}
        assert "test" not in {found.data.attribute("part")[int(row)].as_py() for row in found.rows("train")}
        assert len(test) == sum(part == "test" and label != 2 for part, label in zip(
            data.attribute("part").to_pylist(), data.labels, strict=True
        ))  # fmt: skip
        assert len(found.rows("dev")) > 0


def test_groups_stay_on_one_side() -> None:
    blue = members(given(), LABELS)["blue"]
    users = np.array(blue.data.attribute("user").to_pylist())
    sides = [set(users[blue.rows(part)]) for part in ("train", "dev", "test")]
    assert not sides[0] & sides[2]
    assert not sides[1] & sides[2]
