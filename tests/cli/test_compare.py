"""`unseen runs compare`: the sentence first, every format, and the gate."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from two_runs import BETTER, HARD, LETTERS, run_folder, trainings, two_runs
from unseen.cli.runs import compare
from unseen.errors import InputError, UnknownNameError

app = typer.Typer()
app.command()(compare)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return two_runs(tmp_path, letters=LETTERS | {"closest": "RRTTRDII"}, recipe={"epochs": 5})


def test_the_sentence_comes_first_and_everything_follows(folders: tuple[Path, Path]) -> None:
    done = run(*folders)
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].startswith("B is better on closest by 4.3 points [")
    assert "Paired by model, family, split, seed." in lines
    assert any(line.split()[:6] == ["closest", "test", "f1.macro", ".510", ".553", ".043"] for line in lines)
    assert any("fall in A" in line for line in lines)
    assert "  recipe.epochs: 3 → 5" in lines
    assert "note: test rows differ on closest" in done.stderr


def test_quiet_prints_results_alone(folders: tuple[Path, Path]) -> None:
    done = run(*folders, "-q")
    assert done.stdout.startswith("B is better")
    assert "Paired by" not in done.stdout
    assert "recipe.epochs" not in done.stdout
    assert done.stderr == ""


def test_json_holds_everything(folders: tuple[Path, Path]) -> None:
    said = json.loads(run(*folders, "--json").stdout)
    assert [row["metric"] for row in said["differences"]] == ["difference.f1.macro"] * 2
    assert said["changed"]["settings"] == [{"name": "recipe.epochs", "a": "3", "b": "5"}]
    assert said["falls"][0]["difference"] == pytest.approx(-(sum(BETTER) - sum(HARD)) / 3)
    assert (said["only_a"], said["only_b"], said["apart"]) == ([], [], [])
    assert said["worst"] == pytest.approx(0, abs=1e-12)


def test_csv_is_one_table_of_exact_numbers(folders: tuple[Path, Path]) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*folders, "--format", "csv").stdout)))
    assert [row["family"] for row in rows] == ["random", "closest"]
    assert float(rows[1]["B − A"]) == pytest.approx(sum(BETTER) / 3 - sum(HARD) / 3, abs=1e-15)
    assert [row["rows"] for row in rows] == ["same", "other"]


@pytest.mark.parametrize(("form", "sign"), [("md", "| closest |"), ("tex", r"\begin{tabular}")])
def test_tables_for_documents(folders: tuple[Path, Path], form: str, sign: str) -> None:
    done = run(*folders, "--format", form)
    assert sign in done.stdout
    assert "fall in B" in done.stdout
    assert "B is better on closest" in done.stdout


@pytest.mark.parametrize(("allowed", "code"), [("0.02", 0), ("0.019", 1), ("0.5", 0)])
def test_the_gate_looks_at_the_worst_family(tmp_path: Path, allowed: str, code: int) -> None:
    a = run_folder(tmp_path / "a", {}, [*trainings("random", [0.80]), *trainings("closest", [0.5])])
    b = run_folder(tmp_path / "b", {}, [*trainings("random", [0.78]), *trainings("closest", [0.9])])
    done = run(a, b, "--gate", f"difference.f1.macro>=-{allowed}")
    assert done.exit_code == code
    assert (f"gate FAILED: difference.f1.macro>=-{allowed}: −.020 (random)" in done.stderr) == bool(code)
    assert f"gate passed: difference.f1.macro>=-{allowed}: .400 (closest)" in done.stderr
    assert done.stderr.count("gate ") == 2, "each family is judged once"


def test_the_gate_fails_when_nothing_was_paired(tmp_path: Path) -> None:
    a = run_folder(tmp_path / "a", {}, trainings("closest", HARD))
    b = run_folder(tmp_path / "b", {}, trainings("closest", BETTER, seeds=(1, 2, 3)))
    done = run(a, b, "--gate", "difference.f1.macro>=-0.5")
    assert done.exit_code == 1
    assert "gate FAILED: difference.f1.macro>=-0.5: not measured" in done.stderr


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (["--format", "mdd"], UnknownNameError, "did you mean 'md'"),
        (["--format", "csv", "--json"], InputError, "no effect"),
        (["--gate", "-0.1"], InputError, "is not a gate"),
        (["--gate", "difference.f1.macro>=nan"], InputError, "is not a gate"),
        (["--all", "-m", "f1.macro"], InputError, "no effect"),
        (["-m", "f1.micro"], UnknownNameError, "did you mean 'f1.macro'"),
    ],
)
def test_wrong_words_are_refused(
    folders: tuple[Path, Path], words: list[str], kind: type[Exception], said: str
) -> None:
    done = run(*folders, *words)
    assert done.stdout == ""
    assert isinstance(done.exception, kind)
    assert said in str(done.exception)


def test_the_help_says_which_run_is_the_new_one() -> None:
    text = " ".join(run("--help").stdout.replace("│", " ").split())
    assert "The new run. Differences are B minus A." in text
