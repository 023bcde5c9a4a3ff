"""`unseen check` as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unseen.cli.check import of_models
from unseen.cli.options import named_places
from unseen.errors import InputError, UnknownNameError
from unseen.runs.check import short_name

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
        "api:score=rude", "--gate", "pass_rate where functionality=insult_not >= 0.6", "-o", "out", "-q",
    )  # fmt: skip
    assert done.code == 1
    assert "a passes 75 % of the 4 cases of cases" in done.out
    gate = "pass_rate where functionality=insult_not >= 0.6"
    assert f"gate FAILED: {gate}: .500 (functionality=insult_not, a)" in done.out
    assert f"gate passed: {gate}: 1.000 (functionality=insult_not, api)" in done.out
    assert done.out.count("FAILED") == 1
    kind = (
        "a: It fails when an identity is swapped: 100 % of the failures are sentences that it passes for another group"
    )
    assert any(line.startswith(kind) for line in done.out.splitlines())
    assert kind in Path("out/report.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    again = json.loads(unseen("runs", "report", "out", "--json").out)
    assert again["level"] == "fail"
    assert any(sentence.startswith(kind) for sentence in again["verdict"])
    assert set(again["verdict"]) < set(done.out.splitlines())


def test_thresholds_decide(cases: Path, unseen: Callable[..., Any]) -> None:
    done = unseen(
        "check", "b.csv", "--suite", "cases.csv", "--map", "score=rude", "--threshold", "rude=0.2", "--json", "-q"
    )
    rows = {(row["metric"], row["slice"]): row["value"] for row in json.loads(done.out)["measurements"]}
    assert done.code == 0
    assert "It passes all 4 cases that it could be judged on." in json.loads(done.out)["verdict"]
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


@pytest.mark.parametrize("answers", ["prediction\n1,hateful\n2,non-hateful", "hateful,non-hateful\n1,.9,.1\n2,.2,.8"])
def test_other_labels_need_a_map_and_the_hint_guesses_it(cases: Path, unseen: Callable[..., Any], answers: str) -> None:
    Path("emoji.csv").write_text("functionality,id,text,label\nf,1,x,1\ng,2,y,0\n")
    Path("c.csv").write_text(f"id,{answers}\n")
    Path("rules.py").write_text(
        "def ask(texts):\n    return ['hateful' if 'x' in each else 'non-hateful' for each in texts]\n"
    )
    for model in ("c.csv", "rules:ask"):
        refused = unseen("check", model, "--suite", "emoji.csv")
        assert refused.code == 2
        assert "--map hateful=1,non-hateful=0" in refused.err
        assert unseen("check", model, "--suite", "emoji.csv", "--map", "hateful=1,non-hateful=0").code == 0


def test_options_of_known_suites_have_no_effect_on_a_table(cases: Path, unseen: Callable[..., Any]) -> None:
    (cases / "failures.csv").write_text("model,functionality,id,label\n")
    for command in (
        "check a.csv --suite cases.csv --file x",
        "data suite sample failures.csv --suite cases.csv --data-dir x",
    ):
        done = unseen(*command.split())
        assert done.code == 2
        assert f"{command.split()[-2]} has no effect on cases.csv" in done.err


def test_names_of_models() -> None:
    assert named_places(["out/model", "x=org/name", "https://a.b/c?d=e"], "models", short_name) == {
        "model": "out/model", "x": "org/name", "https://a.b/c?***": "https://a.b/c?d=e"
    }  # fmt: skip
    with pytest.raises(InputError, match="two models"):
        named_places(["a/m", "b/m"], "models", short_name)
    with pytest.raises(UnknownNameError, match="api"):
        of_models(["apy:a=b"], {"api": "x"}, "--map")
    with pytest.raises(InputError, match="not a pair"):
        of_models(["a"], {"api": "x"}, "--map")
