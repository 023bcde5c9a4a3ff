"""What the documents say is true: their examples run, their reference is the commands' own help."""

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from typer.main import get_command

import unseen
from finished_runs import run_here
from unseen.cli import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [each.name for each in pkgutil.walk_packages(unseen.__path__, "unseen.") if each.name != "unseen.__main__"]


def blocks(language, page="README.md"):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


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
    (tmp_path / "cases.csv").write_text(
        "functionality,text,label\ntea,more tea,a\nrain,more rain,b\n", encoding="utf-8"
    )
    return tmp_path


def test_the_documents_write_the_full_names_of_commands():
    """Short ones, `unseen bench`, are told once, in the tour."""
    groups = get_command(app).commands
    inner = {name for group in groups.values() for name in getattr(group, "commands", {})} - {*groups}
    pages = {page: page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]}
    short = [
        f"{page.relative_to(ROOT)}: {name}"
        for page, text in pages.items()
        for name in re.findall(r"(?:^|`)unseen ([a-z]+)(?=[ `\n])", text, flags=re.MULTILINE)
        if name in inner
    ]
    assert short == ["docs/tour.md: bench"]


@pytest.mark.parametrize("code", blocks("python"), ids=range(len(blocks("python"))))
def test_python_of_the_readme_runs(posts, code, monkeypatch):
    """As it stands, but with fewer trainings."""
    less = {"seeds": (42,), "random_splits": 1, "seen_folds": 1, "space_seeds": 0, "params": {"epochs": 2}}
    monkeypatch.setattr(unseen, "stress", partial(unseen.stress, **less))
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.parametrize("code", blocks("python", "docs/tour.md"), ids=range(len(blocks("python", "docs/tour.md"))))
def test_python_of_the_tour_runs(posts, code):
    exec(compile(code, "docs/tour.md", "exec"), {})


def test_python_of_the_page_on_data_runs(posts):
    names = {}
    for code in blocks("python", "docs/data.md"):
        exec(compile(code, "docs/data.md", "exec"), names)
    assert names["shown"]["text"].str.startswith("a text about").all()


@pytest.fixture(scope="module")
def kept_steps(tmp_path_factory):
    """Where stress keeps its steps: pages begin with the same run, and what one trained another need not train."""
    return tmp_path_factory.mktemp("steps")


LESS = {
    "stress": "--seeds 42 --random-splits 1 --seen-folds 1 --space-seeds 0 --workers 1",
    "study": "--engine inline",
}
FEW_EPOCHS = {"neural": "--set epochs=2", "minilm": "--set epochs=1 --limit 60"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "count"), [("README.md", 1), ("docs/tour.md", 13), ("docs/tutorial.md", 7), ("docs/ci.md", 3)]
)
def test_commands_of_the_documents_run(posts, page, count, kept_steps):
    """As they stand, but in one process, with fewer trainings, and with fewer rows where a transformer is trained."""
    (posts / "study.toml").write_text("".join(blocks("toml", page)), encoding="utf-8")
    lines = "".join(blocks("sh", page)).splitlines()
    commands = [shlex.split(line.partition("  #")[0]) for line in lines if line.startswith("unseen ")]
    assert len(commands) == count
    for command in commands:
        less = LESS.get(command[1], "").split()
        if command[1] == "stress":
            less += FEW_EPOCHS[command[command.index("--model") + 1]].split()
            out = posts / command[command.index("--out") + 1]
            if not out.exists() and "--plan" not in command:
                out.mkdir()
                (out / ".steps").symlink_to(kept_steps)
        done = run_here(*command[1:], *less)
        assert done.code == 0, done.err


def test_reference_of_commands_is_what_help_says():
    checked = subprocess.run(
        [sys.executable, ROOT / "docs" / "write_cli.py", "--check"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_tour_names_every_splitter():
    from unseen.splits import SPLITTERS

    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    assert [name for name in SPLITTERS if f"`{name}`" not in tour] == []


def test_links_of_documents_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert broken == []


def test_the_reference_of_python_has_every_public_name_in_the_order_of_the_docstring() -> None:
    listed = re.findall(
        r"^::: ([\w.]+)\.(\w+)$", (ROOT / "docs/api.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    names = [name for _, name in listed]
    assert sorted(names) == sorted(unseen.__all__)
    assert all(getattr(importlib.import_module(place), name) is getattr(unseen, name) for place, name in listed)
    described = dict.fromkeys(name for name in re.findall(r"`(\w+)[`(]", unseen.__doc__ or "") if name in names)
    assert [name for name in names if name in described] == list(described)
    assert {name for name in names if name.islower()} <= described.keys()
