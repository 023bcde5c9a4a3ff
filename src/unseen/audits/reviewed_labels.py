"""What people who read some of the texts say about the labels of all, and about a fall that was measured with them.

::

    given labels of all rows, and what people say about a random sample of each stratum
      -> shares of wrong labels, of texts that cannot be told, of invalid ones    (ratios of stratified means)
      -> tallies of each training with the given labels, moved by what is different in the texts that were read
      -> any metric that tallies decide, and its fall, with the variance of their linear approximation

The given labels are a proxy: they may be wrong without harm, as what is estimated is the difference that the right ones
make (Särndal et al. 1992, Model Assisted Survey Sampling, section 6.3). When every row was read, nothing is estimated.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unseen.errors import InputError, UnseenWarning
from unseen.evaluation.f_scores import tally
from unseen.evaluation.intervals import Spread, apart, together, wilson
from unseen.evaluation.metrics import Metric
from unseen.evaluation.strata import Strata, joined_strata, slope_of
from unseen.registry import require_known
from unseen.store.reviews import Review, read_reviews
from unseen.types import Dataset, Measurement
from unseen.types.arrays import Codes, Floats, Mask, Rows

UNREAD, UNCLEAR, INVALID = -1, -2, -3
Z, DIGITS = 1.96, 12
FEWEST = 5
"""Rows with and without a fault from which on the interval of its share is as narrow as the strata make it; and rows
of each part that a corrected fall needs."""


def reviews_of(paths: Sequence[str | Path], data: Dataset) -> list[Review]:
    """The reviews in several files of texts that are in the data; those of others are counted in a warning."""
    reviews: dict[tuple[str, str], Review] = {}
    for path in paths:
        if not Path(path).exists():
            raise InputError(f"there is no file {path}", fix="name the reviews.jsonl of a run that people reviewed")
        for review in read_reviews(path):
            reviews[review.id, review.reviewer] = replace(review, run=review.run or str(path))
    known = {*data.ids.to_pylist()}
    own = [review for review in reviews.values() if review.id in known]
    if strange := len(reviews) - len(own):
        message = f"{strange:,} of {len(reviews):,} reviews are of texts that are not in {data.name}"
        warnings.warn(message, UnseenWarning, stacklevel=2)
    review_codes(own, data)  # refuses labels of other data
    return own


def review_codes(reviews: Sequence[Review], data: Dataset) -> dict[int, list[int]]:
    """What every reviewer says is the label of a row, by row: its code, `UNCLEAR` or `INVALID`.

    Reviews of texts that are not in the data are left out; a label that is none of its own is refused.
    """
    rows = {name: row for row, name in enumerate(data.ids.to_pylist())}
    codes: dict[int, list[int]] = {}
    for review in reviews:
        if review.id in rows:
            row = rows[review.id]
            codes.setdefault(row, []).append(_code(review, data, row))
    return codes


def _code(review: Review, data: Dataset, row: int) -> int:
    if review.label is None:
        return {"right": int(data.labels[row]), "unclear": UNCLEAR, "invalid": INVALID}[review.answer]
    require_known(f"label, in the review of {review.id!r}", data.label_names, review.label)
    return data.label_names.index(review.label)


@dataclass(frozen=True, eq=False)
class ReviewedLabels:
    """The given labels of all rows, and what people say of some."""

    given: Codes
    truth: Codes
    """The label that people say is right, or `UNREAD`, `UNCLEAR` (it cannot be told), `INVALID` (it is no item)."""
    strata: Codes
    """Of each row; those that were read are a random sample of each. Neighbours are alike."""

    @property
    def read(self) -> Mask:
        """The rows that somebody has read."""
        return np.asarray(self.truth != UNREAD)

    @cached_property
    def _sample(self) -> Strata:
        return Strata(joined_strata(self.strata, self.read), self.read)

    def shares(self, part: Mask, tags: Mapping[str, Any]) -> list[Measurement]:
        """`label_errors` among the texts of a part whose label can be told, `unclear_texts` and `invalid_texts`."""
        clear = self.truth >= 0
        return [
            self._share("label_errors", self.truth != self.given, part & clear, tags),
            self._share("unclear_texts", self.truth == UNCLEAR, part & self.read, tags),
            self._share("invalid_texts", self.truth == INVALID, part & self.read, tags),
        ]

    def _share(self, name: str, chosen: Mask, among: Mask, tags: Mapping[str, Any]) -> Measurement:
        """The share of the `chosen` rows `among` others; both are known of the rows that were read."""
        if not among.any():
            return Measurement(name, None, 0, tags=tags)
        below = among[self.read].astype(np.float64)
        above, size = below * chosen[self.read], float(self._sample.mean(below))
        value = float(self._sample.mean(above)) / size
        spread = self._sample.spread((above - value * below) / size)
        low, high = value, value
        if not self.read.all():
            # of as many rows drawn at random as would vary as much; few cases say too little of how they vary
            few, worth = min(above.sum(), (below - above).sum()) < FEWEST, self._sample.worth(below)
            if spread.standard_error:
                equal = value * (1 - value) / spread.standard_error**2
                worth = min(float(below.sum()), equal) if few else equal
            low, high = (round(bound, DIGITS) for bound in wilson(value * worth, worth))
        return Measurement(name, value, int(below.sum()), low, high, tags=tags)

    def corrected_fall(
        self,
        control: Sequence[tuple[Rows, Codes]],
        hard: Sequence[tuple[Rows, Codes]],
        metric: Metric,
        label_names: Sequence[str],
        measured: Spread | None,
        tags: Mapping[str, Any],
    ) -> Measurement:
        """`fall.reviewed.METRIC`: the fall against the labels that people say are right.

        Rows that are unclear or invalid are left out. `control` and `hard` are trainings: the rows that each was tested
        on, and its answers. `measured` is how far chance moves the fall with the given labels; without it there is no
        interval. No value for metrics that need more than tallies, nor where hardly anything of a part was read.
        """
        name = f"fall.reviewed.{metric.id}"
        parts = [self._tested(runs) for runs in (control, hard)]
        if metric.of_counts is None or any((part & self.read).sum() < FEWEST for part in parts):
            return Measurement(name, None, 0, tags=tags)
        before, after = ([self._score(run, metric, label_names) for run in runs] for runs in (control, hard))
        value = float(np.mean([score for score, _ in before]) - np.mean([score for score, _ in after]))
        if np.isnan(value):
            return Measurement(name, None, 0, tags=tags)
        moved = np.mean([moves for _, moves in before], axis=0) - np.mean([moves for _, moves in after], axis=0)
        spread = self._spread(moved, parts)
        low, high = None, None
        if measured is not None:
            spread = together(measured, spread)
            low, high = apart(value, spread, metric.high - metric.low)
            tags = {**tags, **spread._asdict()}
        return Measurement(name, value, int((self.read & (parts[0] | parts[1])).sum()), low, high, tags=tags)

    def _tested(self, runs: Sequence[tuple[Rows, Codes]]) -> Mask:
        """The rows that these trainings were tested on."""
        mask = np.zeros(len(self.given), bool)
        for rows, _ in runs:
            mask[rows] = True
        return mask

    def _spread(self, moved: Floats, parts: Sequence[Mask]) -> Spread:
        """How far the luck of who was read moves the fall. Where no label was wrong, as far as some still may be."""
        spread = self._sample.spread(moved)
        if spread.standard_error or self.read.all():
            return spread
        worths = [self._sample.worth(part[self.read].astype(np.float64)) for part in parts]
        error = sum((wilson(0, worth)[1] / Z) ** 2 for worth in worths) ** 0.5
        return Spread(error, max(1.0, min(worths) - 1))

    def _score(self, run: tuple[Rows, Codes], metric: Metric, label_names: Sequence[str]) -> tuple[float, Floats]:
        """The metric of a training against the right labels, and how far each row that was read moves it."""
        (rows, predicted), k = run, len(label_names)
        answers = np.full(len(self.given), UNREAD)
        answers[rows] = predicted
        given, truth, answer = (codes[self.read] for codes in (self.given, self.truth, answers))
        change = _tallied(truth, answer, k) - _tallied(given, answer, k)  # [rows that were read, 3k]
        published = tally(self.given[rows], predicted, k).reshape(-1).astype(np.float64)
        totals = published + len(self.given) * self._sample.mean(change)

        def metric_of(counts: Floats) -> Floats:
            shaped = np.maximum(counts, 0.0).reshape(*counts.shape[:-1], 3, k)
            return metric.of_counts(shaped, label_names)  # type: ignore[misc]

        return float(metric_of(totals)), len(self.given) * (change @ slope_of(metric_of, totals))


def _tallied(labels: Codes, answers: Codes, k: int) -> Floats:
    """Hits, predicted and gold of each row, flat [rows, 3k]; nothing for a row without a label or an answer."""
    there = ((labels >= 0) & (answers >= 0))[:, None]
    gold, predicted = (np.eye(k + 1)[np.maximum(codes, UNREAD)][:, :k] * there for codes in (labels, answers))
    return np.concatenate([gold * predicted, predicted, gold], axis=1)
