"""A run folder is read whole, or refused with every damaged file named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from fake_run import LABELS, FakeRun
from html_page import written

from unseen.errors import InputError
from unseen.reports.record import RunRecord, read_record
from unseen.runs.frame import report
from unseen.store import read_json, read_measurements, write_json, write_measurements
from unseen.store.run_folder import about_of


def read_stress(folder: Path) -> RunRecord:
    return read_record(folder, "stress")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return FakeRun(rows=300).write(tmp_path_factory.mktemp("run") / "whole")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "run"))


def test_everything_is_read(whole: Path) -> None:
    run = read_record(whole, "stress")
    assert run.metric == "f1.macro"
    assert run.about["data"]["label_names"] == list(LABELS)
    assert list(run.splits) == ["random-1", "random-2", "random-3", "subset-sum", "closest"]
    assert run.families == ("random", "subset-sum", "closest")
    assert sum(run.splits["random-1"].sizes.values()) == 300
    assert run.splits["subset-sum"].certificate.missed == 3
    assert [finding.level for finding in run.findings] == ["ok", "warn", "fail", "skipped"]
    assert run.findings[1].evidence[:2] == ("t00000", "t00001")
    assert run.maps["map"].points.shape == (300, 2)
    assert run.maps["map"].parts.keys() == run.splits.keys()
    assert len(run.clusters) == 28
    assert run.examples == {}


def test_scores_are_means_with_intervals_and_falls_are_found(whole: Path) -> None:
    run = read_record(whole, "stress")
    score = run.score("closest")
    assert score is not None
    assert (score.value, score.low, score.high) == pytest.approx((0.27, 0.248, 0.294))
    assert run.single("closest") == pytest.approx([0.258, 0.27, 0.282])
    assert run.score("nothing") is None
    fall = run.fall("closest")
    assert fall is not None
    assert (fall.value, fall.low) == pytest.approx((0.39, 0.36))
    noise = run.measured("label_noise", "closest")
    assert noise is not None
    assert noise.value == pytest.approx(0.24)
    assert run.measured("label_noise", "random") is None


def test_without_a_mean_the_runs_are_averaged_and_have_no_interval(folder: Path) -> None:
    rows = read_measurements(folder / "measurements.csv")
    kept = [row for row in rows if row.tags.get("seed") != "mean" and not row.metric.startswith("fall.")]
    write_measurements(kept, folder / "measurements.csv")
    run = read_record(folder, "stress")
    score, fall = run.score("closest"), run.fall("closest")
    assert score is not None
    assert fall is not None
    assert (score.low, fall.low) == (None, None)
    assert (score.value, fall.value) == pytest.approx((0.27, 0.39))
    one = run.score("closest", metric="label_noise")
    assert one is not None
    assert one.low is not None, "a single run keeps its own interval"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run folder"):
        read_record(tmp_path / "none", "stress")


def test_every_missing_file_is_named(folder: Path) -> None:
    (folder / "run.json").unlink()
    (folder / "findings.csv").unlink()
    shutil.rmtree(folder / "splits")
    missing = ("run.json is missing", "findings.csv is missing", "splits/*.json is missing")
    for read, problems in ((read_stress, missing), (report, missing[:2])):  # what kind of run it was is in run.json
        with pytest.raises(InputError, match="is not the folder of a run") as caught:
            read(folder)
        assert caught.value.problems == problems
    assert not (folder / "report.html").exists()


def test_files_of_the_kind_that_are_missing_are_named_with_the_others(folder: Path) -> None:
    for name in ("measurements.csv", "properties.csv"):
        (folder / name).unlink()
    for read in (read_stress, report):
        with pytest.raises(InputError, match="is not a whole run folder") as caught:
            read(folder)
        assert caught.value.problems == ("measurements.csv is missing", "properties.csv is missing")
        assert caught.value.fix


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("run.json", "{", "run.json is not valid JSON"),
        ("run.json", "[]", "does not hold a JSON object"),
        ("run.json", '{"kind": "stress", "settings": {}}', "does not say its data"),
        (
            "run.json",
            '{"kind": "stress", "settings": {}, "data": {"label_names": "ab"}}',
            "does not say its label names",
        ),
        ("measurements.csv", "a,b\n1,2\n", "does not hold measurements"),
        ("measurements.csv", "metric,value,low,high,n,slice\nx,y,,,3,all\n", "line 2"),
        ("properties.csv", "", "does not hold measurements"),
        ("findings.csv", "check,level\n", "does not hold findings"),
        (
            "findings.csv",
            "check,level,message,count,evidence,advice,rows\nx,odd,m,1,[],,[]\n",
            "line 2: no level is called 'odd'",
        ),
        ("findings.csv", "check,level,message,count,evidence,advice,rows\nx,ok,m,many,[],,[]\n", "line 2"),
        ("findings.csv", "check,level,message,count,evidence,advice,rows\nx,ok\n", "line 2"),
        ("map.parquet", "not parquet", "does not hold a map"),
        ("clusters.json", "{}", "does not hold a list of clusters"),
        ("clusters.json", '[{"split": "closest"}]', "a list of clusters: 0.cluster: Field required"),
        ("examples.json", "[]", "does not hold texts by id"),
        ("splits/0.json", "{}", "is not the certificate of a split"),
        (
            "splits/0.json",
            '{"name": "x", "certificate": {"asked": {"a": 1}, "got": {}}, "origin": {}}',
            "a label was asked",
        ),
        ("splits/0.json", '{"name": "x", "certificate": {}, "origin": {}}', "0.json is not the certificate"),
    ],
)
def test_damaged_files_are_named(folder: Path, name: str, content: str, complaint: str) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="are damaged") as caught:
        read_record(folder, "stress")
    assert len(caught.value.problems) == 1
    assert complaint in caught.value.problems[0]


@pytest.mark.parametrize(
    "names",
    [("run.json", "measurements.csv", "findings.csv"), ("properties.csv", "map.parquet", "clusters.json")],
    ids=["those of every run", "those of a stress run"],
)
def test_several_damaged_files_are_named_at_once(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (folder / name).write_text("?", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_record(folder, "stress")
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("command", ["unseen stress a.csv -o old --seed 3", "unseen stress a.csv --seed 3 --out=old"])
def test_the_way_out_of_a_damaged_run_is_for_the_folder_where_it_lies_now(folder: Path, command: str) -> None:
    write_json(folder / "run.json", read_json(folder / "run.json") | {"command": command, "finished": None})
    with pytest.raises(InputError) as caught:
        read_record(folder, "stress")
    assert str(caught.value.fix).endswith(f": unseen stress a.csv --seed 3 -o {folder}")
    (folder / "run.json").write_text('{"comm', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_record(folder, "stress")
    assert f"made it again with -o {folder}" in str(caught.value.fix)
    (folder / "run.json").unlink()
    for read in (read_stress, about_of):
        with pytest.raises(InputError) as caught:
            read(folder)
        assert "name the folder of a run" in str(caught.value.fix)


def test_a_map_with_holes_is_refused(folder: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "map.parquet")
    bad = np.full(len(table), np.nan)
    pq.write_table(table.set_column(1, "x", [bad]), folder / "map.parquet")
    with pytest.raises(InputError) as caught:
        read_record(folder, "stress")
    assert "not finite" in caught.value.problems[0]


def test_what_is_optional_may_be_absent(folder: Path) -> None:
    for name in ("map.parquet", "clusters.json"):
        (folder / name).unlink()
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    least = {"kind": "stress", "settings": {}, "data": {"label_names": about["data"]["label_names"]}}
    (folder / "run.json").write_text(json.dumps(least), encoding="utf-8")
    page = written(folder).read_text(encoding="utf-8")
    assert "The run folder holds no map." in page
    assert "The run folder holds no clusters." in page
    assert "No times were kept." in page
