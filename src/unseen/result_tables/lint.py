"""Rules for tables of results: is it said which number it is, on which scale, how sure, and is the best the best.

A rule sees the tables of one file. It speaks only of numbers whose header, row or title names a metric; settings,
counts and times are none of its business.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path

from unseen.errors import UnknownNameError
from unseen.evaluation.metric_facts import fact, family
from unseen.evaluation.metric_names import MetricName, normalise
from unseen.result_tables.relations import AVERAGE, GAIN, TableGrid, aggregates
from unseen.result_tables.table import PrintedCell, PrintedNumber, ResultTable
from unseen.types import Finding

NAME_COLUMN, VALUE_COLUMN = re.compile(r"metrics?|measure", re.I), re.compile(r"value|score|result", re.I)
OF_LABEL = re.compile(r"(.+) of [“\"'‘](.+)[”\"'’]")
OTHER_SPLITS = ("independent", "held-out", "out-of-domain", "hard", "random")
NO_SCORE_ROW = re.compile(r"p|p[- ]?values?|d|cohen.?s d|n|support|counts?|rows|texts|examples|chance", re.I)
OF_CLASSES, AVERAGED_ROW = re.compile(r"class|label|category", re.I), re.compile(r"\b(?:macro|micro|weighted) av", re.I)
"""A column whose rows are one class each, and a row that averages them."""
RANKS = re.compile(r"(?<!reciprocal )(?<![^\W_])ranks?(?![^\W_])", re.I)
FILLER = re.compile(r"\b(?:results?|scores?|of|on|for|the|all|our|models?|fine-?tuned|published|reported|and)\b", re.I)
UNSURE = re.compile(
    r"intervals?\b|\bseeds\b|standard (?:deviation|error)|±|confidence|bootstrap|"
    r"\b(?:\d+|two|three|four|five|ten) (?:runs|trainings|seeds)|\bover (?:runs|trainings|folds)", re.I,
)  # fmt: skip
SPREAD_COLUMN = re.compile(r"interval|\bci\b|±|\bsd\b|\bstd\b|deviation|\blow\b|\bhigh\b|\blower\b|\bupper\b", re.I)
MEAN_OVER = re.compile(r"\b(?:mean|means|average|averages|averaged|avg)\b[^.\n]{0,40}\b(?:over|of|across)\b", re.I)
DIRECTION = re.compile(r"[↑↓]|\b(?:higher|lower|more|less|larger|smaller) is better", re.I)
UNKNOWN_SCORE = re.compile(r"\b(?:score|rate|index|measure)\b", re.I)
ANSWERS = {
    "average": r"\b(?:macro|micro|weighted|unweighted|binary|positive class|dodrans|entropy)\b",
    "curve": r"\b(?:ROC|receiver|precision.recall|PR)\b",
    "classes": r"\b(?:binary|two classes|one-vs-(?:one|rest)|ov[or])\b",
    "label": r"\b(?:binary|two classes|positive)\b",
}
ADVICE = {
    "average": "Write macro, micro or weighted {name}, or {name} of “label”.",
    "curve": "Write ROC AUC or average precision.",
    "classes": "With more than two classes, write one-vs-one or one-vs-rest {name}.",
    "label": "Say of which label.",
}
OPEN_ONLY_WITH_MANY = {"classes", "label"}
"""What is open only where there are more than two classes."""
STATISTICS_ONLY = ("std", "min")
PERCENT_FROM = 1.5
"""A number of a metric between 0 and 1 that is larger is in percent."""


@dataclass(frozen=True)
class ScoreSeries:
    """The numbers of one metric in a table."""

    name: MetricName
    table: ResultTable
    cells: tuple[tuple[PrintedCell, PrintedNumber], ...]
    place: str
    """Where its name stands."""
    column: int | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range of the metric, as a fraction."""
        known = None if self.name.id is None else fact(self.name.id).range
        return None if known is None or isinstance(known, str) else known

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1, so that percent can be meant."""
        return self.bounds in ((0, 1), (-1, 1))

    @cached_property
    def in_percent(self) -> bool:
        """Whether most of its numbers are in percent."""
        percent = [number.percent or abs(number.value) > PERCENT_FROM for _, number in self.cells]
        return 2 * sum(percent) > len(percent) or self.name.qualifiers.get("unit") == "percent"


@dataclass(frozen=True)
class LintedTable:
    """A table and what of it are scores."""

    table: ResultTable
    series: tuple[ScoreSeries, ...]
    is_long: bool = False
    """Whether a column names the metric of each row."""


@cache
def metric_name(header: str) -> MetricName:
    """What a header, a cell or a piece of a title names; `F1 of “hate”` is about a label."""
    of_label = OF_LABEL.fullmatch(header)
    name = f"{of_label[1]} {of_label[2]}" if of_label else header
    return normalise(name, {"class": [of_label[2]] if of_label else [], "split": OTHER_SPLITS})


def is_score(name: MetricName) -> bool:
    """Whether it is a metric of which more is better, or less; times and counts of a run are none."""
    return name.id is not None and fact(name.id).direction in ("higher", "lower")


def _is_of_ranks(table: ResultTable) -> bool:
    """Whether it says where models stand by each metric, not what they score."""
    has_title = RANKS.search(f"{table.title}\n{Path(table.file).stem}") is not None
    models = max(len(table.rows), len(table.columns))
    return has_title and all(1 <= cell.number.value <= models for row in table.rows for cell in row if cell.number)


def linted(table: ResultTable) -> LintedTable:
    """The scores of a table: by a column of names, by headers, by rows, or all of them by its title."""
    if _is_of_ranks(table):
        return LintedTable(table, ())
    named = next((at for at, name in enumerate(table.columns) if NAME_COLUMN.fullmatch(name)), None)
    value = next((at for at, name in enumerate(table.columns) if VALUE_COLUMN.fullmatch(name)), None)
    if named is not None and named not in table.numeric:
        return LintedTable(table, tuple(_long(table, named, value)) if value in table.numeric else (), is_long=True)
    rows = [row for row in range(len(table.rows)) if not NO_SCORE_ROW.fullmatch(table.label(row))]
    title = _title_metric(table)
    series = []
    for column in table.numeric:
        name = metric_name(table.columns[column])
        if name.id is None and title is not None and name.qualifiers.keys() & {"average", "class"}:
            name = normalise(f"{table.columns[column]} {title.text}")
        if is_score(name):
            series.append(_series(table, name, [(row, column) for row in rows], column))
    if not series and table.columns and table.columns[0].casefold() in ("", "score"):
        by_row = [(row, metric_name(table.label(row))) for row in rows]
        series = [
            _series(table, name, [(row, at) for at in table.numeric], None, row)
            for row, name in by_row
            if is_score(name)
        ]
    if not series and title is not None:
        columns = [at for at in table.numeric if not _is_beside(table, at)]
        series = [_series(table, title, [(row, at) for row in rows for at in columns], None)] if columns else []
    return LintedTable(table, tuple(one for one in series if one.cells))


def _series(
    table: ResultTable, name: MetricName, places: Iterable[tuple[int, int]], column: int | None, row: int | None = None
) -> ScoreSeries:
    printed = [table.rows[at][inner] for at, inner in places]
    cells = tuple((cell, cell.number) for cell in printed if cell.number is not None)
    where = table.place(table.rows[row][0] if row is not None else None, column)
    return ScoreSeries(name, table, cells, where, column)


def _long(table: ResultTable, named: int, value: int | None) -> Iterator[ScoreSeries]:
    by_name: dict[str, list[int]] = {}
    for row, cells in enumerate(table.rows):
        by_name.setdefault(cells[named].text, []).append(row)
    for text, rows in by_name.items():
        first = table.rows[rows[0]][named]
        places = [(row, value) for row in rows if value is not None]
        scores = _series(table, metric_name(text), places, value)
        yield replace(scores, place=table.place(first, named))


def _is_beside(table: ResultTable, column: int) -> bool:
    """Whether a column is counts, a mean, a gain or a test beside the scores."""
    numbers = [number for row in table.rows if (number := row[column].number) is not None]
    header = table.columns[column]
    is_counts = all(number.is_count and number.value > 1 for number in numbers) and max(n.value for n in numbers) > 100
    return is_counts or GAIN.search(header) is not None or NO_SCORE_ROW.fullmatch(header) is not None


def _title_metric(table: ResultTable) -> MetricName | None:
    """The metric that a piece of the title is the name of."""
    for piece in reversed(re.split(r"[.:;|,](?=\s|$)| – ", table.title)):
        name = metric_name(" ".join(FILLER.sub(" ", piece).split()))
        if is_score(name) and not GAIN.search(piece):
            return name
    return None


def _finding(level: str, message: str, places: Sequence[tuple[str, str]], advice: str) -> Finding:
    """A finding about names or numbers and the places where they stand; its rule is named where the rules are run."""
    return Finding(
        "", level, message, len(places), tuple(text for text, _ in places), advice, tuple(at for _, at in places)
    )


def _cells(series: ScoreSeries, cells: Iterable[PrintedCell]) -> list[tuple[str, str]]:
    return [(cell.text, series.table.place(cell, series.column)) for cell in cells]


def _is_said(table: ResultTable, name: MetricName) -> bool:
    """Whether a sentence of the title or the text names the metric and says what the header does not, or rows do."""
    if "average" in name.missing and (
        OF_CLASSES.fullmatch(table.columns[0])
        or any(AVERAGED_ROW.search(table.label(at)) for at in range(len(table.rows)))
    ):
        return True
    answers = [ANSWERS[missing] for missing in name.missing if missing in ANSWERS]
    core = re.escape(name.text.split()[-1])
    for sentence in re.split(r"(?<=[.!?])\s|\n", f"{table.title}\n{table.context}"):
        if re.search(rf"(?<!\w){core}(?!\w)", sentence, re.I) and any(
            re.search(one, sentence, re.I) for one in answers
        ):
            return True
    return False


def ambiguous_metric(one: LintedTable) -> Iterator[Finding]:
    """A name that may be several numbers: F1 without its average, AUC without its curve, P, Score."""
    table = one.table
    for series in one.series:
        name = series.name
        open_parameters = [missing for missing in name.missing if missing != "over"]
        if name.id is None or not open_parameters or _is_said(table, name):
            continue
        level = "warn" if OPEN_ONLY_WITH_MANY.issuperset(open_parameters) else "fail"
        advice = ADVICE.get(open_parameters[0], f"Say its {open_parameters[0]}.")
        advice = advice.format(name=fact(name.id).name or name.text)
        message = f"{name.text!r} does not say: {', '.join(open_parameters)}"
        yield _finding(level, message, [(name.text, series.place)], advice)
    for column in table.numeric if one.series and not one.is_long else ():
        name = metric_name(table.columns[column])
        may_be_several = name.id is None and name.reason.startswith("may be") and not name.unread
        if may_be_several and name.text.strip() and not AVERAGE.search(name.text):
            place = (name.text, table.place(column=column))
            yield _finding("fail", f"{name.text!r} {name.reason}", [place], "Write it out.")


def unnamed_mean(one: LintedTable) -> Iterator[Finding]:
    """A mean that does not say over what, and that is not the mean of the cells beside it."""
    table = one.table
    if not one.series or MEAN_OVER.search(f"{table.title}\n{table.context}"):
        return
    is_grid = not (one.is_long or table.is_large)
    unsaid = [promise.name for promise in aggregates(TableGrid(table), "mean")[1]] if is_grid else []
    unsaid += [series.name.text for series in one.series if "over" in series.name.missing]
    for name in dict.fromkeys(unsaid):
        message = f"{name!r} does not say over what: datasets, folds, seeds, classes?"
        yield _finding(
            "fail", message, [(name, table.place())], "Say over what it is, in the header or below the table."
        )


def percent_and_fraction(one: LintedTable) -> Iterator[Finding]:
    """Numbers of one metric, some in percent and some as fractions, in one column or in two."""
    shares = [series for series in one.series if series.is_share and series.cells]
    for series in shares:
        in_percent = [number for _, number in series.cells if number.percent or abs(number.value) > PERCENT_FROM]
        if not in_percent:
            continue
        percent, decimals = [number.value for number in in_percent], max(number.places for number in in_percent)
        fractions = [
            cell for cell, number in series.cells
            if not number.percent and 0 < abs(number.value) <= 1 and number.places >= min(2, decimals + 1)
            and min(percent) / 2 <= 100 * abs(number.value) <= 1.5 * max(percent)
        ]  # fmt: skip
        if fractions:
            message = f"{series.name.text!r} has fractions ({len(fractions)}) among numbers in percent"
            yield _finding("fail", message, _cells(series, fractions), "Write all of them on one scale.")
    for metric, several in groupby(sorted(shares, key=lambda one: str(one.name.id)), key=lambda one: one.name.id):
        scales = {series.in_percent: series for series in several}
        if len(scales) > 1:
            percent_name, fraction_name = scales[True].name.text, scales[False].name.text
            message = f"{metric} is in percent in {percent_name!r} and a fraction in {fraction_name!r}"
            places = [(series.name.text, series.place) for series in scales.values()]
            yield _finding("fail", message, places, "Write both on one scale.")


def out_of_range(one: LintedTable) -> Iterator[Finding]:
    """A number that its metric cannot have."""
    for series in one.series:
        if series.bounds is None or series.name.qualifiers.get("statistic") in STATISTICS_ONLY:
            continue
        scale = 100.0 if series.is_share and series.in_percent else 1.0
        low, high = (scale * bound for bound in series.bounds)
        outside = [cell for cell, number in series.cells if number.high < low or number.low > high]
        if scale == 1.0 and series.is_share:  # percent among fractions are another rule's
            outside = [
                cell for cell in outside if not PERCENT_FROM < abs(cell.number.value if cell.number else 0) <= 100
            ]
        if outside:
            message = f"{series.name.text!r} lies between {low:g} and {high:g}{' percent' if scale > 1 else ''}"
            yield _finding("fail", message, _cells(series, outside), "See what these numbers are.")


def single_metric(tables: Sequence[LintedTable]) -> Iterator[Finding]:
    """Nothing but one metric in the whole file."""
    series = [one for linted_table in tables for one in linted_table.series if one.name.id and len(one.cells) > 1]
    if len({one.name.id for one in series}) == 1 and (metric := series[0].name).id:
        beside = ", ".join(fact(metric.id).companions or fact(family(metric.id)).companions)
        advice = f"Report beside it: {beside}." if beside else "Report a second one."
        yield _finding("warn", f"{metric.text!r} is the only metric", [(metric.text, series[0].place)], advice)


def no_interval(one: LintedTable) -> Iterator[Finding]:
    """Scores to compare, with nothing that says how sure they are: no interval, no spread, no word of seeds."""
    table = one.table
    if not any(len(series.cells) > 1 for series in one.series):
        return
    numbers = [cell.number for row in table.rows for cell in row if cell.number is not None]
    shown = any(number.spread is not None or number.interval is not None for number in numbers)
    if shown or SPREAD_COLUMN.search(" ".join(table.columns)) or UNSURE.search(f"{table.title}\n{table.context}"):
        return
    names = ", ".join(dict.fromkeys(series.name.text for series in one.series))
    message = "scores without an interval, a deviation or a word about seeds"
    yield _finding("warn", message, [(names, table.place())], "Give intervals, or mean ± deviation over several seeds.")


def no_direction(one: LintedTable) -> Iterator[Finding]:
    """A score that nobody knows, with its best in bold, and no word on which way is better."""
    table = one.table
    if one.is_long or DIRECTION.search(f"{table.title}\n{table.context}"):
        return
    for column in table.numeric:
        header = table.columns[column]
        known = metric_name(header).id is not None or DIRECTION.search(header) is not None
        if not known and UNKNOWN_SCORE.search(header) and any(row[column].marked for row in table.rows):
            message = f"{header!r} is no metric that is known here, and nothing says which way is better"
            yield _finding("warn", message, [(header, table.place(column=column))], "Write ↑ or ↓ beside it.")


def duplicate_row(one: LintedTable) -> Iterator[Finding]:
    """Rows that stand there twice."""
    table = one.table
    texts = [tuple(cell.text for cell in row) for row in table.rows] if one.series else []
    counts = Counter(texts)
    twice = [row for row, text in enumerate(texts) if counts[text] > 1 and any(cell.number for cell in table.rows[row])]
    if twice:
        places = [(table.label(row), table.place(table.rows[row][0])) for row in twice]
        yield _finding("warn", f"{len(twice)} rows stand there more than once", places, "Leave one of them out.")


def best_mark(one: LintedTable) -> Iterator[Finding]:
    """A number in bold that is the best neither of its column nor of its row, where the others in bold are."""
    for series in one.series if not (one.is_long or one.table.is_large) else ():
        direction = None if series.name.id is None else fact(series.name.id).direction
        marked = [(cell, number) for cell, number in series.cells if cell.marked]
        if direction not in ("higher", "lower") or not marked:
            continue
        best = [cell for cell, number in marked if _is_best(series, cell, number, direction == "higher")]
        wrong = [cell for cell, _ in marked if cell not in best]
        whole_rows = {cell.line for cell in wrong if _is_all_bold(series.table, cell)}
        wrong = [cell for cell in wrong if cell.line not in whole_rows]
        # one mark in a column is a claim; of several, most must be the best before the others are wrong
        if wrong and (len(marked) == 1 or len(best) > len(wrong)):
            message = f"{series.name.text!r}: what is marked is not the best"
            yield _finding("fail", message, _cells(series, wrong), "Mark the best, or say what bold means.")


def _is_best(series: ScoreSeries, cell: PrintedCell, number: PrintedNumber, higher: bool) -> bool:
    """Whether no number of its column, or none of its row, is better."""
    if series.column is not None:
        rivals = [[other for _, other in series.cells]]
    else:
        columns = [at for row in series.table.rows for at, inner in enumerate(row) if inner is cell]
        cells = {id(inner) for inner, _ in series.cells}
        by_row = [inner for row in series.table.rows if any(c is cell for c in row) for inner in row]
        by_column = [row[at] for row in series.table.rows for at in columns]
        rivals = [[c.number for c in line if id(c) in cells and c.number] for line in (by_row, by_column)]
    return any(all((number.value >= n.value) if higher else (number.value <= n.value) for n in line) for line in rivals)


def _is_all_bold(table: ResultTable, cell: PrintedCell) -> bool:
    """Whether all numbers of its row are in bold: that marks the row, not a best."""
    row = next((row for row in table.rows if any(inner is cell for inner in row)), ())
    numbers = [inner for inner in row if inner.number is not None]
    return len(numbers) > 1 and all(inner.marked for inner in numbers)


def unknown_metric(one: LintedTable) -> Iterator[Finding]:
    """Names that cannot be checked: with words that are not understood, or of no metric that is known here."""
    table = one.table
    if one.is_long:
        unknown = [series.name.text for series in one.series if series.name.id is None and series.name.text]
    else:
        headers = [table.columns[at] for at in table.numeric if metric_name(table.columns[at]).id is None]
        unknown = [header for header in headers if not GAIN.search(header) and _holds_metric(header)]
    if unknown:
        names = list(dict.fromkeys(unknown))
        message = f"not checked, the names are not understood: {', '.join(map(repr, names))}"
        yield _finding("skipped", message, [(name, table.place()) for name in names], "")


def _holds_metric(header: str) -> bool:
    """Whether a word of it is a metric; counts and times, of which no way is better, are none."""
    words = [word for word in header.replace(",", " ").split() if len(word) > 3 or word != word.lower()]
    known = [name for word in words if (name := metric_name(word).id) is not None]
    beside = re.search(r"\b(?:with|by|points of|share)\b", header)
    return not beside and any(fact(name).direction in ("higher", "lower") for name in known)


Rule = Callable[[Sequence[LintedTable]], Iterator[Finding]]


def _of_each(rule: Callable[[LintedTable], Iterator[Finding]]) -> Rule:
    """A rule of single tables as one of a file."""
    return lambda tables: (finding for table in tables for finding in rule(table))


RULES: Mapping[str, Rule] = {
    "ambiguous-metric": _of_each(ambiguous_metric),
    "unnamed-mean": _of_each(unnamed_mean),
    "percent-and-fraction": _of_each(percent_and_fraction),
    "out-of-range": _of_each(out_of_range),
    "best-mark": _of_each(best_mark),
    "single-metric": single_metric,
    "no-interval": _of_each(no_interval),
    "no-direction": _of_each(no_direction),
    "duplicate-row": _of_each(duplicate_row),
    "unknown-metric": _of_each(unknown_metric),
}


def lint_tables(tables: Sequence[ResultTable], skip: Sequence[str] = ()) -> list[Finding]:
    """What the rules find, file by file; without the rules in `skip`, and those a comment says do not apply."""
    for unknown in (rule for rule in skip if rule not in RULES):
        raise UnknownNameError.of("rule", unknown, RULES)
    findings: list[Finding] = []
    for _, several in groupby(tables, key=lambda table: table.file):
        of_file = [linted(table) for table in several]
        for name, rule in RULES.items():
            if name not in skip:
                kept = [one for one in of_file if name not in one.table.ignored]
                findings += [replace(finding, check=name) for finding in rule(kept)]
    return findings
