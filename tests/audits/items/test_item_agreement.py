"""Flags against hand labels, and two annotators against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from tiny_data import build
from unseen.audits.items import (
    Flags,
    Gold,
    RuleName,
    annotator_agreement,
    cohen_kappa,
    hand_label_findings,
    measure_rules,
    read_gold,
)
from unseen.audits.items.hand_labels import scores_of
from unseen.errors import InputError, MismatchError, TableError, UnknownNameError

RULES = (RuleName("a", "p", ""), RuleName("b", "p", ""))
PUBLISHED = {  # counts, then accuracy, precision, recall in per cent and the share of straplines, as printed
    "NYT": ((6, 8, 2, 81), (90, 43, 75, 8), 0.545),
    "Time.com": ((25, 12, 14, 44), (73, 68, 64, None), 0.658),
}


def arrays(counts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    tp, fp, fn, tn = counts
    return np.array([1] * (tp + fp) + [0] * (fn + tn), bool), np.array([1] * tp + [0] * fp + [1] * fn + [0] * tn, bool)


@pytest.mark.parametrize("source", PUBLISHED)
def test_the_published_detector(source: str) -> None:
    counts, printed, f1 = PUBLISHED[source]
    flagged, bad = arrays(counts)
    found = {row.metric: row for row in scores_of(flagged, bad, {})}
    names = ("flag_accuracy", "flag_precision", "flag_recall")
    assert tuple(round(100 * found[name].value) for name in names) == printed[:3]  # type: ignore[operator]
    assert round(found["flag_f1"].value, 3) == f1  # type: ignore[arg-type]
    assert tuple(found["flag_f1"].tags[name] for name in ("tp", "fp", "fn", "tn")) == counts
    if printed[3]:
        assert round(100 * bad.mean()) == printed[3]
    for name, n in (("flag_precision", counts[0] + counts[1]), ("flag_recall", counts[0] + counts[2])):
        interval = binomtest(counts[0], n).proportion_ci(method="wilson")
        assert (found[name].low, found[name].high) == pytest.approx((interval.low, interval.high), abs=1e-6)
    drawn = np.random.default_rng(1).multinomial(sum(counts), np.array(counts) / sum(counts), 4000)
    spread = np.quantile(2 * drawn[:, 0] / (2 * drawn[:, 0] + drawn[:, 1] + drawn[:, 2]), [0.025, 0.975])
    assert (found["flag_f1"].low, found["flag_f1"].high) == pytest.approx(tuple(spread), abs=0.08)


def judged(source: str) -> tuple[Flags, Gold, object]:
    """The published items as a dataset: rules fire as counted, three items more are skipped."""
    flagged, bad = arrays(PUBLISHED[source][0])
    labels = [*("strapline" if each else "summary" for each in bad), *["skipped"] * 3]
    fired = np.stack([np.append(flagged, [True] * 3), np.zeros(len(labels), bool)], axis=1)
    data = build([str(row) for row in range(len(labels))], place=[source] * 50 + ["elsewhere"] * (len(labels) - 50))
    flags = Flags(data.ids, RULES, fired)
    return flags, Gold(np.arange(len(data)), tuple(labels)), data


def test_skipped_items_are_in_nothing() -> None:
    flags, gold, data = judged("NYT")
    rows = measure_rules(flags, gold, data, invalid=["strapline"], slices=["place"])  # type: ignore[arg-type]
    found = {(row.metric, row.slice): row for row in rows if row.tags.get("threshold", 1) == 1}
    assert found["flag_accuracy", "all"].n == 97
    assert found["left_out_share", "all"].value == 0.03
    assert found["rule_conflict", "all"].value == pytest.approx(8 / 14)
    assert found["flag_accuracy", "place=NYT"].n + found["flag_accuracy", "place=elsewhere"].n == 97
    assert max(row.tags.get("threshold", 1) for row in rows) == 1  # no item is flagged by two rules
    findings = {each.check: each for each in hand_label_findings(rows)}
    assert findings["items.accuracy"].level == "warn"  # 90 % against 92 % of flagging nothing
    assert "89.7 %" in findings["items.accuracy"].message
    assert "91.8 %" in findings["items.accuracy"].message
    assert findings["items.hand_labels"].level == "warn"


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=3, max_size=30))
def test_scores_at_every_threshold_are_those_of_scikit_learn(said: list[tuple[bool, bool, bool]]) -> None:
    fired, bad = np.array([each[:2] for each in said]), np.array([each[2] for each in said])
    bad[0] = True
    data = build([str(row) for row in range(len(said))])
    gold = Gold(np.arange(len(said)), tuple("no" if each else "yes" for each in bad))
    rows = measure_rules(Flags(data.ids, RULES, fired), gold, data)
    for threshold in range(1, max(1, int(fired.sum(axis=1).max())) + 1):
        found = {row.metric: row.value for row in rows if row.tags.get("threshold") == threshold}
        flagged = fired.sum(axis=1) >= threshold
        precision, recall, f1, _ = precision_recall_fscore_support(bad, flagged, average="binary", zero_division=0)
        assert found["flag_precision"] == (pytest.approx(precision) if flagged.any() else None)
        assert (found["flag_recall"], found["flag_f1"]) == pytest.approx((recall, f1))


def test_labels_that_say_invalid_are_named_or_usual() -> None:
    flags, gold, data = judged("NYT")
    with pytest.raises(InputError, match="no hand label says"):
        measure_rules(flags, gold, data)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="strapline"):
        measure_rules(flags, gold, data, invalid=["straplin"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no hand label is a judgement"):
        measure_rules(flags, gold, data, invalid=["summary"], left_out=["summary", "strapline", "skipped"])  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_kappa_is_that_of_scikit_learn(said: list[tuple[bool, bool]]) -> None:
    first, second = (np.array(each) for each in zip(*said, strict=True))
    found = cohen_kappa(first, second)
    if found is None:
        assert len({*first.tolist(), *second.tolist()}) == 1
    else:
        assert found == pytest.approx(cohen_kappa_score(first, second))


SCHEME = {"strapline": ("strapline", "both"), "summary": ("summary", "both")}


def test_views_of_a_scheme_with_several_labels() -> None:
    first = ["strapline", "both", "summary", "summary", "skipped", "neither", "summary"]
    second = ["strapline", "summary", "summary", "both", "summary", "neither", None]
    gold = Gold(np.arange(7), tuple(first), tuple(second))
    rows = {(row.metric, row.tags["view"], row.tags.get("annotator")): row for row in annotator_agreement(gold, SCHEME)}
    assert rows["rater_agreement", "strapline", None].value == 3 / 5
    assert rows["rater_agreement", "summary", None].value == 1.0
    assert rows["prevalence", "strapline", "first"].value == 2 / 5
    kappa = rows["cohen_kappa", "strapline", None]
    assert kappa.value == pytest.approx(cohen_kappa_score([1, 1, 0, 0, 0], [1, 0, 0, 1, 0]))
    assert kappa.low <= kappa.value <= kappa.high  # type: ignore[operator]
    views = {row.tags["view"] for row in annotator_agreement(gold)}
    assert views == {"strapline", "summary", "both", "neither"}
    two = Gold(np.arange(2), ("yes", "no"), ("yes", "no"))
    assert {row.tags["view"] for row in annotator_agreement(two)} == {"no"}


def test_views_and_annotators_that_are_not_there() -> None:
    with pytest.raises(InputError, match="one annotator only"):
        annotator_agreement(Gold(np.arange(1), ("yes",)))
    with pytest.raises(InputError, match="by both"):
        annotator_agreement(Gold(np.arange(1), ("yes",), (None,)))
    with pytest.raises(UnknownNameError, match="nope"):
        annotator_agreement(Gold(np.arange(1), ("yes",), ("no",)), {"v": ["nope"]})


def test_hand_labels_are_read_by_id(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("id,valid,other\n3,no,yes\n1,yes,\n2,,no\n")
    gold = read_gold(path, build(), second="other")
    assert gold.rows.tolist() == [2, 0]
    assert gold.labels == ("no", "yes")
    assert gold.second == ("yes", None)


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        ("id,valid\n1,yes\n1,no\n", TableError, "the id of another row"),
        ("id,valid\n9,yes\n", MismatchError, "not in tiny"),
        ("id,vali\n1,yes\n", UnknownNameError, "did you mean 'vali'"),
        ("id,valid\n1,\n", TableError, "no hand labels"),
    ],
)
def test_hand_labels_that_are_wrong(content: str, error: type[Exception], said: str, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(content)
    with pytest.raises(error, match=said):
        read_gold(tmp_path / "gold.csv", build())
