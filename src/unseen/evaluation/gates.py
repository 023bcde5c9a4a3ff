"""Gates: bounds that the numbers of a run must keep, in one language for all kinds of run."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from unseen.errors import InputError
from unseen.evaluation.intervals import describes_number
from unseen.evaluation.metric_facts import fact, is_known, refuse_unmeasured
from unseen.evaluation.metrics import canonical
from unseen.types import LEVELS, Finding, Measurement
from unseen.types.numbers import SECONDS, UNITS, in_bytes, in_seconds, number, quantity

OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
"""Those that begin with another one come before it."""
BOUND = "|".join(OPERATORS)
GATE = re.compile(
    r'^\s*(?P<metric>\S+?(?:\[.+?\]|\((?:"(?:\\.|[^"\\])*"|[^"()])*\))?)'
    rf"\s*(?:\s+where\s+(?P<where>.+?))?\s*(?P<bound>{BOUND})\s*(?P<limit>[-+.\deE]+\s*[A-Za-z]*)\s*$",
    re.DOTALL,
)
EXPECTED = "METRIC<=NUMBER, e.g. 'fall.f1.macro<=0.2', 'pass_rate where functionality=* >= 0.5' or 'latency.p95<=50ms'"
FINDINGS = "findings."
"""Before a level: how many findings there are of it."""
CROSSED = re.compile(r" & (?=[^=&]+=)")
"""Between the two halves of a slice that crosses two axes."""
ROUNDING = 1e-9
LIMIT_UNIT = re.compile(rf"(?:{BOUND})\s*[-+.\deE]+([A-Za-z]+)$")
"""The unit of a limit, where a gate has one."""


@dataclass(frozen=True)
class Gate:
    """A bound on every measurement of a metric, as it is typed: `fall.f1.macro where split=closest <= 0.2`."""

    metric: str
    """Name of a measurement, or `findings.fail`: the number of findings of that level."""
    bound: str
    limit: float
    where: Mapping[str, str] = field(default_factory=dict)
    """Tags and slices it is about, `*` for any: {"split": "closest"}; without a slice, the rows of slice `all`. What
    crosses two axes has to be asked for by both, and `slice` is the whole name of any; of findings it is `check`."""
    typed: str = ""
    """The limit with its unit, where it has one: `50ms`; `limit` is then in seconds or bytes."""

    @classmethod
    def parsed(cls, text: str) -> Gate:
        """The gate that was typed.

        >>> print(Gate.parsed("pass_rate where functionality=*, model=a >= .5"))
        pass_rate where functionality=*, model=a >= 0.5
        """
        wrong = InputError(f"{text!r} is not a gate", expected=EXPECTED)
        match = GATE.match(text)
        if match is None or match["metric"].endswith("="):
            raise wrong
        pairs = [pair.partition("=") for pair in (match["where"] or "").split(",") if pair.strip()]
        where = {name.strip(): value.strip() for name, middle, value in pairs if middle and name.strip()}
        if len(where) < len(pairs):
            raise wrong
        name = canonical(match["metric"])
        try:
            limit, kind = quantity(match["limit"])
        except InputError as cause:
            raise InputError(f"{text!r} is not a gate: {cause.message}", expected=cause.expected or EXPECTED) from cause
        unit = fact(name).unit if is_known(name) else None
        if kind and unit != kind:
            raise InputError(f"{text!r} is not a gate: {name} is not in {kind}", fix="leave the unit out")
        if not kind and unit in UNITS and limit:
            raise InputError(f"{text!r} does not say the unit", expected=f"one of {', '.join(UNITS[unit])}: 50ms, 2GB")
        gate = cls(name, match["bound"], limit, where, match["limit"].replace(" ", "") if kind else "")
        if gate.metric.startswith(FINDINGS) and gate.metric.removeprefix(FINDINGS) not in LEVELS:
            raise InputError(f"{text!r} counts findings of an unknown level", expected=", ".join(LEVELS))
        if gate.metric.startswith(FINDINGS) and gate.where.keys() - {"check"}:
            raise InputError(f"{text!r} is not a gate", expected="findings are told apart by their check: check=NAME")
        return gate

    def __str__(self) -> str:
        limit = self.typed or f"{self.limit:g}"
        if not self.where:
            return f"{self.metric}{self.bound}{limit}"
        where = ", ".join(f"{name}={value}" for name, value in self.where.items())
        return f"{self.metric} where {where} {self.bound} {limit}"

    def keeps(self, value: float | None) -> bool:
        """Whether a number is within the bound; one that is missing is not."""
        if value is None:
            return False
        slack = ROUNDING if self.bound in ("<=", ">") else -ROUNDING
        return bool(OPERATORS[self.bound](value, self.limit + slack))

    def is_about(self, row: Measurement) -> bool:
        """Whether this is a number, over all trainings, that must keep the bound."""
        if row.metric != self.metric or row.tags.get("seed", "mean") != "mean":
            return False
        axes = {"slice": row.slice} if "slice" in self.where else _axes(row.slice)
        if not axes.keys() <= self.where.keys():
            return False
        return all(_matches(axes.get(name, _tag(row, name)), pattern) for name, pattern in self.where.items())


@dataclass(frozen=True)
class GateOutcome:
    """How one number came out."""

    gate: str
    place: str
    """What tells the number apart: its slice and tags; empty where the gate says it all."""
    value: float | None
    """None: it was not measured."""
    passed: bool

    @property
    def outcome(self) -> str:
        """In a word."""
        return "passed" if self.passed else "FAILED"

    @property
    def measured(self) -> str:
        """The number as people read it."""
        if self.value is None:
            return "not measured"
        if (unit := LIMIT_UNIT.search(self.gate)) is not None:
            return in_seconds(self.value) if unit[1] in SECONDS else in_bytes(self.value)
        return number(self.value, 0 if self.gate.startswith(FINDINGS) else 3)

    def __str__(self) -> str:
        return f"gate {self.outcome}: {self.gate}: {self.measured}" + (f" ({self.place})" if self.place else "")


def parsed_gates(gates: Iterable[Gate | str]) -> list[Gate]:
    """The gates, those parsed that are still as they were typed; refuses what no run measures."""
    parsed = [Gate.parsed(gate) if isinstance(gate, str) else gate for gate in gates]
    for gate in parsed:
        if not gate.metric.startswith(FINDINGS):
            refuse_unmeasured(gate.metric)
    return parsed


def judged(
    gates: Iterable[Gate], measurements: Sequence[Measurement], findings: Sequence[Finding] = ()
) -> list[GateOutcome]:
    """Every number that a gate is about; a gate that is about none fails. Parts other than `test` have to be named."""
    outcomes = []
    for gate in gates:
        if gate.metric.startswith(FINDINGS):
            count = sum(
                finding.level == gate.metric.removeprefix(FINDINGS)
                and _matches(finding.check, gate.where.get("check", "*"))
                for finding in findings
            )
            outcomes.append(GateOutcome(str(gate), "", float(count), gate.keeps(count)))
            continue
        rows = [row for row in measurements if gate.is_about(row)]
        if "part" not in gate.where and any(row.tags.get("part") == "test" for row in rows):
            rows = [row for row in rows if row.tags.get("part") == "test"]
        telling = [name for name in dict.fromkeys(tag for row in rows for tag in row.tags) if _varies(name, rows)]
        outcomes += [
            GateOutcome(str(gate), _place(row, telling), row.value, gate.keeps(row.value)) for row in rows
        ] or [GateOutcome(str(gate), "", None, passed=False)]
    return outcomes


def _axes(slice: str) -> dict[str, str]:
    """What a slice is of: nothing for all rows, else each axis with its value; `slice` where it has no axis.

    >>> _axes("target=cooks & functionality=a"), _axes("once"), _axes("all")
    ({'target': 'cooks', 'functionality': 'a'}, {'slice': 'once'}, {})
    """
    if slice == "all":
        return {}
    if "=" not in slice:
        return {"slice": slice}
    return {axis: value for axis, _, value in (half.partition("=") for half in CROSSED.split(slice))}


def _matches(value: str | None, pattern: str) -> bool:
    """Whether a value is meant: by its name, whatever characters that has, or by a pattern."""
    return value is not None and (value == pattern or fnmatchcase(value, pattern))


def _tag(row: Measurement, name: str) -> str | None:
    """A tag as text, None where there is none; `split` is the family of splits where a number is of several."""
    value = row.tags.get("family", row.tags.get(name)) if name == "split" else row.tags.get(name)
    return None if value is None else str(value)


def _varies(name: str, rows: Sequence[Measurement]) -> bool:
    """Whether the tag is a name that tells apart rows that their slice does not, and no number about the interval."""
    values: dict[str, set[str]] = {}
    for row in rows:
        values.setdefault(row.slice, set()).add(str(row.tags.get(name)))
    is_name = name != "seed" and not describes_number(name)
    return is_name and any(len(names) > 1 for names in values.values())


def _place(row: Measurement, telling: Sequence[str]) -> str:
    tags = [str(row.tags[name]) for name in telling if name in row.tags]
    return ", ".join([*([row.slice] if row.slice != "all" else []), *tags])
