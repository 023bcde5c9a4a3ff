"""What the hub's own package makes of the scores of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from harmless import EVIL
from kind_folders import FOLDERS

from finished_runs import run_here
from two_runs import HARD, RANDOM, run_folder
from unseen.errors import InputError
from unseen.reports.hub_results import write_hub_results
from unseen.result_tables import read_all_tables
from unseen.result_tables.lint import lint_tables
from unseen.runs.frame import report
from unseen.store import read_measurements


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return run_folder(tmp_path / "run", {"random": RANDOM, "closest": HARD}, letters={"closest": "TTRRRDII"})


def test_the_card_and_the_results_are_what_the_hub_reads(folder: Path, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    done = run_here("runs", "export", str(folder), "--dataset", "me/mails", "-o", str(tmp_path / "page"))
    assert done.code == 0, done.err
    card = hub.ModelCard.load(tmp_path / "page" / "README.md")
    by_family = {result.dataset_config: result for result in card.data.eval_results}
    closest = by_family["closest"]
    assert closest.metric_value == pytest.approx(0.51)
    assert (closest.dataset_type, closest.dataset_name, closest.dataset_split) == ("me/mails", "mails", "test")
    assert (card.data.model_name, closest.task_type, closest.metric_type) == ("minilm", "text-classification", "f1")
    assert closest.metric_name.startswith("macro F1, 95 % interval [")
    assert "### minilm on mails" in card.text
    entries = hub.parse_eval_result_entries(
        yaml.safe_load((tmp_path / "page" / ".eval_results" / "unseen.yaml").read_text(encoding="utf-8"))
    )
    assert {(entry.task_id, entry.value) for entry in entries} >= {("closest", closest.metric_value)}
    assert {(entry.dataset_id, entry.date) for entry in entries} == {("me/mails", "2026-11-16")}


def test_without_the_id_of_the_data_there_are_no_eval_results(tmp_path: Path) -> None:
    result = report(FOLDERS["score"](tmp_path / "run", EVIL))
    (card,) = write_hub_results(result, tmp_path / "page")
    head = yaml.safe_load(card.read_text(encoding="utf-8").split("---\n")[1])
    (results,) = head["model-index"][0]["results"]
    assert (results["dataset"]["name"], results["metrics"][0]["type"]) == (EVIL, "accuracy")


def test_refusals(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scores that a model card shows"):
        write_hub_results(report(FOLDERS["audit"](tmp_path / "audit", "posts")), tmp_path / "page")
    with pytest.raises(InputError, match="OWNER/NAME"):
        write_hub_results(report(folder), tmp_path / "page", "mails")
    assert run_here("runs", "export", str(folder), "-o", str(folder)).code == 2
    assert not (tmp_path / "page").exists()


def test_a_run_and_what_it_exports_are_read_as_tables_of_results(folder: Path, tmp_path: Path) -> None:
    (measured,) = read_all_tables([folder])
    assert len(measured.rows) == len(read_measurements(folder / "measurements.csv"))
    write_hub_results(report(folder), tmp_path / "hub", "me/mails")
    long_form = [table for table in read_all_tables([tmp_path / "hub"]) if table.columns[2:] == ("metric", "value")]
    assert {Path(table.file).name for table in long_form} == {"README.md", "unseen.yaml"}
    for table in long_form:
        line = Path(table.file).read_text(encoding="utf-8").splitlines()[table.rows[-1][3].line - 1]
        assert line.strip().endswith(f"value: {table.rows[-1][3].text}")
    assert [finding for finding in lint_tables([measured, *long_form]) if finding.level == "fail"] == []
