"""A run folder: steps are done once, by one process at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unseen.errors import InputError
from unseen.study.folder import RunFolder, key_of


class Counter:
    """A step that writes a file and counts how often it was done."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder, self.times = folder, 0

    def __call__(self) -> None:
        self.times += 1
        (self.folder / "result.txt").write_text("done")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path / "run")
    with made.locked():
        pass
    return made


def test_a_step_is_done_once(folder: RunFolder) -> None:
    make = Counter(folder)
    keys = [folder.step("one", {"seed": 1}, ["result.txt"], make) for _ in range(3)]
    assert make.times == 1
    assert len(set(keys)) == 1
    assert [each["step"] for each in folder.timings(["one", "two"])] == ["one"]
    assert folder.has("one")
    assert not folder.has("two")


def test_it_is_done_again_when_what_decides_it_changes_or_its_file_is_gone(folder: RunFolder) -> None:
    make = Counter(folder)
    folder.step("one", {"seed": 1}, ["result.txt"], make)
    folder.step("one", {"seed": 2}, ["result.txt"], make)
    assert make.times == 2
    (folder / "result.txt").unlink()
    folder.step("one", {"seed": 2}, ["result.txt"], make)
    assert make.times == 3
    folder.step("two", {"seed": 2}, ["result.txt"], make)
    assert make.times == 4


def test_a_step_that_fails_leaves_no_record(folder: RunFolder) -> None:
    def broken() -> None:
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        folder.step("one", {}, ["result.txt"], broken)
    with pytest.raises(InputError, match="has not written result"):
        folder.step("one", {}, ["result.txt"], lambda: None)
    assert not folder.has("one")


def test_keys() -> None:
    assert key_of("a", {"x": 1, "y": 2}) == key_of("a", {"y": 2, "x": 1})
    assert len({key_of("a", {"x": 1}), key_of("b", {"x": 1}), key_of("a", {"x": 2}), key_of("a", {"y": 1})}) == 4


def test_two_processes_cannot_write_to_one_folder(folder: RunFolder) -> None:
    program = (
        "import sys\nfrom unseen.study.folder import RunFolder\nfrom unseen.errors import InputError\n"
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
