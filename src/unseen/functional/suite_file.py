"""Suite files: what a suite tests, with which sentences, written in TOML or YAML, checked as a whole and built.

Every case that is built has an id that its content decides, so that adding others changes none.

Templates: sentences with placeholders in brackets, filled from lists and from the forms of groups.

`I like [DISH].` takes each value of the list DISH. A placeholder that every group has a form of, such as [PLURAL],
takes the form of each group in turn, and the group is then what the case is about. `[DISH^]` begins with a capital.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from unseen.errors import InputError, hint
from unseen.functional.alterations import addition, perturbation
from unseen.functional.suite import KINDS, check_expectation, classes_by_name, suite_of
from unseen.registry import refuse_code
from unseen.seeding import generator
from unseen.store.settings_file import KeyPath, Listed, Problems, SettingsTable, Text, each_once, read_content
from unseen.types import Dataset, Origin

PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]*)(\^?)\]")
MOST = 100_000
"""Cases that one template may give; more is nearly always a mistake."""

Lists = Mapping[str, Sequence[str]]
Groups = Mapping[str, Mapping[str, str]]
NAME = re.compile(r"[A-Z][A-Z0-9_]*")
DIGITS = 10
"""Hexadecimal digits in an id: among 100,000 cases of one functionality, one in 200 suites has two alike."""


@dataclass(frozen=True)
class Filling:
    """One way to fill a template."""

    text: str
    values: Mapping[str, str] = field(default_factory=dict)
    """What stands for each placeholder that is a list."""
    group: str | None = None


def placeholders(template: str) -> tuple[str, ...]:
    """Names of the placeholders, each once, in order.

    >>> placeholders("[DISH^] with [SIDE], not [DISH] alone [sic]")
    ('DISH', 'SIDE')
    """
    return tuple(dict.fromkeys(name for name, _ in PLACEHOLDER.findall(template)))


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with a value for each placeholder; brackets inside values stay as they are.

    >>> filled("[DISH^] or [DISH]?", {"DISH": "soup"})
    'Soup or soup?'
    """

    def value(placeholder: re.Match[str]) -> str:
        word = values[placeholder[1]]
        return word[:1].upper() + word[1:] if placeholder[2] else word

    return PLACEHOLDER.sub(value, template)


def forms(groups: Groups) -> tuple[str, ...]:
    """The placeholders that some group has a form of."""
    return tuple(dict.fromkeys(name for own in groups.values() for name in own))


def fillings(
    template: str, lists: Lists, groups: Groups, *, at_most: int | None = None, seed: int = 42
) -> Iterator[Filling]:
    """Every way to fill the template: all combinations of its lists, each for every group if it names one.

    With `at_most`, so many at most, drawn: every group gets the same combinations, so that groups differ in
    nothing else. What is drawn depends on the seed and on this template alone.
    """
    names = placeholders(template)
    own = [name for name in names if name in lists]
    about = list(groups) if any(name in forms(groups) for name in names) else [None]
    for numbers in _combinations(template, [len(lists[name]) for name in own], len(about), at_most, seed):
        values = {name: lists[name][number] for name, number in zip(own, numbers, strict=True)}
        for group in about:
            of_group = groups[group] if group is not None else {}
            yield Filling(filled(template, {**of_group, **values}), values, group)


def refuse_too_many(template: str, cases: int, fix: str) -> None:
    """Refuse a template that would give more than `MOST` cases."""
    if cases > MOST:
        raise InputError(f"{template!r} gives {cases:,} cases", expected=f"at most {MOST:,}", fix=fix)


def _combinations(
    template: str, sizes: Sequence[int], groups: int, at_most: int | None, seed: int
) -> Iterator[tuple[int, ...]]:
    """Positions in each list, in order; the last list changes fastest."""
    total = math.prod(sizes)
    number = total if at_most is None else min(total, at_most // groups)
    if number < 1:
        raise InputError(f"at_most must be at least the number of groups, {groups}", got=str(at_most))
    refuse_too_many(template, number * groups, "set at_most, or less")
    chosen: Sequence[int] = range(total)
    if number < total:
        chosen = sorted(generator(seed, "template", template).choice(total, number, replace=False).tolist())
    for combination in chosen:
        places = []
        for size in reversed(sizes):
            combination, place = divmod(combination, size)
            places.append(place)
        yield tuple(reversed(places))


Texts = Annotated[Listed[Text], Field(min_length=1), AfterValidator(each_once)]


class SuiteEntry(SettingsTable):
    """One [[tests]] table: a functionality and how its cases are made."""

    functionality: Text = ""
    label: Text | None = None
    """What a model should say; with `of`, that of the original unless given."""
    class_: Text | None = Field(None, alias="class")
    direction: Text | None = None
    templates: Texts = ()
    at_most: Annotated[int, Field(ge=1)] | None = None
    """Cases per template."""
    contrast: Text | None = None
    """Functionality whose templates these contrast with, one to one."""
    of: Text | None = None
    """Functionality whose cases these rewrite (templates, one to one), perturb (alter) or extend (append)."""
    alter: Text | None = None
    focus: Texts = ()
    append: Text | None = None
    kind: Literal["functional", "invariance", "directional"] = "functional"
    expect: Text | None = None

    @property
    def partner(self) -> str | None:
        """The functionality whose cases these refer to."""
        return self.contrast or self.of


class SuiteFile(SettingsTable):
    """What a suite file says."""

    name: Text = ""
    labels: Texts = ()
    tests: Listed[SuiteEntry] = ()
    lists: dict[str, Texts] = Field(default_factory=dict)
    groups: dict[str, dict[str, Text]] = Field(default_factory=dict)


def read_suite_file(path: str | Path, *, trust: bool = False) -> SuiteFile:
    """The suite file at `path`; all its mistakes in one error. `trust` lets code run that it names (`alter`)."""
    path = Path(path)
    content = {"name": path.stem, **read_content(path)}

    def naming(at: KeyPath) -> str:
        """`test 2 (insult):` for a table of tests, `lists:` and `groups: cooks:` for the others."""
        if at and at[0] == "tests":
            table = content["tests"][at[1]]
            return f"{_place(int(at[1]), table.get('functionality') if isinstance(table, Mapping) else None)}:"
        return "".join(f"{key}: " for key in at).rstrip()

    problems = Problems(naming)
    suite = problems.read(SuiteFile, content)
    if suite is not None:
        _Checks(suite, content, problems, trust).run()
    problems.refuse(f"{path} cannot be built as it is")
    assert suite is not None
    return suite


def _place(number: int, functionality: Any) -> str:
    is_name = isinstance(functionality, str) and functionality.strip()
    return f"test {number + 1} ({functionality})" if is_name else f"test {number + 1}"


class _Checks:
    """What one value of a file cannot show: what is missing, has no effect, or does not fit the rest of the file."""

    def __init__(self, suite: SuiteFile, content: Mapping[str, Any], problems: Problems, trust: bool) -> None:
        self.suite, self.content, self.problems, self.trust = suite, content, problems, trust
        self.forms = forms(suite.groups)
        self.above: dict[str, SuiteEntry] = {}

    def run(self) -> None:
        """Note every problem."""
        if len(self.suite.labels) < 2:
            self.problems.add("labels: there must be at least two, all that a model may say")
        self._check_names()
        if not self.content.get("tests"):
            self.problems.add("tests: there must be at least one [[tests]] table")
        for number, test in enumerate(self.suite.tests):
            place = _place(number, test.functionality)
            written = self.content["tests"][number]
            if written.get("functionality") is None:
                self.problems.add(f"{place}: functionality is missing: what do its cases test?")
            if test.functionality in self.above:
                self.problems.add(f"{place}: another test has this functionality; put the templates together")
            for problem in (*self._wrong_ways(test, written), *self._wrong_templates(test), *self._wrong_partner(test)):
                self.problems.add(f"{place}: {problem}")
            if test.expect is not None and test.kind == "directional":
                with self.problems.noted(f"{place}:"):
                    check_expectation(test.expect, self.suite.labels)
            if test.alter:
                with self.problems.noted(f"{place}:"):
                    refuse_code({"alter": test.alter}, self.trust)
                    perturbation(test.alter, focus=test.focus)
            self.above.setdefault(test.functionality or place, test)
        self._check_used()

    def _wrong_ways(self, test: SuiteEntry, written: Mapping[str, Any]) -> Iterator[str]:
        """What is missing from the table that is `written`, and what has no effect."""
        labels = self.suite.labels
        ways = [key for key in ("templates", "alter", "append") if written.get(key) is not None]
        if len(ways) != 1:
            yield f"one of templates, alter and append makes the cases; here {' and '.join(ways) or 'none'} is given"
        if ("alter" in ways or "append" in ways) and test.of is None:
            yield f"{' and '.join(ways)} needs of = the functionality whose cases are changed"
        if test.contrast and (test.of or "templates" not in ways):
            yield "contrast goes with templates, and without of"
        if written.get("label") is None and test.of is None:
            yield "label is missing: what should a model say?"
        if test.label is not None and test.label not in labels:
            yield f"label: {test.label!r} is not one of {', '.join(labels)}{hint(test.label, labels)}"
        if test.at_most is not None and (test.partner or "templates" not in ways):
            yield "at_most has no effect here: the cases follow those of the other functionality"
        if test.focus and not test.alter:
            yield "focus has no effect without alter"
        if test.kind != KINDS[0] and test.of is None:
            yield f"the kind {test.kind} needs of = the functionality that it is compared with"
        if (test.kind == "directional") != (test.expect is not None):
            yield "kind = 'directional' and expect = 'up LABEL' or 'down LABEL' go together"

    def _wrong_templates(self, test: SuiteEntry) -> Iterator[str]:
        groups = [own for own in self._written("groups").values() if isinstance(own, Mapping)]
        known = [*self._written("lists"), *(str(name) for own in groups for name in own)]
        for template in test.templates:
            for name in placeholders(template):
                if name not in known:
                    yield f"{template!r}: no list and no group has [{name}]{hint(name, known)}"
            if test.at_most and self._about_groups(template) and test.at_most < len(self.suite.groups):
                yield f"at_most = {test.at_most} is less than a case for each of {len(self.suite.groups)} groups"

    def _wrong_partner(self, test: SuiteEntry) -> Iterator[str]:
        for key, name in (("contrast", test.contrast), ("of", test.of)):
            if name is None:
                continue
            other = self.above.get(name)
            if other is None:
                yield f"{key}: no test above has the functionality {name!r}{hint(name, self.above)}"
            elif test.templates:
                yield from self._wrong_pairs(key, test, other)

    def _wrong_pairs(self, key: str, test: SuiteEntry, other: SuiteEntry) -> Iterator[str]:
        if len(test.templates) != len(other.templates):
            yield (
                f"{key}: templates pair one to one, but there are {len(test.templates)} here and "
                f"{len(other.templates)} in {other.functionality}"
            )
            return
        if key == "contrast" and test.label == other.label:
            yield f"contrast: {other.functionality} has the same label; a contrast has another one"
        for own, theirs in zip(test.templates, other.templates, strict=True):
            in_own = placeholders(own)
            lacking = [name for name in placeholders(theirs) if name in self.suite.lists and name not in in_own]
            if self._about_groups(theirs) and not self._about_groups(own):
                lacking.append(" or ".join(self.forms))
            if lacking:
                yield f"{own!r} cannot be paired with {theirs!r}: it lacks [{'], ['.join(lacking)}]"

    def _about_groups(self, template: str) -> bool:
        return bool(set(placeholders(template)) & set(self.forms))

    def _check_names(self) -> None:
        for name in (*self._written("lists"), *self.forms):
            if not NAME.fullmatch(name):
                self.problems.add(f"the placeholder {name!r} must be in capitals, such as {'DISH'!r}")
            if name in self.forms and name in self.suite.lists:
                self.problems.add(f"[{name}] is a list and a form of groups")
        for group, own in self.suite.groups.items():
            if not own:
                self.problems.add(f"groups: {group} must be a table of forms, such as {{PLURAL = '{group}'}}")
            elif lacking := [name for name in self.forms if name not in self._written("groups")[group]]:
                self.problems.add(f"groups: {group} has no {' and no '.join(lacking)}; other groups do")

    def _check_used(self) -> None:
        used = {name for test in self.above.values() for template in test.templates for name in placeholders(template)}
        for name in self.suite.lists:
            if name not in used:
                self.problems.add(f"lists: no template has [{name}]")
        if self.suite.groups and not used & set(self.forms):
            self.problems.add("groups: no template has a form of them")

    def _written(self, key: str) -> dict[str, Any]:
        """The table as it is written: what is wrong in it is told once, not again wherever it is used."""
        table = self.content.get(key)
        return {str(name): value for name, value in table.items()} if isinstance(table, Mapping) else {}


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
    cases = [case for of_test in made.values() for case in of_test]
    problems += [f"{name}: it has no cases" for name, of_test in made.items() if not of_test and not problems]
    missing = set(file.labels) - {case.label for case in cases}
    problems += [f"no case has the label {label!r}" for label in file.labels if label in missing and not problems]
    problems += _repeated(cases)
    if problems:
        raise InputError(f"the suite {file.name} cannot be built", problems=problems)
    functionalities = [test.functionality for test in file.tests]
    kinds = any(test.kind != KINDS[0] for test in file.tests)
    classes = classes_by_name(functionalities) is not None or any(test.class_ is not None for test in file.tests)
    origin = Origin("build", {"functionalities": functionalities}, seed)
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


def _paired(file: SuiteFile, test: SuiteEntry, others: Sequence[BuiltCase]) -> Iterator[BuiltCase]:
    """Cases whose reference is the case of the paired template with the same group and the same values."""
    theirs = next(other.templates for other in file.tests if other.functionality == test.partner)
    partners: dict[str, list[BuiltCase]] = {}
    for case in others:
        partners.setdefault(case.pattern, []).append(case)
    for own, pattern in zip(test.templates, theirs, strict=True):
        _refuse_too_many(file, own, pattern, len(partners.get(pattern, [])))
        for partner in partners.get(pattern, []):
            for filling in fillings(own, *_as_filled(file, partner)):
                yield replace(_case(test, own, filling, test.label or partner.label), reference=partner.id)


def _as_filled(file: SuiteFile, partner: BuiltCase) -> tuple[Lists, Groups]:
    """The lists and groups of the file with only what stands in the partner, where something stands there."""
    lists: Lists = {**file.lists, **{name: [value] for name, value in partner.filling.values.items()}}
    group = partner.filling.group
    return lists, file.groups if group is None else {group: file.groups[group]}


def _refuse_too_many(file: SuiteFile, own: str, other: str, partners: int) -> None:
    """Refuse a template whose further placeholders multiply the partners beyond reason."""
    further = set(placeholders(own)) - set(placeholders(other))
    ways = math.prod(len(file.lists[name]) for name in further if name in file.lists)
    about, others_about = (bool(set(placeholders(template)) & set(forms(file.groups))) for template in (own, other))
    groups = len(file.groups) if about and not others_about else 1
    refuse_too_many(own, partners * ways * groups, "less in its further lists, or at_most in the other functionality")


def _altered(test: SuiteEntry, originals: Sequence[BuiltCase], seed: int) -> Iterator[BuiltCase]:
    alter = addition(test.append) if test.append else perturbation(str(test.alter), focus=test.focus, seed=seed)
    for case in originals:
        text = alter(case.id, case.text)
        if text is not None and text.strip():
            name = _id(test.functionality, test.alter or f"+{test.append}", case.id)
            label = test.label or case.label
            yield replace(case, id=name, text=text, label=label, test=test, reference=case.id)


def _case(test: SuiteEntry, template: str, filling: Filling, label: str) -> BuiltCase:
    values = [f"{name}={value}" for name, value in sorted(filling.values.items())]
    name = _id(test.functionality, template, filling.group or "", *values)
    return BuiltCase(name, filling.text, label, test, _id(test.functionality, template), template, filling)


def _id(functionality: str, *content: str) -> str:
    whole = "".join(f"{len(part)}:{part}" for part in (functionality, *content))
    return f"{functionality}-{hashlib.sha256(whole.encode()).hexdigest()[:DIGITS]}"


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


def _repeated(cases: Sequence[BuiltCase]) -> list[str]:
    first: dict[str, BuiltCase] = {}
    problems = []
    for case in cases:
        other = first.setdefault(case.text, case)
        if other is not case:
            problems.append(f"{case.test.functionality} and {other.test.functionality} both have {case.text!r}")
    return problems
