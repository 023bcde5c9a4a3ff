"""Findings from the measurements of an author audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unseen.audits.shares import percent, points, score
from unseen.types import Finding, Measurement

HALF = 0.5
"""Two authors who wrote this share of a class are the class."""
MUCH = 0.2
"""Two authors with this share of a class are worth knowing about."""
UNKNOWN_WARN = 0.5
RULE_WARN, RULE_FAIL = 0.05, 0.2
"""How much better than chance the rule may be, in macro F1."""
FALL_WARN, FALL_FAIL = 0.0, 0.1
"""How far a score may fall on authors that training has not seen; the lower end of its interval counts."""
SPLIT_ADVICE = "Split by author (unseen split --with grouped), and report the score on unseen authors."


def author_findings(measurements: Iterable[Measurement]) -> list[Finding]:
    """A finding for each of what was measured: concentration, unknown authors, the know-the-author rule, unseen
    authors, a cap per author, and the estimate where authors are not known.
    """
    rows = list(measurements)
    judged = (_concentration(rows), _unknown(rows), _rule(rows), _disjoint(rows), _cap(rows), _estimate(rows))
    return [each for each in judged if each is not None]


def _concentration(rows: Sequence[Measurement]) -> Finding | None:
    tops = [row for row in rows if row.metric == "author_share.top2" and row.slice != "all" and row.value is not None]
    if not tops:
        return None
    worst = max(tops, key=lambda row: row.value or 0.0)
    assert worst.value is not None
    label = worst.slice.removeprefix("label=")
    level = "fail" if worst.value >= HALF else "warn" if worst.value >= MUCH else "ok"
    authors, ten = _value(rows, "authors.count", worst.slice), _value(rows, "author_share.top10", worst.slice)
    message = (
        f"Two authors wrote {percent(worst.value)} of the {worst.n:,} rows of {label!r} whose author is known; "
        f"its top ten wrote {percent(ten)}, of {int(authors or 0):,} authors in all."
    )
    few = f"Cap the rows per author and class, or collect more authors. {SPLIT_ADVICE}"
    return Finding("author_concentration", level, message, round(worst.value * worst.n), advice=_unless_ok(level, few))


def _unknown(rows: Sequence[Measurement]) -> Finding | None:
    row = _first(rows, "authors.unknown", "all")
    if row is None or row.value is None:
        return None
    count = round(row.value * row.n)
    if row.value == 1:
        message = "No row has a known author: nothing can be said about authors."
        return Finding("unknown_authors", "skipped", message, count, advice="Name the column of the authors.")
    level = "warn" if row.value >= UNKNOWN_WARN else "ok"
    message = f"{count:,} of {row.n:,} rows ({percent(row.value)}) have no known author; the rest is what is audited."
    advice = "Take the author audit as being about the known authors only."
    return Finding("unknown_authors", level, message, count, advice=_unless_ok(level, advice))


def _rule(rows: Sequence[Measurement]) -> Finding | None:
    """The rule on the split where there is one: it is what a model of that split could have learnt.

    It is judged against chance, and by its interval too: on balanced data any guesser beats the majority label.
    """
    for rule, how in (("split", "in train and dev"), ("leave-one-out", "elsewhere in the data")):
        by_author, majority, permuted = (
            _first(rows, f"{name}.f1.macro", "all", rule=rule)
            for name in ("know_the_author", "majority_class", "permuted_authors")
        )
        if by_author is None or by_author.value is None or permuted is None or permuted.value is None:
            continue
        gain = by_author.value - permuted.value
        sure = by_author.low is not None and by_author.low > permuted.value
        level = "fail" if sure and gain >= RULE_FAIL else "warn" if sure and gain >= RULE_WARN else "ok"
        constant = "" if majority is None else f", always saying the majority label {score(majority)}"
        message = (
            f"Knowing what each author wrote {how}, and not reading a text, gives a macro F1 of {score(by_author)}; "
            f"with the authors permuted it gives {score(permuted)}{constant}."
        )
        return Finding("know_the_author", level, message, by_author.n, advice=_unless_ok(level, SPLIT_ADVICE))
    return None


def _disjoint(rows: Sequence[Measurement]) -> Finding | None:
    falls = [row for row in rows if row.metric.startswith("fall.") and row.tags.get("split") == "grouped"]
    if not falls or falls[0].value is None or falls[0].low is None:
        return None
    row = falls[0]
    assert row.low is not None
    level = "fail" if row.low > FALL_FAIL else "warn" if row.low > FALL_WARN else "ok"
    sure = "" if level != "ok" else "; chance alone may do that" if (row.value or 0) > 0 else "; no fall is seen"
    message = (
        f"On authors that training has not seen, {row.metric.removeprefix('fall.')} is {points(row)} lower than on a "
        f"random test part of the same size and class mix{sure}."
    )
    return Finding("unseen_authors", level, message, row.n, advice=_unless_ok(level, SPLIT_ADVICE))


def _cap(rows: Sequence[Measurement]) -> Finding | None:
    """What a cap per author and class does to the score, or that it does nothing."""
    cap = next((row.tags.get("cap") for row in rows if row.metric == "authors_on_both_sides"), None)
    if cap is None:
        return None
    falls = [row for row in rows if row.metric.startswith("fall.") and row.tags.get("split") == "capped"]
    if not falls or falls[0].value is None:
        return Finding("author_cap", "ok", f"No author has more than {cap} rows of a class in training.")
    row, gain = falls[0], -falls[0].value
    bounds = "" if row.low is None or row.high is None else f" [{-100 * row.high:.1f}, {-100 * row.low:.1f}]"
    message = (
        f"At most {cap} rows per author and class in training change {row.metric.removeprefix('fall.')} on unseen "
        f"authors by {100 * gain:.1f} points{bounds}, against dropping as many random rows of the same labels."
    )
    return Finding("author_cap", "ok", message, row.n)


def _estimate(rows: Sequence[Measurement]) -> Finding | None:
    row, error = (_first(rows, name, "all") for name in ("estimate.shared_author", "estimate.error"))
    if row is None:
        return None
    alarms, false = (_value(rows, f"verifier.{name}", "all") for name in ("alarms_here", "false_alarms"))
    if row.value is None or error is None or error.value is None:
        why = "style does not tell the calibration authors apart"
        if alarms is not None and false is not None:
            why = (
                f"its verifier takes {percent(alarms)} of the pairs here for one author's and {percent(false)} of the "
                f"calibration pairs that are not, so the calibration does not fit or tells too little"
            )
        message = f"An estimate of shared authors was tried; it has no value, and so no measured error, because {why}."
        return Finding("estimated_authors", "skipped", message, advice="Calibrate with data more like this one.")
    precision, recall = (_value(rows, f"verifier.{name}", "all") for name in ("precision", "recall"))
    sure = row.low is not None and row.low > error.value
    message = (
        f"An estimate, with a measured error of {percent(error.value)} on calibration authors: for {score(row)} of "
        f"{row.n:,} test rows the training row nearest in style has the same author. The verifier behind the estimate "
        f"finds {percent(recall)} of such pairs among held-out calibration authors, and {percent(precision)} of those "
        f"it finds are such."
    )
    advice = "Find out who wrote the texts, or split by something that stands for authors." if sure else ""
    return Finding("estimated_authors", "warn" if sure else "ok", message, round(row.value * row.n), advice=advice)


def _unless_ok(level: str, advice: str) -> str:
    return "" if level == "ok" else advice


def _first(rows: Sequence[Measurement], metric: str, slice: str, **tags: str) -> Measurement | None:
    for row in rows:
        if row.metric == metric and row.slice == slice and all(row.tags.get(name) == tags[name] for name in tags):
            return row
    return None


def _value(rows: Sequence[Measurement], metric: str, slice: str) -> float | None:
    found = _first(rows, metric, slice)
    return None if found is None else found.value
