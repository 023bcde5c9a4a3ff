"""What decorators give to commands: the options of a run, its frame, and how replies are printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.testing import CliRunner

from unseen.cli.frame import Reply, gives_reply, makes_run
from unseen.cli.options import AuditGate


def invoked(command: Callable[..., Any], *words: str) -> Any:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(words))


def seen_by(decorator: Callable[..., Any], *words: str) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def command(frame: Any, name: str = "a") -> Reply:
        seen.update(frame, name=name)
        return Reply({}, "done")

    assert invoked(decorator(command), *words).exit_code == 0
    return seen


def test_the_frame_has_what_the_options_say_and_no_more() -> None:
    seen = seen_by(makes_run(workers=2), "--name", "b", "-o", "x", "--gate", "rows<=3")
    del seen["command"]
    assert seen == {"name": "b", "out": Path("x"), "seed": 42, "workers": 2, "gates": ["rows<=3"]}
    assert seen_by(makes_run(seed=None, gate=None, out=Path("out"))).keys() == {"name", "out", "command"}


def test_an_audit_fails_by_its_findings_unless_other_gates_are_typed() -> None:
    audit = makes_run(gate=AuditGate)
    assert seen_by(audit)["gates"] == ["findings.fail<=0"]
    assert seen_by(audit, "--gate", "none")["gates"] == []
    assert seen_by(makes_run())["gates"] == ()


def test_a_plan_is_announced_unless_quiet(capsys: Any) -> None:
    tells = makes_run(tells=lambda plan: f"{plan} trainings")
    seen_by(tells)["announce"](3)
    assert capsys.readouterr().err == "3 trainings\n"
    assert seen_by(tells, "--quiet")["announce"] is None


def test_an_option_that_a_command_declares_is_its_own() -> None:
    def command(frame: Any, seed: Annotated[int, typer.Option(help="Mine.")] = 7) -> Reply:
        return Reply({"seed": seed, "frame": sorted(frame)}, "")

    answer = invoked(makes_run()(command), "--json")
    assert json.loads(answer.stdout) == {"seed": 7, "frame": ["command", "gates", "out"]}
    assert "Mine." in invoked(makes_run()(command), "--help").stdout


def test_a_reply_is_json_or_for_people_and_can_fail() -> None:
    @gives_reply
    def command(well: bool = True) -> Reply:
        return Reply([Reply(1, "")], "for people", ["a remark"], passed=well)

    shown = invoked(command)
    assert (shown.stdout, shown.stderr, shown.exit_code) == ("for people\n", "a remark\n", 0)
    assert json.loads(invoked(command, "--json").stdout) == [{"content": 1, "shown": "", "remarks": [], "passed": True}]
    failed = invoked(command, "--quiet", "--no-well")
    assert (failed.stdout, failed.stderr, failed.exit_code) == ("for people\n", "", 1)
