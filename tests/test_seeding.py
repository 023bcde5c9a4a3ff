from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unseen.seeding import child_seed, generator

NAMES = st.lists(st.one_of(st.integers(), st.text(st.characters(exclude_categories=["Cs"]))), max_size=4)


def test_seeds_are_these_on_every_machine() -> None:
    # printf 42/kmeans/0 | sha256sum, its first 8 digits
    assert child_seed(42) == 1934056628
    assert child_seed(42, "kmeans", 0) == 4043599885
    assert child_seed(42, "kmeans", 1) == 3908302577
    assert generator(42, "draw").integers(1000, size=4).tolist() == [959, 261, 660, 973]


@given(st.integers(), NAMES)
def test_a_child_seed_fits_numpy_and_scikit_learn(seed: int, names: list[str | int]) -> None:
    assert 0 <= child_seed(seed, *names) < 2**32
    np.random.RandomState(child_seed(seed, *names))


def test_seed_name_and_order_of_names_all_count() -> None:
    seeds = {
        child_seed(42, "a", "b"),
        child_seed(43, "a", "b"),
        child_seed(42, "b", "a"),
        child_seed(42, "a"),
        child_seed(42, "ab"),
    }
    assert len(seeds) == 5


def test_a_numpy_integer_is_the_same_seed() -> None:
    assert child_seed(np.int64(42), "k", np.int32(3)) == child_seed(42, "k", 3)  # type: ignore[arg-type]


def test_generators_of_one_name_repeat_and_of_two_names_differ() -> None:
    first, again, other = (generator(7, name).random(100) for name in ("a", "a", "b"))
    assert np.array_equal(first, again)
    assert not np.isclose(first, other).any()


def test_drawing_from_one_child_leaves_the_others_alone() -> None:
    alone = generator(7, "b").random(3)
    generator(7, "a").random(1000)
    np.random.random(10)
    assert np.array_equal(generator(7, "b").random(3), alone)


def test_the_hash_seed_of_the_process_does_not_matter() -> None:
    program = "from unseen.seeding import child_seed; print(child_seed(1, 'x', 2))"
    seen = {
        subprocess.check_output([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": hash_seed})
        for hash_seed in ("1", "2")
    }
    assert seen == {f"{child_seed(1, 'x', 2)}\n".encode()}
