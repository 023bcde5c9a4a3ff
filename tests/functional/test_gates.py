"""What a model must pass."""

from __future__ import annotations

import pytest

from unseen.errors import InputError
from unseen.functional.gates import Gate, check_gates, judged
from unseen.types import Measurement

ROWS = [
    Measurement("pass_rate", 0.8, 10, slice="all", tags={"model": "m"}),
    Measurement("pass_rate", 0.4, 5, slice="functionality=a", tags={"model": "m"}),
    Measurement("pass_rate", 0.5, 5, slice="functionality=b", tags={"model": "m"}),
    Measurement("pass_rate", None, 0, slice="functionality=c", tags={"model": "m"}),
    Measurement("pair_accuracy", 0.0, 5, slice="functionality=a", tags={"model": "m"}),
]


def test_gates_are_typed_as_slice_and_rate() -> None:
    assert Gate.parsed("all:0.8") == Gate("all", 0.8)
    assert Gate.parsed("a:.5") == Gate("functionality=a", 0.5)
    assert Gate.parsed("target=x:y:1") == Gate("target=x:y", 1.0)
    for wrong in ("all", "all:much", "all:1.5", ":0.5"):
        with pytest.raises(InputError, match="not a gate"):
            Gate.parsed(wrong)


def test_every_slice_that_matches_must_reach_the_rate() -> None:
    found = {each.slice: each.passed for each in judged([Gate("functionality=*", 0.5)], ROWS)}
    assert found == {"functionality=a": False, "functionality=b": True, "functionality=c": False}


def test_a_gate_that_is_about_nothing_is_refused() -> None:
    check_gates([Gate("functionality=*", 0.5)], ["functionality=a"])
    with pytest.raises(InputError, match="functionality=z"):
        check_gates([Gate("functionality=z", 0.5)], ["functionality=a"])


def test_a_gate_on_targets_is_not_about_their_cells() -> None:
    assert Gate("target=*", 0.5).is_about("target=cooks")
    assert not Gate("target=*", 0.5).is_about("target=cooks & functionality=a")
    assert Gate("target=* & functionality=a", 0.5).is_about("target=cooks & functionality=a")
    assert Gate("functionality=a[b]", 0.5).is_about("functionality=a[b]")  # a name, not a pattern
