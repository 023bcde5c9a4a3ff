"""What every run says about itself: when it ended, and with which versions."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from unseen.splits.partition import versions


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def used_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that decide numbers."""
    found = versions()
    for name in ("torch", "transformers"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found | {"python": platform.python_version()}
