"""No sentence contradicts its numbers, whatever was measured."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from test_report_verdict import Score, both, rows, run_of

from unseen.audits.price import price_findings
from unseen.reports.case import VISIBLE, cases
from unseen.reports.record import RunRecord
from unseen.reports.verdict import verdict
from unseen.runs.price import headlines
from unseen.types import Measurement
from unseen.types.numbers import told_apart, worse

AGAINST_THE_SIGN = re.compile(
    r"(falls? (of|by|is)|rise of|costs?( most on “[^”]+”,)?|buy|make up|the most is|So|even then\.) −|− ?points? worse"
)
SHARES = st.floats(0, 1)
WIDTHS = st.none() | st.floats(0, 0.5)


def around(value: float, width: float | None) -> Score:
    return (value, None, None) if width is None else (value, value - width, value + width)


@st.composite
def runs(draw: st.DrawFn, family: str = "closest", metric: str = "f1.macro") -> RunRecord:
    """Scores of all sizes, falls of both signs, any of the parts unknown."""
    random, hard = draw(SHARES), draw(SHARES)
    fall = (random - hard) * (1 if metric == "f1.macro" else -1)
    novelty = draw(st.floats(-1, 1))
    noise = draw(st.none() | SHARES)
    run = run_of(
        family=family,
        metric=metric,
        clustered=draw(st.booleans()),
        random=around(random, draw(WIDTHS)),
        hard=around(hard, draw(WIDTHS)),
        fall=around(fall, draw(WIDTHS)),
        seen=draw(st.none() | SHARES),
        novelty=around(novelty, draw(WIDTHS)),
        independent=around(draw(SHARES), None) if draw(st.booleans()) else None,
        noise=None if noise is None else around(noise, draw(WIDTHS)),
        corrected=draw(st.none() | st.floats(-1, 1).map(lambda value: around(value, 0.1))),
        suspects=draw(st.none() | SHARES),
        chance=draw(st.none() | SHARES),
        overlap=draw(st.none() | SHARES),
        runs=draw(st.integers(1, 3)),
    )
    slices = [
        rows("random", "test", (draw(SHARES), None, None), 3, metric=metric, slice=f"site={each}") for each in "ab"
    ]
    parts = [
        rows(family, "test", (draw(SHARES), None, None), 1, metric="accuracy", slice=f"test part={each}")
        for each in ("whole clusters", "added singly")
    ]
    return replace(run, measurements=(*run.measurements, *(row for found in (*slices, *parts) for row in found)))


@given(st.sampled_from(["f1.macro", "log_loss"]).flatmap(lambda name: st.tuples(runs("one", name), runs("two", name))))
def test_a_verdict_follows_from_its_numbers(two: tuple[RunRecord, RunRecord]) -> None:
    run = both(*two)
    found, worst = verdict(run), cases(run)[0]
    for line in found.lines():
        assert not re.search(r"\b(nan|None|inf)\b", line), line
        assert not AGAINST_THE_SIGN.search(line), line
        assert ("finds hardest" not in line) or worst.drop >= VISIBLE, line
        assert ("nothing here is harder" not in line) or worst.drop <= -VISIBLE, line
        assert ("are selection" not in line) or (worst.selection is not None and (worst.selection.value or 0) > 0), line
        assert ("are novelty" not in line) or (worst.novelty is not None and (worst.novelty.value or 0) > 0), line
    assert found.level != "fail" or worst.drop > worst.limit
    sign = 1 if run.metric == "f1.macro" else -1
    whole = run.score("random")
    for each in found.actions:
        assert each.points is None or each.points > 0, each
        if each.action == "slice":
            row = run.score("random", slice=each.what.removeprefix("Look at ").partition(":")[0])
            assert row is not None
            assert whole is not None
            assert sign * (whole.value - row.value) > 0  # type: ignore[operator]


def test_the_price_that_is_named_is_the_surest_then_the_largest() -> None:
    prices = {"exact": (0.04, 0.03, 0.05), "near": (0.06, 0.02, 0.1), "author": (0.3, -0.1, 0.7)}
    measured = [Measurement("leaked_rows", 10, 100, tags={"leak": kind, "side": "test"}) for kind in prices]
    measured += [
        Measurement("fall.f1.macro", value, 100, low, high, tags={"leak": kind, "side": "test", "rows": "all"})
        for kind, (value, low, high) in prices.items()
    ]
    (sentence,) = headlines(RunRecord({}, measured), "f1.macro")
    assert sentence.startswith("The leaks (near) buy 6.0 points")


@given(st.floats(-1, 1), WIDTHS, st.integers(0, 40))
def test_a_price_follows_from_its_numbers(value: float, width: float | None, leaked: int) -> None:
    tags = {"leak": "near", "side": "test"}
    _, low, high = around(value, width)
    measured = [
        Measurement("leaked_rows", leaked, 100, tags=tags),
        Measurement("leaked_rows", leaked, 900, tags={**tags, "side": "train"}),
        Measurement("fall.f1.macro", value, 100, low, high, tags={**tags, "rows": "all"}),
    ]
    (finding,) = price_findings(measured, "f1.macro")
    for line in (finding.message, *headlines(RunRecord({}, measured), "f1.macro")):
        assert not re.search(r"\b(nan|None|inf)\b", line), line
        assert not re.search(r"(buy|cost) [−-]", line), line
        assert ("buy" not in line) or (value if low is None else low) > 0 or not leaked, line
        assert ("No price" not in line) or low is None or low <= 0.0005, line
        assert not re.search(r"\b1 leaked (test|training) rows\b|\b1 (test )?rows\b", line), line
        assert not re.search(r"[ \[(](-|0\.\d\d)", line), line
        assert ("too low" not in line) or value < 0, line
    if leaked and low is not None and (low > 0.001 or (high or 0) < -0.001):
        assert finding.level in ("warn", "fail")


@given(st.floats(-1, 1), WIDTHS)
def test_worse_and_better_are_told_apart(value: float, width: float | None) -> None:
    said = worse(Measurement("fall.f1.macro", *around(value, width)[:1], 9, *around(value, width)[1:]))
    assert said.startswith("is -") is False
    assert said.endswith("worse" if round(100 * value, 1) >= 0 else "better")


@given(SHARES, SHARES)
def test_numbers_side_by_side_are_told_apart(one: float, other: float) -> None:
    shown = told_apart(one, other)
    assert not any(each.startswith(("0.", "-")) for each in shown)
    if abs(one - other) > 1e-4:
        assert shown[0] != shown[1]
        far = abs(float(shown[0]) - float(shown[1]))
        assert abs(far - abs(one - other)) <= abs(one - other) / 2 + 1e-9
