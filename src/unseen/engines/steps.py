"""Steps of work: what each needs, what decides its result, and how one is carried out."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic, process_time
from typing import Any

from unseen.machine import has_gpu
from unseen.progress import track
from unseen.release import __version__
from unseen.roles import Engine
from unseen.store.results import Results, key_of


@dataclass(frozen=True, eq=False)
class Step:
    """A piece of work whose result is a folder of files."""

    name: str
    """For people; decides nothing."""
    work: str
    """`module:function` that takes a Workspace."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Plain values; everything that decides the result, besides what is needed."""
    needs: Mapping[str, Step] = field(default_factory=dict)
    """Other steps by the role their results play."""
    shared: Mapping[str, str] = field(default_factory=dict)
    """Objects in memory by role: the names under which the engine was given them. Settings must tell their content."""
    version: int = 1
    """Raised when the same settings give another result than before."""
    uses_gpu: bool = False
    """Whether a graphics card makes it faster; decides nothing."""

    @cached_property
    def key(self) -> str:
        """Hash of everything that decides the result, the version of this package included."""
        needs = {role: need.key for role, need in self.needs.items()}
        return key_of(self.work, [__version__, self.version, self.settings, needs])

    def carry_out(self, here: Workspace) -> dict[str, Any]:
        """Do the work; what is worth recording about it."""
        module, _, function = self.work.partition(":")
        begun, busy = monotonic(), process_time()
        getattr(importlib.import_module(module), function)(here)
        return {
            "step": self.name,
            "work": self.work,
            "seconds": round(monotonic() - begun, 3),
            "cpu_seconds": round(process_time() - busy, 3),
            "gpus": int(self.uses_gpu and has_gpu()),
            "settings": self.settings,
            "needs": {role: need.key for role, need in self.needs.items()},
        }


@dataclass(frozen=True)
class Workspace:
    """What a step works with."""

    settings: Mapping[str, Any]
    needs: Mapping[str, Path]
    """Folders with the results it needs, by role."""
    shared: Mapping[str, Any]
    folder: Path
    """Where its own files go."""
    scratch: Path
    """What is written here is there again after an interruption, and gone when the step is done."""

    def need(self, role: str, file: str) -> Path:
        """A file of a result that is needed."""
        return self.needs[role] / file


@dataclass(frozen=True)
class Outcome:
    """How a step ended."""

    step: Step
    error: Exception | None = None


def in_order(steps: Iterable[Step]) -> list[Step]:
    """These steps and all they need, each once, needs first."""
    ordered: dict[str, Step] = {}

    def visit(step: Step) -> None:
        if step.key not in ordered:
            for need in step.needs.values():
                visit(need)
            ordered[step.key] = step

    for step in steps:
        visit(step)
    return list(ordered.values())


def do_in(results: Results, step: Step, shared: Mapping[str, Any]) -> None:
    """Carry out one step into the store, unless it is there; whatever it needs must be."""
    with results.claimed(step.key):
        if results.has(step.key):
            return
        about: dict[str, Any] = {}
        with results.writing(step.key, about) as folder:
            needs = {role: results.folder(need.key) for role, need in step.needs.items()}
            given = {role: shared[name] for role, name in step.shared.items()}
            about |= step.carry_out(Workspace(step.settings, needs, given, folder, results.scratch(step.key)))


class Waiting:
    """Which steps can be begun: those whose needs are met."""

    def __init__(self, steps: Sequence[Step], results: Results) -> None:
        self.open = {step.key: step for step in steps if not results.has(step.key)}
        self._missing = {
            key: {need.key for need in step.needs.values() if need.key in self.open} for key, step in self.open.items()
        }

    def ready(self) -> list[Step]:
        """Steps that can be begun now, in order; they count as begun."""
        keys = [key for key, missing in self._missing.items() if not missing]
        for key in keys:
            del self._missing[key]
        return [self.open[key] for key in keys]

    def ended(self, outcome: Outcome) -> None:
        """Take note of an end; what needs a step that failed is never ready."""
        if outcome.error is None:
            for missing in self._missing.values():
                missing.discard(outcome.step.key)


def carry_out(steps: Sequence[Step], engine: Engine, results: Results, shared: Mapping[str, Any], work: str) -> None:
    """Do all steps; the first that fails ends it."""
    open_ = sum(not results.has(step.key) for step in steps)
    for outcome in track(engine.run(steps, results, shared), work, open_):
        if outcome.error is not None:
            raise outcome.error


def timings(steps: Sequence[Step], results: Results) -> list[dict[str, Any]]:
    """Seconds of each finished step."""
    return [
        {"step": step.name, "seconds": results.record(step.key)["seconds"]} for step in steps if results.has(step.key)
    ]


def folders_of(steps: Sequence[Step], results: Results) -> list[Path]:
    """What each finished step has left."""
    return [results.folder(step.key) for step in steps if results.has(step.key)]
