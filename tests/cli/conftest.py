"""A folder with a small table in it, and the program run inside that folder."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from unseen.cli import main

TOPICS = (("rain", "wind", "cloud", "storm"), ("bread", "soup", "salt", "pan"), ("goal", "team", "ball", "match"))
Row = dict[str, str]
Edit = Callable[[int, Row], Mapping[str, str]]


class Done(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


def row(number: int) -> Row:
    """One made-up post: three topics, two labels that do not follow them, twelve authors of five posts each."""
    topic = TOPICS[number % 3]
    words = (topic[number % 4], topic[number // 2 % 4], topic[number // 5 % 4])
    return {
        "id": f"p{number:02}",
        "text": f"{' '.join(words)} in post number {number}",
        "label": ("calm", "loud")[number * 7 // 3 % 2],
        "user": f"u{number // 5:02}",
        "source": ("app", "mail", "web")[number % 3],
        "day": f"2024-{1 + number // 28:02}-{1 + number % 28:02}",
        "part": "test" if number % 5 == 0 else "train",
    }


@pytest.fixture(scope="session")
def write_posts() -> Callable[..., Path]:
    """`write_posts(path, n=60, edit=…)` writes posts; `edit(number, row)` returns the fields to change."""

    def write(path: Path, n: int = 60, edit: Edit = lambda number, row: {}) -> Path:
        rows = [made | edit(number, made) for number in range(n) for made in [row(number)]]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_posts: Callable[..., Path]) -> Path:
    """The current folder, with posts.csv in it."""
    monkeypatch.chdir(tmp_path)
    write_posts(tmp_path / "posts.csv")
    return tmp_path


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """`unseen("split", "posts.csv", …)` is the command in this process; an error nobody meant is raised."""

    def run(*words: str) -> Done:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["unseen", *words])
        code: Any = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def program() -> Callable[..., Done]:
    """`program("split", …, cwd=…)` is the real program in an interpreter of its own, which takes seconds to start."""

    def run(*words: str, **settings: Any) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "unseen", *words], capture_output=True, text=True, encoding="utf-8", **settings
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


WARM = """
import json, os, runpy, sys
import transformers.models.bert.modeling_bert, unseen.cli.hints, unseen.runs.stress, unseen.training.transformer
unseen.cli.hints.program()
for line in sys.stdin:
    words, folder, *streams = json.loads(line)
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
os.chdir(folder)
for number, path in enumerate(streams):
    os.dup2(os.open(path, os.O_WRONLY if number else os.O_RDONLY), number)
sys.stdin, sys.argv = open(0, encoding="utf-8"), ["unseen", *words]
code = 0
try:
    runpy.run_module("unseen", run_name="__main__")
except SystemExit as ended:
    code = ended.code or 0
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)  # taking apart all that was imported takes seconds
"""
"""Has imported what commands need; each line asks for one of them, in a fork."""


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Done]]:
    """`forked("split", …, cwd=…, input=…)` is the program in a process of its own, forked from a warm interpreter."""
    streams = [tmp_path_factory.mktemp("streams") / name for name in ("input", "out", "err")]
    with subprocess.Popen(
        [sys.executable, "-c", WARM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout

        def run(*words: str, cwd: Path, input: str = "") -> Done:
            for path, content in zip(streams, (input, "", ""), strict=True):
                path.write_text(content, encoding="utf-8")
            print(json.dumps([words, str(cwd), *map(str, streams)]), file=server.stdin, flush=True)
            code = int(server.stdout.readline())
            return Done(code, *(path.read_text(encoding="utf-8") for path in streams[1:]))

        yield run
        server.stdin.close()
