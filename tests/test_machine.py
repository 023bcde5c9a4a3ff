"""What the machine tells of itself."""

from __future__ import annotations

from pathlib import Path

from unseen.machine import joules


def counter(root: Path, name: str, content: str) -> None:
    (root / name).mkdir()
    (root / name / "energy_uj").write_text(content)


def test_packages_are_summed_and_what_is_inside_them_is_not(tmp_path: Path) -> None:
    assert joules(tmp_path) is None
    counter(tmp_path, "intel-rapl:0", "2000000\n")
    counter(tmp_path, "intel-rapl:1", "500000\n")
    counter(tmp_path, "intel-rapl:0:0", "900000\n")
    assert joules(tmp_path) == 2.5
    counter(tmp_path, "intel-rapl:2", "what")
    assert joules(tmp_path) is None
