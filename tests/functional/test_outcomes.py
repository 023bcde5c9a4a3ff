"""What counts as passed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unseen.errors import InputError
from unseen.functional import as_suite, balanced, load_suite, outcomes
from unseen.functional.outcomes import references, units
from unseen.types import Dataset, Predictions

Builder = Callable[..., Dataset]


def said(suite: Dataset, *yes: float) -> Predictions:
    p = np.array(yes)
    return Predictions(suite.ids, np.column_stack([1 - p, p]), suite.label_names)


def test_each_kind_of_case_is_judged_by_its_own_rule(tiny: Builder) -> None:
    suite = as_suite(
        tiny(
            ids=list("abcdef"), labels=["yes"] * 6, functionality=["f"] * 6,
            kind=["functional", "invariance", "invariance", "directional", "directional", "directional"],
            reference=[None, "a", "a", "a", "a", "a"],
            expect=[None, None, None, "up yes", "down yes", "up no"],
        )
    )  # fmt: skip
    # a is wrong; b says the same as a, c does not; d rose, e rose although it should fall, "no" fell in f
    found = outcomes(suite, said(suite, 0.4, 0.3, 0.6, 0.5, 0.55, 0.8))
    assert found.tolist() == [0, 1, 0, 1, 0, 0]


def test_small_moves_are_tolerated_and_impossible_ones_left_out(tiny: Builder) -> None:
    suite = as_suite(
        tiny(
            ids=list("abcd"), functionality=["f"] * 4, kind=["functional", *["directional"] * 3],
            reference=[None, "a", "a", "a"], expect=[None, "up yes", "up yes", "down yes"],
        )
    )  # fmt: skip
    assert outcomes(suite, said(suite, 0.6, 0.51, 0.49, 0.69))[1:].tolist() == [1, 0, 1]
    moved = outcomes(suite, said(suite, 0.05, 0.0, 0.9, 0.0))[1:]
    assert np.isnan(moved[:2]).all()  # there was nothing to fall by
    assert moved[2] == 1
    with pytest.raises(InputError, match="tolerance"):
        outcomes(suite, said(suite, 0, 0, 0, 0), tolerance=1.0)


def test_cases_without_a_template_stand_alone(tiny: Builder) -> None:
    suite = as_suite(tiny(ids=["1", "2", "3", "4"], functionality=["f"] * 4, template=["2", None, "2", None]))
    found = units(suite)
    assert found[0] == found[2]
    assert len(set(found.tolist())) == 3  # a template called 2 is not the case 2
    assert references(suite).tolist() == [-1] * 4


def test_groups_are_compared_on_templates_that_all_of_them_have(tiny: Builder) -> None:
    suite = as_suite(
        tiny(
            ids=[str(each) for each in range(8)], functionality=["f"] * 8,
            template=["1", "1", "2", "2", "2", "3", "4", "4"],
            target=["cooks", "waiters", "cooks", "cooks", "waiters", "cooks", "waiters", None],
        )
    )  # fmt: skip
    assert balanced(suite).tolist() == [True, True] + [False] * 6


def test_hatecheck_has_421_balanced_cases_per_group(shared_data: Path) -> None:
    suite = load_suite("hatecheck", data_dir=shared_data)
    target = np.array(suite.attribute("target").to_pylist(), dtype=object)[balanced(suite)]
    names, counts = np.unique(target, return_counts=True)
    assert len(names) == 7
    assert set(counts.tolist()) == {421}
