"""Usage of metrics in a made-up corpus whose counts are known by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.errors import InputError
from unseen.evaluation.metric_usage import MetricUse, metric_usage, read_leaderboards

CORPUS = {
    "captions": ["BLEU-1", "BLEU-2", "BLEU-4"],
    "news": ["BLEU", "ROUGE-1", "ROUGE-L", "METEOR"],
    "talks": ["BLEU score", "BLEU score"],
    "posts": ["Accuracy"],
    "reviews": ["Acc.", "Foo"],
    "names": ["F1", "Macro-F1"],
    "shop": ["DVD"],
}
ROWS = [(dataset, metric) for dataset, metrics in CORPUS.items() for metric in metrics]


def test_datasets_are_counted_once_and_pairs_are_another_number() -> None:
    usage = metric_usage(ROWS)
    assert (usage.results, usage.pairs, usage.datasets) == (15, 14, 7)
    assert usage.families == [
        MetricUse("bleu", datasets=3, pairs=5, alone=2),
        MetricUse("accuracy", datasets=2, pairs=2, alone=1),
        MetricUse("f_measure", datasets=1, pairs=2, alone=1),
        MetricUse("meteor", datasets=1, pairs=1, alone=0),
        MetricUse("rouge", datasets=1, pairs=2, alone=0),
    ]
    assert MetricUse("bleu.n", datasets=1, pairs=3, alone=1) in usage.metrics
    assert MetricUse("f1.macro", datasets=1, pairs=1, alone=0) in usage.metrics


def test_metrics_together_and_per_dataset() -> None:
    usage = metric_usage(ROWS)
    assert usage.together == {("bleu", "meteor"): 1, ("bleu", "rouge"): 1, ("meteor", "rouge"): 1}
    assert usage.per_dataset == {1: 5, 2: 1, 3: 1}
    assert usage.families_per_dataset == (1, pytest.approx(10 / 7))
    assert usage.undetermined == {"DVD": 1, "Foo": 1}


def test_results_that_stand_there_again_change_nothing_but_their_number() -> None:
    once, again = metric_usage(ROWS), metric_usage(ROWS * 3)
    assert again.results == 3 * once.results
    assert (again.pairs, again.families, again.metrics) == (once.pairs, once.families, once.metrics)


def test_files_are_read_together(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("paper,dataset,metric,result\nx,posts,Accuracy,.9\n", encoding="utf-8")
    second.write_text("dataset,metric\nposts,Acc\nnews,BLEU\n", encoding="utf-8")
    assert read_leaderboards([first, second]) == [("posts", "Accuracy"), ("posts", "Acc"), ("news", "BLEU")]


@pytest.mark.parametrize("content", ["dataset,metric\n", "dataset,metric\nposts,\n", "dataset,score\nposts,1\n"])
def test_files_without_datasets_and_metrics_are_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError):
        read_leaderboards([path])
