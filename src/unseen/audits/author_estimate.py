"""An estimate of how many test rows share their author with training, where no author is known.

Authorship attribution as a probe: each test row is paired with the training row whose style is nearest, and a
verifier says whether one author wrote both. It learns that from another dataset whose authors are known, and its
rates of right and false alarms there turn what it says here into a share (the adjusted count of Forman 2008).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.audits.authors import Writers
from unseen.data.groups import NONE
from unseen.errors import InputError
from unseen.evaluation.bootstrap import percentiles
from unseen.progress import track
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, Split
from unseen.types.arrays import Floats, Mask, Rows

MOST = 12_000
"""Rows of a dataset that are looked at; of a larger one, so many at random."""
FOLDS = 5
TRIALS = 10
"""How often the probe is tried on half of the calibration authors, with their names hidden."""
DRAWS = 1_000
TELLS = 0.1
"""A verifier whose rates of right and false alarms are nearer than this tells nothing."""
FEWEST_AUTHORS = 20
GRAMS, FEATURES = (2, 4), 2**17
FREQUENT = 100
"""So many of the commonest words of the texts stand for function words, of whatever language."""
MARKS = ".,;:!?'\"-()…*/#@&"
AT_ONCE = 256
WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Style:
    """The style of several texts: character n-grams, use of the commonest words, and habits of writing."""

    grams: Any
    """Sparse [texts, features], rows of length one."""
    words: Floats
    """[texts, words], rows of length one, or zero."""
    habits: Floats
    """[texts, habits]: length, length of words, capitals, digits, and every mark, per character."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> Style:
        """The style of these texts; weights of n-grams and the commonest words come from them all together."""
        from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
        from sklearn.preprocessing import normalize

        counts = HashingVectorizer(
            analyzer="char", ngram_range=GRAMS, n_features=FEATURES, lowercase=False, alternate_sign=False, norm=None
        ).transform(texts)
        grams = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
        words = CountVectorizer(token_pattern=r"(?u)\b\w+\b", max_features=FREQUENT)
        try:
            used = normalize(words.fit_transform(texts).astype(np.float64)).toarray()
        except ValueError:  # no text has a word
            used = np.zeros((len(texts), 1))
        return cls(grams.tocsr(), used, np.array([_habits(text) for text in texts]).reshape(len(texts), -1))

    def nearest(self, rows: Rows, among: Rows) -> Rows:
        """For each of `rows`, the row `among` others whose n-grams are most like."""
        others = self.grams[among].T.tocsc()
        nearest = np.empty(len(rows), np.intp)
        for start in range(0, len(rows), AT_ONCE):
            likeness = (self.grams[rows[start : start + AT_ONCE]] @ others).toarray()
            nearest[start : start + AT_ONCE] = among[likeness.argmax(axis=1)]
        return nearest

    def likeness(self, one: Rows, other: Rows) -> Floats:
        """Pairs of texts [pairs, features]: likeness of n-grams and of words, and how far each habit differs."""
        grams = np.asarray(self.grams[one].multiply(self.grams[other]).sum(axis=1)).reshape(-1, 1)
        words = (self.words[one] * self.words[other]).sum(axis=1, keepdims=True)
        shorter = np.minimum(self.habits[one, :1], self.habits[other, :1])
        return np.hstack([grams, words, shorter, np.abs(self.habits[one] - self.habits[other])])


def _habits(text: str) -> list[float]:
    n, words = max(1, len(text)), WORD.findall(text)
    mean_word = sum(map(len, words)) / max(1, len(words))
    capitals, digits = sum(map(str.isupper, text)), sum(map(str.isdigit, text))
    return [float(np.log1p(n)), mean_word, capitals / n, digits / n, *(text.count(mark) / n for mark in MARKS)]


@dataclass(frozen=True, eq=False)
class Nearest:
    """The test rows of one dataset, each with its stylistically nearest training row."""

    likeness: Floats
    author: Rows
    """Of the test row; -1 where nobody knows."""
    same: Mask
    """Whether one author wrote both; meaningless without authors."""

    @classmethod
    def of(cls, style: Style, test: Rows, train: Rows, author: Rows) -> Nearest:
        """Each of `test` with the nearest of `train`."""
        partner = style.nearest(test, train)
        return cls(style.likeness(test, partner), author[test], author[test] == author[partner])


@dataclass(frozen=True, eq=False)
class Verifier:
    """What says whether one author wrote both of two texts, and what it is worth."""

    model: Any
    alarms: Mask
    """Whether it took calibration pairs, of authors it was not trained on, for one author's."""
    truth: Mask
    author: Rows

    @classmethod
    def learnt(cls, pairs: Nearest, seed: int) -> Verifier | None:
        """Trained on these pairs, and judged on authors left out in turn; None where all pairs are alike."""
        if len(np.unique(pairs.same)) < 2:
            return None
        authors = np.unique(pairs.author)
        fold_of = generator(seed, "verifier").permutation(len(authors)) % FOLDS
        fold = fold_of[np.searchsorted(authors, pairs.author)]
        alarms = np.zeros(len(fold), bool)
        for number in range(FOLDS):
            held = fold == number
            if len(np.unique(pairs.same[~held])) == 2 and held.any():
                alarms[held] = _fitted(pairs, ~held).predict(pairs.likeness[held])
        return cls(_fitted(pairs, np.ones(len(fold), bool)), alarms, pairs.same, pairs.author)

    @property
    def rates(self) -> tuple[float, float]:
        """Share of the pairs of one author that it finds, and of the others that it takes for such."""
        return float(self.alarms[self.truth].mean()), float(self.alarms[~self.truth].mean())

    @property
    def precision(self) -> float | None:
        """Share of the pairs it takes for one author's that are."""
        return float(self.truth[self.alarms].mean()) if self.alarms.any() else None

    def alarm_share(self, pairs: Nearest) -> float:
        """Share of these pairs that it takes for one author's."""
        return float(self.model.predict(pairs.likeness).mean())

    def share(self, pairs: Nearest) -> float | None:
        """The estimated share of these pairs that one author wrote; None where the verifier tells nothing."""
        raw = behind_alarms(self.alarm_share(pairs), *self.rates)
        return None if raw is None else min(1.0, max(0.0, raw))

    def drawn(self, pairs: Nearest, seed: int) -> Floats:
        """The estimate with the pairs, and whole calibration authors, drawn anew [draws]; NaN where there is none.

        It may lie below 0 or above 1.
        """
        draw, here = generator(seed, "probe"), self.model.predict(pairs.likeness)
        unit = np.unique(self.author, return_inverse=True)[1].reshape(-1)
        units, shares = int(unit.max()) + 1, np.full(DRAWS, np.nan)
        for number in range(DRAWS):
            times = np.bincount(draw.integers(units, size=units), minlength=units)[unit]
            hits, others = times * self.truth, times * ~self.truth
            if not hits.sum() or not others.sum():
                continue
            rates = (hits @ self.alarms) / hits.sum(), (others @ self.alarms) / others.sum()
            share = behind_alarms(float(here[draw.integers(len(here), size=len(here))].mean()), *rates)
            shares[number] = np.nan if share is None else share
        return shares


def behind_alarms(alarms: float, found: float, false: float) -> float | None:
    """The share behind a share of alarms, given the rates of right and of false ones; None where these are too near.

    >>> round(behind_alarms(0.35, 0.8, 0.2), 3)
    0.25
    """
    return None if found - false < TELLS else (alarms - false) / (found - false)


def bounds_of(drawn: Floats) -> tuple[float, float] | None:
    """The 95 % interval of an estimate, within 0 and 1; None where hardly any draw is.

    Then there are fewer alarms than false ones alone would be, or more than right ones: the calibration does not fit.
    """
    bounds = percentiles(drawn)
    if bounds is None or bounds[1] < 0 or bounds[0] > 1:
        return None
    return max(0.0, bounds[0]), min(1.0, bounds[1])


def estimate_shared_authors(
    data: Dataset, split: Split, calibration: Dataset, author: str, *, seed: int = 42
) -> list[Measurement]:
    """`estimate.shared_author`: the share of test rows whose stylistically nearest training row has their author.

    It is an ESTIMATE. Style is learnt from `calibration`, whose attribute `author` names authors. With it come
    `estimate.error`, the mean absolute error of the same estimate on halves of the calibration authors whose names
    were hidden from it (cut at random, or by whole authors: whichever is estimated worse), and
    `verifier.precision`, `verifier.recall` and `verifier.false_alarms` on calibration authors it did not learn from.
    There is no value when the verifier tells nothing, or raises fewer alarms here than false ones alone would be:
    then the calibration data are too unlike. The error holds for data like the calibration data: texts of another
    length, platform or language may be estimated worse. Texts of one conversation are alike whoever writes them.
    """
    split = split.of(data)
    train, test = split.rows("train", "dev"), split.rows("test")
    if not len(train) or not len(test):
        raise InputError("the estimate needs a train and a test part", got=str(split.sizes))
    known = Calibration.of(calibration, author, len(test) / (len(train) + len(test)), seed)
    rows = _sample(split.rows("train", "dev", "test"), data, seed)
    style, is_test = Style.of(data.take(rows).texts.to_pylist()), np.isin(rows, test)
    here = Nearest.of(style, np.flatnonzero(is_test), np.flatnonzero(~is_test), np.full(len(rows), NONE))
    verifier = Verifier.learnt(known.pairs(np.ones(known.authors, bool), seed), seed)
    tags = {"kind": "estimate", "calibration": calibration.name}
    nothing = Measurement("estimate.shared_author", None, 0, tags=tags)
    if verifier is None:
        return [nothing]
    value, bounds = verifier.share(here), bounds_of(verifier.drawn(here, seed))
    estimate = [nothing]
    if value is not None and bounds is not None:
        errors = known.errors(seed)
        worst = max((float(np.mean(of_kind)) for of_kind in errors if of_kind), default=None)
        estimate = [
            Measurement("estimate.shared_author", value, len(here.same), *bounds, tags=tags),
            Measurement("estimate.error", worst, sum(map(len, errors)), tags=tags),
        ]
    (recall, false_alarms), n, precision = verifier.rates, len(verifier.truth), verifier.precision
    return [
        *estimate,
        Measurement("verifier.precision", precision, 0 if precision is None else n, tags=tags),
        Measurement("verifier.recall", recall, n, tags=tags),
        Measurement("verifier.false_alarms", false_alarms, n, tags=tags),
        Measurement("verifier.alarms_here", verifier.alarm_share(here), len(here.same), tags=tags),
    ]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A dataset with known authors, its style, and how much of it plays the test part."""

    style: Style
    author: Rows
    share: float

    @classmethod
    def of(cls, data: Dataset, author: str, share: float, seed: int) -> Calibration:
        """The rows of `data` whose author is known; refuses data with too few authors."""
        writers = Writers.of(data, author)
        rows = _sample(np.flatnonzero(writers.known), data, seed)
        codes = np.unique(writers.code[rows], return_inverse=True)[1].reshape(-1)
        if not len(rows) or codes.max() + 1 < FEWEST_AUTHORS:
            raise InputError(
                f"{data.name} has too few known authors to calibrate an estimate", expected=f"at least {FEWEST_AUTHORS}"
            )
        return cls(Style.of(data.take(rows).texts.to_pylist()), codes, share)

    @property
    def authors(self) -> int:
        """Known authors."""
        return int(self.author.max()) + 1

    def pairs(self, of: Mask, seed: int, apart: bool = False) -> Nearest:
        """The rows of these authors cut at random, or by whole authors; each test row with its nearest training row."""
        rows, draw = np.flatnonzero(of[self.author]), generator(seed, "cut")
        lots = draw.random(self.authors)[self.author[rows]] if apart else draw.random(len(rows))
        tested = lots < self.share
        return Nearest.of(self.style, rows[tested], rows[~tested], self.author)

    def errors(self, seed: int) -> tuple[list[float], list[float]]:
        """How wrong the estimate is on one half of the authors, learnt from the other half: a number per trial.

        First of trials that cut the hidden half at random, then of those that cut it by whole authors: 0 is right.
        """
        errors: tuple[list[float], list[float]] = ([], [])
        for trial in track(range(TRIALS), "try the estimate on hidden authors", TRIALS):
            half = generator(seed, "half", trial).permutation(self.authors) % 2 == 0
            known, hidden = self.pairs(half, seed + trial), self.pairs(~half, seed + trial, trial % 2 == 1)
            verifier = Verifier.learnt(known, seed) if len(known.same) and len(hidden.same) else None
            share = None if verifier is None else verifier.share(hidden)
            if share is not None:
                errors[trial % 2].append(abs(share - float(hidden.same.mean())))
        return errors


def _sample(rows: Rows, data: Dataset, seed: int) -> Rows:
    """These rows in the order of their ids; of many, some at random."""
    ordered = data.by_id[np.isin(data.by_id, rows)]
    if len(ordered) <= MOST:
        return ordered
    return ordered[np.sort(generator(seed, "sample").choice(len(ordered), MOST, replace=False))]


def _fitted(pairs: Nearest, rows: Mask) -> Any:
    """Logistic regression that gives pairs of one author and others the same weight."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=500))
    return model.fit(pairs.likeness[rows], pairs.same[rows])
