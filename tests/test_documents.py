"""What the documents say is true: their examples run, their reference is the commands' own help."""

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import unseen

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [each.name for each in pkgutil.walk_packages(unseen.__path__, "unseen.") if each.name != "unseen.__main__"]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def posts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["text,label,user"]
    rows += [
        f"a text about {'tea' if i % 3 else 'rain'} number{i % 17} and more{i},{'ab'[i % 2]},u{i % 40}"
        for i in range(400)
    ]
    (tmp_path / "posts.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ids = unseen.load(tmp_path / "posts.csv").ids.to_pylist()
    said = ["id,a,b", *(f"{name},{0.2 + 0.6 * (i % 2)},{0.8 - 0.6 * (i % 2)}" for i, name in enumerate(ids))]
    (tmp_path / "predictions.csv").write_text("\n".join(said) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("code", blocks("python"), ids=range(len(blocks("python"))))
def test_python_of_the_readme_runs(posts, code):
    exec(compile(code, "README.md", "exec"), {})


def test_commands_of_the_readme_run(posts):
    commands = [line.partition("  #")[0] for line in "".join(blocks("sh")).splitlines() if line.startswith("unseen ")]
    assert len(commands) == 4
    for command in commands:
        arguments = [sys.executable, "-m", "unseen", *shlex.split(command)[1:]]
        done = subprocess.run(
            arguments, capture_output=True, text=True, cwd=posts, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}
        )
        assert done.returncode == 0, done.stderr
    assert (posts / "hard.csv").read_text(encoding="utf-8").startswith("id,part,cluster\n")


def test_reference_of_commands_is_what_help_says():
    checked = subprocess.run(
        [sys.executable, ROOT / "docs" / "write_cli.py", "--check"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_readme_names_every_splitter():
    from unseen.splits import SPLITTERS

    assert [name for name in SPLITTERS if f"`{name}`" not in README] == []


def test_links_of_documents_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert broken == []
