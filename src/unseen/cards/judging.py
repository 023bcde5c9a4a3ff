"""What measured numbers about people mean, as findings."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from unseen.cards.measuring import Measured
from unseen.cards.personal import Scan
from unseen.cards.personal_patterns import HARMLESS
from unseen.types import Finding, Measurement

SHOWN = 10
"""Ids that a finding gives as evidence."""
LOW = 0.667
"""Alpha under which Krippendorff (2004) advises against conclusions."""


def judged(measured: Measured) -> Iterator[Finding]:
    """Findings on personal data and, where they were given, on the labels of single annotators."""
    yield _personal(measured.personal)
    rows = measured.measurements
    alphas = [row for row in rows if row.metric.startswith("krippendorff_alpha") and row.slice == "all"]
    if alphas:
        yield _agreement(alphas[0])
        yield _groups([row for row in rows if row.metric == "group_effect"])


def _personal(scan: Scan) -> Finding:
    check, n, found = "card.personal_data", len(scan.data), int(scan.any.sum())
    masked = sum(int(scan.rows[name].sum()) for name in HARMLESS)
    beside = f"; {masked:,} hold a placeholder for a user name that was taken out" if masked else ""
    if not found:
        return Finding(
            check, "ok", f"no personal data of a known form in {n:,} texts{beside}; names were not looked for"
        )
    told = ", ".join(
        f"{name} {int(mask.sum()):,}" for name, mask in scan.rows.items() if mask.any() and name not in HARMLESS
    )
    ids = sorted(scan.data.ids.filter(pa.array(scan.any)).to_pylist())[:SHOWN]
    return Finding(
        check,
        "warn",
        f"{found:,} of {n:,} texts seem to hold personal data: {told}{beside}; names were not looked for",
        found,
        tuple(ids),
        "check a sample by hand (unseen card init … --to-check), then mask or remove what is right",
    )


def _agreement(alpha: Measurement) -> Finding:
    check = "card.agreement"
    if alpha.value is None:
        return Finding(check, "skipped", "no item has two answers, or all answers are the same")
    bounds = "" if alpha.low is None else f" [{alpha.low:.2f}, {alpha.high:.2f}]"
    told = f"Krippendorff's alpha of the annotators is {alpha.value:.2f}{bounds} over {alpha.n:,} items"
    if alpha.value < LOW:
        return Finding(check, "warn", told, 1, advice="labels on which people disagree limit what any score can mean")
    return Finding(check, "ok", told)


def _groups(effects: list[Measurement]) -> Finding:
    check, known = "card.annotator_groups", [row for row in effects if row.value is not None]
    if not known:
        return Finding(check, "skipped", "no groups of annotators were given, or no item was labelled by two of them")
    apart = [row for row in known if float(row.tags["p_holm"]) < 0.05]
    if not apart:
        return Finding(check, "ok", f"no pair of groups differs beyond chance in any label ({len(known)} compared)")
    told = "; ".join(
        f"{row.tags['first']} gives {row.tags['label']} {100 * abs(row.value or 0):.1f} points "
        f"{'more' if (row.value or 0) > 0 else 'less'} often than {row.tags['second']} (p = {row.tags['p_holm']:.2g})"
        for row in apart[:3]
    )
    return Finding(
        check, "warn", f"groups of annotators label differently: {told}", len(apart),
        advice="say who labelled (annotator_demographics) and score by group; the majority vote hides the smaller one",
    )  # fmt: skip
