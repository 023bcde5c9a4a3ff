"""Tables of scores as they come from files and runs, and what is wrong with them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from made_up_scores import made_up_scores

from unseen.errors import InputError, TableError
from unseen.forecasts.score_table import configuration_name, joined, parse_configuration, read_scores
from unseen.reports.record import RunRecord, SplitFile
from unseen.runs.score_forecast import table_of_run
from unseen.types import Certificate, Measurement, Origin


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_a_sumeval_file_is_read_with_hidden_scores_unknown(tmp_path: Path) -> None:
    entries = [
        {"train_config": {"en": 100, "de": 0}, "eval_results": {"en": 0.9, "fr": 0.7}},
        {"train_config": {"en": 0, "de": 5}, "eval_results": {"en": "x", "fr": "x"}},
    ]
    table = read_scores(written(tmp_path / "XNLI.json", json.dumps(entries)))
    assert table.names.tolist() == ["en=100", "en=100", "de=5", "de=5"]
    assert table.known.tolist() == [True, True, False, False]
    assert table.sources == ("de", "en")
    assert set(table.tasks) == {"XNLI"}
    assert table.trained_on("de").tolist() == [False, False, True, True]


def test_a_csv_is_read_with_its_features(tmp_path: Path) -> None:
    content = "source,size,target,score,overlap\nen,100,de,.8,0.5\nen,100,fr,,0.25\n"
    table = read_scores(written(tmp_path / "s.csv", content))
    assert (table.columns, table.features.tolist()) == (("overlap",), [[0.5], [0.25]])
    assert np.isnan(table.scores[1])
    several = read_scores(written(tmp_path / "c.csv", "configuration,target,score,task\nde=5+en=100,fr,.8,ner\n"))
    assert several.configurations == ({"de": 5.0, "en": 100.0},)
    assert several.tasks.tolist() == ["ner"]


def test_all_wrong_lines_of_a_csv_are_told_at_once(tmp_path: Path) -> None:
    lines = ["source,size,target,score,overlap", "en,100,de,.8,.5", "en,many,de,.8,.5", "en,1,,.8,.5",
             "en,1,de,high,.5", "en,0,de,.8,.5", "en,-1,de,.8,.5", "en,1,de,.8,nan", ",1,de,.8,.1"]  # fmt: skip
    with pytest.raises(TableError) as caught:
        read_scores(written(tmp_path / "s.csv", "\n".join(lines) + "\n"))
    places = [problem.partition(":")[0] for problem in caught.value.problems]
    assert places == [f"line {number}" for number in range(3, 10)]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"train_config": {}}, "does not hold a list"),
        ([{"train_config": {"en": 0}, "eval_results": {"en": 0.5}}], "entry 1: nothing was trained on"),
        ([{"train_config": {"en": 1}}], "entry 1: expected train_config and eval_results"),
        ([{"train_config": {"en": "a"}, "eval_results": {"en": 0.5}}], "entry 1: amount 'a' is no number"),
        ([{"train_config": {"en": 1}, "eval_results": {"en": True}}], "entry 1: score True is no number"),
        ([7, {"train_config": {"en": 1}, "eval_results": {"en": []}}], "entry 2"),
        ([{"train_config": {"en": 1}, "eval_results": {"en": 0.5}}] * 2, "en=1 → en: 2 rows"),
        ([], "there is no row"),
    ],
    ids=["object", "nothing", "no scores", "amount", "truth", "several", "twice", "empty"],
)
def test_a_malformed_sumeval_file_is_refused(tmp_path: Path, entries: object, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_scores(written(tmp_path / "s.json", json.dumps(entries)))


def test_a_configuration_is_typed_as_it_is_named() -> None:
    assert configuration_name(parse_configuration("en=5000+de=12345678")) == "de=12345678+en=5000"
    for wrong in ("en", "en=", "=5", "en=1+en=2", "en=0", "en=inf"):
        with pytest.raises(InputError):
            parse_configuration(wrong)


def test_only_tables_with_the_same_features_are_joined() -> None:
    table = made_up_scores()
    assert len(joined([table, table])) == 2 * len(table)
    with pytest.raises(InputError, match="other features"):
        joined([table, table.with_features(["more"], np.zeros((len(table), 1)))])
    with pytest.raises(InputError, match="finite"):
        table.with_features(["more"], np.full((len(table), 1), np.nan))


def test_the_scores_of_a_transfer_are_a_table() -> None:
    sets = {name: {"of": of, "rows": 80} for name, of in (("x", ["x"]), ("y", ["y"]), ("both", ["x", "y"]))}
    about = {"kind": "transfer", "model": "svm", "training_sets": sets, "datasets": {"x": {}, "y": {}}}
    rows = [
        Measurement("f1.macro", value, 40, tags={"train": train, "test": test, "seed": seed})
        for train, test, seed, value in (
            ("x", "x", "mean", 0.9), ("x", "y", "mean", 0.6), ("x", "y", "42", 0.5), ("x", "others", "mean", 0.6),
            ("both", "y", "mean", 0.8), ("y", "x", "mean", None),
        )
    ]  # fmt: skip
    table = table_of_run(RunRecord(about, rows))
    assert list(zip(table.names.tolist(), table.targets.tolist(), table.scores.tolist(), strict=True)) == [
        ("x=80", "x", 0.9), ("x=80", "y", 0.6),
    ]  # fmt: skip
    assert set(table.tasks) == {"svm"}
    with pytest.raises(InputError, match="kind audit"):
        table_of_run(RunRecord({"kind": "audit"}, rows))


def test_the_scores_of_a_study_are_a_table() -> None:
    about = {"kind": "study", "settings": {"metric": "accuracy"}, "datasets": {"x": {"fingerprint": "1"}}}
    origin, certificate = Origin("random"), Certificate({}, {})
    splits = {
        f"x.{family}.{seed}": SplitFile(f"x.{family}.{seed}", family, {"train": size}, certificate, origin, data)
        for family, seed, size, data in (("random", 1, 60, "1"), ("random", 2, 80, "1"), ("random", 3, 9, "2"))
    }
    tags = {"data": "x", "model": "svm", "family": "random", "part": "test"}
    rows = [Measurement("accuracy", 0.9, 40, tags=tags | {"seed": seed}) for seed in ("1", "mean")]
    table = table_of_run(RunRecord(about, rows, splits=splits))
    assert (table.names.tolist(), table.targets.tolist(), table.scores.tolist()) == (["x=70"], ["x random"], [0.9])
