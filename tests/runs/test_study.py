"""Whole studies: every step once, the same numbers everywhere, gates, failures, reuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.engines import ENGINES, Inline
from unseen.reports.facts import read_card_facts
from unseen.reports.record import read_record
from unseen.reports.split_card import scores as card_scores
from unseen.reports.study_tables import (
    cells_of,
    control_of,
    cross_model,
    curves,
    fall_of,
    headline,
    level_of,
    scores,
    sensitivity_tables,
)
from unseen.runs.study import Grid, load_sources, plan_study, run_study
from unseen.runs.study_file import read_study
from unseen.store import read_json, read_measurements, read_split
from unseen.types.numbers import scored

STUDY = """
title = "Small"
seed = 7
[data.sample]
limit = 300
slices = ["source"]
[model.neural]
epochs = 2
[model.tfidf]
use = "logistic"
[space.all]
model = ["neural", "tfidf"]
[split.random]
seeds = [1, 2]
[split.closest]
seeds = [1, 2]
n_clusters = "3..24"
[train]
seeds = [1, 2]
[measure]
seen_folds = 1
[[experiment]]
name = "all"
models = ["own", "tfidf"]
"""


def write(folder: Path, content: str = STUDY, name: str = "study.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    return folder / name


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    done = run_study(write(folder), engine=Inline(), out=folder / "out", store=folder / "store")
    assert done.passed
    assert not done.failures
    return folder


def test_the_folder_of_a_study(ran: Path) -> None:
    names = {each.name for each in (ran / "out").iterdir()}
    assert names >= {
        "run.json", "measurements.csv", "properties.csv", "findings.csv", "report.html", "card.md", "croissant.json",
        "splits", "maps", "tables",
    }  # fmt: skip
    splits = sorted(path.stem for path in (ran / "out" / "splits").glob("*.csv"))
    assert splits == [
        "sample.neural-own.closest.1", "sample.neural-own.closest.2", "sample.random.1", "sample.random.2",
        "sample.tfidf-own.closest.1", "sample.tfidf-own.closest.2",
    ]  # fmt: skip
    about = read_json(ran / "out" / "run.json")
    assert about["failures"] == {}
    assert {each["work"] for each in about["costs"]} >= {"learn_space", "encode", "split", "train", "write_scores"}


def test_the_falls_of_own_splits_are_taken_apart(ran: Path) -> None:
    rows = read_measurements(ran / "out" / "measurements.csv")
    parts = [row for row in rows if row.metric == "fall.novelty.f1.macro"]
    assert {(row.tags["space"], row.tags["model"]) for row in parts} == {
        ("neural-own", "neural"),
        ("tfidf-own", "tfidf"),
    }
    table = (ran / "out" / "tables" / "sample-scores.csv").read_text(encoding="utf-8").splitlines()
    assert table[0].endswith("fall of macro F1,seen,selection,novelty")


def test_every_cell_has_its_scores_and_falls(ran: Path) -> None:
    run = read_record(ran / "out", "study")
    assert {(cell.space, cell.family, cell.model, cell.own) for cell in cells_of(run)} == {
        ("", "random", "neural", True), ("", "random", "tfidf", True),
        ("neural-own", "closest", "neural", True), ("neural-own", "closest", "tfidf", False),
        ("tfidf-own", "closest", "tfidf", True),
    }  # fmt: skip
    for cell in cells_of(run):
        level = level_of(run, cell, "f1.macro")
        assert level is not None
        assert level.value is not None
        control = control_of(run, cell)
        assert control is not None
        fall = fall_of(run, cell)
        if cell.family == "random":
            assert fall is None
        else:
            before = level_of(run, control, "f1.macro")
            assert fall is not None
            assert before is not None
            assert fall.value == pytest.approx((before.value or 0) - level.value)


def test_the_numbers_are_those_of_stress(ran: Path, tmp_path: Path) -> None:
    """A stress run of the same model, data and seeds draws the same independent rows and trains the same models."""
    from unseen.runs.source import limited

    data = limited(unseen.load("sample"), 300, 7)
    unseen.stress(
        data, model="neural", params={"epochs": 2}, out=tmp_path / "run", seed=7, seeds=[1, 2], random_splits=2,
        splits=["random", "closest"],
    )  # fmt: skip
    study = read_split(ran / "out" / "splits" / "sample.random.1.csv", data)
    stress = read_split(tmp_path / "run" / "splits" / "random-1.csv", data)
    np.testing.assert_array_equal(study.rows("independent"), stress.rows("independent"))


def test_overlaps_and_correlations_are_there(ran: Path) -> None:
    rows = read_measurements(ran / "out" / "measurements.csv")
    shares = {(row.tags["a"], row.tags["b"]): row.value for row in rows if row.metric == "test_overlap"}
    assert shares.keys() == {
        ("neural-own", "neural-own"), ("neural-own", "tfidf-own"), ("tfidf-own", "tfidf-own"),
    }  # fmt: skip
    data = unseen.load("sample")
    from unseen.runs.source import limited

    data = limited(data, 300, 7)
    tests = [
        set(read_split(ran / "out" / "splits" / f"sample.neural-own.closest.{seed}.csv", data).rows("test"))
        for seed in (1, 2)
    ]
    assert shares["neural-own", "neural-own"] == pytest.approx(len(tests[0] & tests[1]) / len(tests[0]))
    correlated = [row for row in rows if row.metric == "pearson"]
    assert "unigram_overlap" in {row.tags["property"] for row in correlated}
    assert all(row.n <= 6 for row in correlated)


def test_a_finished_study_does_nothing_again_and_another_uses_its_results(
    ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.training import linear, neural

    def refuse(*given: object) -> Any:
        raise AssertionError("trained again")

    monkeypatch.setattr(neural.HashedNetwork, "fit", refuse)
    monkeypatch.setattr(linear.LogisticRegression, "fit", refuse)
    before = (ran / "out" / "measurements.csv").read_bytes()
    again = run_study(ran / "study.toml", engine=Inline(), out=ran / "out", store=ran / "store")
    assert again.passed
    assert (ran / "out" / "measurements.csv").read_bytes() == before
    other = write(ran, STUDY.replace('models = ["own", "tfidf"]', 'splits = "closest"'), "other.toml")
    done = run_study(other, engine=Inline(), out=ran / "other", store=ran / "store")
    assert done.passed
    assert all(each["reused"] for each in read_json(done.folder / "run.json")["costs"] if each["work"] == "train")


def test_the_plan_counts_what_is_there(ran: Path, tmp_path: Path) -> None:
    fresh, steps = plan_study(ran / "study.toml", store=tmp_path / "none")
    assert (fresh.trainings, fresh.trainings_done, fresh.done) == (10 + 4, 0, 0)  # a fold of each hard split of its own
    assert sum(fresh.steps.values()) == len(steps)
    assert not (tmp_path / "none").exists()
    done, steps = plan_study(ran / "study.toml", store=ran / "store")
    assert (done.trainings_done, done.done) == (14, len(steps))
    assert all(is_done for _, is_done in steps)


def test_gates_decide(ran: Path) -> None:
    gates = [
        "fall.f1.macro where split=closest <= -1", "accuracy where split=random >= 0.01",
        "fall.f1.macro where split=random <= 1",
    ]  # fmt: skip
    study = write(ran, f"gates = {gates}\n{STUDY}", "gated.toml")
    done = run_study(study, engine=Inline(), out=ran / "gated", store=ran / "store")
    passed = {gate: {outcome.passed for outcome in done.gates if outcome.gate == gate} for gate in gates}
    assert list(passed.values()) == [{False}, {True}, {False}]
    assert not done.passed
    falls = [
        row.value
        for row in read_measurements(ran / "out" / "measurements.csv")
        if (row.metric, row.tags.get("part")) == ("fall.f1.macro", "test")
    ]
    gated = [outcome.value for outcome in done.gates if outcome.gate == gates[0]]
    assert sorted(gated) == pytest.approx(sorted(value for value in falls if value is not None))  # type: ignore[type-var]
    assert done.gates[-1].value is None
    places = [outcome.place for outcome in done.gates if outcome.gate == gates[0]]
    assert places == ["neural, neural-own", "tfidf, neural-own", "tfidf, tfidf-own"]


def test_a_step_that_fails_costs_only_what_needs_it(tmp_path: Path) -> None:
    impossible = STUDY + "\n[split.subset-sum]\nn_clusters = 5000\n"
    done = run_study(write(tmp_path, impossible), engine=Inline(), out=tmp_path / "out", store=tmp_path / "store")
    assert not done.passed
    assert {name for name, said in done.failures.items() if "not begun" not in said} == {
        "split sample.neural-own.subset-sum.7", "split sample.tfidf-own.subset-sum.7",
    }  # fmt: skip
    run = read_record(done.folder, "study")
    assert level_of(run, next(cell for cell in cells_of(run) if cell.family == "closest"), "f1.macro") is not None
    assert "not begun" in done.report.read_text()


def test_sizes_that_vary_are_compared_with_random_splits_of_the_same_size(tmp_path: Path) -> None:
    study = read_study(write(tmp_path, STUDY.replace('n_clusters = "3..24"', "vary.test = [0.1, 0.3]")))
    grid = Grid(study, load_sources(study))
    for cell in grid.cells:
        control = grid.control_of(cell)
        assert control.test == cell.test
        assert control in grid.cells
    cuts = [cut for cell in grid.cells for cut in grid.cuts(cell).items() if not cell.space]
    sizes = {name: cut.settings["knobs"]["test_size"] for name, cut in cuts}
    assert sizes == {
        "sample.random.1": 0.1,
        "sample.random.2": 0.1,
        "sample.random test=0.3.1": 0.3,
        "sample.random test=0.3.2": 0.3,
    }


def test_two_models_of_one_name(tmp_path: Path) -> None:
    from unseen.errors import InputError

    clash = '[model.minilm]\n[model.minilm-bottleneck-50]\nuse = "minilm"\nbottleneck = 40\n[space.minilm]\n'
    study = read_study(write(tmp_path, STUDY.replace("[space.all]", f"{clash}[space.all]")))
    with pytest.raises(InputError, match="two models are called 'minilm-bottleneck-50'"):
        _ = Grid(study, load_sources(study)).cells


def test_added_training_data(tmp_path: Path) -> None:
    content = (
        STUDY.replace('models = ["own", "tfidf"]', 'splits = "closest"\nmodels = ["tfidf", "more"]')
        + '\n[data.extra]\nsource = "sample"\nlimit = 200\n[model.more]\nuse = "logistic"\nadd = "extra"\n'
    ).replace('name = "all"', 'name = "all"\ndata = "sample"\nspaces = "tfidf-own"')
    study = read_study(write(tmp_path, content))
    grid = Grid(study, load_sources(study))
    steps = {run.training.key for cell in grid.cells for run in grid.trained(cell) if cell.model == "more"}
    assert len(steps) == 4
    done = run_study(tmp_path / "study.toml", engine=Inline(), out=tmp_path / "out", store=tmp_path / "store")
    assert done.passed
    run = read_record(done.folder, "study")
    values = {cell.model: level_of(run, cell, "accuracy") for cell in cells_of(run) if cell.space}
    assert values["tfidf"] != values["more"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_every_engine_gives_the_same_numbers_though_a_worker_dies(ran: Path, tmp_path: Path, engine: str) -> None:
    """A worker is killed in the midst of a study: nothing is lost, nothing is done twice, the numbers are the same."""
    pytest.importorskip("ray" if engine == "ray" else "loky")
    log = tmp_path / "log"
    dying = STUDY.replace(
        "[model.tfidf]", f'[model.dying]\nuse = "own_recipes:Noted"\nlog = "{log}"\ndie = true\n[model.tfidf]'
    )
    dying = dying.replace(
        'models = ["own", "tfidf"]', 'models = ["own", "tfidf"]\nspaces = ["neural-own", "tfidf-own"]'
    )
    dying += '\n[[experiment]]\nname = "dying"\nspaces = []\nsplits = "random"\nmodels = ["dying"]\n'
    done = run_study(
        write(tmp_path, dying), engine=ENGINES.make(engine, workers=2), out=tmp_path / "out",
        store=tmp_path / "store", trust=True,
    )  # fmt: skip
    assert not done.failures
    assert Path(f"{log}.dead").exists()
    lines = log.read_text().splitlines()
    assert len(lines) == len(set(lines)) == 2
    ours = {key: value for key, value in _numbers(tmp_path / "out").items() if "dying" not in key}
    assert ours == _numbers(ran / "out")


def _numbers(folder: Path) -> dict[str, float | None]:
    rows = read_measurements(folder / "measurements.csv")
    return {
        f"{row.metric} {row.slice} {sorted(row.tags.items())}": row.value
        for row in rows
        if row.metric not in ("pearson", "spearman")
    }


SIZES = """
title = "Sizes"
[data.sample]
limit = 300
[model.tfidf]
use = "logistic"
[model.strong]
use = "logistic"
vary.C = [0.1, 10.0]
[space.tfidf]
[split.random]
[split.closest]
vary.test = [0.1, 0.3]
vary.dev = [0.1, 0.2]
[measure]
findings = false
seen_folds = 0
[[experiment]]
name = "cross"
models = ["tfidf", "strong"]
"""


def test_every_size_is_shown_beside_random_splits_of_that_size(tmp_path: Path) -> None:
    done = run_study(write(tmp_path, SIZES), engine=Inline(), out=tmp_path / "out", store=tmp_path / "store")
    run = read_record(done.folder, "study")
    hard = [cell for cell in cells_of(run) if cell.space]
    controls = [control_of(run, cell) for cell in hard]
    assert len(hard) == 4 * 3
    assert {cell.family for cell in controls if cell} == {
        "random", "random test=0.3", "random dev=0.2", "random test=0.3 dev=0.2"
    }  # fmt: skip
    for cell, control in zip(hard, controls, strict=True):
        assert control is not None
        assert (control.test, control.dev) == (cell.test, cell.dev)
        before, after, fall = level_of(run, control, run.metric), level_of(run, cell, run.metric), fall_of(run, cell)
        assert None not in (before, after, fall)
        assert fall.value == pytest.approx(before.value - after.value)
        assert fall.tags["against"] == control.family
    places = [row[:3] for row in scores(run, "sample").rows]
    assert len({*places}) == len(places)
    (weighted,) = (table for table in sensitivity_tables(run) if table.title == "strong by C")
    assert len({row[:5] for row in weighted.rows}) == len(weighted.rows) == 2 * 4
    for matrix in cross_model(run, "sample"):
        for cell in (cell for cell in hard if matrix.title == f"{cell.family}: test macro F1"):
            level = level_of(run, control_of(run, cell), run.metric)
            assert matrix.values[-1][matrix.columns.index(cell.model)] == level.value
    (sentence,) = headline(run)
    worst = max((cell for cell in hard if cell.own), key=lambda cell: fall_of(run, cell).value)
    assert f"against {scored(level_of(run, control_of(run, worst), run.metric))} on random splits" in sentence
    assert "of 4 kinds of hard splits" in sentence
    assert len(curves(run, "sample")["tfidf-own"].points) == 2 * 4
    assert "test parts of closest test=0.1 dev=0.1" in (tmp_path / "out" / "reforms.md").read_text()
    facts = read_card_facts(tmp_path / "out")
    assert [line["fall"] for line in card_scores(facts) if line["family"].startswith("random")] == [""] * 4 * 3


def test_random_splits_of_several_sizes_are_each_the_control_of_their_size(tmp_path: Path) -> None:
    content = SIZES.replace("vary.dev", "# vary.dev")
    content = content.replace("[split.random]", "[split.random]\nvary.test = [0.1, 0.3]")
    study = read_study(write(tmp_path, content))
    grid = Grid(study, load_sources(study))
    assert {cell.family for cell in grid.cells} == {
        "random test=0.1", "random test=0.3", "closest test=0.1", "closest test=0.3"
    }  # fmt: skip
    assert all(grid.control_of(cell).family == f"random test={cell.test}" for cell in grid.cells)
