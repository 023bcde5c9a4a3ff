from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, TableError
from unseen.store import read_findings, write_findings
from unseen.types import LEVELS, Finding

HEADER = "check,level,message,count,evidence,advice"
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


@given(findings=st.lists(FINDINGS, max_size=4))
def test_findings_come_back_exactly(tmp_path: Path, findings: list[Finding]) -> None:
    assert read_findings(write_findings(findings, tmp_path / "f.csv")) == findings


def test_a_file_reads_as_one_line_per_finding(tmp_path: Path) -> None:
    found = [Finding("learnt[hard]", "ok", "=Learnt."), Finding("mix", "warn", "At most", 2, ("a", "é"), "Ask, again")]
    path = write_findings(iter(found), tmp_path / "f.csv")
    assert path.read_text(encoding="utf-8").splitlines() == [
        HEADER,
        "learnt[hard],ok,'=Learnt.,0,[],",
        'mix,warn,At most,2,"[""a"", ""é""]","Ask, again"',
    ]


def test_wrong_lines_are_named_all_at_once(tmp_path: Path) -> None:
    lines = [
        HEADER,
        "a,ok,m,1,[],",
        "a,fine,m,1,[],",
        "a,ok,m,x,[],",
        "a,ok,m,1,ids,",
        "a,ok,m,1,[1],",
        "a,ok,m,1,{},",
        "a,ok",
        "a,ok,m,1,[],,more",
    ]
    (tmp_path / "f.csv").write_text("\n".join(lines))
    with pytest.raises(TableError) as caught:
        read_findings(tmp_path / "f.csv")
    assert [each.partition(":")[0] for each in caught.value.problems] == [f"line {line}" for line in range(3, 10)]


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
