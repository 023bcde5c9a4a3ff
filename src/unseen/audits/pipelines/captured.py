"""What a pipeline holds or refers to: fitted vectorisers and datasets, in its steps, closures and global names."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unseen.types import Dataset

PLAIN = (str, bytes, int, float, np.generic, np.ndarray)
DEEPEST = 8
MOST = 20_000
"""Objects that are looked at, so that no graph of objects is too large."""
OPAQUE = ("torch", "numpy", "scipy", "pyarrow", "unseen", "builtins", "typing", "re")
"""Packages whose objects hold nothing to look for."""


def held_by(*roots: Any) -> Iterator[Any]:
    """Everything reachable from `roots`, each object once, the nearest first.

    Followed are attributes, containers, bound methods, closures and the global names that a function uses; arrays
    and the objects of numerical packages are not opened.
    """
    level, seen, kept = list(roots), set[int](), []
    for _ in range(DEEPEST):
        below: list[Any] = []
        for each in level:
            if id(each) in seen or len(seen) >= MOST:
                continue
            seen.add(id(each))
            kept.append(each)  # ids are those of living objects only
            yield each
            below += _parts(each)
        level = below


def vectorisers(*roots: Any) -> list[Any]:
    """Fitted vectorisers of texts: objects with a `vocabulary_` and an analyser."""
    return [
        each
        for each in held_by(*roots)
        if not isinstance(each, type)
        and hasattr(each, "build_analyzer")
        and isinstance(_own(each, "vocabulary_"), Mapping)
    ]


def datasets(*roots: Any) -> list[Dataset]:
    """Datasets that are referred to."""
    return [each for each in held_by(*roots) if isinstance(each, Dataset)]


def _parts(each: Any) -> list[Any]:
    if isinstance(each, types.MethodType):
        return [each.__self__, each.__func__]
    if isinstance(each, functools.partial):
        return [each.func, *each.args, *each.keywords.values()]
    if isinstance(each, types.FunctionType):
        return _of_function(each)
    if isinstance(each, Mapping | list | tuple | set):
        return [one for one in (each.values() if isinstance(each, Mapping) else each) if not isinstance(one, PLAIN)]
    if isinstance(each, type | types.ModuleType):
        return []
    own = getattr(each, "__dict__", {})
    if _package(type(each)) in OPAQUE:  # a classifier of ours may wrap anybody's model
        return [own[name] for name in ("model", "_pipeline", "function") if name in own]
    return list(own.values())


def _of_function(function: types.FunctionType) -> list[Any]:
    found: list[Any] = list(function.__defaults__ or ())
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # a name that has no value yet
            continue
    if _package(function) in (*OPAQUE, "sklearn"):
        return found
    return found + [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]


def _names(code: types.CodeType) -> set[str]:
    """Global names that a function or one inside it uses."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*(_names(each) for each in inner))


def _package(each: Any) -> str:
    return str(getattr(each, "__module__", None) or "").partition(".")[0]


def _own(each: Any, name: str) -> Any:
    try:
        return getattr(each, name, None)
    except Exception:  # a property of somebody's that cannot be read
        return None
