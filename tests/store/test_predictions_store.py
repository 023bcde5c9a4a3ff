from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.data import load_table
from unseen.errors import InputError, MismatchError
from unseen.store import read_predictions, write_predictions
from unseen.types import Origin, Predictions

ODD = st.sampled_from(["NA", "null", "=x", "'=x", "-5", "1e5", "007", "a,b", 'a"b', "é", "\r", "true", "p_no", "nan"])
IDS = st.lists(ODD | st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5, unique=True)
LABELS = st.sampled_from(
    [
        ("no", "yes"),
        ("=x", "'=x"),
        ("01", "0x10"),
        ("True", "False"),
        ("id", "no"),
        ("no", "p_no"),
        ("p_no", "p_p_no", "id"),
        ("label", "prediction"),
    ]
)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(ids=IDS, names=LABELS, seed=st.integers(0, 100))
def test_predictions_come_back_exactly(tmp_path: Path, tiny, ending: str, ids, names, seed) -> None:
    data = tiny(ids=ids, label_names=names)
    p = np.random.default_rng(seed).dirichlet(np.ones(len(names)), len(ids))
    p[0] = np.eye(len(names))[0]
    path = write_predictions(Predictions(data.ids, p, names), tmp_path / f"p.{ending}")
    found = read_predictions(path, data)
    assert found.ids.to_pylist() == ids
    assert np.array_equal(found.probabilities, p)
    assert not found.origin.params["hard"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "names", [("no", "yes"), ("False", "True"), ("01", "1"), ("0x10", "-1+2"), ("=x", "'=x"), ("NA", "b")]
)
def test_labels_alone_stay_labels_alone(tmp_path: Path, tiny, ending: str, names: tuple[str, str]) -> None:
    data = tiny(label_names=names)
    hard = Predictions(data.ids, np.eye(2)[[0, 1, 1, 0]], data.label_names, Origin("given", {"hard": True}))
    found = read_predictions(write_predictions(hard, tmp_path / f"p.{ending}"), data)
    assert found.origin.params["hard"]
    assert np.array_equal(found.probabilities, hard.probabilities)


def test_files_read_as_id_and_a_column_per_label(tmp_path: Path, tiny) -> None:
    data = tiny(ids=["1", "=2"])
    said = Predictions(data.ids, np.array([[0.1, 0.9], [1.0, 0.0]]), data.label_names)
    assert write_predictions(said, tmp_path / "p.csv").read_text() == "id,no,yes\n1,0.1,0.9\n'=2,1.0,0.0\n"
    assert pq.read_table(write_predictions(said, tmp_path / "p.parquet")).column_names == ["id", "no", "yes"]


def test_ids_of_somebody_else_are_left_as_they_are(tmp_path: Path, tiny) -> None:
    data = tiny(ids=["'a", "a", "b"])
    (tmp_path / "p.csv").write_text("id,no,yes\n'a,0.5,0.5\nb,0.5,0.5\n")
    assert read_predictions(tmp_path / "p.csv", data).ids.to_pylist() == ["'a", "b"]


def test_another_ending_is_refused(tmp_path: Path, tiny) -> None:
    data = tiny()
    said = Predictions(data.ids, np.full((4, 2), 0.5), data.label_names)
    with pytest.raises(InputError, match=r"p\.json"):
        write_predictions(said, tmp_path / "p.json")
    assert list(tmp_path.iterdir()) == []


def test_what_a_spreadsheet_would_run_is_guarded_in_every_cell(tmp_path: Path, tiny) -> None:
    data = tiny(label_names=("=a", "b"))
    hard = Predictions(data.ids, np.eye(2)[[0, 1, 1, 0]], data.label_names, Origin("given", {"hard": True}))
    soft = Predictions(data.ids, np.full((4, 2), 0.5), data.label_names)
    assert ",'=a\n" in write_predictions(hard, tmp_path / "p.csv").read_text()
    assert write_predictions(soft, tmp_path / "p.csv").read_text().startswith("id,'=a,b\n")


def test_the_data_is_no_prediction_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("id,text,label\n1,a,no\n2,b,yes\n")
    with pytest.raises(InputError, match="is the data itself: its column 'label'"):
        read_predictions(path, load_table(path))
    path.write_text("id,text,label,prediction\n1,a,no,yes\n2,b,yes,yes\n")
    assert read_predictions(path, load_table(path)).probabilities[:, 1].tolist() == [1, 1]


def test_predictions_for_other_ids_say_which_are_expected(tmp_path: Path, tiny) -> None:
    (tmp_path / "p.csv").write_text("id,no,yes\nx1,0.5,0.5\nx2,0.5,0.5\n")
    with pytest.raises(MismatchError, match=r"(?s)no id of .* is an id of tiny.*such as 1, 2, 3.*got: x1, x2.*id=…"):
        read_predictions(tmp_path / "p.csv", tiny())
