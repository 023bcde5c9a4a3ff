"""What leaks buy, from finding them to the report."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.audits.subject import Subject
from unseen.errors import InputError
from unseen.runs.experiment import Estimate, answers
from unseen.runs.frame import Result, report
from unseen.runs.price import TOGETHER, Leaked, Pricing, find_leaks, price_leaks
from unseen.runs.spaces import Model
from unseen.store import read_findings, read_json, read_measurements
from unseen.types import DEV, TEST, TRAIN, Certificate, Dataset, Measurement, Predictions, Split

Builder = Callable[..., Dataset]
N, COPIES = 240, 40
NOUNS = [f"word{each}" for each in range(60)]
QUICK = Pricing(Model("logistic"), trainings=2, repeats=2)
ENOUGH = Pricing(Model("logistic"), trainings=2)


@pytest.fixture(scope="module")
def copied(tiny: Builder) -> tuple[Dataset, Split]:
    """Texts that say nothing about their labels; some test rows repeat a training row, with its label."""
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.choice(NOUNS, 8)) for _ in range(N)]
    labels = draw.integers(2, size=N)
    for row in range(COPIES):
        texts[row], labels[row] = texts[N - 1 - row], labels[N - 1 - row]
    ids = [f"r{row:03}" for row in range(N)]
    users = ["u150" if 45 <= row < 49 else f"u{row}" for row in range(N)]
    data = tiny(ids=ids, texts=texts, labels=[("no", "yes")[each] for each in labels], user=users)
    parts = np.where(np.arange(N) < 90, TEST, TRAIN)
    return data, Split("half", data.ids, parts, np.full(N, -1), Certificate({}, {}), data.fingerprint)


@pytest.fixture(scope="module")
def priced(copied: tuple[Dataset, Split], tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    data, split = copied
    out = tmp_path_factory.mktemp("price") / "out"
    leaks = find_leaks(Subject(data, split, {"author": "user"}), ["exact", "author"])
    return price_leaks(data, split, leaks, ENOUGH, out=out), out


def one(found_in: object, metric: str, /, **tags: str) -> Measurement:
    (found,) = (
        row
        for row in found_in  # type: ignore[attr-defined]
        if row.metric == metric and all(row.tags.get(name) == tags[name] for name in tags)
    )
    return found


def test_leaks_are_those_that_were_put_there(copied: tuple[Dataset, Split]) -> None:
    exact, author, together = find_leaks(Subject(*copied, {"author": "user"}), ["exact", "author"])
    assert np.flatnonzero(exact.test).tolist() == list(range(COPIES))
    assert np.flatnonzero(exact.train).tolist() == list(range(N - COPIES, N))
    assert (np.flatnonzero(author.test).tolist(), np.flatnonzero(author.train).tolist()) == ([45, 46, 47, 48], [150])
    assert together.kind == TOGETHER
    assert (together.test == (exact.test | author.test)).all()
    assert (together.train == (exact.train | author.train)).all()


def test_kinds_with_the_same_rows_are_not_priced_together(copied: tuple[Dataset, Split]) -> None:
    assert [each.kind for each in find_leaks(Subject(*copied), ["exact", "near"])] == ["exact", "near"]


def test_the_cost_is_told_before_the_first_training(copied: tuple[Dataset, Split]) -> None:
    told: list[Estimate] = []
    leaks = find_leaks(Subject(*copied), ["exact"])
    price_leaks(*copied, leaks, QUICK, announce=told.append)
    assert [(each.trainings, each.done) for each in told] == [(2 * (1 + 1 + 2), 0)]
    assert (told[0].seconds or 0.0) > 0


def test_kinds_with_the_same_rows_are_trained_once_and_have_one_price(copied: tuple[Dataset, Split]) -> None:
    told: list[Estimate] = []
    leaks = find_leaks(Subject(*copied), ["exact", "near"])
    rows = price_leaks(*copied, leaks, QUICK, announce=told.append).measurements
    assert told[0].trainings == 2 * (1 + 1 + 2)
    exact, near = (one(rows, "fall.f1.macro", leak=kind, side="train", rows="all") for kind in ("exact", "near"))
    assert (exact.value, exact.low, exact.high) == (near.value, near.low, near.high)


def test_copies_are_worth_points_on_both_sides(priced: tuple[Result, Path]) -> None:
    rows = priced[0].measurements
    for side in ("test", "train"):
        bought = one(rows, "fall.f1.macro", leak="exact", side=side, rows="all")
        assert 0.01 < bought.low < bought.value < bought.high  # type: ignore[operator]
    # without the copies in training, their test rows are guessed, and the others were never helped
    leaked = one(rows, "fall.f1.macro", leak="exact", side="train", rows="leaked")
    others = one(rows, "fall.f1.macro", leak="exact", side="train", rows="unleaked")
    assert leaked.low > 0  # type: ignore[operator]
    assert leaked.value > bought.value  # type: ignore[operator]
    assert others.low < 0 < others.high  # type: ignore[operator]
    levels = {each.check: each.level for each in priced[0].findings}
    assert levels["price.exact.test"] == levels["price.exact.train"] == "fail"
    assert levels["price.author.train"] in ("ok", "warn")  # one row was removed


def test_random_removals_are_as_many_with_the_same_labels(
    copied: tuple[Dataset, Split], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, split = copied
    trained: dict[str, tuple[Dataset, Dataset]] = {}

    def noted(arms, model, results=None, **options):  # type: ignore[no-untyped-def]
        assert all(arm.train.data is data for arm in arms)  # no copies are held
        trained.update({arm.name: (arm.train.taken(), arm.dev.taken()) for arm in arms})
        return answers(arms, model, results, **options)

    monkeypatch.setattr("unseen.runs.price.answers", noted)
    leaks = find_leaks(Subject(data, split), ["exact"])
    price_leaks(data, split, leaks, Pricing(Model("logistic"), trainings=1, repeats=3))
    assert len(trained) == 5
    whole, without, *random = trained.values()
    for part in (0, 1):
        assert all(each[part].label_counts == without[part].label_counts for each in random)
    assert len({each[0].fingerprint for each in (without, *random)}) == 4
    assert len(whole[0]) + len(whole[1]) == 150
    assert len(without[0]) + len(without[1]) == 150 - COPIES
    kept = {name for part in without for name in part.ids.to_pylist()}
    assert kept.isdisjoint(data.ids.take(np.flatnonzero(leaks[0].train)).to_pylist())


def test_the_folder_holds_what_was_measured(priced: tuple[Result, Path]) -> None:
    done, out = priced
    assert read_json(out / "run.json")["kind"] == "price"
    back = read_measurements(out / "measurements.csv")
    assert [(row.metric, row.value) for row in back] == [(row.metric, row.value) for row in done.measurements]
    assert read_findings(out / "findings.csv") == list(done.record.findings)
    leaks = list(csv.DictReader((out / "leaks.csv").open(encoding="utf-8")))
    assert list(leaks[0].values()) == ["exact", "test", "r000", "", "r239", "", "1.0000"]
    assert list(leaks[0]) == ["kind", "side", "id", "row", "partner_id", "partner_row", "similarity"]
    for kind, side, rows in (
        ("exact", "test", range(COPIES)), ("exact", "train", range(N - COPIES, N)), ("author", "test", range(45, 49)),
        ("author", "train", [150]),
    ):  # fmt: skip
        ids = [row["id"] for row in leaks if (row["kind"], row["side"]) == (kind, side)]
        assert sorted(ids) == [f"r{row:03}" for row in rows]
    page = (out / "report.html").read_bytes()
    assert done.report is not None
    assert report(out).report.read_bytes() == page  # type: ignore[union-attr]
    assert b"buy" in page
    assert b"word1" not in page
    assert (out / "tables" / "train-side.md").exists()
    first, second = done.verdict.lines()
    assert first.startswith("The leaks (exact) buy ")
    assert "trained again without the 41 leaked training rows" in second
    assert done.verdict.level == "fail"


def test_predictions_alone_have_a_price_without_training(
    copied: tuple[Dataset, Split], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, split = copied
    monkeypatch.setattr("unseen.runs.experiment.fit", lambda *given: pytest.fail("trained"))
    right = np.arange(N) < COPIES + 25
    said = Predictions(data.ids, np.eye(2)[np.where(right, data.labels, 1 - data.labels)], data.label_names)
    done = price_leaks(data, split, find_leaks(Subject(data, split), ["exact"]), Pricing(None), predictions=said)
    assert {row.tags.get("side") for row in done.measurements if row.metric != "leaked_rows"} == {"test"}
    assert one(done.measurements, "fall.f1.macro", leak="exact").value > 0.1  # type: ignore[operator]


def test_the_order_of_rows_decides_nothing(copied: tuple[Dataset, Split], priced: tuple[Result, Path]) -> None:
    data, split = copied
    shuffled = data.take(np.random.default_rng(1).permutation(N))
    how = Pricing(Model("logistic"), trainings=1, repeats=1)
    first, second = (
        price_leaks(each, split, find_leaks(Subject(each, split), ["exact"]), how).measurements
        for each in (data, shuffled)
    )
    assert [row.value for row in second] == pytest.approx([row.value for row in first])


def test_no_leaks_are_said_to_be_none(copied: tuple[Dataset, Split], monkeypatch: pytest.MonkeyPatch) -> None:
    data, split = copied
    monkeypatch.setattr("unseen.runs.experiment.fit", lambda *given: pytest.fail("trained"))
    nothing = np.zeros(N, bool)
    done = price_leaks(data, split, [Leaked("near", nothing, nothing)], QUICK)
    assert [each.level for each in done.findings] == ["ok"]
    assert done.verdict.lines() == ["No test row leaks: nothing to price (near)."]


def test_leaks_that_leave_no_row_of_a_label_are_not_priced(
    copied: tuple[Dataset, Split], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, split = copied
    all_yes, tested = data.labels == 1, split.parts == TEST
    done = price_leaks(data, split, [Leaked("near", all_yes & tested, all_yes & ~tested)], QUICK)
    assert {each.check: each.level for each in done.findings} == {
        "price.near.test": "skipped", "price.near.train": "skipped",
    }  # fmt: skip
    assert "cannot be priced: without them a label has no row" in done.findings[0].message
    assert "cannot be priced: without them training has no row of a label" in done.findings[1].message


def test_leaks_among_rows_for_tuning_alone_have_no_price_in_training(copied: tuple[Dataset, Split]) -> None:
    data, split = copied
    parts = np.where(np.arange(N) >= N - COPIES, DEV, split.parts)
    tuned = Split("tuned", data.ids, parts, split.clusters, Certificate({}, {}), data.fingerprint)
    rows = np.arange(N)
    done = price_leaks(data, tuned, [Leaked("near", rows < COPIES, (rows >= N - 20))], QUICK)
    levels = {each.check: each for each in done.findings}
    assert levels["price.near.test"].level != "skipped"
    assert levels["price.near.train"].level == "skipped"
    assert "only among the rows for tuning" in levels["price.near.train"].message
    everything = price_leaks(data, tuned, [Leaked("near", rows < COPIES, (rows >= N - COPIES - 5))], QUICK)
    (said,) = (each for each in everything.findings if each.check == "price.near.train")
    assert "no row for tuning is left" in said.message


@pytest.mark.parametrize(
    ("model", "seeds", "repeats", "removals"),
    [("logistic", 3, None, 7), ("logistic", 1, None, 20), ("minilm", 3, None, 5), ("logistic", 3, 2, 2)],
)
def test_random_removals_are_twenty_where_training_is_cheap(
    model: str, seeds: int, repeats: int | None, removals: int
) -> None:
    assert Pricing(Model(model), trainings=seeds, repeats=repeats).removals == removals


def test_few_random_removals_are_said_to_be_few(copied: tuple[Dataset, Split]) -> None:
    data, split = copied
    done = price_leaks(data, split, find_leaks(Subject(data, split), ["exact"]), QUICK)
    (found,) = (each for each in done.findings if each.check == "price.exact.train")
    assert found.level in ("ok", "warn")
    assert "rests on 4 random removals" in found.message
    assert one(done.measurements, "fall.f1.macro", side="train", rows="all").tags["p"] == 0.2


def test_whole_groups_are_drawn_where_rows_leak_in_groups(copied: tuple[Dataset, Split]) -> None:
    data, split = copied
    leaks = find_leaks(Subject(data, split, {"author": "user"}), ["exact", "author"])
    assert {each.kind: each.groups for each in leaks} == {"exact": "user", "author": "user", TOGETHER: "user"}
    (alone,) = find_leaks(Subject(data, split), ["exact"])
    assert alone.groups is None
    said = Predictions(data.ids, np.eye(2)[data.labels], data.label_names)
    for leaked, how, groups in (
        (leaks[0], Pricing(None), "user"),
        (alone, Pricing(None), "rows"),
        (alone, Pricing(None, groups="user"), "user"),
    ):
        done = price_leaks(data, split, [leaked], how, predictions=said)
        assert one(done.measurements, "fall.f1.macro").tags["groups"] == groups


def test_clustered_answers_widen_the_interval_of_an_author_leak(tiny: Builder) -> None:
    """Each author's rows are all right or all wrong: 400 rows are 20 independent ones."""
    rows = np.arange(800)
    author = rows % 40
    data = tiny(
        ids=[f"{row:03}" for row in rows], labels=[("no", "yes")[row // 40 % 2] for row in rows],
        user=[f"u{each}" for each in author],
    )  # fmt: skip
    parts = np.where((author < 10) & (rows < 400) | (author >= 20), TRAIN, TEST)
    split = Split("some", data.ids, parts, np.full(800, -1), Certificate({}, {}), data.fingerprint)
    right = author % 2 == 0
    said = Predictions(data.ids, np.eye(2)[np.where(right, data.labels, 1 - data.labels)], data.label_names)
    (leaked,) = find_leaks(Subject(data, split, {"author": "user"}), ["author"])
    by_author, by_row = (
        one(price_leaks(data, split, [each], Pricing(None), predictions=said).measurements, "fall.f1.macro")
        for each in (leaked, Leaked("author", leaked.test, leaked.train))
    )
    assert by_author.high - by_author.low > 2 * (by_row.high - by_row.low)  # type: ignore[operator]


def test_all_kinds_leave_out_sources_and_what_concerns_every_row(copied: tuple[Dataset, Split], tiny: Builder) -> None:
    data, split = copied
    wide = tiny(
        ids=data.ids.to_pylist(), texts=data.texts.to_pylist(), labels=[("no", "yes")[each] for each in data.labels],
        user=data.attribute("user").to_pylist(), site=[f"s{row % 2}" if row else "s9" for row in range(N)],
        thread=["t"] * N,
    )  # fmt: skip
    columns = {"author": "user", "source": "site", "conversation": "thread"}
    cut = Split(split.name, wide.ids, split.parts, split.clusters, split.certificate, wide.fingerprint)
    subject = Subject(wide, cut, columns)
    found = {each.kind: each for each in find_leaks(subject)}
    assert found["source"].test.sum() == 89
    assert found[TOGETHER].left_out == (
        "source (it was not named)", "conversation (it concerns every test row)",
    )  # fmt: skip
    assert (found[TOGETHER].test == found["near"].test | found["author"].test).all()
    named = {each.kind: each for each in find_leaks(subject, ["exact", "source"])}
    assert named[TOGETHER].test.sum() >= 89
    assert named[TOGETHER].left_out == ()
    said = Predictions(wide.ids, np.eye(2)[wide.labels], wide.label_names)
    done = price_leaks(wide, cut, [found[TOGETHER]], Pricing(None), predictions=said)
    assert "Not among them: source (it was not named); conversation (it concerns" in done.findings[0].message


def test_columns_without_values_are_refused(tiny: Builder) -> None:
    data = tiny(user=[None, "", None, ""])
    parts = np.array([TRAIN, TRAIN, TEST, TEST])
    split = Split("s", data.ids, parts, np.full(4, -1), Certificate({}, {}), data.fingerprint)
    for kinds in (None, ["author"]):
        with pytest.raises(InputError, match="no value in any row"):
            find_leaks(Subject(data, split, {"author": "user"}), kinds)


def test_a_train_part_of_one_label_is_refused(copied: tuple[Dataset, Split], tmp_path: Path) -> None:
    data, split = copied
    parts = np.where(data.labels == 1, TEST, TRAIN)
    cut = Split("lone", data.ids, parts, split.clusters, Certificate({}, {}), data.fingerprint)
    with pytest.raises(InputError, match="one label only"):
        price_leaks(data, cut, [], QUICK, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_looked_for_is_refused(copied: tuple[Dataset, Split], tmp_path: Path) -> None:
    subject = Subject(*copied)
    with pytest.raises(InputError, match="author, semantic"):
        find_leaks(subject, ["exact", "author", "semantic"])
    with pytest.raises(InputError, match="did you mean 'exact'"):
        find_leaks(subject, ["exakt"])
    with pytest.raises(InputError, match="needs a model"):
        price_leaks(*copied, [], Pricing(None), out=tmp_path / "out")
    with pytest.raises(InputError, match="at least 1"):
        Pricing(repeats=0)
    assert not (tmp_path / "out").exists()


def test_gates_and_models_are_refused_before_the_data_is_read() -> None:
    with pytest.raises(InputError, match="is not a gate"):
        unseen.price("nowhere.csv", "nowhere-either.csv", gates=["fall.f1.macro is small"])
    with pytest.raises(InputError, match="did you mean 'logistic'"):
        unseen.price("nowhere.csv", "nowhere-either.csv", model="logistik")
