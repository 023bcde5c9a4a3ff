"""`unseen split repair`: what it prints, writes and refuses."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unseen import load, read_split
from unseen.repairs import procedure
from unseen.types import Finding

Run = Callable[..., Any]
POSTS = "posts.csv --id id -a user -a part"


@pytest.fixture
def leaky_folder(folder: Path, write_posts: Run) -> Path:
    """Posts of which three repeat another, one of them with another label; a published split."""

    def edit(number: int, row: dict[str, str]) -> dict[str, str]:
        copies = {11: "rain again", 10: "Rain again!", 12: "rain again", 20: "soup", 21: "soup"}
        labels = {10: "loud", 11: "loud", 12: "calm", 20: "calm", 21: "calm"}
        return {"text": copies[number], "label": labels[number]} if number in copies else {}

    write_posts(folder / "posts.csv", edit=edit)
    (folder / "published.csv").write_text(
        "\n".join(["id,part", *(f"p{number:02},{'test' if number % 5 == 0 else 'train'}" for number in range(60))])
    )
    return folder


@pytest.fixture
def repaired(unseen: Run) -> Run:
    """`repaired("--dedupe exact …")` runs the command on the posts."""
    return lambda options: unseen("split", "repair", *shlex.split(f"{POSTS} {options}"))


def test_a_published_split_is_repaired_and_told(leaky_folder: Path, repaired: Run) -> None:
    answer = repaired(
        "--split published.csv --groups user --dedupe normalised --conflicts drop --minimal drop -o fixed.csv"
    )
    assert answer.code == 0, answer.err
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["author", "fail", "(12)", "ok"] in lines
    assert ["normalised_duplicates", "fail", "(2)", "ok"] in lines
    assert "note: 3 rows in 1 groups have the same text with different labels; all of them were dropped" in answer.out
    assert "written: fixed.csv, fixed.json, fixed.changes.csv, fixed.audit.json" in answer.out
    assert "note: class_mix is worse than before (ok, now fail): " in answer.out
    assert "note: author is worse" not in answer.out
    parts = read_split("fixed.csv", load("posts.csv", id="id"))
    assert parts.sizes == {"train": 2, "test": 11, "unused": 47}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("exact", "the same text as another row 2"),
        ("normalised", "the same text but for trifles as another row 3"),
        ("near", "nearly the same text as another row 9"),
    ],
)
def test_copies_are_counted_by_what_they_are(kind: str, told: str, leaky_folder: Path, repaired: Run) -> None:
    answer = repaired(f"--split published.csv --dedupe {kind} -o fixed.csv")
    lines = [" ".join(line.split()) for line in answer.out.splitlines() if line.startswith("dropped")]
    assert lines == [f"dropped train unused {told}"]


def test_json_has_split_changes_and_audits(leaky_folder: Path, repaired: Run) -> None:
    answer = repaired("--groups user --dedupe near --test 10 --cap 2 --author user -o fixed.csv --json -q")
    content = json.loads(answer.out)
    assert content["name"] == "fixed"
    assert content["sizes"]["test"] == 10
    assert content["certificate"]["groups"]["on_both_sides"] == 0
    assert content["changes"].keys() == {"dropped"}
    assert content["before"] == content["remaining"] == []
    assert {each["check"] for each in content["after"]} >= {"author", "near_duplicates"}
    assert content["files"].keys() == {"split", "description", "changes", "audit"}
    assert content["worse"] == []
    assert answer.err == ""


def test_a_relabelled_dataset_can_be_loaded_with_the_split(leaky_folder: Path, repaired: Run, unseen: Run) -> None:
    answer = repaired("--split published.csv --conflicts relabel --dedupe exact -o fixed.csv")
    assert "relabelled" in answer.out
    said = answer.out.splitlines()[-1].strip()
    assert said == "--id id --labels calm,loud"
    assert unseen("split", "describe", "fixed.data.parquet", "--split", "fixed.csv", *shlex.split(said)).code == 0
    assert unseen("split", "describe", "posts.csv", "--split", "fixed.csv", "--id", "id").code == 2


def test_the_repair_that_an_audit_advises_ends_its_finding(folder: Path, unseen: Run, write_posts: Run) -> None:
    partner = {number: {"of": f"{number ^ 1}.0"} for number in range(60)}
    write_posts(folder / "pairs.csv", edit=lambda number, row: {"id": str(number), **partner[number]})
    data = "pairs.csv --id id --parts part"
    failed = unseen("audit", "data", *shlex.split(f"{data} --partner of"))
    assert failed.code == 1
    (advice,) = (line for line in failed.out.splitlines() if "--groups of" in line)
    command = advice.split(" makes ")[0].removeprefix("  unseen ")
    assert command == "split repair pairs.csv --parts part --id id --groups of --partner of -o fixed.csv"
    answer = unseen(*shlex.split(f"{command} --dedupe near"))
    assert answer.code == 0, answer.out + answer.err
    assert (
        unseen("audit", "data", *shlex.split("pairs.csv --split fixed.csv --id id --partner of --check partner")).code
        == 0
    )


@pytest.mark.parametrize("split", ["--split published.csv", ""])
def test_advice_about_copies_and_conflicts_is_whole_commands(leaky_folder: Path, unseen: Run, split: str) -> None:
    found = unseen("audit", "data", "posts.csv", *split.split(), "--id", "id").out
    commands = re.findall("unseen split repair .*? -o fixed.csv", found)
    given = " ".join(filter(None, ["posts.csv", split]))
    assert f"unseen split repair {given} --id id --conflicts drop -o fixed.csv" in commands
    assert f"unseen split repair {given} --id id --{'dedupe' if split else 'together'} exact -o fixed.csv" in commands
    for each in commands:
        assert unseen(*shlex.split(each)[1:]).code in (0, 1)


def test_files_that_take_the_place_of_older_ones_are_told(leaky_folder: Path, repaired: Run) -> None:
    assert "in place of" not in repaired("--split published.csv --dedupe exact").out
    assert "fixed.audit.json, in place of older ones\n" in repaired("--split published.csv --dedupe near").out


def test_links_between_rows_are_audited_though_nobody_names_them(folder: Path, unseen: Run, write_posts: Run) -> None:
    edit = {"key": lambda number: str(number + 100), "of": lambda number: str((number ^ 1) + 100)}
    write_posts(folder / "pairs.csv", edit=lambda number, row: {name: made(number) for name, made in edit.items()})
    answer = unseen("audit", "data", *shlex.split("pairs.csv --id key --parts part -a of --check partner"))
    assert answer.code == 1
    assert "have their contrast partner in the training part" in answer.out
    note = "note: the values of 'of' are ids of other rows: it is taken for the column of the contrast partners"
    assert note in answer.err
    assert "say so: --original of" in answer.err
    unnamed = unseen("audit", "data", *shlex.split("pairs.csv --parts part --partner of --gate none"))
    assert "If its values are ids, name the column of the ids: --id." in unnamed.out
    left = unseen("split", "repair", *shlex.split("pairs.csv --id key --parts part -a of --dedupe near"))
    assert left.code == 1
    assert "split repair pairs.csv --split fixed.csv --id key --attribute of --groups of --partner of" in left.out
    before = json.loads(Path("fixed.audit.json").read_text())["before"]
    (partner,) = (finding for finding in before if finding["check"] == "partner")
    assert "split repair pairs.csv --parts part --id key --attribute of --groups of" in partner["advice"]


def test_what_is_still_there_is_told_with_commands_that_run(leaky_folder: Path, repaired: Run, unseen: Run) -> None:
    answer = repaired("--split published.csv --dedupe exact -o fixed.csv")
    assert answer.code == 1
    (advice,) = (line for line in answer.out.splitlines() if "still there" in line and "--dedupe normalised" in line)
    command = re.search(r"unseen (split repair .*?) takes them out", advice)[1]
    assert (
        command == "split repair posts.csv --split fixed.csv --id id --attribute user --attribute part "
        "--dedupe normalised -o fixed.csv"
    )
    assert ["normalised_duplicates", "fail", "(1)", "ok"] in [
        line.split() for line in unseen(*shlex.split(command)).out.splitlines()
    ]


def test_what_remains_is_exit_code_1(leaky_folder: Path, repaired: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    left = Finding("exact_duplicates", "fail", "2 of 12 test texts stand verbatim in the training part.", 2)
    monkeypatch.setattr(procedure, "audited", lambda *given: (left,))
    answer = repaired("--split published.csv --dedupe exact")
    assert answer.code == 1
    assert f"still there: {left.message}" in answer.out


@pytest.mark.parametrize(
    ("options", "fragments"),
    [
        ("--split published.csv", ["cannot be done as asked", "nothing to repair"]),
        ("--split published.csv --groups usr", ["'usr' is missing; did you mean 'user'?"]),
        ("--groups user --minimal move --keep train", ["minimal has no effect", "keep has no effect"]),
        ("--groups user --test 1", ["--test must be a share between 0 and 1"]),
        ("--dedupe close", ["no choice for dedupe is called 'close'", "exact, normalised, near"]),
        ("--split published.csv --parts part --groups user", ["--parts has no effect with a split file"]),
        ("--groups day", ["no two rows share a value of 'day'", "--id"]),
        ("--split nowhere.csv --dedupe exact", ["nowhere.csv"]),
        ("--groups user -o fixed.txt", ["does not end in .csv"]),
        ("--groups user -o posts.csv", ["posts.csv is not a file of unseen's and would be overwritten"]),
        ("--groups user -o mine.csv", ["mine.changes.csv would be overwritten"]),
    ],
)
def test_wrong_input_is_told_and_nothing_is_written(
    options: str, fragments: list[str], leaky_folder: Path, repaired: Run
) -> None:
    Path("mine.changes.csv").write_text("mine")
    before = {path: path.read_bytes() for path in leaky_folder.iterdir()}
    answer = repaired(options)
    assert answer.code == 2
    for fragment in fragments:
        assert fragment in answer.err
    assert {path: path.read_bytes() for path in leaky_folder.iterdir()} == before


def test_an_option_of_other_tools_is_told_with_those_that_are_meant(leaky_folder: Path, unseen: Run) -> None:
    done = unseen("split", "repair", "posts.csv", "--by", "user")
    assert done.code == 2
    assert "--groups" in done.err
    assert "--cap-by" not in done.err
