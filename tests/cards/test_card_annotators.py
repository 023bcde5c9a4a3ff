"""Labels of single annotators, against brute force."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from unseen.cards.facts import evidence_of, group_effects, label_bias, read_ratings
from unseen.errors import InputError, TableError
from unseen.functional.agreement import krippendorff_alpha

ROWS = [
    ("1", "a", "no", "x"), ("1", "b", "yes", "y"), ("1", "c", "yes", "y"),
    ("2", "a", "no", "x"), ("2", "d", "no", "x"), ("2", "b", "yes", "y"),
    ("3", "a", "yes", "x"), ("3", "d", "no", "x"),
    ("4", "a", "no", "x"), ("4", "b", "no", "y"),
]  # fmt: skip


def write(path: Path, rows: list[tuple[str, ...]], header: str = "item,annotator,label,group") -> Path:
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return path


def test_ratings_are_read(tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path / "a.csv", ROWS))
    assert (ratings.items, ratings.labels, ratings.groups) == (("1", "2", "3", "4"), ("no", "yes"), ("x", "y"))
    assert ratings.counts().tolist() == [[1, 2], [2, 1], [1, 1], [2, 0]]
    assert ratings.counts(1).tolist() == [[0, 2], [0, 1], [0, 0], [1, 0]]


def test_agreement_overall_and_within_groups(tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path / "a.csv", ROWS))
    found = {row.slice: row.value for row in label_bias(ratings) if row.metric.startswith("krippendorff")}
    table = {group: [[label for item, _, label, of in ROWS if item == name and of in group] for name in "1234"]
             for group in ("xy", "x", "y")}  # fmt: skip
    wide = {group: [row + [None] * (3 - len(row)) for row in rows] for group, rows in table.items()}
    assert found == {
        "all": pytest.approx(krippendorff_alpha(wide["xy"])),
        "group=x": pytest.approx(krippendorff_alpha(wide["x"])),
        "group=y": krippendorff_alpha(wide["y"]),
    }


def brute_force_p(rows: list[tuple[str, ...]]) -> tuple[float, float]:
    """The difference of x and y, and the share of all ways to deal the groups within items that part them as far."""
    items = sorted({row[0] for row in rows})
    dealt = []
    for item in items:
        own = [(label == "yes", group) for name, _, label, group in rows if name == item]
        first = sum(group == "x" for _, group in own)
        if 0 < first < len(own):
            ways = []
            for chosen in combinations(range(len(own)), first):
                ones = [yes for at, (yes, _) in enumerate(own) if at in chosen]
                others = [yes for at, (yes, _) in enumerate(own) if at not in chosen]
                ways.append(np.mean(ones) - np.mean(others))
            real = np.mean([yes for yes, group in own if group == "x"]) - np.mean(
                [yes for yes, group in own if group == "y"]
            )
            dealt.append((real, ways))
    observed = float(np.mean([real for real, _ in dealt]))
    all_ways = [np.mean(way) for way in product(*(ways for _, ways in dealt))]
    return observed, float(np.mean(np.abs(all_ways) >= abs(observed) - 1e-9))


def test_the_difference_of_groups_against_all_shuffles(tmp_path: Path) -> None:
    (effect,) = group_effects(read_ratings(write(tmp_path / "a.csv", ROWS)))
    observed, p = brute_force_p(ROWS)
    assert (effect.value, effect.n) == (pytest.approx(observed), 3)
    assert effect.tags["p"] == pytest.approx(p, abs=0.02)
    assert effect.tags["p_holm"] == effect.tags["p"]
    assert (effect.tags["first"], effect.tags["second"], effect.tags["label"]) == ("x", "y", "yes")
    assert effect.low <= effect.value <= effect.high  # type: ignore[operator]


def test_a_strong_difference_and_none(tmp_path: Path) -> None:
    apart = [(str(n), who, ("no", "yes")[who == "a"], who) for n in range(30) for who in "ab"]
    (effect,) = group_effects(read_ratings(write(tmp_path / "a.csv", apart)))
    assert effect.value == 1.0
    assert effect.tags["p"] < 0.001
    alike = [(str(n), who, ("no", "yes")[(n + (who == "a")) % 2], who) for n in range(30) for who in "ab"]
    (effect,) = group_effects(read_ratings(write(tmp_path / "b.csv", alike)))
    assert effect.value == 0.0
    assert effect.tags["p"] == 1.0


def test_three_labels_and_groups_are_compared_in_pairs(tmp_path: Path) -> None:
    rows = [(str(n), who, "pqr"[(n * k) % 3], who) for n in range(12) for k, who in enumerate("abc", start=1)]
    ratings = read_ratings(write(tmp_path / "a.csv", rows))
    found = group_effects(ratings)
    assert len(found) == 9
    assert all(row.tags["p_holm"] >= row.tags["p"] for row in found)
    told = evidence_of(label_bias(ratings))
    assert set(told["agreement"]) == {"all", "group=a", "group=b", "group=c"}
    assert len(told["group_effects"]) == 9


def test_the_order_of_rows_decides_nothing(tmp_path: Path) -> None:
    one = label_bias(read_ratings(write(tmp_path / "a.csv", ROWS)))
    assert one == label_bias(read_ratings(write(tmp_path / "b.csv", ROWS[::-1])))


def test_groups_that_share_no_item_have_no_difference(tmp_path: Path) -> None:
    rows = [("1", "a", "no", "x"), ("1", "b", "yes", "x"), ("2", "c", "no", "y"), ("2", "d", "no", "y")]
    (effect,) = group_effects(read_ratings(write(tmp_path / "a.csv", rows)))
    assert (effect.value, effect.n) == (None, 0)


def test_groups_may_be_absent(tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path / "a.csv", [row[:3] for row in ROWS], "item,annotator,label"))
    assert ratings.groups == ()
    assert group_effects(ratings) == []


def test_wrong_rows_are_told_at_once(tmp_path: Path) -> None:
    rows = [("1", "a", "no", "x"), ("1", "a", "yes", "y"), ("2", "", "no", "x"), ("2", "b", "", "x")]
    with pytest.raises(TableError) as refused:
        read_ratings(write(tmp_path / "a.csv", rows))
    said = "\n".join(refused.value.problems)
    for part in ("no annotator: rows 3", "no label: rows 4", "1 rows repeat", "1 annotators are of several groups: a"):
        assert part in said
    with pytest.raises(InputError, match="annotator"):
        read_ratings(write(tmp_path / "b.csv", [("1", "no")], "item,label"))
