"""The section that says how every number was computed."""

from __future__ import annotations

from unseen.reports.computed import computed, glossary
from unseen.types import Measurement


def test_each_kind_of_number_stands_there_once_with_what_it_is_of() -> None:
    rows = [Measurement(f"fall.{name}", 0.1, 9, 0.05, 0.2) for name in ("f1.macro", "f1[<i>]", "accuracy")]
    rows += [Measurement("f1.macro", 0.1, 9, tags={"seed": seed}) for seed in (1, 2)]
    macro, fall = computed(rows)
    assert (macro.name, macro.of) == ("f1.macro", [])
    assert (fall.name, fall.named) == ("fall.METRIC", "accuracy, f1.macro, f1[<i>]")
    assert macro.details == ["higher is better, 0 to 1, fraction"]


def test_the_interval_is_told_where_some_number_has_one() -> None:
    without, with_one = Measurement("pass_rate", 0.5, 8), Measurement("pass_rate", 0.5, 8, 0.4, 0.6)
    (told,) = computed([without, with_one])
    (untold,) = computed([without])
    assert [len(told.details), len(untold.details)] == [2, 1]
    assert told.details[1].startswith("95 %: exact")


def test_ranges_in_words() -> None:
    rows = [Measurement(name, 0.1, 9) for name in ("log_loss", "fall.f1.macro", "seen.f1.macro", "length_drift")]
    details = {kind.name: kind.details[0] for kind in computed(rows)}
    assert details == {
        "fall.METRIC": "lower is better, ± the width of METRIC's range",
        "length_drift": "neither way is better, −∞ to ∞, standard deviations",
        "log_loss": "lower is better, 0 to ∞, nats",
        "seen.METRIC": "the better direction is METRIC's, the range of METRIC",
    }


def test_a_number_without_an_entry_says_so_and_many_labels_are_counted() -> None:
    rows = [Measurement(f"f1[{label}]", 0.5, 9) for label in range(20)]
    labels, unknown = computed([Measurement("mine", 1.0, 1), *rows])
    assert labels.named.endswith("and 8 more")
    assert (unknown.name, unknown.formula) == ("mine", "no entry in the registry of metrics")
    (nested,) = computed([Measurement("fall." * 2000 + "f1.macro", 0.0, 1)])
    assert nested.formula == unknown.formula


def test_the_glossary_has_a_table_for_each_group() -> None:
    text = glossary()
    assert text.count("\n## ") > 10
    assert "| bleu |" in text
