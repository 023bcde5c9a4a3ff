"""How checks judge what they count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.audits.subject import Subject
from unseen.evaluation.intervals import wilson
from unseen.types import Finding, Measurement

Found = tuple[list[Measurement], list[Finding]]

FAILS = 0.01
"""Share of the test part from which on a leak fails an audit; below, it is worth a look."""
MOST_EXAMPLES = 10
ONE_SIDED = "One side of the split has no rows."


def leaking(share: float, fails: float = FAILS) -> str:
    """The level of a leak that concerns this share of the test part."""
    return "ok" if share == 0 else "fail" if share >= fails else "warn"


def examples(subject: Subject, rows: npt.NDArray[np.intp]) -> tuple[str, ...]:
    """The first few ids of these rows."""
    return tuple(sorted(subject.data.ids.take(pa.array(rows)).to_pylist())[:MOST_EXAMPLES])


def shared(subject: Subject, metric: str, count: int, of: int, part: str = "test", **tags: Any) -> Measurement:
    """A share with Wilson's 95 % interval."""
    split = {} if subject.split is None else {"split": subject.split.name}
    if not of:
        return Measurement(metric, None, 0, tags=split | {"part": part} | tags)
    low, high = wilson(count, of)
    return Measurement(metric, count / of, of, low, high, tags=split | {"part": part} | tags)


def portion(count: int, of: int, what: str) -> str:
    """`270 of 478 test texts (56.5 %)`."""
    return f"{count:,} of {of:,} {what} ({100 * count / max(1, of):.1f} %)"


def skipped(check: str, why: str) -> Found:
    """A check that could not be made."""
    return [], [Finding(check, "skipped", why)]


def without_sides(subject: Subject) -> bool:
    """Whether there is nothing to compare: a split one side of which has no rows."""
    return subject.split is not None and not (len(subject.test) and len(subject.train))


def joined(found: Iterable[Found]) -> Found:
    """Several findings as one."""
    rows, findings = [], []
    for some, others in found:
        rows += some
        findings += others
    return rows, findings
