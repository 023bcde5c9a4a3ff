from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unseen.data.hatexplain import majority, read_parts, read_posts, source, targets
from unseen.errors import InputError, TableError


def post(*labels: str, named: tuple[list[str], ...] = (["None"], ["None"], ["None"])) -> dict[str, Any]:
    annotators = [{"label": each, "annotator_id": n, "target": named[n]} for n, each in enumerate(labels)]
    return {"annotators": annotators, "rationales": [], "post_tokens": ["a", "small", "post"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    posts = {
        "1_gab": post("normal", "normal", "offensive"),
        "2_twitter": post("hatespeech", "hatespeech", "hatespeech", named=(["B"], ["A", "B"], ["None"])),
        "X_nf_2": post("normal", "offensive", "hatespeech"),
        "3_gab": post("offensive", "normal", "offensive"),
    }
    (tmp_path / "dataset.json").write_text(json.dumps(posts))
    divisions = {"train": ["1_gab"], "val": ["2_twitter"], "test": ["X_nf_2"]}
    (tmp_path / "post_id_divisions.json").write_text(json.dumps(divisions))
    return tmp_path


def test_posts_become_rows(folder: Path) -> None:
    rows = read_posts(folder / "dataset.json")
    assert [row["label"] for row in rows] == ["normal", "hatespeech", None, "offensive"]
    assert rows[1] == {
        "id": "2_twitter",
        "text": "a small post",
        "label": "hatespeech",
        "target": ["A", "B"],
        "source": "twitter",
        "part": "dev",
    }


def test_parts_come_from_the_id_lists_or_are_empty(folder: Path) -> None:
    assert [row["part"] for row in read_posts(folder / "dataset.json")] == ["train", "dev", "test", ""]
    lists = (folder / "post_id_divisions.json").rename(folder / "elsewhere.json")
    assert {row["part"] for row in read_posts(folder / "dataset.json")} == {""}
    assert read_posts(folder / "dataset.json", lists)[0]["part"] == "train"
    assert read_parts(lists)["X_nf_2"] == "test"


def test_majority_needs_more_than_half() -> None:
    assert majority(["a", "b", "a"]) == "a"
    assert majority(["a", "b", "c"]) is None
    assert majority(["a", "b"]) is None
    assert majority([]) is None


def test_targets_are_the_union_without_nobody() -> None:
    assert targets([{"target": ["None"]}, {"target": ["B", "A"]}, {"target": ["B"]}]) == ["A", "B"]
    assert targets([{"target": ["None"]}]) == []


def test_a_target_can_need_several_annotators(folder: Path) -> None:
    said = [{"target": ["None", "B"]}, {"target": ["B", "A", "A"]}, {"target": ["None"]}]
    assert targets(said, least=2) == ["B"]
    assert targets(said, least=3) == []
    rows = read_posts(folder / "dataset.json", least=2)
    assert [row["target"] for row in rows] == [[], ["B"], [], []]
    with pytest.raises(InputError, match="at least 1"):
        read_posts(folder / "dataset.json", least=0)


def test_source_is_the_end_of_the_id() -> None:
    assert [source(each) for each in ("1_gab", "2_twitter", "X_nf_2")] == ["gab", "twitter", "unknown"]


def test_every_broken_post_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps({"1_gab": post("normal"), "2_gab": {"annotators": []}, "3_gab": 7}))
    with pytest.raises(TableError) as error:
        read_posts(path)
    assert [problem.split(":")[0] for problem in error.value.problems] == ["post 2_gab", "post 3_gab"]


def test_undecided_posts_are_dropped_on_loading(folder: Path) -> None:
    from unseen.data.catalogue import load_card

    (folder / "hatexplain").mkdir()
    for name in ("dataset.json", "post_id_divisions.json"):
        (folder / name).rename(folder / "hatexplain" / name)
    data = load_card("hatexplain", folder)
    assert data.label_counts == {"normal": 1, "offensive": 1, "hatespeech": 1}
    assert data.attribute("target").to_pylist() == [[], ["A", "B"], []]
