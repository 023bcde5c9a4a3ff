"""Names that users type, and the code they stand for.

An entry is `name.vN -> "module:attribute"`; nothing is imported before it is used. A bare name means
its newest version, a published `name.v1` never changes its meaning. Anything of the user's own is
named by its place, `package.module:attribute`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from unseen.errors import InputError, UnknownNameError, hint

VERSION = re.compile(r"\.v(\d+)$")


class Registry:
    """The known names of one kind of thing, e.g. splitters."""

    def __init__(self, kind: str, entries: Mapping[str, str]) -> None:
        self.kind = kind
        self._places = dict(entries)

    def __iter__(self) -> Iterator[str]:
        """Bare names, each once, in the order of registration."""
        return iter(dict.fromkeys(VERSION.sub("", name) for name in self._places))

    def full_name(self, name: str) -> str:
        """The versioned name that `name` stands for; places of the user's own stay as they are."""
        if ":" in name or name in self._places:
            return name
        versions = [full for full in self._places if VERSION.sub("", full) == name]
        if not versions:
            raise UnknownNameError.of(self.kind, name, self, fix=f"'unseen ls {self.kind}s' lists them")
        return max(versions, key=lambda full: int(VERSION.search(full).group(1)))  # type: ignore[union-attr]

    def get(self, name: str) -> Any:
        """The object behind `name`, imported now."""
        full = self.full_name(name)
        module, _, attribute = self._places.get(full, full).partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, TypeError, ValueError) as cause:
            if full in self._places:
                raise
            raise InputError(
                f"the {self.kind} {name!r} cannot be imported: {cause}",
                expected="package.module:attribute, importable from here",
            ) from cause

    def make(self, name: str, **params: Any) -> Any:
        """The object behind `name`, called with `params` after checking them against its signature."""
        made = self.get(name)
        if not callable(made):
            raise InputError(f"the {self.kind} {name!r} cannot be called", got=type(made).__name__)
        check_parameters(f"{self.kind} {name!r}", made, params)
        try:
            return made(**params)
        except (TypeError, ValueError) as cause:
            if self.full_name(name) in self._places or isinstance(cause, InputError):
                raise
            raise InputError(f"the {self.kind} {name!r} cannot be made: {cause}", got=f"parameters {params}") from cause

    def summary(self, name: str) -> str:
        """First line of the docstring of what `name` stands for."""
        return (inspect.getdoc(self.get(name)) or "").partition("\n")[0]


def check_parameters(what: str, made: Any, params: Mapping[str, Any]) -> None:
    """Refuse parameters that `made` does not take, all at once, with the nearest names."""
    try:
        signature = inspect.signature(made)
    except ValueError:  # some builtin types tell nothing about themselves
        return
    if any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values()):
        return
    known = list(signature.parameters)
    problems = [f"{name!r} is not a parameter{hint(name, known)}" for name in params if name not in known]
    if problems:
        raise InputError(
            f"{what} was given parameters it does not take",
            problems=problems,
            expected=f"some of {', '.join(known)}" if known else "no parameters",
        )
