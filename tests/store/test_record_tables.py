"""Measurements, findings and suspect labels come back from their files as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, TableError
from unseen.store import (
    read_findings,
    read_measurements,
    read_suspects,
    write_findings,
    write_measurements,
    write_suspects,
)
from unseen.types import LEVELS, Finding, Measurement, SuspectLabel

MEASUREMENT_HEADER = "metric,value,low,high,n,slice"
FINDING_HEADER = "check,level,message,count,evidence,advice,rows"
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
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["=x", "'x", "\r", "-5", ",", '"'])
FINDINGS = st.builds(
    Finding,
    check=TEXTS,
    level=st.sampled_from(LEVELS),
    message=TEXTS,
    count=st.integers(0, 10**9),
    evidence=st.lists(TEXTS, max_size=3).map(tuple),
    advice=TEXTS,
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
        MEASUREMENT_HEADER + ",split,seed,model",
        "f1,0.1,0.05,0.2,10,'=user,hard,42,",
        "auc,,,,0,all,,,'=cmd()",
    ]
    assert read_measurements(path)[0].tags == {"split": "hard", "seed": "42"}
    assert read_measurements(path)[1] == rows[1]


def test_a_tag_may_not_hide_a_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got: n"):
        write_measurements([Measurement("f1", 1.0, 10, tags={"n": 3})], tmp_path / "m.csv")
    assert list(tmp_path.iterdir()) == []


def test_wrong_lines_of_measurements_are_named_all_at_once(tmp_path: Path) -> None:
    lines = [
        MEASUREMENT_HEADER,
        "f1,1,,,5,all",
        "f1,abc,,,5,all",
        "f1,1,,,x,all",
        "f1,1",
        "f1,1,,,5,all,extra",
        "f1,1,,,0,all",
    ]
    (tmp_path / "m.csv").write_text("\n".join(lines))
    with pytest.raises(TableError) as caught:
        read_measurements(tmp_path / "m.csv")
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        f"line {line}" for line in (3, 4, 5, 6, 7)
    ]


@pytest.mark.parametrize("content", [b"", b"id,part,cluster\n", b"\xff\xfe", None])
def test_what_does_not_hold_measurements_is_wrong_input(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "m.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"m\.csv"):
        read_measurements(tmp_path / "m.csv")


@given(findings=st.lists(FINDINGS, max_size=4))
def test_findings_come_back_exactly(tmp_path: Path, findings: list[Finding]) -> None:
    assert read_findings(write_findings(findings, tmp_path / "f.csv")) == findings


def test_a_file_reads_as_one_line_per_finding(tmp_path: Path) -> None:
    findings = [
        Finding("learnt[hard]", "ok", "=Learnt."),
        Finding("mix", "warn", "At most", 2, ("a", "é"), "Ask, again", ("line 2", "")),
    ]
    path = write_findings(iter(findings), tmp_path / "f.csv")
    assert path.read_text(encoding="utf-8").splitlines() == [
        FINDING_HEADER,
        "learnt[hard],ok,'=Learnt.,0,[],,[]",
        'mix,warn,At most,2,"[""a"", ""é""]","Ask, again","[""line 2"", """"]"',
    ]


def test_wrong_lines_of_findings_are_named_all_at_once(tmp_path: Path) -> None:
    lines = [
        FINDING_HEADER,
        "a,ok,m,1,[],,[]",
        "a,fine,m,1,[],,[]",
        "a,ok,m,x,[],,[]",
        "a,ok,m,1,ids,,[]",
        "a,ok,m,1,[1],,[]",
        "a,ok,m,1,{},,[]",
        "a,ok",
        "a,ok,m,1,[],,[],more",
        'a,ok,m,1,[],,"[""line 2""]"',
    ]
    (tmp_path / "f.csv").write_text("\n".join(lines))
    with pytest.raises(TableError) as caught:
        read_findings(tmp_path / "f.csv")
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [f"line {line}" for line in range(3, 11)]


@pytest.mark.parametrize("content", [b"", b"id,part,cluster\n", b"\xff\xfe", None])
def test_what_does_not_hold_findings_is_wrong_input(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "f.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"f\.csv"):
        read_findings(tmp_path / "f.csv")


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_findings([Finding("a", "ok", "m")], tmp_path / "f.csv")
    before = path.read_bytes()

    def broken():
        yield Finding("b", "ok", "m")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_findings(broken(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_suspects_come_back_and_no_spreadsheet_runs_them(tmp_path):
    suspects = [
        SuspectLabel("=1+1", "@yes", "-no", 0.9321, "line 7", ("closest", "random-1")),
        SuspectLabel("'b", "yes,", "no", 0.51),
    ]
    path = write_suspects(suspects, tmp_path / "suspects.csv")
    assert read_suspects(path) == suspects
    lines = path.read_text().splitlines()
    assert lines[0] == "id,given,likely,confidence,row,test_of"
    assert lines[1] == "'=1+1,'@yes,'-no,0.9321,line 7,closest;random-1"
    assert [path.name for path in tmp_path.iterdir()] == ["suspects.csv"]
