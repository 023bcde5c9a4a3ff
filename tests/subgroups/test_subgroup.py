"""Subgroup AUCs and equality gaps, against loops, scikit-learn and scipy on selected rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from scored import LABELS, POSITIVE, Scored, scored
from sklearn.metrics import roc_auc_score

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.bootstrap import times_drawn
from unseen.runs.bias_page import tables
from unseen.seeding import generator
from unseen.subgroups import Groups, generalised_mean, group_measurements, groups_by_attribute, subgroup_measurements
from unseen.types import Origin, Predictions

KINDS = ("subgroup_auc", "bpsn_auc", "bnsp_auc", "positive_aeg", "negative_aeg")


def by_slice(found, metric):
    return {row.slice: row for row in found if row.metric == f"bias.{metric}"}


def measured(some: Scored, background="all", **options):
    return subgroup_measurements(
        some.data, some.predictions, some.groups, some.rows, POSITIVE, background=background, **options
    )


def plain(some: Scored, group: int, background: str, rows=None) -> dict[str, float | None]:
    """The five numbers by their definitions, row by row; `rows` may repeat."""
    chosen = {key: [] for key in ("group+", "group-", "rest+", "rest-")}
    for row in some.rows if rows is None else rows:
        mentions = some.groups.members[row]
        if not mentions[group] and background == "mentioned" and not any(mentions):
            continue
        place = ("group" if mentions[group] else "rest") + ("+" if some.positive[row] else "-")
        chosen[place].append(some.scores[row])

    def auc(above, below):
        if not above or not below:
            return None
        return roc_auc_score([1] * len(above) + [0] * len(below), above + below)

    def gap(group, rest):
        if not group or not rest:
            return None
        return 0.5 - mannwhitneyu(group, rest).statistic / (len(group) * len(rest))

    return {
        "subgroup_auc": auc(chosen["group+"], chosen["group-"]),
        "bpsn_auc": auc(chosen["rest+"], chosen["group-"]),
        "bnsp_auc": auc(chosen["group+"], chosen["rest-"]),
        "positive_aeg": gap(chosen["group+"], chosen["rest+"]),
        "negative_aeg": gap(chosen["group-"], chosen["rest-"]),
    }


@pytest.mark.parametrize("background", ["all", "mentioned"])
@pytest.mark.parametrize("seed", range(6))
def test_all_numbers_are_those_of_the_definitions(seed, background):
    some = scored(seed, n=(14, 40, 120)[seed % 3], levels=(3, 9, 1000)[seed // 2])
    found = measured(some, background, draws=2)
    for group, name in enumerate(some.groups.slices):
        expected = plain(some, group, background)
        for kind in KINDS:
            row = by_slice(found, kind)[name]
            assert row.value == (None if expected[kind] is None else pytest.approx(expected[kind], abs=1e-12))
            assert row.tags["background"] == background


def test_what_is_undefined_says_why_and_how_many_rows_there_are():
    some = scored()
    members = some.groups.members.copy()
    members[:, 0] &= some.positive
    some = some._replace(groups=Groups("crew", some.groups.names, members))
    found = measured(some, draws=50)
    row = by_slice(found, "subgroup_auc")["crew=g0"]
    positives = int(members[some.rows, 0].sum())
    assert (row.value, row.low, row.n) == (None, None, positives)
    assert row.tags["undefined"] == "no negative rows in the group"
    assert (row.tags["positives"], row.tags["negatives"]) == (positives, 0)
    assert by_slice(found, "bnsp_auc")["crew=g0"].value is not None
    assert by_slice(found, "subgroup_auc")["crew=g3"].n == 0
    mean = by_slice(found, "gmb_subgroup_auc")["all"]
    assert mean.tags["groups"] == "2 of 4"
    known = [by_slice(found, "subgroup_auc")[f"crew=g{i}"].value for i in (1, 2)]
    assert mean.value == pytest.approx(((known[0] ** -5 + known[1] ** -5) / 2) ** (-1 / 5))


def test_no_rows_and_no_defined_group_give_no_value():
    some = scored()
    found = measured(some._replace(rows=some.rows[:0]))
    assert {row.value for row in found} == {None}
    assert {row.n for row in found} == {0}
    one_class = some._replace(rows=some.rows[some.positive[some.rows]])
    mean = by_slice(measured(one_class, draws=5), "gmb_bpsn_auc")["all"]
    assert (mean.value, mean.tags["groups"]) == (None, "0 of 4")
    assert mean.tags["undefined"]


def test_the_generalised_mean_is_the_formula():
    assert generalised_mean(np.array([0.5, 1.0])) == pytest.approx(((0.5**-5 + 1) / 2) ** -0.2)
    assert generalised_mean(np.array([0.5, 1.0])) == pytest.approx(0.57082, abs=1e-5)
    assert generalised_mean(np.array([0.8, 0.8, 0.8])) == pytest.approx(0.8)
    assert generalised_mean(np.array([0.0, 0.9])) == 0
    assert generalised_mean(np.array([1.0, 3.0]), power=1) == 2
    assert np.isnan(generalised_mean(np.array([np.nan, 0.9])))


@pytest.mark.parametrize("units", [None, "author"])
@pytest.mark.parametrize("background", ["all", "mentioned"])
def test_intervals_are_those_of_a_plain_loop_over_resamples(units, background, monkeypatch):
    monkeypatch.setattr("unseen.subgroups.bounds.FEWEST", 1)
    some = scored(3)
    found = measured(some, background, draws=40, units=units, seed=7)
    of_row = np.arange(len(some.rows))
    if units:
        of_row = np.unique(np.array(some.data.attribute("author").to_pylist())[some.rows], return_inverse=True)[1]
    loops = []
    for times in np.concatenate(list(times_drawn(of_row.max() + 1, 40, generator(7, "bootstrap")))):
        rows = [row for place, row in enumerate(some.rows) for _ in range(times[of_row[place]])]
        loops.append([plain(some, group, background, rows) for group in range(3)])
    for kind in KINDS:
        values = np.array([[each[kind] for each in loop] for loop in loops], dtype=float)  # [draws, groups]
        for group in range(3):
            row = by_slice(found, kind)[f"crew=g{group}"]
            assert (row.low, row.high) == pytest.approx(tuple(np.quantile(values[:, group], [0.025, 0.975])))
        if kind.endswith("auc"):
            mean = by_slice(found, f"gmb_{kind}")["all"]
            high, low = np.quantile((values**-5).mean(axis=1) ** -0.2, [0.025, 0.975])
            expected = np.clip([2 * mean.value - low, 2 * mean.value - high], 0, 1)  # turned round the value
            assert (mean.low, mean.high) == pytest.approx(tuple(expected))
        else:
            mean = by_slice(found, f"mean_{kind}")["all"]
            own = np.array([by_slice(found, kind)[f"crew=g{group}"].value for group in range(3)])
            assert (mean.value, mean.low) == (pytest.approx(np.abs(own).mean()), None)
            assert mean.tags["by_chance"] == pytest.approx(np.abs(values - own).mean())


@given(st.integers(0, 10_000))
def test_a_monotone_change_of_the_scores_changes_nothing(seed):
    some = scored(seed, n=40)
    score = some.predictions.probabilities[:, 1:].sum(axis=1).round(9)
    said = [
        Predictions(some.predictions.ids, np.column_stack([1 - p, p / 2, p / 2]), LABELS) for p in (score, score**3)
    ]
    first, second = (measured(some._replace(predictions=each), draws=3) for each in said)
    assert [(row.value, row.low, row.high) for row in first] == [(row.value, row.low, row.high) for row in second]


@given(st.integers(0, 10_000))
def test_of_two_groups_that_share_everybody_each_is_the_others_background(seed):
    some = scored(seed, n=40)
    mask = some.groups.members[:, 0]
    pair = some._replace(groups=Groups("crew", ("in", "out"), np.column_stack([mask, ~mask])))
    found = measured(pair, draws=1)
    inside, outside = ({kind: by_slice(found, kind)[f"crew={name}"].value for kind in KINDS} for name in ("in", "out"))
    assert (inside["bpsn_auc"], inside["bnsp_auc"]) == (outside["bnsp_auc"], outside["bpsn_auc"])
    for kind in ("positive_aeg", "negative_aeg"):
        assert inside[kind] is None or inside[kind] == pytest.approx(-outside[kind], abs=1e-12)
    mentioned = measured(pair, "mentioned", draws=1)
    assert [row.value for row in mentioned] == [row.value for row in found]


def test_the_sign_of_a_gap_says_which_side_scores_higher(tiny):
    data = tiny(labels=["yes"] * 4, crew=["a", "a", "b", "b"])
    said = Predictions(data.ids, np.array([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]]), ("no", "yes"))
    found = subgroup_measurements(data, said, groups_by_attribute(data, "crew"), np.arange(4), ["yes"], draws=1)
    assert by_slice(found, "positive_aeg")["crew=a"].value == -0.5
    assert by_slice(found, "positive_aeg")["crew=b"].value == 0.5
    assert by_slice(found, "mean_positive_aeg")["all"].value == 0.5


def test_a_perfect_order_has_no_interval(tiny):
    """All resamples of it are perfect, which says nothing about other rows."""
    data = tiny(ids=[str(i) for i in range(40)], crew=["a", "a", "b", "b"] * 10)
    score = np.where(data.labels == 1, 0.8, 0.3) + np.linspace(0, 0.1, 40)
    said = Predictions(data.ids, np.column_stack([1 - score, score]), ("no", "yes"))
    found = subgroup_measurements(data, said, groups_by_attribute(data, "crew"), np.arange(40), ["yes"])
    for name in ("subgroup_auc", "gmb_subgroup_auc"):
        assert {(row.value, row.low, row.high) for row in by_slice(found, name).values()} == {(1.0, None, None)}
    assert by_slice(found, "positive_aeg")["crew=a"].low is not None


@pytest.mark.parametrize("few", [1, 2, 3])
def test_a_group_of_few_texts_has_no_interval_and_says_so(tiny, few):
    crew = ["rare"] * 2 * few + ["many"] * (60 - 2 * few)
    data = tiny(ids=[str(i) for i in range(60)], crew=crew, author=[str(i // 4) for i in range(60)])
    score = np.random.default_rng(0).random(60)
    said = Predictions(data.ids, np.column_stack([1 - score, score]), ("no", "yes"))
    groups, rows = groups_by_attribute(data, "crew"), np.arange(60)
    found = subgroup_measurements(data, said, groups, rows, ["yes"])
    assert {row.tags["few_texts"] for row in found if row.slice == "crew=rare"} == {few}
    assert by_slice(found, "gmb_subgroup_auc")["all"].tags["few_texts"] == few
    gap = by_slice(found, "mean_positive_aeg")["all"]
    assert (gap.tags["few_texts"], "by_chance" in gap.tags) == (few, False)
    assert by_slice(found, "subgroup_auc")["crew=many"].low is not None
    table = group_measurements(data, said, groups, rows, ["accuracy", "f1.macro"])
    assert {(row.low, row.tags["few_texts"]) for row in table if row.slice == "crew=rare"} == {(None, 2 * few)}
    by_author = subgroup_measurements(data, said, groups, rows, ["yes"], units="author")
    assert by_slice(by_author, "subgroup_auc")["crew=rare"].tags["few_texts"] == -(-few // 2)
    shown = tables(found)
    assert f"(too few texts: {few})" in str(shown["groups"].rows)
    assert f"(too few texts: {few})" in str(shown["means"].rows)


def test_the_seed_decides_and_tags_are_kept():
    some = scored(1)
    assert measured(some, seed=1, draws=50) == measured(some, seed=1, draws=50)
    assert measured(some, seed=1, draws=50) != measured(some, seed=2, draws=50)
    assert {row.tags["part"] for row in measured(some, draws=1, tags={"part": "test"})} == {"test"}


def test_wrong_input_is_refused():
    some = scored()
    hard = replace(some.predictions, origin=Origin("given", {"hard": True}))
    with pytest.raises(InputError, match="need probabilities"):
        measured(some._replace(predictions=hard))
    with pytest.raises(UnknownNameError, match="mentioned"):
        measured(some, background="mention")
    for positive, error in ((["rud"], UnknownNameError), ([], InputError), (list(LABELS), InputError)):
        with pytest.raises(error):
            subgroup_measurements(some.data, some.predictions, some.groups, some.rows, positive)


TEN = ("African", "Islam", "Jewish", "Homosexual", "Women", "Refugee", "Arab", "Caucasian", "Hispanic", "Asian")


def test_the_published_background_leaves_out_43_percent_of_hatexplains_test_set(shared_data):
    from unseen.data import load_table
    from unseen.data.catalogue import hatexplain_posts

    posts = hatexplain_posts(shared_data / "hatexplain" / "dataset_val_test.json", least=2)
    data = load_table([post for post in posts if post["part"] == "test"], id="id", attributes=["target"])
    groups = groups_by_attribute(data, "target", only=TEN)
    assert len(data) == 1924
    left_out = ~groups.members.any(axis=1)
    assert round(100 * left_out.mean()) == 43
    score = np.random.default_rng(0).random(len(data))
    columns = [score / 2 if name != "normal" else 1 - score for name in data.label_names]
    said = Predictions(data.ids, np.column_stack(columns), data.label_names)
    options = {"positive": ["hatespeech", "offensive"], "draws": 2}
    rows = np.arange(len(data))
    wide, narrow = (
        subgroup_measurements(data, said, groups, rows, background=each, **options) for each in ("all", "mentioned")
    )
    sizes = [Counter({row.slice: row.n for row in found if row.metric == "bias.bpsn_auc"}) for found in (wide, narrow)]
    toxic = np.isin(np.array(data.label_names)[data.labels], options["positive"])
    assert {sizes[0][name] - sizes[1][name] for name in groups.slices} == {int((toxic & left_out).sum())}
    assert (
        by_slice(wide, "subgroup_auc")["target=Islam"].value == by_slice(narrow, "subgroup_auc")["target=Islam"].value
    )
