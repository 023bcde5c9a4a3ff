from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.errors import InputError, MismatchError, TableError, UnseenWarning
from unseen.store import read_json, read_parts, read_split, sha256_of, write_json, write_split
from unseen.types import PARTS, Certificate, Dataset, Origin, Split, string_array

Builder = Callable[..., Dataset]

IDS = [
    "=cmd()",
    "'x",
    "''y",
    "-5",
    "-5+2",
    "a,b",
    "new\nline",
    "\r",
    "a\r\nb",
    '"quoted"',
    "ü 🙂",
    "@x",
    "",
    " ",
    "\ttab",
    "\x00",
]
CERTIFICATE = Certificate(
    {"no": 2, "yes": 1},
    {"no": 1, "yes": 1},
    completed=1,
    n_clusters=7,
    missed_at_least=1,
    optimal=True,
    groups={"by": "user", "groups": 3, "both_sides": 0},
    notes=("one", "two"),
)
ORIGIN = Origin("closest.v1", {"test": 0.1}, 42, {"data": "f", "vectors": "v"}, {"numpy": "2"})


def split_of(data: Dataset, **changes: object) -> Split:
    rows = np.arange(len(data))
    made = Split(
        "hard",
        data.ids,
        (rows % 4).astype(np.int8),
        (rows % 3 - 1).astype(np.int32),
        CERTIFICATE,
        data.fingerprint,
        ORIGIN,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def assert_equal(first: Split, second: Split) -> None:
    assert first.ids.to_pylist() == second.ids.to_pylist()
    assert first.parts.tolist() == second.parts.tolist()
    assert first.clusters.tolist() == second.clusters.tolist()
    for field in ("name", "certificate", "dataset", "origin"):
        assert getattr(first, field) == getattr(second, field)


def test_a_split_with_hostile_ids_comes_back_as_it_was(tiny: Builder, tmp_path: Path) -> None:
    split = split_of(tiny(IDS))
    assert_equal(read_split(write_split(split, tmp_path / "hard.csv")), split)
    assert_equal(read_split(tmp_path / "hard.csv", tiny(IDS)), split)


@given(ids=st.lists(st.sampled_from(IDS) | st.text(st.characters(exclude_categories=["Cs"])), unique=True, max_size=5))
@settings(max_examples=40)
def test_any_ids_come_back(tiny: Builder, tmp_path: Path, ids: list[str]) -> None:
    data = tiny(ids)
    split = split_of(data)
    assert_equal(read_split(write_split(split, tmp_path / "hard.csv")), split)
    if ids:
        assert read_parts(tmp_path / "hard.csv", data) == [PARTS[part] for part in split.parts]


def test_a_written_split_holds_ids_and_no_texts_or_formulas(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny(["=a", "b", "-5", "c"], ["secret"] * 4)), tmp_path / "hard.csv")
    assert path.read_bytes() == b"id,part,cluster\n'=a,train,\nb,dev,0\n-5,test,1\nc,independent,\n"
    assert "secret" not in path.with_suffix(".json").read_text()


def test_other_csv_readers_see_the_same_rows(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny(IDS)), tmp_path / "hard.csv")
    with path.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(IDS)


def test_the_certificate_is_readable_beside_it(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    about = read_json(tmp_path / "hard.json")
    assert about["csv_sha256"] == sha256_of(path)
    assert about["sizes"] == {"train": 1, "dev": 1, "test": 1, "independent": 1}
    assert (about["certificate"]["missed"], about["certificate"]["completed_share"]) == (1, 0.5)


def test_a_split_comes_back_in_the_row_order_of_its_dataset(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    assert read_split(path, tiny().take([3, 2, 1, 0])).parts.tolist() == [3, 2, 1, 0]


def test_the_split_of_another_dataset_is_refused(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    with pytest.raises(MismatchError, match="another dataset"):
        read_split(path, tiny(texts=["changed"] * 4))


@pytest.mark.parametrize(("old", "new"), [("dev", "test"), ("\n1,", "\n9,"), ("train,", "train,5")])
def test_a_csv_changed_after_writing_is_refused(tiny: Builder, tmp_path: Path, old: str, new: str) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(MismatchError, match="was changed after it was written"):
        read_split(path)


def test_wrong_rows_are_named_all_at_once_with_their_lines(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    path.write_text("id,part,cluster\n1,train,0\n2,tset,0\n3,test,x\n4,test,99999999999\n5,test\n6,test,-1\n")
    with pytest.raises(TableError) as caught:
        read_split(path)
    assert [each.partition(":")[0] for each in caught.value.problems] == [f"line {line}" for line in (3, 4, 5, 6, 7)]


@pytest.mark.parametrize("content", [b"", b"a,b\n", b"\xff\xfe\n", b"id,part,cluster\n\xff,train,\n"])
def test_a_file_that_is_no_split_is_wrong_input(tiny: Builder, tmp_path: Path, content: bytes) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"hard\.csv"):
        read_split(path)


def test_a_csv_without_certificate_says_what_to_do(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    path.with_suffix(".json").unlink()
    with pytest.raises(InputError, match=r"no certificate beside it \(hard\.json\)") as caught:
        read_split(path)
    assert "--with predefined" in str(caught.value)


def test_a_split_of_somebody_elses_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"train": ["a"], "test": ["b"]}')
    with pytest.raises(InputError, match=r"(?s)x\.json is not a split of unseen's.*'predefined', by="):
        read_split(tmp_path / "x.json")


def test_a_split_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no split .*hard\.csv"):
        read_split(tmp_path / "hard.csv")


@pytest.mark.parametrize("change", [{"format": 2}, {"format": None}])
def test_a_certificate_of_another_format_is_refused(tiny: Builder, tmp_path: Path, change: dict[str, object]) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    write_json(tmp_path / "hard.json", read_json(tmp_path / "hard.json") | change)
    with pytest.raises(InputError, match="another version"):
        read_split(path)


def test_a_json_file_that_is_no_certificate_is_refused(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    write_json(tmp_path / "hard.json", {"name": "x", "origin": {}, "certificate": {}, "format": 1})
    with pytest.raises(InputError, match=r"not the certificate of a split\n.*\['csv_sha256', 'dataset'\]"):
        read_split(path)


@pytest.mark.parametrize("certificate", [{}, {"asked": {}}, None, "got"])
def test_a_certificate_that_certifies_nothing_is_refused(tiny: Builder, tmp_path: Path, certificate: object) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    write_json(tmp_path / "hard.json", read_json(tmp_path / "hard.json") | {"certificate": certificate})
    with pytest.raises(InputError, match="what was asked for and what was got"):
        read_split(path)


@pytest.mark.parametrize(
    "change",
    [
        {"notes": 5}, {"notes": "a note"}, {"notes": [1]}, {"completed": None}, {"n_clusters": "7"}, {"optimal": "yes"},
        {"missed_at_least": "none"}, {"groups": [1]}, {"asked": {"yes": 1, "another": 1}},
    ],
    ids=str,
)  # fmt: skip
def test_a_certificate_with_other_things_in_its_fields_is_refused(
    tiny: Builder, tmp_path: Path, change: dict[str, object]
) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    about = read_json(tmp_path / "hard.json")
    write_json(tmp_path / "hard.json", about | {"certificate": about["certificate"] | change})
    with pytest.raises(InputError, match="the certificate of the split"):
        read_split(path)


def test_only_csv_names_are_written(tiny: Builder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"written as \.csv"):
        write_split(split_of(tiny()), tmp_path / "hard.parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_users_own_json_is_not_overwritten(tiny: Builder, tmp_path: Path) -> None:
    (tmp_path / "posts.json").write_text('[{"text": "a post"}]')
    with pytest.raises(InputError, match="would be overwritten"):
        write_split(split_of(tiny()), tmp_path / "posts.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["posts.json"]


def test_a_recipe_that_cannot_be_written_leaves_the_old_pair(tiny: Builder, tmp_path: Path) -> None:
    path = write_split(split_of(tiny()), tmp_path / "hard.csv")
    with pytest.raises(TypeError):
        write_split(split_of(tiny(["x"]), origin=Origin("mine", {"by": object()})), path)
    assert_equal(read_split(path), split_of(tiny()))


def test_a_split_without_rows_comes_back(tmp_path: Path) -> None:
    empty = Split("none", string_array([]), np.array([]), np.array([]), Certificate({}, {}), "f")
    assert_equal(read_split(write_split(empty, tmp_path / "none.csv")), empty)


@pytest.mark.parametrize(("key", "wrong"), [("origin", 5), ("origin", {}), ("certificate", {"asked": 1, "got": {}})])
def test_a_certificate_with_wrong_values_is_refused(tmp_path, key, wrong):
    data = unseen.load([{"text": f"text {i}", "label": "ab"[i % 2]} for i in range(8)])
    path = unseen.write_split(unseen.split(data, "random", test=0.5), tmp_path / "s.csv")
    about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    path.with_suffix(".json").write_text(json.dumps(about | {key: wrong}), encoding="utf-8")
    with pytest.raises(InputError):
        unseen.read_split(path)


@pytest.mark.parametrize("name", ["s.json", "s.txt"])
def test_numbers_are_ids_where_the_data_has_such_ids(tiny: Builder, tmp_path: Path, name: str) -> None:
    lists = {"train": [1, 2, 4], "test": [3]}
    said = json.dumps(lists) if name == "s.json" else "".join(f"{part}: {rows}\n" for part, rows in lists.items())
    (tmp_path / name).write_text(said)
    numbered = tiny(["4", "3", "2", "1"])
    assert read_parts(tmp_path / name, numbered) == ["train", "test", "train", "train"]
    with pytest.raises(MismatchError, match="positions=True"):
        read_parts(tmp_path / name, tiny(["7", "8", "9", "3"]))
    (tmp_path / name).write_text(said.replace("4", "0"))
    for data in (tiny(["a", "b", "c", "0123456789012345"]), numbered):
        asked = data is numbered
        assert read_parts(tmp_path / name, data, positions=asked) == ["train", "train", "train", "test"]


def test_rows_that_were_dropped_on_loading_are_forgiven_with_a_count(tmp_path: Path) -> None:
    rows = [{"id": f"{i}", "text": "" if i < 2 else f"text {i}", "label": "ab"[i % 2]} for i in range(8)]
    data = unseen.load(rows, drop=["empty"])
    lists = {"train": ["0", "2", "3", "4"], "test": ["1", "5", "6", "7"]}
    (tmp_path / "s.json").write_text(json.dumps(lists))
    (tmp_path / "s.csv").write_text("id,part\n" + "".join(f"{i},{part}\n" for part in lists for i in lists[part]))
    for name in ("s.json", "s.csv"):
        with pytest.warns(UnseenWarning, match="^2 rows that .* names were dropped when table was loaded$"):
            assert read_parts(tmp_path / name, data) == ["train"] * 3 + ["test"] * 3
    (tmp_path / "s.json").write_text(json.dumps({**lists, "dev": ["99"]}))
    with pytest.raises(MismatchError, match="names 1 rows that table does not have") as refused:
        read_parts(tmp_path / "s.json", data)
    assert "positions" not in str(refused.value.fix)
    unnamed = unseen.load([{"text": each["text"], "label": each["label"]} for each in rows], drop=["empty"])
    assert len(unnamed.left_out) == 2
