"""The published sentences with identity terms, where what a scorer does to a group is known beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unseen.data.catalogue import load_card
from unseen.subgroups import groups_by_terms, subgroup_measurements
from unseen.types import Dataset, Predictions

AUCS = ("bias.subgroup_auc", "bias.bpsn_auc", "bias.bnsp_auc")
INSIDE = {"african": ["african american"], "american": ["african american"]}
"""Terms that are a word of another: a sentence with the other mentions them too."""


@pytest.fixture(scope="module")
def templates(shared_data: Path) -> Dataset:
    return load_card("identity-templates", shared_data)


@pytest.fixture(scope="module")
def phrases(templates: Dataset) -> list[tuple[str, str]]:
    """The template and the text of each row."""
    return list(zip(templates.attribute("template").to_pylist(), templates.texts.to_pylist(), strict=True))


@pytest.fixture(scope="module")
def terms(phrases: list[tuple[str, str]]) -> list[str]:
    return sorted({text.partition(" ")[2] for template, text in phrases if template == "verb_adj"})


@pytest.fixture(scope="module")
def own(phrases: list[tuple[str, str]], terms: list[str]) -> np.ndarray:
    """The term of each row, read off its template; empty where an occupation stands in its place."""
    longest = sorted(terms, key=len, reverse=True)

    def term(template: str, text: str) -> str:
        if template == "you_occupation":
            return ""
        if template == "being_adj":
            return next(each for each in longest if text.startswith(f"Being {each} is "))
        return next(each for each in longest if text.endswith(f" {each}"))

    return np.array([term(*each) for each in phrases], dtype=object)


def scored(data: Dataset, score: np.ndarray, terms: list[str]) -> dict[tuple[str, str], float | None]:
    said = Predictions(data.ids, np.column_stack([1 - score, score]), data.label_names)
    groups, rows = groups_by_terms(data, terms), np.arange(len(data))
    found = subgroup_measurements(data, said, groups, rows, ["toxic"], draws=2)
    return {(row.metric, row.slice): row.value for row in found}


def test_sentences_are_grouped_by_their_fifty_terms(templates, terms, own):
    groups = groups_by_terms(templates, terms)
    assert len(templates) == 76_564
    assert len(groups.names) == 50
    for name, mask in zip(groups.names, groups.members.T, strict=True):
        assert np.array_equal(mask, np.isin(own, [name, *INSIDE.get(name, [])]))
    assert int((own == "").sum()) == int((~groups.members.any(axis=1)).sum()) == 864
    sizes = dict(zip(groups.names, groups.members.sum(axis=0).tolist(), strict=True))
    assert {size for name, size in sizes.items() if name not in INSIDE} == {1_514}  # 75,700 sentences, 50 terms
    assert [sizes[name] for name in INSIDE] == [2 * 1_514] * 2


def test_a_scorer_of_terms_alone_cannot_rank_inside_a_group(templates, terms, own):
    place = {name: (number + 1) / 52 for number, name in enumerate(["", *terms])}
    found = scored(templates, np.array([place[each] for each in own]), terms)
    values = {name: found["bias.subgroup_auc", f"term={name}"] for name in terms}
    assert values == dict.fromkeys(terms, pytest.approx(0.5))
    assert found["bias.gmb_subgroup_auc", "all"] == pytest.approx(0.5)
    first, last = (found["bias.bpsn_auc", f"term={terms[number]}"] for number in (0, -1))
    assert (first, last) == (pytest.approx(1, abs=0.03), pytest.approx(0, abs=0.03))


def test_a_scorer_that_ranks_perfectly_has_no_bias(templates, terms):
    score = np.where(templates.labels == 1, 0.6, 0.1) + np.random.default_rng(0).random(len(templates)) * 0.3
    found = scored(templates, score, terms)
    values = [value for (metric, _), value in found.items() if metric in AUCS]
    assert len(values) == 150
    assert values == [pytest.approx(1)] * 150
    assert [found[f"bias.gmb_{metric.removeprefix('bias.')}", "all"] for metric in AUCS] == [pytest.approx(1)] * 3
