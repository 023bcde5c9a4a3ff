from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unseen.cli.data import app
from unseen.data import catalogue, fetch
from unseen.data.catalogue import CardFile, CatalogueCard
from unseen.errors import FetchError, UnknownNameError, UnseenWarning

BODY = b"text,label\nhello,calm\n"
run = CliRunner()


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of a toy dataset that is not there yet, and a download that never fails."""
    public = CardFile(
        *("toy/a.csv", "https://example.org/a.csv", hashlib.sha256(BODY).hexdigest(), len(BODY)),
        reader="table",
        default=True,
        note="made up",
    )
    asked = CardFile("asked/a.csv", reader="table", default=True)
    known = [
        CatalogueCard(
            *(
                "toy",
                "Toy",
                "talk",
                "en",
                "https://example.org",
                "MIT",
                "Nobody 2020",
                "public",
                1234,
                ("calm", "loud"),
            ),
            files=(public, CardFile("toy/list.txt")),
            mapping={"0": "calm", "1": "loud"},
            traps=("It is made up.",),
        ),
        CatalogueCard(
            *("asked", "Asked", "talk", "en", "h", "none", "c", "on request", 5, ("calm", "loud"), (asked,)),
            instructions="write a letter",
        ),
    ]
    monkeypatch.setattr(catalogue, "cards", lambda: {each.name: each for each in known})

    def download(file: CardFile, target: Path, part: Path, progress: fetch.Progress | None) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(BODY)
        for done in (1, len(BODY)) if progress else ():
            progress(file.name, done, len(BODY))

    monkeypatch.setattr(fetch, "_download", download)
    return tmp_path


def test_ls_says_what_is_here(toy: Path) -> None:
    (toy / "toy").mkdir()
    (toy / "toy/list.txt").write_text("1")
    lines = run.invoke(app, ["ls", "--data-dir", str(toy)]).stdout.splitlines()
    assert lines[0].split() == ["name", "rows", "labels", "licence", "access", "here"]
    assert lines[1].split("  ")[0] == "toy"
    assert lines[1].endswith("in part")
    assert "1,234" in lines[1]
    assert lines[2].endswith("no")
    (toy / "toy/a.csv").write_bytes(BODY)
    listed = json.loads(run.invoke(app, ["ls", "--json", "--data-dir", str(toy)]).stdout)
    assert [each["here"] for each in listed] == ["yes", "no"]
    assert listed[0]["files"] == [str(toy / "toy/a.csv"), str(toy / "toy/list.txt")]


def test_fetch_prints_paths_on_stdout_and_progress_on_stderr(toy: Path) -> None:
    result = run.invoke(app, ["fetch", "toy", "--data-dir", str(toy)])
    assert result.exit_code == 0
    assert result.stdout == f"{toy / 'toy/a.csv'}  as published\n"
    assert result.stderr == f"fetching a.csv, {len(BODY)} bytes\n"


def test_fetch_quietly_prints_results_only(toy: Path) -> None:
    result = run.invoke(app, ["fetch", "toy", "--quiet", "--json", "--data-dir", str(toy)])
    assert result.stderr == ""
    assert json.loads(result.stdout)["files"] == [
        {"path": str(toy / "toy/a.csv"), "state": "as published", "sha256": hashlib.sha256(BODY).hexdigest()}
    ]


def test_warnings_of_a_download_are_notes_on_stderr(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: object) -> list[Path]:
        import warnings

        warnings.warn("no checksum is known", UnseenWarning, stacklevel=2)
        return []

    monkeypatch.setattr(fetch, "fetch", warn)
    assert "note: no checksum" in run.invoke(app, ["fetch", "toy", "--data-dir", str(toy)]).stderr
    assert run.invoke(app, ["fetch", "toy", "-q", "--data-dir", str(toy)]).stderr == ""


def test_fetch_of_what_cannot_be_fetched_raises(toy: Path) -> None:
    result = run.invoke(app, ["fetch", "asked", "--data-dir", str(toy)])
    assert isinstance(result.exception, FetchError)
    assert result.exception.fix == "write a letter"
    assert isinstance(run.invoke(app, ["fetch", "toys"]).exception, UnknownNameError)


def test_show_prints_every_field_and_verifies(toy: Path) -> None:
    absent = run.invoke(app, ["show", "toy", "--data-dir", str(toy)]).stdout
    for said in ("Toy", "talk", "0 = calm, 1 = loud", "MIT", "Nobody 2020", "It is made up.", "a.csv: absent"):
        assert said in absent
    (toy / "toy").mkdir()
    (toy / "toy/a.csv").write_bytes(BODY)
    assert "a.csv: as published" in run.invoke(app, ["show", "toy", "--data-dir", str(toy)]).stdout
    (toy / "toy/a.csv").write_bytes(b"other")
    shown = json.loads(run.invoke(app, ["show", "toy", "--json", "--data-dir", str(toy)]).stdout)
    assert [each["state"] for each in shown["copies"]] == ["changed", "absent"]
    assert shown["copies"][0]["sha256"] == hashlib.sha256(b"other").hexdigest()
    assert shown["traps"] == ["It is made up."]


def test_data_folder_may_come_from_the_environment(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (toy / "toy").mkdir()
    (toy / "toy/a.csv").write_bytes(BODY)
    monkeypatch.setenv("UNSEEN_DATA", str(toy))
    assert "a.csv: as published" in run.invoke(app, ["show", "toy"]).stdout


@pytest.mark.parametrize("name", sorted(catalogue.cards()))
def test_every_card_can_be_shown(name: str, tmp_path: Path) -> None:
    result = run.invoke(app, ["show", name, "--data-dir", str(tmp_path)])
    assert result.exit_code == 0
    assert all(trap in result.stdout for trap in catalogue.card(name).traps)
    assert json.loads(run.invoke(app, ["show", name, "--json", "--data-dir", str(tmp_path)]).stdout)["name"] == name


def test_command_line_imports_nothing_heavy() -> None:
    code = "import sys, unseen.cli.data; print(sorted({'pyarrow', 'numpy', 'rich.progress'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
