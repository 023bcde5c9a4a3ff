"""A model on a suite: rates on every slice, against plain loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unseen.errors import InputError
from unseen.functional import as_suite, check, compare_on_suite, load_suite, outcomes
from unseen.functional.pass_rates import slices_of
from unseen.reports.behaviour import behaviours, target_matrix
from unseen.types import Dataset, Measurement, Predictions

Builder = Callable[..., Dataset]


@pytest.fixture
def suite(tiny: Builder) -> Dataset:
    """Two functionalities of six cases, three templates each, two groups; the second contrasts with the first."""
    ids = [f"{kind}{number}" for kind in "ab" for number in range(6)]
    return as_suite(
        tiny(
            ids=ids, labels=["yes"] * 6 + ["no"] * 6, functionality=["x_plain"] * 6 + ["x_not"] * 6,
            template=[f"{kind}{number // 2}" for kind in "ab" for number in range(6)],
            target=["cooks", "waiters"] * 6, reference=[None] * 6 + ids[:6],
            direction=["general"] * 4 + ["directed"] * 8,
        )
    )  # fmt: skip


def said(suite: Dataset, yes: list[int]) -> Predictions:
    p = np.array(yes, dtype=float)
    return Predictions(suite.ids, np.column_stack([1 - p, p]), suite.label_names)


def value(rows: list[Measurement], slice: str, metric: str = "pass_rate", **tags: str) -> float | None:
    (found,) = [
        row for row in rows
        if (row.metric, row.slice) == (metric, slice) and all(row.tags.get(tag) == each for tag, each in tags.items())
    ]  # fmt: skip
    return found.value


ANSWERS = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0]
"""Wrong on a3 and b4."""


def test_every_axis_is_measured(suite: Dataset) -> None:
    rows = check(suite, said(suite, ANSWERS), tags={"model": "m"})
    assert value(rows, "all") == pytest.approx(10 / 12)
    assert value(rows, "label=yes") == pytest.approx(5 / 6)
    assert value(rows, "functionality=x_not") == pytest.approx(5 / 6)
    assert value(rows, "class=x") == pytest.approx(10 / 12)
    assert value(rows, "direction=general") == pytest.approx(3 / 4)
    assert value(rows, "target=waiters") == pytest.approx(5 / 6)
    assert value(rows, "target=cooks & functionality=x_not") == pytest.approx(2 / 3)
    function = next(row for row in rows if row.slice == "functionality=x_not")
    assert dict(function.tags) == {"suite": "tiny", "model": "m", "axis": "functionality", "gold": "no", "class": "x"}


def test_pairs_are_right_only_together(suite: Dataset) -> None:
    rows = check(suite, said(suite, ANSWERS))
    assert value(rows, "all", "pair_accuracy", pairs="contrast") == pytest.approx(4 / 6)  # pairs 3 and 4 are broken
    assert not [row for row in rows if row.metric == "flip_rate"]


def test_alterations_may_flip(tiny: Builder) -> None:
    suite = as_suite(
        tiny(ids=list("abcd"), labels=["yes"] * 4, functionality=["f"] * 4, reference=[None, "a", "a", "a"])
    )
    rows = check(suite, said(suite, [0, 0, 1, 1]))
    assert value(rows, "all", "flip_rate") == pytest.approx(2 / 3)
    assert value(rows, "functionality=f", "pair_accuracy", pairs="alteration") == 0


def test_further_columns_can_be_sliced_by(suite: Dataset, tiny: Builder) -> None:
    more = as_suite(tiny(functionality=["f"] * 4, length=[1, 1, 2, None]))
    names = [name for name, _, _ in slices_of(more, ["length"])]
    assert [each for each in names if each.startswith("length")] == ["length=1", "length=2", "length=(none)"]


def test_models_are_compared_with_adjusted_p_values(suite: Dataset) -> None:
    perfect = [1] * 6 + [0] * 6
    rows = compare_on_suite(suite, said(suite, perfect), said(suite, ANSWERS))
    assert value(rows, "all", "difference.pass_rate") == pytest.approx(2 / 12)
    functions = [row for row in rows if row.tags.get("axis") == "functionality"]
    assert [row.tags["p"] for row in functions] == [1.0, 1.0]  # one template each makes no difference
    worst = compare_on_suite(suite, said(suite, perfect), said(suite, [1 - each for each in perfect]))
    functions = [row for row in worst if row.tags.get("axis") == "functionality"]
    assert [row.tags["p"] for row in functions] == [0.25, 0.25]  # two of the eight ways to swap three templates
    assert [row.tags["p.holm"] for row in functions] == [0.5, 0.5]


def test_always_hateful_scores_what_was_counted(shared_data: Path) -> None:
    suite = load_suite("hatecheck", data_dir=shared_data)
    p = np.tile([0.0, 1.0], (len(suite), 1))
    rows = check(suite, Predictions(suite.ids, p, suite.label_names))
    assert value(rows, "all") == pytest.approx(0.6875, abs=5e-5)
    assert {row.n for row in rows if row.tags.get("axis") == "target"} == {421}
    sizes = {row.slice: row.n for row in rows if row.tags.get("axis") == "class"}
    counted = {"derog": 560, "threat": 273, "slur": 255, "profanity": 240, "ref": 273, "negate": 273}
    counted |= {"phrase": 273, "ident": 315, "counter": 314, "target": 192, "spell": 760}
    assert sizes == {f"class={name}": n for name, n in counted.items()}
    assert sum(row.n for row in rows if row.metric == "pair_accuracy" and row.slice == "all") == 2046


def test_slices_that_are_there_anyway_are_refused(suite: Dataset, tiny: Builder) -> None:
    for wrong in (["target"], ["label"], ["direction"]):
        with pytest.raises(InputError, match="anyway"):
            check(suite, said(suite, ANSWERS), slices=wrong)
    more = as_suite(tiny(functionality=["f"] * 4, length=[1, 1, 2, 2], words=[None, None, None, ["a", "b"]]))
    with pytest.raises(InputError, match="twice"):
        check(more, said(more, [0, 1, 0, 1]), slices=["length", "length"])
    with pytest.raises(InputError, match="a case has one words"):
        check(more, said(more, [0, 1, 0, 1]), slices=["words"])


def test_being_right_and_being_stable_are_told_apart(tiny: Builder) -> None:
    suite = as_suite(
        tiny(
            ids=list("abcd"), labels=["yes"] * 4, functionality=["plain", "plain", "typo", "typo"],
            kind=["functional", None, "invariance", "invariance"], reference=[None, None, "a", "b"],
        )
    )  # fmt: skip
    rows = check(suite, said(suite, [0, 0, 0, 0]))
    assert value(rows, "functionality=plain") == 0
    assert value(rows, "kind=invariance") == 1
    assert not [row for row in rows if row.metric == "pair_accuracy"]


def test_names_may_hold_what_joins_two_axes(tiny: Builder) -> None:
    suite = as_suite(
        tiny(functionality=["f & g"] * 4, template=["1", "1", "2", "2"], target=["x & y", "z", "x & y", "z"])
    )
    rows = check(suite, said(suite, [0, 1, 1, 1]), tags={"model": "m"})
    (of,) = behaviours(rows)
    functions, targets, values = target_matrix(of, "m") or ([], [], [])
    assert (functions, targets, values) == (["f & g"], ["x & y", "z"], [[0.5, 1.0]])


def sure(suite: Dataset, *yes: float) -> Predictions:
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
    found = outcomes(suite, sure(suite, 0.4, 0.3, 0.6, 0.5, 0.55, 0.8))
    assert found.tolist() == [0, 1, 0, 1, 0, 0]


def test_small_moves_are_tolerated_and_impossible_ones_left_out(tiny: Builder) -> None:
    suite = as_suite(
        tiny(
            ids=list("abcd"), functionality=["f"] * 4, kind=["functional", *["directional"] * 3],
            reference=[None, "a", "a", "a"], expect=[None, "up yes", "up yes", "down yes"],
        )
    )  # fmt: skip
    assert outcomes(suite, sure(suite, 0.6, 0.51, 0.49, 0.69))[1:].tolist() == [1, 0, 1]
    moved = outcomes(suite, sure(suite, 0.05, 0.0, 0.9, 0.0))[1:]
    assert np.isnan(moved[:2]).all()  # there was nothing to fall by
    assert moved[2] == 1
    with pytest.raises(InputError, match="tolerance"):
        outcomes(suite, sure(suite, 0, 0, 0, 0), tolerance=1.0)
