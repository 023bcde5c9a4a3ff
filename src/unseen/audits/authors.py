"""How far few authors carry a dataset: how rows are spread over them, and what their names alone give away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from unseen.audits.chance import chance_of, chance_of_groups, commonest_label, favourite
from unseen.data.groups import NONE, group_codes
from unseen.evaluation.bootstrap import DRAWS
from unseen.evaluation.f_scores import class_scores
from unseen.evaluation.intervals import wilson
from unseen.evaluation.measurements import measure
from unseen.evaluation.weighting import PLAIN
from unseen.evaluation.wording import called
from unseen.types import Dataset, Finding, Measurement, Predictions, Split
from unseen.types.arrays import Codes, Mask, Rows
from unseen.types.numbers import percent, portion, scored, worse

TOPS = (1, 2, 5, 10)
LORENZ_POINTS = 50
"""Points of a curve, about."""
Counts = npt.NDArray[np.int64]
SEED = 42
FEW_UNITS = 20_000
"""Above so many tested rows there are five times fewer resamples: the interval is narrow anyway."""
TOP = 2
ENOUGH_ROWS = 20
"""Rows that a class needs for a verdict on who wrote them."""
CLEARLY = 1.25
"""How many times the share of an even spread is clearly above it."""
GRAVITY = ("skipped", "ok", "warn", "fail")
HALF = 0.5
"""Two authors who wrote this share of a class are the class."""
MUCH = 0.2
"""Two authors with this share of a class are worth knowing about."""
UNKNOWN_WARN = 0.5
RULE_WARN, RULE_FAIL = 0.05, 0.2
"""How much better than chance the rule may be, in macro F1."""
FALL_WARN, FALL_FAIL = 0.0, 0.1
"""How far a score may fall on authors that training has not seen; the lower end of its interval counts."""
SPLIT_ADVICE = "Split by author (unseen split make --with grouped), and report the score on unseen authors."


@dataclass(frozen=True, eq=False)
class Writers:
    """The author of each row of a dataset."""

    code: Rows
    """A number per row, equal for equal authors; -1 where the author is not known."""
    count: int
    """Authors that are known."""

    @classmethod
    def of(cls, data: Dataset, author: str) -> Writers:
        """The authors that the attribute `author` names; a missing or empty name is an unknown author."""
        codes = group_codes(data, author)
        return cls(codes, int(codes.max(initial=NONE)) + 1)

    @property
    def known(self) -> Mask:
        """Rows whose author is known."""
        return np.asarray(self.code != NONE)

    def table(self, labels: Codes, k: int) -> npt.NDArray[np.int64]:
        """Rows per author and label [authors, k]; those of unknown authors are not in it."""
        cells = self.code[self.known] * k + labels[self.known]
        return np.bincount(cells, minlength=self.count * k).reshape(self.count, k)


def concentration(data: Dataset, author: str) -> list[Measurement]:
    """For all rows and for each label: authors, Gini coefficient, shares of the top 1, 2, 5 and 10 authors.

    All of it is about rows whose author is known; `authors.unknown` is the share of the others. The authors of a
    label are those who wrote a row of it: one who never did is not counted as an author of none.
    """
    measurements = []
    for name, rows, counts in _classes(data, author):
        unknown = 1 - counts.sum() / rows if rows else None
        written = counts[counts > 0]
        n = int(written.sum())
        measurements += [
            Measurement("authors.unknown", unknown, rows, slice=name),
            Measurement("authors.count", len(written) if n else None, n, slice=name),
            Measurement("author_gini", gini(written), n, slice=name),
        ]
        most_first = np.sort(written)[::-1]
        for top in TOPS:
            value = float(most_first[:top].sum()) / n if n else None
            measurements.append(Measurement(f"author_share.top{top}", value, n, slice=name))
    return measurements


def lorenz(data: Dataset, author: str) -> list[Measurement]:
    """Points of the Lorenz curves, for all rows and for each label: `author_lorenz` is the share of the rows that
    the share `authors` (a tag) of the authors wrote, from the least prolific to the most.
    """
    return [
        Measurement("author_lorenz", y, int(counts.sum()), slice=name, tags={"authors": x})
        for name, _, counts in _classes(data, author)
        for x, y in lorenz_curve(counts[counts > 0])
    ]


def lorenz_curve(counts: Counts, most: int = LORENZ_POINTS) -> list[tuple[float, float]]:
    """Shares of authors and of rows, from (0, 0) to (1, 1), at about `most` places; nothing from no rows.

    Half of the places are spread evenly over authors and half over rows, because few authors may have most.
    """
    if not counts.sum():
        return []
    rows = np.concatenate([[0], np.cumsum(np.sort(counts))]) / counts.sum()
    even = np.linspace(0, len(counts), most // 2 + 1).round().astype(int)
    places = np.unique([*even, *np.searchsorted(rows, np.linspace(0, 1, most // 2))])
    return [(float(place) / len(counts), float(rows[place])) for place in places]


def gini(counts: Counts) -> float | None:
    """0 when all authors wrote equally much, towards 1 when one wrote everything; None from no rows.

    It is half the mean absolute difference of two authors, both drawn with replacement, over the mean; with n
    authors it cannot pass 1 − 1/n.
    """
    if not counts.sum():
        return None
    n, ordered = len(counts), np.sort(counts).astype(np.float64)
    return float(((2 * np.arange(1, n + 1) - n - 1) * ordered).sum() / (n * ordered.sum()))


def _classes(data: Dataset, author: str) -> Iterator[tuple[str, int, Counts]]:
    """Slice, rows (those of unknown authors too) and rows per known author."""
    table = Writers.of(data, author).table(data.labels, len(data.label_names))
    yield "all", len(data), table.sum(axis=1)
    for code, label in enumerate(data.label_names):
        yield f"label={label}", data.label_counts[label], table[:, code]


def know_the_author(data: Dataset, split: Split | None, author: str) -> list[Measurement]:
    """`know_the_author.METRIC` of predicting each row from its author alone, beside `majority_class.METRIC`.

    The tag `rule` says what the rule knows: `leave-one-out`, the other rows of the same author; `split`, the rows
    of the author in train and dev, tested on the test part. The most frequent label is predicted; an author with
    no other row, and an unknown one, gets the majority label, as one with a tie does. `permuted_authors.f1.macro` is
    the rule by chance: the mean of 20 permutations of the authors among the rows that it knows. Then, for each label,
    `know_top_authors`: calling everything by its top 1, 2, 5 or 10 authors that label, and nothing else. Intervals
    draw whole authors.
    """
    writers, labels = Writers.of(data, author), data.labels
    measurements: list[Measurement] = []
    if len(data):
        rows = np.arange(len(data))
        by_author = leave_one_out(writers.code, labels)
        chance = chance_of(partial(leave_one_out, labels=labels), writers.code, labels, rows, rows, SEED)
        measurements += _scored(data, rows, by_author, labels, chance, author, "leave-one-out")
    if split is not None:
        split = split.of(data)
        train, test = split.rows("train", "dev"), split.rows("test")
        if len(train) and len(test):
            by_author = commonest_label(writers.code, labels, train)
            by_chance = chance_of_groups(writers.code, labels, train, test, SEED)
            measurements += _scored(data, test, by_author, labels[train], by_chance, author, "split")
    return measurements + top_authors(data, writers)


def leave_one_out(codes: Codes, labels: Codes) -> Codes:
    """The label of each row by the other rows with its code; ties, and rows without others, get the majority label.

    That label is one and the same for all rows: the majority of the *other* rows would, on balanced data, always be
    the wrong one.
    """
    k = int(labels.max()) + 1
    n, known = int(codes.max()) + 1, codes >= 0
    counts = np.bincount(codes[known] * k + labels[known], minlength=n * k).reshape(n, k)
    others = np.vstack([counts, np.zeros((1, k))])[codes]
    others[np.flatnonzero(known), labels[known]] -= 1
    return favourite(others, np.bincount(labels, minlength=k))


def top_authors(data: Dataset, writers: Writers) -> list[Measurement]:
    """`know_top_authors.METRIC` with the tag `authors`: the top authors of a label get it, all other rows do not.

    They wrote a share r of the label's rows (recall), and a share p of their rows has it (precision), so its F1,
    `f1[LABEL]`, is 2pr / (p + r). `f1.macro` and `f1.weighted` are over two classes, the label and the rest.
    """
    table = writers.table(data.labels, len(data.label_names))
    measurements = []
    for code, label in enumerate(data.label_names):
        rows = data.label_counts[label]
        order = np.lexsort((np.arange(writers.count), -table[:, code]))
        for top in TOPS:
            chosen = order[:top][table[order[:top], code] > 0]
            hits, all_theirs = int(table[chosen, code].sum()), int(table[chosen].sum())
            others = len(data) - rows - (all_theirs - hits)  # rows that neither are of the label nor are given it
            tallied = np.array(
                [[others, hits], [len(data) - all_theirs, all_theirs], [len(data) - rows, rows]], dtype=np.float64
            )  # hits, predicted, gold of: the rest, the label
            values = {
                **{f"{name}[{label}]": float(class_scores(tallied, name)[1]) for name in ("precision", "recall", "f1")},
                **{f"f1.{scheme}": float(PLAIN[scheme].averages(tallied)) for scheme in ("macro", "weighted")},
            }
            measurements += [
                Measurement(
                    f"know_top_authors.{name}", value if rows else None, len(data) if rows else 0,
                    slice=f"label={label}", tags={"authors": top},
                )
                for name, value in values.items()
            ]  # fmt: skip
    return measurements


def _scored(
    data: Dataset,
    rows: Rows,
    by_author: Codes,
    known: Codes,
    chance: float | None,
    author: str,
    rule: str,
) -> list[Measurement]:
    """F1 on `rows` of the rule and of the majority of the labels that it knows, with intervals, and its chance."""
    metrics = ["f1.macro", "accuracy", *(f"f1[{label}]" for label in data.label_names)]
    draws = DRAWS if len(rows) <= FEW_UNITS else DRAWS // 5
    majority = np.full(len(data), np.bincount(known).argmax())
    measurements = []
    for name, codes in (("know_the_author", by_author), ("majority_class", majority)):
        predictions = Predictions(data.ids, np.eye(len(data.label_names))[codes], data.label_names)
        measured = measure(data, predictions, rows, metrics, groups=author, tags={"rule": rule}, draws=draws)
        measurements += [replace(row, metric=f"{name}.{row.metric}") for row in measured]
    return [*measurements, Measurement("permuted_authors.f1.macro", chance, len(rows), tags={"rule": rule})]


def author_findings(measurements: Iterable[Measurement]) -> list[Finding]:
    """A finding for each of what was measured: concentration, unknown authors, the know-the-author rule, unseen
    authors, a cap per author, and the estimate where authors are not known.
    """
    rows = list(measurements)
    findings = (_concentration(rows), _unknown(rows), _rule(rows), _disjoint(rows), _cap(rows), _estimate(rows))
    return [finding for finding in findings if finding is not None]


def _concentration(rows: Sequence[Measurement]) -> Finding | None:
    """The class that is worst off: one that can be judged before one that cannot."""
    tops = [row for row in rows if row.metric == "author_share.top2" and row.slice != "all" and row.value is not None]
    if not tops:
        return None
    levels = [(_spread(row, int(_value(rows, "authors.count", row.slice) or 0)), row) for row in tops]
    level, worst = max(levels, key=lambda of_class: (GRAVITY.index(of_class[0]), of_class[1].value, of_class[1].n))
    caution = f"; fewer than {ENOUGH_ROWS} rows are too few rows to judge" if level == "skipped" else ""
    advice = f"Cap the rows per author and class, or collect more authors. {SPLIT_ADVICE}"
    advice = advice if level in ("warn", "fail") else ""
    count = round((worst.value or 0.0) * worst.n)
    return Finding("author_concentration", level, f"{_written(rows, worst)}{caution}.", count, advice=advice)


def _spread(top: Measurement, authors: int) -> str:
    """The level of a class by what its two top authors wrote; skipped where its rows are too few to tell.

    Few authors have large shares each however even they are: two of four wrote half of a class. Their share counts
    only where the whole of its interval is clearly above an even spread.
    """
    if top.n < ENOUGH_ROWS:
        return "skipped"
    if authors <= TOP:
        return "fail"
    share = top.value or 0.0
    low, _ = wilson(round(share * top.n), top.n)
    if low <= CLEARLY * TOP / authors:
        return "ok"
    return "fail" if share >= HALF else "warn" if share >= MUCH else "ok"


def _written(rows: Sequence[Measurement], top: Measurement) -> str:
    """Who wrote how much of a class, without the full stop."""
    authors = int(_value(rows, "authors.count", top.slice) or 0)
    what = f"of {top.slice.removeprefix('label=')!r} whose author is known"
    if authors <= TOP:
        who = "One author" if authors == 1 else "Two authors"
        return f"{who} wrote {'the 1 row' if top.n == 1 else f'all {top.n:,} rows'} {what}"
    top_ten = percent(_value(rows, "author_share.top10", top.slice))
    ten = f"its top ten wrote {top_ten}, of {authors:,} authors in all"
    rest = ten if authors > 10 else f"it has {authors} authors in all"
    return f"Two authors wrote {percent(top.value)} of the {top.n:,} rows {what}; {rest}"


def _unknown(rows: Sequence[Measurement]) -> Finding | None:
    row = _first(rows, "authors.unknown", "all")
    if row is None or row.value is None:
        return None
    count = round(row.value * row.n)
    if row.value == 1:
        message = "No row has a known author: nothing can be said about authors."
        return Finding("unknown_authors", "skipped", message, count, advice="Name the column of the authors.")
    level = "warn" if row.value >= UNKNOWN_WARN else "ok"
    message = f"{portion(count, row.n, 'rows')} have no known author; the rest is what is audited."
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
        constant = "" if majority is None else f", always saying the majority label {scored(majority)}"
        message = (
            f"Knowing what each author wrote {how}, and not reading a text, gives a macro F1 of {scored(by_author)}; "
            f"with the authors permuted it gives {scored(permuted)}{constant}."
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
        f"On authors that training has not seen, {_called(row)} {worse(row)} than on a random test part of the same "
        f"size and class mix{sure}."
    )
    return Finding("unseen_authors", level, message, row.n, advice=_unless_ok(level, SPLIT_ADVICE))


def _cap(rows: Sequence[Measurement]) -> Finding | None:
    """What a cap per author and class does to the score, or that it does nothing."""
    cap = next((row.tags.get("cap") for row in rows if row.metric == "authors_on_both_sides"), None)
    if cap is None:
        return None
    falls = [row for row in rows if row.metric.startswith("fall.") and row.tags.get("split") == "capped"]
    if not falls or falls[0].value is None:
        several = "" if int(cap) == 1 else "s"
        return Finding("author_cap", "ok", f"No author has more than {cap} row{several} of a class in training.")
    message = (
        f"With at most {cap} rows per author and class in training, {_called(falls[0])} on unseen authors "
        f"{worse(falls[0])} than after dropping as many random rows of the same labels."
    )
    return Finding("author_cap", "ok", message, falls[0].n)


def _estimate(rows: Sequence[Measurement]) -> Finding | None:
    row, error = (_first(rows, name, "all") for name in ("estimate.shared_author", "estimate.error"))
    if row is None:
        return None
    alarms, false = (_value(rows, f"verifier.{name}", "all") for name in ("alarms_here", "false_alarms"))
    if row.value is None or error is None or error.value is None:
        why = "style does not tell the calibration authors apart"
        if alarms is not None and false is not None:
            why = (
                f"its verifier takes {percent(alarms)} of the pairs here for one author's and {percent(false)} "
                f"of the calibration pairs that are not, so the calibration does not fit or tells too little"
            )
        message = f"An estimate of shared authors was tried; it has no value, and so no measured error, because {why}."
        return Finding("estimated_authors", "skipped", message, advice="Calibrate with data more like this one.")
    precision, recall = (_value(rows, f"verifier.{name}", "all") for name in ("precision", "recall"))
    sure = row.low is not None and row.low > error.value
    message = (
        f"An estimate, with a measured error of {percent(error.value)} on calibration authors: for {scored(row)} of "
        f"{row.n:,} test rows the training row nearest in style has the same author. The verifier behind the estimate "
        f"finds {percent(recall)} of such pairs among held-out calibration authors, and {percent(precision)} of "
        f"those it finds are such."
    )
    advice = "Find out who wrote the texts, or split by something that stands for authors." if sure else ""
    return Finding("estimated_authors", "warn" if sure else "ok", message, round(row.value * row.n), advice=advice)


def _called(fall: Measurement) -> str:
    """What the metric of a fall is called."""
    return called(fall.metric.removeprefix("fall."))


def _unless_ok(level: str, advice: str) -> str:
    return "" if level == "ok" else advice


def _first(rows: Sequence[Measurement], metric: str, slice: str, **tags: str) -> Measurement | None:
    matching = (row for row in rows if row.metric == metric and row.slice == slice)
    return next((row for row in matching if tags.items() <= dict(row.tags).items()), None)


def _value(rows: Sequence[Measurement], metric: str, slice: str) -> float | None:
    row = _first(rows, metric, slice)
    return None if row is None else row.value
