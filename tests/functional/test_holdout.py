"""Plans for training on a suite: what is held out is really out, and near-copies are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_suite import small_suite
from tiny_data import build
from unseen.errors import InfeasibleError, InputError, UnknownNameError
from unseen.functional.holdout import SCHEMES, guard, leaks, pair_codes, plans, possible_schemes
from unseen.functional.suite import as_suite
from unseen.functional.tables import load_suite
from unseen.types import Dataset


@pytest.fixture(scope="module")
def hatecheck(shared_data: Path) -> Dataset:
    return load_suite("hatecheck", data_dir=shared_data)


@pytest.fixture(scope="module")
def suite() -> Dataset:
    return as_suite(small_suite())


def column(suite: Dataset, name: str) -> list[str | None]:
    return suite.attribute(name).to_pylist()


def test_published_sizes(hatecheck: Dataset) -> None:
    """The sizes that the specification counts: 140 cases out, 1,794 train, a pool of 1,934, 967 test."""
    found = {plan.held_out: plan for plan in plans(hatecheck, "functionality", strict=False)}
    plan = found["derog_impl_h"]
    assert len(found) == 29
    assert len(plan.train) == 1794
    assert (len(plan.dev), len(plan.test)) == (967, 967)
    assert abs(len(plan.test_held_out) - 70) < 20  # half of what is held out has gone to validation
    classes = {plan.held_out: plan for plan in plans(hatecheck, "class", strict=False)}
    assert len(classes) == 11
    assert len(classes["spell"].train) == 1484
    (everything,) = plans(hatecheck, "all")
    assert [len(rows) for rows in everything.parts.values()] == [1864, 932, 932, 0]


def test_strict_plans_test_all_that_is_held_out(hatecheck: Dataset) -> None:
    found = plans(hatecheck, "target")
    target = column(hatecheck, "target")
    assert [plan.held_out for plan in found] == sorted({each for each in target if each})
    assert sum(len(plan.test_held_out) for plan in found) == 3728 - 292
    for plan in found:
        assert {target[row] for row in plan.test_held_out} == {plan.held_out}
        others = {target[row] for rows in (plan.train, plan.dev, plan.test_covered) for row in rows}
        assert None in others
        assert plan.held_out not in others


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("strict", [True, False])
def test_every_case_is_in_one_part_and_labels_are_balanced(suite: Dataset, scheme: str, strict: bool) -> None:
    for plan in plans(suite, scheme, strict=strict, folds=3):
        together = np.concatenate(list(plan.parts.values()))
        assert sorted(together) == list(range(len(suite)))
        rest = together[~np.isin(together, plan.test_held_out)]
        pools = {"train": (plan.train, rest if strict else None)}
        if strict:
            pools["dev"] = (plan.dev, np.concatenate([plan.dev, plan.test_covered]))
        for rows, pool in pools.values():
            if pool is not None:
                for label in range(2):
                    assert abs((suite.labels[rows] == label).sum() - (suite.labels[pool] == label).sum() / 2) <= 1


@given(st.data())
@settings(max_examples=40)
def test_folds_keep_templates_and_partners_together(data: st.DataObject) -> None:
    """Against a search through the graph of templates, on suites of any shape."""
    n = data.draw(st.integers(16, 40))
    template = [f"t{data.draw(st.integers(0, n // 2))}" if data.draw(st.booleans()) else None for _ in range(n)]
    reference = [str(data.draw(st.integers(0, n - 1))) if data.draw(st.integers(0, 2)) == 0 else None for _ in range(n)]
    reference = [None if each == str(row) else each for row, each in enumerate(reference)]
    suite = build([str(row) for row in range(n)], functionality=["f"] * n, template=template, reference=reference)
    together = {row: {row} for row in range(n)}
    for row in range(n):
        for other in range(n):
            sibling = template[row] is not None and template[row] == template[other]
            if sibling or reference[row] == str(other):
                joined = together[row] | together[other]
                for each in joined:
                    together[each] = joined
    codes = pair_codes(suite)
    assert all((codes[a] == codes[b]) == (b in together[a]) for a in range(n) for b in range(n))
    if len(np.unique(codes)) < 3:
        return
    try:
        found = plans(suite, "pair", folds=2)
    except InfeasibleError:
        return
    assert sorted(row for plan in found for row in plan.test_held_out) == list(range(n))
    for plan in found:
        assert not set().union(*(together[row] for row in plan.test_held_out)) & {*plan.train, *plan.dev}


def test_template_folds_have_no_siblings_and_are_even(hatecheck: Dataset) -> None:
    template = np.array(column(hatecheck, "template"))
    found = plans(hatecheck, "template", folds=5)
    assert sorted(np.concatenate([plan.test_held_out for plan in found])) == list(range(len(hatecheck)))
    for plan in found:
        seen = np.concatenate([plan.train, plan.dev, plan.test_covered])
        assert not set(template[plan.test_held_out]) & set(template[seen])
        assert abs(len(plan.test_held_out) - len(hatecheck) / 5) < 10
        share = (hatecheck.labels[plan.test_held_out] == 1).mean()
        assert share == pytest.approx(2563 / 3728, abs=0.01)


@pytest.mark.parametrize("lone", [False, True])
def test_neither_the_order_of_rows_nor_chance_decides(suite: Dataset, lone: bool) -> None:
    """With templates, and with cases that have none."""
    if lone:
        kept = tuple(name for name in suite.attributes if name != "template")
        suite = replace(suite, table=suite.table.drop_columns("template"), attributes=kept)
    turned = suite.take(np.random.default_rng(1).permutation(len(suite)))
    for scheme in possible_schemes(suite):
        one, other, seeded = (
            [
                {name: sorted(data.ids.take(rows).to_pylist()) for name, rows in plan.parts.items()}
                for plan in plans(data, scheme, folds=3, seed=seed)
            ]
            for data, seed in ((suite, 42), (turned, 42), (suite, 43))
        )
        assert one == other
        assert one != seeded


def test_pairs_of_hatecheck_are_the_components_of_templates_and_what_they_refer_to(hatecheck: Dataset) -> None:
    """292 cases name the template of their partner alone; against plain sets, and no partner is trained on."""
    sizes = np.bincount(pair_codes(hatecheck))
    assert (len(sizes), sizes.max()) == (278, 90)
    template, partner = column(hatecheck, "template"), column(hatecheck, "reference_template")
    assert sum(each is not None for each in partner) == 2338
    for plan in plans(hatecheck, "pair"):
        trained = {template[row] for row in plan.train}
        referred = {partner[row] for row in plan.train} - {None}
        assert not [row for row in plan.test_held_out if partner[row] in trained or template[row] in referred]


def test_templates_that_refer_to_templates_are_enough_for_pairs(tiny: Callable[..., Dataset]) -> None:
    suite = as_suite(
        tiny([str(n) for n in range(8)], functionality=["f"] * 8, templ_id=[*"aabbccdd"],
             ref_templ_id=["b", None, None, None, "elsewhere", None, None, "d"])
    )  # fmt: skip
    assert "pair" in possible_schemes(suite)
    assert pair_codes(suite).tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    kept = tuple(name for name in suite.attributes if name != "template")
    bare = replace(suite, table=suite.table.drop_columns("template"), attributes=kept)
    assert "pair" not in possible_schemes(bare)


def test_the_guard_sees_what_is_not_held_out(suite: Dataset) -> None:
    plan = plans(suite, "class")[0]
    values = np.unique(np.array(column(suite, "class")), return_inverse=True)[1]
    guard(plan, values)
    for broken, said in (
        (replace(plan, test_held_out=np.empty(0, np.intp)), "no case is held out"),
        (replace(plan, train=np.append(plan.train, plan.test_held_out[0])), "are trained on and held out"),
        (replace(plan, train=np.append(plan.train[1:], plan.test_held_out[0])), "held-out class are trained on"),
        (replace(plan, dev=np.append(plan.dev, plan.train[0])), "validation rows are trained on"),
        (replace(plan, test_held_out=plan.test_held_out[1:], train=np.append(plan.train, plan.test_held_out[0])),
         "cases of the held-out class are trained on"),
    ):  # fmt: skip
        with pytest.raises(InputError, match="holds nothing out") as caught:
            guard(broken, values)
        assert said in str(caught.value)


def brute_leaks(suite: Dataset, plan: object, rows: np.ndarray) -> dict[str, int]:
    ids = suite.ids.to_pylist()
    template, reference = column(suite, "template"), column(suite, "reference")
    named = column(suite, "reference_template") if "reference_template" in suite.attributes else [None] * len(ids)
    pairs = [(template[a], template[ids.index(each)]) for a, each in enumerate(reference) if each is not None]
    pairs += [(template[a], each) for a, each in enumerate(named) if each is not None]
    counts = {"template": 0, "reference": 0, "any": 0}
    for row in rows:
        same = any(template[other] == template[row] for other in plan.train)
        partner = False
        for a, b in pairs:
            for near, far in ((a, b), (b, a)):
                if near == template[row] and far != template[row]:
                    partner |= any(template[other] == far for other in plan.train)
        counts["template"] += same
        counts["reference"] += partner
        counts["any"] += same or partner
    return counts


@pytest.mark.parametrize("scheme", ["all", "class", "template", "pair"])
@pytest.mark.parametrize("named", [False, True])
def test_leaks_by_brute_force(suite: Dataset, scheme: str, named: bool) -> None:
    """With partners named by their cases, and others by their templates alone."""
    if named:
        asked = [f"plain_{each[4:]}" if each.startswith("ask_") else None for each in column(suite, "template")]
        table = suite.table.append_column("reference_template", pa.array(asked, pa.large_string()))
        suite = replace(suite, table=table, attributes=(*suite.attributes, "reference_template"))
    found = plans(suite, scheme, folds=2)
    rows = {(row.metric, row.tags["part"]): row for row in leaks(suite, found)}
    for part, name in (("covered", "test_covered"), ("held-out", "test_held_out")):
        total = sum(len(getattr(plan, name)) for plan in found)
        if not total:
            assert ("leak.any", part) not in rows
            continue
        counted = [brute_leaks(suite, plan, getattr(plan, name)) for plan in found]
        for kind in ("template", "reference", "any"):
            row = rows[f"leak.{kind}", part]
            assert row.n == total
            assert row.value * row.n == pytest.approx(sum(each[kind] for each in counted))


def test_leaks_of_hatecheck(hatecheck: Dataset) -> None:
    """In a random split about nine of ten test cases have a sibling in train (825 of 921 were counted)."""
    (row,) = [row for row in leaks(hatecheck, plans(hatecheck, "all")) if row.metric == "leak.template"]
    assert row.value == pytest.approx(825 / 921, abs=0.025)
    held = {
        scheme: {
            row.metric: row.value for row in leaks(hatecheck, plans(hatecheck, scheme)) if row.tags["part"] != "covered"
        }
        for scheme in ("target", "class", "template", "pair")
    }
    assert held["target"]["leak.template"] > 0.9  # only the word for the group is new
    assert held["class"]["leak.template"] == 0
    assert held["class"]["leak.reference"] > 0.6  # near-copies in other classes
    assert held["template"]["leak.template"] == 0
    assert held["pair"]["leak.any"] == 0


def test_what_cannot_be_planned_is_refused(tiny: Callable[..., Dataset], suite: Dataset) -> None:
    bare = tiny([str(n) for n in range(12)], functionality=["f"] * 12)
    assert possible_schemes(bare) == ["all", "functionality"]
    assert possible_schemes(suite) == list(SCHEMES)
    for call, error, said in (
        (lambda: plans(suite, "tempalte"), UnknownNameError, "did you mean 'template'"),
        (lambda: plans(bare, "pair"), InputError, "needs the attribute 'reference'"),
        (lambda: plans(bare, "functionality"), InfeasibleError, "only 0 cases are left"),
        (lambda: plans(suite, "template", folds=1), InputError, "from 2 to 42 folds"),
        (lambda: plans(suite, "template", folds=43), InputError, "from 2 to 42 folds"),
    ):
        with pytest.raises(error) as caught:
            call()
        assert said in str(caught.value)
    single = tiny(
        [str(n) for n in range(12)], None, ["no", "yes"] * 3 + ["no"] * 6, functionality=["a"] * 6 + ["b"] * 6
    )
    with pytest.raises(InfeasibleError, match=r"functionality=a: only 'no' is left"):
        plans(single, "functionality")
