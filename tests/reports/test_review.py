"""Reviews of a run: which texts are drawn, what the answers say about all of them, and how the page tells it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_reviews import METRIC, NAMES, MadeReviews

from unseen.audits.reviewed_labels import INVALID, UNCLEAR, UNREAD, ReviewedLabels
from unseen.errors import InputError
from unseen.evaluation.intervals import Spread
from unseen.evaluation.metrics import metric
from unseen.reports.case import cases
from unseen.reports.record import read_record
from unseen.reports.review import ReviewPool, review_items, review_measurements, review_pool
from unseen.reports.review_section import review_sentences
from unseen.runs.frame import report
from unseen.store.reviews import Review, append_review
from unseen.types import Measurement

EXACT = Spread(0.0, 1e9)
"""A fall that chance does not move but for the choice of texts."""
SIMULATIONS = 200


@pytest.fixture
def made() -> MadeReviews:
    return MadeReviews()


@pytest.fixture
def folder(made: MadeReviews, tmp_path: Path) -> Path:
    return made.write(tmp_path / "run")


def answer_of(made: MadeReviews, name: str, reviewer: str = "ann", run: str = "") -> Review:
    row = made.ids.index(name)
    code = int(made.truth[row])
    if code < 0:
        return Review(name, reviewer, {UNCLEAR: "unclear", INVALID: "invalid"}[code], run=run)
    right = code == made.given[row]
    return Review(name, reviewer, "right" if right else "other", None if right else NAMES[code], run=run)


def review_all(made: MadeReviews, folder: Path, size: int, reviewer: str = "ann") -> None:
    for item in review_items(read_record(folder), size):
        append_review(folder / "reviews.jsonl", answer_of(made, item.id, reviewer))


# -- the draw ----------------------------------------------------------------------------------------------------------


def test_a_beginning_of_the_draw_is_the_draw_of_fewer(folder: Path) -> None:
    record = read_record(folder)
    items = review_items(record, 100)
    assert review_items(record, 50) == items[:50]
    assert review_items(record, 100, seed=7) != items
    assert len({item.id for item in items}) == 100


def test_all_rows_of_both_parts_can_be_drawn_and_no_others(made: MadeReviews, folder: Path) -> None:
    items = review_items(read_record(folder), 10_000)
    tested = {made.ids[row] for rows in made.tests.values() for row in rows}
    assert {item.id for item in items} == tested
    assert all(item.label == NAMES[made.given[made.ids.index(item.id)]] for item in items)


def test_strata_are_what_rows_are_and_where(made: MadeReviews, folder: Path) -> None:
    hard, random = {*made.tests["closest"]}, {*made.tests["random-1"], *made.tests["random-2"]}
    for item in review_items(read_record(folder), 10_000):
        row = made.ids.index(item.id)
        wrong = {
            family: [
                bool(run.probabilities[np.flatnonzero(made.tests[run.split] == row)[0]].argmax() != made.given[row])
                for run in made.of(family)
                if row in made.tests[run.split]
            ]
            for family in ("random", "closest")
        }
        failed = any(answers and 2 * sum(answers) > len(answers) for answers in wrong.values())
        kind = "suspect" if made.suspect[row] else "failure" if failed else "rest"
        place = "both" if row in hard and row in random else "hard" if row in hard else "random"
        assert item.stratum == f"{kind}, {place}"


def test_doubtful_texts_are_drawn_more_often_and_others_too(folder: Path) -> None:
    record = read_record(folder)
    sizes, drawn = (Counter(item.stratum for item in review_items(record, size)) for size in (10_000, 100))
    assert set(drawn) == set(sizes)
    share = {kind: drawn[f"{kind}, hard"] / sizes[f"{kind}, hard"] for kind in ("suspect", "failure", "rest")}
    assert share["suspect"] > share["rest"]
    assert share["failure"] > share["rest"]


def test_the_order_mixes_strata(folder: Path) -> None:
    places = {}
    for seed in range(20):
        for place, item in enumerate(review_items(read_record(folder), 60, seed)):
            places.setdefault(place, Counter())[item.stratum] += 1
    assert all(counts.most_common(1)[0][1] < 20 for counts in places.values())


def test_what_cannot_be_reviewed_is_said(folder: Path) -> None:
    with pytest.raises(InputError, match="some texts"):
        review_items(read_record(folder), 0)
    (folder / "map.parquet").unlink()
    with pytest.raises(InputError, match="does not say the labels"):
        review_items(read_record(folder))


# -- estimates ---------------------------------------------------------------------------------------------------------


def labels_of(made: MadeReviews, pool: ReviewPool, size: int, seed: int = 0) -> ReviewedLabels:
    rows = np.array([made.ids.index(name) for name in pool.data.ids.to_pylist()])
    truth = np.full(len(rows), UNREAD)
    drawn = pool.ranking(seed)[:size]
    truth[drawn] = made.truth[rows[drawn]]
    return ReviewedLabels(pool.data.labels, truth, pool.strata)


def estimates(made: MadeReviews, pool: ReviewPool, size: int, seed: int, name: str = METRIC):
    labels = labels_of(made, pool, size, seed)
    rows = [row for family in pool.tested for row in labels.shares(pool.part(family), {"family": family})]
    runs = pool.tested["random"], pool.tested["closest"]
    rows.append(labels.corrected_fall(*runs, metric(name), NAMES, EXACT, {"family": "closest"}))
    return {(row.metric, row.tags["family"]): row for row in rows}


@pytest.mark.parametrize("name", ["accuracy", "f1.macro", "f1.weighted", "recall[b]"])
def test_when_all_is_read_it_is_the_exact_fall(made: MadeReviews, folder: Path, name: str) -> None:
    pool = review_pool(read_record(folder))
    row = estimates(made, pool, 10_000, 0, name)[f"fall.reviewed.{name}", "closest"]
    assert row.value == pytest.approx(made.fall_with_right_labels(name), abs=1e-12)
    assert row.n == len(pool.data)


def test_when_all_is_read_shares_are_counts(made: MadeReviews, folder: Path) -> None:
    shares = estimates(made, review_pool(read_record(folder)), 10_000, 0)
    random = np.union1d(made.tests["random-1"], made.tests["random-2"])
    for family, rows in (("closest", made.tests["closest"]), ("random", random)):
        truth, given = made.truth[rows], made.given[rows]
        wrong = (truth != given)[truth >= 0].mean()
        for name, value in (
            ("label_errors", wrong), ("unclear_texts", (truth == UNCLEAR).mean()),
            ("invalid_texts", (truth == INVALID).mean()),
        ):  # fmt: skip
            row = shares[name, family]
            assert (row.value, row.low, row.high) == pytest.approx((value, value, value), abs=1e-12)


@pytest.mark.parametrize(("size", "errors"), [(60, (0.25, 0.08)), (120, (0.25, 0.08)), (120, (0.03, 0.02))])
def test_intervals_hold_the_truth_and_nothing_is_biased(tmp_path: Path, size: int, errors: tuple[float, float]) -> None:
    made = MadeReviews(errors=errors)
    pool = review_pool(read_record(made.write(tmp_path / "run")))
    truth = estimates(made, pool, 10_000, 0)
    held, values = Counter(), {key: [] for key in truth}
    for seed in range(SIMULATIONS):
        for key, row in estimates(made, pool, size, seed).items():
            held[key] += row.low <= truth[key].value <= row.high
            values[key].append(row.value)
    for key, row in truth.items():
        assert held[key] / SIMULATIONS >= 0.915, key
        assert np.mean(values[key]) == pytest.approx(row.value, abs=0.012), key
    assert held["fall.reviewed.f1.macro", "closest"] < SIMULATIONS


def test_labels_that_are_all_right_leave_the_fall_as_it_was_and_prove_nothing(tmp_path: Path) -> None:
    made = MadeReviews(errors=(0, 0), doubtful=0)
    record = read_record(made.write(tmp_path / "run"))
    rows = {row.metric: row for row in review_measurements(record, [answer_of(made, item.id)
            for item in review_items(record, 40)]) if row.tags.get("family") == "closest"}  # fmt: skip
    measured, reviewed = record.fall("closest"), rows["fall.reviewed.f1.macro"]
    assert reviewed.value == pytest.approx(measured.value, abs=1e-12)
    assert (reviewed.low, reviewed.high) != pytest.approx((measured.low, measured.high), abs=1e-3)
    assert reviewed.high - reviewed.low > measured.high - measured.low
    assert rows["label_errors"].value == 0
    assert 0.05 < rows["label_errors"].high < 0.3


# -- reviews of a run --------------------------------------------------------------------------------------------------


def test_most_reviewers_decide_and_a_tie_cannot_be_told(made: MadeReviews, folder: Path) -> None:
    record = read_record(folder)
    first, second, third = (item.id for item in review_items(record, 3))
    answers = {first: ("right", "invalid", "invalid"), second: ("right", "unclear", "invalid"), third: ("right",) * 3}
    reviews = [
        Review(name, who, answer)
        for name, said in answers.items()
        for who, answer in zip(("ann", "bob", "cat"), said, strict=True)
    ]
    rows = review_measurements(record, reviews)
    shares = {row.metric: row for row in rows if row.tags.get("of") == "reviews"}
    assert shares["rater_agreement"].value == pytest.approx((1 / 3 + 0 + 1) / 3)
    assert shares["krippendorff_alpha.nominal"].n == 3
    assert next(row for row in rows if row.metric == "reviewed_texts").tags["reviewers"] == 3
    assert max(row.value for row in rows if row.metric == "unclear_texts") > 0
    assert max(row.value for row in rows if row.metric == "invalid_texts") > 0


def test_what_was_read_for_another_run_stands_for_itself_once_texts_are_drawn_here(
    made: MadeReviews, folder: Path
) -> None:
    """Every other wrong label was read elsewhere, as if somebody had looked for them: shares are still right."""
    record, pool, values = read_record(folder), review_pool(read_record(folder)), []
    wrong = [name for name in pool.data.ids.to_pylist() if answer_of(made, name).answer == "other"]
    elsewhere = {name: answer_of(made, name, run="other") for name in wrong[::2]}
    for seed in range(30):
        drawn = [answer_of(made, item.id) for item in review_items(record, 150, seed) if item.id not in elsewhere]
        rows = review_measurements(record, [*elsewhere.values(), *drawn])
        assert rows[0].tags["elsewhere"] == len(elsewhere)
        values.append([row.value for row in rows if row.metric == "label_errors"])
    exact = estimates(made, pool, 10_000, 0)
    truth = [exact["label_errors", family].value for family in ("random", "closest")]
    assert np.mean(values, axis=0) == pytest.approx(truth, abs=0.02)


def test_until_then_it_stands_for_texts_like_it(made: MadeReviews, folder: Path) -> None:
    record = read_record(folder)
    reviews = [answer_of(made, item.id, run="other") for item in review_items(record, 150)]
    values = [row.value for row in review_measurements(record, reviews) if row.metric == "label_errors"]
    drawn = [row.value for row in review_measurements(record, [replace(review, run="") for review in reviews])
             if row.metric == "label_errors"]  # fmt: skip
    assert values == pytest.approx(drawn, abs=1e-12)


def test_a_label_that_the_data_has_not_is_refused(folder: Path) -> None:
    record = read_record(folder)
    with pytest.raises(InputError, match="label, in the review of"):
        review_measurements(record, [Review(review_items(record, 1)[0].id, "ann", "other", "d")])
    assert [row.value for row in review_measurements(record, [Review("nobody", "ann", "right")])] == [0]


def test_two_texts_correct_no_fall(made: MadeReviews, folder: Path) -> None:
    record = read_record(folder)
    rows = review_measurements(record, [answer_of(made, item.id) for item in review_items(record, 2)])
    assert [row.value for row in rows if row.metric == "fall.reviewed.f1.macro"] == [None]


def test_a_wide_interval_is_no_verdict_that_there_is_no_fall(folder: Path) -> None:
    record = read_record(folder)
    case = cases(record)[0]
    tags = {"family": case.family, "part": "test", "standard_error": 0.5, "df": 1.0}
    read = Measurement("reviewed_texts", 10, 600, tags={"reviewers": 1})
    fall = Measurement(f"fall.reviewed.{record.metric}", -0.1, 10, -1.0, 1.0, tags=tags)
    measured = replace(record, measurements=(*record.measurements, read, fall))
    (sentence,) = review_sentences(cases(measured)[0])
    assert sentence.endswith("there may be no fall or a large one (−10 points [−100, 100]).")


def test_the_page_says_what_people_read_and_nothing_without_them(made: MadeReviews, folder: Path) -> None:
    sealed = (folder / "measurements.csv").read_bytes()
    before = report(folder)
    assert "What people read" not in before.report.read_text()
    review_all(made, folder, 100)
    done = report(folder)
    (sentence,) = (line for line in done.verdict.lines() if "read" in line)
    assert sentence.startswith("One person has read 100 of its texts: ")
    assert "of the labels of “closest” are wrong" in sentence
    assert "in random parts; against the right labels the fall is" in sentence
    assert "What people read" in done.report.read_text()
    row = done.row("fall.reviewed.f1.macro", family="closest")
    assert row.low < made.fall_with_right_labels() < row.high
    assert (folder / "measurements.csv").read_bytes() == sealed
    assert [line for line in done.verdict.lines() if line != sentence] == before.verdict.lines()
    review_all(made, folder, 30, "bob")
    again = report(folder)
    assert any(line.startswith("2 people have read 100 of its texts") for line in again.verdict.lines())
    assert "On 30 texts that several people read" in again.report.read_text()
