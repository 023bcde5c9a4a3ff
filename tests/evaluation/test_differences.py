"""Trainings of two runs are paired by their tags, and differences are those of scipy's paired test."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from two_runs import BETTER, HARD, summaries, trainings
from unseen.errors import InputError
from unseen.evaluation.differences import difference, key_of, other_names, paired, paired_falls
from unseen.types import Measurement

NUMBERS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=3)


def differences(a: list[Measurement], b: list[Measurement]) -> list[Measurement]:
    return [difference(group, pairs) for group, pairs in paired(a, b).groups.items()]


def test_the_interval_is_that_of_a_paired_t_test() -> None:
    row = differences(trainings("closest", HARD), trainings("closest", BETTER))[0]
    expected = ttest_rel(BETTER, HARD).confidence_interval(0.95)
    assert (row.metric, row.slice, row.tags["trainings"], row.n) == ("difference.f1.macro", "all", 3, 2)
    assert row.value == pytest.approx(sum(BETTER) / 3 - sum(HARD) / 3)
    assert (row.low, row.high) == pytest.approx((expected.low, expected.high))
    assert (row.tags["a"], row.tags["b"]) == pytest.approx((0.51, sum(BETTER) / 3))
    assert {tag: row.tags[tag] for tag in ("family", "model", "part")} == {
        "family": "closest", "model": "minilm", "part": "test",
    }  # fmt: skip


def test_pairs_are_found_by_their_tags_not_by_their_order() -> None:
    b = trainings("closest", BETTER)
    assert differences(trainings("closest", HARD), b[::-1]) == differences(trainings("closest", HARD), b)


@given(NUMBERS)
def test_the_other_way_round_only_the_sign_changes(values: list[tuple[float, float]]) -> None:
    a, b = (trainings("closest", side) for side in zip(*values, strict=True))
    there, back = differences(a, b)[0], differences(b, a)[0]
    assert there.value == pytest.approx(-back.value, abs=1e-12)
    assert (there.low is None) == (back.low is None)
    if there.low is not None:
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-9)


@pytest.mark.parametrize("count", [1, 3])
def test_one_pair_and_pairs_that_do_not_vary_have_no_interval(count: int) -> None:
    a, b = trainings("closest", [0.1, 0.2, 0.3][:count]), trainings("closest", [0.4, 0.5, 0.6][:count])
    row = differences(a, b)[0]
    assert row.value == pytest.approx(0.3)
    assert (row.low, row.high, row.tags["trainings"]) == (None, None, count)


def test_the_only_model_of_each_side_need_not_be_the_same() -> None:
    b = trainings("closest", BETTER, model="neural")
    found = paired(trainings("closest", HARD), b)
    assert found.ignored == {"model": ("minilm", "neural")}
    assert len(*found.groups.values()) == 3
    assert "model" not in found.tags


def test_one_of_several_models_is_paired_with_itself() -> None:
    b = [*trainings("closest", BETTER, model="neural"), *trainings("closest", [0.6, 0.6, 0.6])]
    found = paired(trainings("closest", HARD), b)
    assert found.ignored == {}
    assert [dict(key)["model"] for key in found.groups] == ["minilm"]
    assert [dict(key)["model"] for key in found.only_b] == ["neural"]


def test_a_study_is_grouped_by_data_space_and_model() -> None:
    a, b = (
        [
            row
            for data in ("mails", "posts")
            for space in ("tfidf", "minilm")
            for row in trainings("closest", values, data=data, space=space)
        ]
        for values in (HARD, BETTER)
    )
    rows = differences(a, b)
    assert {(row.tags["data"], row.tags["space"]) for row in rows} == {
        ("mails", "tfidf"), ("mails", "minilm"), ("posts", "tfidf"), ("posts", "minilm"),
    }  # fmt: skip
    assert {row.tags["trainings"] for row in rows} == {3}


def test_only_shared_seeds_make_pairs() -> None:
    found = paired(trainings("closest", HARD), trainings("closest", BETTER, seeds=(55, 83, 7)))
    assert [(a.tags["seed"], b.tags["seed"]) for a, b in next(iter(found.groups.values()))] == [(55, 55), (83, 83)]


def test_what_has_no_pair_is_said() -> None:
    a = [*trainings("random", HARD), *trainings("closest", HARD)]
    b = [*trainings("closest", BETTER, seeds=(1, 2, 3)), *trainings("length", BETTER)]
    found = paired(a, b)
    families = [[dict(key)["family"] for key in keys] for keys in (found.only_a, found.only_b, found.apart)]
    assert families == [["random"], ["length"], ["closest"]]
    assert found.groups == {}


def test_slices_and_parts_and_metrics_are_groups_of_their_own() -> None:
    base = trainings("closest", HARD)
    more = [replace(row, slice="x=1") for row in base] + trainings("closest", HARD, part="dev")
    rows = [*base, *more, *trainings("closest", HARD, metric="accuracy")]
    assert len(differences(rows, rows)) == 4


def test_rows_of_several_splits_add_up() -> None:
    rows = [*trainings("random", HARD, split="random-1"), *trainings("random", HARD, split="random-2")]
    row = differences(rows, rows)[0]
    assert (row.n, row.tags["trainings"], row.value) == (4, 6, 0)


def test_means_shares_and_scores_without_data_make_no_pairs() -> None:
    tags = {"split": "closest", "family": "closest", "part": "test"}
    rows = [*summaries({"random": HARD, "closest": HARD}), Measurement("label_conflict", 0.5, 2, tags=tags)]
    rows += [Measurement("f1.macro", None, 0, tags=tags | {"seed": 42})]
    assert differences(rows, rows) == []


def test_two_rows_of_one_training_are_refused() -> None:
    rows = trainings("closest", HARD)
    with pytest.raises(InputError, match=r"two measurements of B are of the same training.*seed 42"):
        differences(rows, [*rows, rows[0]])


def test_falls_are_paired_by_family() -> None:
    a, b = summaries({"random": [0.8], "closest": [0.5]}), summaries({"random": [0.8], "closest": [0.6]}, model="x")
    assert paired_falls(a, b) == []
    assert [(x.value, y.value) for x, y in paired_falls(a, b, ["model"])] == [
        (pytest.approx(0.3), pytest.approx(0.2))
    ]  # fmt: skip


def test_falls_are_paired_whatever_is_said_of_their_numbers() -> None:
    a, b = (
        [
            Measurement("fall.f1.macro", 0.1, 9, tags={"leak": "near", "rows": rows, "p": p, "removals": removals})
            for rows in ("all", "leaked")
        ]
        for p, removals in ((0.047619, 20), (0.166667, 5))
    )
    assert [(x.tags["rows"], y.tags["rows"]) for x, y in paired_falls(a, b)] == [("all", "all"), ("leaked", "leaked")]


def test_a_number_keeps_the_tags_that_say_what_it_is_of() -> None:
    of = {"rows": "leaked", "authors": "2", "baseline": "length", "pairs": "contrast", "part": "test"}
    about = {"p": 0.1, "p.holm": 0.2, "removals": 5, "seeds": 3, "sentence": "It errs.", "lowest": "x", "df": 2.5}
    key = key_of(Measurement("f1.macro", 0.5, 9, tags=of | about))
    assert dict(key) == {"metric": "f1.macro", "slice": "all", **of}


def test_names_that_keep_numbers_of_one_side_apart_are_compared() -> None:
    def rows(*tags: dict[str, str]) -> list[Measurement]:
        return [Measurement("f1.macro", 0.5, 9, tags=tag) for tag in tags]

    assert other_names(rows({"model": "a"}), rows({"model": "b"})) == {"model": ("a", "b")}
    assert other_names(rows({"model": "a"}, {}), rows({"model": "b"}, {})) == {}, "two numbers would be one"
    assert other_names(rows({"model": "a"}), rows({"model": "a"}, {"model": "b"})) == {}, "two names"
    assert other_names(rows({"part": "dev"}), rows({"part": "test"})) == {}, "another question"
    both = {"model": "a", "split": "x"}, {"model": "b", "split": "y"}
    assert other_names(*map(rows, both)) == {"model": ("a", "b"), "split": ("x", "y")}
    assert other_names(rows({}, {"pairs": "x"}), rows({})) == {}, "nothing more would be compared"
