"""What every run says about where its numbers come from: when, with which versions, on what kind of machine."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from unseen.types import Dataset, Split
from unseen.types.origin import versions


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def used_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that decide numbers."""
    used = versions()
    for name in ("torch", "transformers"):
        with suppress(PackageNotFoundError):
            used[name] = version(name)
    return used | {"python": platform.python_version()}


def host() -> dict[str, str]:
    """The kind of machine."""
    return {"system": platform.system(), "machine": platform.machine()}


def described_data(data: Dataset) -> dict[str, Any]:
    """A dataset as run.json names it."""
    return {
        "name": data.name,
        "rows": len(data),
        "label_names": data.label_names,
        "counts": data.label_counts,
        "fingerprint": data.fingerprint,
    }


def described_split(split: Split | None) -> dict[str, Any] | None:
    """A split as run.json names it."""
    return None if split is None else {"name": split.name, "sizes": split.sizes, "made_by": split.origin.step}
