"""`unseen check` as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unseen.cli.check import named, of_models
from unseen.errors import InputError, UnknownNameError

CASES = """functionality,case_id,test_case,label_gold,target_ident,templ_id,ref_case_id
insult_plain,1,cooks are bad,rude,cooks,1,
insult_plain,2,waiters are bad,rude,waiters,1,
insult_not,3,cooks are not bad,fine,cooks,2,1
insult_not,4,waiters are not bad,fine,waiters,2,2
"""


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("cases.csv").write_text(CASES)
    Path("a.csv").write_text("id,prediction\n1,toxic\n2,toxic\n3,toxic\n4,ok\n")
    Path("b.csv").write_text("id,score\n1,.9\n2,.2\n3,.1\n4,.1\n")
    return tmp_path


def test_a_suite_is_run_and_a_gate_decides(cases: Path, unseen: Callable[..., Any]) -> None:
    done = unseen(
        "check", "a.csv", "api=b.csv", "--suite", "cases.csv", "--map", "a:toxic=rude,ok=fine", "--map",
        "api:score=rude", "--gate", "insult_not:0.6", "-o", "out", "-q",
    )  # fmt: skip
    assert done.code == 1
    assert "a passes 75.0 % of the 4 cases of cases" in done.out
    assert "gate FAILED: a functionality=insult_not: 0.500, at least 0.6" in done.out
    assert "FAILED: api" not in done.out
    assert Path("out/report.html").is_file()
    again = unseen("report", "out", "--json")
    assert json.loads(again.out)["level"] == "fail"


def test_thresholds_decide(cases: Path, unseen: Callable[..., Any]) -> None:
    done = unseen(
        "check", "b.csv", "--suite", "cases.csv", "--map", "score=rude", "--threshold", "rude=0.2", "--json", "-q"
    )
    rows = {(row["metric"], row["slice"]): row["value"] for row in json.loads(done.out)["measurements"]}
    assert done.code == 0
    assert rows["pass_rate", "all"] == 1.0
    assert rows["pair_accuracy", "all"] == 1.0


def test_mistakes_are_said_in_one_message(cases: Path, unseen: Callable[..., Any]) -> None:
    done = unseen("check", "a.csv", "--suite", "cases.csv")
    assert done.code == 2
    assert "toxic" in done.err
    done = unseen("check", "a.csv", "--suite", "cases.csv", "--map", "toxic:rude")
    assert done.code == 2
    done = unseen("check", "a.csv", "--suite", "case.csv")
    assert done.code == 2
    assert "case.csv" in done.err


def test_names_of_models() -> None:
    assert named(["out/model", "x=org/name", "https://a.b/c?d=e"]) == {
        "model": "out/model", "x": "org/name", "https://a.b/c?d=e": "https://a.b/c?d=e"
    }  # fmt: skip
    with pytest.raises(InputError, match="two models"):
        named(["a/m", "b/m"])
    with pytest.raises(UnknownNameError, match="api"):
        of_models(["apy:a=b"], {"api": "x"}, "--map")
    with pytest.raises(InputError, match="not a pair"):
        of_models(["a"], {"api": "x"}, "--map")
