"""Published suites: one definition each, in `suites/`, that says which column is what and whom to cite.

A table is recognised by its columns. What a definition does not name becomes an attribute.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "suites"


@dataclass(frozen=True)
class Published:
    """How a published suite is written."""

    name: str
    title: str
    homepage: str
    licence: str
    citation: str
    recognised_by: Sequence[str]
    """Columns that a table of this suite has."""
    roles: Mapping[str, Sequence[str]]
    """Names that the column of each part of a suite has had, the first that is there and not taken is it."""
    means: Mapping[str, str] = field(default_factory=dict)
    """What columns mean, for people."""
    label_names: Mapping[str, str] = field(default_factory=dict)
    """What labels that are numbers mean, for people."""
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Our word for a value of a part; an empty one for values that stand for nothing."""
    keep: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Columns and the values that they have in rows of the suite; other rows are not part of it."""
    partial: bool = False
    """Whether references may lead to another file of the suite."""
    first_is_original: bool = False
    """Whether the first case of a set is the one that the others alter."""


@cache
def published() -> dict[str, Published]:
    """Every definition by its name."""
    suites = [Published(**tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(FOLDER.glob("*.toml"))]
    return {suite.name: suite for suite in suites}


def recognised(columns: Collection[str]) -> Published | None:
    """The published suite that has these columns; of several, the one that asks for most of them."""
    fitting = [suite for suite in published().values() if set(suite.recognised_by) <= set(columns)]
    return max(fitting, key=lambda suite: len(suite.recognised_by), default=None)
