"""The ladder: shifted texts whose labels are known, on which every estimator is tried before it is believed.

::

    rungs (words left out, slices, other labelled data, hard splits): what estimators say, and the truth
      -> of each estimator, how its error depends on the fall that it sees     a line, fitted with a prior
      -> the estimator that errs least on rungs that it was not fitted on
      -> the forecast for the target, with the spread of that line             wider where the fall is beyond the rungs,
                                                                               or errors from elsewhere are larger

Texts alone do not show whether a label means the same elsewhere. So a forecast stands only where enough rungs are texts
from elsewhere with labels of people; else it holds *if only the topic moves*, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unseen.evaluation.metrics import Metric
from unseen.forecasts.estimators import Answers, estimates, score_of, true_score
from unseen.progress import track
from unseen.seeding import generator
from unseen.types.arrays import Floats, Rows

LEFT_OUT = (0.2, 0.4, 0.6, 0.8)
"""Shares of the words that are left out on the rungs that can be made of any texts; a tenth of a text is none."""
MADE, HELD_OUT, ELSEWHERE = "words left out", "hard split", "known"
"""Kinds of rungs; those of slices are called like the column. Only texts from elsewhere can show whether labels mean
the same there: all others, slices too, are texts of home, which were labelled as it was."""
FEWEST_REAL = 4
"""Rungs of texts from elsewhere without which nobody knows whether labels keep their meaning."""
FEWEST_TEXTS = 30
"""Texts of a rung, at least."""
FARTHEST = 1.25
"""How many times the largest fall that is seen on the ladder a forecast still reaches."""
WIDEST = 0.15
"""Half of an interval that still tells something."""
MADE_SPREAD = 2.0
"""How much farther a forecast errs than rungs with words left out show; measured in docs/results/forecast.md."""
PRIOR = (0.05, 0.5)
"""Standard deviations of what is believed beforehand: estimators err by 5 points, and by half of the fall they see."""
NOISE, NOISE_ROWS = 0.02, 3.0
"""Beforehand the error about the line is 2 points, as if seen on so many rungs."""


@dataclass(frozen=True, eq=False)
class Rung:
    """Shifted texts whose labels are known."""

    name: str
    kind: str
    home: Answers
    """What the model says about labelled texts like those it learnt from."""
    target: Answers

    @property
    def real(self) -> bool:
        """Whether these are texts from elsewhere, not texts of home."""
        return self.kind == ELSEWHERE


def rungs_of_dropped_words(
    home: Answers, ask: Callable[[list[str]], Sequence[Floats]], shares: Sequence[float] = LEFT_OUT, seed: int = 42
) -> list[Rung]:
    """A rung for each share of words that is left out of the texts of home, at random; one word stays.

    `ask` gives what the model says, then what it says from other seeds.
    """
    assert home.texts is not None
    words = [text.split() or [text] for text in home.texts]
    rungs = []
    for share in track(shares, "ladder", len(shares)):
        draw = generator(seed, "words left out", str(share))
        texts = [" ".join(_some(some, share, draw)) for some in words]
        probabilities, *others = ask(texts)
        target = Answers(probabilities, home.labels, texts, tuple(others))
        rungs.append(Rung(f"{share:.0%} of the words left out", MADE, home, target))
    return rungs


def _some(words: list[str], share: float, draw: np.random.Generator) -> list[str]:
    luck = draw.random(len(words))
    return [word for word, kept in zip(words, luck > share, strict=True) if kept] or [words[int(luck.argmax())]]


def rungs_of_slices(home: Answers, values: Sequence[str | None], column: str) -> list[Rung]:
    """A rung for each value of a column that enough texts have, the other texts being its home."""
    names = np.array([value if value is not None else "" for value in values], dtype=object)
    rungs = []
    for name in sorted(set(names) - {""}):
        inside = np.flatnonzero(names == name)
        outside = np.flatnonzero(names != name)
        if min(len(inside), len(outside)) >= FEWEST_TEXTS:
            rungs.append(Rung(f"{column}={name}", column, taken(home, outside), taken(home, inside)))
    return rungs


def taken(answers: Answers, rows: Rows) -> Answers:
    """These rows of some answers."""
    return Answers(
        answers.probabilities[rows],
        None if answers.labels is None else answers.labels[rows],
        None if answers.texts is None else [answers.texts[row] for row in rows],
        tuple(other[rows] for other in answers.others),
    )


@dataclass(frozen=True)
class Forecast:
    """What a metric will be on the target, with a 90 % interval, if only the topic moves."""

    metric: str
    value: float
    low: float
    high: float
    home: float
    """The score at home: what a random split says."""
    estimator: str
    error: float
    """How far it errs on rungs that it was not fitted on, on average; on those from elsewhere where they are enough."""
    constant_error: float
    """How far the mean of the other rungs errs there."""
    spread: float
    """Standard deviation of the forecast."""
    why_not: str
    """Why it cannot be told whether the forecast holds; empty where it can."""

    @property
    def stands(self) -> bool:
        """Whether the forecast holds without further assumptions than those that were tried."""
        return not self.why_not


@dataclass(frozen=True, eq=False)
class Ladder:
    """The rungs of one model, and what every estimator says on each."""

    rungs: Sequence[Rung]
    label_names: Sequence[str]

    @cached_property
    def tables(self) -> list[dict[str, Floats]]:
        """The joint tables of the estimators, rung by rung."""
        return [estimates(rung.home, rung.target) for rung in track(self.rungs, "estimators", len(self.rungs))]

    @cached_property
    def estimators(self) -> list[str]:
        """Those that every rung allows."""
        return [name for name in self.tables[0] if all(name in tables for tables in self.tables)]

    def falls(self, metric: Metric, estimator: str) -> list[RungFall]:
        """Of each rung that has the metric, the fall that an estimator sees, the one there is, and its chance."""
        falls = [
            RungFall.of(rung, score_of(tables[estimator], metric, self.label_names), metric, self.label_names)
            for rung, tables in zip(self.rungs, self.tables, strict=True)
        ]
        return [fall for fall in falls if np.isfinite([fall.seen, fall.true]).all()]

    def left_out_errors(self, metric: Metric, estimator: str) -> Floats:
        """How far an estimator errs on each rung when its line is fitted on the others."""
        falls = self.falls(metric, estimator)
        return np.array([
            Line.of([*falls[:place], *falls[place + 1 :]]).at(fall.seen)[0] - fall.true
            for place, fall in enumerate(falls)
        ])  # fmt: skip

    def forecast(self, metric: Metric, home: Answers, target: Answers, made: Mapping[str, Floats]) -> Forecast:
        """The forecast of a metric; `made` are the tables of `estimates(home, target)`."""
        from scipy.special import stdtrit

        names = [name for name in self.estimators if name in made]
        errors = {name: _mean_size(self.left_out_errors(metric, name)) for name in names}
        best = min(errors, key=lambda name: (errors[name], names.index(name)))
        score = true_score(home, metric, self.label_names)
        seen = score - score_of(made[best], metric, self.label_names)
        falls = self.falls(metric, best)
        fall, spread, free = Line.of(falls).at(seen)
        real = np.array([rung_fall.real for rung_fall in falls])
        enough = real.sum() >= FEWEST_REAL
        left_out, true = self.left_out_errors(metric, best), np.array([rung_fall.true for rung_fall in falls])
        if enough:  # how words that are left out hurt says little about texts from elsewhere: these judge alone
            left_out, true = left_out[real], true[real]
        spread = max(spread, float(np.sqrt((left_out**2).mean()))) if enough else spread * MADE_SPREAD
        value = float(np.clip(score - fall, metric.low, metric.high))
        spread = float(np.hypot(spread, (value * (1 - value) / len(target)) ** 0.5))
        reach = float(stdtrit(free, 0.95)) * spread
        error = _mean_size(left_out)
        constant = _mean_size(true - (true.sum() - true) / max(len(true) - 1, 1))
        farthest = max(rung_fall.seen for rung_fall in falls)
        why_not = _why_not(int(real.sum()), error, constant, seen, farthest, reach)
        low, high = max(metric.low, value - reach), min(metric.high, value + reach)
        return Forecast(metric.id, value, low, high, score, best, error, constant, spread, why_not)


def _mean_size(errors: Floats) -> float:
    return float(np.abs(errors).mean())


def _why_not(real: int, error: float, constant: float, seen: float, farthest: float, reach: float) -> str:
    """Why a forecast does not stand; empty where it does."""
    if real < FEWEST_REAL:
        return "no labelled texts from enough other places show whether labels mean the same elsewhere"
    if error >= constant:
        return "no estimator does better on the ladder than the mean of its other rungs"
    if seen > FARTHEST * max(farthest, NOISE):
        return "the model is less sure there than on any rung of the ladder"
    return "estimators err too much on the ladder for an interval that tells anything" if reach > WIDEST else ""


@dataclass(frozen=True)
class RungFall:
    """What an estimator sees on a rung, and the truth."""

    seen: float
    true: float
    chance: float
    """Variance of the true fall by the luck of its rows."""
    real: bool = False
    """Whether its texts are from elsewhere."""

    @classmethod
    def of(cls, rung: Rung, estimate: float, metric: Metric, label_names: Sequence[str]) -> RungFall:
        """The falls from the score at the rung's home."""
        home, truth = (true_score(side, metric, label_names) for side in (rung.home, rung.target))
        return cls(home - estimate, home - truth, truth * (1 - truth) / len(rung.target), rung.real)


@dataclass(frozen=True, eq=False)
class Line:
    """The true fall as the one that is seen, plus an error that is a line in it: Bayes' rule with `PRIOR`."""

    middle: Floats
    covariance: Floats
    noise: float
    free: float

    @classmethod
    def of(cls, falls: Sequence[RungFall]) -> Line:
        """Fitted on these rungs; chance in their truth counts against them."""
        seen, true, chance = np.array([[fall.seen, fall.true, fall.chance] for fall in falls]).reshape(-1, 3).T
        design, missed = np.column_stack([np.ones(len(seen)), seen]), true - seen
        noise = NOISE**2
        for _ in range(20):
            weights = 1 / (noise + chance)
            covariance = np.linalg.inv((design.T * weights) @ design + np.diag(1 / np.square(PRIOR)))
            middle = covariance @ (design.T * weights) @ missed
            surplus = np.maximum((missed - design @ middle) ** 2 - chance, 0.0).sum()
            noise = (NOISE_ROWS * NOISE**2 + surplus) / (NOISE_ROWS + len(seen))
        return cls(middle, covariance, float(noise), NOISE_ROWS + len(seen) - 1)

    def at(self, seen: float) -> tuple[float, float, float]:
        """The fall where an estimator sees this one, its standard deviation, and degrees of freedom."""
        place = np.array([1.0, seen])
        return (
            float(seen + place @ self.middle), float((self.noise + place @ self.covariance @ place) ** 0.5), self.free
        )  # fmt: skip
