"""Progress: one measure for a whole run, which never falls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unseen.progress import Progress, reporting, stages, track


def test_steps_are_told_one_by_one() -> None:
    told: list[Progress] = []
    with reporting(told.append):
        assert list(track("ab", "trainings", 2)) == ["a", "b"]
    assert told == [
        Progress("trainings", 0, 2, 0.0),
        Progress("trainings", 1, 2, 0.5),
        Progress("trainings", 2, 2, 1.0),
    ]


def test_a_loop_inside_another_moves_it_on_by_parts_of_a_step() -> None:
    told: list[Progress] = []
    with reporting(told.append):
        for _ in track(range(2), "trainings", 2):
            for _ in track(range(4), "epochs", 4):
                assert list(track(range(3), "batches", 3)) == [0, 1, 2]
    assert {progress.work for progress in told} == {"trainings"}
    assert [progress.share for progress in told if progress.done == 0] == [0.0, 0.125, 0.25, 0.375, 0.5]


def test_stages_make_one_whole() -> None:
    told: list[Progress] = []
    with reporting(told.append), stages({"splits": 1, "trainings": 8, "measuring": 1}):
        for work in ("splits", "trainings", "measuring"):
            list(track(range(2), work, 2))
        list(track(range(1), "something else", 1))
    shares = [progress.share for progress in told if progress.of_run]
    assert shares == [0.0, 0.05, 0.1, 0.1, 0.5, 0.9, 0.9, 0.95, 1.0]
    assert not told[-1].of_run


def test_a_broken_loop_leaves_the_next_one_its_own() -> None:
    told: list[Progress] = []
    with reporting(told.append):
        for _ in track(range(3), "first", 3):
            break
        list(track(range(1), "second", 1))
    assert told[-1] == Progress("second", 1, 1, 1.0)


@given(st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=4))
def test_the_share_never_falls_and_ends_at_one(inside: list[list[int]]) -> None:
    told: list[Progress] = []
    with reporting(told.append):
        for lengths in track(inside, "outer", len(inside)):
            for length in lengths:
                list(track(range(length), "inner", length))
    shares = [progress.share for progress in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
