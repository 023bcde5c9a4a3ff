"""A folder is told by what its run.json names."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.reports.kinds import kind_of


@pytest.mark.parametrize(
    ("content", "kind"),
    [('{"kind": "price"}', "price"), ("{}", None), ('{"kind": ["price"]}', None), ("[1]", None), ("{", None)],
)
def test_the_kind_of_a_folder(content: str, kind: str | None, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content)
    assert kind_of(tmp_path) == kind


def test_no_folder_has_no_kind(tmp_path: Path) -> None:
    assert kind_of(tmp_path / "nothing") is None
