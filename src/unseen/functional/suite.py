"""A suite of test cases is a Dataset whose attributes have names that every suite shares.

==================  ====================================================================================
functionality       what the case tests; the one attribute every suite has
class               family of functionalities; by default what stands before the first underscore, if any
target              the group of people that the case is about
direction           e.g. general, or directed at an individual
template            cases of one template are variations of one sentence and not independent
pattern             the template's text, with its placeholders
reference           id of the case that this one contrasts with or alters
reference_template  template of that case; alone where no single case of it can be named
kind                functional (the label is right or wrong), invariance or directional (see `outcomes`)
expect              of a directional case: `up LABEL` or `down LABEL`
==================  ====================================================================================
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.groups import referred
from unseen.errors import InputError, TableError, UnseenWarning
from unseen.functional.catalogue import Published
from unseen.registry import require_known
from unseen.types import Dataset, Origin, some, string_array
from unseen.types.arrays import Mask, Rows, encode_labels, is_list

ROLES: Mapping[str, tuple[str, ...]] = {
    "functionality": ("functionality",),
    "class": ("class", "functionality_class"),
    "target": ("target", "target_ident", "group", "identity"),
    "direction": ("direction",),
    "template": ("template", "templ_id", "template_id"),
    "pattern": ("pattern", "case_templ"),
    "reference": ("reference", "ref_case_id"),
    "reference_template": ("reference_template", "ref_templ_id"),
    "kind": ("kind",),
    "expect": ("expect",),
    "set": ("set", "test_grp_id"),
    "variant": ("variant",),
}
"""Names under which tables that nobody has defined may have these attributes, ours first."""
MAIN: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "test_case"),
    "label": ("label", "label_gold"),
    "id": ("id", "case_id", "mhc_case_id"),
}
KINDS = ("functional", "invariance", "directional")
ORIGINAL = ("templ", "template", "orig", "original")
"""Variants of a perturbation set that the others are compared with."""
WHOLE = re.compile(r"(\d+)\.0+")
NUMBERED = re.compile(r"(.*?)\d+", re.DOTALL)


def suite_of(
    name: str,
    cases: Sequence[Mapping[str, str | None]],
    label_names: Sequence[str],
    origin: Origin | None = None,
    further: Sequence[str] = (),
) -> Dataset:
    """The suite of these cases, each with `id`, `text`, `label` and attributes; what no case has is left out.

    `further` attributes are those that not every suite may have.
    """
    attributes = [role for role in (*ROLES, *further) if any(case.get(role) is not None for case in cases)]
    columns = {key: string_array([case.get(key) for case in cases]) for key in ("id", "text", "label", *attributes)}  # type: ignore[misc]
    columns["label"] = encode_labels(columns["label"], tuple(label_names))
    return Dataset(name, pa.table(columns), tuple(label_names), tuple(attributes), origin or Origin("given"))


def as_suite(data: Dataset, columns: Mapping[str, str] | None = None) -> Dataset:
    """`data` with its attributes under the names of suites; refuses what is not a suite.

    Templates and references become strings. A reference may leave out what all ids begin with, and may be written
    as a number with a point: `1.0` and `1` are `german-1` to a case whose id begins with `german-`. Where cases stand
    in sets of an original and its variants, the reference of a variant is the original; where there are several
    originals, `partners` compares with each.
    """
    given = dict(columns or {})
    require_known("part of a suite", [*MAIN, *ROLES], *given)
    by_role = {role: given.get(role) or first_of(names, data.attributes) for role, names in ROLES.items()}
    return named_suite(data, {role: name for role, name in by_role.items() if name is not None}, None)


def first_of(names: Sequence[str], present: Sequence[str]) -> str | None:
    """The first of the names that is present."""
    return next((name for name in names if name in present), None)


def named_suite(data: Dataset, columns: Mapping[str, str], known: Published | None) -> Dataset:
    """`data` with the columns of each role under its name, in our words where the suite is a `known` one."""
    if "functionality" not in columns:
        raise InputError(
            f"{data.name} is not a suite: it has no functionality",
            expected="a column 'functionality' that says what each case tests",
            got=some(data.attributes, 20),
            fix="name the column: columns={'functionality': …} (--column functionality=… on the command line)",
        )
    words = {} if known is None else known.values
    table = {role: in_our_words(data.attribute(columns[role]), words.get(role)) for role in ROLES if role in columns}
    functionality = table["functionality"]
    if functionality.null_count:
        lacking = data.ids.filter(functionality.is_null()).to_pylist()
        raise TableError(f"{len(lacking)} cases of {data.name} have no functionality", got=f"ids {some(lacking)}")
    if known is not None and "kind" in table and "expect" not in table:
        judged = [row for row, kind in enumerate(table["kind"].to_pylist()) if kind != KINDS[2]]
        if 0 < len(judged) < len(data):
            note(f"{len(data) - len(judged)} directional cases of {data.name} do not say what to expect: left out")
            return named_suite(data.take(judged), columns, known)
    if "class" not in table and (classes := classes_by_name(functionality.to_pylist())) is not None:
        table["class"] = string_array(classes)
    if (reference := _reference_ids(data, table, known)) is not None:
        table["reference"] = reference
        _check_references(data, reference)
    if "kind" in table:
        _check_kinds(data, table)
    others = [name for name in data.attributes if name not in columns.values() and name not in table]
    made = {name: data.table[name] for name in ("id", "text", "label")} | table
    made |= {name: data.table[name] for name in others}
    origin = data.origin
    if known is not None:
        origin = replace(origin, params={**origin.params, "published": known.name})
    return Dataset(data.name, pa.table(made), data.label_names, (*table, *others), origin)


def in_our_words(column: pa.ChunkedArray, words: Mapping[str, str] | None) -> pa.ChunkedArray:
    """A part of a suite as strings, in our words; several values of one case are one value."""
    if is_list(column.type):
        lists = column.to_pylist()
        column = string_array([None if values is None else ", ".join(map(str, values)) for values in lists])
    column = column.cast(pa.large_string())
    if not words:
        return column
    return string_array([None if value is None else words.get(value, value) or None for value in column.to_pylist()])


def note(sentence: str) -> None:
    """Warn of what a reader of a suite should know."""
    warnings.warn(sentence, UnseenWarning, stacklevel=2)


def classes_by_name(functionalities: Sequence[str]) -> list[str] | None:
    """What stands before the first underscore, where that makes fewer classes than functionalities."""
    classes = [name.partition("_")[0] for name in functionalities]
    return classes if len(set(classes)) < len(set(functionalities)) else None


def _reference_ids(
    data: Dataset, table: Mapping[str, pa.ChunkedArray], known: Published | None
) -> pa.ChunkedArray | None:
    """The id of the case that each case refers to; None where the suite does not say."""
    lists = {role: column.to_pylist() for role, column in table.items()}
    ids, nothing = data.ids.to_pylist(), [None] * len(data)
    original = [is_original(variant) for variant in lists.get("variant", nothing)]
    if "reference" in lists:
        resolved = _resolved(ids, lists["reference"], known is not None and known.partial)
        lost = [row for row, name in enumerate(lists["reference"]) if name is not None and resolved[row] is None]
        if known is not None and lost:
            note(f"{len(lost)} cases of {data.name} belong to a case that is not in this file: no pairs of these")
        return string_array([None if first else name for name, first in zip(resolved, original, strict=True)])
    if "set" not in lists:
        return None
    if "variant" in lists:
        sets = lists["set"]
    elif known is not None and known.first_is_original:  # what is judged by its label alters nothing
        kinds, places = lists.get("kind", nothing), zip(lists["functionality"], lists["set"], strict=True)
        sets = [
            None if kind not in KINDS[1:] or place[1] is None else place
            for kind, place in zip(kinds, places, strict=True)
        ]
        begun = dict(reversed([(place, row) for row, place in enumerate(sets)]))
        original = [begun[place] == row for row, place in enumerate(sets)]
    else:
        return None
    originals: dict[Any, list[str]] = {}
    for place, name, begins in zip(sets, ids, original, strict=True):
        if begins and place is not None:
            originals.setdefault(place, []).append(name)
    single = {place: names[0] for place, names in originals.items() if len(names) == 1}
    references = [single.get(place) for place in sets]
    return string_array([None if other == name else other for other, name in zip(references, ids, strict=True)])


def is_original(variant: str | None) -> bool:
    """Whether this variant of a set is what the others alter."""
    return variant is not None and variant.lower() in ORIGINAL


def _resolved(ids: Sequence[str], references: Sequence[str | None], partial: bool) -> list[str | None]:
    """The ids that references mean: as they are written, without `.0`, or after what the own id begins with."""
    known = {_whole(name): name for name in ids} | {name: name for name in ids}
    resolved: list[str | None] = []
    for own, reference in zip(ids, references, strict=True):
        begins = NUMBERED.fullmatch(own)
        prefix = begins[1] if begins else ""
        tried = [] if reference is None else [reference, _whole(reference), prefix + _whole(reference)]
        resolved.append(next((known[name] for name in tried if name in known), None if partial else reference))
    return resolved


def _whole(name: str) -> str:
    number = WHOLE.fullmatch(name)
    return number[1] if number else name


def _check_references(data: Dataset, reference: pa.ChunkedArray) -> None:
    unknown = pc.and_(reference.is_valid(), pc.invert(pc.is_in(reference, value_set=data.ids)))
    itself = pc.fill_null(pc.equal(reference, data.ids), False)
    for wrong, what in ((unknown, "refer to a case that is not in the suite"), (itself, "refer to themselves")):
        if ids := data.ids.filter(wrong).to_pylist():
            raise TableError(
                f"{len(ids)} cases of {data.name} {what}",
                got=f"ids {some(ids)}",
                fix="leave the reference empty, or put the case that it names into the suite",
            )


def check_expectation(expect: str, label_names: Sequence[str]) -> None:
    """Refuse what is not `up LABEL` or `down LABEL`."""
    way, _, label = expect.partition(" ")
    if way not in ("up", "down"):
        raise InputError(f"expect is {expect!r}", expected="'up LABEL' or 'down LABEL'")
    require_known("label", label_names, label)


def _check_kinds(data: Dataset, table: Mapping[str, pa.ChunkedArray]) -> None:
    problems = []
    kinds, references, expectations = (
        table[name].to_pylist() if name in table else [None] * len(data) for name in ("kind", "reference", "expect")
    )
    originals = set(references)
    for name, kind, reference, expect in zip(data.ids.to_pylist(), kinds, references, expectations, strict=True):
        if kind is not None:
            require_known("kind of case", KINDS, kind)
        if kind in KINDS[1:] and reference is None:
            if name in originals:
                continue
            problems.append(f"{name}: a case of the kind {kind} needs a reference")
        if kind == "directional":
            try:
                check_expectation(str(expect or ""), data.label_names)
            except InputError:
                problems.append(f"{name}: expect is {expect!r}, not 'up LABEL' or 'down LABEL'")
    if problems:
        raise TableError(f"{len(problems)} cases of {data.name} cannot be judged", problems=problems)


def role_values(suite: Dataset, role: str) -> npt.NDArray[np.object_]:
    """The values of a part of a suite as texts, empty where a case, or the whole suite, has none."""
    values = suite.attribute(role).to_pylist() if role in suite.attributes else [None] * len(suite)
    return np.array([value or "" for value in values], dtype=object)


def judged_by_label(suite: Dataset) -> Mask:
    """Whether a case has a label to be right about; others are judged by their reference."""
    return np.isin(role_values(suite, "kind"), (KINDS[0], ""))


def references(suite: Dataset) -> Rows:
    """Row of the case that each case refers to; -1 where there is none."""
    return referred(suite, "reference") if "reference" in suite.attributes else np.full(len(suite), -1)


def partners(suite: Dataset) -> tuple[Rows, Rows]:
    """Rows of cases, and of the cases each is compared with: its reference, or every original of its set."""
    reference = references(suite)
    cases = np.flatnonzero(reference >= 0)
    if not {"set", "variant"} <= set(suite.attributes):
        return cases, reference[cases]
    sets, variants = (suite.attribute(name).to_pylist() for name in ("set", "variant"))
    originals: dict[str, list[int]] = {}
    for row, (place, variant) in enumerate(zip(sets, variants, strict=True)):
        if place is not None and is_original(variant):
            originals.setdefault(place, []).append(row)
    alone = [row for row in np.flatnonzero(reference < 0).tolist() if not is_original(variants[row])]
    by_set = [(row, original) for row in alone for original in originals.get(sets[row], ())]
    by_id = np.column_stack([cases, reference[cases]])
    pairs = np.concatenate([by_id, np.array(by_set, dtype=np.intp).reshape(-1, 2)])
    return pairs[:, 0], pairs[:, 1]


def template_codes(suite: Dataset) -> Rows:
    """Number of the template of each case; a case without one is a template of its own."""
    if "template" not in suite.attributes:
        return np.arange(len(suite))
    templates, ids = suite.attribute("template").to_pylist(), suite.ids.to_pylist()
    names = [
        f"case {case}" if template is None else f"template {template}"
        for template, case in zip(templates, ids, strict=True)
    ]
    return np.unique(np.array(names, dtype=object), return_inverse=True)[1].reshape(-1)


def template_links(suite: Dataset) -> tuple[Rows, Rows]:
    """Templates with a case that refers elsewhere, and the templates it refers to, as `template_codes`, each pair once.

    A case names the case it contrasts with (`reference`), or only that case's template (`reference_template`), or
    both. A template that the suite does not have leads nowhere; one that refers to itself is left out.
    """
    own, (referring, reference) = template_codes(suite), partners(suite)
    pairs = [np.column_stack([own[referring], own[reference]])]
    if {"template", "reference_template"} <= set(suite.attributes):
        named, templates = (
            suite.attribute(name).cast(pa.large_string()) for name in ("reference_template", "template")
        )
        at = pc.index_in(named, value_set=templates.combine_chunks(), skip_nulls=True)
        rows = np.asarray(pc.fill_null(at, -1).to_numpy(), dtype=np.intp)
        naming = np.flatnonzero(rows >= 0)
        pairs.append(np.column_stack([own[naming], own[rows[naming]]]))
    links = np.unique(np.concatenate(pairs), axis=0)
    apart = links[links[:, 0] != links[:, 1]]
    return apart[:, 0], apart[:, 1]


def balanced(suite: Dataset) -> Mask:
    """Whether a case is of a template that occurs equally often for every target: groups are compared on these."""
    if not {"target", "template"} <= set(suite.attributes):
        return np.zeros(len(suite), bool)
    target = role_values(suite, "target")
    named = target != ""
    if not named.any():
        return named
    template = template_codes(suite)
    code = np.unique(target[named], return_inverse=True)[1].reshape(-1)
    counts = np.zeros((int(template.max()) + 1, int(code.max()) + 1), np.int64)
    np.add.at(counts, (template[named], code), 1)
    even = (counts.min(axis=1) > 0) & (counts.min(axis=1) == counts.max(axis=1)) & (counts.shape[1] > 1)
    return np.asarray(even[template] & named)
