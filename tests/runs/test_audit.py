"""`unseen.audit`: files and columns as the command takes them, or what was loaded already."""

from __future__ import annotations

from pathlib import Path

import pytest

import unseen
from unseen.errors import InputError


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    parts = ["test" if n % 4 == 0 else "train" for n in range(40)]
    rows = [f"p{n},post number {n // 2} of {n % 3},{'ab'[n % 2]},{part}" for n, part in enumerate(parts)]
    path = tmp_path / "posts.csv"
    path.write_text("\n".join(["id,text,label,part", *rows]), encoding="utf-8")
    return path


def test_a_file_and_a_column_of_parts_are_enough(posts: Path) -> None:
    by_column = unseen.audit(posts, parts="part", gates=())
    loaded = unseen.load(posts, attributes=["part"])
    split = unseen.split(loaded, "predefined", by="part")
    assert by_column.findings == unseen.audit(loaded, split, gates=()).findings
    assert {"ok", "skipped"} <= {finding.level for finding in by_column.findings}


def test_a_split_file_is_read(posts: Path) -> None:
    file = posts.with_name("theirs.csv")
    file.write_text("\n".join(["id,part", *(f"p{n},{'test' if n % 4 == 0 else 'train'}" for n in range(40))]))
    levels = [finding.level for finding in unseen.audit(posts, file, gates=()).findings]
    assert levels == [finding.level for finding in unseen.audit(posts, parts="part", gates=()).findings]
    with pytest.raises(InputError, match="parts has no effect with a split"):
        unseen.audit(posts, file, parts="part")


def test_without_out_nothing_is_left(posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "temporary"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    result = unseen.audit(posts, parts="part", gates=(), texts=True)
    assert result.folder is None
    assert not list(private.iterdir())
