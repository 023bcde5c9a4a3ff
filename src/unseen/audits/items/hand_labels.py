"""Hand labels: what people say about the validity of items, how right rules are by it, and how far two people agree.

The labels must come from people who did not write the rules and did not see the flags. Accuracy is told beside that
of flagging nothing: where few items are bad, flagging nothing is hard to beat and worth nothing. Two people agree
plainly, beyond chance (Cohen 1960), and each says yes so often; of a scheme with several labels each binary view is
measured: some of the labels against all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.items.flags import Flags
from unseen.data.tables import column_names, read_strings
from unseen.errors import InputError, TableError
from unseen.evaluation.bootstrap import DRAWS, percentiles
from unseen.evaluation.measurements import places_by_slice, share, share_of
from unseen.registry import require_known
from unseen.seeding import generator
from unseen.types import Dataset, Finding, Measurement, some
from unseen.types.arrays import Floats, Mask, Rows, places_among
from unseen.types.numbers import percent

INVALID = ("no", "invalid", "0", "false")
"""What a hand label says of an item that should be flagged, when nobody says otherwise."""
LEFT_OUT = ("skipped",)
"""Labels that are no judgement. They are counted, and measured with nothing."""
FEW = 30
"""With fewer bad items among the hand labels, recall is hardly known."""


@dataclass(frozen=True, eq=False)
class Gold:
    """Hand labels of some rows of a dataset."""

    rows: Rows
    """Positions of the labelled rows in the data."""
    labels: tuple[str, ...]
    second: tuple[str | None, ...] | None = None
    """Labels of a second annotator, None where there is none."""

    @property
    def values(self) -> tuple[str, ...]:
        """Labels that occur, of either annotator."""
        second = [label for label in self.second or () if label is not None]
        return tuple(sorted({*self.labels, *second}))


def invalid_labels(gold: Gold, invalid: Sequence[str] | None) -> tuple[str, ...]:
    """The labels that mean an item should be flagged: those named, or those of `INVALID` that occur."""
    if invalid:
        require_known("hand label", gold.values, *invalid)
        return tuple(invalid)
    known = tuple(name for name in gold.values if name.lower() in INVALID)
    if not known:
        raise InputError(
            "no hand label says that an item is not valid",
            expected=f"some of {', '.join(INVALID)}",
            got=some(gold.values, 20),
            fix="say which do: invalid=['…'] (--invalid on the command line)",
        )
    return known


def read_gold(
    path: str | Path, data: Dataset, *, id: str = "id", label: str = "valid", second: str | None = None
) -> Gold:
    """The hand labels in a CSV or JSON table for rows of `data`; rows without a label are left away.

    `second` is the column of a second annotator.
    """
    path = Path(path)
    columns = [id, label, *([second] if second else [])]
    require_known(f"column of {path}", column_names(path), *columns, fix="name the columns of the hand labels")
    if len(set(columns)) < len(columns):
        raise InputError("two columns of the hand labels have one name", got=", ".join(columns))
    strings = read_strings(path, columns, "hand labels")
    kept = pc.and_(pc.is_valid(strings[id]), pc.is_valid(strings[label]))
    labels = {name: tuple(strings[name].filter(kept).to_pylist()) for name in columns[1:]}
    return Gold(_rows(strings[id].filter(kept), data, path), labels[label], labels[second] if second else None)


def _rows(ids: pa.ChunkedArray, data: Dataset, path: Path) -> Rows:
    if not len(ids):
        raise TableError(f"{path} holds no hand labels", expected="an id and a label in some row")
    repeated = len(ids) - pc.count_distinct(ids).as_py()
    if repeated:
        raise TableError(f"{repeated} rows of {path} have the id of another row", expected="one row per item")
    return places_among(ids, data.ids, f"ids of {path} are not in {data.name}")


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
    labels = np.array(gold.labels, dtype=object)
    bad, judged = np.isin(labels, list(invalid_labels(gold, invalid))), ~np.isin(labels, list(left_out))
    if not judged.any():
        raise InputError("no hand label is a judgement", got=f"only {some(gold.values)}", fix="label some items")
    measurements = [share_of("left_out_share", ~judged)]
    rows, bad = gold.rows[judged], bad[judged]
    for name, where in places_by_slice(data, rows, slices):
        measurements.append(share_of("invalid_share", bad[where], slice=name))
        measurements.append(share_of("accuracy_without_flags", ~bad[where], slice=name))
        for threshold in flags.thresholds:
            flagged = flags.votes[rows[where]] >= threshold
            measurements += scores_of(flagged, bad[where], {"threshold": threshold}, name)
    for place, rule in enumerate(flags.rules):
        fired = flags.fired[rows, place]
        if fired.any():
            measurements.append(share_of("rule_conflict", ~bad[fired], rule.tags))
    return measurements


def scores_of(flagged: Mask, bad: Mask, tags: dict[str, str | int | float], slice: str = "all") -> list[Measurement]:
    """Precision, recall, F1 and accuracy of one set of flags, with Wilson's intervals.

    F1 is 2 j / (1 + j) of the share j that is flagged and bad, among what is flagged or bad; so is its interval. There
    is none where nothing is flagged and nothing is bad.
    """
    tp, fp, fn = int((flagged & bad).sum()), int((flagged & ~bad).sum()), int((~flagged & bad).sum())
    tn = len(bad) - tp - fp - fn
    tags = tags | {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    either = share("flag_f1", tp, tp + fp + fn, tags, slice)
    value, low, high = (None if j is None else 2 * j / (1 + j) for j in (either.value, either.low, either.high))
    return [
        share("flag_precision", tp, tp + fp, tags, slice),
        share("flag_recall", tp, tp + fn, tags, slice),
        replace(either, value=value, low=low, high=high),
        share("flag_accuracy", tp + tn, len(bad), tags, slice),
    ]


def hand_label_findings(measured: Sequence[Measurement]) -> list[Finding]:
    """Whether flagging says more than flagging nothing, and whether enough was labelled to know."""
    rows = {row.metric: row for row in measured if row.slice == "all" and row.tags.get("threshold", 1) == 1}
    accuracy, without, bad = (rows[name] for name in ("flag_accuracy", "accuracy_without_flags", "invalid_share"))
    n_bad = round((bad.value or 0) * bad.n)
    findings = []
    if accuracy.value is not None and without.value is not None:
        better = accuracy.value > without.value
        message = (
            f"Flags by any rule agree with {percent(accuracy.value, 1)} of {accuracy.n:,} hand labels; flagging "
            f"nothing agrees with {percent(without.value, 1)}."
        )
        advice = "" if better else "Judge the rules by precision and recall, not by accuracy, and raise the threshold."
        findings.append(Finding("items.accuracy", "ok" if better else "warn", message, accuracy.n, advice=advice))
    level, advice = ("ok", "") if n_bad >= FEW else ("warn", f"Label more: from {FEW} on the intervals begin to tell.")
    message = f"{n_bad:,} of the hand-labelled items are not valid."
    return [*findings, Finding("items.hand_labels", level, message, n_bad, advice=advice)]


def cohen_kappa(first: Mask, second: Mask) -> float | None:
    """Agreement of two yes-or-no judgements beyond chance; None when chance alone agrees fully, or without items."""
    if not len(first):
        return None
    value = float(_kappas(_table(first, second)[None])[0])
    return value if np.isfinite(value) else None


def annotator_agreement(
    gold: Gold,
    views: Mapping[str, Sequence[str]] | None = None,
    *,
    left_out: Sequence[str] = LEFT_OUT,
    seed: int = 42,
) -> list[Measurement]:
    """`rater_agreement`, `cohen_kappa` and both `prevalence` of each view, tag `view`, with intervals over items.

    `views` names sets of labels that count as yes; by default each label is one, of two labels the first. Items
    that either annotator labelled one of `left_out`, or did not label, are left out.
    """
    if gold.second is None:
        raise InputError("there is one annotator only", fix="name the second's column: second='…' (--second)")
    both = [
        (one, other)
        for one, other in zip(gold.labels, gold.second, strict=True)
        if other is not None and one not in left_out and other not in left_out
    ]
    if not both:
        raise InputError("no item was labelled by both annotators")
    first, second = (np.array(labels, dtype=object) for labels in zip(*both, strict=True))
    measurements: list[Measurement] = []
    for name, labels in _views(gold, views, left_out).items():
        measurements += _view(name, np.isin(first, list(labels)), np.isin(second, list(labels)), seed)
    return measurements


def _views(
    gold: Gold, views: Mapping[str, Sequence[str]] | None, left_out: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    known = [name for name in gold.values if name not in left_out]
    for labels in (views or {}).values():
        require_known("hand label", known, *labels)
    return views or {name: (name,) for name in (known[:1] if len(known) == 2 else known)}


def _view(name: str, first: Mask, second: Mask, seed: int) -> list[Measurement]:
    tags: dict[str, str | int | float] = {"view": name}
    value, low, high = cohen_kappa(first, second), None, None
    if value is not None:
        table = _table(first, second)
        drawn = generator(seed, "annotators").multinomial(len(first), table / table.sum(), size=DRAWS)
        low, high = percentiles(_kappas(drawn)) or (None, None)
    return [
        share_of("rater_agreement", first == second, tags),
        Measurement("cohen_kappa", value, len(first) if value is not None else 0, low, high, tags=tags),
        share_of("prevalence", first, tags | {"annotator": "first"}),
        share_of("prevalence", second, tags | {"annotator": "second"}),
    ]


def _table(first: Mask, second: Mask) -> npt.NDArray[np.int64]:
    """How often: both yes, only the first, only the second, neither."""
    codes = 2 * (~first).astype(np.int64) + ~second
    return np.bincount(codes, minlength=4)


def _kappas(tables: npt.NDArray[np.int64]) -> Floats:
    """Kappa of many tables [tables, 4]; NaN where chance agrees fully."""
    n = tables.sum(axis=1)
    observed = (tables[:, 0] + tables[:, 3]) / n
    yes_first, yes_second = (tables[:, 0] + tables[:, 1]) / n, (tables[:, 0] + tables[:, 2]) / n
    chance = yes_first * yes_second + (1 - yes_first) * (1 - yes_second)
    return np.asarray((observed - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan))
