"""Plausibility against plain loops and scikit-learn, and the floors and ceilings of HateXplain's test posts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import auc, f1_score, precision_recall_curve

from unseen.errors import InputError
from unseen.explanations.plausibility import (
    Plausibility,
    RationaleLexicon,
    f1_of_means,
    floors_and_ceilings,
    one_against_others,
    plausibility,
    random_scores,
    union,
)

Posts = tuple[list[list[str]], list[np.ndarray]]
ANCHORS = {
    "random": (0.29, 0.10, 0.15, 0.44),
    "constant": (0.50, 0.11, 0.25, 0.70),
    "lexicon": (0.47, 0.23, 0.31, 0.81),
    "oracle": (0.61, 0.26, 0.46, 1.0),
    "annotator": (0.64, 0.50, 0.57, 0.81),
}
"""Token F1, IoU F1 as released and merged, AUPRC on 1,142 toxic test posts; `random` is a single lucky draw."""
AVERAGED = (0.284, 0.096, 0.137, 0.438)
"""The same of many random draws."""


def means_of(judged: Plausibility, texts: Any = slice(None)) -> dict[str, float]:
    """The four figures over all texts that have a value, or over some."""
    token_f1, auprc, released, merged = (
        np.nanmean(values[texts], axis=0) for values in (judged.token_f1, judged.auprc, judged.released, judged.merged)
    )
    return {
        "token_f1": float(token_f1),
        "iou_f1.released": float(f1_of_means(released)),
        "iou_f1.merged": float(f1_of_means(merged)),
        "auprc": float(auprc),
    }


def masks(*rows: str) -> list[np.ndarray]:
    return [np.array([mark == "x" for mark in row]) for row in rows]


def drawn(texts: int = 60, seed: int = 5) -> tuple[list[np.ndarray], list[np.ndarray]]:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 15, texts)
    return [draw.random(n) < 0.4 for n in sizes], [draw.integers(0, 6, n) / 6 for n in sizes]


def spans_of(mask: np.ndarray, single: bool = False) -> list[set[int]]:
    spans: list[set[int]] = []
    for place in np.flatnonzero(mask).tolist():
        if spans and place - 1 in spans[-1] and not single:
            spans[-1].add(place)
        else:
            spans.append({place})
    return spans


def span_scores(gold: np.ndarray, chosen: np.ndarray, single: bool) -> tuple[float, float]:
    """Precision and recall of spans of one text, by their definition."""
    truth, spans = spans_of(gold), spans_of(chosen, single)
    hits = sum(max(len(span & other) / len(span | other) for other in truth) >= 0.5 for span in spans)
    return hits / len(spans), hits / len(truth)


def test_numbers_are_those_of_plain_loops() -> None:
    gold, scores = drawn()
    result = plausibility(gold, scores, k=3)
    for text, (truth, values) in enumerate(zip(gold, scores, strict=True)):
        numbers = (result.token_f1[text], result.auprc[text], *result.released[text], *result.merged[text])
        if not truth.any():
            assert np.isnan(numbers).all()
            continue
        chosen = np.isin(np.arange(len(truth)), np.argsort(-values, kind="stable")[:3])
        precision, recall, _ = precision_recall_curve(truth, values)
        expected = (f1_score(truth, chosen), auc(recall, precision))
        expected += (*span_scores(truth, chosen, True), *span_scores(truth, chosen, False))
        assert numbers == pytest.approx(expected), text
    assert np.nanmax(result.merged) <= 1


def test_means_are_over_texts_and_iou_f1_is_that_of_mean_precision_and_recall() -> None:
    gold, scores = drawn()
    result, known = plausibility(gold, scores), [mask.any() for mask in gold]
    precision, recall = result.merged[known].mean(axis=0)
    means = means_of(result)
    assert means["iou_f1.merged"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert means["token_f1"] == pytest.approx(result.token_f1[known].mean())
    some = means_of(result, np.arange(20))
    alone = means_of(plausibility(gold[:20], scores[:20]))
    assert some == pytest.approx(alone)
    assert some["auprc"] != pytest.approx(means["auprc"])
    assert f1_of_means(np.zeros(2)) == 0


def test_the_released_metric_misses_a_perfect_span_and_can_exceed_one() -> None:
    five, pair = masks("xxxxx", "..xx")
    perfect = plausibility([five, pair], [five * 1.0, pair * 1.0], chosen=[five, pair])
    assert perfect.released.tolist() == [[0, 0], [1, 2]]
    assert perfect.merged.tolist() == [[1, 1], [1, 1]]


def test_spans_end_with_their_text() -> None:
    gold = masks("..x", "x..")
    assert plausibility(gold, gold, chosen=gold).merged.tolist() == [[1, 1], [1, 1]]


def test_one_annotator_stands_against_the_union_of_the_others() -> None:
    texts, own, others = one_against_others([masks("x..", ".x.", "..x"), masks("x"), masks("x.", "xx")])
    assert texts.tolist() == [0, 0, 0, 2, 2]
    assert [mask.tolist() for mask in others[:2]] == [[False, True, True], [True, False, True]]
    assert own[3].tolist() == [True, False]
    assert others[3].tolist() == [True, True]


def test_a_lexicon_is_smoothed_towards_the_share_of_all_words() -> None:
    lexicon = RationaleLexicon.learnt([["a", "b"], ["a", "c"]], masks("x.", "x."))
    assert lexicon.overall == 0.5
    (scores,) = lexicon.scores([["c", "a", "new"]])
    assert scores == pytest.approx([0.5 / 2, 2.5 / 3, 0.5])
    with pytest.raises(InputError, match="words to learn from"):
        RationaleLexicon.learnt([], [])


def test_random_scores_have_a_seed() -> None:
    first, again, other = (np.concatenate(random_scores([3, 2], seed)) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all()


def test_what_does_not_fit_is_refused_and_nothing_is_nothing() -> None:
    with pytest.raises(InputError, match="a score and a gold mark"):
        plausibility(masks("x."), [np.ones(3)])
    with pytest.raises(InputError, match="finite"):
        plausibility(masks("x."), [np.array([1, np.nan])])
    empty = plausibility([], [])
    assert (len(empty.token_f1), empty.merged.shape) == (0, (0, 2))
    assert np.isnan(plausibility(masks(".", ""), [np.ones(1), np.ones(0)]).auprc).all()


@pytest.fixture(scope="module")
def posts(shared_data: Path) -> dict[str, Posts]:
    """Words and rationales of the toxic posts of HateXplain's parts, by the majority of annotators."""
    folder = shared_data / "hatexplain"
    if not (folder / "dataset_val_test.json").exists():
        pytest.skip(f"no rationales in {folder}; set UNSEEN_DATA to the folder of the data")
    entries = json.loads((folder / "dataset_val_test.json").read_text())
    divisions = json.loads((folder / "post_id_divisions.json").read_text())
    parts: dict[str, Posts] = {}
    for part in ("val", "test"):
        toxic = []
        for name in divisions[part]:
            (label, votes), *_ = Counter(row["label"] for row in entries[name]["annotators"]).most_common(1)
            if label != "normal" and votes > 1:
                toxic.append(entries[name])
        parts[part] = [post["post_tokens"] for post in toxic], [np.array(post["rationales"], bool) for post in toxic]
    return parts


def test_floors_and_ceilings_of_hatexplain(posts: dict[str, Posts]) -> None:
    (learnt_words, learnt), (words, annotators) = posts["val"], posts["test"]
    assert len(annotators) == 1142
    rows = floors_and_ceilings(annotators)
    lexicon = RationaleLexicon.learnt(learnt_words, union(learnt))
    rows["lexicon"] = plausibility(union(annotators), lexicon.scores(words))
    assert rows.keys() == ANCHORS.keys()
    for name, expected in {**ANCHORS, "random": AVERAGED}.items():
        assert tuple(means_of(rows[name]).values()) == pytest.approx(expected, abs=0.006), name
    draw = np.random.default_rng(0)
    once = plausibility(union(annotators), [draw.random(masks.shape[1]) for masks in annotators])
    assert tuple(means_of(once).values()) == pytest.approx(ANCHORS["random"], abs=0.006)
