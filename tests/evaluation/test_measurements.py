"""Predictions to measurements: alignment, slices, intervals, what is refused."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.special import expit, logit

import unseen
from unseen.errors import InputError, MismatchError
from unseen.evaluation import metric
from unseen.evaluation.bootstrap import Patterns
from unseen.evaluation.intervals import interval
from unseen.evaluation.measurements import drawn_groups

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
    low, high, tags = interval(metric("accuracy"), gold, p, ["a", "b"], draws=4000)
    assert not tags
    spread = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert (low, high) == pytest.approx((0.75 - spread, 0.75 + spread), abs=0.005)


def test_few_groups_have_wide_intervals_or_none():
    """Of a mean of groups of equal size, the interval is Student's t of their means, seen through the logit."""
    draw = np.random.default_rng(0)
    gold, groups = np.zeros(100, int), np.repeat(np.arange(5), 20)
    right = draw.random(100) < np.repeat([0.5, 0.6, 0.7, 0.8, 0.9], 20)
    p = np.where(right[:, None], [0.9, 0.1], [0.1, 0.9])
    low, high, _ = interval(metric("accuracy"), gold, p, ["a", "b"], groups=groups, draws=8000)
    means = right.reshape(5, 20).mean(axis=1)
    reach = stats.t.ppf(0.975, 4) * stats.sem(means) / (means.mean() * (1 - means.mean()))
    expected = expit(logit(means.mean()) + np.array([-reach, reach]))
    assert (low, high) == pytest.approx(expected, abs=0.01)
    sizes = np.repeat([0, 1, 2], [90, 5, 5])  # one group and two crumbs
    assert interval(metric("accuracy"), gold, p, ["a", "b"], groups=sizes) == (None, None, {"few_groups": 1.23})


def test_a_score_without_spread_has_no_interval(data, right):
    rows = unseen.score(data, right, metrics=["accuracy", "f1.macro"], slices=["user"])
    perfect = [row for row in rows if row.value == 1.0]
    assert len(perfect) == 18
    assert {(row.low, row.high, row.tags["no_spread"]) for row in perfect} == {(None, None, 1)}


def test_averages_over_many_rare_labels_have_no_interval():
    draw, names = np.random.default_rng(0), [str(each) for each in range(77)]
    gold = draw.integers(77, size=308)
    p = np.eye(77)[np.where(draw.random(308) < 0.7, gold, 0)]
    found = interval(metric("f1.macro"), gold, p, names, draws=50)
    assert found == (None, None, {"few_rows": np.bincount(gold)[np.bincount(gold) > 0].min()})
    assert interval(metric("accuracy"), gold, p, names, draws=50).low is not None
    even = np.repeat(np.arange(77), 4)
    assert interval(metric("f1.macro"), even, p, names, draws=50).low is not None


def test_groups_are_drawn_whole():
    groups, rows = np.repeat([7, 3, 5], [2, 3, 1]), np.arange(6)
    (drawn,) = Patterns(rows, [rows], 6, groups).resampled(50, np.random.default_rng(0))
    assert drawn.shape == (50, 6)
    for counts in drawn:
        assert counts[0] == counts[1]
        assert counts[2] == counts[3] == counts[4]


def test_rows_without_a_value_stand_alone():
    codes = drawn_groups(pa.chunked_array([["ann", None, "", "ann", None, "row 1"]])).tolist()
    assert codes[0] == codes[3]
    assert len(set(codes)) == 5


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


def test_rows_without_predictions_are_counted_over_all_parts_and_strange_ids_named(data, tmp_path):
    names = [f"r{i}" if i % 4 else f"x{i}" for i in range(60)]
    path = written(tmp_path / "p.csv", ["id,a,b", *(f"{name},0.6,0.4" for name in names)])
    for split in (None, unseen.split(data, "random", test=0.5)):
        with pytest.raises(MismatchError, match=r"^15 of 60 rows have no prediction") as refused:
            unseen.score(data, path, split, metrics=["accuracy"])
        assert refused.value.problems == (
            "no prediction has the id of the row 'r0'",
            "15 of 60 predictions have ids of no row, such as 'x0'",
        )
        assert "id=…" in str(refused.value.fix)


def test_a_part_without_predictions_is_left_out(data, tmp_path):
    split = unseen.split(data, "random", test=0.2)
    ids = np.array(data.ids.to_pylist())[split.rows("test")]
    path = written(tmp_path / "p.csv", ["id,a,b", *(f"{name},0.6,0.4" for name in ids)])
    assert {row.tags["part"] for row in unseen.score(data, path, split, metrics=["accuracy"])} == {"test"}
