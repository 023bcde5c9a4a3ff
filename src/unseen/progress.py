"""How far long work has come, for whoever wants to know.

Library code wraps its loops in `track`; nothing is shown unless a reporter was installed with
`reporting`, as the command line does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Reporter = Callable[[str, int, int], None]
"""Called with the name of the work, steps done and steps in all."""

_reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)


@contextmanager
def reporting(reporter: Reporter | None) -> Iterator[None]:
    """Report the progress of everything inside the block to `reporter`."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


def track(items: Iterable[Item], work: str, total: int) -> Iterator[Item]:
    """`items`, reporting each one that is done as a step of `work`."""
    reporter = _reporter.get()
    if reporter is None:
        yield from items
        return
    reporter(work, 0, total)
    for done, item in enumerate(items, start=1):
        yield item
        reporter(work, done, total)
