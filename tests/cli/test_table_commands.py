"""`unseen runs lint` and `unseen audit table`, as builds use them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

FIXTURES = Path(__file__).resolve().parents[1] / "result_tables"
Run = Callable[..., Any]


def test_an_error_ends_a_build_with_its_place(unseen: Run, tmp_path: Path) -> None:
    junit = tmp_path / "lint.xml"
    answer = unseen("runs", "lint", str(FIXTURES), "--junit", str(junit))
    assert answer.code == 1
    place = f"{FIXTURES / 'phs.md'}:5: fail ambiguous-metric: 'F1 in percent' does not say: average"
    assert place in answer.out.splitlines()
    assert "1 error, 2 warnings in 9 tables." in answer.out
    assert ElementTree.parse(junit).getroot().get("failures") == "1"


def test_warnings_and_skipped_rules_do_not(unseen: Run) -> None:
    assert unseen("runs", "lint", str(FIXTURES / "phs.md"), "--skip", "ambiguous-metric").code == 0
    assert unseen("runs", "lint", str(FIXTURES / "phs.md"), "--gate", "none").code == 0
    assert unseen("runs", "lint", str(FIXTURES / "phs.md"), "--skip", "f1").code == 2


def test_what_cannot_be_read_is_a_mistake_of_the_command(unseen: Run, tmp_path: Path) -> None:
    answer = unseen("runs", "lint", str(FIXTURES / "phs.md"), str(tmp_path / "gone.md"), str(tmp_path / "a.pdf"))
    assert (answer.code, answer.out) == (2, "")
    assert "gone.md" in answer.err
    assert "a.pdf" in answer.err


def test_a_table_is_recomputed(unseen: Run, tmp_path: Path) -> None:
    answer = unseen("audit", "table", str(FIXTURES / "phs.md"), "--json")
    assert answer.code == 1
    said = json.loads(answer.out)
    assert (said["passed"], len(said["findings"])) == (False, 4)
    summary = tmp_path / "summary.md"
    files = [str(FIXTURES / name) for name in ("phs_gains.md", "phs_gains.toml")]
    answer = unseen("audit", "table", files[0], "--relations", files[1], "--summary", str(summary))
    assert answer.code == 1
    assert "phs_gains.md:21" in summary.read_text(encoding="utf-8")
    assert unseen("audit", "table", str(FIXTURES / "harbecke.tex")).code == 0
