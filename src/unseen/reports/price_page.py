"""What leaks buy, as a verdict and two tables; the page of a price from its folder alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unseen.audits.price import lowers
from unseen.errors import InputError
from unseen.reports.formats import Cell, Table
from unseen.reports.kinds import kind_of
from unseen.reports.pages import write_page, write_tables
from unseen.reports.tables import sorted_findings, worst_level
from unseen.reports.wording import DASH, amount, bounds, called, in_points, number, percent, points, scored, turned
from unseen.store import read_findings, read_measurements
from unseen.store.manifest import read_about
from unseen.types import Finding, Measurement

DOUBT = "; the interval holds 0"
TRAIN_NOTE = (
    "Trained again without the leaked training rows, and without as many random ones of the same part and label; "
    "means over seeds and random removals. Intervals draw test rows and add the spread between random removals; those "
    "of scores draw trainings and test rows."
)
FAR_NOTE = (
    "“By chance”: share of random removals that are at least as far from the mean of the random ones as the leaks' is."
)
TESTED = {"all": "all test rows", "leaked": "leaked test rows", "unleaked": "other test rows"}


def is_price(folder: str | Path) -> bool:
    """Whether a run folder holds a price."""
    return kind_of(folder) == "price"


def write_price_page(folder: str | Path) -> Path:
    """Write `report.html` and the tables (CSV, Markdown, LaTeX) of a price; returns the page's path."""
    folder = Path(folder)
    if not is_price(folder):
        raise InputError(f"{folder} does not hold a price", fix="unseen price --out writes one")
    about = read_about(folder)
    rows, findings = read_measurements(folder / "measurements.csv"), read_findings(folder / "findings.csv")
    section = price_section(rows, findings, str(about["settings"]["metric"]))
    write_tables(folder, {table.title: table for table in section["tables"]})
    return write_page(folder, "price.html", about, section=section)


def price_section(rows: Sequence[Measurement], findings: Sequence[Finding], metric: str) -> dict[str, Any]:
    """Level, headline, tables and findings of a price, from what was measured and judged."""
    tables = [table for table in (on_test(rows, metric), on_train(rows, metric)) if table is not None]
    return {
        "level": worst_level(findings),
        "badge": _badge(rows, findings),
        "headlines": headlines(rows, metric),
        "tables": tables,
        "findings": sorted_findings(findings),
        "metric": called(metric),
    }


def headlines(rows: Sequence[Measurement], metric: str) -> list[str]:
    """What the leaks buy in a sentence for each side: those of all kinds together, or of the last that has a price.

    One whose interval does not hold 0 comes first.
    """
    kinds = _kinds(rows)
    leaking = [kind for kind in kinds if _count(rows, kind, "test")]
    if not leaking:
        return [f"No test row leaks: nothing to price ({', '.join(kinds) or 'no kind of leak was looked for'})."]
    said = []
    for side in ("test", "train"):
        priced = [sentence for kind in leaking if (sentence := _headline(rows, metric, kind, side)) is not None]
        said += priced[-1:]
    said.sort(key=lambda sentence: DOUBT in sentence)
    last = leaking[-1]
    if not any(f"({last})" in each for each in said):
        said.append(f"{_count(rows, last, 'test'):,} test rows leak ({last}); what they buy could not be measured.")
    return said


def _badge(rows: Sequence[Measurement], findings: Sequence[Finding]) -> str:
    """What leaks do to the score, in two or three words."""
    level = worst_level(findings)
    if level not in ("warn", "fail"):
        return {"ok": "no price shown"}.get(level, "not measured")
    prices = [row for row in rows if row.metric.startswith("price.") and row.tags["rows"] == "all"]
    pays = any(row.low is not None and row.low > 0 for row in prices)
    lower = any(lowers(row) for row in prices)
    return " and ".join(["leaks pay"] * pays + ["leaks lower the score"] * lower)


def on_test(rows: Sequence[Measurement], metric: str) -> Table | None:
    """A line per kind of leak: scores with and without the leaked test rows, and the price."""
    lines: list[tuple[Cell, ...]] = []
    for kind in _kinds(rows):
        price = _row(rows, f"price.{metric}", leak=kind, side="test", rows="all")
        if price is None:
            continue
        shown = [
            _row(rows, metric, leak=kind, side="test", rows=each) for each in ("all", "leaked", "unleaked", "random")
        ]
        cells = (*(scored(each) for each in shown), _price(price, metric), _as_far(price))
        lines.append((kind, _count(rows, kind, "test"), *cells))
    heads = (
        "leak",
        "leaked rows",
        "all rows",
        "leaked",
        "without leaked",
        "without random",
        _unit(metric),
        "by chance",
    )
    note = (
        "Random rows have the labels of the leaked ones; the brackets beside them hold 95 % of the random removals. "
        "The interval of the price draws test rows anew. “By chance”: share of random removals that move the score at "
        "least as far."
    )
    return Table("test-side", heads, tuple(lines), note) if lines else None


def on_train(rows: Sequence[Measurement], metric: str) -> Table | None:
    """A line per kind of leak and kind of test row: scores after training without leaked and without random rows."""
    lines: list[tuple[Cell, ...]] = []
    for kind in _kinds(rows):
        for where, called_rows in TESTED.items():
            tags = {"leak": kind, "side": "train", "rows": where}
            price = _row(rows, f"price.{metric}", **tags)
            if price is not None:
                sides = [scored(_row(rows, metric, removed=removed, **tags)) for removed in ("random", "leaked")]
                removed_rows = _count(rows, kind, "train")
                lines.append((kind, removed_rows, called_rows, *sides, _price(price, metric), _as_far(price)))
    heads = ("leak", "removed rows", "tested on", "without random", "without leaked", _unit(metric))
    if all(line[-1] == DASH for line in lines):
        return Table("train-side", heads, tuple(line[:-1] for line in lines), TRAIN_NOTE) if lines else None
    return Table("train-side", (*heads, "by chance"), tuple(lines), f"{TRAIN_NOTE} {FAR_NOTE}")


def _headline(rows: Sequence[Measurement], metric: str, kind: str, side: str) -> str | None:
    price = _row(rows, f"price.{metric}", leak=kind, side=side, rows="all")
    if price is None or price.value is None:
        return None
    if side == "test":
        pair, doing = [{"rows": "random"}, {"rows": "unleaked"}], "without the {} leaked test rows"
    else:
        pair = [{"rows": "all", "removed": removed} for removed in ("random", "leaked")]
        doing = "trained again without the {} leaked training rows"
    before, after = (_row(rows, metric, leak=kind, side=side, **each) for each in pair)
    scores = [number(row.value if row else None) for row in (after, before)]
    write = points if in_points(metric) else number
    doubt = price.low is not None and price.high is not None and price.low <= 0 <= price.high
    verb, shown = ("cost", turned(price)) if price.value < 0 else ("buy", price)
    bought = " ".join(filter(None, [amount(metric, shown.value), bounds(shown, write)]))
    done = doing.format(format(_count(rows, kind, side), ","))
    return (
        f"The leaks ({kind}) {verb} {bought} of {called(metric)}: {done} it is {scores[0]}, "
        f"without as many random ones {scores[1]}{DOUBT if doubt else ''}."
    )


def _kinds(rows: Sequence[Measurement]) -> list[str]:
    return [str(kind) for kind in dict.fromkeys(row.tags["leak"] for row in rows if row.metric == "leaked_rows")]


def _count(rows: Sequence[Measurement], kind: str, side: str) -> int:
    found = _row(rows, "leaked_rows", leak=kind, side=side)
    return int(found.value or 0) if found is not None else 0


def _row(found_in: Sequence[Measurement], metric: str, /, **tags: str) -> Measurement | None:
    found = (row for row in found_in if row.metric == metric and all(row.tags.get(each) == tags[each] for each in tags))
    return next(found, None)


def _price(row: Measurement, metric: str) -> str:
    write = points if in_points(metric) else number
    return " ".join(filter(None, [write(row.value), bounds(row, write)]))


def _as_far(row: Measurement) -> str:
    p = row.tags.get("p")
    return DASH if p is None else percent(float(p))


def _unit(metric: str) -> str:
    return "price, points" if in_points(metric) else "price"
