"""The registry of metrics: complete, consistent, and with nothing that `Metric` says better."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest

from unseen.errors import UnknownNameError
from unseen.evaluation import METRICS, metric
from unseen.evaluation.metric_facts import children, described, entries, fact, family, is_known, tree

GOLDEN = Path(__file__).parents[1] / "golden" / "expected"


def measured() -> dict[str, bool]:
    """The metrics of all golden runs, and whether some number of each has an interval."""
    names: dict[str, bool] = {}
    for path in GOLDEN.glob("*/run/measurements.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                names[row["metric"]] = names.get(row["metric"], False) or bool(row["low"])
    return names


def test_every_metric_of_a_golden_run_has_an_entry() -> None:
    names = measured()
    assert len(names) > 150
    assert sorted(name for name in names if not is_known(name) or not fact(name).measured) == []
    assert sorted(name for name in names if not fact(name).formula or fact(name).range is None) == []


def test_an_interval_of_a_golden_run_is_explained() -> None:
    explained = {name: fact(name).interval for name, has_interval in measured().items() if has_interval}
    assert {name: text for name, text in explained.items() if not text or text.startswith("none")} == {}


def test_numbers_about_weights_have_entries() -> None:
    names = ["label_perplexity.included", "class_ratio", "influence.removal.f1.macro", "winner_change", "rank_flip"]
    for weighting in ("macro", "power(0.5)", "entropy(exclude=A,total=included)", "mix(A=0.1,B=0.9)"):
        names += [f"pass_rate.{weighting}", f"weight.{weighting}", f"demands_broken.{weighting}"]
    assert [name for name in names if not is_known(name) or fact(name).range is None] == []
    assert fact("label_perplexity").formula != fact("perplexity").formula


@pytest.mark.parametrize("name", ["f1.power(2)", "f1.mix(a=x)", "recall.foo(exclude=a)", "weight.foo", "pass_rate.now"])
def test_a_weighting_that_cannot_be_is_not_known(name: str) -> None:
    assert not is_known(name)


def test_every_metric_that_is_computed_has_an_entry_that_leaves_direction_and_range_to_it() -> None:
    for name in [*METRICS, "f1[LABEL]", "roc_auc[LABEL]"]:
        entry = entries()[name]
        assert (entry.direction, entry.range) == (None, None), name
        known = fact(name)
        assert known.direction == ("higher" if metric(name).higher_is_better else "lower")
        assert known.range == (metric(name).low, metric(name).high)
        assert not known.required, name


def test_parents_and_companions_exist_and_metrics_say_all_that_a_reader_needs() -> None:
    for entry in entries().values():
        assert entry.parent is None or entry.parent in entries(), entry.id
        assert [name for name in entry.companions if name not in entries()] == [], entry.id
        if not entry.is_group:
            full = fact(entry.id)
            assert None not in (full.formula or None, full.direction, full.range), entry.id
            assert full.unit or "METRIC" in entry.id, entry.id


def test_a_pattern_takes_direction_range_and_unit_from_the_metric_in_it() -> None:
    assert fact("seen.log_loss").direction == "lower"
    assert fact("seen.log_loss").range == (0, math.inf)
    assert fact("fall.log_loss").range == (-math.inf, math.inf)
    assert fact("difference.brier").range == (-2, 2)
    assert fact("fall.f1.macro").unit == "fraction"
    assert fact("forecast.if_topic.f1[a]").formula == "forecast.f1[a] if only the topic moves"
    assert fact("difference.skew[calm.x]").range == (-2, 2)
    assert fact("author_share.top10").formula == "rows of the 10 most productive authors / rows"


@pytest.mark.parametrize("name", ["fall.nothing", "f2", "f1[", "author_share.top", "nothing"])
def test_an_id_without_an_entry_is_refused(name: str) -> None:
    assert not is_known(name)
    with pytest.raises(UnknownNameError):
        fact(name)


def test_families_and_the_tree() -> None:
    assert family("f1[hate]") == family("f1.macro") == "f_measure"
    assert family("bleu.sacrebleu") == "bleu"
    groups = tree()
    assert [group["id"] for group in groups] == [entry.id for entry in children(None)]

    def ids(nodes: list[dict[str, Any]]) -> list[str]:
        return [name for node in nodes for name in [node["id"], *ids(node["children"])]]

    assert sorted(ids(groups)) == sorted(entries())


def test_an_endless_range_can_be_said_in_json() -> None:
    assert described("log_loss")["range"] == [0.0, None]
