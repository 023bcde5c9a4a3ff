"""`unseen data suite`: the example of the documentation, from its file to validated cases, and what is refused."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "suites.md").read_text(encoding="utf-8")
TOML = "".join(re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL))
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL) for line in block.splitlines()]

Run = Callable[..., Any]


@pytest.fixture
def kitchen(folder: Path) -> Path:
    (folder / "kitchen.toml").write_text(TOML, encoding="utf-8")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_votes(folder: Path, doubted: int = 0) -> list[dict[str, str]]:
    """Five raters who agree with the suite, but for the first `doubted` cases."""
    rows = rows_of(folder / "kitchen.csv")
    lines = ["id," + ",".join(f"rater_{n}" for n in range(1, 6))]
    for number, row in enumerate(rows):
        other = "fine" if row["label"] == "rude" else "rude"
        votes = [other] * 3 + [row["label"], ""] if number < doubted else [row["label"]] * 4 + [""]
        lines.append(",".join([row["id"], *votes]))
    (folder / "votes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rows


def test_the_commands_of_the_documentation_run(kitchen: Path, unseen: Run, write_posts: Callable[..., Path]) -> None:
    write_posts(kitchen / "posts.csv", 300, lambda number, row: {"label": "ab"[number % 2]})
    assert len(COMMANDS) == 5
    for line in COMMANDS:
        done = unseen(*shlex.split(line)[1:])
        assert done.code == 0, done.err
        if line.startswith("unseen data suite build"):
            write_votes(kitchen)
    assert len(rows_of(kitchen / "kitchen.csv")) == len(rows_of(kitchen / "validated.csv")) == 48
    assert f"holds {len(rows_of(kitchen / 'kitchen.csv'))} cases" in PAGE


def test_the_documentation_has_every_perturbation() -> None:
    from unseen.functional.perturbations import PERTURBATIONS

    assert [name for name in PERTURBATIONS if f"`{name}`" not in PAGE] == []


def test_build_prints_what_it_made(kitchen: Path, unseen: Run) -> None:
    done = unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv")
    assert done.out.startswith("kitchen.csv: 48 cases\n")
    assert re.search(r"insult_negated +insult +functional +fine +10 +3\n", done.out)
    assert re.search(r"cooks +15 +15\n", done.out)
    assert (
        json.loads(unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv", "--json").out)["cases"] == 48
    )
    assert json.loads((kitchen / "kitchen.json").read_text(encoding="utf-8"))["origin"]["seed"] == 42


def test_a_wrong_file_leaves_nothing_behind(kitchen: Path, unseen: Run) -> None:
    (kitchen / "kitchen.toml").write_text(TOML.replace("[DISH]", "[DSH]"), encoding="utf-8")
    done = unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv")
    assert (done.code, done.out) == (2, "")
    assert "test 3 (praise): 'What a lovely [DSH]!': no list and no group has [DSH]; did you mean 'DISH'?" in done.err
    assert not (kitchen / "kitchen.csv").exists()


@pytest.mark.parametrize("words", [("build", "kitchen.toml"), ("perturb", "posts.csv", "--id", "id", "--with", "swap")])
def test_somebody_elses_file_stays(kitchen: Path, unseen: Run, words: tuple[str, ...]) -> None:
    before = (kitchen / "posts.csv").read_bytes()
    done = unseen("data", "suite", *words, "-o", "posts.csv")
    assert done.code == 2
    assert "posts.csv is not a file of unseen's and would be overwritten" in done.err
    assert (kitchen / "posts.csv").read_bytes() == before


def test_perturb_draws_originals_and_versions(folder: Path, unseen: Run) -> None:
    words = (
        "data",
        "suite",
        "perturb",
        "posts.csv",
        "--id",
        "id",
        "--with",
        "swap,leet",
        "-n",
        "10",
        "-o",
        "altered.csv",
    )
    done = unseen(*words)
    assert done.code == 0, done.err
    rows = rows_of(folder / "altered.csv")
    assert [sum(row["functionality"] == name for row in rows) for name in ("original", "swap", "leet")] == [10, 10, 10]
    first = (folder / "altered.csv").read_bytes()
    assert unseen(*words).code == 0
    assert (folder / "altered.csv").read_bytes() == first
    assert unseen(*words, "--seed", "1").code == 0
    assert (folder / "altered.csv").read_bytes() != first


def test_perturb_with_a_function_of_ones_own_and_a_note_on_formulas(folder: Path, unseen: Run) -> None:
    (folder / "my_suite_words.py").write_text("def at(text, draw):\n    return '@' + text\n", encoding="utf-8")
    done = unseen("data", "suite", "perturb", "posts.csv", "--with", "my_suite_words:at", "-o", "own.csv", "--json")
    assert done.code == 0, done.err
    assert [each["functionality"] for each in json.loads(done.out)["functionalities"]] == ["original", "at"]
    assert "60 texts begin like a formula" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "there is no alteration"),
        (("--with", "leat"), "did you mean 'leet'"),
        (("--with", "swap,my_own:swap"), "names 'swap' twice"),
        (("--append", "Bad.", "--focus", "rain"), "--focus has no effect without --with"),
        (("--append", "Bad.", "--expect", "up lout"), "did you mean 'loud'"),
        (("--with", "swap", "--kind", "directional"), "has an expectation"),
        (("--with", "swap", "-o", "altered.tsv"), "does not end in .csv"),
    ],
)
def test_perturb_refuses_what_makes_no_sense(folder: Path, unseen: Run, words: tuple[str, ...], said: str) -> None:
    done = unseen("data", "suite", "perturb", "posts.csv", *words)
    assert done.code == 2
    assert said in done.err
    assert sorted(path.name for path in folder.iterdir()) == ["posts.csv"]


def test_stats_of_any_table(folder: Path, unseen: Run) -> None:
    done = unseen(
        "data", "suite", "stats", "posts.csv", "--column", "functionality=source", "--column", "target=user", "--json"
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {each["functionality"]: each["cases"] for each in found["functionalities"]} == {
        "app": 20,
        "mail": 20,
        "web": 20,
    }
    assert {each["target"] for each in found["targets"]} == {f"u{n:02}" for n in range(12)}
    assert [each["level"] for each in found["findings"] if each["check"] == "suite_labels"] == ["warn"]
    text = unseen("data", "suite", "stats", "posts.csv", "--column", "functionality=source").out
    assert "warn: 3 functionalities have cases of several labels: " in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("posts.csv",), "is not a suite"),
        (("posts.csv",), "name it: --column functionality=…"),
        (("posts.csv", "--column", "functionality"), "is not a pair"),
        (("posts.csv", "--column", "functionality=source", "--file", "x"), "--file has no effect on posts.csv"),
        (("post.csv",), "no file or known suite is called 'post.csv'"),
    ],
)
def test_stats_refuses_what_is_no_suite(folder: Path, unseen: Run, words: tuple[str, ...], said: str) -> None:
    done = unseen("data", "suite", "stats", *words)
    assert done.code == 2
    assert said in done.err


def test_validate_says_what_goes_and_why(kitchen: Path, unseen: Run) -> None:
    assert unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv").code == 0
    rows = write_votes(kitchen, doubted=1)
    words = (
        "data",
        "suite",
        "validate",
        "votes.csv",
        "--suite",
        "kitchen.csv",
        "--annotators",
        "rater_",
        "--least",
        "3",
    )
    done = unseen(*words, "-o", "validated.csv")
    assert done.code == 0, done.err
    template = rows[0]["template"]
    contrasts = [row["template"] for row in rows if row["reference"] == rows[0]["id"]]
    gone = [row for row in rows if row["template"] in {template, *contrasts}]
    assert f"{len(gone)} of 48 cases go, {48 - len(gone)} stay" in done.out
    assert re.search(rf"{rows[0]['id']} +1 +fine 3, rude 1\n", done.out)
    assert re.search(r"fleiss_kappa +\.\d{3} +\[\.\d{3}, 1\.000\] +48\n", done.out)
    assert [row["id"] for row in rows_of(kitchen / "validated.csv")] == [row["id"] for row in rows if row not in gone]
    found = json.loads(unseen(*words, "--json").out)
    assert (found["kept"], found["least"], found["out"]) == (48 - len(gone), 3, None)
    assert {each["id"]: each["reason"] for each in found["removed"]}[rows[0]["id"]] == "votes"


def test_validate_refuses_what_does_not_fit(kitchen: Path, unseen: Run) -> None:
    assert unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv").code == 0
    write_votes(kitchen)
    words = ("data", "suite", "validate", "votes.csv", "--suite", "kitchen.csv")
    for more, said in (
        ((), "name the columns of the annotators"),
        (("--annotator", "rater_1", "--annotator", "ratter_2"), "did you mean 'rater_2'"),
        (("--annotators", "rater_", "--least", "6"), "least must be a number of annotators"),
        (("--annotators", "rater_", "-o", "votes.csv"), "votes.csv is not a file of unseen's"),
    ):
        done = unseen(*words, *more)
        assert done.code == 2
        assert said in done.err


def test_validate_understands_other_words_when_told(kitchen: Path, unseen: Run) -> None:
    assert unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv").code == 0
    write_votes(kitchen)
    votes = (kitchen / "votes.csv").read_text(encoding="utf-8")
    (kitchen / "votes.csv").write_text(votes.replace(",rude", ",1").replace(",fine", ",0"), encoding="utf-8")
    words = ("data", "suite", "validate", "votes.csv", "--suite", "kitchen.csv", "--annotators", "rater_")
    refused = unseen(*words, "-o", "validated.csv")
    assert (refused.code, (kitchen / "validated.csv").exists()) == (2, False)
    assert "nothing that annotators said is a label of kitchen" in refused.err
    done = unseen(*words, "--map", "0=fine,1=rude", "-o", "validated.csv")
    assert done.code == 0, done.err
    assert "0 of 48 cases go, 48 stay" in done.out


def test_validate_may_leave_one_label(kitchen: Path, unseen: Run) -> None:
    """The votes of everyone who does not say `fine` are lost."""
    assert unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv").code == 0
    rows = write_votes(kitchen)
    votes = (kitchen / "votes.csv").read_text(encoding="utf-8")
    (kitchen / "votes.csv").write_text(votes.replace(",rude", ","), encoding="utf-8")
    words = ("data", "suite", "validate", "votes.csv", "--suite", "kitchen.csv", "--annotators", "rater_")
    done = unseen(*words, "-o", "validated.csv")
    assert done.code == 0, done.err
    assert {row["label"] for row in rows_of(kitchen / "validated.csv")} == {"fine"}
    assert {row["label"] for row in rows} == {"fine", "rude"}
    counted = unseen("data", "suite", "stats", "validated.csv", "--json")
    assert json.loads(counted.out)["labels"] == {"fine": len(rows_of(kitchen / "validated.csv")), "rude": 0}


def test_failed_cases_are_sampled_with_a_warning(kitchen: Path, unseen: Run) -> None:
    """From `unseen check` on: a file of predictions that are wrong on every functional case but one."""
    assert unseen("data", "suite", "build", "kitchen.toml", "-o", "kitchen.csv").code == 0
    rows = rows_of(kitchen / "kitchen.csv")
    other = {"fine": "rude", "rude": "fine"}
    for name, right in (("bad", rows[:1]), ("worse", [])):
        said = [f"{row['id']},{row['label'] if row in right else other[row['label']]}" for row in rows]
        (kitchen / f"{name}.csv").write_text("\n".join(["id,prediction", *said]) + "\n", encoding="utf-8")
    assert unseen("check", "bad.csv", "worse.csv", "--suite", "kitchen.csv", "-o", "behaviour").code == 0
    words = ("data", "suite", "sample", "behaviour/failures.csv", "--suite", "kitchen.csv", "-n", "3")
    assert "the failures are of several models" in unseen(*words).err
    done = unseen(*words, "--model", "bad", "-o", "training.csv")
    assert done.code == 0, done.err
    assert "may have learnt nothing else; 'unseen data suite holdout' measures" in done.err
    assert (kitchen / "training.csv").read_text(encoding="utf-8").startswith("text,label,functionality,id\n")
    drawn = rows_of(kitchen / "training.csv")
    assert {row["functionality"] for row in drawn} == {"insult_direct", "insult_negated", "praise", "spell_leet"}
    assert all(sum(row["functionality"] == name for row in drawn) == 3 for name in {r["functionality"] for r in drawn})
    assert rows[0]["id"] not in {row["id"] for row in drawn}
    known = {row["id"]: row for row in rows}
    assert all(row == {name: known[row["id"]][name] for name in row} for row in drawn)
    assert json.loads(unseen(*words, "--model", "bad", "--json").out)["cases"] == 12


def test_validate_leaves_the_published_cases_of_hatecheck(folder: Path, unseen: Run, shared_data: Path) -> None:
    data = shared_data / "hatecheck"
    done = unseen(
        "data", "suite", "validate", str(data / "all_annotations.csv"), "--suite", str(data / "all_cases.csv"),
        "--annotators", "label_", "-o", "validated.csv", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "173 of 3,901 cases go, 3,728 stay" in done.out
    published = [row["case_id"] for row in rows_of(data / "test_suite_cases.csv")]
    assert [row["id"] for row in rows_of(folder / "validated.csv")] == published


def test_a_published_suite_is_recognised_and_columns_can_be_left_out(
    tmp_path: Path, unseen: Callable[..., Any]
) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(
        "mhc_case_id,functionality,test_case,label_gold,ref_case_id\ngerman-1,a_h,Köche nerven,hateful,\n"
        "german-2,a_nh,Köche nerven nicht,non-hateful,1.0\n"
    )
    done = unseen("data", "suite", "stats", str(path))
    assert "is Multilingual HateCheck (CC BY 4.0). Röttger" in done.out
    assert json.loads(unseen("data", "suite", "stats", str(path), "--json").out)["references"] == 1
    assert (
        json.loads(unseen("data", "suite", "stats", str(path), "--ignore", "ref_case_id", "--json").out)["references"]
        == 0
    )
