"""What leaks buy, from finding them to the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unseen.audits.subject import Subject
from unseen.errors import InputError
from unseen.reports.price_page import headlines, is_price, price_section, write_price_page
from unseen.splits.partition import TEST, TRAIN
from unseen.store import read_findings, read_measurements
from unseen.study.arms import answers
from unseen.study.price import TOGETHER, Leaked, Priced, Pricing, find_leaks, price
from unseen.study.spaces import Model
from unseen.types import Certificate, Dataset, Measurement, Predictions, Split

Builder = Callable[..., Dataset]
N, COPIES = 240, 40
NOUNS = [f"word{each}" for each in range(60)]
QUICK = Pricing(Model("logistic"), seeds=2, repeats=2)


@pytest.fixture(scope="module")
def copied(tiny: Builder) -> tuple[Dataset, Split]:
    """Texts that say nothing about their labels; some test rows repeat a training row, with its label."""
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.choice(NOUNS, 8)) for _ in range(N)]
    labels = draw.integers(2, size=N)
    for row in range(COPIES):
        texts[row], labels[row] = texts[N - 1 - row], labels[N - 1 - row]
    ids = [f"r{row:03}" for row in range(N)]
    users = [f"u{row}" if row >= 4 else "u200" for row in range(N)]
    data = tiny(ids=ids, texts=texts, labels=[("no", "yes")[each] for each in labels], user=users)
    parts = np.where(np.arange(N) < 90, TEST, TRAIN)
    return data, Split("half", data.ids, parts, np.full(N, -1), Certificate({}, {}), data.fingerprint)


@pytest.fixture(scope="module")
def priced(copied: tuple[Dataset, Split], tmp_path_factory: pytest.TempPathFactory) -> tuple[Priced, Path]:
    data, split = copied
    out = tmp_path_factory.mktemp("price") / "out"
    leaks = find_leaks(Subject(data, split, {"author": "user"}), ["exact", "author"])
    return price(data, split, leaks, QUICK, out=out), out


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
    assert (np.flatnonzero(author.test).tolist(), np.flatnonzero(author.train).tolist()) == ([0, 1, 2, 3], [200])
    assert together.kind == TOGETHER
    assert (together.test == (exact.test | author.test)).all()
    assert (together.train == (exact.train | author.train)).all()


def test_copies_are_worth_points_on_both_sides(priced: tuple[Priced, Path]) -> None:
    rows = priced[0].measurements
    for side in ("test", "train"):
        bought = one(rows, "price.f1.macro", leak="exact", side=side, rows="all")
        assert 0.01 < bought.low < bought.value < bought.high  # type: ignore[operator]
    # without the copies in training, their test rows are guessed, and the others were never helped
    leaked = one(rows, "price.f1.macro", leak="exact", side="train", rows="leaked")
    others = one(rows, "price.f1.macro", leak="exact", side="train", rows="unleaked")
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
        trained.update({arm.name: (arm.train, arm.dev) for arm in arms})
        return answers(arms, model, results, **options)

    monkeypatch.setattr("unseen.study.price.answers", noted)
    leaks = find_leaks(Subject(data, split), ["exact"])
    price(data, split, leaks, Pricing(Model("logistic"), seeds=1, repeats=3))
    assert len(trained) == 5
    whole, without, *random = trained.values()
    for part in (0, 1):
        assert all(each[part].label_counts == without[part].label_counts for each in random)
    assert len({each[0].fingerprint for each in (without, *random)}) == 4
    assert len(whole[0]) + len(whole[1]) == 150
    assert len(without[0]) + len(without[1]) == 150 - COPIES
    kept = {name for part in without for name in part.ids.to_pylist()}
    assert kept.isdisjoint(data.ids.take(np.flatnonzero(leaks[0].train)).to_pylist())


def test_the_folder_holds_what_was_measured(priced: tuple[Priced, Path]) -> None:
    done, out = priced
    assert is_price(out)
    back = read_measurements(out / "measurements.csv")
    assert [(row.metric, row.value) for row in back] == [(row.metric, row.value) for row in done.measurements]
    assert [each.message for each in read_findings(out / "findings.csv")] == [each.message for each in done.findings]
    assert (out / "leaks.csv").read_text().splitlines()[:2] == ["leak,side,id", "exact,test,r000"]
    page = (out / "report.html").read_bytes()
    assert done.report is not None
    assert write_price_page(out).read_bytes() == page
    assert b"buy" in page
    assert b"word1" not in page
    assert (out / "tables" / "train-side.md").exists()
    first, second = headlines(back, "f1.macro")
    assert first.startswith("The leaks (all kinds) buy ")
    assert "trained again without the 40 leaked training rows" in second
    assert price_section(back, done.findings, "f1.macro")["level"] == "fail"


def test_predictions_alone_have_a_price_without_training(
    copied: tuple[Dataset, Split], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, split = copied
    monkeypatch.setattr("unseen.study.arms.fit", lambda *given: pytest.fail("trained"))
    right = np.arange(N) < COPIES + 25
    said = Predictions(data.ids, np.eye(2)[np.where(right, data.labels, 1 - data.labels)], data.label_names)
    done = price(data, split, find_leaks(Subject(data, split), ["exact"]), Pricing(None), predictions=said)
    assert {row.tags.get("side") for row in done.measurements if row.metric != "leaked_rows"} == {"test"}
    assert one(done.measurements, "price.f1.macro", leak="exact").value > 0.1  # type: ignore[operator]


def test_the_order_of_rows_decides_nothing(copied: tuple[Dataset, Split], priced: tuple[Priced, Path]) -> None:
    data, split = copied
    shuffled = data.take(np.random.default_rng(1).permutation(N))
    how = Pricing(Model("logistic"), seeds=1, repeats=1)
    first, second = (
        price(each, split, find_leaks(Subject(each, split), ["exact"]), how).measurements for each in (data, shuffled)
    )
    assert [row.value for row in second] == pytest.approx([row.value for row in first])


def test_no_leaks_are_said_to_be_none(copied: tuple[Dataset, Split], monkeypatch: pytest.MonkeyPatch) -> None:
    data, split = copied
    monkeypatch.setattr("unseen.study.arms.fit", lambda *given: pytest.fail("trained"))
    nothing = np.zeros(N, bool)
    done = price(data, split, [Leaked("near", nothing, nothing)], QUICK)
    assert [each.level for each in done.findings] == ["ok"]
    assert headlines(done.measurements, "f1.macro") == ["No test row leaks: nothing to price (near)."]


def test_leaks_that_leave_no_row_of_a_label_are_not_priced(copied: tuple[Dataset, Split]) -> None:
    data, split = copied
    all_yes = data.labels == 1
    tested = split.parts == TEST
    done = price(data, split, [Leaked("near", all_yes & tested, all_yes & ~tested)], QUICK)
    assert [each.level for each in done.findings] == ["skipped"]
    assert "cannot be priced" in done.findings[0].message


def test_what_cannot_be_looked_for_is_refused(copied: tuple[Dataset, Split], tmp_path: Path) -> None:
    subject = Subject(*copied)
    with pytest.raises(InputError, match="author, semantic"):
        find_leaks(subject, ["exact", "author", "semantic"])
    with pytest.raises(InputError, match="did you mean 'exact'"):
        find_leaks(subject, ["exakt"])
    with pytest.raises(InputError, match="needs a model"):
        price(*copied, [], Pricing(None), out=tmp_path / "out")
    with pytest.raises(InputError, match="at least 1"):
        Pricing(repeats=0)
    assert not (tmp_path / "out").exists()
