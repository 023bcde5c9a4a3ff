"""What a model must pass to ship."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from unseen.errors import InputError
from unseen.functional.checking import CROSSED
from unseen.types import Measurement, some


@dataclass(frozen=True)
class Gate:
    """The lowest rate that slices may have; `functionality=*` stands for all functionalities."""

    slice: str
    at_least: float

    @classmethod
    def parsed(cls, said: str) -> Gate:
        """A gate as it is typed, `SLICE:RATE`; a slice without an axis is a functionality."""
        name, colon, value = said.rpartition(":")
        try:
            rate = float(value)
        except ValueError:
            rate = -1.0
        if not colon or not name or not 0 <= rate <= 1:
            raise InputError(f"{said!r} is not a gate", expected="SLICE:RATE, e.g. 'functionality=*:0.5' or 'all:0.8'")
        return cls(name if name == "all" or "=" in name else f"functionality={name}", rate)

    def is_about(self, slice: str) -> bool:
        """Whether a slice must reach the rate; `target=*` does not mean the cells of target and functionality."""
        if (CROSSED in slice) != (CROSSED in self.slice):
            return slice == self.slice
        return slice == self.slice or fnmatchcase(slice, self.slice)


@dataclass(frozen=True)
class Judged:
    """How one slice of one model came out."""

    gate: Gate
    model: str
    slice: str
    value: float | None
    passed: bool


def check_gates(gates: Iterable[Gate], slices: Sequence[str]) -> None:
    """Refuse gates that match no slice."""
    for gate in gates:
        if not any(gate.is_about(name) for name in slices):
            raise InputError(f"no slice of the suite is called {gate.slice!r}", expected=some(slices, 40))


def judged(gates: Iterable[Gate], rows: Sequence[Measurement], metric: str = "pass_rate") -> list[Judged]:
    """Every slice that a gate is about, of every model; a rate that is missing does not pass."""
    return [
        Judged(
            gate, str(row.tags.get("model", "")), row.slice, row.value,
            row.value is not None and row.value >= gate.at_least,
        )
        for gate in gates
        for row in rows
        if row.metric == metric and gate.is_about(row.slice)
    ]  # fmt: skip
