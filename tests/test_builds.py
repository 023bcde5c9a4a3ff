"""What builds run: the steps of action.yml in a shell, and the hook of pre-commit."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from finished_runs import posts, run_here
from unseen.evaluation.gates import Gate

ROOT = Path(__file__).resolve().parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOK, LINT_HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
AUDIT = "audit data 'my posts.csv' --id id --parts part"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """posts.csv under a name with a blank, and programs: unseen, and a python that does not install."""
    posts(tmp_path)
    (tmp_path / "posts.csv").rename(tmp_path / "my posts.csv")
    (tmp_path / "bin").mkdir()
    programs = {
        "unseen": f'exec {shlex.quote(sys.executable)} -m unseen "$@"',
        "python": 'printf "%s\\n" "$@" > installed.txt',
    }
    for name, line in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def filled(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda name: inputs[name[1]], text)


def steps(folder: Path, **given: str) -> Iterator[subprocess.CompletedProcess[str]]:
    """Each step with a script, as GitHub runs it: bash that stops at the first error, inputs in variables."""
    inputs = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    for step in ACTION["runs"]["steps"]:
        needs_baseline = "inputs.baseline != ''" in step.get("if", "")
        if "run" not in step or (needs_baseline and not inputs["baseline"]):
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        variables = {name: filled(value, inputs) for name, value in step["env"].items()}
        about = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_ACTION_PATH": "/action"}
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        yield subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder, env={**os.environ, **about, **variables, "PATH": path}, capture_output=True, text=True,
        )  # fmt: skip


def test_the_action_runs_and_judges(folder: Path) -> None:
    install, run = steps(folder, command=AUDIT, gate="findings.fail<=99\n\nfindings.warn<=99", extras="models")
    assert (install.returncode, run.returncode) == (0, 0), run.stderr
    assert (folder / "installed.txt").read_text().split() == ["-m", "pip", "install", "/action[models]"]
    assert (folder / "unseen-run" / "report.html").exists()
    names = [case.get("name") for case in ElementTree.parse(folder / "unseen-run.xml").iter("testcase")]
    assert names[:2] == ["findings.fail<=99", "findings.warn<=99"]
    assert "| passed | findings.warn" in (folder / "summary.md").read_text(encoding="utf-8")


def test_the_action_compares_with_a_baseline_whatever_came_of_the_run(folder: Path) -> None:
    with chdir(folder):
        assert run_here(*shlex.split(AUDIT), "--gate", "none", "-o", "before", "-q").code == 0
    given = {"baseline": "before", "baseline_gate": "difference.f1.macro>=-0.02", "out": "my run"}
    _, run, compare = steps(folder, command=AUDIT, gate="findings.fail<=0", **given)
    assert (run.returncode, compare.returncode) == (1, 0), compare.stderr
    text = (folder / "summary.md").read_text(encoding="utf-8")
    assert text.index("| FAILED | findings.fail") < text.index("### From before (A) to my run (B)")
    assert "| passed | difference.f1.macro" in text


def test_nothing_that_is_put_in_runs_as_code(folder: Path) -> None:
    evil = "$(touch ran) `touch ran`; touch ran"
    outcomes = list(steps(folder, command=f"{AUDIT} {evil}", gate=evil, baseline=evil, baseline_gate=evil, extras=evil))
    assert [outcome.returncode for outcome in outcomes] == [0, 2, 2]
    assert not (folder / "ran").exists()


def test_the_hook_runs(folder: Path) -> None:
    words = shlex.split(HOOK["entry"])
    assert (words[0], HOOK["pass_filenames"]) == ("unseen", False)
    assert re.search(HOOK["files"], "data/posts.csv")
    with chdir(folder):
        done = run_here(*words[1:], "my posts.csv", "--id", "id", "--parts", "part")
    assert done.code == 1
    assert "near" in done.out


def test_the_examples_of_the_page_are_of_this_action_and_this_hook(folder: Path) -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    github, gitlab, pre_commit = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL))
    (step,) = (step for step in github["jobs"]["unseen"]["steps"] if "/unseen@" in step["uses"])
    assert step["with"].keys() <= ACTION["inputs"].keys()
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.M)) == ACTION["inputs"].keys()
    for gate in [*step["with"]["gate"].splitlines(), step["with"]["baseline-gate"]]:
        assert Gate.parsed(gate)
    hook, lint_hook = pre_commit["repos"][0]["hooks"]
    (folder / "my posts.csv").rename(folder / "posts.csv")
    commands = [shlex.split(line)[1:] for line in gitlab["unseen"]["script"] if line.startswith("unseen ")]
    with chdir(folder):
        for words in [*commands, [*shlex.split(HOOK["entry"])[1:], *hook["args"]]]:
            done = run_here(*words, "-q")
            assert done.code == 0, done.err
        assert Path(gitlab["unseen"]["artifacts"]["reports"]["junit"]).exists()
    assert (hook["id"], lint_hook["id"]) == (HOOK["id"], LINT_HOOK["id"])
    assert re.search(lint_hook["files"], "results/page.md")


@pytest.mark.parametrize(("metric", "code"), [("F1", 1), ("macro F1", 0)])
def test_the_hook_of_tables_gets_the_files_that_changed(tmp_path: Path, metric: str, code: int) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"| model | {metric} |\n|---|---|\n| a | .7 |\n| b | .6 |\n")
    assert re.search(LINT_HOOK["files"], str(page))
    assert LINT_HOOK.get("pass_filenames", True)
    assert run_here(*shlex.split(LINT_HOOK["entry"])[1:], str(page), str(page)).code == code
