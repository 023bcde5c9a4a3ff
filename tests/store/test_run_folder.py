"""A run folder: one process at a time, and files where people look for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unseen.errors import InputError
from unseen.store.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path / "run")
    with made.locked():
        pass
    return made


def test_published_files_are_the_results(folder: RunFolder) -> None:
    with folder.results.writing("key", {}) as place:
        (place / "model").mkdir()
        (place / "model" / "weights.safetensors").write_bytes(b"weights")
        (place / "split.csv").write_text("id,part")
        (place / "split.json").write_text("{}")
    folder.publish("key", "model", "models/mine")
    folder.publish("key", "split.csv", "splits/closest.csv")
    folder.publish("key", "nothing.txt", "nothing.txt")
    assert (folder / "models/mine/weights.safetensors").read_bytes() == b"weights"
    assert (folder / "splits/closest.csv").read_text() == "id,part"
    assert (folder / "splits/closest.json").read_text() == "{}"
    assert not (folder / "nothing.txt").exists()
    (folder / "splits/closest.csv").write_text("edited")
    folder.publish("key", "model", "models/mine")
    assert folder.results.has("key")


def test_two_processes_cannot_write_to_one_folder(folder: RunFolder) -> None:
    program = (
        "import sys\nfrom unseen.store.run_folder import RunFolder\nfrom unseen.errors import InputError\n"
        "try:\n  with RunFolder(sys.argv[1]).locked(): print('got it')\n"
        "except InputError as error: print(error.message)"
    )

    def other() -> str:
        command = [sys.executable, "-c", program, str(folder.path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with folder.locked():
        assert "another run is writing" in other()
    assert other() == "got it\n"


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("years of work")
    with pytest.raises(InputError, match="other things"), RunFolder(tmp_path).locked():
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.doc"]
    (tmp_path / "run.json").write_text("{}")
    with RunFolder(tmp_path).locked():
        pass


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to"), RunFolder(tmp_path / "file" / "run").locked():
        pass


def test_a_run_that_came_to_nothing_stands_in_nobodys_way(folder: RunFolder) -> None:
    folder.begin({"models": "mistyped"})
    folder.begin({"models": "right"})
    (folder / "predictions").mkdir()
    (folder / "predictions" / "right.parquet").write_bytes(b"hours of work")
    with pytest.raises(InputError, match="holds another run") as refused:
        folder.begin({"models": "another"})
    assert "replace" not in str(refused.value)
    with pytest.raises(InputError, match="replace=True"):
        folder.begin({"models": "another"}, replace=False)
