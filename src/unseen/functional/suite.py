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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.catalogue import card, cards, load_card
from unseen.data.labels import Declared, declare
from unseen.data.tables import column_names, load_table
from unseen.errors import InputError, TableError, UnknownNameError
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
"""Names under which published suites have these attributes, ours first."""
MAIN: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "test_case"),
    "label": ("label", "label_gold"),
    "id": ("id", "case_id", "mhc_case_id"),
}
TWIN_KEYS = {"suite", "csv_sha256"}
"""What the JSON file beside a suite of ours holds at least."""
NEEDED = ("text", "label", "functionality")
KINDS = ("functional", "invariance", "directional")
ORIGINAL = ("orig", "original")
"""Variants of a perturbation set that the others are compared with."""


def load_suite(
    source: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | Mapping[str, str] | None = None,
    attributes: Sequence[str] = (),
    data_dir: str | Path | None = None,
    file: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Dataset:
    """The suite in a table, or a known dataset that is one (`hatecheck`).

    `columns` says which column is what, {ours: theirs}, where the names are not known ones; `text`, `label` and
    `id` are among ours. `attributes` are further columns to slice by. Labels may be declared that no case has; a
    suite that unseen wrote and nobody has changed declares its own, in the JSON file beside it.
    """
    columns = dict(columns or {})
    _refuse_unknown(columns)
    if not Path(source).is_file():
        if str(source) not in cards():
            raise UnknownNameError.of("file or known suite", str(source), _known_suites())
        overrides: dict[str, Any] = {"labels": labels} if labels else {}
        overrides |= {name: columns.pop(name) for name in MAIN if name in columns}
        data = load_card(str(source), data_dir, file, **overrides)
        return as_suite(data, columns)
    names = column_names(source, delimiter, encoding)
    main = {role: columns.pop(role, None) or _first(known, names) for role, known in MAIN.items()}
    found = {role: columns.get(role) or _first(known, names) for role, known in ROLES.items()}
    if lacking := [role for role, name in (main | found).items() if role in NEEDED and name is None]:
        raise InputError(
            f"{source} is not a suite: no column is known as the {' or the '.join(lacking)} of a case",
            got=some(names, 20),
            fix="name it: columns={'text': …} (--column text=… on the command line)",
        )
    kept = [name for name in dict.fromkeys([*found.values(), *attributes]) if name and name not in main.values()]
    reading = {"text": main["text"] or "text", "id": main["id"], "delimiter": delimiter, "encoding": encoding}
    label = main["label"] or "label"
    labels = labels or (_declared_beside(Path(source)) if label == "label" else None)
    return as_suite(_loaded(source, label, labels, kept, reading), columns)


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


def _declared_beside(path: Path) -> Sequence[str] | None:
    """The labels in the JSON file beside a suite that unseen wrote, if the suite is still what was written."""
    twin = path.with_suffix(".json")
    if path.suffix != ".csv" or not holds(twin, TWIN_KEYS):
        return None
    about = read_json(twin)
    return about.get("label_names") if about["csv_sha256"] == sha256_of(path) else None


def as_suite(data: Dataset, columns: Mapping[str, str] | None = None) -> Dataset:
    """`data` with its attributes under the names of suites; refuses what is not a suite.

    Templates and references become strings. Where cases stand in sets of an original and its variants, the
    reference of a variant is the original.
    """
    columns = dict(columns or {})
    _refuse_unknown(columns)
    wanted = {role: columns.get(role) or _first(known, data.attributes) for role, known in ROLES.items()}
    if wanted["functionality"] is None:
        raise InputError(
            f"{data.name} is not a suite: it has no functionality",
            expected="a column 'functionality' that says what each case tests",
            got=some(data.attributes, 20),
            fix="name the column: columns={'functionality': …} (--column functionality=… on the command line)",
        )
    taken = {role: data.attribute(name) for role, name in wanted.items() if name is not None}
    table = {role: _strings(column) for role, column in taken.items()}
    _refuse_gaps(data, table["functionality"])
    if "class" not in table and (classes := _classes(table["functionality"])) is not None:
        table["class"] = classes
    if "reference" not in table and {"set", "variant"} <= table.keys():
        table["reference"] = _originals(data, table["set"], table["variant"])
    _check_references(data, table.get("reference"))
    _check_kinds(data, table)
    others = [name for name in data.attributes if name not in wanted.values() and name not in table]
    made = {name: data.table[name] for name in ("id", "text", "label")} | table
    made |= {name: data.table[name] for name in others}
    return Dataset(data.name, pa.table(made), data.label_names, (*table, *others), data.origin)


def _known_suites() -> list[str]:
    return [name for name in cards() if set(card(name).attributes) & set(ROLES["functionality"])]


def _refuse_unknown(columns: Mapping[str, str]) -> None:
    for role in columns:
        if role not in ROLES and role not in MAIN:
            raise UnknownNameError.of("part of a suite", role, [*MAIN, *ROLES])


def _first(known: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in known if name in names), None)


def _strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        raise InputError("a case has one value of each part of a suite", got=str(column.type))
    return column.cast(pa.large_string())


def _refuse_gaps(data: Dataset, functionality: pa.ChunkedArray) -> None:
    if functionality.null_count:
        lacking = data.ids.filter(functionality.is_null()).to_pylist()
        raise TableError(f"{len(lacking)} cases of {data.name} have no functionality", got=f"ids {some(lacking)}")


def _classes(functionality: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """What stands before the first underscore, where that makes fewer classes than functionalities."""
    values = functionality.to_pylist()
    classes = [value.partition("_")[0] for value in values]
    return string_array(classes) if len(set(classes)) < len(set(values)) else None


def _originals(data: Dataset, sets: pa.ChunkedArray, variants: pa.ChunkedArray) -> pa.ChunkedArray:
    rows = list(zip(data.ids.to_pylist(), sets.to_pylist(), variants.to_pylist(), strict=True))
    originals = [(each, name) for name, each, variant in rows if str(variant).lower() in ORIGINAL]
    original = dict(originals)
    twice = [name for each, name in originals if original[each] != name]
    if twice:
        raise TableError(f"{len(twice)} sets of {data.name} have two originals", got=f"ids {some(twice)}")
    return string_array([None if original.get(each) == name else original.get(each) for name, each, _ in rows])


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
    for name, kind, reference, expect in zip(data.ids.to_pylist(), *lists, strict=True):
        if kind is not None and kind not in KINDS:
            raise UnknownNameError.of("kind of case", kind, KINDS)
        if kind in KINDS[1:] and reference is None:
            problems.append(f"{name}: a case of the kind {kind} needs a reference")
        if kind == "directional":
            try:
                check_expectation(str(expect or ""), data.label_names)
            except InputError:
                problems.append(f"{name}: expect is {expect!r}, not 'up LABEL' or 'down LABEL'")
    if problems:
        raise TableError(f"{len(problems)} cases of {data.name} cannot be judged", problems=problems)
