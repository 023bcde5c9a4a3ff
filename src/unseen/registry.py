"""Names that users type, and the code they stand for.

An entry is `name.vN -> "module:attribute"`; nothing is imported before it is used. A bare name means
its newest version, a published `name.v1` never changes its meaning. Anything of the user's own is
named by its place, `package.module:attribute`. What a user types or passes is the user's word; what a file
names runs only for whoever trusts the file (`refuse_code`).
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from unseen.errors import InputError, MissingPackageError, UnknownNameError, hint, require

VERSION = re.compile(r"\.v(\d+)$")
LISTED_BY = {
    "splitter": "split", "recipe": "model", "encoder": "model", "check": "audit", "pipeline": "audit",
    "perturbation": "data suite", "explainer": "model", "attack": "attack",
}  # fmt: skip
"""The group of commands that lists the names of a kind."""
CHOSEN_BY = {"recipe": "model={!r}", "encoder": "using={0!r} (--encoder {0} on the command line)"}
"""How users choose a name of a kind."""
NUMBERS: dict[str, type] = {"int": Integral, "float": Real, "bool": Integral}
"""What parameters with these annotations take, numpy's numbers too."""
# numbers within a range, for annotations
Count = int
Natural = int
Positive = float
NotNegative = float
BelowOne = float
Share = float
RANGES: dict[str, tuple[str, str, Callable[[Any], bool]]] = {
    "Count": ("int", "at least 1", lambda number: number >= 1),
    "Natural": ("int", "at least 0", lambda number: number >= 0),
    "Positive": ("float", "above 0", lambda number: 0 < number < math.inf),
    "NotNegative": ("float", "at least 0", lambda number: 0 <= number < math.inf),
    "BelowOne": ("float", "from 0 to below 1", lambda number: 0 <= number < 1),
    "Share": ("float", "between 0 and 1", lambda number: 0 < number < 1),
}
"""What parameters with these annotations are, and the range of their numbers."""


class Registry:
    """The known names of one kind of thing, e.g. splitters; a place must have all `methods` of its role.

    `extras` says which entries need an extra of the package. Values are checked before a thing is made, unless its
    kind only stores them (`stores`): then whoever was given them checks.
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, str],
        methods: Sequence[str] = (),
        extras: Mapping[str, str] | None = None,
        stores: bool = False,
    ) -> None:
        self.kind, self.stores = kind, stores
        self.methods = tuple(methods)
        self._places = dict(entries)
        self._extras = dict(extras or {})

    def __iter__(self) -> Iterator[str]:
        """Bare names, each once, in the order of registration."""
        return iter(dict.fromkeys(VERSION.sub("", name) for name in self._places))

    def full_name(self, name: str) -> str:
        """The versioned name that `name` stands for; places of the user's own stay as they are."""
        if ":" in name or name in self._places:
            return name
        versions = [full for full in self._places if VERSION.sub("", full) == name]
        if not versions:
            raise UnknownNameError.of(self.kind, name, self, fix=self._listing())
        return max(versions, key=lambda full: int(VERSION.search(full).group(1)))  # type: ignore[union-attr]

    def _listing(self) -> str | None:
        group = LISTED_BY.get(self.kind)
        return None if group is None else f"'unseen {group} ls {self.kind}s' lists them"

    def get(self, name: str) -> Any:
        """The object behind `name`, imported now."""
        full = self.full_name(name)
        if full in self._extras:
            light = next((one for one in self if self.full_name(one) not in self._extras), "")
            without = CHOSEN_BY.get(self.kind, "").format(light) if light else ""
            require(self._extras[full], f"the {self.kind} {name!r}", without)
        module, _, attribute = self._places.get(full, full).partition(":")
        try:
            target = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, TypeError, ValueError) as cause:
            if full in self._places:
                raise
            raise InputError(
                f"the {self.kind} {name!r} cannot be imported: {cause}",
                expected="package.module:attribute, importable from here",
            ) from cause
        has_role = inspect.isfunction(target) or all(hasattr(target, method) for method in self.methods)
        if full not in self._places and not has_role:
            raise InputError(
                f"{name!r} is not a {self.kind}",
                expected=f"a class or an object with {' and '.join(self.methods)}, or a function that makes one",
                got=type(target).__name__,
            )
        return target

    def outline(self, name: str, params: Mapping[str, Any]) -> Any:
        """What stands at `name`, not called: the class, object or function, its parameters checked."""
        target = self.get(name)
        if callable(target):
            check_parameters(f"{self.kind} {name!r}", target, params)
            if not self.stores:
                check_numbers(f"{self.kind} {name!r}", target, params)
        elif params or not self.methods:
            raise InputError(f"the {self.kind} {name!r} cannot be called", got=type(target).__name__)
        return target

    def make(self, name: str, **params: Any) -> Any:
        """The object behind `name`, called with `params` after checking them against its signature."""
        target = self.outline(name, params)
        if not callable(target):
            return target
        try:
            return target(**params)
        except (TypeError, ValueError) as cause:
            if self.full_name(name) in self._places or isinstance(cause, InputError):
                raise
            raise InputError(f"the {self.kind} {name!r} cannot be made: {cause}", got=f"parameters {params}") from cause

    def summary(self, name: str) -> str:
        """First line of the docstring of what `name` stands for, or how to install what it needs."""
        try:
            return (inspect.getdoc(self.get(name)) or "").partition("\n")[0]
        except MissingPackageError as missing:
            return f"not installed: {missing.fix}"


def refuse_code(table: Mapping[str, Any], trust: bool) -> None:
    """Refuse code that a table of a file names, before anything of it is imported, unless the file is trusted."""
    if "trust" in table:
        raise InputError("trust is for the user to say, by trust=True, not for a file")
    places = [] if trust else [*_places(table)]
    if places:
        raise InputError(f"names code that runs only with trust=True: {', '.join(places)}")


def _places(value: Any) -> Iterator[str]:
    if isinstance(value, str) and ":" in value and "://" not in value:
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _places(inner)


def source_of(place: str) -> str:
    """Hash of the files that define what stands at `package.module:attribute`; of no other code that it uses."""
    name, _, attribute = place.partition(":")
    named = importlib.import_module(name)
    defining = sys.modules.get(getattr(getattr(named, attribute, None), "__module__", None) or "", named)
    files = sorted({str(file) for module in (named, defining) if (file := getattr(module, "__file__", None))})
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


def require_known(kind: str, known: Iterable[str], *names: str, fix: str | None = None) -> None:
    """Refuse the first of the names that is none of the known ones."""
    known = list(known)
    for name in names:
        if name not in known:
            raise UnknownNameError.of(kind, str(name), known, fix)


def check_parameters(what: str, target: Any, params: Mapping[str, Any]) -> None:
    """Refuse parameters that `target` does not take, all at once, with the nearest names."""
    try:
        signature = inspect.signature(target)
    except ValueError:  # some builtin types tell nothing about themselves
        return
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()):
        return
    known = list(signature.parameters)
    problems = [f"{name!r} is not a parameter{hint(name, known)}" for name in params if name not in known]
    if problems:
        raise InputError(
            f"{what} was given parameters it does not take",
            problems=problems,
            expected=f"some of {', '.join(known)}" if known else "no parameters",
        )


def check_numbers(
    what: str, target: Any, params: Mapping[str, Any], further: Callable[[], Iterable[str]] = tuple
) -> None:
    """Refuse values that are no numbers, or out of range, where the annotations of `target` say what a parameter is.

    `further` says what is wrong besides, of numbers that do not go together; it is asked where all are numbers.
    """
    no_numbers, problems = [], list[str]()
    for name, parameter in inspect.signature(target).parameters.items():
        annotation, value = str(parameter.annotation), params.get(name)
        kind = annotation.removesuffix(" | None")
        if name not in params or (value is None and kind != annotation):
            continue
        kind, expected, is_within = RANGES.get(kind, (kind, "", None))
        if not isinstance(value, NUMBERS.get(kind, object)):
            no_numbers.append(f"{name!r} takes {kind}, not {value!r}")
        elif is_within is not None and not is_within(value):
            problems.append(f"{name} must be {expected}, not {value!r}")
    problems = [*no_numbers, *problems] if no_numbers else [*problems, *further()]
    if problems:
        raise InputError(f"{what} was given something else than numbers that it takes", problems=problems)
