"""What a comparison finds to be different between two run folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kind_folders import FOLDERS, write_run

from two_runs import BETTER, HARD, LETTERS, RANDOM, run_folder, split_of, trainings, two_runs
from unseen.errors import InputError, UnknownNameError
from unseen.reports.comparison import Change, Comparison, compare_runs
from unseen.reports.record import read_record
from unseen.store import read_json, write_json, write_split
from unseen.types import Measurement


def rows_by_family(found) -> dict[str, str]:
    return {str(row.tags["family"]): str(row.tags["tested_rows"]) for row in found.rows}


def test_the_differences_of_two_runs(tmp_path: Path) -> None:
    found = compare_runs(*two_runs(tmp_path))
    values = {row.tags["family"]: row.value for row in found.rows}
    assert values == pytest.approx({"random": 0.0, "closest": sum(BETTER) / 3 - sum(HARD) / 3})
    assert (found.metric, found.part) == ("f1.macro", "test")
    assert [(a.value, b.value) for a, b in found.falls] == [(pytest.approx(0.3), pytest.approx(0.81 - sum(BETTER) / 3))]
    assert rows_by_family(found) == {"random": "same", "closest": "same"}
    assert (found.settings, found.versions, found.data, found.splits) == ((), (), (), ())


def test_what_was_set_and_used_otherwise(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path, groups="author", recipe={"epochs": 5})
    write_json(b / "run.json", read_json(b / "run.json") | {"versions": {"unseen": "0.2.0", "numpy": "2.0"}})
    found = compare_runs(a, b)
    assert set(found.settings) == {Change("recipe.epochs", "3", "5"), Change("groups", "", "author")}
    assert found.versions == (Change("unseen", "0.1.0", "0.2.0"),)


def test_other_data_are_other_rows(tmp_path: Path) -> None:
    found = compare_runs(*two_runs(tmp_path, data="def"))
    assert found.data == (Change("data", "mails, 8 rows, abc…", "mails, 8 rows, def…"),)
    assert {each.name for each in found.splits} == {"random", "closest"}
    assert rows_by_family(found) == {"random": "other", "closest": "other"}


def test_other_labels_are_another_task(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    about = read_json(b / "run.json")
    write_json(b / "run.json", about | {"data": about["data"] | {"label_names": ["joy", "anger"]}})
    with pytest.raises(InputError, match="are about other labels"):
        compare_runs(a, b)


def test_the_same_data_under_another_name(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    about = read_json(b / "run.json")
    write_json(b / "run.json", about | {"data": about["data"] | {"name": "letters"}})
    assert compare_runs(a, b).data == ()


def test_another_hard_split_has_other_rows(tmp_path: Path) -> None:
    found = compare_runs(*two_runs(tmp_path, letters=LETTERS | {"closest": "RRTTRDII"}))
    assert rows_by_family(found) == {"random": "same", "closest": "other"}
    assert [each.name for each in found.splits] == ["closest"]


def test_other_clusters_leave_the_test_rows_the_same(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    write_split(split_of("closest", LETTERS["closest"], clusters=range(8)), b / "splits" / "closest.csv")
    found = compare_runs(a, b)
    assert [each.name for each in found.splits] == ["closest"]
    assert rows_by_family(found)["closest"] == "same"


def test_without_the_split_nobody_knows(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    for ending in ("csv", "json"):
        (b / "splits" / f"closest.{ending}").unlink()
    assert rows_by_family(compare_runs(a, b)) == {"random": "same", "closest": "unknown"}


def test_metrics_parts_and_slices_that_were_asked_for(tmp_path: Path) -> None:
    rows = [
        *trainings("closest", HARD), *trainings("closest", HARD, metric="accuracy"),
        *trainings("closest", HARD, part="dev"),
    ]  # fmt: skip
    a, b = (run_folder(tmp_path / name, {}, rows) for name in "ab")
    assert [row.metric for row in compare_runs(a, b, metrics=["accuracy"]).rows] == ["difference.accuracy"]
    assert [row.tags["part"] for row in compare_runs(a, b, part="dev").rows] == ["dev"]
    assert len(compare_runs(a, b, everything=True).rows) == 2
    with pytest.raises(UnknownNameError, match="did you mean 'accuracy'"):
        compare_runs(a, b, metrics=["acuracy"])
    with pytest.raises(UnknownNameError, match="no part of these runs is called 'tset'; did you mean 'test'"):
        compare_runs(a, b, part="tset")
    with pytest.raises(InputError, match="no effect"):
        compare_runs(a, b, metrics=["accuracy"], everything=True)


@pytest.mark.parametrize(("metric", "worst"), [("f1.macro", 0.05), ("log_loss", 0.2)])
def test_the_worst_loss_knows_the_direction_and_looks_at_the_test_part(
    tmp_path: Path, metric: str, worst: float
) -> None:
    a, b = (
        run_folder(
            tmp_path / name,
            {},
            [
                *trainings("random", [random], metric), *trainings("closest", [hard], metric),
                *trainings("closest", [0.9 if name == "a" else 0.1], metric, part="dev"),
            ],
        )
        for name, random, hard in (("a", 0.60, 0.50), ("b", 0.55, 0.70))
    )  # fmt: skip
    assert compare_runs(a, b, metrics=[metric]).worst == pytest.approx(worst)
    assert compare_runs(a, b, metrics=[metric], part="dev").worst == pytest.approx(worst)


def test_nothing_paired_has_no_worst(tmp_path: Path) -> None:
    a = run_folder(tmp_path / "a", {}, trainings("closest", HARD))
    found = compare_runs(a, run_folder(tmp_path / "b", {}, trainings("closest", HARD, seeds=(1, 2, 3))))
    assert (found.rows, found.worst) == ((), None)
    assert found.seeds == (("42", "55", "83"), ("1", "2", "3"))


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    a = run_folder(tmp_path / "a", {"random": RANDOM, "closest": HARD})
    b = run_folder(tmp_path / "b", {}, [])
    with pytest.raises(InputError, match="has no number to compare"):
        compare_runs(a, b)


def test_runs_of_two_kinds_are_not_compared(tmp_path: Path) -> None:
    folders = [FOLDERS[kind](tmp_path / kind, "posts") for kind in ("price", "audit")]
    with pytest.raises(InputError, match="runs of two kinds cannot be compared"):
        compare_runs(*folders)


def changed(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> Comparison:
    for name, about in (("a", before), ("b", after)):
        (folder / name).mkdir()
        write_run(folder / name, {"kind": "audit", **about}, [Measurement("leaked.near", 0.1, 9)])
    return compare_runs(folder / "a", folder / "b")


def test_whatever_decides_a_run_is_compared(tmp_path: Path) -> None:
    split = {"name": "random", "sizes": {"train": 8, "test": 2}}
    found = changed(
        tmp_path,
        {"split": split, "pipeline": "svm", "leaks": ["near"], "seed": 1, "settings": {"metric": "accuracy"}},
        {"split": {**split, "name": "hard"}, "pipeline": "logistic", "leaks": ["near", "exact"], "seed": 1},
    )
    assert set(found.settings) == {
        Change("split.name", "random", "hard"), Change("pipeline", "svm", "logistic"),
        Change("leaks", "near", "near, exact"), Change("metric", "accuracy", ""),
    }  # fmt: skip


def test_how_a_run_was_started_and_what_came_of_it_is_not_compared(tmp_path: Path) -> None:
    ends = {"finished": "2026-11-02T00:00:00+00:00", "gates": [{"gate": "x", "passed": True}], "timings": [1]}
    found = changed(tmp_path, {"asked": 8, "outcome": ["asked"]}, {"asked": 9, "outcome": ["asked"], **ends})
    assert found.settings == ()


def test_other_data_anywhere_in_a_run_are_named_once(tmp_path: Path) -> None:
    cases = {"name": "cases", "rows": 8, "label_names": ["a", "b"], "counts": {"a": 4, "b": 4}, "fingerprint": "abc"}
    more = cases | {"rows": 9, "counts": {"a": 5, "b": 4}, "fingerprint": "def"}
    before, after = ({"suite": data, "settings": {"known": [cases, data]}} for data in (cases, more))
    found = changed(tmp_path, before, after)
    assert found.settings == ()
    assert found.data == tuple(
        Change(name, "cases, 8 rows, abc…", "cases, 9 rows, def…") for name in ("suite", "known.2")
    )


def test_what_belongs_to_the_only_model_of_each_run_is_one_setting(tmp_path: Path) -> None:
    for run, model in (("a", "old"), ("b", "new")):
        (tmp_path / run).mkdir()
        about = {"kind": "check", "models": {model: {"source": f"{model}.csv", "threshold": 0.5}}}
        write_run(tmp_path / run, about, [Measurement("pass_rate", 0.5, 9, tags={"model": model})])
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    assert found.settings == (Change("models.source", "old.csv", "new.csv"),)
    assert found.pairs.ignored == {"model": ("old", "new")}


def test_a_run_says_what_came_of_it(finished: Callable[[str], Path]) -> None:
    record = read_record(finished("explain") / "run")
    assert {"asked", "passes"} < {*record.about["outcome"]}
    assert record.settings["methods.partition-shap.most"] == "500"
    assert not [name for name in record.settings if name.startswith(("asked", "passes", "data", "gates", "outcome"))]
