"""Suite files to suites: every case with an id that its content decides, so that adding others changes none."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from unseen.errors import InputError
from unseen.functional.alterations import Alteration, appending, perturbing
from unseen.functional.suite import KINDS
from unseen.functional.suite_file import SuiteEntry, SuiteFile
from unseen.functional.templates import Filling, Groups, Lists, fillings, forms, placeholders, refuse_too_many
from unseen.functional.writing import suite_of
from unseen.types import Dataset, Origin

DIGITS = 10
"""Hexadecimal digits in an id: among 100,000 cases of one functionality, one in 200 suites has two alike."""


@dataclass(frozen=True)
class BuiltCase:
    """A case before it is a row."""

    id: str
    text: str
    label: str
    test: SuiteEntry
    template: str
    pattern: str
    filling: Filling
    reference: str | None = None


def build_suite(file: SuiteFile, seed: int = 42) -> Dataset:
    """The cases of a suite file, in its order; the same file and seed give the same cases.

    A case that a perturbation does not apply to has no altered version. Two cases with one text are refused.
    """
    made: dict[str, list[BuiltCase]] = {}
    problems = []
    for test in file.tests:
        if test.partner is not None and test.partner not in made:
            continue  # what is wrong with the other functionality is told; without its cases there are none here
        try:
            made[test.functionality] = list(_cases(file, test, made, seed))
        except InputError as error:
            problems.append(f"{test.functionality}: {error.message}")
    cases = [case for each in made.values() for case in each]
    problems += [f"{name}: it has no cases" for name, each in made.items() if not each and not problems]
    missing = set(file.labels) - {case.label for case in cases}
    problems += [f"no case has the label {label!r}" for label in file.labels if label in missing and not problems]
    problems += _repeated(cases)
    if problems:
        raise InputError(f"the suite {file.name} cannot be built", problems=problems)
    kinds = any(test.kind != KINDS[0] for test in file.tests)
    classes = _have_classes(file)
    origin = Origin("build", {"functionalities": [test.functionality for test in file.tests]}, seed)
    return suite_of(file.name, [_row(case, kinds, classes) for case in cases], file.labels, origin)


def _cases(file: SuiteFile, test: SuiteEntry, made: Mapping[str, list[BuiltCase]], seed: int) -> Iterator[BuiltCase]:
    if test.partner is None:
        for template in test.templates:
            for filling in fillings(template, file.lists, file.groups, at_most=test.at_most, seed=seed):
                yield _case(test, template, filling, str(test.label))
    elif test.templates:
        yield from _paired(file, test, made[test.partner])
    else:
        yield from _altered(test, made[test.partner], seed)


def _paired(file: SuiteFile, test: SuiteEntry, others: list[BuiltCase]) -> Iterator[BuiltCase]:
    """Cases whose reference is the case of the paired template with the same group and the same values."""
    theirs = next(each.templates for each in file.tests if each.functionality == test.partner)
    partners: dict[str, list[BuiltCase]] = {}
    for case in others:
        partners.setdefault(case.pattern, []).append(case)
    for own, other in zip(test.templates, theirs, strict=True):
        _refuse_too_many(file, own, other, len(partners.get(other, [])))
        for partner in partners.get(other, []):
            for filling in fillings(own, *_as_filled(file, partner)):
                yield replace(_case(test, own, filling, test.label or partner.label), reference=partner.id)


def _as_filled(file: SuiteFile, partner: BuiltCase) -> tuple[Lists, Groups]:
    """The lists and groups of the file with only what stands in the partner, where something stands there."""
    lists = {**file.lists, **{name: [value] for name, value in partner.filling.values.items()}}
    group = partner.filling.group
    return lists, file.groups if group is None else {group: file.groups[group]}


def _refuse_too_many(file: SuiteFile, own: str, other: str, partners: int) -> None:
    """Refuse a template whose further placeholders multiply the partners beyond reason."""
    further = set(placeholders(own)) - set(placeholders(other))
    ways = math.prod(len(file.lists[name]) for name in further if name in file.lists)
    about, others_about = (bool(set(placeholders(each)) & set(forms(file.groups))) for each in (own, other))
    groups = len(file.groups) if about and not others_about else 1
    refuse_too_many(own, partners * ways * groups, "less in its further lists, or at_most in the other functionality")


def _altered(test: SuiteEntry, originals: list[BuiltCase], seed: int) -> Iterator[BuiltCase]:
    alter = _alteration(test, seed)
    for case in originals:
        text = alter(case.id, case.text)
        if text is not None and text.strip():
            name = _id(test.functionality, test.alter or f"+{test.append}", case.id)
            label = test.label or case.label
            yield replace(case, id=name, text=text, label=label, test=test, reference=case.id)


def _alteration(test: SuiteEntry, seed: int) -> Alteration:
    return appending(test.append) if test.append else perturbing(str(test.alter), focus=test.focus, seed=seed)


def _case(test: SuiteEntry, template: str, filling: Filling, label: str) -> BuiltCase:
    values = [f"{name}={value}" for name, value in sorted(filling.values.items())]
    name = _id(test.functionality, template, filling.group or "", *values)
    return BuiltCase(name, filling.text, label, test, _id(test.functionality, template), template, filling)


def _id(functionality: str, *content: str) -> str:
    whole = "".join(f"{len(each)}:{each}" for each in (functionality, *content))
    return f"{functionality}-{hashlib.sha256(whole.encode()).hexdigest()[:DIGITS]}"


def _have_classes(file: SuiteFile) -> bool:
    """Whether classes are given, or the names of functionalities make some, by the rule of `as_suite`."""
    by_name = {test.functionality.partition("_")[0] for test in file.tests}
    return len(by_name) < len(file.tests) or any(test.class_ is not None for test in file.tests)


def _row(case: BuiltCase, kinds: bool, classes: bool) -> dict[str, str | None]:
    test = case.test
    by_name = test.functionality.partition("_")[0] if classes else None
    return {
        "id": case.id,
        "text": case.text,
        "label": case.label,
        "functionality": test.functionality,
        "class": test.class_ or by_name,
        "target": case.filling.group,
        "direction": test.direction,
        "template": case.template,
        "pattern": case.pattern,
        "reference": case.reference,
        "kind": test.kind if kinds else None,
        "expect": test.expect,
    }


def _repeated(cases: list[BuiltCase]) -> list[str]:
    first: dict[str, BuiltCase] = {}
    problems = []
    for case in cases:
        other = first.setdefault(case.text, case)
        if other is not case:
            problems.append(f"{case.test.functionality} and {other.test.functionality} both have {case.text!r}")
    return problems
