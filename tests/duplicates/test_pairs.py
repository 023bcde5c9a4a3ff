"""What follows from pairs of rows that are alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unseen.duplicates import Pairs

Problem = tuple[list[int], list[tuple[int, int, float]], list[int]]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Texts as numbers, similar pairs of numbers, and a side (0, 1 or neither) per row."""
    texts = draw(st.lists(st.integers(0, 5), min_size=1, max_size=12))
    known = sorted(set(texts))
    pairs = {
        (a, b): draw(st.sampled_from([0.8, 0.85, 0.9]))
        for place, a in enumerate(known)
        for b in known[place + 1 :]
        if draw(st.booleans())
    }
    sides = draw(st.lists(st.integers(0, 2), min_size=len(texts), max_size=len(texts)))
    return texts, [(a, b, value) for (a, b), value in pairs.items()], sides


def built(texts: list[int], links: list[tuple[int, int, float]]) -> Pairs:
    first = {text: texts.index(text) for text in texts}
    ends = [sorted((first[a], first[b])) for a, b, _ in links]
    return Pairs(
        np.array([first[text] for text in texts]),
        np.array([a for a, _ in ends], dtype=np.intp),
        np.array([b for _, b in ends], dtype=np.intp),
        np.array([value for _, _, value in links]),
    )


@given(problems())
def test_across_finds_the_most_similar_row_of_the_other_side(problem: Problem) -> None:
    texts, links, sides = problem
    likeness = {(a, b): value for a, b, value in links} | {(b, a): value for a, b, value in links}
    left, right = np.array(sides) == 0, np.array(sides) == 1
    expected = []
    for row in np.flatnonzero(left):
        best = [
            (-(1.0 if texts[row] == texts[other] else likeness.get((texts[row], texts[other]), 0.0)), int(other))
            for other in np.flatnonzero(right)
        ]
        best = [each for each in best if each[0] < 0]
        if best:
            expected.append((int(row), min(best)[1], -min(best)[0]))
    rows, partners, similarity = built(texts, links).across(left, right)
    assert list(zip(rows.tolist(), partners.tolist(), similarity.tolist(), strict=True)) == expected


@given(problems())
def test_groups_are_what_can_be_reached(problem: Problem) -> None:
    texts, links, _ = problem
    reached = {text: {text} for text in texts}
    for _ in texts:
        for a, b, _value in links:
            both = reached[a] | reached[b]
            for each in both:
                reached[each] = reached[each] | both
    groups = built(texts, links).groups()
    for one, a in enumerate(texts):
        for other, b in enumerate(texts):
            assert (groups[one] == groups[other]) == (b in reached[a])
