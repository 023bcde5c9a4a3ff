"""Warm-ups, repeats, percentiles, and the largest batch of a model whose memory is known."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.costs import speed
from unseen.costs.speed import Repeated, in_fresh_process, largest_batch, latencies, texts_per_second, timed
from unseen.errors import InputError, UnseenError


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only moves when it is pushed."""
    now = [0.0]
    monkeypatch.setattr(speed, "perf_counter", lambda: now[0])
    return now


def test_the_first_time_is_a_warm_up_that_does_not_count(clock: list[float]) -> None:
    spent = iter([100.0, 1.0, 2.0, 4.0])

    def work() -> None:
        clock[0] += next(spent)

    assert timed(work, 3) == Repeated((1.0, 2.0, 4.0))


def test_median_and_quartiles() -> None:
    repeated = Repeated((4.0, 1.0, 2.0, 3.0, 100.0))
    assert repeated.median == 3
    assert repeated.quartiles == (2, 4)


def test_texts_go_in_batches_of_the_size_that_was_asked_for(clock: list[float]) -> None:
    sizes = []

    def ask(texts: list[str]) -> None:
        sizes.append(len(texts))
        clock[0] += 0.5

    rates = texts_per_second(ask, ["a"] * 10, 4, 3)
    assert sizes == [4, 4, 2] * 4
    assert rates.values == (10 / 1.5,) * 3


def test_latency_is_that_of_one_text_and_percentiles_are_numpys(clock: list[float]) -> None:
    def ask(texts: list[str]) -> None:
        (text,) = texts
        clock[0] += float(text)

    texts = [str(number) for number in range(1, 101)]
    shares = latencies(ask, texts, 3)
    for share in (50, 95, 99):
        assert shares[share].values == pytest.approx([np.percentile(np.arange(1, 101), share)] * 3)


def test_a_single_time_has_no_spread() -> None:
    for work in (lambda: timed(lambda: None, 2), lambda: latencies(lambda texts: None, ["a"], 1)):
        with pytest.raises(InputError, match="at least 3"):
            work()


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 64))
def test_the_largest_batch_is_within_the_budget_and_a_tenth_of_the_limit(limit: int, most: int, first: int) -> None:
    tried: list[int] = []

    def peak(batch: int) -> float:
        tried.append(batch)
        return 100.0 + 7.0 * batch

    largest = largest_batch(peak, 100 + 7 * limit, most, first)
    exact = min(limit, most)
    assert largest.batch is not None
    assert largest.batch <= exact
    assert exact - largest.batch <= max(1, 0.1 * largest.batch)
    assert len(tried) == len(set(tried)) == len(largest.tried)
    assert largest.limited == (limit < most)


def test_a_model_that_does_not_fit_at_all_has_no_batch() -> None:
    largest = largest_batch(lambda batch: 1e9, 1e6, 64)
    assert largest.batch is None
    assert set(largest.tried) == {8, 4, 2, 1}


def test_a_fresh_process_is_another_one_and_its_error_is_raised_here() -> None:
    assert in_fresh_process(os.getpid) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        in_fresh_process(divmod, 1, 0)


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(UnseenError, match="died"):
        in_fresh_process(os._exit, 3)
