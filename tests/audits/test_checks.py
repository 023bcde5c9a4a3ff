"""Every check: what it says of data in which the answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score

from tiny_data import build
from unseen import load, split
from unseen.audits import Audit, Subject, audit
from unseen.audits.checks import CHECKS
from unseen.errors import InputError, UnknownNameError
from unseen.types import PARTS, Certificate, Dataset, Finding, Split

LINES = [
    "the baker sells warm bread in the morning", "a grey cat sleeps on the window sill", "rain fell all night on tents",
    "she painted the old boat bright green", "the train to the coast leaves at nine", "our team lost again last night",
]  # fmt: skip


def subject(parts: Sequence[str], columns: dict[str, str] | None = None, **content: Any) -> Subject:
    data = build([str(row) for row in range(len(parts))], part=parts, **content)
    return Subject(data, split(data, "predefined", by="part"), columns or {})


def finding(found: Audit, check: str) -> Finding:
    return next(each for each in found.findings if each.check == check)


def one(of: Subject, check: str) -> Finding:
    return finding(audit(of, [check]), check)


def test_the_same_copies_are_held_against_a_split_once() -> None:
    parts = ["train"] * 4 + ["test"] * 4
    copied = [*LINES[:4], LINES[0], LINES[1], LINES[4], LINES[5]]
    checks = ["exact_duplicates", "normalised_duplicates", "near_duplicates"]
    found = audit(subject(parts, texts=copied), checks)
    assert [(each.level, each.count) for each in found.findings] == [("fail", 2), ("ok", 2), ("ok", 2)]
    assert finding(found, "near_duplicates").message.endswith(": the texts of exact_duplicates, and no others.")
    copied[6] = f"{LINES[2]} 22"
    found = audit(subject(parts, texts=copied), checks)
    assert [(each.level, each.count) for each in found.findings] == [("fail", 2), ("ok", 2), ("fail", 3)]


def test_every_check_can_be_made_of_anything() -> None:
    data = load("sample")
    for of in (Subject(data), Subject(data, split(data, "random", test=0.2))):
        found = audit(of)
        assert {each.check.partition(".")[0] for each in found.findings} >= set(CHECKS) - {"author_concentration"}
        assert all(each.message.endswith(".") for each in found.findings)


def test_copies_on_both_sides_are_counted_by_kind() -> None:
    texts = [LINES[0], LINES[1], LINES[2], LINES[3], LINES[0], LINES[1].upper() + "!", LINES[2] + " all", LINES[4]]
    of = subject(["train"] * 4 + ["test"] * 4, texts=texts)
    counts = {kind: one(of, f"{kind}_duplicates") for kind in ("exact", "normalised", "near")}
    assert {kind: each.count for kind, each in counts.items()} == {"exact": 1, "normalised": 2, "near": 3}
    assert counts["exact"].level == "fail"
    assert counts["exact"].evidence == ("4",)
    assert counts["near"].message.startswith("3 of 4 test texts (75 %) have a training text")


def test_a_leak_below_a_hundredth_of_the_test_part_warns() -> None:
    rows = 300
    texts = [f"{LINES[row % 6]} {row}{row * 7}" for row in range(rows)]
    texts[0] = texts[-1]
    of = subject(["train"] * 100 + ["test"] * 200, texts=texts)
    assert one(of, "exact_duplicates").level == "warn"


def test_without_a_split_repeated_rows_are_counted() -> None:
    data = build(["a", "b", "c", "d"], texts=[LINES[0], LINES[0], LINES[0], LINES[1]], labels=["no", "yes", "no", "no"])
    found = audit(Subject(data), ["exact_duplicates", "conflicting_labels"])
    assert (finding(found, "exact_duplicates").count, finding(found, "exact_duplicates").level) == (2, "warn")
    assert finding(found, "conflicting_labels").count == 3


def test_copies_with_other_labels_are_counted_across() -> None:
    of = subject(
        ["train", "train", "test", "test"],
        texts=[LINES[0], LINES[1], LINES[0], LINES[1]],
        labels=["no", "no", "yes", "no"],
    )
    assert (one(of, "conflicting_labels").count, one(of, "conflicting_labels").evidence) == (1, ("2",))


def test_oversampling_before_the_split_is_what_chance_expects() -> None:
    items = [f"{LINES[row % 6]} number {row}" for row in range(1000) for _ in range(3)]
    parts = np.where(np.random.default_rng(2).random(3000) < 0.15, "test", "train").tolist()
    of = subject(parts, texts=items, labels=["no"] * 1500 + ["yes"] * 1500)
    found = audit(of, ["copied_items"])
    row = found.measurements[0]
    assert row.value == pytest.approx(0.3825, abs=0.03)
    assert row.tags["expected"] == pytest.approx(0.3825, abs=0.01)
    assert finding(found, "copied_items").level == "fail"


def test_copies_may_be_told_by_an_attribute() -> None:
    of = subject(["train", "test", "test"], {"original": "of"}, of=[None, "0", None])
    assert one(of, "copied_items").count == 1


def test_groups_on_both_sides_fail_and_sources_warn() -> None:
    of = subject(["train", "train", "test"], {"author": "who", "source": "site"}, who=["a", "b", "a"], site=["x"] * 3)
    assert (one(of, "author").level, one(of, "source").level) == ("fail", "warn")
    assert one(of, "author").message == (
        "1 of 1 test texts (100 %) are by authors who also wrote training texts; 1 authors are on both sides."
    )
    assert finding(audit(of), "template").level == "skipped"


@pytest.mark.parametrize(
    ("days", "level", "count"), [([1, 2, 3, 4], "ok", 0), ([1, 3, 2, 4], "warn", 1), ([1, 3, 3, 4], "ok", 0)]
)
def test_older_test_texts_are_counted(days: list[int], level: str, count: int) -> None:
    of = subject(["train", "train", "test", "test"], {"time": "day"}, day=[f"2020-01-0{day}" for day in days])
    assert (one(of, "time_order").level, one(of, "time_order").count) == (level, count)


def test_rows_without_a_time_are_left_out() -> None:
    of = subject(["train", "train", "test", "test"], {"time": "day"}, day=[1, None, None, 2])
    assert one(of, "time_order").message.startswith("0 of 1 test texts")


def test_a_skewed_class_mix_fails_and_chance_does_not() -> None:
    labels = ["no"] * 80 + ["yes"] * 20 + ["no"] * 10 + ["yes"] * 10
    assert one(subject(["train"] * 100 + ["test"] * 20, labels=labels), "class_mix").level == "fail"
    even = ["no", "yes"] * 60
    assert one(subject(["train"] * 100 + ["test"] * 20, labels=even), "class_mix").level == "ok"
    by_chance = ["no", "yes"] * 50 + ["no"] * 11 + ["yes"] * 9
    assert one(subject(["train"] * 100 + ["test"] * 20, labels=by_chance), "class_mix").level == "ok"
    gone = ["no", "yes"] * 50 + ["no"] * 20
    assert (
        "'yes' is missing on one side"
        in one(subject(["train"] * 100 + ["test"] * 20, labels=gone), "class_mix").message
    )


def test_a_small_test_part_warns() -> None:
    of = subject(["train"] * 100 + ["test"] * 20)
    assert one(of, "sizes").level == "warn"
    assert "± 20 points" in one(of, "sizes").message


def test_longer_test_texts_are_seen() -> None:
    texts = [" ".join(["word"] * (5 + row % 3)) for row in range(60)] + [" ".join(["word"] * 20)] * 20
    assert one(subject(["train"] * 60 + ["test"] * 20, texts=texts), "text_lengths").level == "warn"


def test_baselines_are_those_of_scikit_learn() -> None:
    draw = np.random.default_rng(3)
    labels = np.where(draw.random(400) < 0.3, "yes", "no")
    parts = ["train"] * 300 + ["test"] * 100
    found = audit(subject(parts, labels=labels.tolist()), ["baselines"])
    scores = {row.tags["baseline"]: row.value for row in found.measurements if row.metric == "f1.macro"}
    dummy = DummyClassifier().fit(labels[:300], labels[:300]).predict(labels[300:])
    assert scores["majority"] == pytest.approx(f1_score(labels[300:], dummy, average="macro"))


@pytest.mark.parametrize(("told", "level"), [(False, "ok"), (True, "warn")])
def test_lengths_are_judged_by_chance_and_not_by_the_majority(told: bool, level: str) -> None:
    draw = np.random.default_rng(4)
    labels = np.where(draw.random(800) < 0.5, "yes", "no")
    words = np.where(labels == "yes", 5, 9) + draw.integers(0, 5, 800) if told else draw.integers(3, 30, 800)
    texts = [" ".join(["word"] * int(n)) for n in words]
    found = audit(subject(["train"] * 500 + ["test"] * 300, labels=labels.tolist(), texts=texts), ["baselines"])
    assert finding(found, "baselines").level == level
    scores = {row.tags["baseline"]: row.value for row in found.measurements if row.metric == "f1.macro"}
    assert scores["majority"] < 0.4 < scores["chance"] < 0.6


def test_what_no_author_is_known_of_is_not_called_clean() -> None:
    none = subject(["train"] * 3 + ["test"] * 3, {"author": "who"}, who=[None] * 6)
    assert one(none, "author").level == "skipped"
    few = subject(["train"] * 3 + ["test"] * 3, {"author": "who"}, who=["a", "b", None, "c", None, None])
    assert (one(few, "author").level, one(few, "author").count) == ("warn", 0)
    assert "Of 2 further test texts no author is known" in one(few, "author").message


def test_numbers_that_are_none_are_no_author() -> None:
    nan = float("nan")
    of = subject(["train", "train", "test", "test"], {"author": "who"}, who=[nan, 1.0, nan, 2.0])
    assert one(of, "author").count == 0


def test_only_direct_near_copies_contradict_each_other() -> None:
    words = [f"word{row}{row}" for row in range(40)]
    texts = [" ".join(words[start : start + 20]) for start in range(10)]
    data = build([str(row) for row in range(10)], texts=texts, labels=["no"] * 5 + ["yes"] * 5)
    found = audit(Subject(data), ["conflicting_labels"])
    assert 2 <= finding(found, "conflicting_labels.near").count < 10


@pytest.mark.parametrize("parts", [["train", "train", "dev"], ["test", "test", "test"]])
def test_a_split_with_one_side_is_told_and_breaks_nothing(parts: list[str]) -> None:
    data = build(["a", "b", "c"], texts=[LINES[0], LINES[0], LINES[1]])
    codes = np.array([PARTS.index(part) for part in parts], dtype=np.int8)
    certificate = Certificate({}, {})
    one_sided = Split("one", data.ids, codes, np.full(3, -1, np.int32), certificate, data.fingerprint)
    levels = {each.check: each.level for each in audit(Subject(data, one_sided)).findings}
    assert levels["exact_duplicates"] == levels["copied_items"] == levels["conflicting_labels"] == "skipped"


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (["31.12.2022", "30.12.2022", "1.1.2023"], "holds no times"),
        (["9", "8", "10"], "holds no times"),
        (["2022-01-01", "unknown", "2022-02-01"], "holds no times"),
    ],
)
def test_times_that_cannot_be_read_are_not_compared_as_words(days: list[str], said: str) -> None:
    of = subject(["train", "train", "test"], {"time": "day"}, day=days)
    found = finding(audit(of), "time_order")
    assert found.level == "skipped"
    assert said in found.message


def broken_check(data: Dataset, given: Split | None = None) -> list[Finding]:
    raise KeyError("nothing")


def own_check(data: Dataset, given: Split | None = None) -> list[Finding]:
    return [Finding("mine", "warn", f"{len(data)} rows")]


def not_a_check(data: Dataset, given: Split | None = None) -> list[str]:
    return ["nothing"]


def test_a_check_of_the_users_own_is_asked() -> None:
    of = subject(["train", "test"])
    assert audit(of, [f"{__name__}:own_check"]).findings == (Finding("mine", "warn", "2 rows"),)
    with pytest.raises(InputError, match="other things than findings"):
        audit(of, [f"{__name__}:not_a_check"])
    with pytest.raises(InputError, match="broken_check' failed: KeyError"):
        audit(of, [f"{__name__}:broken_check"])
    with pytest.raises(UnknownNameError, match="near_duplicates"):
        audit(of, ["near_duplicate"])
