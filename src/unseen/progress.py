"""How far long work has come, for whoever wants to know.

Library code wraps its loops in `track`; nothing is shown unless a reporter was installed with `reporting`, as the
command line does. The outermost loop is what is reported; loops inside it move it on by parts of a step. A run of
several stages says with `stages` how long each takes, so that there is one measure for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Progress:
    """How far some work is."""

    work: str
    """What is done: the name of the stage."""
    done: int
    total: int
    """Steps of this stage."""
    share: float
    """Of the whole run where its stages are known, else of this stage; from 0 to 1, and it never falls."""
    of_run: bool = False
    """Whether `share` is of the whole run."""


Reporter = Callable[[Progress], None]


@dataclass
class _Stages:
    """The stages of a run."""

    weights: Mapping[str, float]
    finished: set[str] = field(default_factory=set)

    def share(self, work: str, part: float) -> float:
        """How much of the run is done when this part of a stage is."""
        before = sum(weight for name, weight in self.weights.items() if name in self.finished - {work})
        return (before + self.weights[work] * part) / (sum(self.weights.values()) or 1.0)


@dataclass
class _Loop:
    """The loop that is reported."""

    work: str
    total: int
    report: Reporter
    stages: _Stages | None
    done: int = 0
    share: float = 0.0

    def tell(self, inside: float = 0.0) -> None:
        """Report, with the part of the next step that is done."""
        part = 1.0 if not self.total else min(1.0, (self.done + inside) / self.total)
        stages = self.stages if self.stages is not None and self.work in self.stages.weights else None
        self.share = max(self.share, part if stages is None else stages.share(self.work, part))
        self.report(Progress(self.work, self.done, self.total, self.share, stages is not None))


_reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)
_stages: ContextVar[_Stages | None] = ContextVar("stages", default=None)
_loop: ContextVar[_Loop | None] = ContextVar("loop", default=None)
_inner: ContextVar[bool] = ContextVar("inner", default=False)


@contextmanager
def reporting(reporter: Reporter | None) -> Iterator[None]:
    """Report the progress of everything inside the block to `reporter`."""
    before = _reporter.set(reporter), _stages.set(None), _loop.set(None)
    try:
        yield
    finally:
        _reporter.reset(before[0])
        _stages.reset(before[1])
        _loop.reset(before[2])


@contextmanager
def stages(seconds: Mapping[str, float]) -> Iterator[None]:
    """The work inside is one run of these stages; their seconds need only be right in proportion."""
    token = _stages.set(_Stages(seconds))
    try:
        yield
    finally:
        _stages.reset(token)


def track(items: Iterable[Item], work: str, total: int) -> Iterator[Item]:
    """`items`, reporting each one that is done as a step of `work`."""
    reporter, outer = _reporter.get(), _loop.get()
    if reporter is None or _inner.get():
        yield from items
        return
    if outer is not None:
        _inner.set(True)
        try:
            for done, item in enumerate(items, start=1):
                yield item
                outer.tell(done / total if total else 0.0)
        finally:
            _inner.set(False)
        return
    loop = _Loop(work, total, reporter, _stages.get())
    _loop.set(loop)
    try:
        loop.tell()
        for item in items:
            yield item
            loop.done += 1
            loop.tell()
        if loop.stages is not None:
            loop.stages.finished.add(work)
    finally:
        _loop.set(None)
