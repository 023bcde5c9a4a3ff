"""From what was counted to findings: a share with its interval, a level, a few ids to look up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from unseen.evaluation.intervals import wilson
from unseen.types import Dataset, Finding, Measurement
from unseen.types.arrays import Mask, Rows

CheckResult = tuple[list[Measurement], list[Finding]]
"""What a check measured, and what it found."""
Judgement = tuple[list[Measurement], Finding]
"""What was measured for one question, and the answer."""

LEAK_FAILS = 0.01
"""Share of the test part from which on a leak fails an audit; below, it is worth a look."""
MOST_EVIDENCE = 10


def share(metric: str, count: int, n: int, tags: Mapping[str, Any] | None = None, slice: str = "all") -> Measurement:
    """A share with Wilson's 95 % interval; no value of nothing."""
    tags = dict(tags or {})
    if not n:
        return Measurement(metric, None, 0, slice=slice, tags=tags)
    return Measurement(metric, count / n, n, *wilson(count, n), slice, tags)


def share_of(metric: str, where: Mask, tags: Mapping[str, Any] | None = None, slice: str = "all") -> Measurement:
    """The share of true values, with Wilson's 95 % interval."""
    return share(metric, int(where.sum()), len(where), tags, slice)


def leak_level(share: float) -> str:
    """The level of a leak that concerns this share of the test part."""
    return "ok" if share == 0 else "fail" if share >= LEAK_FAILS else "warn"


def evidence_of(data: Dataset, rows: Rows, most: int = MOST_EVIDENCE) -> tuple[str, ...]:
    """The ids of the first few of these rows, for people to look up."""
    return tuple(data.ids.take(pa.array(rows[:most])).to_pylist())


def skipped(check: str, why: str) -> CheckResult:
    """A check that could not be made."""
    return [], [Finding(check, "skipped", why)]
