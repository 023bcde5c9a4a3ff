from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from filelock import Timeout
from hypothesis import example, given
from hypothesis import strategies as st

from unseen.errors import InputError
from unseen.store.files import (
    atomic,
    file_name,
    harmless,
    holds,
    lock,
    origin_from,
    read_json,
    sha256_of,
    twin_of,
    unharmed,
    write_json,
    write_text,
)
from unseen.types import Origin

HOSTILE = [
    "=cmd()",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "'x",
    "''",
    "-5",
    "+5.5",
    "a,b",
    "new\nline",
    '"',
    "ü 🙂",
    "",
]


@pytest.fixture
def umask() -> Iterator[int]:
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def test_an_atomic_file_appears_whole_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    with atomic(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt, OSError])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path: Path, kind: type[BaseException]) -> None:
    path = write_text(tmp_path / "a.txt", "old")
    with pytest.raises(kind), atomic(path) as temporary:  # noqa: PT012
        temporary.write_text("half of the n")
        raise kind
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_kill_in_the_middle_of_a_write_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.txt", "old")
    program = (
        "import sys, time; from unseen.store.files import atomic\n"
        "with atomic(sys.argv[1]) as temporary, temporary.open('w') as file:\n"
        "    file.write('half'); file.flush(); print('written', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"written\n"
        writer.send_signal(signal.SIGKILL)
    assert path.read_text() == "old"
    assert write_text(path, "again").read_text() == "again"


def test_files_get_the_mode_the_umask_allows(tmp_path: Path, umask: int) -> None:
    path = write_text(tmp_path / "a.txt", "x")
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        write_text(tmp_path, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_device_or_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        write_text(tmp_path / "pipe", "x")
    assert (tmp_path / "pipe").is_fifo()


def test_a_folder_that_cannot_be_made_is_wrong_input(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "x")
    with pytest.raises(InputError, match=r"cannot write .*file/b"):
        write_text(tmp_path / "file" / "b", "x")


@pytest.mark.parametrize("field", HOSTILE)
def test_no_spreadsheet_runs_a_harmless_field(field: str) -> None:
    shown = harmless(field)
    assert shown[:1] not in set("=+-@\t\r") or float(shown)


@given(st.text())
@example("'=x")
@example("-5\n")
def test_unharmed_undoes_harmless(field: str) -> None:
    assert unharmed(harmless(field)) == field


@given(
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15).map(lambda x: round(x, 3))
)
def test_plain_numbers_stay_as_they_are(number: float) -> None:
    text = f"{number:f}" if isinstance(number, float) else str(number)
    assert harmless(text) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(content=st.dictionaries(st.text(), JSON, max_size=3))
@example(content={"a file name that is not UTF-8": "caf\udce9"})
def test_json_comes_back_as_it_was_written(tmp_path: Path, content: dict[str, object]) -> None:
    assert read_json(write_json(tmp_path / "a.json", content)) == content


def test_json_is_readable_and_knows_numpy_paths_and_sets(tmp_path: Path) -> None:
    content = {"é": np.float32(0.5), "b": np.arange(2), "c": Path("x"), "d": {2, 1}, "e": range(3, 5), "f": np.True_}
    path = write_json(tmp_path / "a.json", content)
    assert read_json(path) == {"é": 0.5, "b": [0, 1], "c": "x", "d": [1, 2], "e": [3, 4], "f": True}
    assert "é" in path.read_text(encoding="utf-8")
    assert path.read_text().endswith("}\n")


def test_what_has_no_json_form_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", {"old": 1})
    with pytest.raises(TypeError, match="object has no JSON form"):
        write_json(path, {"new": object()})
    assert read_json(path) == {"old": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[1]", "does not hold a JSON object"),
        (None, "there is no file"),
    ],
)
def test_json_that_cannot_be_read_is_wrong_input(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_json(path)
    assert str(path) in str(caught.value)
    assert not holds(path, set())


def test_a_twin_of_somebody_elses_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "posts.npy"
    assert twin_of(path, {"ours"}) == tmp_path / "posts.json"
    write_json(tmp_path / "posts.json", {"ours": 1, "more": 2})
    assert twin_of(path, {"ours"}) == tmp_path / "posts.json"
    (tmp_path / "posts.json").write_text(json.dumps([{"text": "a post"}]))
    with pytest.raises(InputError, match="would be overwritten"):
        twin_of(path, {"ours"})


def test_sha256_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256_of(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_an_origin_comes_back_and_unknown_keys_are_left_out() -> None:
    origin = Origin("closest.v1", {"test": 0.1}, 42, {"data": "f"}, {"numpy": "2"})
    assert origin_from({**vars(origin), "later": 1}) == origin
    assert origin_from({"step": "given"}) == Origin("given")


def test_names_become_names_of_files() -> None:
    assert file_name("org/model v2") == "org_model_v2"
    long = [file_name("ä" * 300 + end) for end in "ab"]
    assert long[0] != long[1]
    assert max(len(each.encode()) for each in long) <= 120


HOLD = (
    "import sys, time\nfrom pathlib import Path\nfrom unseen.store.files import lock\n"
    "with lock(Path(sys.argv[1]), wait=True):\n    print('held', flush=True)\n    time.sleep(600)"
)


def test_a_lock_is_free_again_when_its_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Timeout), lock(path, wait=False):
        pass
    holder.kill()
    holder.wait()
    with lock(path, wait=False):
        pass


def test_any_thread_may_end_what_another_began(tmp_path: Path) -> None:
    held = lock(tmp_path / "lock", wait=False).acquire()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(held.__exit__, None, None, None).result()
    with lock(tmp_path / "lock", wait=False):
        pass
