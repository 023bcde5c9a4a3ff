"""Predictions to measurements: alignment, slices, intervals, what is refused."""

import numpy as np
import pytest

import unseen
from unseen.errors import InputError, MismatchError
from unseen.evaluation import metric
from unseen.evaluation.intervals import interval, resamples

ROWS = [
    {"id": f"r{i}", "text": f"text {i}", "label": "ab"[i % 2], "user": f"u{i // 6}", "tags": [["x"], ["x", "y"]][i % 2]}
    for i in range(60)
]


@pytest.fixture
def data():
    return unseen.load(ROWS, id="id", attributes=["user", "tags"])


def written(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def right(tmp_path):
    """Right for all but the first six rows; the columns and the rows in another order than the data's."""
    lines = [f"r{i},{0.9 if (i % 2) == (i >= 6) else 0.1},{0.1 if (i % 2) == (i >= 6) else 0.9}" for i in range(60)]
    return written(tmp_path / "p.csv", ["id,b,a", *reversed(lines)])


def test_rows_and_labels_are_matched_by_name(data, right):
    (row,) = unseen.score(data, right, metrics=["accuracy"])
    assert (row.value, row.n) == (0.9, 60)
    assert row.low < 0.9 < row.high


def test_parts_and_slices(data, right):
    split = unseen.split(data, "random", test=0.5, groups="user")
    rows = unseen.score(data, right, split, metrics=["accuracy"], slices=["tags"])
    assert [(row.tags["part"], row.slice) for row in rows] == [
        (part, name) for part in ("train", "test") for name in ("all", "tags=x", "tags=y")
    ]
    assert sum(row.value * row.n for row in rows if row.slice == "all") == pytest.approx(54)
    assert [row.n for row in rows if row.slice == "tags=y"] == [15, 15]


def test_intervals_by_group_are_wider_when_errors_come_in_groups(data, right):
    (by_row,) = unseen.score(data, right, metrics=["accuracy"])
    (by_user,) = unseen.score(data, right, metrics=["accuracy"], groups="user")
    assert by_user.high - by_user.low > 1.5 * (by_row.high - by_row.low)


def test_the_interval_of_a_share_is_that_of_theory():
    gold, p = np.zeros(400, int), np.tile([0.9, 0.1], (400, 1))
    p[:100] = p[:100, ::-1]
    low, high = interval(metric("accuracy"), gold, p, ["a", "b"], draws=4000)
    spread = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert (low, high) == pytest.approx((0.75 - spread, 0.75 + spread), abs=0.005)


def test_groups_are_drawn_whole():
    groups = np.repeat([7, 3, 5], [2, 3, 1])
    for rows in resamples(6, groups, 50, seed=0):
        counts = np.bincount(rows, minlength=6)
        assert counts[0] == counts[1]
        assert counts[2] == counts[3] == counts[4]


def test_predicted_labels_have_no_ranking(data, tmp_path):
    path = written(tmp_path / "p.csv", ["id,prediction", *(f"r{i},{'ab'[i % 2]}" for i in range(60))])
    assert unseen.score(data, path, metrics=["f1.macro"])[0].value == 1.0
    with pytest.raises(InputError, match="needs probabilities"):
        unseen.score(data, path, metrics=["roc_auc.binary"])


@pytest.mark.parametrize(
    ("lines", "error", "said"),
    [
        (["id,a,b", "r0,0.5,0.5"], MismatchError, "59 of 60 rows have no prediction"),
        (["id,a", "r0,1.0"], InputError, "lacks the probabilities of b"),
        (["row,a,b", "r0,1,0"], InputError, "no column 'id'"),
        (["id,a,b", "r0,0.9,0.9"], InputError, "not probabilities"),
        (["id,a,b", "r0,high,0.9"], InputError, "not all numbers"),
        (["id,prediction", "r0,c"], InputError, "no label is called 'c'"),
        (["id,confidence", "r0,1"], InputError, "has no predictions"),
    ],
)
def test_wrong_files_are_refused(data, tmp_path, lines, error, said):
    with pytest.raises(error, match=said):
        unseen.score(data, written(tmp_path / "p.csv", lines), metrics=["accuracy"])


def test_a_part_without_predictions_is_left_out(data, tmp_path):
    split = unseen.split(data, "random", test=0.2)
    ids = np.array(data.ids.to_pylist())[split.rows("test")]
    path = written(tmp_path / "p.csv", ["id,a,b", *(f"{name},0.6,0.4" for name in ids)])
    assert {row.tags["part"] for row in unseen.score(data, path, split, metrics=["accuracy"])} == {"test"}
