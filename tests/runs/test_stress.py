"""The main job: the whole of it with light models, killed and resumed, gated and planned."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unseen
from tiny_transformer import write_transformer
from unseen.analysis.words import words_of
from unseen.data.sample import sample_corpus
from unseen.errors import InfeasibleError, InputError
from unseen.reports.case import hardest as case_of
from unseen.reports.record import read_record
from unseen.runs.measurement_steps import composition
from unseen.runs.stress import plan, stress
from unseen.store import read_json, read_measurements, read_predictions, read_split, read_suspects, write_json

FILES = {
    "run.json",
    "measurements.csv",
    "properties.csv",
    "findings.csv",
    "map.parquet",
    "clusters.json",
    "report.html",
    "suspects.csv",
    "actions.csv",
}
GIVEN: dict[str, Any] = {
    "seeds": [1, 2], "random_splits": 2, "slices": ["source"], "params": {"epochs": 3}, "seen_folds": 2,
    "space_seeds": 1,
}  # fmt: skip
QUICK: dict[str, Any] = {"random_splits": 1, "seeds": [1], "seen_folds": 0, "space_seeds": 0}


@pytest.fixture(scope="module")
def data() -> unseen.Dataset:
    return sample_corpus(600)


@pytest.fixture(scope="module")
def run(data: unseen.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stress") / "run"
    stress(data, model="neural", out=folder, **GIVEN)
    return folder


def hardest(done: unseen.Result) -> str:
    """The family that the verdict is about."""
    assert done.folder is not None
    case = case_of(read_record(done.folder, "stress"))
    assert case is not None
    return case.family


def test_suspects_name_the_splits_that_test_them(run: Path, data: unseen.Dataset) -> None:
    suspects = read_suspects(run / "suspects.csv")
    assert any(each.test_of for each in suspects)
    for path in (run / "splits").glob("*.csv"):
        split = read_split(path, data)
        tested = set(data.take(split.rows("test")).ids.to_pylist())
        assert [each.id for each in suspects if path.stem in each.test_of] == [
            each.id for each in suspects if each.id in tested
        ]


def test_the_run_folder(run: Path) -> None:
    assert {each.name for each in run.iterdir()} >= FILES
    assert sorted(each.name for each in (run / "splits").glob("*.csv")) == [
        "closest.csv", "novel.csv", "random-1.csv", "random-2.csv", "subset-sum.csv",
    ]  # fmt: skip
    assert len(list((run / "predictions").glob("*-seed*.parquet"))) == 2 + 2 + 2 + 2
    assert not (run / "examples.json").exists()
    about = read_json(run / "run.json")
    assert about["settings"]["seeds"] == [1, 2]
    assert about["finished"]
    assert {each["step"] for each in about["timings"]} >= {
        "learn the space neural-own",
        "split closest",
        "closest-seed2",
        "scores closest neural",
    }


def test_no_text_is_in_any_file(run: Path, data: unseen.Dataset) -> None:
    texts = [text for text in data.texts.to_pylist() if len(text) > 40]
    for path in run.rglob("*"):
        if path.suffix in (".csv", ".json", ".html"):
            content = path.read_text(encoding="utf-8")
            assert not any(text in content for text in texts), path.name


def test_the_same_rows_are_independent_in_every_split_and_never_trained_on(run: Path, data: unseen.Dataset) -> None:
    splits = [read_split(path, data) for path in sorted((run / "splits").glob("*.csv"))]
    aside = [set(each.rows("independent").tolist()) for each in splits]
    assert all(each == aside[0] for each in aside)
    assert len(aside[0]) == 60
    for each in splits:
        assert each.sizes == {"train": 437, "dev": 49, "test": 54, "independent": 60}, each.name
    assert len({tuple(each.rows("test").tolist()) for each in splits}) == 5


def test_scores_are_those_of_the_predictions(run: Path, data: unseen.Dataset) -> None:
    from sklearn.metrics import f1_score

    split = read_split(run / "splits" / "closest.csv", data)
    said = read_predictions(run / "predictions" / "closest-seed2.parquet", data)
    rows = {name: place for place, name in enumerate(said.ids.to_pylist())}
    test = split.rows("test")
    places = [rows[name] for name in data.ids.take(test).to_pylist()]
    expected = f1_score(data.labels[test], said.probabilities[places].argmax(1), average="macro")
    found = [
        row
        for row in read_measurements(run / "measurements.csv")
        if row.metric == "f1.macro" and row.slice == "all"
        and row.tags.get("split") == "closest" and row.tags.get("seed") == "2" and row.tags.get("part") == "test"
    ]  # fmt: skip
    assert [row.value for row in found] == [pytest.approx(expected)]
    assert found[0].low is not None
    assert found[0].low < expected < (found[0].high or 0)


def test_falls_are_random_less_hard_over_all_trainings(run: Path) -> None:
    rows = read_measurements(run / "measurements.csv")

    def mean(family: str) -> float:
        values = [
            row.value
            for row in rows
            if row.metric == "f1.macro" and row.slice == "all" and row.tags.get("family") == family
            and row.tags.get("part") == "test" and row.tags.get("seed") != "mean" and "split" in row.tags
        ]  # fmt: skip
        assert len(values) == 2
        return float(np.mean([value for value in values if value is not None]))

    for family in ("subset-sum", "closest"):
        fall = next(
            row
            for row in rows
            if row.metric == "fall.f1.macro" and row.tags.get("family") == family and row.tags.get("part") == "test"
        )
        assert fall.value == pytest.approx(mean("random") - mean(family))
        assert fall.low is not None
        assert fall.low <= (fall.value or 0) <= (fall.high or 0)


def test_the_fall_is_taken_apart_by_asking_the_same_rows_again(run: Path) -> None:
    rows = [row for row in read_measurements(run / "measurements.csv") if row.slice == "all"]

    def of_family(metric: str, family: str) -> Any:
        (row,) = [
            row for row in rows
            if row.metric == metric and "split" not in row.tags and row.tags.get("part") == "test"
            and row.tags.get("family") == family
        ]  # fmt: skip
        return row

    for family in ("subset-sum", "closest", "novel"):
        whole, selection, novelty, seen, random, unseen_ = (
            of_family(name, of)
            for name, of in (
                ("fall.f1.macro", family), ("fall.selection.f1.macro", family), ("fall.novelty.f1.macro", family),
                ("seen.f1.macro", family), ("f1.macro", "random"), ("f1.macro", family),
            )
        )  # fmt: skip
        assert selection.value + novelty.value == pytest.approx(whole.value)
        assert random.value - seen.value == pytest.approx(selection.value)
        assert seen.value - unseen_.value == pytest.approx(novelty.value)
        assert novelty.low < novelty.value < novelty.high
        assert novelty.tags["seeds"] == "2"
        assert 0 < of_family("test_overlap.space_seeds", family).value <= 1
    singles = [row for row in rows if row.metric == "seen.f1.macro" and row.tags.get("split") == "closest"]
    assert {row.tags["seed"] for row in singles} == {"1", "2"}
    assert all(0 < row.n < 54 for row in singles)  # two of five folds


def test_a_split_of_others_is_taken_apart_too(data: unseen.Dataset, tmp_path: Path) -> None:
    """A file names rows by their position in the data as it was loaded; random splits are as large."""
    parts = ["test" if topic == "pool" else "train" for topic in data.attribute("topic").to_pylist()]
    lines = {part: [row for row, each in enumerate(parts) if each == part] for part in ("train", "test")}
    (tmp_path / "pool.json").write_text(json.dumps(lines))
    shuffled = data.take(np.random.default_rng(0).permutation(len(data)))
    given = QUICK | {"seen_folds": 1, "independent": 0}
    stress(data, model="logistic", out=tmp_path / "run", split_files=[str(tmp_path / "pool.json")], **given)
    found = read_record(tmp_path / "run", "stress")
    assert found.families == ("random", "pool")
    split = read_split(tmp_path / "run" / "splits" / "pool.csv", shuffled)
    tested = set(shuffled.ids.take(split.rows("test")).to_pylist())
    assert tested == set(data.ids.filter(np.array(parts) == "test").to_pylist())
    assert {card.sizes["test"] for card in found.splits.values()} == {len(tested)}
    assert found.measured("fall.novelty.f1.macro", "pool") is not None
    with pytest.raises(InputError, match="named twice"):
        stress(data, model="logistic", out=tmp_path / "x", split_files=["a/pool.json", "b/pool.json"])


def test_slices_properties_findings_and_clusters_are_there(run: Path) -> None:
    found = read_record(run, "stress")
    assert any(row.slice.startswith("source=") for row in found.measurements)
    assert {"log_loss", "ece.15", "roc_auc.ovo", "standard_error.f1.macro"} <= {
        row.metric for row in found.measurements
    }
    assert {"unigram_overlap", "length.words", "rare_words", "nearest_train_distance.cosine"} <= {
        row.metric for row in found.properties
    }
    checks = {each.check for each in found.findings}
    assert {"learnt[closest]", "label-noise[closest]", "label-noise[novel]"} <= checks
    assert len(found.maps["map"].points) == 600
    assert {card.split for card in found.clusters} == {"closest", "subset-sum", "novel"}
    assert sum(card.test for card in found.clusters if card.split == "subset-sum") <= 54
    assert (run / "report.html").stat().st_size < 2_000_000


def test_whole_clusters_and_single_rows_are_scored_apart(run: Path, data: unseen.Dataset) -> None:
    split = read_split(run / "splits" / "closest.csv", data)
    parts = composition(split, data)
    assert len(parts["added singly"]) == split.certificate.completed > 0
    assert len(parts["whole clusters"]) + len(parts["added singly"]) == len(split.rows("test"))
    others = split.clusters[np.concatenate([split.rows("train"), split.rows("dev")])]
    assert not set(split.clusters[parts["whole clusters"]]) & set(others)
    assert set(split.clusters[parts["added singly"]]) <= set(others)
    rows = [row for row in read_measurements(run / "measurements.csv") if row.slice == "test part=added singly"]
    assert {row.n for row in rows} == {split.certificate.completed}
    assert composition(read_split(run / "splits" / "random-1.csv", data), data) == {}


def test_within_classes_a_cluster_of_one_text_is_a_single_row() -> None:
    draw = np.random.default_rng(1)
    labels = np.repeat(np.arange(30), 20)
    texts = [" ".join(f"w{label}-{word}" for word in draw.integers(40, size=6)) for label in labels]
    texts[1:20:6] = [texts[0]] * len(texts[1:20:6])
    data = unseen.load([{"text": text, "label": f"c{label}"} for text, label in zip(texts, labels, strict=True)])
    split = unseen.split(data, "subset-sum", test=0.1)
    assert "clusters were made within classes" in " ".join(split.certificate.notes)
    parts = composition(split, data)
    assert 0 < len(parts["added singly"]) == split.certificate.completed < len(split.rows("test"))


def test_a_finished_run_does_nothing_again(run: Path, data: unseen.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.training import neural

    before = {path: path.read_bytes() for path in run.rglob("*.csv")}

    def refuse(*given: object) -> Any:
        raise AssertionError("trained again")

    monkeypatch.setattr(neural.HashedNetwork, "fit", refuse)
    done = stress(data, model="neural", out=run, **GIVEN)
    assert {path: path.read_bytes() for path in run.rglob("*.csv")} == before
    assert done.value("fall.f1.macro", family="closest") is not None
    assert hardest(done) in ("closest", "subset-sum", "novel")


def test_texts_only_when_asked(data: unseen.Dataset, run: Path, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    stress(data, model="neural", out=folder, texts=True, replace=True, **GIVEN)
    texts = json.loads((folder / "examples.json").read_text())
    assert texts
    assert set(texts.values()) <= set(data.texts.to_pylist())
    stress(data, model="neural", out=folder, replace=True, **GIVEN)
    assert not (folder / "examples.json").exists()


def test_other_settings_in_the_same_folder_use_what_is_there(
    data: unseen.Dataset, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer splits, another metric, changed attributes: nothing is trained, and nothing of before is shown."""
    import shutil
    from dataclasses import replace

    from unseen.training import neural

    def refuse(*given: object) -> Any:
        raise AssertionError("trained again")

    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    monkeypatch.setattr(neural.HashedNetwork, "fit", refuse)
    place = data.table.column_names.index("source")
    moved = replace(data, table=data.table.set_column(place, "source", [["elsewhere"] * len(data)]))
    other: dict[str, Any] = {"metric": "accuracy", "splits": ["random", "subset-sum"], **GIVEN}
    with pytest.raises(InputError, match="holds another run"):
        stress(moved, model="neural", out=folder, **other)
    assert read_record(folder, "stress").metric == "f1.macro"
    (folder / "notes of my own.txt").write_text("read these")
    stress(moved, model="neural", out=folder, replace=True, **other)
    found = read_record(folder, "stress")
    assert found.metric == "accuracy"
    assert not (folder / "splits" / "closest.csv").exists()
    assert (folder / "notes of my own.txt").exists()
    assert list(found.splits) == ["random-1", "random-2", "subset-sum"]
    assert {row.slice for row in found.measurements} - {"all"} - {
        "test part=added singly",
        "test part=whole clusters",
    } == {"source=elsewhere"}


def test_a_split_that_the_data_does_not_allow_leaves_the_others(
    data: unseen.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impossible(*given: object) -> Any:
        raise InfeasibleError("no cluster fits")

    monkeypatch.setattr("unseen.splits.closest.ClosestSplit._choose", impossible)
    splits = ["random", "closest", "subset-sum"]
    done = stress(data, model="logistic", out=tmp_path / "run", splits=splits, **QUICK)
    assert hardest(done) == "subset-sum"
    assert "“closest” could not be made: no cluster fits." in done.verdict.sentences
    with pytest.raises(InfeasibleError, match="no hard split"):
        stress(data, model="logistic", out=tmp_path / "none", splits=splits[:2], **QUICK)


def test_texts_that_the_model_cannot_tell_apart_have_no_hard_split(data: unseen.Dataset, tmp_path: Path) -> None:
    same = data.table.set_column(data.table.schema.get_field_index("text"), "text", pa.array(["as ever"] * len(data)))
    with pytest.raises(InfeasibleError, match=r"(?s)no hard split.*only 1 different vectors.*texts that differ"):
        stress(replace(data, table=same), model="logistic", out=tmp_path / "run", **QUICK)


def test_the_number_of_clusters_can_be_given(data: unseen.Dataset, tmp_path: Path) -> None:
    given = {"splits": ["random", "closest"], "clusters": [7], **QUICK}
    stress(data, model="logistic", out=tmp_path / "run", **given)  # type: ignore[arg-type]
    assert read_split(tmp_path / "run" / "splits" / "closest.csv", data).certificate.n_clusters == 7


def test_an_unfinished_or_damaged_run_has_no_report(run: Path, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    lines = (folder / "measurements.csv").read_text().splitlines(keepends=True)
    (folder / "measurements.csv").write_text("".join(lines[:-3]))
    (folder / "splits" / "closest.json").unlink()
    for read in (partial(read_record, kind="stress"), read_record):
        with pytest.raises(InputError, match="damaged") as caught:
            read(folder)
        assert "measurements.csv was changed" in str(caught.value)
        assert "splits/closest.json is missing" in str(caught.value)
    about = read_json(folder / "run.json")
    write_json(folder / "run.json", about | {"finished": None})
    for read in (partial(read_record, kind="stress"), read_record):
        with pytest.raises(InputError, match="not finished"):
            read(folder)


def test_a_changed_result_is_made_again(run: Path, data: unseen.Dataset, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    before = (folder / "measurements.csv").read_bytes()
    for place in (folder / ".steps").rglob("measurements.csv"):
        place.write_bytes(place.read_bytes().replace(b"0.", b"1."))  # as many bytes as before
    stress(data, model="neural", out=folder, **GIVEN)
    assert (folder / "measurements.csv").read_bytes() == before


def test_a_model_without_a_space_is_split_by_tfidf(data: unseen.Dataset, tmp_path: Path) -> None:
    done = stress(data, model="logistic", out=tmp_path / "run", splits=["random", "closest"], **QUICK)
    about = read_json(tmp_path / "run" / "vectors" / "logistic-own.json")
    assert about["origin"]["step"] == "tfidf.v1"
    assert done.report.exists()


def test_explanations_are_in_the_estimate(
    data: unseen.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.runs.stress.speed", lambda *_: 100.0)
    without, with_some = (plan(data, model="logistic", out=tmp_path / "run", explain=some) for some in (None, 60))
    families, questions = 4, 2 * 60 * 400 / 3
    assert with_some.stages["measuring"] - without.stages["measuring"] > 0.9 * families * questions / 100
    assert with_some.stages["trainings"] == without.stages["trainings"]


def test_the_plan_writes_nothing(data: unseen.Dataset, tmp_path: Path) -> None:
    found = plan(data, model="neural", out=tmp_path / "run")
    assert (found.trainings, found.seen, found.done) == (3 + 3 * 3 * 6 + 3, 3 * 3 * 5, 0)
    assert found.rows == {"split": 540, "independent": 60}
    assert not (tmp_path / "run").exists()
    folder = str(write_transformer(tmp_path / "bert", ["the"]))
    measured = plan(data, model=folder, out=tmp_path / "run")
    assert measured.texts_per_second is not None
    assert measured.seconds is not None
    assert (measured.trainings, measured.seen) == (3 + 3 * 3 + 2, 3 * 2)
    assert measured.texts == 3 * (2 * 540 + (3 + 3 * 3) * 437)


def test_mistakes_come_before_any_work(data: unseen.Dataset, tmp_path: Path) -> None:
    for given in (
        {"metric": "f1"},
        {"splits": ["closest"]},
        {"params": {"epoch": 1}},
        {"tset": 0.2},
        {"slices": ["no"]},
    ):
        with pytest.raises(InputError):
            stress(data, model="neural", out=tmp_path / "run", **given)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


DRIVER = """
import os, signal, sys
import sklearn.manifold, transformers.models.bert.modeling_bert
from unseen.data.sample import sample_corpus
from unseen.progress import reporting
from unseen.runs.stress import stress
from unseen.training import transformer

transformer.CHECKPOINT_SECONDS = 0
model, count = sys.argv[1], 0
for line in sys.stdin:  # "limit folder", each run in a fork of its own
    child = os.fork()
    if not child:
        break
    print("code", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
limit, out = line.rstrip().split(" ", 1)

def report(now):
    global count
    count += 1
    if count == int(limit):
        os.kill(os.getpid(), signal.SIGKILL)

with reporting(report):
    stress(sample_corpus(160), model=model, out=out, random_splits=1, params={"epochs": 2, "batch": 16},
           splits=["random", "closest"], representation="bottleneck-4", seen_folds=1)
print("reports", count, flush=True)
os._exit(0)  # taking apart all that was imported takes seconds
"""


@pytest.mark.slow
def test_killed_five_times_a_run_ends_with_the_same_numbers(tmp_path: Path) -> None:
    """SIGKILL while fine-tuning, splitting, retraining and measuring: same splits, predictions, measurements."""
    words = sorted({word for text in sample_corpus(160).texts.to_pylist() for word in words_of(text)})
    model = str(write_transformer(tmp_path / "bert", words))
    shares = (0.1, 0.25, 0.25, 0.2, 0.15)  # of all reports, each time from the place reached before
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:

        def go(out: str, limit: int) -> dict[str, int]:
            assert driver.stdin
            assert driver.stdout
            print(limit, tmp_path / out, file=driver.stdin, flush=True)
            said: dict[str, int] = {}
            while "code" not in said:
                name, _, number = driver.stdout.readline().partition(" ")
                said[name] = int(number)
            return said

        whole = go("whole", -1)
        assert whole["code"] == 0
        killed = [go("killed", max(2, int(share * whole["reports"])))["code"] for share in shares]
        assert killed == [-9] * 5
        last = go("killed", -1)
        assert last["code"] == 0
        assert last["reports"] < whole["reports"]
        driver.stdin.close()  # type: ignore[union-attr]
    assert not list((tmp_path / "killed").rglob("*.part"))
    for name in (
        "measurements.csv",
        "properties.csv",
        "findings.csv",
        "clusters.json",
        "splits/closest.csv",
        "splits/random-1.csv",
    ):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    for name in ("random-1-seed42", "closest-seed42"):
        first, second = (
            read_predictions(tmp_path / out / "predictions" / f"{name}.parquet", sample_corpus(160)).probabilities
            for out in ("whole", "killed")
        )
        np.testing.assert_array_equal(first, second)


def test_a_pipeline_that_gives_labels_only_is_measured_by_labels(data: unseen.Dataset, tmp_path: Path) -> None:
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    pipeline = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(["red one", "green two"], ["x", "y"])
    joblib.dump(pipeline, tmp_path / "model.joblib")
    given: dict[str, Any] = {"splits": ["random", "closest"], "params": {"trust": True}}
    stress(data, model=str(tmp_path / "model.joblib"), out=tmp_path / "run", **QUICK | given)
    measured = {row.metric for row in read_measurements(tmp_path / "run" / "measurements.csv")}
    assert {"accuracy", "fall.f1.macro"} <= measured
    assert not {"log_loss", "ece.15", "roc_auc.ovo"} & measured
