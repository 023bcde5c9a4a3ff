"""Names of metrics: read where every word is understood, undetermined otherwise."""

from __future__ import annotations

import pytest

from unseen.evaluation import METRICS
from unseen.evaluation.metric_facts import entries, fact, several_meanings
from unseen.evaluation.metric_names import _aliases, _phrase, key, normalise


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("Accuracy", "accuracy"),
        ("Acc.", "accuracy"),
        ("Sensitivity", "recall"),
        ("PPV", "precision"),
        ("TNR", "specificity"),
        ("Youden's J", "informedness"),
        ("deltaP", "markedness"),
        ("Dice", "f1"),
        ("Jaccard", "iou"),
        ("phi", "mcc"),
        ("C-statistic", "roc_auc"),
        ("Relative entropy", "kl"),
        ("LAD", "l1"),
        ("SacreBLEU", "bleu.sacrebleu"),
        ("B-3", "bleu.n"),
        ("UAS", "uas"),
        ("Macro-F1", "f1.macro"),
        ("F1 (macro)", "f1.macro"),
        ("macro avg f1-score", "f1.macro"),
        ("Weighted Precision", "precision.weighted"),
        ("fall.f1[spam]", "fall.f1[spam]"),
        ("f1.macro(exclude=none)", "f1.macro(exclude=none)"),
        ("Exact match (EM)", "exact_match"),
        ("Word error rate (WER)", "wer"),
        ("Accuracy (Acc.)", "accuracy"),
        ("Area under the ROC curve (AUC)", "roc_auc"),
        *((name, name) for name in METRICS),
    ],
    ids=str,
)
def test_a_name_of_a_metric(text: str, metric: str) -> None:
    assert normalise(text).id == metric


@pytest.mark.parametrize(
    "text",
    [
        "F1@IoU=.3", "F1@10", "F1a", "SemEval 2007", "Senseval 2", "ReVerb45k", "Aspect", "Sentiment", "DVD", "Books",
        "Out-of-domain", "Dev", "Test", "Val", "10 fold Cross validation", "Score", "Average", "P", "UAS/LAS", "H-Mean",
        "Accuracy (DVD)", "Weighted accuracy", "Weighted average precision", "Macro F1 micro", "accuracyx", "",
        "Accuracy 10%",
        "classification", "R@10%", "F1 " * 100,
    ],
    ids=lambda text: text[:30] or "empty",
)  # fmt: skip
def test_what_is_not_understood_is_undetermined(text: str) -> None:
    name = normalise(text)
    assert name.id is None
    assert name.reason


@pytest.mark.parametrize(
    ("text", "qualifiers"),
    [
        ("Micro-F1@10%", {"average": "micro", "training_fraction": "10%"}),
        ("Accuracy (%) on the dev set", {"unit": "percent", "split": "dev"}),
        ("Accuracy (50% of training data)", {"training_fraction": "50%"}),
        ("Hits@10", {"k": "10"}),
        ("Top-5 Accuracy", {"k": "5"}),
        ("mAP@IoU=0.5", {"iou": "0.5"}),
        ("F0.5", {"beta": "0.5"}),
        ("ROUGE-2 R", {"n": "2", "part": "recall"}),
        ("BLEU (EN-DE)", {"language": "en~de"}),
        ("Accuracy (zh)", {"language": "zh"}),
        ("German accuracy", {"language": "de"}),
        ("10-fold accuracy", {"folds": "10"}),
        ("Out-of-domain accuracy", {"domain": "out of domain"}),
        ("Mean accuracy over 5 seeds", {"statistic": "mean", "over": "5 seeds"}),
        ("Error rate ↓", {"direction": "lower"}),
    ],
    ids=str,
)
def test_qualifiers(text: str, qualifiers: dict[str, str]) -> None:
    assert normalise(text).qualifiers == qualifiers
    assert normalise(text).id is not None


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("F1", ("average",)),
        ("F-score", ("beta", "average")),
        ("Avg F1", ("average", "over")),
        ("average test precision", ("average", "over")),
        ("Macro F1", ()),
        ("fall.f1", ("average",)),
        ("AUC", ("curve",)),
        ("ROC AUC", ("classes",)),
        ("ROUGE-1", ("part",)),
        ("ROUGE", ("variant", "part")),
        ("Recall@k", ("k",)),
        ("Kappa", ("variant",)),
        ("Cohen's kappa", ()),
        ("Binary F1", ("class",)),
        ("Accuracy", ()),
    ],
    ids=str,
)
def test_what_a_name_does_not_say(text: str, missing: tuple[str, ...]) -> None:
    assert normalise(text).missing == missing


def test_names_that_the_caller_knows() -> None:
    names = {"class": ["hate"], "domain": ["DVD"]}
    assert normalise("F1 (hate)", names).id == "f1[hate]"
    assert not normalise("F1 (hate)", names).missing
    assert normalise("Accuracy (DVD)", names).qualifiers == {"domain": "DVD"}
    assert normalise("DVD", names).id is None


def test_two_metrics_in_one_name_are_told() -> None:
    assert normalise("Precision and recall").id is None
    assert normalise("F1 / Accuracy").reason == "several metrics are named: f1, accuracy"


def test_g_mean_is_not_the_fowlkes_mallows_index() -> None:
    assert normalise("G-mean").id == "g_mean"
    assert normalise("Fowlkes-Mallows").id == "fowlkes_mallows"


def test_every_alias_is_read_as_its_own_metric_and_none_as_a_qualifier() -> None:
    exact, _ = _aliases()
    metrics = [entry for entry in entries().values() if not entry.is_group]
    names = [(name, entry.id) for entry in metrics for name in (entry.name, *entry.aliases)]
    written = [(key(name), metric) for name, metric in names if name and "{" not in name]
    assert [(alias, name) for alias, name in written if exact[alias] != name] == []
    assert [alias for alias in exact if _phrase(alias) is not None] == []
    assert exact.keys().isdisjoint(several_meanings())
    assert {word for word in several_meanings() if key(word) != word} == set()


def test_no_alias_is_found_within_a_word_or_beside_an_unknown_one() -> None:
    exact, _ = _aliases()
    for alias, name in exact.items():
        assert normalise(f"{alias}x").id is None or normalise(f"{alias}x").id != name, alias
        assert normalise(f"{alias} zzyzx").id is None
        assert fact(name).formula
