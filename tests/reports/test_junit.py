"""Gates and findings as JUnit XML: counted as CI systems count, with nothing that breaks the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from harmless import EVIL
from kind_folders import FOLDERS

from unseen.evaluation.gates import GateOutcome
from unseen.reports.summary import junit
from unseen.runs.frame import Result, report
from unseen.types import Finding

FINDINGS = (
    Finding("copies", "fail", "12 texts are twice.", 12, ("a", "b"), "Remove them."),
    Finding("labels", "warn", "Look at these.", 1, ("c",), "Read them."),
    Finding("mix", "ok", "The same mix."),
    Finding("annotators", "skipped", "Nobody says who labelled what."),
)
GATES = (
    GateOutcome("fall.f1.macro<=0.2", "closest", 0.3, False),
    GateOutcome("speed>=1", "", None, False),
    GateOutcome("f1.macro>=0.1", "", 0.5, True),
)


def judged(folder: Path, **changed: object) -> Result:
    result = report(FOLDERS["price"](folder, "posts"))
    record = replace(
        result.record,
        findings=changed.get("findings", FINDINGS),
        about={**result.record.about, "failures": changed.get("failures", {"train": "it broke\nat line 3"})},
    )
    return replace(result, record=record, gates=changed.get("gates", GATES))  # type: ignore[arg-type]


def test_it_has_what_ci_systems_read(tmp_path: Path) -> None:
    root = ElementTree.fromstring(junit(judged(tmp_path / "run")))
    (suite,) = root.findall("testsuite")
    assert (root.tag, suite.get("name")) == ("testsuites", "unseen.price")
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "8", "failures": "2", "errors": "1", "skipped": "1"}
    assert {name: root.get(name) for name in counts} == counts
    assert float(suite.get("time", "")) >= 0
    outcomes = {
        (case.get("classname"), case.get("name")): [(child.tag, child.get("message")) for child in case]
        for case in suite.findall("testcase")
    }
    assert outcomes == {
        ("unseen.price.gates", "fall.f1.macro<=0.2 (closest)"): [
            ("failure", "gate FAILED: fall.f1.macro<=0.2: .300 (closest)")
        ],
        ("unseen.price.gates", "speed>=1"): [("failure", "gate FAILED: speed>=1: not measured")],
        ("unseen.price.gates", "f1.macro>=0.1"): [("system-out", None)],
        ("unseen.price.findings", "copies"): [("system-out", None)],
        ("unseen.price.findings", "labels"): [("system-out", None)],
        ("unseen.price.findings", "mix"): [("system-out", None)],
        ("unseen.price.findings", "annotators"): [("skipped", "Nobody says who labelled what.")],
        ("unseen.price.steps", "train"): [("error", "it broke")],
    }
    failure = suite.find("testcase[@name='copies']/system-out")
    assert failure is not None
    assert failure.text == "fail: 12 texts are twice.\nRemove them.\nrows: a, b"
    warning = suite.find("testcase[@name='labels']/system-out")
    assert warning is not None
    assert warning.text == "warn: Look at these.\nRead them.\nrows: c"


def test_names_and_messages_stay_text(tmp_path: Path) -> None:
    odd = f"{EVIL} ]]> & \x00\x1b[31m \ud800 \ufffe ü"
    findings = (Finding(odd, "fail", odd, 1, (odd,), odd),)
    gates = (GateOutcome(odd, odd, 0.5, False),)
    text = junit(judged(tmp_path / "run", findings=findings, gates=gates, failures={odd: odd}))
    assert "<img" not in text
    text.encode("utf-8")
    root = ElementTree.fromstring(text)
    assert len(root.findall(".//testcase")) == 3
    for case in root.iter("testcase"):
        assert EVIL in str(case.get("name"))
        assert EVIL in f"{case[0].get('message')}{case[0].text}"
        assert "\x00" not in str(case.get("name"))


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_kind_has_it(kind: str, tmp_path: Path) -> None:
    result = report(FOLDERS[kind](tmp_path / "run", "posts"))
    suite = ElementTree.fromstring(junit(result))[0]
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests", "")) == len(result.findings) + len(result.gates)
    for outcome, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert len(suite.findall(f"testcase/{outcome}")) == int(suite.get(name, ""))
