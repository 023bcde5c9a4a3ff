"""An estimate of how many test rows share their author with training, where no author is known.

Authorship attribution as a probe: each test row is paired with the training row whose style is nearest, and a
verifier says whether one author wrote both. It learns that from another dataset whose authors are known, and its
rates of right and false alarms there turn what it says here into a share (the adjusted count of Forman 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.authors.style import Style
from unseen.audits.authors.writers import Writers
from unseen.errors import InputError
from unseen.evaluation.intervals import percentiles
from unseen.progress import track
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, Split

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
MOST = 12_000
"""Rows of a dataset that are looked at; of a larger one, so many at random."""
FOLDS = 5
TRIALS = 10
"""How often the probe is tried on half of the calibration authors, with their names hidden."""
DRAWS = 1_000
TELLS = 0.1
"""A verifier whose rates of right and false alarms are nearer than this tells nothing."""
FEWEST_AUTHORS = 20


@dataclass(frozen=True, eq=False)
class Nearest:
    """The test rows of one dataset, each with its stylistically nearest training row."""

    likeness: Floats
    author: Rows
    """Of the test row; -1 where nobody knows."""
    same: npt.NDArray[np.bool_]
    """Whether one author wrote both; meaningless without authors."""

    @classmethod
    def of(cls, style: Style, test: Rows, train: Rows, author: Rows) -> Nearest:
        """Each of `test` with the nearest of `train`."""
        partner, _ = style.nearest(test, train)
        return cls(style.likeness(test, partner), author[test], author[test] == author[partner])


@dataclass(frozen=True, eq=False)
class Verifier:
    """What says whether one author wrote both of two texts, and what it is worth."""

    model: Any
    said: npt.NDArray[np.bool_]
    """Its answers on calibration pairs of authors it was not trained on."""
    truth: npt.NDArray[np.bool_]
    author: Rows

    @classmethod
    def learnt(cls, pairs: Nearest, seed: int) -> Verifier | None:
        """Trained on these pairs, and judged on authors left out in turn; None where all pairs are alike."""
        if len(np.unique(pairs.same)) < 2:
            return None
        authors = np.unique(pairs.author)
        fold_of = generator(seed, "verifier").permutation(len(authors)) % FOLDS
        fold = fold_of[np.searchsorted(authors, pairs.author)]
        said = np.zeros(len(fold), bool)
        for each in range(FOLDS):
            if len(np.unique(pairs.same[fold != each])) == 2 and (fold == each).any():
                said[fold == each] = _fitted(pairs, fold != each).predict(pairs.likeness[fold == each])
        return cls(_fitted(pairs, np.ones(len(fold), bool)), said, pairs.same, pairs.author)

    @property
    def rates(self) -> tuple[float, float]:
        """Share of the pairs of one author that it finds, and of the others that it takes for such."""
        return float(self.said[self.truth].mean()), float(self.said[~self.truth].mean())

    @property
    def precision(self) -> float | None:
        """Share of the pairs it takes for one author's that are."""
        return float(self.truth[self.said].mean()) if self.said.any() else None

    def alarms(self, pairs: Nearest) -> float:
        """Share of these pairs that it takes for one author's."""
        return float(self.model.predict(pairs.likeness).mean())

    def share(self, pairs: Nearest) -> float | None:
        """The estimated share of these pairs that one author wrote; None where the verifier tells nothing."""
        raw = behind_alarms(self.alarms(pairs), *self.rates)
        return None if raw is None else min(1.0, max(0.0, raw))

    def drawn(self, pairs: Nearest, seed: int) -> Floats:
        """The estimate with the pairs, and whole calibration authors, drawn anew [draws]; NaN where there is none.

        It may lie below 0 or above 1.
        """
        draw, said = generator(seed, "probe"), self.model.predict(pairs.likeness)
        unit = np.unique(self.author, return_inverse=True)[1].reshape(-1)
        units, found = int(unit.max()) + 1, []
        for _ in range(DRAWS):
            times = np.bincount(draw.integers(units, size=units), minlength=units)[unit]
            hits, others = times * self.truth, times * ~self.truth
            if not hits.sum() or not others.sum():
                found.append(np.nan)
                continue
            rates = (hits @ self.said) / hits.sum(), (others @ self.said) / others.sum()
            share = behind_alarms(float(said[draw.integers(len(said), size=len(said))].mean()), *rates)
            found.append(np.nan if share is None else share)
        return np.array(found)


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
    found = percentiles(drawn)
    if found is None or found[1] < 0 or found[0] > 1:
        return None
    return max(0.0, found[0]), min(1.0, found[1])


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
    cut = split.of(data)
    train, test = np.concatenate([cut.rows("train"), cut.rows("dev")]), cut.rows("test")
    if not len(train) or not len(test):
        raise InputError("the estimate needs a train and a test part", got=str(cut.sizes))
    share_tested = len(test) / (len(train) + len(test))
    known = _calibrated(calibration, author, share_tested, seed)
    texts = data.take(_some(np.sort(np.concatenate([train, test])), data, seed))
    is_test = np.isin(np.asarray(texts.ids.to_pylist(), dtype=object), data.take(test).ids.to_pylist())
    nobody = np.full(len(texts), -1)
    here = Nearest.of(Style.of(texts.texts.to_pylist()), np.flatnonzero(is_test), np.flatnonzero(~is_test), nobody)
    verifier = Verifier.learnt(known.pairs(np.ones(known.authors, bool), seed), seed)
    tags = {"kind": "estimate", "calibration": calibration.name}
    if verifier is None:
        return [Measurement("estimate.shared_author", None, 0, tags=tags)]
    return [*_estimate(verifier, here, known, seed, tags), *_worth(verifier, here, tags)]


def _estimate(
    verifier: Verifier, here: Nearest, known: Calibration, seed: int, tags: dict[str, str]
) -> list[Measurement]:
    """The estimate with its measured error; no value where the verifier tells nothing or does not fit."""
    value, bounds = verifier.share(here), bounds_of(verifier.drawn(here, seed))
    if value is None or bounds is None:
        return [Measurement("estimate.shared_author", None, 0, tags=tags)]
    errors = known.errors(seed)
    trials = sum(map(len, errors))
    worst = max((float(np.mean(each)) for each in errors if each), default=None)
    return [
        Measurement("estimate.shared_author", value, len(here.same), bounds[0], bounds[1], tags=tags),
        Measurement("estimate.error", worst, trials, tags=tags),
    ]


def _worth(verifier: Verifier, here: Nearest, tags: dict[str, str]) -> list[Measurement]:
    (found, false), n, precision = verifier.rates, len(verifier.truth), verifier.precision
    return [
        Measurement("verifier.precision", precision, 0 if precision is None else n, tags=tags),
        Measurement("verifier.recall", found, n, tags=tags),
        Measurement("verifier.false_alarms", false, n, tags=tags),
        Measurement("verifier.alarms_here", verifier.alarms(here), len(here.same), tags=tags),
    ]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A dataset with known authors, its style, and how much of it plays the test part."""

    style: Style
    author: Rows
    share: float

    @property
    def authors(self) -> int:
        """Known authors."""
        return int(self.author.max()) + 1

    def pairs(self, of: npt.NDArray[np.bool_], seed: int, apart: bool = False) -> Nearest:
        """The rows of these authors cut at random, or by whole authors; each test row with its nearest training row."""
        rows, draw = np.flatnonzero(of[self.author]), generator(seed, "cut")
        lots = draw.random(self.authors)[self.author[rows]] if apart else draw.random(len(rows))
        tested = lots < self.share
        return Nearest.of(self.style, rows[tested], rows[~tested], self.author)

    def errors(self, seed: int) -> tuple[list[float], list[float]]:
        """How wrong the estimate is on one half of the authors, learnt from the other half: a number per trial.

        First of trials that cut the hidden half at random, then of those that cut it by whole authors: 0 is right.
        """
        found: tuple[list[float], list[float]] = ([], [])
        for trial in track(range(TRIALS), "try the estimate on hidden authors", TRIALS):
            half = generator(seed, "half", trial).permutation(self.authors) % 2 == 0
            known, hidden = self.pairs(half, seed + trial), self.pairs(~half, seed + trial, trial % 2 == 1)
            verifier = Verifier.learnt(known, seed) if len(known.same) and len(hidden.same) else None
            share = None if verifier is None else verifier.share(hidden)
            if share is not None:
                found[trial % 2].append(abs(share - float(hidden.same.mean())))
        return found


def _calibrated(data: Dataset, author: str, share: float, seed: int) -> Calibration:
    writers = Writers.of(data, author)
    rows = _some(np.flatnonzero(writers.known), data, seed)
    codes = np.unique(writers.code[rows], return_inverse=True)[1].reshape(-1)
    if not len(rows) or codes.max() + 1 < FEWEST_AUTHORS:
        raise InputError(
            f"{data.name} has too few known authors to calibrate an estimate", expected=f"at least {FEWEST_AUTHORS}"
        )
    return Calibration(Style.of(data.take(rows).texts.to_pylist()), codes, share)


def _some(rows: Rows, data: Dataset, seed: int) -> Rows:
    """These rows in the order of their ids; of many, some at random."""
    names = np.asarray(data.ids.to_pylist(), dtype=object)[rows]
    ordered = rows[np.argsort(names, kind="stable")]
    if len(ordered) <= MOST:
        return ordered
    return ordered[np.sort(generator(seed, "sample").choice(len(ordered), MOST, replace=False))]


def _fitted(pairs: Nearest, rows: npt.NDArray[np.bool_]) -> Any:
    """Logistic regression that gives pairs of one author and others the same weight."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=500))
    return model.fit(pairs.likeness[rows], pairs.same[rows])
