"""Texts with another group in them, and what a model makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.errors import InputError, MismatchError, TableError, UnseenWarning
from unseen.evaluation.bootstrap import times_drawn
from unseen.functional import as_suite
from unseen.functional.tables import write_suite
from unseen.inference import predict
from unseen.seeding import generator
from unseen.subgroups import swap_cases, swap_measurements
from unseen.types import Predictions

CREW = ["cook", "clerk", "Deaf cook"]


class Counting:
    """Rude with the share of o's among all letters of a text."""

    classes_ = ("no", "yes")

    def predict_proba(self, texts):
        share = np.array([text.lower().count("o") / len(text) for text in texts])
        return np.column_stack([1 - share, share])


def versions(data, terms, **options):
    cases = swap_cases(data, terms, **options)
    rows = zip(*(cases.table[name].to_pylist() for name in ("reference", "from", "to", "text")), strict=True)
    return [row for row in rows if row[0] is not None]


def test_every_other_term_takes_the_place_of_the_one_there(tiny):
    data = tiny(texts=["The cook and a COOK", "nobody", "Clerk", "cooks"])
    assert versions(data, CREW) == [
        ("1", "cook", "clerk", "The clerk and a CLERK"),
        ("1", "cook", "Deaf cook", "The Deaf cook and a DEAF COOK"),
        ("3", "clerk", "cook", "Cook"),
        ("3", "clerk", "Deaf cook", "Deaf cook"),
    ]


def test_only_terms_of_one_list_stand_for_each_other(tiny):
    data = tiny(texts=["cook or farmers", "cooks", "x", "y"])
    found = versions(data, {"one": ["cook", "clerk"], "many": ["cooks", "farmers", "clerks"]})
    assert [row[:3] for row in found] == [
        ("1", "cook", "clerk"),
        ("1", "farmers", "cooks"),
        ("1", "farmers", "clerks"),
        ("2", "cooks", "farmers"),
        ("2", "cooks", "clerks"),
    ]


def test_the_longest_term_is_the_one_that_is_there(tiny):
    data = tiny(texts=["a deaf cook", "a cook, a clerk", "x", "y"])
    assert versions(data, CREW) == [
        ("1", "Deaf cook", "cook", "a cook"),
        ("1", "Deaf cook", "clerk", "a clerk"),
        ("2", "cook", "Deaf cook", "a Deaf cook, a clerk"),
        ("2", "clerk", "Deaf cook", "a cook, a Deaf cook"),
    ]


def test_letters_of_a_short_form_stay(tiny):
    data = tiny(texts=["a cook", "A UN man", "x", "y"])
    assert [row[3] for row in versions(data, ["cook", "UN"])] == ["a UN", "A COOK man"]


def test_a_name_keeps_its_capital(tiny):
    data = tiny(texts=["a cook", "Cook here", "a COOK", "a Dane"])
    assert [row[3] for row in versions(data, ["cook", "Dane", "McCoy"]) if row[1] == "cook"] == [
        "a Dane", "a McCoy", "Dane here", "McCoy here", "a DANE", "a MCCOY"
    ]  # fmt: skip


def test_a_pair_of_two_lists_is_made_once(tiny):
    data = tiny(texts=["a cook", "x", "y", "z"])
    assert len(versions(data, {"a": ["cook", "clerk"], "b": ["clerk", "cook"]})) == 1


def test_cases_are_a_suite_that_can_be_written(tiny, tmp_path):
    from unseen.functional import load_suite

    data = tiny(texts=["a cook", "a clerk", "x", "y"])
    cases = swap_cases(data, CREW)
    assert as_suite(cases).attribute("kind").to_pylist() == ["functional", "invariance", "invariance"] * 2
    again = load_suite(write_suite(cases, tmp_path / "cases.csv"))
    assert again.texts.to_pylist() == cases.texts.to_pylist()
    assert again.ids.to_pylist() == cases.ids.to_pylist()
    assert cases.table["label"].to_pylist() == ["no"] * 3 + ["yes"] * 3
    assert swap_cases(data, CREW, rows=np.array([1])).ids.to_pylist()[0] == "2"


def answers(cases, yes):
    p = np.array([yes[each] for each in cases.ids.to_pylist()])
    return Predictions(cases.ids, np.column_stack([1 - p, p]), ("no", "yes"))


def test_flips_and_changes_are_those_counted_by_hand(tiny):
    data = tiny(texts=["a cook", "the cook", "a clerk", "x"])
    cases = swap_cases(data, CREW)
    yes = {"1": 0.4, "2": 0.2, "3": 0.9}
    yes |= {"1~cook~clerk": 0.6, "1~cook~Deaf cook": 0.3, "2~cook~clerk": 0.2, "2~cook~Deaf cook": 0.8}
    yes |= {"3~clerk~cook": 0.9, "3~clerk~Deaf cook": 0.7}
    found = {(row.metric, row.slice): row for row in swap_measurements(cases, answers(cases, yes), ["yes"])}
    flips = {slice: (row.value, row.n) for (name, slice), row in found.items() if name == "bias.flip_rate"}
    assert flips == {
        "all": (pytest.approx(2 / 6), 6),
        "from=clerk": (0, 2),
        "from=cook": (0.5, 4),
        "to=Deaf cook": (pytest.approx(1 / 3), 3),
        "to=clerk": (0.5, 2),
        "to=cook": (0, 1),
        "swap=clerk → Deaf cook": (0, 1),
        "swap=clerk → cook": (0, 1),
        "swap=cook → Deaf cook": (0.5, 2),
        "swap=cook → clerk": (0.5, 2),
    }
    assert found["bias.mean_change", "all"].value == pytest.approx((0.2 - 0.1 + 0 + 0.6 + 0 - 0.2) / 6)
    assert found["bias.mean_absolute_change", "all"].value == pytest.approx(1.1 / 6)
    assert found["bias.largest_change", "from=clerk"].value == pytest.approx(-0.2)
    assert found["bias.largest_change", "all"].tags["case"] == "2~cook~Deaf cook"


def test_intervals_draw_originals_and_not_versions(tiny):
    """Ten versions of an original that all say the same are one piece of evidence."""
    many = [f"kind{i}" for i in range(10)]
    texts = [f"a cook {i}" for i in range(30)]
    data = tiny(ids=[str(i) for i in range(30)], texts=texts)
    yes = {}
    cases = swap_cases(data, ["cook", *many])
    for name, reference in zip(cases.ids.to_pylist(), cases.attribute("reference").to_pylist(), strict=True):
        yes[name] = 0.2 if reference is None or int(reference) % 2 else 0.8
    found = {(row.metric, row.slice): row for row in swap_measurements(cases, answers(cases, yes), ["yes"])}
    row, change = found["bias.flip_rate", "all"], found["bias.mean_change", "all"]
    spread = 1.96 * np.sqrt(0.25 / 30)
    assert (row.value, row.n) == (0.5, 300)
    assert (row.low, row.high) == pytest.approx((0.5 - spread, 0.5 + spread), abs=0.04)
    assert (change.low, change.high) == pytest.approx((0.3 - 0.6 * spread, 0.3 + 0.6 * spread), abs=0.03)
    assert change.low == pytest.approx(0.6 * row.low, abs=0.03)


def test_one_bootstrap_of_the_originals_serves_all_slices(tiny, monkeypatch):
    """Against a loop over draws, over all originals in every slice, and versions repeated as often as drawn."""
    monkeypatch.setattr("unseen.subgroups.bounds.FEWEST", 1)
    draw = np.random.default_rng(1)
    texts = [f"{' '.join(draw.permutation(['cook', 'clerk'])[: 1 + n % 2])} {n}" for n in range(12)]
    cases = swap_cases(tiny(ids=[str(n) for n in range(12)], texts=texts), ["cook", "clerk", "nurse", "pilot"])
    yes = dict(zip(cases.ids.to_pylist(), draw.random(len(cases)), strict=True))
    found = {(row.metric, row.slice): row for row in swap_measurements(cases, answers(cases, yes), ["yes"], seed=3)}
    columns = [cases.attribute(name).to_pylist() for name in ("reference", "from", "to")]
    made = [row for row in zip(cases.ids.to_pylist(), *columns, strict=True) if row[1] is not None]
    originals = [name for name, of in zip(cases.ids.to_pylist(), columns[0], strict=True) if of is None]
    slices = {"all": made, "to=nurse": [row for row in made if row[3] == "nurse"]}
    slices["swap=cook → pilot"] = [row for row in made if row[2:] == ("cook", "pilot")]
    for name, rows in slices.items():
        drawn = {"bias.flip_rate": [], "bias.mean_change": [], "bias.mean_absolute_change": []}
        for times in np.concatenate(list(times_drawn(len(originals), 1000, generator(3, "originals")))):
            often = dict(zip(originals, times.tolist(), strict=True))
            some = [row for row in rows for _ in range(often[row[1]])]
            if some:
                change = np.array([yes[row[0]] - yes[row[1]] for row in some])
                drawn["bias.flip_rate"].append(np.mean([(yes[row[0]] > 0.5) != (yes[row[1]] > 0.5) for row in some]))
                drawn["bias.mean_change"].append(change.mean())
                drawn["bias.mean_absolute_change"].append(np.abs(change).mean())
        for metric, values in drawn.items():
            row = found[metric, name]
            assert (row.low, row.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


def test_slices_are_resampled_some_at_a_time(tiny, monkeypatch):
    data = tiny(texts=["a cook", "the clerk", "a nurse", "my pilot"])
    cases = swap_cases(data, ["cook", "clerk", "nurse", "pilot"])
    said = predict(Counting(), cases)
    whole = swap_measurements(cases, said, ["yes"])
    monkeypatch.setattr("unseen.subgroups.swaps.NUMBERS_AT_ONCE", 3_000)
    assert swap_measurements(cases, said, ["yes"]) == whole


def test_no_flip_at_all_has_the_exact_interval(tiny):
    cases = swap_cases(tiny(texts=["a cook", "the cook", "one cook", "x"]), ["cook", "clerk", "nurse"])
    (row, *_) = swap_measurements(cases, answers(cases, dict.fromkeys(cases.ids.to_pylist(), 0.2)), ["yes"])
    assert (row.metric, row.value, row.low) == ("bias.flip_rate", 0, 0)
    assert row.high == pytest.approx(1 - 0.025 ** (1 / 3))  # three originals, not six versions


def test_most_draws_originals_with_the_seed(tiny):
    texts = [f"a {'cook' if n % 3 else 'boat'} {n}" for n in range(60)]
    data = tiny(ids=[str(n) for n in range(60)], texts=texts)

    def drawn(some, **options):
        cases = swap_cases(some, ["cook", "clerk", "nurse"], **options)
        return cases.attribute("template").to_pylist()[::3], len(cases)

    with pytest.warns(UnseenWarning, match="made of 7 texts"):
        first, n = drawn(data, most=7)
    assert (len(first), n) == (7, 21)
    assert first == sorted(first, key=int)
    assert {int(each) % 3 for each in first} <= {1, 2}
    with pytest.warns(UnseenWarning):
        assert drawn(data.take(np.arange(60)[::-1]), most=7)[0] == first[::-1]
    with pytest.warns(UnseenWarning):
        assert drawn(data, most=7, seed=1)[0] != first
    assert drawn(data, most=40) == drawn(data)  # all there are: nothing to warn of
    with pytest.raises(InputError, match="at least 1"):
        drawn(data, most=0)


def test_no_more_texts_are_swapped_than_asked_for(tiny, monkeypatch):
    """Versions are the cost: of texts beyond `most` one is swapped, to know that there are more."""
    seen = []
    monkeypatch.setattr(
        "unseen.subgroups.swaps._replaced", lambda text, places, new: seen.append(text) or f"{text} {new}"
    )
    with pytest.warns(UnseenWarning):
        swap_cases(tiny(ids=[str(n) for n in range(99)], texts=[f"cook {n}" for n in range(99)]), CREW, most=5)
    assert len(set(seen)) == 6


def test_a_classifier_is_asked_and_originals_may_have_answers_of_their_own(tiny):
    data = tiny(texts=["a cook", "the clerk", "x", "y"])
    cases = swap_cases(data, ["cook", "clerk"])
    said = predict(Counting(), cases)
    rows = swap_measurements(cases, said, ["yes"])
    expected = [0 - 2 / 6, 2 / 8 - 0]
    assert rows[1].value == pytest.approx(np.mean(expected))
    only = predict(Counting(), cases.take(np.array([1, 3])))
    assert swap_measurements(cases, only, ["yes"], originals=predict(Counting(), data)) == rows
    with pytest.raises(MismatchError, match="2 of 2 rows"):
        swap_measurements(cases, only, ["yes"])


def test_wrong_lists_are_refused(tiny):
    data = tiny(texts=["a cook", "x", "y", "z"])
    with pytest.raises(InputError, match="another term"):
        swap_cases(data, {"a": ["cook"], "b": ["x", "y"]})
    with pytest.raises(TableError, match="swap list"):
        swap_cases(data, ["cook", "Cook"])
    with pytest.raises(InputError, match="no text holds"):
        swap_cases(data, ["pilot", "farmer"])
