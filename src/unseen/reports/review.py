"""Which texts of a stress run people should read, and what their answers say about all texts of its test parts.

The rows of the hardest family's test part and of the random test parts lie in strata: suspect labels, other failures of
the model, the rest, each by the parts that they are in. Doubtful texts are drawn more often than others, and weighed
less. The draw is a ranking (see `evaluation.strata`): any beginning of it is a random sample of each stratum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen.audits.reviewed_labels import UNCLEAR, UNREAD, ReviewedLabels, review_codes
from unseen.errors import InputError
from unseen.evaluation.intervals import Spread
from unseen.evaluation.measurements import aligned
from unseen.evaluation.metrics import metric
from unseen.evaluation.strata import interleaved
from unseen.functional.agreement import agreement, majority, rating_counts
from unseen.reports.actions import SUSPECTS
from unseen.reports.case import Case, hardest
from unseen.reports.record import BASELINE, RunRecord
from unseen.seeding import generator
from unseen.store import read_predictions, read_suspects
from unseen.store.files import door
from unseen.store.reviews import REVIEWS, Review, read_reviews
from unseen.store.run_folder import way_out
from unseen.types import Dataset, Measurement, string_array
from unseen.types.arrays import Codes, Floats, Mask, Rows, encode_labels

KINDS = {"suspect": 0.5, "failure": 0.4, "rest": 0.15}
"""What a row is, and how much the rightness of such labels varies: the more, the more of them are drawn."""
PLACES = ("hard", "both", "random")
LEAST = 0.04
"""Share of the draw that every stratum gets: two of fifty texts."""
SIZE, SEED = 100, 42


@dataclass(frozen=True)
class ReviewItem:
    """A text to be read."""

    id: str
    stratum: str
    """Not for the eyes of who reads it."""
    label: str
    """The given one."""


@dataclass(frozen=True, eq=False)
class ReviewPool:
    """The rows of a run that may be read, in the order of their ids."""

    case: Case
    data: Dataset
    """Ids and labels; no texts."""
    tested: Mapping[str, list[tuple[Rows, Codes]]]
    """Of the hard family and of random splits, for each training: the rows it was tested on, and its answers."""
    suspect: Mask

    def part(self, family: str) -> Mask:
        """The rows of its test parts."""
        mask = np.zeros(len(self.data), bool)
        for rows, _ in self.tested[family]:
            mask[rows] = True
        return mask

    def _failed(self, family: str) -> Mask:
        """The rows that most of the trainings which were tested on them get wrong."""
        wrong, asked = np.zeros(len(self.data)), np.zeros(len(self.data))
        for rows, predicted in self.tested[family]:
            wrong[rows] += predicted != self.data.labels[rows]
            asked[rows] += 1
        return np.asarray(2 * wrong > asked)

    @cached_property
    def kinds(self) -> Codes:
        """What each row is, as a place in `KINDS`."""
        failed = self._failed(BASELINE) | self._failed(self.case.family)
        return np.where(self.suspect, 0, np.where(failed, 1, 2))

    @cached_property
    def strata(self) -> Codes:
        """What each row is and where; neighbours are alike."""
        hard, random = self.part(self.case.family), self.part(BASELINE)
        return len(PLACES) * self.kinds + np.where(hard & random, 1, np.where(hard, 0, 2))

    @cached_property
    def share(self) -> Floats:
        """The share of each stratum in the draw: as the least variance in either part would have it, half and half."""
        varies = np.array(list(KINDS.values()))[self.kinds]
        weight = sum(varies * part / (varies @ part) for part in (self.part(self.case.family), self.part(BASELINE)))
        shares = np.bincount(self.strata, weights=weight / 2, minlength=len(KINDS) * len(PLACES))
        return np.maximum(shares, LEAST)

    def ranking(self, seed: int) -> Rows:
        """All rows, those to be read first before all others."""
        return interleaved(self.strata, self.share, generator(seed, "reviews"), mixed=True)


def review_items(record: RunRecord, size: int = SIZE, seed: int = SEED) -> list[ReviewItem]:
    """The first `size` texts to read, in their order; fewer where the test parts have fewer.

    The first fifty of a hundred are the fifty that would have been drawn alone. The order tells nothing of the strata.
    """
    if size < 1:
        raise InputError("a review is of some texts", expected="at least 1", got=str(size))
    pool = review_pool(record)
    rows = pool.ranking(seed)[:size]
    names = [f"{kind}, {place}" for kind in KINDS for place in PLACES]
    ids, labels = pool.data.ids.take(pa.array(rows)).to_pylist(), pool.data.labels[rows]
    return [
        ReviewItem(name, names[stratum], pool.data.label_names[label])
        for name, stratum, label in zip(ids, pool.strata[rows], labels, strict=True)
    ]


def review_pool(record: RunRecord) -> ReviewPool:
    """The rows that may be read, from the files of the run alone."""
    case = hardest(record)
    if record.kind != "stress" or case is None:
        raise InputError(
            "only the texts of a stress run with a hard split are reviewed", got=f"a run of the kind {record.kind}"
        )
    tests = {split.name: split.ids("test") for family in (BASELINE, case.family) for split in record.of_family(family)}
    data = _labels(record, sorted(frozenset().union(*tests.values())))
    rows = {
        name: np.flatnonzero(pc.is_in(data.ids, value_set=pa.array(list(ids), pa.large_string())).to_numpy())
        for name, ids in tests.items()
    }
    tested: dict[str, list[tuple[Rows, Codes]]] = {BASELINE: [], case.family: []}
    for family, runs in tested.items():
        for split, seed in _trainings(record, family):
            file = record.place / "predictions" / f"{split}-seed{seed}.parquet"
            probabilities = aligned(data, read_predictions(file, data), rows[split])
            runs.append((rows[split], probabilities.argmax(axis=1)))
    path = record.file(SUSPECTS)
    suspects = [suspect.id for suspect in read_suspects(path)] if path else []
    suspect = pc.is_in(data.ids, value_set=pa.array(suspects, pa.large_string())).to_numpy()
    return ReviewPool(case, data, tested, suspect)


def _trainings(record: RunRecord, family: str) -> list[tuple[str, str]]:
    """Split and seed of every training on splits of a family."""
    rows = record.rows(record.metric, family=family, part="test")
    return [
        (str(row.tags["split"]), str(row.tags["seed"]))
        for row in rows
        if "split" in row.tags and row.tags.get("seed") != "mean"
    ]


def _labels(record: RunRecord, ids: list[str]) -> Dataset:
    """The rows of these ids with their labels, which the map has."""
    path = record.place / "map.parquet"
    if not path.exists():
        raise InputError(f"{record.place} does not say the labels of its texts", fix=way_out(record.place))
    with door(path, "labels"):
        table = pq.read_table(path, columns=["id", "label"])
        known = dict(zip(*(table[name].cast(pa.string()).to_pylist() for name in ("id", "label")), strict=True))
    if missing := [name for name in ids if name not in known]:
        raise InputError(
            f"{path} lacks the labels of {len(missing):,} of {len(ids):,} texts", fix=way_out(record.place)
        )
    names = tuple(record.about["data"]["label_names"])
    labels = encode_labels(string_array([known[name] for name in ids]), names)
    table = pa.table({"id": string_array(ids), "text": string_array([""] * len(ids)), "label": labels})
    return Dataset(str(record.about["data"].get("name", "data")), table, names)


def with_reviews(record: RunRecord) -> RunRecord:
    """The record with what the reviews in its folder say; as it was where there are none."""
    file = record.folder / REVIEWS if record.folder and record.kind == "stress" else None
    if file is None or not file.exists() or not (reviews := read_reviews(file)):
        return record
    return replace(record, measurements=(*record.measurements, *review_measurements(record, reviews)))


def review_measurements(record: RunRecord, reviews: Sequence[Review]) -> list[Measurement]:
    """How many texts were read; shares of wrong labels by part; the fall against right ones; how far people agree.

    Where several people read a text, most of them decide; where as many say one thing as another, it cannot be told.
    Answers that were given in another run are a stratum of their own, as they were not drawn here; until texts of the
    stratum that they are of were drawn here, they stand for it.
    """
    pool = review_pool(record)
    ratings = review_codes(reviews, pool.data)
    known = {*pool.data.ids.to_pylist()}
    own = [review for review in reviews if review.id in known]
    taken = pa.array([review.id for review in own if review.run], pa.large_string())
    elsewhere = pc.is_in(pool.data.ids, value_set=taken).to_numpy()
    truth = np.full(len(pool.data), UNREAD)
    if ratings:
        truth[list(ratings)] = [UNCLEAR if code is None else code for code in majority(list(ratings.values()))]
    labels = ReviewedLabels(pool.data.labels, truth, 2 * pool.strata + elsewhere)
    people = {"reviewers": len({review.reviewer for review in own}), "elsewhere": int(elsewhere.sum())}
    rows = [Measurement("reviewed_texts", float(labels.read.sum()), len(pool.data), tags=people)]
    if not ratings:
        return rows
    for family in (BASELINE, pool.case.family):
        part, tags = pool.part(family), {"family": family, "part": "test"}
        rows += [Measurement("reviewed_texts", float((labels.read & part).sum()), int(part.sum()), tags=tags)]
        rows += labels.shares(part, tags)
    statistics = [pool.case.measured.tags.get(name) for name in Spread._fields]
    measured = None if None in statistics else Spread(*(float(value) for value in statistics if value is not None))
    tags = {"family": pool.case.family, "part": "test", "against": BASELINE}
    runs = pool.tested[BASELINE], pool.tested[pool.case.family]
    rows.append(labels.corrected_fall(*runs, metric(record.metric), pool.data.label_names, measured, tags))
    several = [row for row in agreement(*rating_counts(list(ratings.values()))) if row.metric != "fleiss_kappa"]
    return rows + [_of_people(row) for row in several if row.n]


def _of_people(row: Measurement) -> Measurement:
    """How far reviewers agree, without an interval where drawing texts again changes nothing."""
    alike = row.low == row.high
    return replace(row, low=None if alike else row.low, high=None if alike else row.high, tags={"of": "reviews"})
