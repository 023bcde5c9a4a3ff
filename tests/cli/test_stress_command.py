"""`unseen stress`, `train`, `predict` and `report` as they are typed."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finished_runs import KINDS, run_here
from unseen.cli.stress import described
from unseen.reports.record import read_record
from unseen.reports.review import review_items
from unseen.runs.stress import StressPlan
from unseen.store.reviews import Review, append_review, read_reviews

COLUMNS = "--text text --label label --id id"
QUICK = "--seeds 42 --seen-folds 1 --space-seeds 0 --workers 1"
STRESS = f"stress posts.csv {COLUMNS} --model logistic --with random,closest --out run {QUICK}"


@pytest.fixture
def do(folder: Path, unseen: Callable[..., Any]) -> Callable[[str], Any]:
    """Runs a command in a folder with a small table."""
    return lambda command: unseen(*shlex.split(command))


def test_a_plan_says_what_it_costs_and_writes_nothing(folder: Path, do: Callable[[str], Any]) -> None:
    before = sorted(folder.rglob("*"))
    answer = do(f"{STRESS} --plan")
    assert answer.code == 0
    said = "54 texts to split, 6 set aside; 5 trainings, 1 of them for the seen control (--seen-folds).\nAll of it, "
    assert answer.out.startswith(said)
    assert " takes about " in answer.out
    said = json.loads(do(f"{STRESS} --plan --json").out)
    assert said["rows"] == {"split": 54, "independent": 6}
    assert (said["trainings"], said["seen"]) == (5, 1)
    assert sorted(folder.rglob("*")) == before


def test_a_long_run_names_the_short_way() -> None:
    plans = [
        StressPlan(5, 0, 9_000, 10.0, seconds, {"split": 900, "independent": 100}, 1, {}) for seconds in (60.0, 4_000.0)
    ]
    short, long = (described(each, "neural", {}) for each in plans)
    assert short.endswith(
        "All of it, splits and measuring too, takes about 60 s where nothing else runs: 9,000 texts through the model, "
        "10 a second, measured now. --limit takes fewer rows."
    )
    assert long.endswith("--limit takes fewer rows; --model logistic gives a first answer sooner.")
    for given in ({}, {"seeds": [1, 2], "seen_folds": 1}, {"seeds": [42]}):
        sooner = "; --seeds 42 --seen-folds 1 gives a first answer sooner."
        assert described(plans[1], "logistic", given).endswith(sooner)
    typed = {"seeds": [42], "seen_folds": 1}
    assert described(plans[1], "logistic", typed).endswith("--limit takes fewer rows.")


def test_few_rows_of_many_classes_run_when_the_advice_is_followed(folder: Path, do: Callable[[str], Any]) -> None:
    words, others = shlex.split("red green blue black white grey pink"), shlex.split("one two three four five six")
    rows = [f"the {word} {other} is very {word} and {other},{word}" for word in words for other in others]
    (folder / "few.csv").write_text("\n".join(["text,label", *rows, ""]))
    command = f"stress few.csv --model logistic --with random,closest --out few {QUICK}"
    refused = do(command)
    assert refused.code == 2
    assert "a test part of 3 rows cannot have rows of 7 classes" in refused.err
    assert "stratify" not in refused.err
    (advice,) = re.findall(r"--test 0\.\d+", refused.err)
    followed = do(f"{command} {advice}")
    assert followed.code == 0, followed.err
    assert "note: the independent part of 4 rows has none of 3 of 7 classes" in followed.err
    certificate = json.loads((folder / "few" / "splits" / "random-1.json").read_text())["certificate"]
    assert any("the dev part of 3 rows has none of 4 of 7 classes" in note for note in certificate["notes"])


def test_a_class_with_one_row_is_told_with_an_option_that_helps(folder: Path, do: Callable[[str], Any]) -> None:
    posts = folder / "posts.csv"
    header, first, *others = posts.read_text().splitlines()
    odd = [value if name != "label" else "odd" for name, value in zip(header.split(","), first.split(","), strict=True)]
    posts.write_text("\n".join([header, ",".join(odd), *others, ""]))
    refused = do(STRESS)
    assert refused.code == 2
    assert "the class 'odd' has only one row" in refused.err
    assert "leave rare classes out: --drop rare" in refused.err
    assert "stratify" not in refused.err


def test_another_run_in_the_folder_is_refused_or_asked_about(
    folder: Path, do: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert do(STRESS).code == 0
    other = f"{STRESS} --metric accuracy"
    refused = do(other)
    assert refused.code == 2
    assert "holds another run" in refused.err
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda question, err: asked.append(question) or len(asked) > 1)
    assert do(other).code == 2
    assert json.loads((folder / "run" / "run.json").read_text())["settings"]["metric"] == "f1.macro"
    assert do(other).code == 0
    assert len(asked) == 2
    assert json.loads((folder / "run" / "run.json").read_text())["settings"]["metric"] == "accuracy"


def test_the_end_of_the_input_is_no_failed_gate(
    folder: Path, do: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert do(STRESS).code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    refused = do(f"{STRESS} --metric accuracy")
    assert refused.code == 2
    assert "replace=True" not in refused.err
    assert "; --replace takes its place" in refused.err


def test_a_limit_in_points_is_refused_before_any_work(folder: Path, do: Callable[[str], Any]) -> None:
    done = do(f"{STRESS} --gate 'fall.f1.macro<=20'")
    assert done.code == 2
    assert "no fall of f1.macro can be above 20" in done.err
    assert "0.2 is 20 points" in done.err
    assert not (folder / "run").exists()


def test_verdict_gate_and_report(folder: Path, do: Callable[[str], Any]) -> None:
    done = do(f"{STRESS} --slice source --agreement number --gate 'fall.f1.macro<=0.99'")
    assert done.code == 2  # there is no such column
    done = do(f"{STRESS} --slice source --gate 'fall.f1.macro<=0.99'")
    assert done.code == 0, done.err
    assert "acro F1" in done.out
    assert done.out.splitlines()[-1] == "report: run/report.html"
    assert "54 texts to split" in done.err
    page = (folder / "run" / "report.html").read_bytes()
    failed = do(f"{STRESS} --slice source --gate 'fall.f1.macro<=-1.1'")
    assert failed.code == 1
    assert "gate FAILED: fall.f1.macro<=-1.1: " in failed.out
    assert "gate passed: fall.f1.macro<=0.99: " in done.out
    said = do(f"{STRESS} --slice source --json --quiet")
    assert (said.code, said.err) == (0, "")
    found = json.loads(said.out)
    assert (found["kind"], found["gates"], found["passed"]) == ("stress", [], True)
    falls = [row for row in found["measurements"] if row["metric"] == "fall.f1.macro" and row["slice"] == "all"]
    assert {row["tags"]["family"] for row in falls} == {"closest"}
    assert found["report"] == "run/report.html"
    assert found["level"] in ("ok", "warn", "fail")
    again = do("runs report run")
    assert again.code == 0
    assert again.out.splitlines()[-1] == "report: run/report.html"
    assert json.loads(do("runs report run --json").out)["verdict"] == found["verdict"]
    assert len((folder / "run" / "report.html").read_bytes()) == pytest.approx(len(page), rel=0.05)


def test_a_split_of_others(folder: Path, do: Callable[[str], Any]) -> None:
    assert do(f"split make posts.csv {COLUMNS} --with grouped --groups user --test 0.2 -o users.csv").code == 0
    done = do(f"stress posts.csv {COLUMNS} --model logistic --split users.csv --out run {QUICK}")
    assert done.code == 0, done.err
    assert "“users”" in done.out
    assert {each.stem for each in (folder / "run" / "splits").glob("*.csv")} == {
        "users",
        *(f"random-{n}" for n in (1, 2, 3)),
    }


def test_train_predict_score(folder: Path, do: Callable[[str], Any]) -> None:
    trained = do(f"model train posts.csv {COLUMNS} --model neural --set epochs=2 --set bottleneck=7 -o model")
    assert trained.out == (
        "model: neural for calm, loud, trained on 54 texts, its settings chosen on 6 others (--dev); "
        "scores on these texts would flatter it\n"
    )
    asked = do(f"model predict posts.csv {COLUMNS} --model model -o said.csv")
    assert asked.out == "said.csv: predictions for 60 texts\n"
    rows = json.loads(do(f"model score posts.csv said.csv {COLUMNS} --metric accuracy --json").out)
    assert rows[0]["n"] == 60
    parquet = do(f"model predict posts.csv {COLUMNS} --model model -o said.parquet --json")
    assert json.loads(parquet.out)["labels"] == ["calm", "loud"]
    assert (
        do(f"model encode posts.csv {COLUMNS} --encoder model -o own.npy").out
        == "own.npy: 60 vectors of 7 numbers by neural.v1\n"
    )
    assert do(f"model train posts.csv {COLUMNS} --model logistic -o model --json").code == 0  # a model may be replaced


def test_a_function_of_ones_own_is_asked(folder: Path, do: Callable[[str], Any]) -> None:
    (folder / "my_rules.py").write_text(
        "def ask(texts):\n    return ['LOUD' if 'storm' in text else 'calm' for text in texts]\n"
    )
    asked = do(
        f"""model predict posts.csv {COLUMNS} --model my_rules:ask --set 'rename={{"LOUD": "loud"}}' -o said.csv"""
    )
    assert asked.code == 0, asked.err
    lines = (folder / "said.csv").read_text().splitlines()
    assert lines[0] == "id,prediction"
    assert {line.rpartition(",")[2] for line in lines[1:]} == {"calm", "loud"}


def test_answers_of_another_run_join_those_of_this_one(
    finished: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shutil.copytree(finished("stress"), tmp_path / "stress"))
    items = review_items(read_record("run"), 30)
    for name in (*(item.id for item in items), "of other data"):
        append_review("old.jsonl", Review(name, "ann", "right"))
    append_review("run/reviews.jsonl", Review(items[0].id, "ann", "unclear"))
    command = shlex.split(KINDS["stress"].commands[0])
    done = run_here(*command, "--reviews", "old.jsonl")
    assert done.code == 0, done.err
    assert "1 of 31 reviews are of texts that are not in posts" in done.err
    reviews = read_reviews("run/reviews.jsonl")
    assert [(review.answer, review.run) for review in reviews[:2]] == [("unclear", ""), ("right", "old.jsonl")]
    assert len(reviews) == 30
    result = json.loads(done.out)
    assert any(line.startswith("One person has read 30 of its texts") for line in result["verdict"])
    measured = {row["metric"]: row for row in result["measurements"]}
    assert measured["label_errors"]["value"] == 0
    assert measured["fall.reviewed.f1.macro"]["n"] == 30
    assert "were read for another run" in Path("run/report.html").read_text(encoding="utf-8")
    assert len(run_here(*command, "--reviews", "old.jsonl", "-q").err) == 0
    assert len(read_reviews("run/reviews.jsonl")) == 30
    assert run_here(*command, "--reviews", "nothing.jsonl").code == 2


def test_a_known_suite_is_looked_for_in_the_folder_of_known_datasets(folder: Path, do: Callable[[str], Any]) -> None:
    """The data are a table, so the folder is about the suite alone; it is empty here."""
    (folder / "known").mkdir()
    refused = do(f"{STRESS} --suite hatecheck --data-dir known --plan")
    assert refused.code == 2
    assert "hatecheck is not in" in refused.err
    assert "known" in refused.err
    idle = do(f"{STRESS} --suite posts.csv --data-dir known --plan")
    assert "data_dir has no effect on a table" in idle.err


def test_a_finished_run_takes_gates_which_leave_its_folder_as_it_is(
    finished: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(finished("audit"), tmp_path / "audit") / "run"
    about = (folder / "run.json").read_bytes()
    kept = run_here("runs", "report", str(folder), "--gate", "findings.fail<=1000")
    assert (kept.code, "gate passed: findings.fail<=1000" in kept.out) == (0, True)
    failed = run_here("runs", "report", str(folder), "--gate", "findings.warn<=-1", "--json")
    assert (failed.code, json.loads(failed.out)["gates"][-1]["passed"]) == (1, False)
    mistyped = run_here("runs", "report", str(folder), "--gate", "leakd.near<=0.1")
    assert (mistyped.code, "did you mean 'leaked.near'" in mistyped.err) == (2, True)
    assert (folder / "run.json").read_bytes() == about
