"""Suite files: what a suite tests, with which sentences, written in TOML or YAML and checked as a whole."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from unseen.errors import InputError, MissingPackageError, UnseenError, nearest_name
from unseen.functional.alterations import perturbing
from unseen.functional.suite import KINDS, check_expectation
from unseen.functional.templates import Groups, Lists, forms, placeholders
from unseen.registry import refuse_code
from unseen.store.plain_yaml import plain_yaml

NAME = re.compile(r"[A-Z][A-Z0-9_]*")
KEYS = ("name", "labels", "lists", "groups", "tests")


@dataclass(frozen=True)
class SuiteEntry:
    """One [[tests]] table: a functionality and how its cases are made."""

    functionality: str
    label: str | None = None
    """What a model should say; with `of`, that of the original unless given."""
    class_: str | None = None
    direction: str | None = None
    templates: tuple[str, ...] = ()
    at_most: int | None = None
    """Cases per template."""
    contrast: str | None = None
    """Functionality whose templates these contrast with, one to one."""
    of: str | None = None
    """Functionality whose cases these rewrite (templates, one to one), perturb (alter) or extend (append)."""
    alter: str | None = None
    focus: tuple[str, ...] = ()
    append: str | None = None
    kind: str = KINDS[0]
    expect: str | None = None

    @property
    def partner(self) -> str | None:
        """The functionality whose cases these refer to."""
        return self.contrast or self.of


@dataclass(frozen=True)
class SuiteFile:
    """What a suite file says."""

    name: str
    labels: tuple[str, ...]
    tests: tuple[SuiteEntry, ...]
    lists: Lists = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)


def read_suite_file(path: str | Path, *, trust: bool = False) -> SuiteFile:
    """The suite file at `path`; all its mistakes in one error. `trust` lets code run that it names (`alter`)."""
    path = Path(path)
    reader = _Reader(_content(path), path.stem, trust)
    found = reader.suite()
    if reader.problems:
        raise InputError(f"{path} cannot be built as it is", problems=reader.problems)
    return found


def _content(path: Path) -> Mapping[str, Any]:
    is_yaml = path.suffix in (".yaml", ".yml")
    try:
        text = path.read_text(encoding="utf-8")
        content = _yaml(text, path) if is_yaml else tomllib.loads(text)
    except OSError as cause:
        raise InputError(f"cannot read {path}: {cause.strerror}") from cause
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise InputError(f"{path} is not {'YAML' if is_yaml else 'TOML'}: {cause}") from cause
    if not isinstance(content, Mapping):
        raise InputError(f"{path} holds no tables", expected=f"some of {', '.join(KEYS)}", got=type(content).__name__)
    return content


def _yaml(text: str, path: Path) -> Any:
    try:
        importlib.import_module("yaml")
    except ImportError as cause:
        said = f"{path} is YAML, which needs the package 'pyyaml'"
        raise MissingPackageError(said, fix="pip install pyyaml, or write the suite as TOML") from cause
    return plain_yaml(text, str(path), typed=True)


class _Reader:
    """Reads one file and collects what is wrong with it."""

    def __init__(self, content: Mapping[str, Any], stem: str, trust: bool) -> None:
        self.content, self.stem, self.trust = content, stem, trust
        self.problems: list[str] = []
        self.tests: dict[str, SuiteEntry] = {}

    def suite(self) -> SuiteFile:
        self._known("the file", self.content, KEYS)
        name = self._text("the file", self.content, "name") or self.stem
        self.labels = self._texts("the file", self.content, "labels")
        if len(self.labels) < 2:
            self.problems.append("labels: there must be at least two, all that a model may say")
        self.lists = {each: self._texts("lists", self._table("lists"), each) for each in self._table("lists")}
        self.groups = {each: self._forms(each, own) for each, own in self._table("groups").items()}
        self._check_names()
        for number, table in enumerate(self._tables(), 1):
            self._add(number, table)
        self._check_used()
        return SuiteFile(name, self.labels, tuple(self.tests.values()), self.lists, self.groups)

    def _add(self, number: int, table: Mapping[str, Any]) -> None:
        name = table.get("functionality")
        place = f"test {number} ({name})" if isinstance(name, str) else f"test {number}"
        if not isinstance(name, str) or not name.strip():
            self.problems.append(f"{place}: functionality is missing: what do its cases test?")
            name = place
        if name in self.tests:
            self.problems.append(f"{place}: another test has this functionality; put the templates together")
        test = self._behaviour(place, name, table)
        found = [*self._wrong_ways(test), *self._wrong_templates(test), *self._wrong_partner(test)]
        self.problems += [f"{place}: {each}" for each in found]
        self.tests.setdefault(name, test)

    def _behaviour(self, place: str, name: str, table: Mapping[str, Any]) -> SuiteEntry:
        known = ["class" if each.name == "class_" else each.name for each in fields(SuiteEntry)]
        self._known(place, table, known)
        single = {each: self._text(place, table, each) for each in ("label", "direction", "contrast", "of", "alter")}
        single |= {each: self._text(place, table, each) for each in ("append", "expect")}
        kind = self._text(place, table, "kind") or KINDS[0]
        at_most = table.get("at_most")
        if at_most is not None and (not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 1):
            self.problems.append(f"{place}: at_most must be a number of cases, not {at_most!r}")
            at_most = None
        several = {each: self._texts(place, table, each) for each in ("templates", "focus") if each in table}
        class_ = self._text(place, table, "class")
        return SuiteEntry(name, class_=class_, at_most=at_most, kind=kind, **single, **several)  # type: ignore[arg-type]

    def _wrong_ways(self, test: SuiteEntry) -> Iterable[str]:
        """What is missing, and what has no effect."""
        ways = [key for key in ("templates", "alter", "append") if getattr(test, key)]
        if len(ways) != 1:
            yield f"one of templates, alter and append makes the cases; here {' and '.join(ways) or 'none'} is given"
        if ("alter" in ways or "append" in ways) and test.of is None:
            yield f"{' and '.join(ways)} needs of = the functionality whose cases are changed"
        if test.contrast and (test.of or "templates" not in ways):
            yield "contrast goes with templates, and without of"
        if test.label is None and test.of is None:
            yield "label is missing: what should a model say?"
        if test.label is not None and test.label not in self.labels:
            yield f"label: {test.label!r} is not one of {', '.join(self.labels)}{_hint(test.label, self.labels)}"
        if test.at_most is not None and (test.partner or "templates" not in ways):
            yield "at_most has no effect here: the cases follow those of the other functionality"
        if test.focus and not test.alter:
            yield "focus has no effect without alter"
        yield from self._wrong_kind(test)
        if test.alter:
            yield from _wrong(lambda: self._check_alteration(test))

    def _check_alteration(self, test: SuiteEntry) -> None:
        refuse_code({"alter": test.alter}, self.trust)
        perturbing(str(test.alter), focus=test.focus)

    def _wrong_kind(self, test: SuiteEntry) -> Iterable[str]:
        if test.kind not in KINDS:
            yield f"kind: {test.kind!r} is not one of {', '.join(KINDS)}{_hint(test.kind, KINDS)}"
        elif test.kind != KINDS[0] and test.of is None:
            yield f"the kind {test.kind} needs of = the functionality that it is compared with"
        if (test.kind == "directional") != (test.expect is not None):
            yield "kind = 'directional' and expect = 'up LABEL' or 'down LABEL' go together"
        elif test.expect is not None:
            yield from _wrong(lambda: check_expectation(str(test.expect), self.labels))

    def _wrong_templates(self, test: SuiteEntry) -> Iterable[str]:
        known = [*self.lists, *forms(self.groups)]
        for template in test.templates:
            for name in placeholders(template):
                if name not in known:
                    yield f"{template!r}: no list and no group has [{name}]{_hint(name, known)}"
            if test.at_most and self._about_groups(template) and test.at_most < len(self.groups):
                yield f"at_most = {test.at_most} is less than a case for each of {len(self.groups)} groups"

    def _wrong_partner(self, test: SuiteEntry) -> Iterable[str]:
        for key, name in (("contrast", test.contrast), ("of", test.of)):
            if name is None:
                continue
            other = self.tests.get(name)
            if other is None:
                yield f"{key}: no test above has the functionality {name!r}{_hint(name, self.tests)}"
            elif test.templates:
                yield from self._wrong_pairs(key, test, other)

    def _wrong_pairs(self, key: str, test: SuiteEntry, other: SuiteEntry) -> Iterable[str]:
        if len(test.templates) != len(other.templates):
            yield (
                f"{key}: templates pair one to one, but there are {len(test.templates)} here and "
                f"{len(other.templates)} in {other.functionality}"
            )
            return
        if key == "contrast" and test.label == other.label:
            yield f"contrast: {other.functionality} has the same label; a contrast has another one"
        for own, theirs in zip(test.templates, other.templates, strict=True):
            lacking = [each for each in placeholders(theirs) if each in self.lists and each not in placeholders(own)]
            if self._about_groups(theirs) and not self._about_groups(own):
                lacking.append(" or ".join(forms(self.groups)))
            if lacking:
                yield f"{own!r} cannot be paired with {theirs!r}: it lacks [{'], ['.join(lacking)}]"

    def _about_groups(self, template: str) -> bool:
        return bool(set(placeholders(template)) & set(forms(self.groups)))

    def _check_names(self) -> None:
        names = forms(self.groups)
        for name in (*self.lists, *names):
            if not NAME.fullmatch(name):
                self.problems.append(f"the placeholder {name!r} must be in capitals, such as {'DISH'!r}")
        self.problems += [f"[{name}] is a list and a form of groups" for name in self.lists if name in names]
        for group, own in self.groups.items():
            lacking = [name for name in names if name not in own]
            if lacking:
                self.problems.append(f"groups: {group} has no {' and no '.join(lacking)}; other groups do")

    def _check_used(self) -> None:
        used = {name for test in self.tests.values() for each in test.templates for name in placeholders(each)}
        self.problems += [f"lists: no template has [{name}]" for name in self.lists if name not in used]
        if self.groups and not used & set(forms(self.groups)):
            self.problems.append("groups: no template has a form of them")

    # -- values ----------------------------------------------------------------------------------------------------

    def _tables(self) -> Sequence[Mapping[str, Any]]:
        tests = self.content.get("tests", [])
        if not isinstance(tests, list) or not tests or not all(isinstance(each, Mapping) for each in tests):
            self.problems.append("tests: there must be at least one [[tests]] table")
            return []
        return tests

    def _table(self, key: str) -> Mapping[str, Any]:
        table = self.content.get(key, {})
        if not isinstance(table, Mapping):
            self._once(f"{key} must be a table")
            return {}
        return {str(name): value for name, value in table.items()}

    def _forms(self, group: str, own: Any) -> Mapping[str, str]:
        if not isinstance(own, Mapping) or not own:
            self.problems.append(f"groups: {group} must be a table of forms, such as {{PLURAL = '{group}'}}")
            return {}
        return {str(name): self._text(f"groups: {group}", own, name) or "" for name in own}

    def _text(self, place: str, table: Mapping[str, Any], key: str) -> str | None:
        value = table.get(key)
        if value is None and key not in table:
            return None
        if not isinstance(value, str) or not value.strip():
            self.problems.append(f"{place}: {key} must be a text, not {value!r}; put it in quotes")
            return None
        return value

    def _texts(self, place: str, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        values = table.get(key)
        if not isinstance(values, list) or not values:
            self.problems.append(f"{place}: {key} must be a list of texts with at least one in it")
            return ()
        wrong = [value for value in values if not isinstance(value, str) or not value.strip()]
        self.problems += [f"{place}: {key} holds {value!r}, which is no text; put it in quotes" for value in wrong]
        texts = [value for value in values if isinstance(value, str) and value.strip()]
        repeated = sorted(value for value, n in Counter(texts).items() if n > 1)
        self.problems += [f"{place}: {key} holds {value!r} twice" for value in repeated]
        return tuple(dict.fromkeys(texts))

    def _known(self, place: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                self.problems.append(f"{place}: {key!r} is not known here{_hint(str(key), known)}")

    def _once(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def _wrong(attempt: Any) -> Iterable[str]:
    """What an attempt has to say when it fails."""
    try:
        attempt()
    except UnseenError as error:
        yield "; ".join([error.message, *error.problems])


def _hint(name: str, known: Iterable[str]) -> str:
    near = nearest_name(name, known)
    return f"; did you mean {near!r}?" if near else ""
