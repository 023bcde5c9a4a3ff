"""Files of a run folder that may be damaged: everything that is wrong is collected, then told at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from unseen.errors import UnseenError

Read = TypeVar("Read")


def tried(read: Callable[[Path], Read], path: Path, problems: list[str], optional: bool = False) -> Read | None:
    """What `read` makes of a file; None when it may be absent and is, or when what went wrong joined `problems`."""
    if optional and not path.exists():
        return None
    try:
        return read(path)
    except UnseenError as cause:
        problems.append("; ".join([cause.message, *cause.problems[:3]]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as cause:
        problems.append(f"{path}: {type(cause).__name__}: {cause}")
    return None
