"""What boards of models say, whichever run made them: scores, ranks, gains, and where metrics disagree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from markupsafe import Markup

from unseen.evaluation.boards import ALL, LOSS, TIE, WIN, outcome
from unseen.evaluation.class_weights import AlphaSweep, alpha_sweep
from unseen.evaluation.rankings import ALPHA, GAINS, not_apart
from unseen.evaluation.wording import called, capital, higher_is_better
from unseen.reports.figures import alpha_chart, rank_chart
from unseen.reports.formats import Cell, Strong, Table
from unseen.reports.heat_map import heat_map
from unseen.reports.page import Section, two_widths
from unseen.reports.record import MEAN, RunRecord
from unseen.types import Measurement
from unseen.types.numbers import DASH, number, percent, scored, turned

GAIN_NAMES = {
    "relative": "relative", "error_reduction": "of the error", "delta_mp": "ΔMP as Naseem et al. print it",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class BoardView:
    """The measurements of one board of a run."""

    record: RunRecord
    """With the measurements of this board alone."""

    @cached_property
    def models(self) -> list[str]:
        """Models, the best average rank first, of equal ones the best mean; without ranks as they were measured."""
        measured = self.record.names("model", self.record.metric)
        return sorted(measured, key=lambda model: (self._place(model), -self._mean(model)))

    def _place(self, model: str) -> float:
        return ((row := self.average(model)) and row.value) or 0.0

    def _mean(self, model: str) -> float:
        """The mean score over datasets, more being better; 0 where there are no ranks."""
        rows = [self.level(model, data=data) for data in self.datasets] if self._place(model) else []
        values = [row.value for row in rows if row is not None and row.value is not None]
        return (1 if higher_is_better(self.record.metric) else -1) * sum(values) / max(len(values), 1)

    @property
    def first(self) -> list[str]:
        """The models that share the best average rank; without ranks the first."""
        best = self._place(self.models[0])
        return [model for model in self.models if best and self._place(model) == best] or self.models[:1]

    @cached_property
    def datasets(self) -> list[str]:
        """Datasets, as they were measured."""
        return self.record.names("data", self.record.metric)

    @cached_property
    def families(self) -> list[str]:
        """Families of two or more datasets, all of them together last."""
        return self.record.names("family", self.record.metric)

    @property
    def metrics(self) -> list[str]:
        """Every metric that models are ranked by."""
        known = dict.fromkeys(row.metric for row in self.record.measurements if row.slice == "all")
        return [name.removeprefix("average_rank.") for name in known if name.startswith("average_rank.")]

    def level(self, model: str, metric: str | None = None, **place: str) -> Measurement | None:
        """The score of a model on data=…, or its mean in family=…."""
        return self.record.row(metric or self.record.metric, model=model, seed=MEAN, **place)

    def average(self, model: str, metric: str | None = None) -> Measurement | None:
        """The average rank of a model."""
        return self.record.row(f"average_rank.{metric or self.record.metric}", model=model)

    def difference(self, data: str, model: str, than: str, metric: str | None = None) -> Measurement | None:
        """By how much a model is better than another on a dataset."""
        name = f"difference.{metric or self.record.metric}"
        row = self.record.row(name, data=data, model=model, than=than)
        if row is None and (other := self.record.row(name, data=data, model=than, than=model)):
            return turned(other)
        return row

    def outcomes(self, model: str, than: str) -> dict[str, int]:
        """On how many datasets a model wins, ties and loses against another."""
        results = [outcome(self.difference(data, model, than)) for data in self.datasets]
        return {word: results.count(word) for word in (WIN, TIE, LOSS)}

    @property
    def apart(self) -> float | None:
        """Nemenyi's critical difference."""
        return self.record.value(f"critical_difference.{self.record.metric}")

    @property
    def leaders(self) -> list[str]:
        """The model with the best average rank, and those that are not told apart from it.

        Over several datasets that is Nemenyi's test of ranks; on one, the paired test of scores.
        """
        first, *others = self.models
        averages = [row.value or 0.0 for model in self.models if (row := self.average(model)) is not None]
        if self.apart is None or len(averages) < len(self.models):
            return [first, *(than for than in others if not self.outcomes(first, than)[WIN])]
        groups = [group for group in not_apart(averages, self.apart) if 0 in group]
        return [self.models[place] for place in (groups[0] if groups else (0,))]

    def best(self, data: str) -> str | None:
        """The model with the best score on a dataset."""
        rows = {model: row for model in self.models if (row := self.level(model, data=data)) and row.value is not None}
        sign = 1 if higher_is_better(self.record.metric) else -1
        return max(rows, key=lambda model: sign * (rows[model].value or 0.0), default=None)


def score_section(board: BoardView, heading: str, text: str = "") -> Section:
    """Scores of every model on every dataset, as a picture and with intervals."""
    values = [
        [row.value if (row := board.level(model, data=data)) else None for model in board.models]
        for data in board.datasets
    ]
    title = f"{capital(called(board.record.metric))} of each model on each dataset"
    picture = Markup(heat_map(values, board.datasets, board.models, title=title))
    return Section(heading, text, pictures=[picture], folded={"With intervals": [score_table(board)]})


def score_table(board: BoardView, metric: str | None = None) -> Table:
    """Scores with intervals; the best of a line stands out, whether or not it is more than chance."""
    metric = metric or board.record.metric
    lines: list[tuple[Cell, ...]] = []
    for place, name in [("data", name) for name in board.datasets] + [("family", name) for name in board.families]:
        rows = [board.level(model, metric, **{place: name}) for model in board.models]
        known = [row.value for row in rows if row is not None and row.value is not None]
        best = (max if higher_is_better(metric) else min)(known, default=None)
        cells = [
            Strong(scored(row)) if row is not None and row.value is not None and row.value == best else scored(row)
            for row in rows
        ]
        what = name if place == "data" else "mean of all" if name == ALL else f"mean of {name}"
        lines.append((what, *cells))
    note = (
        "95 % intervals over training seeds and test texts, whole groups where there are groups. Means are arithmetic "
        "means over datasets. Bold: the best of the line, whether or not by chance."
    )
    return Table(capital(called(metric)), ("dataset", *board.models), tuple(lines), note)


def rank_section(board: BoardView, heading: str) -> Section:
    """Average ranks as a picture, and who wins against whom."""
    ranked = [(model, row) for model in board.models if (row := board.average(model)) is not None]
    if not ranked:
        return Section(heading, "Ranks need two models and a dataset that all of them were tested on.")
    p = board.record.value(f"friedman_p.{board.record.metric}")
    text = f"Over {ranked[0][1].n} datasets, by {called(board.record.metric)}."
    if p is not None and board.apart is not None:
        surely = "differ" if p < ALPHA else "are not told apart"
        text += f" Taken together the models {surely} (Friedman, p = {number(p, 3)})."
        text += f" Bars join models whose average ranks are within the critical difference of {number(board.apart)}."
    picture = two_widths(partial(rank_chart, ranked, board.apart, heading))
    return Section(heading, text, pictures=[picture], tables=[rank_table(board), outcome_table(board)])


def rank_table(board: BoardView) -> Table:
    """Average ranks by every metric."""
    metrics = board.metrics
    lines = [
        (model, *(scored(board.average(model, metric)) for metric in metrics)) for model in board.models
    ]  # fmt: skip
    note = "95 % intervals over datasets by Student's t: what another choice of such datasets would give."
    return Table("Average rank by metric", ("model", *map(called, metrics)), tuple(lines), note)


def outcome_table(board: BoardView) -> Table:
    """Wins, ties and losses of the row against the column."""
    lines: list[tuple[Cell, ...]] = []
    for model in board.models:
        cells = [
            DASH if model == than else "/".join(str(count) for count in board.outcomes(model, than).values())
            for than in board.models
        ]
        lines.append((model, *cells))
    note = (
        f"On so many datasets the model of the row wins, ties and loses by {called(board.record.metric)}: a win is a "
        "paired difference with p below .05 after Holm's correction for the pairs of that dataset."
    )
    return Table("Wins / ties / losses", ("model", *board.models), tuple(lines), note)


def gain_section(board: BoardView, reference: str) -> Section | None:
    """Gains over the reference under each definition; None where there are none."""
    metric = board.record.metric
    lines: list[tuple[Cell, ...]] = []
    for place, name in [("data", name) for name in board.datasets] + [("family", name) for name in board.families]:
        for model in board.models:
            gains = [
                board.record.row(f"gain.{gain}.{metric}", model=model, than=reference, **{place: name})
                for gain in GAINS
            ]
            if any(gains):
                what = name if place == "data" else f"mean of {name}"
                lines.append((what, model, *(scored(row, lambda value: percent(value, 1)) for row in gains)))
    if not lines:
        return None
    note = (
        "Relative: of the score. Of the error: of what the reference gets wrong. The third is what one paper prints "
        "under the name of the second; it is nearly the first. Bounds are those of the difference of scores."
    )
    columns = ("dataset", "model", *(GAIN_NAMES[gain] for gain in GAINS))
    table = Table(f"Gains in {called(metric)} over {reference}", columns, tuple(lines), note)
    return Section("Gains", "The same differences, said in three ways.", folded={table.title: [table]})


def agreement_section(board: BoardView) -> Section | None:
    """How far metrics rank models alike, and which pairs they order otherwise for certain; None of one metric."""
    metrics = board.metrics
    if len(metrics) < 2:
        return None
    taus = {
        frozenset((first, second)): board.record.value("kendall_tau", ranked_by=first, than=second)
        for first, second in combinations(metrics, 2)
    }
    matrix = [[1.0 if a == b else taus.get(frozenset((a, b))) for b in metrics] for a in metrics]
    names = [called(metric) for metric in metrics]
    title = "Kendall's τ of the rankings by two metrics: 1 the same order, −1 the opposite"
    picture = Markup(heat_map(matrix, names, names, title=title, scale=(-1.0, 1.0)))
    table = flip_table(board)
    certain = [line for line in table.rows if line[4]]
    text = "Every two metrics order the models alike on every dataset."
    if table.rows:
        flips = sum(int(str(line[3])) for line in table.rows)
        text = (
            f"Two metrics prefer different models in {flips} pairs on a dataset; in {len(certain)} cases both "
            "differences are more than chance."
        )
    return Section("Do metrics agree?", text, pictures=[picture], folded={table.title: [table]} if table.rows else {})


def sweep_section(board: BoardView) -> Section | None:
    """F1 over every weighting of labels between macro and weighted, of datasets on which the winner changes."""
    if len(board.models) < 2:
        return None
    sweeps = {data: sweep for data in board.datasets if (sweep := sweep_of(board, data)) is not None}
    changing = {data: sweep for data, sweep in sweeps.items() if sweep.changes}
    if not sweeps:
        return None
    if not changing:
        text = "On no dataset does the best model change between macro F1 and weighted F1, whatever weighs between."
        return Section("Weights of labels", text)
    sentences = [
        f"{data}: {change.before} is the best below α = {number(change.alpha)}, {change.after} above."
        for data, sweep in changing.items()
        for change in sweep.changes
    ]
    pictures = [two_widths(partial(alpha_chart, sweep, f"F1 on {data}")) for data, sweep in changing.items()]
    text = f"Labels weigh their rows to the power of α: 0 is macro F1, .75 dodrans, 1 weighted. {' '.join(sentences)}"
    return Section("Weights of labels", text, pictures=pictures)


def sweep_of(board: BoardView, data: str) -> AlphaSweep | None:
    """The scores of all models on a dataset for every power of the rows of labels; None where a model lacks some."""
    named = re.compile(r"f1\[(.+)\]", re.DOTALL)
    scores: dict[str, dict[str, Measurement]] = {model: {} for model in board.models}
    for row in board.record.measurements:
        label = named.fullmatch(row.metric)
        if label and row.tags.get("data") == data:
            scores[str(row.tags["model"])][label[1]] = row
    labels = list(scores[board.models[0]])
    if not labels or any(list(of) != labels for of in scores.values()):
        return None
    return alpha_sweep({
        model: (np.array([of[label].value for label in labels]), np.array([of[label].n for label in labels], float))
        for model, of in scores.items()
    })  # fmt: skip


def flip_table(board: BoardView) -> Table:
    """Pairs of models of which two metrics prefer different ones, by dataset."""
    lines: list[tuple[Cell, ...]] = []
    for row in board.record.rows("rank_flips"):
        if row.value:
            pair = (called(str(row.tags["ranked_by"])), called(str(row.tags["than"])))
            flips = str(row.tags.get("pairs", ""))
            lines.append((str(row.tags["data"]), *pair, str(round(row.value)), str(row.tags.get("certain", "")), flips))
    columns = ("dataset", "metric", "other metric", "pairs", "certain", "as the first has it")
    note = "Certain: both metrics tell the two models apart after Holm's correction."
    return Table("Pairs of models that two metrics order differently", columns, tuple(lines), note)


def leader_headline(board: BoardView) -> str:
    """Who leads a board, and whether that is certain; nobody does where there is one model."""
    first, *close = board.leaders
    if len(board.models) == 1:
        return f"Only {first} was tested: there is no other model to compare it with."
    return f"{first} leads by {called(board.record.metric)}" + (", but not for certain." if close else ".")


def leader_sentences(board: BoardView) -> Iterator[str]:
    """Who leads a board, and whether anybody is told apart from it."""
    first, *close = board.leaders
    row = board.average(first)
    if row is not None and row.n > 1:
        has = "has" if len(board.first) == 1 else "share"
        yield f"{', '.join(board.first)} {has} the best average rank, {scored(row)} over {row.n} datasets."
    beaten = [model for model in board.models if model not in (first, *close)]
    if beaten and close:
        yield f"It is better than {', '.join(beaten)} by more than chance, not than {', '.join(close)}."
    elif close:
        yield f"{', '.join(close)} cannot be told apart from it."
