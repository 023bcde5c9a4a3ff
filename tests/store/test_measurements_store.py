from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, TableError
from unseen.store import read_measurements, write_measurements
from unseen.types import Measurement

HEADER = "metric,value,low,high,n,slice"

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.sampled_from(["=x", "'x", "\r", "-5", ","])
NUMBERS = st.floats(allow_nan=False) | st.none()
MEASUREMENTS = st.builds(
    Measurement,
    metric=st.just("f1.macro"),
    value=NUMBERS,
    n=st.integers(1, 10**9),
    low=NUMBERS,
    high=NUMBERS,
    slice=NAMES,
    tags=st.dictionaries(st.sampled_from(["split", "model", "part"]), NAMES),
)


@given(rows=st.lists(MEASUREMENTS, max_size=4))
def test_measurements_come_back_exactly(tmp_path: Path, rows: list[Measurement]) -> None:
    assert read_measurements(write_measurements(rows, tmp_path / "m.csv")) == rows


def test_a_file_reads_as_one_line_per_number(tmp_path: Path) -> None:
    rows = [
        Measurement("f1", 0.1, 10, 0.05, 0.2, "=user", {"split": "hard", "seed": 42}),
        Measurement("auc", None, 0, tags={"model": "=cmd()"}),
    ]
    path = write_measurements(iter(rows), tmp_path / "m.csv")
    assert path.read_text().splitlines() == [
        HEADER + ",split,seed,model",
        "f1,0.1,0.05,0.2,10,'=user,hard,42,",
        "auc,,,,0,all,,,'=cmd()",
    ]
    assert read_measurements(path)[0].tags == {"split": "hard", "seed": "42"}
    assert read_measurements(path)[1] == rows[1]


def test_a_tag_may_not_hide_a_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got: n"):
        write_measurements([Measurement("f1", 1.0, 10, tags={"n": 3})], tmp_path / "m.csv")
    assert list(tmp_path.iterdir()) == []


def test_wrong_lines_are_named_all_at_once(tmp_path: Path) -> None:
    lines = [HEADER, "f1,1,,,5,all", "f1,abc,,,5,all", "f1,1,,,x,all", "f1,1", "f1,1,,,5,all,extra", "f1,1,,,0,all"]
    (tmp_path / "m.csv").write_text("\n".join(lines))
    with pytest.raises(TableError) as caught:
        read_measurements(tmp_path / "m.csv")
    assert [each.partition(":")[0] for each in caught.value.problems] == [f"line {line}" for line in (3, 4, 5, 6, 7)]


@pytest.mark.parametrize("content", [b"", b"id,part,cluster\n", b"\xff\xfe", None])
def test_what_does_not_hold_measurements_is_wrong_input(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "m.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"m\.csv"):
        read_measurements(tmp_path / "m.csv")
