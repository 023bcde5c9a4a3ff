from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from unseen.data.catalogue import (
    hatexplain_parts,
    hatexplain_posts,
    hatexplain_source,
    majority,
    numbered_turns,
    targets,
    text_files,
    turns,
)
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
    rows = hatexplain_posts(folder / "dataset.json")
    assert [row["label"] for row in rows] == ["normal", "hatespeech", None, "offensive"]
    assert rows[1] == {
        "id": "2_twitter",
        "text": "a small post",
        "label": "hatespeech",
        "target": ["A", "B"],
        "source": "twitter",
        "part": "dev",
        "rationales": [],
    }


def test_parts_come_from_the_id_lists_or_are_empty(folder: Path) -> None:
    assert [row["part"] for row in hatexplain_posts(folder / "dataset.json")] == ["train", "dev", "test", ""]
    lists = (folder / "post_id_divisions.json").rename(folder / "elsewhere.json")
    assert {row["part"] for row in hatexplain_posts(folder / "dataset.json")} == {""}
    assert hatexplain_posts(folder / "dataset.json", lists)[0]["part"] == "train"
    assert hatexplain_parts(lists)["X_nf_2"] == "test"


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
    rows = hatexplain_posts(folder / "dataset.json", least=2)
    assert [row["target"] for row in rows] == [[], ["B"], [], []]
    with pytest.raises(InputError, match="at least 1"):
        hatexplain_posts(folder / "dataset.json", least=0)


def test_source_is_the_end_of_the_id() -> None:
    assert [hatexplain_source(each) for each in ("1_gab", "2_twitter", "X_nf_2")] == ["gab", "twitter", "unknown"]


def test_every_broken_post_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps({"1_gab": post("normal"), "2_gab": {"annotators": []}, "3_gab": 7}))
    with pytest.raises(TableError) as error:
        hatexplain_posts(path)
    assert [problem.split(":")[0] for problem in error.value.problems] == ["post 2_gab", "post 3_gab"]


def test_undecided_posts_are_dropped_on_loading(folder: Path) -> None:
    from unseen.data.catalogue import load_card

    (folder / "hatexplain").mkdir()
    for name in ("dataset.json", "post_id_divisions.json"):
        (folder / name).rename(folder / "hatexplain" / name)
    data = load_card("hatexplain", folder)
    assert data.label_counts == {"normal": 1, "offensive": 1, "hatespeech": 1}
    assert data.attribute("target").to_pylist() == [[], ["A", "B"], []]


def write_rows(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_texts_in_files_of_their_own_are_joined_to_their_table(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/a_1.txt").write_text("hello\n")
    path = write_rows(tmp_path / "about.csv", ("key", "label"), ("a_1", "calm"))
    assert text_files(path, "texts/{key}.txt") == [{"key": "a_1", "label": "calm", "text": "hello"}]
    write_rows(path, ("key", "label"), ("a_1", "calm"), ("a_2", "calm"), ("a_3", "calm"))
    with pytest.raises(TableError, match="2 texts") as error:
        text_files(path, "texts/{key}.txt")
    assert error.value.problems[0].startswith("line 3: a_2.txt")
    write_rows(path, ("key",), ("../../secret",))
    with pytest.raises(TableError, match="outside its folder"):
        text_files(path, "texts/{key}.txt")


def test_numbered_lines_are_turns_and_other_numbers_are_text() -> None:
    assert turns("1. one\n2. \ttwo\n7. of it\n3. \n") == {1: "one", 2: "two\n7. of it", 3: ""}
    assert turns("") == {}


def test_conversations_become_one_row_per_turn(tmp_path: Path) -> None:
    header = ("id", "text", "marks", "response")
    talk = ("1. p\n2. \tq\n", "1. good day\n2. \tGO AWAY\n", "[2]", "[]")
    path = write_rows(tmp_path / "a.csv", header, talk, ("1. r\n", "1. hello\n", "n/a", "n/a"))
    rows = numbered_turns(path, "marks", ["calm", "loud"])
    assert [(row["id"], row["text"], row["label"], row["post_id"]) for row in rows] == [
        ("0.1", "good day", "calm", "p"),
        ("0.2", "GO AWAY", "loud", "q"),
        ("1.1", "hello", "calm", "r"),
    ]
    assert [row["conversation"] for row in rows] == ["0", "0", "1"]


def test_conversations_without_texts_are_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.csv", ("id", "marks", "response"), ("1. p\n", "[1]", "[]"))
    with pytest.raises(InputError, match="cannot be read as conversations") as error:
        numbered_turns(path, "marks", ["calm", "loud"])
    assert "ids only" in str(error.value.fix)
