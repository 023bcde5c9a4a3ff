"""The Markdown summary of every kind of run and of a comparison: what a build shows, and nothing that runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harmless import EVIL, RUNS
from kind_folders import FOLDERS
from markdown_it import MarkdownIt
from test_junit import judged

from finished_runs import run_here
from two_runs import BETTER, HARD, RANDOM, run_folder
from unseen.reports.comparison import compare_runs
from unseen.reports.page import Verdict
from unseen.reports.summary import LONGEST, summary, summary_of_comparison, write_summary
from unseen.runs.frame import report

MARKDOWN = MarkdownIt("commonmark").enable("table")


def test_it_says_verdict_gates_findings_and_failed_steps(tmp_path: Path) -> None:
    text = summary(judged(tmp_path / "run"))
    assert "| FAILED | fall.f1.macro<=0.2 | closest | .300 |".replace("<", "\\<") in text
    assert "| FAILED | speed>=1 |  | not measured |" in text
    assert "| passed | f1.macro>=0.1 |  | .500 |" in text
    assert "| failed | copies | 12 texts are twice. | Remove them. |" in text
    assert "look closer | labels" in text
    assert "| train | it broke |" in text
    assert "The same mix." not in text
    assert "| level | check | what was found | what to do |\n| --- | --- | --- | --- |" in text


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_kind_has_one_and_names_stay_names(kind: str, tmp_path: Path) -> None:
    result = report(FOLDERS[kind](tmp_path / "run", EVIL))
    html = MARKDOWN.render(summary(result))
    assert "<h3>" in html
    assert "<table>" in html
    assert not [tag for tag in ("<script", "<img") if tag in html]
    assert html.count("<strong>Findings</strong>") <= 1  # those of an audit stand there once, with what to do


def test_a_verdict_with_markup_is_shown_as_it_is(tmp_path: Path) -> None:
    result = replace(judged(tmp_path / "run"), verdict=Verdict(f"# {EVIL}", ["1. [x](http://y)"], "warn"))
    html = MARKDOWN.render(summary(result))
    assert RUNS in html.replace("&quot;", '"')
    assert not [tag for tag in ("<script", "<img", "<a ", "<h1>", "<ol>") if tag in html]


def test_a_long_table_is_cut(tmp_path: Path) -> None:
    result = judged(tmp_path / "run")
    text = summary(replace(result, gates=result.gates * 40))
    assert text.count("fall.f1.macro") < LONGEST
    assert f"And {3 * 40 - LONGEST} rows more." in text


def test_a_comparison_has_its_intervals(tmp_path: Path) -> None:
    before = run_folder(tmp_path / "before", {"random": RANDOM, "closest": HARD})
    after = run_folder(tmp_path / "after", {"random": RANDOM, "closest": BETTER})
    text = summary_of_comparison(compare_runs(before, after))
    assert "| family | part | metric | A | B | B − A | 95 % interval | pairs | rows |" in text
    assert "| closest | test | f1.macro |" in text
    done = run_here(
        "runs", "compare", str(before), str(after), "--summary", str(tmp_path / "s.md"),
        "--gate", "difference.f1.macro>=0.05", "-q",
    )  # fmt: skip
    assert done.code == 1
    assert "| FAILED | difference.f1.macro>=0.05 |" in (tmp_path / "s.md").read_text(encoding="utf-8")


def test_a_file_is_written_anew_but_that_of_a_step_is_added_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.md"
    for text in ("first\n", "second\n"):
        write_summary(path, text)
    assert path.read_text(encoding="utf-8") == "second\n"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    write_summary(path, "third\n")
    assert path.read_text(encoding="utf-8") == "second\nthird\n\n"
    folder = FOLDERS["audit"](tmp_path / "run", "posts")
    assert run_here("runs", "report", str(folder), "--summary", str(path), "-q").code == 0
    assert path.read_text(encoding="utf-8").startswith("second\nthird\n\n### ")
