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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.catalogue import card, cards, load_card
from unseen.data.labels import Declared, declare
from unseen.data.rows import OUR_COLUMNS
from unseen.data.tables import column_names, load_table
from unseen.errors import InputError, TableError, UnknownNameError, UnseenWarning
from unseen.functional.catalogue import Published, recognised
from unseen.store import read_json, sha256_of
from unseen.store.datasets import encode_labels
from unseen.store.files import holds
from unseen.types import Dataset, some, string_array

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
TWIN_KEYS = {"suite", "csv_sha256"}
"""What the JSON file beside a suite of ours holds at least."""
NEEDED = ("text", "label", "functionality")
KINDS = ("functional", "invariance", "directional")
ORIGINAL = ("templ", "template", "orig", "original")
"""Variants of a perturbation set that the others are compared with."""
WHOLE = re.compile(r"(\d+)\.0+")
NUMBERED = re.compile(r"(.*?)\d+", re.DOTALL)


def load_suite(
    source: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    labels: Sequence[str] | Mapping[str, str] | None = None,
    attributes: Sequence[str] = (),
    data_dir: str | Path | None = None,
    file: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Dataset:
    """The suite in a table, or a known dataset that is one (`hatecheck`).

    A published suite is recognised by its columns (`unseen.functional.catalogue`). `columns` says which column is
    what, {ours: theirs}, where that is not enough; `text`, `label` and `id` are among ours. Every other column is an
    attribute, but for those to `ignore`; `attributes` must be among them. Labels may be declared that no case has; a
    suite that unseen wrote and nobody has changed declares its own, in the JSON file beside it.
    """
    columns = dict(columns or {})
    _refuse_unknown(columns)
    if not Path(source).is_file():
        if str(source) not in cards():
            raise UnknownNameError.of("file or known suite", str(source), _known_suites())
        overrides: dict[str, Any] = {"labels": labels} if labels else {}
        overrides |= {name: columns.pop(name) for name in MAIN if name in columns}
        if ignore:
            overrides["attributes"] = _without(card(str(source)).attributes, ignore)
        data = load_card(str(source), data_dir, file, **overrides)
        return as_suite(data, columns)
    names = _without(column_names(source, delimiter, encoding), ignore)
    known = recognised(names)
    found = _columns_by_role(names, columns, known)
    if lacking := [role for role in NEEDED if role not in found]:
        raise InputError(
            f"{source} is not a suite: no column is known as the {' or the '.join(lacking)} of a case",
            got=some(names, 20),
            fix="name it: columns={'text': …} (--column text=… on the command line)",
        )
    main, found = {role: found.pop(role, None) for role in MAIN}, found
    further = [name for name in names if name and name not in OUR_COLUMNS]
    kept = [name for name in dict.fromkeys([*found.values(), *attributes, *further]) if name not in main.values()]
    reading = {"text": main["text"], "id": main["id"], "delimiter": delimiter, "encoding": encoding}
    kind = found.get("kind")
    labels = labels or (_declared_beside(Path(source)) if main["label"] == "label" else None)
    try:
        data = _loaded(source, str(main["label"]), labels, kept, reading)
    except TableError as refusal:
        filled = None if kind is None else _unlabelled(source, str(main["label"]), labels, kept, reading, kind, known)
        if filled is None:
            raise refusal
        data = filled
    except InputError:  # a column that nobody asked for may hold what no attribute can
        asked = [name for name in kept if name in found.values() or name in attributes]
        data = _loaded(source, str(main["label"]), labels, asked, reading)
    return _suite_of(data if known is None else _members(data, known), found, known)


def _without(names: Sequence[str], ignore: Collection[str]) -> list[str]:
    for name in ignore:
        if name not in names:
            raise UnknownNameError.of("column to ignore", name, names)
    return [name for name in names if name not in ignore]


def _columns_by_role(names: Sequence[str], given: Mapping[str, str], known: Published | None) -> dict[str, str]:
    """The column of each part of a suite that has one: as given, as its definition says, or by its usual names."""
    usual: dict[str, Sequence[str]] = {**MAIN, **ROLES}
    if known is not None:  # what a definition does not name has our name or none
        usual = {**known.roles, **{role: own[:1] for role, own in usual.items() if role not in known.roles}}
    found: dict[str, str] = {}
    for role, own in usual.items():
        if role not in given and (name := _first(own, [each for each in names if each not in found.values()])):
            found[role] = name
    return {**found, **given}


def _members(data: Dataset, known: Published) -> Dataset:
    """The rows that are part of a published suite."""
    rows = range(len(data))
    for column, values in known.keep.items():
        if column in data.attributes:
            said = data.attribute(column).to_pylist()
            rows = [row for row in rows if str(said[row]) in values]  # type: ignore[assignment]
    if not len(rows):
        raise TableError(f"no row of {data.name} is part of {known.title}", expected=f"{dict(known.keep)}")
    return data if len(rows) == len(data) else data.take(list(rows))


def _loaded(
    source: str | Path,
    label: str,
    labels: Sequence[str] | Mapping[str, str] | None,
    kept: Sequence[str],
    reading: Mapping[str, Any],
) -> Dataset:
    """The table with its labels; of declared ones, some may have no case."""
    try:
        return load_table(source, label=label, attributes=kept, labels=labels, **reading)
    except TableError:
        declared = declare(labels, None)
        found = _encoded_apart(source, label, declared, kept, reading) if declared else None
        if found is None:
            raise
        return found


def _encoded_apart(
    source: str | Path, label: str, declared: Declared, kept: Sequence[str], reading: Mapping[str, Any]
) -> Dataset | None:
    """The table with labels that `load_table` would refuse for want of rows; None when something else is wrong.

    Another column, of as many values as cases, stands for the labels while the table is read; they are read as texts.
    """
    stand_in = reading["id"] or reading["text"]
    try:
        data = load_table(source, label=stand_in, attributes=kept, **reading)
        said = declared.rename(load_table(source, label=stand_in, **{**reading, "text": label}).texts)
    except TableError:
        return None
    if said.null_count:
        return None
    params = dict(data.origin.params) | {"labels": dict(declared.raw)}
    params["columns"] = dict(params["columns"]) | {"label": label}
    table = data.table.set_column(2, "label", encode_labels(said, declared.names))
    return Dataset(data.name, table, declared.names, data.attributes, replace(data.origin, params=params))


def _unlabelled(
    source: str | Path,
    label: str,
    labels: Sequence[str] | Mapping[str, str] | None,
    kept: Sequence[str],
    reading: Mapping[str, Any],
    kind: str,
    known: Published | None,
) -> Dataset | None:
    """The table with the first label wherever a case that is not judged by it has none; None when more is wrong.

    Invariance and directional cases are judged by their reference, so tables leave their label empty.
    """
    try:
        said = load_table(source, label=label, attributes=kept, labels=labels, drop=["unlabelled"], **reading)
        whole = load_table(source, label=reading["id"] or reading["text"], attributes=kept, **reading)
    except TableError:
        return None
    at = pc.index_in(whole.ids, value_set=said.ids)
    kinds = _strings(whole.attribute(kind), known.values.get("kind", {}) if known else {}).filter(at.is_null())
    if not set(kinds.to_pylist()) <= set(KINDS[1:]):
        return None
    names = said.table["label"].cast(pa.large_string()).take(pc.fill_null(at, 0))
    names = pc.if_else(at.is_null(), pa.scalar(said.label_names[0], pa.large_string()), names)
    _note(f"{at.null_count} cases of {whole.name} have no label: tables by label count them as {said.label_names[0]!r}")
    table = whole.table.set_column(2, "label", encode_labels(names, said.label_names))
    return Dataset(whole.name, table, said.label_names, whole.attributes, said.origin)


def _declared_beside(path: Path) -> Sequence[str] | None:
    """The labels in the JSON file beside a suite that unseen wrote, if the suite is still what was written."""
    twin = path.with_suffix(".json")
    if path.suffix != ".csv" or not holds(twin, TWIN_KEYS):
        return None
    about = read_json(twin)
    return about.get("label_names") if about["csv_sha256"] == sha256_of(path) else None


def as_suite(data: Dataset, columns: Mapping[str, str] | None = None) -> Dataset:
    """`data` with its attributes under the names of suites; refuses what is not a suite.

    Templates and references become strings. A reference may leave out what all ids begin with, and may be written
    as a number with a point: `1.0` and `1` are `german-1` to a case whose id begins with `german-`. Where cases stand
    in sets of an original and its variants, the reference of a variant is the original; where there are several
    originals, `unseen.functional.outcomes.partners` compares with each.
    """
    columns = dict(columns or {})
    _refuse_unknown(columns)
    wanted = {role: columns.get(role) or _first(known, data.attributes) for role, known in ROLES.items()}
    return _suite_of(data, {role: name for role, name in wanted.items() if name is not None}, None)


def _suite_of(data: Dataset, columns: Mapping[str, str], known: Published | None) -> Dataset:
    if "functionality" not in columns:
        raise InputError(
            f"{data.name} is not a suite: it has no functionality",
            expected="a column 'functionality' that says what each case tests",
            got=some(data.attributes, 20),
            fix="name the column: columns={'functionality': …} (--column functionality=… on the command line)",
        )
    words = {} if known is None else known.values
    table = {role: _strings(data.attribute(columns[role]), words.get(role, {})) for role in ROLES if role in columns}
    _refuse_gaps(data, table["functionality"])
    if known is not None and "kind" in table and "expect" not in table:
        judged = [row for row, kind in enumerate(table["kind"].to_pylist()) if kind != KINDS[2]]
        if 0 < len(judged) < len(data):
            _note(f"{len(data) - len(judged)} directional cases of {data.name} do not say what to expect: left out")
            return _suite_of(data.take(judged), columns, known)
    if "class" not in table and (classes := _classes(table["functionality"])) is not None:
        table["class"] = classes
    if (reference := _references(data, table, known)) is not None:
        table["reference"] = reference
    _check_references(data, table.get("reference"))
    _check_kinds(data, table)
    others = [name for name in data.attributes if name not in columns.values() and name not in table]
    made = {name: data.table[name] for name in ("id", "text", "label")} | table
    made |= {name: data.table[name] for name in others}
    origin = data.origin
    if known is not None:
        origin = replace(origin, params={**origin.params, "published": known.name})
    return Dataset(data.name, pa.table(made), data.label_names, (*table, *others), origin)


def _known_suites() -> list[str]:
    return [name for name in cards() if set(card(name).attributes) & set(ROLES["functionality"])]


def _refuse_unknown(columns: Mapping[str, str]) -> None:
    for role in columns:
        if role not in ROLES and role not in MAIN:
            raise UnknownNameError.of("part of a suite", role, [*MAIN, *ROLES])


def _first(known: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in known if name in names), None)


def _strings(column: pa.ChunkedArray, words: Mapping[str, str]) -> pa.ChunkedArray:
    """A part of a suite as strings, in our words; several values of one case are one value."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = string_array([None if each is None else ", ".join(map(str, each)) for each in column.to_pylist()])
    column = column.cast(pa.large_string())
    if not words:
        return column
    return string_array([None if each is None else words.get(each, each) or None for each in column.to_pylist()])


def _note(sentence: str) -> None:
    warnings.warn(sentence, UnseenWarning, stacklevel=2)


def _refuse_gaps(data: Dataset, functionality: pa.ChunkedArray) -> None:
    if functionality.null_count:
        lacking = data.ids.filter(functionality.is_null()).to_pylist()
        raise TableError(f"{len(lacking)} cases of {data.name} have no functionality", got=f"ids {some(lacking)}")


def _classes(functionality: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """What stands before the first underscore, where that makes fewer classes than functionalities."""
    values = functionality.to_pylist()
    classes = [value.partition("_")[0] for value in values]
    return string_array(classes) if len(set(classes)) < len(set(values)) else None


def _references(data: Dataset, table: Mapping[str, pa.ChunkedArray], known: Published | None) -> pa.ChunkedArray | None:
    """The id of the case that each case refers to; None where the suite does not say."""
    lists = {role: column.to_pylist() for role, column in table.items()}
    ids, variants = data.ids.to_pylist(), lists.get("variant", [None] * len(data))
    original = [is_original(each) for each in variants]
    if "reference" in lists:
        found = _resolved(ids, lists["reference"], known is not None and known.partial)
        if known is not None and (lost := sum(map(_is_lost, lists["reference"], found))):
            _note(f"{lost} cases of {data.name} belong to a case that is not in this file: no pairs of these")
        return string_array([None if first else each for each, first in zip(found, original, strict=True)])
    if "set" not in lists:
        return None
    if "variant" in lists:
        sets = lists["set"]
    elif known is not None and known.first_is_original:  # what is judged by its label alters nothing
        kinds, each = lists.get("kind", [None] * len(data)), zip(lists["functionality"], lists["set"], strict=True)
        sets = [None if kind not in KINDS[1:] or of[1] is None else of for kind, of in zip(kinds, each, strict=True)]
        begun = dict(reversed([(each, row) for row, each in enumerate(sets)]))
        original = [begun[each] == row for row, each in enumerate(sets)]
    else:
        return None
    first: dict[Any, list[str]] = {}
    for each, name, begins in zip(sets, ids, original, strict=True):
        if begins and each is not None:
            first.setdefault(each, []).append(name)
    single = {each: names[0] for each, names in first.items() if len(names) == 1}
    found = [single.get(each) for each in sets]
    return string_array([None if each == name else each for each, name in zip(found, ids, strict=True)])


def is_original(variant: str | None) -> bool:
    """Whether this variant of a set is what the others alter."""
    return variant is not None and variant.lower() in ORIGINAL


def _is_lost(said: str | None, found: str | None) -> bool:
    return said is not None and found is None


def _resolved(ids: Sequence[str], said: Sequence[str | None], partial: bool) -> list[str | None]:
    """The ids that references mean: as they are written, without `.0`, or after what the own id begins with."""
    known = {_whole(name): name for name in ids} | {name: name for name in ids}
    found: list[str | None] = []
    for own, each in zip(ids, said, strict=True):
        begins = NUMBERED.fullmatch(own)
        tried = [] if each is None else [each, _whole(each), (begins[1] if begins else "") + _whole(each)]
        found.append(next((known[name] for name in tried if name in known), None if partial else each))
    return found


def _whole(name: str) -> str:
    number = WHOLE.fullmatch(name)
    return number[1] if number else name


def _check_references(data: Dataset, reference: pa.ChunkedArray | None) -> None:
    if reference is None:
        return
    unknown = pc.and_(reference.is_valid(), pc.invert(pc.is_in(reference, value_set=data.ids)))
    itself = pc.fill_null(pc.equal(reference, data.ids), False)
    for wrong, what in ((unknown, "refer to a case that is not in the suite"), (itself, "refer to themselves")):
        if found := data.ids.filter(wrong).to_pylist():
            raise TableError(
                f"{len(found)} cases of {data.name} {what}",
                got=f"ids {some(found)}",
                fix="leave the reference empty, or put the case that it names into the suite",
            )


def check_expectation(expect: str, label_names: Sequence[str]) -> None:
    """Refuse what is not `up LABEL` or `down LABEL`."""
    way, _, label = expect.partition(" ")
    if way not in ("up", "down"):
        raise InputError(f"expect is {expect!r}", expected="'up LABEL' or 'down LABEL'")
    if label not in label_names:
        raise UnknownNameError.of("label", label, label_names)


def _check_kinds(data: Dataset, table: Mapping[str, pa.ChunkedArray]) -> None:
    if "kind" not in table:
        return
    problems = []
    lists = [
        table[name].to_pylist() if name in table else [None] * len(data) for name in ("kind", "reference", "expect")
    ]
    referred = set(lists[1])
    for name, kind, reference, expect in zip(data.ids.to_pylist(), *lists, strict=True):
        if kind is not None and kind not in KINDS:
            raise UnknownNameError.of("kind of case", kind, KINDS)
        if kind in KINDS[1:] and reference is None:
            if name in referred:  # the original of others
                continue
            problems.append(f"{name}: a case of the kind {kind} needs a reference")
        if kind == "directional":
            try:
                check_expectation(str(expect or ""), data.label_names)
            except InputError:
                problems.append(f"{name}: expect is {expect!r}, not 'up LABEL' or 'down LABEL'")
    if problems:
        raise TableError(f"{len(problems)} cases of {data.name} cannot be judged", problems=problems)
