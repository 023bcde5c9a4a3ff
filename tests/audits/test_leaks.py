"""Ties between the sides of a split, against looking at all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_data import build
from unseen import split
from unseen.audits import Subject, leak
from unseen.audits.subject import contradicted
from unseen.errors import InputError, MismatchError
from unseen.types import Embeddings

PARTS = ("train", "dev", "test", "")


def subject(parts: Sequence[str], columns: dict[str, str] | None = None, **content: Any) -> Subject:
    data = build([str(row) for row in range(len(parts))], part=parts, **content)
    return Subject(data, split(data, "predefined", by="part"), columns or {})


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], list[str | None], list[str]]:
    n = draw(st.integers(2, 12))
    parts = ["train", "test", *draw(st.lists(st.sampled_from(PARTS), min_size=n, max_size=n))]
    values = draw(st.lists(st.sampled_from(["ann", "bob", "cay", None]), min_size=n + 2, max_size=n + 2))
    labels = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n + 2, max_size=n + 2))
    return parts, values, labels


@given(cases())
def test_authors_on_both_sides_by_force(case: tuple[list[str], list[str | None], list[str]]) -> None:
    parts, values, _ = case
    found = leak(subject(parts, {"author": "who"}, who=values), "author")
    assert found is not None
    learnt = [row for row, part in enumerate(parts) if part in ("train", "dev")]
    tested = [row for row, part in enumerate(parts) if part == "test"]
    tied = [row for row in tested if values[row] is not None and values[row] in {values[each] for each in learnt}]
    assert found.test.tolist() == tied
    assert found.train.tolist() == [
        row for row in learnt if values[row] is not None and values[row] in {values[each] for each in tested}
    ]
    assert [values[row] for row in found.partner] == [values[row] for row in found.test]


@given(cases())
def test_contradictions_by_force(case: tuple[list[str], list[str | None], list[str]]) -> None:
    parts, values, labels = case
    texts = [str(value) for value in values]
    found = contradicted(subject(parts, texts=texts, labels=labels), "exact")
    learnt = [row for row, part in enumerate(parts) if part in ("train", "dev")]
    assert found.tolist() == [
        row
        for row, part in enumerate(parts)
        if part == "test" and any(texts[row] == texts[each] and labels[row] != labels[each] for each in learnt)
    ]


def test_a_partner_may_be_an_id_or_a_shared_name() -> None:
    parts = ["test", "train", "test", "train", "test", "train"]
    partners = ["1", None, "pair", "pair", None, None]
    found = leak(subject(parts, {"partner": "of"}, of=partners), "partner")
    assert found is not None
    assert (found.test.tolist(), found.partner.tolist(), found.train.tolist()) == ([0, 2], [1, 3], [1, 3])


def test_an_author_that_is_called_like_an_id_is_not_that_row() -> None:
    found = leak(subject(["test", "train"], {"author": "who"}, who=["1", "0"]), "author")
    assert found is not None
    assert len(found) == 0


def test_what_nothing_says_is_no_leak_but_unknown() -> None:
    of = subject(["test", "train"])
    assert leak(of, "author") is None
    assert leak(of, "semantic") is None
    assert leak(Subject(of.data), "exact") is None


def test_vectors_tie_what_they_say_is_the_same() -> None:
    """Seen from their centre: all of these vectors point the same way."""
    of = subject(["test", "train", "train", "train"])
    apart = np.array([[1, 0], [-1, 0], [1.1, 0.1], [-1, -0.1]])
    vectors = Embeddings(of.data.ids, (apart + 20).astype(np.float32))
    found = leak(Subject(of.data, of.split, vectors=vectors), "semantic")
    assert found is not None
    assert (found.test.tolist(), found.partner.tolist()) == ([0], [2])


def test_wrong_subjects_are_refused() -> None:
    of = subject(["test", "train"])
    with pytest.raises(InputError, match="no role is called 'writer'"):
        Subject(of.data, of.split, {"writer": "part"})
    with pytest.raises(InputError, match="no attribute is called 'who'"):
        Subject(of.data, of.split, {"author": "who"})
    with pytest.raises(InputError, match="no kind of leak is called 'nearly'"):
        leak(of, "nearly")
    vectors = Embeddings(of.data.ids.take([1, 0]), np.eye(2, dtype=np.float32))
    with pytest.raises(MismatchError, match="other rows"):
        Subject(of.data, of.split, vectors=vectors)


def test_another_split_of_the_same_data_shares_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    of = subject(["test", "train", "train"], texts=["same text", "same text", "another"])
    assert of.alike("near") is not None
    monkeypatch.setattr("unseen.audits.subject.near_pairs", lambda *given: pytest.fail("looked for again"))
    assert of.split is not None
    assert leak(of.of(of.split), "near") is not None
