"""Wrong labels told apart from hard texts, by witnesses that have not seen the labels they judge.

::

    models trained without the row, with and without what a first round suspects   p [rows, labels]
      -> made as sure as it is right                    q ~ p^s              how often texts look like another class
      -> which label is given instead of which          T [true, given]      how often labels are wrong
      -> Bayes: P(true | text, given) ~ q[true] T[true, given]               which ones

Sureness `s` and noise `T` are fitted together, so that P(given | text) = Σ q[true] T[true, given] explains the given
labels best. A hard text is one whose q is spread over labels; a wrong label is one that a sure q denies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from unseen.errors import InputError, MismatchError
from unseen.evaluation import Run, fall, metric
from unseen.evaluation.bootstrap import DRAWS
from unseen.evaluation.intervals import Spread, apart, wilson
from unseen.evaluation.measurements import aligned, rows_of
from unseen.progress import track
from unseen.seeding import child_seed, generator
from unseen.splits.split_records import dealt
from unseen.training.features import Vocabulary
from unseen.types import Dataset, Embeddings, Measurement, Origin, Predictions, SuspectLabel
from unseen.types.arrays import Codes, Floats, Mask, Rows
from unseen.types.numbers import percent

SUSPECT = 0.5
"""A label that is more probably wrong than right is suspect."""
UNSURE = 0.1
"""A label that is wrong with a probability between this and one less this may be either."""
AMBIGUOUS = 0.2
"""Share of right labels that the witness expects to get wrong, from which on wrong labels cannot be told."""
ROUND_ONE = 3
"""Folds in which the training rows of a witness judge each other."""
RARE = 10
"""A label with fewer rows is not learnt well enough to be denied."""
IMPUTATIONS = 10
"""Draws of which labels are right, for the corrected fall."""
STEPS, CHANGE = 200, 1e-7
"""Most steps of the fit; the change of the mean log likelihood at which it ends."""


@dataclass(frozen=True, eq=False)
class LabelNoise:
    """How probably each label is wrong."""

    ids: pa.ChunkedArray
    rows: Rows
    """Places in the dataset."""
    given: Codes
    likely: Rows
    """The likeliest other label."""
    wrong: Floats
    """Probability that the given label is wrong."""
    rates: Floats
    """P(given | true) [true, given]."""
    label_names: tuple[str, ...]
    ambiguity: float
    """Share of right labels that the witness expects to get wrong."""

    @property
    def clear(self) -> bool:
        """Whether wrong labels can be told from texts that look like another class.

        They cannot when the witness expects to get a fifth of the *right* labels wrong: then most of what it denies
        is hard, not mislabelled. It misleads when the classes are clear to people but not to the witness (irony,
        knowledge of the world): labels that a better witness could judge are refused. And it passes data whose
        annotators erred in one direction throughout: consistent errors look like a clear class.
        """
        return self.ambiguity < AMBIGUOUS

    @property
    def why(self) -> str:
        """`clear` in a sentence."""
        share = percent(self.ambiguity, places=0)
        expected = f"models that have not seen them expect to get {share} of right labels wrong"
        if self.clear:
            return f"Classes are clear enough to tell wrong labels from hard texts: {expected}."
        return f"Wrong labels cannot be told from hard texts here: {expected}. People must read them."

    @cached_property
    def suspects(self) -> list[SuspectLabel]:
        """Labels that are more probably wrong than right, the most suspect first; by id where equal."""
        places = np.flatnonzero(self.wrong > SUSPECT)
        ids = self.ids.take(pa.array(places)).to_pylist()
        names = self.label_names
        suspects = [
            SuspectLabel(name, names[self.given[place]], names[self.likely[place]], float(self.wrong[place]))
            for name, place in zip(ids, places, strict=True)
        ]
        return sorted(suspects, key=lambda suspect: (-suspect.confidence, suspect.id))

    def share(self, rows: npt.ArrayLike | None = None, tags: Mapping[str, Any] | None = None) -> Measurement:
        """`label_noise`: the expected share of wrong labels among `rows` of the dataset, with an interval.

        It is the mean probability, not the share of suspects, which leaves out the wrong labels that are not found.
        The interval reaches from Wilson's lower bound with all unsure labels right to his upper one with all wrong:
        with many rows the error of the witness, not the number of rows, is what makes the share uncertain. Where
        `clear` is false the number means nothing.
        """
        wrong = self.wrong if rows is None else self.of(rows).wrong
        unsure, n = (wrong > UNSURE) & (wrong < 1 - UNSURE), len(wrong)
        low, high = (wilson(float(np.where(unsure, either, wrong).sum()), n)[either] for either in (0, 1))
        return Measurement("label_noise", float(wrong.mean()), n, low, high, tags=dict(tags or {}))

    def suspect_rows(self, rows: npt.ArrayLike) -> Rows:
        """Those of `rows` whose label is suspect, the most suspect first."""
        judged = self.of(rows)
        order = np.argsort(-judged.wrong, kind="stable")
        return judged.rows[order[judged.wrong[order] > SUSPECT]]

    def drawn_right(self, draw: np.random.Generator) -> Mask:
        """Which labels are right in one draw from the probabilities; the order of rows decides nothing."""
        by_id = pc.sort_indices(self.ids).to_numpy()
        luck = np.empty(len(by_id))
        luck[by_id] = draw.random(len(by_id))
        return np.asarray(luck >= self.wrong)

    def places(self, rows: npt.ArrayLike) -> Rows:
        """Where these rows of the dataset stand here."""
        order = np.argsort(self.rows)
        at = np.searchsorted(self.rows, rows, sorter=order)
        places = order[np.minimum(at, len(order) - 1)]
        if not np.array_equal(self.rows[places], rows):
            raise MismatchError("label noise was not looked for in all of these rows")
        return places

    def of(self, rows: npt.ArrayLike) -> LabelNoise:
        """The judgement on these rows of the dataset, in this order."""
        places = self.places(rows)
        return replace(
            self,
            ids=self.ids.take(pa.array(places)),
            rows=self.rows[places],
            given=self.given[places],
            likely=self.likely[places],
            wrong=self.wrong[places],
        )


def label_noise(
    data: Dataset,
    rows: npt.ArrayLike | None = None,
    *,
    vectors: Embeddings | None = None,
    folds: int = 5,
    seed: int = 42,
) -> LabelNoise:
    """How probably the labels of `rows` (default: all) are wrong, by what `witnessed` says."""
    noise = label_noise_of(data, witnessed(data, rows, vectors=vectors, folds=folds, seed=seed))
    return noise if rows is None else noise.of(rows)


def label_noise_of(data: Dataset, witness: Predictions) -> LabelNoise:
    """How probably the labels of the rows are wrong that a witness was asked about, which had not seen them."""
    rows = rows_of(data, witness)
    by_id = data.by_id[np.isin(data.by_id, rows)]  # the order of rows decides nothing
    return judged(data, by_id, aligned(data, witness, by_id)).of(rows)


def witnessed(
    data: Dataset,
    rows: npt.ArrayLike | None = None,
    *,
    vectors: Embeddings | None = None,
    folds: int = 5,
    seed: int = 42,
) -> Predictions:
    """What a witness that has not seen their labels says about `rows` (default: all).

    It is logistic regression on TF-IDF of words and pieces of words, or on `vectors` of all of `data`; vectors
    of a model that was trained on these labels have learnt the wrong ones too, and are no witness. Each row is judged
    by a model that has seen neither its label nor what its label did to others: the first round, in which the training
    rows judge each other and suspects are left out, is made anew for each fold. (Made once for all, a wrong label
    would get its right neighbours left out, and be believed.) The cost is five trainings per fold.
    """
    by_id = data.by_id if rows is None else data.by_id[np.isin(data.by_id, np.asarray(rows))]
    if not 2 <= folds <= len(by_id):
        raise InputError("folds must be at least 2 and at most the rows", got=f"{folds} folds of {len(by_id)} rows")
    chosen = data.take(by_id)
    if vectors is None:
        texts = chosen.texts.to_pylist()
        witness = Witness(chosen, Vocabulary.of(texts).transform(texts), 10.0, seed)
    else:
        witness = Witness(chosen, _standardised(vectors.vectors[by_id]), 0.1, seed)
    origin = Origin("witnessed", {"folds": folds, "features": "tfidf" if vectors is None else "vectors"}, seed)
    return Predictions(chosen.ids, witness.without_suspects(folds), data.label_names, origin)


@dataclass(frozen=True, eq=False)
class Witness:
    """Logistic regression that judges rows it was not trained on."""

    data: Dataset
    features: Any
    """Dense or sparse [rows, numbers]."""
    C: float
    """Need not fit how sure the answers are to be: that is fitted by `noise_model`."""
    seed: int

    def without_suspects(self, folds: int) -> Floats:
        """Probabilities of each row from training on the other folds, with and without the suspects of a first round.

        The geometric mean of both: without suspects a model is purer, with them it knows more of what is rare.
        """
        means, fold = np.empty((len(self.data), len(self.data.label_names))), dealt(self.data, folds, self.seed)
        for number in track(range(folds), "label noise", folds):
            held, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            doubted = judged(self.data, others, self.first_round(others, number)).wrong > SUSPECT
            means[held] = np.sqrt(self.answers(others, held) * self.answers(others[~doubted], held))
        return np.asarray(means / means.sum(axis=1, keepdims=True))

    def first_round(self, rows: Rows, number: int) -> Floats:
        """Probabilities of `rows` from training on others of them."""
        probabilities = np.empty((len(rows), len(self.data.label_names)))
        fold = dealt(self.data.take(rows), ROUND_ONE, child_seed(self.seed, "first round", number))
        for part in range(ROUND_ONE):
            probabilities[fold == part] = self.answers(rows[fold != part], rows[fold == part])
        return probabilities

    def answers(self, train: Rows, held: Rows) -> Floats:
        """Probabilities of `held` from training on `train`; zero for a label without rows there.

        From one label nothing is learnt about the others: then all are as probable.
        """
        from sklearn.linear_model import LogisticRegression

        labels, probabilities = self.data.labels[train], np.zeros((len(held), len(self.data.label_names)))
        present = np.unique(labels)
        if len(present) < 2 or not len(held):
            return np.full_like(probabilities, 1 / len(self.data.label_names))
        with threadpool_limits(1, user_api="blas"):  # the same sums on one thread and on many
            model = LogisticRegression(C=self.C, max_iter=500).fit(self.features[train], labels)
            probabilities[:, present] = model.predict_proba(self.features[held])
        return probabilities


def _standardised(vectors: npt.NDArray[np.float32]) -> Floats:
    spread = vectors.std(axis=0, dtype=np.float64)
    return np.asarray((vectors - vectors.mean(axis=0, dtype=np.float64)) / np.where(spread > 0, spread, 1.0))


def judged(data: Dataset, rows: Rows, probabilities: Floats) -> LabelNoise:
    """The judgement on `rows` of a witness that gives their labels these probabilities."""
    given = data.labels[rows]
    sure, rates = noise_model(probabilities, given)
    truth = posterior(sure, rates, given)
    own = np.arange(len(rows)), given
    wrong = 1 - truth[own]
    rare = np.bincount(given, minlength=len(rates))[given] < RARE
    wrong[rare] = wrong[~rare].mean() if not rare.all() else 0.0
    truth[own] = -1.0
    ambiguity = float(1 - sure.max(axis=1).mean())
    ids = data.ids.take(pa.array(rows))
    return LabelNoise(ids, rows, given, truth.argmax(axis=1), wrong, rates, data.label_names, ambiguity)


def noise_model(probabilities: Floats, given: Codes) -> tuple[Floats, Floats]:
    """The sure probabilities q [rows, labels] and noise rates T [true, given] that explain the given labels best.

    Expectation–maximisation; in each step the sureness is the best one for the rates so far. With few rows of a label
    its row of T leans on what holds for all: the rates are counted together with one imagined row per label, wrong as
    often as all are and then mostly of a frequent label.
    """
    from scipy.optimize import minimize_scalar

    n, k = probabilities.shape
    if len(given) != n or not n or k < 2:
        raise InputError("label noise needs a label per row and two labels", got=f"{len(given)} labels, {n} × {k}")
    logs = np.log(np.clip(probabilities, 1 / n**2, 1.0))
    same = np.eye(k)
    others = (1 - same) * (np.bincount(given, minlength=k) + 1.0)
    others /= others.sum(axis=1, keepdims=True)
    rates, before = 0.95 * same + 0.05 * others, -np.inf
    for _ in range(STEPS):
        likelihood = rates[:, given].T

        def loss(logarithm: float, likelihood: Floats = likelihood) -> float:
            return -float(np.log((_sure(logs, logarithm) * likelihood).sum(axis=1)).mean())

        best = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded", options={"xatol": 1e-3})
        sure = _sure(logs, best.x)
        truth = posterior(sure, rates, given)
        counts = np.array([np.bincount(given, weights=column, minlength=k) for column in truth.T])
        wrong = 1 - float(np.trace(counts)) / n
        rates = counts + k * ((1 - wrong) * same + wrong * others)
        rates /= rates.sum(axis=1, keepdims=True)
        if -best.fun - before < CHANGE:
            break
        before = -best.fun
    return sure, rates


def posterior(sure: Floats, rates: Floats, given: Codes) -> Floats:
    """P(true | text, given) [rows, labels], by Bayes from P(true | text) and P(given | true)."""
    joint = sure * rates[:, given].T
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _sure(logs: Floats, logarithm: float) -> Floats:
    return np.asarray(softmax(np.exp(logarithm) * logs, axis=1))


def corrected_fall(
    noise: LabelNoise,
    control: Sequence[tuple[Run, Rows]],
    hard: Sequence[tuple[Run, Rows]],
    metric_id: str,
    *,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Measurement:
    """`fall.corrected.METRIC`: the fall from `control` to `hard`, each run with its rows, among right labels alone.

    Which labels are right is drawn several times by their probabilities, the others are left out on both sides, and
    the falls are put together by Rubin's rules: their mean, with the variance of one and that between them. (Leaving
    out all suspects would forgive the scored models the hard texts among them.) Nothing is circular: the scored models
    have no say in who is suspect. But the witness is a classifier too, and errors that it shares with them are
    forgiven, so the fall is rather too small. No value where a draw leaves nothing.
    """
    places = [noise.places(rows) for _, rows in (*control, *hard)]
    falls = []
    for number in range(IMPUTATIONS):
        right = noise.drawn_right(generator(seed, "right labels", number))
        kept = [right[rows] for rows in places]
        if not all(mask.any() for mask in kept):
            break
        runs = [run.only(mask) for (run, _), mask in zip((*control, *hard), kept, strict=True)]
        before, after = runs[: len(control)], runs[len(control) :]
        falls.append(fall(before, after, metric_id, tags=tags, draws=draws, seed=seed))
    values = [row.value for row in falls if row.value is not None]
    name = f"fall.corrected.{metric_id}"
    if len(values) < IMPUTATIONS:
        return Measurement(name, None, 0, tags=dict(tags or {}))
    errors = [float(row.tags["standard_error"]) for row in falls if "standard_error" in row.tags]
    value, low, high = float(np.mean(values)), None, None
    if len(errors) == IMPUTATIONS:
        variance = np.mean(np.square(errors)) + (1 + 1 / IMPUTATIONS) * np.var(values, ddof=1)
        df = float(np.mean([float(row.tags["df"]) for row in falls]))
        chosen = metric(metric_id)
        low, high = apart(value, Spread(float(variance**0.5), df), chosen.high - chosen.low)
    return Measurement(name, value, falls[0].n, low, high, tags=dict(tags or {}))
