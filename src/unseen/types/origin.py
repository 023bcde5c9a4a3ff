"""How a record was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Origin:
    """How a record was made."""

    step: str
    """Name of the verb or method, e.g. `closest.v1`."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Resolved settings."""
    seed: int | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of the records it was made from, by role."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the packages that decide the result."""
