"""Rows that are set aside before anything is learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unseen import load
from unseen.data.sample import sample_corpus
from unseen.errors import InputError, MismatchError
from unseen.runs.source import by_id, limited, set_aside


def test_a_share_is_drawn_with_the_class_mix_whatever_the_order() -> None:
    data = sample_corpus(400)
    found, mask = set_aside(data, 0.1, None, 42)
    turned, again = set_aside(data.take(np.arange(400)[::-1]), 0.1, None, 42)
    assert mask.sum() == 40
    assert found.ids.equals(turned.ids)
    np.testing.assert_array_equal(mask, again)
    shares = [np.bincount(found.labels[each]) / each.sum() for each in (mask, ~mask)]
    np.testing.assert_allclose(*shares, atol=0.02)


def test_groups_stay_together() -> None:
    data, mask = set_aside(sample_corpus(400), 0.2, "author", 42)
    authors = np.array(data.attribute("author").to_pylist())
    assert not set(authors[mask]) & set(authors[~mask])


def test_a_limit_keeps_the_mix() -> None:
    data = sample_corpus(400)
    assert limited(data, None, 42) is data
    assert limited(data, 1000, 42) is data
    few = limited(data, 100, 42)
    assert len(few) == 100
    np.testing.assert_allclose(np.bincount(few.labels) / 100, np.bincount(data.labels) / 400, atol=0.01)


def test_a_limit_below_the_number_of_classes_is_told_as_a_limit() -> None:
    data = load([{"text": f"text {number}", "label": f"c{number % 12}"} for number in range(60)])
    with pytest.raises(InputError, match=r"^10 rows cannot have rows of 12 classes\n.*limit=120 or more"):
        limited(data, 10, 42)


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text("body,kind\n" + "".join(f"{text},{label}\n" for text, label in rows))
    return path


def test_another_file_is_read_like_the_data(tmp_path: Path) -> None:
    rows = [(f"text {number}", ("a", "b")[number % 2]) for number in range(20)]
    path, other = write(tmp_path / "posts.csv", rows), write(tmp_path / "more.csv", [*rows[:2], ("another", "a")])
    data = load(path, text="body", label="kind")
    found, mask = set_aside(data, str(other), None, 42)
    assert (len(found), int(mask.sum())) == (23, 3)
    assert found.ids.to_pylist() == sorted(found.ids.to_pylist())
    apart = found.take(np.flatnonzero(mask))
    assert sorted(apart.texts.to_pylist()) == ["another", "text 0", "text 1"]
    assert sum(name.startswith("independent/") for name in apart.ids.to_pylist()) == 2
    assert by_id(data).fingerprint == found.take(np.flatnonzero(~mask)).fingerprint
    by_text = dict(zip(found.texts.to_pylist(), found.labels.tolist(), strict=True))
    assert by_text["another"] == 0


def test_another_file_with_other_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "posts.csv", [("x", "a"), ("y", "b"), ("z", "a")])
    other = write(tmp_path / "more.csv", [("x", "a"), ("y", "c")])
    data = load(path, text="body", label="kind")
    with pytest.raises((MismatchError, InputError), match="c"):
        set_aside(data, str(other), None, 42)
    with pytest.raises(InputError, match="only when the data came from one"):
        set_aside(sample_corpus(200), str(other), None, 42)


def test_another_file_is_read_with_the_same_doubts_and_needs_no_ids(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("id,text,label\n1,x,a\n2,y,b\n3,z,A\n4,v,NA\n")
    (tmp_path / "more.csv").write_text("text,label\nu,a\nw,B\ns,NA\n")
    data = load(tmp_path / "posts.csv", merge=True, drop=["placeholders"])
    found, mask = set_aside(data, tmp_path / "more.csv", None, 42)
    assert sorted(found.take(np.flatnonzero(mask)).texts.to_pylist()) == ["u", "w"]
    assert sorted(found.take(np.flatnonzero(~mask)).ids.to_pylist()) == ["1", "2", "3"]
