"""How right rules are, by hand labels: precision, recall and F1 at every threshold.

The labels must come from people who did not write the rules and did not see the flags. Accuracy is told beside that
of flagging nothing: where few items are bad, flagging nothing is hard to beat and worth nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unseen.audits.items.flags import Flags
from unseen.audits.items.gold import LEFT_OUT, Gold, invalid_labels
from unseen.audits.items.rule import Codes, Mask
from unseen.audits.items.rule_report import top_threshold
from unseen.audits.shares import percent, share
from unseen.errors import InputError
from unseen.evaluation.measuring import places_by_slice
from unseen.types import Dataset, Finding, Measurement, some

Counts = tuple[int, int, int, int]
"""True positives, false positives, false negatives, true negatives."""
FEW = 30
"""With fewer bad items among the hand labels, recall is hardly known."""


def measure_rules(
    flags: Flags,
    gold: Gold,
    data: Dataset,
    *,
    invalid: Sequence[str] | None = None,
    left_out: Sequence[str] = LEFT_OUT,
    slices: Sequence[str] = (),
) -> list[Measurement]:
    """`flag_precision`, `flag_recall`, `flag_f1` and `flag_accuracy` at every threshold, and `rule_conflict`.

    A flagged item is right when its hand label is one of `invalid`. Items labelled one of `left_out` are in
    nothing but `left_out_share`. `rule_conflict` is the share of a rule's flags that the hand labels call valid.
    `accuracy_without_flags` is the share of valid items. The tags tp, fp, fn and tn are the counts.
    """
    flags = flags.of(data)
    bad, judged = _judgements(gold, invalid, left_out)
    if not judged.any():
        raise InputError("no hand label is a judgement", got=f"only {some(gold.values)}", fix="label some items")
    found = [share("left_out_share", ~judged, {})]
    rows, bad = gold.rows[judged], bad[judged]
    for name, where in places_by_slice(data, rows, slices):
        found += [_of(row, name) for row in _at_thresholds(flags, rows[where], bad[where])]
    return found + list(_conflicts(flags, rows, bad))


def scores_of(flagged: Mask, bad: Mask, tags: dict[str, str | int | float]) -> list[Measurement]:
    """Precision, recall, F1 and accuracy of one set of flags, with Wilson's intervals."""
    tp, fp, fn, tn = counts = confusion(flagged, bad)
    tags = tags | dict(zip(("tp", "fp", "fn", "tn"), counts, strict=True))
    return [
        _ratio("flag_precision", tp, tp + fp, tags),
        _ratio("flag_recall", tp, tp + fn, tags),
        _f1(counts, tags),
        _ratio("flag_accuracy", tp + tn, sum(counts), tags),
    ]


def confusion(flagged: Mask, bad: Mask) -> Counts:
    """How flags and hand labels go together."""
    tp, fp, fn = int((flagged & bad).sum()), int((flagged & ~bad).sum()), int((~flagged & bad).sum())
    return tp, fp, fn, len(bad) - tp - fp - fn


def hand_label_findings(measured: Sequence[Measurement]) -> list[Finding]:
    """Whether flagging says more than flagging nothing, and whether enough was labelled to know."""
    rows = {row.metric: row for row in measured if row.slice == "all" and row.tags.get("threshold", 1) == 1}
    accuracy, without, bad = (rows[name] for name in ("flag_accuracy", "accuracy_without_flags", "invalid_share"))
    n_bad = round((bad.value or 0) * bad.n)
    found = []
    if accuracy.value is not None and without.value is not None:
        better = accuracy.value > without.value
        said = f"Flags by any rule agree with {percent(accuracy.value)} of {accuracy.n:,} hand labels; flagging nothing"
        advice = "" if better else "Judge the rules by precision and recall, not by accuracy, and raise the threshold."
        message = f"{said} agrees with {percent(without.value)}."
        found.append(Finding("items.accuracy", "ok" if better else "warn", message, accuracy.n, advice=advice))
    level, advice = ("ok", "") if n_bad >= FEW else ("warn", f"Label more: from {FEW} on the intervals begin to tell.")
    message = f"{n_bad:,} of the hand-labelled items are not valid."
    return [*found, Finding("items.hand_labels", level, message, n_bad, advice=advice)]


def _judgements(gold: Gold, invalid: Sequence[str] | None, left_out: Sequence[str]) -> tuple[Mask, Mask]:
    wrong = invalid_labels(gold, invalid)
    labels = np.array(gold.labels, dtype=object)
    return np.isin(labels, list(wrong)), ~np.isin(labels, list(left_out))


def _at_thresholds(flags: Flags, rows: Codes, bad: Mask) -> list[Measurement]:
    votes = flags.votes[rows]
    found = [share("invalid_share", bad, {}), share("accuracy_without_flags", ~bad, {})]
    for threshold in range(1, top_threshold(flags) + 1):
        found += scores_of(votes >= threshold, bad, {"threshold": threshold})
    return found


def _conflicts(flags: Flags, rows: Codes, bad: Mask) -> Iterator[Measurement]:
    for at, rule in enumerate(flags.rules):
        fired = flags.fired[rows, at]
        if fired.any():
            yield share("rule_conflict", ~bad[fired], {"rule": rule.name, "pack": rule.pack})


def _of(row: Measurement, name: str) -> Measurement:
    return Measurement(row.metric, row.value, row.n, row.low, row.high, name, row.tags)


def _ratio(name: str, part: int, whole: int, tags: dict[str, str | int | float]) -> Measurement:
    if not whole:
        return Measurement(name, None, 0, tags=tags)
    return share(name, np.arange(whole) < part, tags)


def _f1(counts: Counts, tags: dict[str, str | int | float]) -> Measurement:
    """F1 is 2 j / (1 + j) of the share j that is flagged and bad, among what is flagged or bad; so is its interval.

    None where nothing is flagged and nothing is bad.
    """
    found = _ratio("flag_f1", counts[0], sum(counts[:3]), tags)
    value, low, high = (
        None if each is None else 2 * each / (1 + each) for each in (found.value, found.low, found.high)
    )
    return Measurement("flag_f1", value, found.n, low, high, tags=tags)
