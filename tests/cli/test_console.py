"""What commands print cannot steer a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unseen import cli
from unseen.cli.console import print_json, progress, say
from unseen.progress import track

ESCAPE = "\x1b[31mred\x9b\u202e"
Run = Callable[..., Any]


def test_control_characters_are_shown_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{ESCAPE}\r\n\tönne 👩\u200d👧\u00a0日本")
    assert capsys.readouterr().out == "\\x1b[31mred\\x9b\\u202e\\r\n\tönne 👩\u200d👧\u00a0日本\n"


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({ESCAPE: ["é", 1]})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {ESCAPE: ["é", 1]}
    assert shown.replace("\n", "").isprintable()


def test_a_log_is_told_now_and_then_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 60.0, 180.0, 240.0, 600.0, 720.0])
    monkeypatch.setattr("unseen.cli.console.time.monotonic", lambda: next(clock))
    with progress(quiet=False):
        for _ in track(range(5), "trainings", 5):
            pass
    assert capsys.readouterr().err.splitlines() == [
        "trainings: 40 % after 3 min, about 4 min left",
        "trainings: 80 % after 10 min, about 2 min left",
        "trainings: done in 12 min",
    ]


def test_a_stage_of_many_short_rounds_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False):
        for work in ("near-duplicates", "hard splits", "near-duplicates"):
            for _ in track(range(2), work, 2):
                pass
    assert capsys.readouterr().err.splitlines() == ["near-duplicates: done in 1 s", "hard splits: done in 1 s"]


def test_every_command_prints_through_the_console() -> None:
    folder = Path(cli.__file__).parent
    others = [path for path in folder.glob("*.py") if path.name != "console.py"]
    assert [path.name for path in others if "typer.echo(" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    "command", ["audit data posts.csv --author user --parts part", "model train posts.csv --model logistic -o m"]
)
def test_labels_and_authors_are_printed_harmlessly(command: str, folder: Path, unseen: Run, write_posts: Run) -> None:
    write_posts(
        folder / "posts.csv",
        edit=lambda number, row: {"label": f"{row['label']}{ESCAPE}", "user": f"{row['user']}{ESCAPE}"},
    )
    answer = unseen(*command.split())
    assert answer.code in (0, 1), answer.err
    for shown in (answer.out, answer.err):
        assert all(line.isprintable() for line in shown.split("\n"))


def test_a_fault_of_our_own_is_one_message_and_not_the_code_of_a_gate(monkeypatch, capsys, tmp_path):
    from unseen import cli

    def broken() -> None:
        raise ZeroDivisionError("so it goes \x1b[31m")

    file = tmp_path / "odd.csv"
    file.write_text("text,label\n")
    monkeypatch.setattr(cli, "program", lambda: broken)
    monkeypatch.setattr("sys.argv", ["unseen", "split", str(file)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    said = capsys.readouterr().err
    assert caught.value.code == cli.UNFORESEEN == 70
    assert "ZeroDivisionError" in said
    assert str(file) in said
    assert "please report it" in said
    assert "\x1b" not in said
    assert "Traceback" not in said
