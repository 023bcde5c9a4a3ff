"""Scores without labels: what a model's own answers to new texts say about how many of them are right.

An estimator is a pure function of labelled answers from home, which the model was not trained on, and of answers to the
target. It gives a joint table [true label, predicted label] that sums to one, from which every metric of labels
follows. None sees a change of what a label means: their errors are measured on a ladder (`ladder.py`), not assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import softmax

from unseen.errors import InputError
from unseen.evaluation.f_scores import tally
from unseen.evaluation.metrics import Metric
from unseen.registry import Registry
from unseen.seeding import generator
from unseen.training.labelled_texts import log_loss
from unseen.types.arrays import Codes, Floats

ESTIMATORS = Registry(
    "estimator",
    {
        "average-confidence.v1": "unseen.forecasts.estimators:average_confidence",
        "difference-of-confidence.v1": "unseen.forecasts.estimators:difference_of_confidence",
        "threshold-confidence.v1": "unseen.forecasts.estimators:threshold_confidence",
        "threshold-entropy.v1": "unseen.forecasts.estimators:threshold_entropy",
        "transport.v1": "unseen.forecasts.estimators:transport",
        "importance-weighting.v1": "unseen.forecasts.estimators:importance_weighting",
        "label-shift.v1": "unseen.forecasts.estimators:label_shift",
        "agreement.v1": "unseen.forecasts.estimators:agreement",
    },
)
SMALLEST = 1e-12
MOST_TRANSPORTED = 1_000
"""Texts of the target whose answers are transported exactly where there are more than two labels."""
MOST_COMPARED = 1_000
"""Texts of either side from which the domain classifier of importance weighting learns."""
LARGEST_WEIGHT = 20.0
"""A row of home stands for at most so many times its share."""
STEPS = 200


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says about some texts, and their labels where they are known."""

    probabilities: Floats
    """[texts, labels]"""
    labels: Codes | None = None
    texts: Sequence[str] | None = None
    others: Sequence[Floats] = ()
    """What the same recipe says from other seeds."""

    def __len__(self) -> int:
        return len(self.probabilities)

    @property
    def predicted(self) -> Codes:
        """The label that is given."""
        return self.probabilities.argmax(axis=1)

    @property
    def known(self) -> Codes:
        """The labels, which must be there."""
        if self.labels is None:
            raise InputError("these answers have no labels to be compared with")
        return self.labels

    @property
    def joint(self) -> Floats:
        """The shares [true, predicted] of labelled answers."""
        return joint_of(self.known, self.predicted, self.probabilities.shape[1])


def joint_of(labels: Codes, predicted: Codes, k: int, weights: Floats | None = None) -> Floats:
    """The shares [true, predicted] of rows, each counted as often as its weight says."""
    cells = np.bincount(labels * k + predicted, weights=weights, minlength=k * k).astype(np.float64)
    return np.asarray(cells.reshape(k, k) / cells.sum())


def score_of(joint: Floats, metric: Metric, label_names: Sequence[str]) -> float:
    """A metric of labels, of a joint table; NaN where it has no value."""
    if metric.of_counts is None:
        raise InputError(f"{metric.id} is not decided by labels alone", expected="accuracy, or an F-score")
    return float(metric.of_counts(np.stack([joint.diagonal(), joint.sum(axis=0), joint.sum(axis=1)]), label_names))


def true_score(answers: Answers, metric: Metric, label_names: Sequence[str]) -> float:
    """The metric of labelled answers."""
    counts = tally(answers.known, answers.predicted, answers.probabilities.shape[1])
    return float(metric.of_counts(counts, label_names)) if metric.of_counts is not None else np.nan


# -- how sure the model is ---------------------------------------------------------------------------------------------


def calibrated(home: Answers, *others: Floats) -> list[Floats]:
    """Probabilities as sure as the model is right at home: temperature scaling, fitted on `home`, of it and others."""
    from scipy.optimize import minimize_scalar

    logs = np.log(np.clip(home.probabilities, SMALLEST, 1.0))
    rows = np.arange(len(home))

    def loss(logarithm: float) -> float:
        return float(log_loss(softmax(np.exp(logarithm) * logs, axis=1)[rows, home.known], np.ones(len(home))))

    factor = np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x)
    return [softmax(factor * np.log(np.clip(some, SMALLEST, 1.0)), axis=1) for some in (home.probabilities, *others)]


def average_confidence(home: Answers, target: Answers) -> Floats:
    """The model's own probabilities, made as sure as it is right at home, taken for the truth."""
    _, sure = calibrated(home, target.probabilities)
    return _expected(sure, target.predicted)


def difference_of_confidence(home: Answers, target: Answers) -> Floats:
    """The accuracy at home, less as much as the model is less sure here (Guillory et al. 2021)."""
    at_home, here = calibrated(home, target.probabilities)
    accuracy = (home.predicted == home.known).mean() - at_home.max(axis=1).mean() + here.max(axis=1).mean()
    return with_accuracy(_expected(here, target.predicted), float(accuracy))


def threshold_confidence(home: Answers, target: Answers) -> Floats:
    """As many are right as are surer than the threshold above which as many are sure as right at home (ATC)."""
    at_home, here = calibrated(home, target.probabilities)
    return _above_threshold(home, target, at_home.max(axis=1), here.max(axis=1), here)


def threshold_entropy(home: Answers, target: Answers) -> Floats:
    """ATC on negative entropy in place of the highest probability (Garg et al. 2022)."""
    at_home, here = calibrated(home, target.probabilities)
    return _above_threshold(home, target, _negative_entropy(at_home), _negative_entropy(here), here)


def _negative_entropy(probabilities: Floats) -> Floats:
    return np.asarray((probabilities * np.log(np.clip(probabilities, SMALLEST, 1.0))).sum(axis=1))


def _above_threshold(home: Answers, target: Answers, at_home: Floats, here: Floats, sure: Floats) -> Floats:
    """The joint table whose accuracy is the share of the target above the threshold of home."""
    threshold = np.quantile(at_home, 1 - (home.predicted == home.known).mean())
    return with_accuracy(_expected(sure, target.predicted), float((here >= threshold).mean()))


def _expected(probabilities: Floats, predicted: Codes) -> Floats:
    """The joint table where the probabilities are the truth."""
    given = np.eye(probabilities.shape[1])[predicted]
    return np.asarray(probabilities.T @ given / len(given))


def with_accuracy(joint: Floats, accuracy: float) -> Floats:
    """A joint table with this accuracy and the same predicted shares: hits, or errors, of all labels shrink alike."""
    accuracy, predicted, right = float(np.clip(accuracy, 0.0, 1.0)), joint.sum(axis=0), joint.diagonal()
    total = right.sum()
    if accuracy <= total:
        right = right * (accuracy / max(total, SMALLEST))
    else:
        right = predicted - (predicted - right) * ((1 - accuracy) / max(1 - total, SMALLEST))
    errors = joint - np.diag(joint.diagonal()) + SMALLEST * (1 - np.eye(len(joint)))
    return np.asarray(np.diag(right) + errors / errors.sum(axis=0) * (predicted - right))


# -- what the labels at home say ---------------------------------------------------------------------------------------


def transport(home: Answers, target: Answers) -> Floats:
    """The cheapest way to give the target labels in the mix of home; what it costs is wrong (COT, Lu et al. 2023).

    It knows that not all texts can be of the label that the model now gives, and misleads where the mix has changed.
    """
    k = home.probabilities.shape[1]
    _, here = calibrated(home, target.probabilities)
    mix = np.bincount(home.known, minlength=k) / len(home)
    rows, labels = _ranked(here, mix) if k == 2 else _assigned(here, mix)
    sure = here[rows]
    return with_accuracy(_expected(sure, target.predicted[rows]), float(sure[np.arange(len(rows)), labels].mean()))


def _ranked(probabilities: Floats, mix: Floats) -> tuple[Codes, Codes]:
    """Every row, and of two labels the one that the mix leaves it by its rank."""
    labels = np.zeros(len(probabilities), np.int64)
    labels[np.argsort(-probabilities[:, 1], kind="stable")[: round(mix[1] * len(labels))]] = 1
    return np.arange(len(labels)), labels


def _assigned(probabilities: Floats, mix: Floats) -> tuple[Codes, Codes]:
    """Some rows, and their labels in the mix, for the highest sum of probabilities."""
    from scipy.optimize import linear_sum_assignment

    size = min(len(probabilities), MOST_TRANSPORTED)
    rows = np.sort(generator(0, "transport").permutation(len(probabilities))[:size])
    ends = np.round(np.cumsum(mix) * size).astype(np.int64)
    seats = np.searchsorted(ends, np.arange(size), side="right")
    _, places = linear_sum_assignment(-probabilities[rows][:, seats])
    return rows, seats[places]


def importance_weighting(home: Answers, target: Answers) -> Floats:
    """The score at home with each text counted as often as a classifier takes it for one of the target."""
    weights, _ = domain_weights(home, target)
    return joint_of(home.known, home.predicted, home.probabilities.shape[1], weights)


@lru_cache(maxsize=32)  # estimators and prediction sets ask for the same
def domain_weights(home: Answers, target: Answers) -> tuple[Floats, Floats]:
    """How many texts of the target a text like each of home, and of the target, stands for.

    They are the odds of a classifier of words that has not seen the text, at most `LARGEST_WEIGHT`; 1 is the mean of
    home, and all there is to say where a side has a single text.
    """
    from scipy.sparse import vstack
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression

    if home.texts is None or target.texts is None:
        raise InputError("importance weighting compares texts, and there are none")
    if min(len(home), len(target)) < 2:
        return np.ones(len(home)), np.ones(len(target))
    words = HashingVectorizer(n_features=2**16, alternate_sign=False)
    sides = [words.transform(home.texts), words.transform(target.texts)]
    draw, odds = generator(0, "domain weights"), [np.empty(len(home)), np.empty(len(target))]
    halves = [draw.permutation(len(side)) % 2 for side in odds]
    for half in (0, 1):
        learnt = [np.flatnonzero(of_side != half)[:MOST_COMPARED] for of_side in halves]
        features = vstack([side[rows] for side, rows in zip(sides, learnt, strict=True)])
        labels = np.repeat([0, 1], [len(rows) for rows in learnt])
        model = LogisticRegression(C=10.0, class_weight="balanced").fit(features, labels)
        for side, of_side, values in zip(sides, halves, odds, strict=True):
            values[of_side == half] = np.exp(model.decision_function(side[of_side == half]))
    mean = odds[0].mean()
    return tuple(np.clip(values / mean, SMALLEST, LARGEST_WEIGHT) for values in odds)  # type: ignore[return-value]


def label_shift(home: Answers, target: Answers) -> Floats:
    """The errors at home of each label, with the mix that explains the answers here best (Saerens et al. 2002)."""
    k = home.probabilities.shape[1]
    _, here = calibrated(home, target.probabilities)
    mix = (np.bincount(home.known, minlength=k) + SMALLEST) / len(home)
    now = mix.copy()
    for _ in range(STEPS):
        posterior = here * (now / mix)
        posterior /= posterior.sum(axis=1, keepdims=True)
        before, now = now, posterior.mean(axis=0)
        if np.abs(now - before).max() < 1e-6:
            break
    rates = home.joint / np.maximum(home.joint.sum(axis=1, keepdims=True), SMALLEST)
    return np.asarray(now[:, None] * rates / max((now[:, None] * rates).sum(), SMALLEST))


def agreement(home: Answers, target: Answers) -> Floats:
    """As many are right as models from other seeds agree on (Jiang et al. 2022); needs such models."""
    if not target.others:
        raise InputError("agreement needs answers from other seeds")
    _, here = calibrated(home, target.probabilities)
    agreed = np.mean([(other.argmax(axis=1) == target.predicted).mean() for other in target.others])
    return with_accuracy(_expected(here, target.predicted), float(agreed))


def estimates(home: Answers, target: Answers) -> dict[str, Floats]:
    """The joint table of every estimator that these answers allow, by name."""
    tables = {}
    for name in ESTIMATORS:
        if name == "agreement" and not target.others:
            continue
        if name == "importance-weighting" and (home.texts is None or target.texts is None):
            continue
        tables[name] = ESTIMATORS.get(name)(home, target)
    return tables
