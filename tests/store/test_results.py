"""Results of steps: whole or not there, whoever writes them and whenever they are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unseen.errors import InputError
from unseen.store.results import Results

KEY = "ab" + "0" * 62


def write(results: Results, content: str = "found") -> None:
    with results.writing(KEY, {"step": "one"}) as folder:
        (folder / "inside").mkdir()
        (folder / "inside" / "file.txt").write_text(content)


def test_a_result_is_there_when_it_is_whole(tmp_path: Path) -> None:
    results = Results(tmp_path)
    assert not results.has(KEY)
    results.scratch(KEY).mkdir(parents=True)
    write(results)
    assert results.has(KEY)
    assert (results.folder(KEY) / "inside" / "file.txt").read_text() == "found"
    assert list(results.record(KEY)["files"]) == ["inside/file.txt"]
    assert results.record(KEY)["step"] == "one"
    assert not results.scratch(KEY).exists()


@pytest.mark.parametrize("damage", ["shorter", "gone", "record"])
def test_a_damaged_result_is_not_there_and_can_be_written_again(tmp_path: Path, damage: str) -> None:
    results = Results(tmp_path)
    write(results)
    file = results.folder(KEY) / "inside" / "file.txt"
    if damage == "shorter":
        file.write_text("f")
    elif damage == "gone":
        file.unlink()
    else:
        (results.folder(KEY) / "step.json").write_text("{")
    assert not results.has(KEY)
    write(results, "again")
    assert results.has(KEY)
    assert file.read_text() == "again"


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    results = Results(tmp_path)

    def fail() -> None:
        with results.writing(KEY, {}) as folder:
            (folder / "half.txt").write_text("half")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        fail()
    assert not results.has(KEY)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_step_is_claimed_by_one_process_at_a_time(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom unseen.store.results import Results\nresults = Results(sys.argv[1])\n"
        "print('waiting', flush=True)\nwith results.claimed(sys.argv[2]): print('mine', flush=True)"
    )
    with Results(tmp_path).claimed(KEY):
        command = [sys.executable, "-c", program, str(tmp_path), KEY]
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert other.stdout is not None
        assert other.stdout.readline() == "waiting\n"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.5)
    assert other.stdout.readline() == "mine\n"
    assert other.wait(30) == 0


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to"):
        write(Results(tmp_path / "file"))
