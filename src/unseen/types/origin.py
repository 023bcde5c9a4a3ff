"""How a record was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

DECISIVE = ("unseen", "numpy", "scikit-learn", "ortools", "numba")


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


def versions() -> dict[str, str]:
    """Versions of the packages that decide vectors and splits."""
    installed = {}
    for package in DECISIVE:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "unknown"
    return installed
