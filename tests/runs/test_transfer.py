"""Trained on one dataset, tested on another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, f1_score

from small_datasets import LABELS, given, small
from tiny_data import build
from unseen.audits.subject import Subject, contradicted, leak
from unseen.errors import InputError
from unseen.inference import predict
from unseen.naming import recipe_of
from unseen.reports.record import read_record
from unseen.runs.experiment import relabelled
from unseen.runs.frame import Result
from unseen.runs.transfer import MAJORITY, OTHERS, WITHOUT, Corpus, Extras, overlaps, training_sets, transfer
from unseen.runs.transfer_file import DatasetEntry, Member, members
from unseen.runs.transfer_page import TransferRun
from unseen.store import read_findings, read_measurements, read_split
from unseen.types import Dataset

QUICK = {"C": 1.0}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return transfer(
        given(), labels=LABELS, model="logistic", params=QUICK, trainings=2, pooled=True, cap=3,
        out=tmp_path_factory.mktemp("transfer") / "out",
    )  # fmt: skip


def transfer_run(done: Result) -> TransferRun:
    """What was written, read again."""
    assert done.folder is not None
    return TransferRun(read_record(done.folder, "transfer"))


def predicted(found: dict[str, Member], train: str, test: str) -> tuple[np.ndarray, np.ndarray]:
    """Gold labels and answers of a model that is trained here and now."""
    parts = {part: found[train].data.take(found[train].rows(part)) for part in ("train", "dev")}
    asked = found[test].data.take(found[test].rows("test"))
    answers = predict(recipe_of("logistic", **QUICK).fit(parts["train"], parts["dev"], 42), asked)
    return asked.labels, answers.probabilities.argmax(axis=1)


def test_scores_and_falls_are_those_of_the_recipe(done: Result) -> None:
    run, found = transfer_run(done), members(given(), LABELS)
    for train, test in (("red", "red"), ("red", "blue"), ("blue", "blue"), ("green", "red")):
        gold, said = predicted(found, train, test)
        expected = {
            "f1.macro": f1_score(gold, said, average="macro"),
            "accuracy": accuracy_score(gold, said),
            "f1[yes]": f1_score(gold, said, pos_label=1),
        }
        for metric, value in expected.items():
            row = run.row(metric, train, test)
            assert row is not None
            assert (row.value, row.n) == (pytest.approx(value), len(gold))
            if train != test:
                own = f1_score(*predicted(found, test, test), average="macro")
                assert run.fall(train, test).value == pytest.approx(own - expected["f1.macro"])  # type: ignore[union-attr]


def test_majority_is_that_of_a_dummy(done: Result) -> None:
    run = transfer_run(done)
    for member in members(given(), LABELS).values():
        train, test = (member.data.labels[member.rows(part)] for part in ("train", "test"))
        said = DummyClassifier(strategy="most_frequent").fit(train[:, None], train).predict(test[:, None])
        row = run.row("f1.macro", MAJORITY, member.name)
        assert row is not None
        assert row.value == pytest.approx(f1_score(test, said, average="macro"))


def test_mean_falls_are_means_of_falls(done: Result) -> None:
    run = transfer_run(done)
    falls = {cell: run.fall(*cell).value for cell in run.elsewhere}  # type: ignore[union-attr]
    assert len(falls) == 6
    assert min(falls.values()) > 0
    for train, test, chosen in (
        (OTHERS, OTHERS, list(falls)),
        ("red", OTHERS, [("red", "blue"), ("red", "green")]),
        (OTHERS, "red", [("blue", "red"), ("green", "red")]),
    ):
        row = run.fall(train, test)
        assert row is not None
        assert row.value == pytest.approx(np.mean([falls[cell] for cell in chosen]))
        assert row.low is not None
        assert row.low <= row.value <= row.high
    both = run.row("fall.f1.macro", "red", "blue", than_train="red", than_test="red")
    own, other = run.row("f1.macro", "red", "red"), run.row("f1.macro", "red", "blue")
    assert both.value == pytest.approx(own.value - other.value)  # type: ignore[union-attr,operator]


def test_the_folder_holds_what_was_found(done: Result) -> None:
    assert {name for name, _ in _sets(done)} == {"red", "blue", "green", "merged", "blue capped", "merged capped"}
    assert len(read_measurements(done.folder / "measurements.csv")) == len(done.measurements)
    assert read_findings(done.folder / "findings.csv") == list(done.record.findings)
    assert len(list((done.folder / "predictions").glob("*/*.parquet"))) == 6 * 3 * 2
    green = relabelled(given()["green"].data("green"), given()["green"].map, LABELS)
    sizes = read_split(done.folder / "splits" / "green.csv", green).sizes
    assert done.record.about["datasets"]["green"]["counts"]["test"].values()
    assert sizes["test"] == sum(done.record.about["datasets"]["green"]["counts"]["test"].values())
    singles = [row for row in done.measurements if row.tags.get("seed") in (42, 43)]
    assert len(singles) == 6 * 3 * 2 * 4


def _sets(done: Result) -> list[tuple[str, Any]]:
    return list(done.record.about["training_sets"].items())


def test_called_again_nothing_is_trained(done: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.runs.experiment.fit", lambda *given: pytest.fail("trained again"))
    plans: list[Any] = []
    again = transfer(
        given(),
        labels=LABELS,
        model="logistic",
        params=QUICK,
        trainings=2,
        pooled=True,
        cap=3,
        out=done.folder,
        announce=plans.append,
    )
    assert again.measurements == done.measurements
    assert plans[0].done == plans[0].trainings == 12


def test_the_order_of_rows_decides_nothing() -> None:
    shuffled = {
        name: replace(each, source=each.source.take(np.random.default_rng(3).permutation(len(each.source))))  # type: ignore[union-attr,arg-type]
        for name, each in given().items()
    }
    sides = [Corpus(members(entries, LABELS)) for entries in (given(), shuffled)]
    assert sides[0].data.order == sides[1].data.order
    assert sides[0].data.fingerprint == sides[1].data.fingerprint
    extras = Extras(pooled=True, cap=3, matched=True)
    for one, other in zip(*(training_sets(each, extras, 42)[0].values() for each in sides), strict=True):
        assert one.train.tolist() == other.train.tolist()
        assert one.dev.tolist() == other.dev.tolist()


# -- parts and training sets -------------------------------------------------------------------------------------------


def test_a_cap_leaves_as_many_as_it_says() -> None:
    corpus = Corpus(members(given(), LABELS))
    sets = training_sets(corpus, Extras(pooled=True, cap=2), 42)[0]
    blue = corpus.members["blue"]
    keys = [
        (user, int(label))
        for user, label in zip(blue.data.attribute("user").to_pylist(), blue.data.labels, strict=True)
    ]
    whole = [keys[row] for row in blue.rows("train")]
    kept = [keys[row] for row in sets["blue capped"].train - corpus.starts["blue"]]
    assert {key: kept.count(key) for key in set(whole)} == {key: min(2, whole.count(key)) for key in set(whole)}
    assert set(sets["blue capped"].train) <= set(sets["blue"].train)
    others = len(sets["red"].train) + len(sets["green"].train)
    assert len(sets["merged capped"].train) == len(kept) + others
    assert len(sets["merged"].train) == len(whole) + others


def test_a_cap_that_takes_nothing_is_told() -> None:
    corpus = Corpus(members(given(), LABELS))
    sets, findings = training_sets(corpus, Extras(cap=1000), 42)
    assert list(sets) == ["red", "blue", "green"]
    assert [(each.check, each.level) for each in findings] == [("cap[blue]", "skipped")]


def test_matched_sets_are_of_one_size_and_keep_their_mix() -> None:
    corpus = Corpus(members(given(), LABELS))
    whole = training_sets(corpus, Extras(pooled=True), 42)[0]
    sets = training_sets(corpus, Extras(pooled=True, matched=True), 42)[0]
    assert {len(each.train) for each in sets.values()} == {min(len(each.train) for each in whole.values())}
    for name, each in sets.items():
        assert set(each.train) <= set(whole[name].train)
        shares = [corpus.data.labels[rows].mean() for rows in (each.train, whole[name].train)]
        assert shares[0] == pytest.approx(shares[1], abs=1 / len(each.train))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"trainings": 0}, "too few or too many"),
        ({"trainings": 42}, "too few or too many"),
        ({"cap_by": "user"}, "cap_by has no effect without cap"),
        ({"cap": 0}, "cap is how many"),
        ({"cap": 5, "cap_by": "usr"}, "no attribute of any dataset is called 'usr'; did you mean 'user'"),
        ({"groups": "usr"}, "cannot be used as they are"),
        ({"positive": "yse"}, "did you mean 'yes'"),
        ({"model": "logistik"}, "did you mean 'logistic'"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_written(
    settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        transfer(given(), **{"labels": LABELS, "model": "logistic", "out": tmp_path / "out"} | settings)
    assert not (tmp_path / "out").exists()


def test_a_dataset_needs_another_and_a_name_of_its_own() -> None:
    with pytest.raises(InputError, match="one dataset has nowhere to go"):
        transfer({"red": small("red")}, model="logistic")
    with pytest.raises(InputError) as error:
        transfer({"red": small("red"), "merged": small("blue")}, model="logistic")
    assert error.value.problems == ("merged: that name has a meaning of its own in the tables",)
    both = {name: DatasetEntry(small(name), split="part") for name in ("red", "blue")}
    with pytest.raises(InputError, match="the files of 'red capped' and 'red_capped' would have one name"):
        transfer({"red": small("red"), "red_capped": small("blue")}, model="logistic", groups="user", cap=1)
    with pytest.raises(InputError, match="test has no effect"):
        transfer(both, model="logistic", test=0.3)
    with pytest.raises(InputError, match="groups has no effect"):
        transfer({name: replace(each, groups="user") for name, each in both.items()}, model="logistic", groups="user")
    with pytest.raises(InputError, match="no effect: no dataset has groups"):
        transfer({"red": small("red"), "blue": small("blue")}, model="logistic", cap=3)


# -- overlap -----------------------------------------------------------------------------------------------------------

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"


@pytest.fixture(scope="module")
def leaking() -> dict[str, DatasetEntry]:
    """Test texts of `blue` that stand in what `red` trains on: one word for word, one normalised, one nearly."""
    red, blue = small("red", 40), small("blue", 40)
    seen = [int(row) for row in range(40) if row % 4][:3]
    asked = [0, 4, 8]
    texts = {"red": red.texts.to_pylist(), "blue": blue.texts.to_pylist()}
    labels = {name: [LABELS[each] for each in data.labels] for name, data in (("red", red), ("blue", blue))}
    copies = [("Stay calm, all of you", "Stay calm, all of you"), ("rain again!!", "@ann RAIN again http://x.yz"),
              (LONG, f"{LONG} seventeen")]  # fmt: skip
    for place, (theirs, ours) in enumerate(copies):
        texts["red"][seen[place]], texts["blue"][asked[place]] = theirs, ours
        labels["red"][seen[place]], labels["blue"][asked[place]] = "yes", "no" if place == 1 else "yes"
    made = {
        name: build(data.ids.to_pylist(), texts[name], labels[name], LABELS, part=data.attribute("part").to_pylist())
        for name, data in (("red", red), ("blue", blue))
    }
    return {name: DatasetEntry(data, split="part") for name, data in made.items()}


def test_test_texts_in_training_data_are_found(leaking: dict[str, DatasetEntry]) -> None:
    corpus = Corpus(members(leaking, LABELS))
    found = overlaps(corpus, training_sets(corpus, Extras(pooled=True), 42)[0], 42)
    over = found["red", "blue"]
    assert [int(each.sum()) for each in over.kinds.values()] == [1, 2, 3, 1]
    assert over.ids == ("blue/000", "blue/004", "blue/008")
    finding = over.finding()
    assert (finding.level, finding.count) == ("fail", 3)
    assert finding.message == (
        "3 of 10 test texts of blue are in what red trains on: 1 word for word, 1 but for case, punctuation, handles "
        "and links, 1 nearly; 1 of them with another label there."
    )
    assert found["merged", "blue"].count == 3
    assert found["blue", "red"].count == found["blue", "blue"].count == 0
    assert found["blue", "red"].finding().level == "ok"


def test_scores_without_overlap_are_of_the_same_predictions(leaking: dict[str, DatasetEntry], tmp_path: Path) -> None:
    done = transfer(leaking, labels=LABELS, model="logistic", params=QUICK, trainings=1, out=tmp_path / "out")
    run, found = transfer_run(done), members(leaking, LABELS)
    gold, said = predicted(found, "red", "blue")
    kept = np.arange(10) > 2
    row = run.row("f1.macro", "red", "blue", WITHOUT)
    assert row is not None
    assert (row.n, row.value) == (7, pytest.approx(f1_score(gold[kept], said[kept], average="macro")))
    own_gold, own_said = predicted(found, "blue", "blue")
    own = f1_score(own_gold[kept], own_said[kept], average="macro")
    assert run.fall("red", "blue", slice=WITHOUT).value == pytest.approx(own - row.value)  # type: ignore[union-attr]
    assert run.row("f1.macro", "blue", "red", WITHOUT) is None
    assert any("without such texts" in each.casefold() for each in done.verdict.lines())
    assert len([each for each in done.findings if each.check.startswith("overlap")]) == 4


def test_an_overlap_is_what_an_audit_finds(leaking: dict[str, DatasetEntry]) -> None:
    """Of a text that stands in training with both labels, one contradicts: the nearest is not asked alone."""
    blue = leaking["blue"].source
    assert isinstance(blue, Dataset)
    texts, labels = blue.texts.to_pylist(), [LABELS[each] for each in blue.labels]
    texts[1], labels[1], labels[0] = texts[0], "no", "yes"
    texts[2], labels[2] = f"{texts[0]}!", "yes"
    own = build(blue.ids.to_pylist(), texts, labels, LABELS, part=blue.attribute("part").to_pylist())
    corpus = Corpus(members(leaking | {"blue": DatasetEntry(own, split="part")}, LABELS))
    over = overlaps(corpus, training_sets(corpus, Extras(), 42)[0], 42)["blue", "blue"]
    assert [int(each.sum()) for each in over.kinds.values()] == [1, 1, 1, 1]
    member = corpus.members["blue"]
    subject = Subject(member.data, member.parts)
    for kind in ("exact", "normalised", "near"):
        assert leak(subject, kind).test.tolist() == member.rows("test")[over.kinds[kind]].tolist()  # type: ignore[union-attr]
    assert contradicted(subject, "near").tolist() == member.rows("test")[over.kinds["conflict"]].tolist()


def test_a_text_of_handles_alone_is_like_its_copies() -> None:
    red, blue = small("red", 40), small("blue", 40)
    made = {}
    for name, data, row, label in (("red", red, 1, "yes"), ("blue", blue, 0, "no")):
        texts, labels = data.texts.to_pylist(), [LABELS[each] for each in data.labels]
        texts[row], labels[row] = "@somebody !!", label
        made[name] = DatasetEntry(
            build(data.ids.to_pylist(), texts, labels, part=data.attribute("part").to_pylist()), split="part"
        )
    corpus = Corpus(members(made, LABELS))
    over = overlaps(corpus, training_sets(corpus, Extras(), 42)[0], 42)["red", "blue"]
    assert [int(each.sum()) for each in over.kinds.values()] == [1, 1, 1, 1]


def test_empty_texts_are_no_copies_of_each_other() -> None:
    red, blue = small("red", 40), small("blue", 40)
    texts = blue.texts.to_pylist()
    texts[0] = "@somebody !!"
    theirs = red.texts.to_pylist()
    theirs[1] = "http://a.b @else"
    entries = {
        name: DatasetEntry(build(data.ids.to_pylist(), said, [LABELS[each] for each in data.labels],
                          part=data.attribute("part").to_pylist()), split="part")
        for name, data, said in (("red", red, theirs), ("blue", blue, texts))
    }  # fmt: skip
    corpus = Corpus(members(entries, LABELS))
    assert overlaps(corpus, training_sets(corpus, Extras(), 42)[0], 42)["red", "blue"].count == 0
