"""Any metric of any groups, against the metric itself on selected rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from scored import LABELS, POSITIVE, Scored, scored
from sklearn.metrics import confusion_matrix

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation import metric
from unseen.evaluation.bootstrap import times_drawn
from unseen.evaluation.measurements import aligned
from unseen.seeding import generator
from unseen.subgroups import Groups, group_measurements
from unseen.types import Origin

METRICS = ["f1.macro", "accuracy", "roc_auc[rude]", "brier"]
RATES = ["false_positive_rate", "false_negative_rate", "positive_rate"]


def table(some: Scored, metrics, **options):
    found = group_measurements(some.data, some.predictions, some.groups, some.rows, metrics, **options)
    return {(row.metric, row.slice): row for row in found}


def sets_of(some: Scored) -> dict[str, np.ndarray]:
    """Rows of the data by slice."""
    found = {"all": some.rows}
    for group, name in enumerate(some.groups.names):
        inside = some.groups.members[some.rows, group]
        found |= {f"crew={name}": some.rows[inside], f"crew!={name}": some.rows[~inside]}
    return found


@pytest.mark.parametrize("name", METRICS)
def test_values_are_those_of_the_metric_on_the_rows(name):
    some = scored(2)
    found = table(some, [name], draws=3)
    for slice, rows in sets_of(some).items():
        expected = metric(name)(some.data.labels[rows], aligned(some.data, some.predictions, rows), LABELS)
        row = found[name, slice]
        assert row.value == (None if expected is None else pytest.approx(expected))
        assert row.n == len(rows)
        assert ("undefined" in row.tags) == (expected is None)


def test_rates_are_those_of_the_two_class_confusion_matrix():
    some = scored(4)
    found = table(some, RATES, positive=POSITIVE, draws=3)
    for slice, rows in sets_of(some).items():
        if not len(rows):
            continue
        (tn, fp), (fn, tp) = confusion_matrix(some.positive[rows], some.scores[rows] > 0.5, labels=[False, True])
        assert found["false_positive_rate", slice].value == pytest.approx(fp / (tn + fp))
        assert found["false_negative_rate", slice].value == pytest.approx(fn / (fn + tp))
        assert found["positive_rate", slice].value == pytest.approx((fp + tp) / len(rows))
        assert [found[each, slice].n for each in RATES] == [tn + fp, fn + tp, len(rows)]


@pytest.mark.parametrize("units", [None, "author"])
@pytest.mark.parametrize("name", METRICS)
def test_intervals_draw_the_same_rows_for_all_groups(name, units):
    some = scored(5)
    found = table(some, [name], draws=30, units=units, seed=3)
    of_row = np.arange(len(some.rows))
    if units:
        of_row = np.unique(np.array(some.data.attribute(units).to_pylist())[some.rows], return_inverse=True)[1]
    values = {slice: [] for slice in sets_of(some)}
    for times in np.concatenate(list(times_drawn(of_row.max() + 1, 30, generator(3, "bootstrap")))):
        often = dict(zip(some.rows.tolist(), times[of_row].tolist(), strict=True))
        for slice, rows in sets_of(some).items():
            drawn = np.repeat(rows, [often[row] for row in rows.tolist()])
            p = aligned(some.data, some.predictions, drawn)
            values[slice].append(metric(name)(some.data.labels[drawn], p, LABELS))
    known = {slice: np.array(each, float) for slice, each in values.items()}
    for group in ("g0", "g1", "g2"):
        row = found[name, f"crew={group}"]
        assert (row.low, row.high) == pytest.approx(tuple(np.quantile(known[f"crew={group}"], [0.025, 0.975])))
        apart = found[f"group_difference.{name}", f"crew={group}"]
        assert apart.value == pytest.approx(row.value - found[name, f"crew!={group}"].value)
        expected = np.quantile(known[f"crew={group}"] - known[f"crew!={group}"], [0.025, 0.975])
        assert (apart.low, apart.high) == pytest.approx(tuple(expected))
    own = np.array([found[name, f"crew=g{i}"].value for i in range(3)])
    noise = np.array([known[f"crew=g{i}"] for i in range(3)]) - own[:, None]
    largest = found[f"largest_difference.{name}", "all"]
    assert largest.tags["by_chance"] == pytest.approx(np.median(noise.max(axis=0) - noise.min(axis=0)))


def test_differences_and_ratios_are_reductions_of_the_table():
    some = scored(6)
    found = table(some, ["accuracy"], draws=20)
    values = {name: found["accuracy", f"crew={name}"].value for name in ("g0", "g1", "g2")}
    largest, ratio = (found[f"{each}.accuracy", "all"] for each in ("largest_difference", "smallest_ratio"))
    assert largest.value == pytest.approx(max(values.values()) - min(values.values()))
    assert ratio.value == pytest.approx(min(values.values()) / max(values.values()))
    assert values[largest.tags["highest"]] == max(values.values())
    assert values[largest.tags["lowest"]] == min(values.values())
    assert (largest.tags["groups"], largest.low) == ("3 of 4", None)
    assert found["accuracy", "crew=g3"].value is None
    assert found["group_difference.accuracy", "crew=g3"].value is None


def test_one_group_cannot_be_compared_with_itself_and_nothing_has_no_ratio():
    some = scored(6)
    alone = some._replace(groups=Groups("crew", ("g0",), some.groups.members[:, :1]))
    row = table(alone, ["accuracy"], draws=2)["largest_difference.accuracy", "all"]
    assert (row.value, row.tags["undefined"]) == (None, "fewer than two groups have a value")
    calm = np.tile([1.0, 0.0, 0.0], (len(some.data), 1))
    quiet = some._replace(predictions=replace(some.predictions, probabilities=calm))
    found = table(quiet, ["positive_rate"], positive=POSITIVE, draws=2)
    assert found["smallest_ratio.positive_rate", "all"].value is None
    assert found["largest_difference.positive_rate", "all"].value == 0


def test_what_resamples_cannot_say_is_not_said():
    """Of five rows without an error, all resamples are without one; a rate has exact bounds, nothing else has any."""
    some = scored(6)
    few = some.rows[some.positive[some.rows]][:5]
    right = np.eye(3)[some.data.labels]
    said = replace(some.predictions, ids=some.data.ids, probabilities=right)
    wrong = right.copy()
    wrong[some.rows[::3]] = [1 / 3, 1 / 3, 1 / 3]
    wrong[few] = right[few]
    members = np.zeros((len(some.data), 2), bool)
    members[few, 0] = members[some.rows[10:60], 1] = True
    some = some._replace(
        predictions=replace(said, probabilities=wrong), groups=Groups("crew", ("few", "more"), members)
    )
    found = table(some, ["accuracy", "false_negative_rate"], positive=POSITIVE)
    rate, accuracy = found["false_negative_rate", "crew=few"], found["accuracy", "crew=few"]
    assert (rate.value, rate.low, rate.high) == (0, 0, pytest.approx(binomtest(0, 5).proportion_ci().high))
    assert (accuracy.value, accuracy.low, accuracy.high) == (1, None, None)
    for name in ("accuracy", "false_negative_rate"):
        assert found[f"group_difference.{name}", "crew=few"].low is None
    assert found["group_difference.accuracy", "crew=more"].low is not None


def test_labels_have_rates_but_no_ranking():
    some = scored()
    hard = some._replace(predictions=replace(some.predictions, origin=Origin("given", {"hard": True})))
    assert table(hard, ["false_positive_rate"], positive=POSITIVE, draws=2)
    with pytest.raises(InputError, match="needs probabilities"):
        table(hard, ["roc_auc.ovr"])


def test_what_has_no_effect_or_no_name_is_refused():
    some = scored()
    with pytest.raises(InputError, match="no effect"):
        table(some, ["accuracy"], positive=POSITIVE)
    with pytest.raises(InputError, match="some of the labels"):
        table(some, ["positive_rate"])
    with pytest.raises(InputError, match="no metric"):
        table(some, [])
    with pytest.raises(UnknownNameError):
        table(some, ["acuracy"])


def test_no_rows_have_no_values():
    some = scored()
    found = table(some._replace(rows=some.rows[:0]), ["accuracy", "roc_auc.ovr"])
    assert {row.value for row in found.values()} == {None}
