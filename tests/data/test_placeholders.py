"""Handles and links as placeholders."""

from __future__ import annotations

import pytest

from tiny_data import build
from unseen.data.placeholders import with_placeholders


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RT @ann: so it goes https://t.co/x1", "@USER: so it goes HTTP-URL"),
        ("@ann @bob (@cem) see www.a.b/c", "@USER @USER (@USER) see HTTP-URL"),
        ("mail a@b.c, START @ noon 😀", "mail a@b.c, START @ noon 😀"),
    ],
    ids=["repost", "handles", "neither"],
)
def test_they_stand_where_handles_and_links_stood(text: str, expected: str) -> None:
    data = build(texts=[text, "rain", "", "wind"])
    changed = with_placeholders(data)
    assert changed.texts.to_pylist() == [expected, "rain", "", "wind"]
    assert changed.ids.equals(data.ids)
    assert with_placeholders(changed).texts.to_pylist() == changed.texts.to_pylist()
