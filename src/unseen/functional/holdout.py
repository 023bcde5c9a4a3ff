"""Plans for training on a suite: what is trained on, what is covered by it, what is held out, and what leaks.

A random half of a suite flatters whoever trains on the other half: siblings of one template, and contrast partners,
stand on both sides. A plan holds a whole value out (Luz de Araujo and Roth 2022, section 3) and keeps two kinds of
test cases apart: those of values that were trained on (covered) and those of the value that was not (held out).

=============  ==========================================================================================
all            nothing is held out: half train, a quarter each dev and test
functionality  one plan per functionality
target         one plan per group of people; cases about no group are covered
class          one plan per family of functionalities
template       folds of whole templates, so that no sibling of a held-out case is trained on
pair           folds of templates that refer to each other, so that no contrast partner is either
=============  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.errors import InfeasibleError, InputError
from unseen.functional.suite import template_codes, template_links
from unseen.registry import require_known
from unseen.seeding import generator
from unseen.splits.quotas import largest_remainder
from unseen.types import Dataset, Measurement, some
from unseen.types.arrays import Codes, Mask, Rows

SCHEMES = ("all", "functionality", "target", "class", "template", "pair")
FOLDED = ("template", "pair")
NEEDS = {"pair": "reference"}
"""The attribute that a scheme reads, where it is not called like the scheme."""
TASK, SUITE, BOTH = "task", "suite", "task then suite"
"""What a model is trained on."""
PARTS = ("train", "dev", "covered", "held-out")


@dataclass(frozen=True, eq=False)
class HoldoutPlan:
    """Row positions of one training on a suite; the parts are disjoint."""

    scheme: str
    held_out: str
    """The value that is held out, e.g. a functionality; `1 of 5` for a fold; empty for `all`."""
    train: Rows
    dev: Rows
    test_covered: Rows
    """Test cases of values that are trained on; all test cases of the scheme `all`."""
    test_held_out: Rows

    @property
    def name(self) -> str:
        """What it is called in tables and files."""
        return f"{self.scheme}={self.held_out}" if self.held_out else self.scheme

    @property
    def test(self) -> Rows:
        """All test cases."""
        return np.sort(np.concatenate([self.test_covered, self.test_held_out]))

    @property
    def parts(self) -> dict[str, Rows]:
        """Rows by the name of their part."""
        return dict(zip(PARTS, (self.train, self.dev, self.test_covered, self.test_held_out), strict=True))


def possible_schemes(suite: Dataset) -> list[str]:
    """The schemes whose attribute the suite has; for `pair`, templates that refer to templates will do."""
    known = {"all", *suite.attributes}
    if {"template", "reference_template"} <= known:
        known.add("reference")
    return [scheme for scheme in SCHEMES if NEEDS.get(scheme, scheme) in known]


def plans(suite: Dataset, scheme: str, *, strict: bool = True, folds: int = 5, seed: int = 42) -> list[HoldoutPlan]:
    """The plans of one scheme, in the order of their values.

    With `strict`, dev comes from covered cases alone and every held-out case is a test case. Without it, as
    published: covered evaluation cases and held-out cases are pooled and halved, so that validation has seen half
    of what is called held out. The order of rows decides nothing. `folds` is for `template` and `pair`.
    """
    require_known("scheme", SCHEMES, scheme)
    if scheme not in possible_schemes(suite):
        raise InputError(
            f"the scheme {scheme!r} needs the attribute {NEEDS.get(scheme, scheme)!r}, which {suite.name} has not",
            expected=f"one of {', '.join(possible_schemes(suite))}",
        )
    by_id = suite.by_id
    if scheme == "all":
        train, rest = _halves(by_id, suite.labels, generator(seed, "holdout", "all"))
        dev, test = _halves(rest, suite.labels, generator(seed, "holdout", "all", "dev"))
        chosen = [HoldoutPlan("all", "", np.sort(train), np.sort(dev), np.sort(test), np.empty(0, np.intp))]
    else:
        values, names = _values(suite, scheme, folds, seed)
        _refuse_too_few(suite, scheme, values, names)
        chosen = [_leave_out(suite, scheme, values, code, name, by_id, strict, seed) for code, name in enumerate(names)]
        for plan in chosen:
            guard(plan, values)
    _refuse_single_labels(suite, chosen)
    return chosen


def _leave_out(
    suite: Dataset, scheme: str, values: Rows, code: int, name: str, by_id: Rows, strict: bool, seed: int
) -> HoldoutPlan:
    """The plan without the value `code`; cases without a value (-1) are covered."""
    left_out, rest = by_id[values[by_id] == code], by_id[values[by_id] != code]
    train, covered = _halves(rest, suite.labels, generator(seed, "holdout", scheme, name))
    draw = generator(seed, "holdout", scheme, name, "dev")
    if strict:
        dev, test = _halves(covered, suite.labels, draw)
        held_out = left_out
    else:
        pool = np.concatenate([covered, left_out])
        dev, tested = _halves(pool, suite.labels, draw)
        test, held_out = (tested[(values[tested] == code) == is_out] for is_out in (False, True))
    return HoldoutPlan(scheme, name, np.sort(train), np.sort(dev), np.sort(test), np.sort(held_out))


def _halves(rows: Rows, labels: Codes, draw: np.random.Generator) -> tuple[Rows, Rows]:
    """The rows in two halves with the same mix of labels; the second has the odd row."""
    mixed = rows[draw.permutation(len(rows))]
    present = np.unique(labels[rows])
    counts = np.array([(labels[rows] == label).sum() for label in present], dtype=np.float64)
    taken = largest_remainder(counts, len(rows) // 2) if len(rows) > 1 else np.zeros(len(present), np.int64)
    first = np.zeros(len(mixed), bool)
    for label, quota in zip(present, taken, strict=True):
        first[np.flatnonzero(labels[mixed] == label)[:quota]] = True
    return mixed[first], mixed[~first]


def _values(suite: Dataset, scheme: str, folds: int, seed: int) -> tuple[Rows, list[str]]:
    """The value of each row as a number, -1 for none, and the names of the values."""
    if scheme in FOLDED:
        together = template_codes(suite) if scheme == "template" else pair_codes(suite)
        return _folds(suite, scheme, together, folds, seed), [f"{fold + 1} of {folds}" for fold in range(folds)]
    column = suite.attribute(scheme).to_pylist()
    names = sorted({value for value in column if value is not None})
    code_of = {name: code for code, name in enumerate(names)}
    return np.array([code_of.get(value, -1) for value in column], dtype=np.intp), names


def pair_codes(suite: Dataset) -> Rows:
    """A number per row, equal for templates that refer to each other, directly or through others.

    Numbers follow the ids of the cases, so the order of rows does not decide them.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    own = template_codes(suite)
    one, other = template_links(suite)
    size = int(own.max()) + 1
    edges = coo_array((np.ones(len(one)), (one, other)), shape=(size, size))
    component = connected_components(edges, directed=False)[1][own]
    first = np.unique(component[suite.by_id], return_index=True)[1]
    return np.asarray(np.argsort(np.argsort(first))[component], dtype=np.intp)


def _folds(suite: Dataset, scheme: str, together: Rows, folds: int, seed: int) -> Rows:
    """The fold of each row: what stands `together`, largest first, into the fold with fewest cases of its label."""
    sizes = np.bincount(together)
    if folds < 2 or folds > len(sizes):
        raise InputError(
            f"the {len(sizes)} groups of the scheme {scheme!r} cannot make {folds} folds",
            expected=f"from 2 to {len(sizes)} folds",
        )
    counts = np.zeros((len(sizes), len(suite.label_names)), np.int64)
    np.add.at(counts, (together, suite.labels), 1)
    mixed = generator(seed, "holdout", scheme).permutation(len(sizes))
    filled = np.zeros((folds, len(suite.label_names)), np.int64)
    fold_of = np.empty(len(sizes), np.intp)
    for largest in mixed[np.argsort(-sizes[mixed], kind="stable")]:
        label = int(counts[largest].argmax())
        fold_of[largest] = np.lexsort((filled.sum(axis=1), filled[:, label]))[0]
        filled[fold_of[largest]] += counts[largest]
    return fold_of[together]


def guard(plan: HoldoutPlan, values: Rows) -> None:
    """Refuse a plan that holds nothing out, or whose training rows meet what is held out: as rows or by value."""
    problems = []
    if not len(plan.test_held_out):
        problems.append("no case is held out")
    if shared := np.intersect1d(plan.train, plan.test_held_out).tolist():
        problems.append(f"rows {some(shared)} are trained on and held out")
    if np.isin(values[plan.train], values[plan.test_held_out]).any():
        problems.append(f"cases of the held-out {plan.scheme} are trained on")
    if set(plan.dev.tolist()) & {*plan.train.tolist(), *plan.test.tolist()}:
        problems.append("validation rows are trained on or tested")
    if problems:
        raise InputError(f"the plan {plan.name} holds nothing out that could be believed", problems=problems)


def _refuse_too_few(suite: Dataset, scheme: str, values: Rows, names: Sequence[str]) -> None:
    problems = [
        f"without {name!r} only {left} cases are left"
        for code, name in enumerate(names)
        if (left := int((values != code).sum())) < 4
    ]
    if problems or not names:
        raise InfeasibleError(
            f"nothing can be held out of {suite.name} by {scheme}",
            problems=problems or [f"no case has a {scheme}"],
            expected="at least four cases besides those that are held out",
        )


def _refuse_single_labels(suite: Dataset, chosen: Sequence[HoldoutPlan]) -> None:
    problems = [
        f"{plan.name}: only {suite.label_names[suite.labels[plan.train][0]]!r} is left to train on"
        for plan in chosen
        if len(np.unique(suite.labels[plan.train])) < 2
    ]
    if problems:
        raise InfeasibleError(
            f"{len(problems)} plans leave a single label to train on", problems=problems, fix="take another scheme"
        )


def leaks(suite: Dataset, chosen: Sequence[HoldoutPlan], tags: Mapping[str, Any] | None = None) -> list[Measurement]:
    """Shares of the test cases of one scheme that have a near-copy in train, over all its plans together.

    `leak.template`: another case of the same template is trained on. `leak.reference`: a case that it contrasts with
    or alters, or that contrasts with or alters it, or a sibling of such a case, is. `leak.any`: either. Covered
    and held-out cases are apart, as the tag `part`. Without templates, cases are their own.
    """
    template, links = template_codes(suite), np.column_stack(template_links(suite))
    either_way = np.concatenate([links, links[:, ::-1]])
    measurements = []
    for part in PARTS[2:]:
        masks = [_leaking(template, either_way, plan.train, plan.parts[part]) for plan in chosen]
        for kind in ("template", "reference", "any"):
            leaking = np.concatenate([mask[kind] for mask in masks])
            if len(leaking):
                own_tags = {"scheme": chosen[0].scheme, "part": part} | dict(tags or {})
                measurements.append(Measurement(f"leak.{kind}", float(leaking.mean()), len(leaking), tags=own_tags))
    return measurements


def _leaking(template: Rows, links: Rows, train: Rows, test: Rows) -> dict[str, Mask]:
    """Which test cases have a sibling in train, or a case that a link leads to."""
    trained = np.zeros(int(template.max()) + 1, bool)
    trained[template[train]] = True
    partnered = np.zeros(len(trained), bool)
    np.logical_or.at(partnered, links[:, 0], trained[links[:, 1]])
    sibling, partner = trained[template[test]], partnered[template[test]]
    return {"template": sibling, "reference": partner, "any": sibling | partner}
