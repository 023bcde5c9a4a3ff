"""`unseen runs track` hands a folder to a tracker and says where it went."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from unseen.cli.runs import track
from unseen.reports import tracking
from unseen.reports.tracking import Tracked

app = typer.Typer()
app.command()(track)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    made: list[Any] = []

    def log(run: Path, to: str, **given: Any) -> Tracked:
        made.append((run, to, given))
        return Tracked(to, "r1", "file:///store", 9, 5)

    monkeypatch.setattr(tracking, "track", log)
    return made


def test_it_says_where_the_run_is(calls: list[Any]) -> None:
    done = CliRunner().invoke(app, ["out", "--to", "mlflow", "--project", "p"])
    assert done.stdout == "mlflow run r1 at file:///store: 9 numbers, 5 files\n"
    assert calls == [(Path("out"), "mlflow", {"project": "p", "texts": False})]


def test_json_and_quiet(calls: list[Any]) -> None:
    said = json.loads(CliRunner().invoke(app, ["out", "--to", "wandb", "--texts", "--json"]).stdout)
    assert said == {"to": "wandb", "run": "r1", "address": "file:///store", "metrics": 9, "files": 5}
    assert calls[0][2]["texts"] is True
    assert CliRunner().invoke(app, ["out", "--to", "wandb", "-q"]).stdout.startswith("wandb run r1")


def test_a_tracker_must_be_named(calls: list[Any]) -> None:
    assert CliRunner().invoke(app, ["out"]).exit_code == 2
    assert calls == []
