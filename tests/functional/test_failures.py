"""The kind of failure in a sentence: one test per kind, and numbers that agree with plain counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.functional import as_suite, check
from unseen.functional.pass_rates import FailureKind, kind_of_failure
from unseen.functional.suite import partners
from unseen.types import Dataset, Predictions

Builder = Callable[..., Dataset]
LABELS = ["fine", "rude"]


def judged(suite: Dataset, said: list[int]) -> FailureKind:
    codes = np.array(said)
    return kind_of_failure(suite, (codes == suite.labels).astype(float), codes)


@pytest.fixture
def suite(tiny: Builder) -> Dataset:
    """Eight functionalities, each of three templates for two groups; odd ones contrast with the one before."""
    rows = range(48)
    return as_suite(
        tiny(
            ids=[f"c{row}" for row in rows], label_names=LABELS, labels=[LABELS[row // 6 % 2] for row in rows],
            functionality=[f"f{row // 6}" for row in rows], template=[str(row // 2) for row in rows],
            target=["cooks", "waiters"] * 24, reference=[f"c{row - 6}" if row // 6 % 2 else None for row in rows],
        )
    )  # fmt: skip


def test_nothing_fails(suite: Dataset) -> None:
    assert judged(suite, suite.labels.tolist()).sentence == "It passes all 48 cases that it could be judged on."
    nothing = kind_of_failure(suite, np.full(48, np.nan), np.zeros(48, int))
    assert (nothing.kind, nothing.sentence) == ("none", "No case could be judged.")


def test_one_label_nearly_always(suite: Dataset) -> None:
    found = judged(suite, [1, 1, *[0] * 46])
    assert found.sentence == (
        "It says fine for 96 % of all cases: it misses 100 % of the rude ones and is right about 92 % of the others."
    )
    assert (found.kind, found.failures, found.explained) == ("one label", 26, 24)


def test_one_group_fails(suite: Dataset) -> None:
    said = [1 - label if row % 2 and row % 4 == 1 else label for row, label in enumerate(suite.labels.tolist())]
    assert judged(suite, said).sentence == (
        "It fails when an identity is swapped: 100 % of the failures are sentences that it passes for another group, "
        "and it fails 50 % of the cases about waiters and 0 % of those about other groups."
    )


def test_few_functionalities_fail(suite: Dataset) -> None:
    said = [1 - label if row // 6 in (2, 5) else label for row, label in enumerate(suite.labels.tolist())]
    assert judged(suite, said).sentence == ("It errs mostly on f2: 50 % of the failures are in 1 of 8 functionalities.")
    said[12:14] = [1 - each for each in said[12:14]]
    said[0] = 1
    assert judged(suite, said).sentence == "It errs mostly on f5: 55 % of the failures are in 1 of 8 functionalities."


def test_contrasts_are_not_seen(suite: Dataset) -> None:
    said = [0 if row // 6 % 2 and row % 6 < 4 else label for row, label in enumerate(suite.labels.tolist())]
    said[:2] = [1, 1]
    assert judged(suite, said).sentence == (
        "It does not see what changes the label: 78 % of the failures get the answer of a case with another label "
        "that is nearly the same."
    )


def test_altered_texts_fail(tiny: Builder) -> None:
    functionality, reference = ["plain"] * 2 + ["typo"] * 4, [None, None, "a", "b", "a", "b"]
    data = tiny(
        ids=list("abcdef"), label_names=LABELS, labels=LABELS * 3, functionality=functionality, reference=reference
    )
    assert judged(as_suite(data), [0, 0, 1, 1, 1, 1]).sentence == (
        "It fails when a text is altered: 67 % of the failures get another answer than the text that they alter."
    )


def test_one_label_fails_more(tiny: Builder) -> None:
    suite = as_suite(tiny(ids=list("abcdef"), label_names=LABELS, labels=LABELS * 3, functionality=["f", "g"] * 3))
    assert judged(suite, [0, 0, 0, 0, 0, 1]).sentence == (
        "It errs mostly on rude cases: it misses 67 % of them and 0 % of the others."
    )


def test_failures_are_everywhere(tiny: Builder) -> None:
    suite = as_suite(tiny(ids=list("abcd"), label_names=LABELS, labels=LABELS * 2, functionality=["f", "g"] * 2))
    assert judged(suite, [1, 0, 0, 1]).sentence == "It fails 50 % of the cases, spread over 2 of 2 functionalities."


def test_the_sentence_is_measured_with_the_rest(suite: Dataset) -> None:
    rows = check(suite, Predictions(suite.ids, np.tile([1.0, 0.0], (48, 1)), suite.label_names))
    (row,) = [row for row in rows if row.metric == "failures_explained"]
    assert (row.value, row.n, row.tags["failure"]) == (1.0, 24, "one label")
    assert str(row.tags["sentence"]).startswith("It says fine for 100 % of all cases")


def percent(part: int, whole: int) -> str:
    return "100" if part == whole else "0" if part == 0 else str(min(99, max(1, round(100 * part / whole))))


@given(wrong=st.lists(st.sampled_from([0, 0, 1]), min_size=48, max_size=48), always=st.booleans())
def test_numbers_agree_with_counts(suite: Dataset, wrong: list[int], always: bool) -> None:
    gold = suite.labels.tolist()
    said = [0 if always and row % 12 else abs(label - wrong[row]) for row, label in enumerate(gold)]
    failed = [row for row in range(48) if said[row] != gold[row]]
    found = judged(suite, said)
    numbers = re.findall(r"(\d+) %", found.sentence)
    target, functionality = (suite.attribute(name).to_pylist() for name in ("target", "functionality"))
    assert found.failures == len(failed)
    if found.kind == "none":
        assert not failed
        return
    if found.kind == "one label":
        label = LABELS.index(re.findall(r"says (\w+)", found.sentence)[0])
        own = [row for row in range(48) if gold[row] == label]
        expected = [(said.count(label), 48), (len(set(failed) - set(own)), 24), (len(set(own) - set(failed)), 24)]
    elif found.kind == "swap":
        worst = re.findall(r"about (\w+) and", found.sentence)[0]
        swapped = [row for row in failed if row ^ 1 not in failed]
        of_worst = sum(target[row] == worst for row in failed)
        expected = [(len(swapped), len(failed)), (of_worst, 24), (len(failed) - of_worst, 24)]
    elif found.kind == "functionalities":
        few = int(re.findall(r"in (\d+) of 8", found.sentence)[0])
        top = Counter(functionality[row] for row in failed).most_common(few)
        expected = [(sum(count for _, count in top), len(failed))]
    elif found.kind == "contrast":
        pairs = list(zip(*(each.tolist() for each in partners(suite)), strict=True))
        expected = [(sum(said[a] == said[b] and a in failed for a, b in pairs), len(failed))]
    elif found.kind == "label":
        label = LABELS.index(re.findall(r"on (\w+) cases", found.sentence)[0])
        of_label = sum(gold[row] == label for row in failed)
        expected = [(of_label, 24), (len(failed) - of_label, 24)]
    else:
        expected = [(len(failed), 48)]
    assert numbers == [percent(*each) for each in expected]
