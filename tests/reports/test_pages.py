"""What the page of every kind of run is: one file, the verdict on top, tables, findings, names that only are names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import browser
import pytest
from harmless import EVIL, assert_fits_and_runs_nothing, assert_harmless, without_own_script
from html_page import Page, written
from kind_folders import FAILED_GATE, FOLDERS

from unseen.errors import InputError
from unseen.reports.formats import FORMATS
from unseen.reports.record import read_record
from unseen.runs.frame import KINDS, report
from unseen.store import read_json, write_json
from unseen.store.manifest import manifest

browse, probe = browser.browse, browser.probe
HOSTILE = EVIL + "long" * 60
every_kind = pytest.mark.parametrize("kind", FOLDERS)


def changed(folder: Path, **about: Any) -> Path:
    """The folder with other words in run.json."""
    write_json(folder / "run.json", read_json(folder / "run.json") | about)
    return folder


def text_of(path: Path) -> str:
    return " ".join("".join(Page(path.read_text(encoding="utf-8")).texts).split())


def test_no_kind_is_forgotten() -> None:
    assert FOLDERS.keys() == KINDS.keys()


@every_kind
def test_it_is_one_file_and_its_links_lead_to_files_of_the_run(kind: str, tmp_path: Path) -> None:
    page = Page(written(FOLDERS[kind](tmp_path / "run", "posts")).read_text(encoding="utf-8"))
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [value for name, value in page.attributes if name.rpartition(":")[2] in ("href", "src", "srcset", "data")]
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids
        elif not link.startswith("data:image/png;base64,"):
            assert ":" not in link
            assert (tmp_path / "run" / unquote(link)).exists(), link
    assert {"measurements.csv", "findings.csv"} <= {*links}


@every_kind
def test_the_verdict_is_on_top(kind: str, tmp_path: Path) -> None:
    result = report(FOLDERS[kind](tmp_path / "run", "posts"))
    shown = text_of(tmp_path / "run" / "report.html")
    first = shown.index(" ".join(result.verdict.headline.split()))
    for section in result.page.sections:
        assert first < shown.rindex(section.heading)
    for sentence in result.verdict.sentences:
        assert " ".join(sentence.split()) in shown.replace("\u00a0", " ").replace("\u2060", "")
    content = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f'class="verdict {result.verdict.level}"' in content
    assert content.index("<h2") > content.index('<section class="verdict')


@every_kind
def test_tables_are_files_in_three_formats_and_linked(kind: str, tmp_path: Path) -> None:
    result = report(FOLDERS[kind](tmp_path / "run", "posts"))
    wanted = {f"tables/{name}.{suffix}" for name in result.tables for suffix in FORMATS}
    assert wanted
    assert {f"tables/{path.name}" for path in (tmp_path / "run").glob("tables/*")} == wanted
    page = Page((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert wanted <= {unquote(value) for name, value in page.attributes if name == "href"}


@every_kind
def test_findings_are_shown_with_their_level_advice_and_evidence(kind: str, tmp_path: Path) -> None:
    result = report(FOLDERS[kind](tmp_path / "run", "posts"))
    assert result.findings or kind in ("attack", "check", "learning", "score")
    shown, content = text_of(tmp_path / "run" / "report.html"), result.report.read_text(encoding="utf-8")  # type: ignore[union-attr]
    for finding in result.findings:
        for said in (finding.message, finding.advice, finding.check):
            assert " ".join(said.split()) in shown.replace("\u00a0", " ")
        assert f'class="badge {finding.level}"' in content
        assert all(f"<code>{each}</code>" in content for each in finding.evidence[:10])


@every_kind
def test_gates_are_shown(kind: str, tmp_path: Path) -> None:
    kept = {"gate": "findings.fail<=3", "place": "", "value": 2.0, "passed": True}
    unknown = {"gate": "speed>=1", "place": "posts", "value": None, "passed": False}
    result = report(changed(FOLDERS[kind](tmp_path / "run", "posts"), gates=[FAILED_GATE, kept, unknown]))
    assert not result.passed
    shown = text_of(tmp_path / "run" / "report.html")
    assert "failed fall.f1.macro<=0.2: .204" in shown
    assert "failed speed>=1: not measured posts" in shown
    assert re.search(r"1 gate passed ?passed findings\.fail<=3: 2(?!\.)", shown), "a count is a whole number"


@every_kind
def test_nothing_in_a_run_becomes_markup(kind: str, tmp_path: Path) -> None:
    folder = FOLDERS[kind](tmp_path / "run", EVIL)
    gate = FAILED_GATE | {"gate": f"f1[{EVIL}]<=0.2", "place": EVIL}
    assert_harmless(written(changed(folder, gates=[gate])))


@every_kind
def test_the_same_folder_gives_the_same_bytes(kind: str, tmp_path: Path) -> None:
    folder = FOLDERS[kind](tmp_path / "run", EVIL)
    names = ("report.html", "tables/*", "actions.csv")
    report(folder)
    first = {path: path.read_bytes() for name in names for path in folder.glob(name)}
    report(folder)
    assert {path: path.read_bytes() for name in names for path in folder.glob(name)} == first
    assert first


@every_kind
def test_what_programs_get_is_plain(kind: str, tmp_path: Path) -> None:
    result = report(FOLDERS[kind](tmp_path / "run", "posts"))
    said = json.loads(json.dumps(result.described(), default=str))
    assert (said["kind"], said["level"], said["passed"]) == (kind, result.verdict.level, True)
    assert said["verdict"] == result.verdict.lines()
    assert len(said["measurements"]) == len(result.measurements) > 0
    assert said["report"] == str(tmp_path / "run" / "report.html")


@every_kind
def test_a_folder_of_another_kind_is_refused(kind: str, tmp_path: Path) -> None:
    folder = FOLDERS[kind](tmp_path / "run", "posts")
    assert read_record(folder, kind).kind == kind
    for other in KINDS.keys() - {kind}:
        with pytest.raises(InputError, match=f"does not hold a run of the kind {other}") as caught:
            read_record(folder, other)
        assert caught.value.got == kind
        assert f"unseen runs report {folder}" in str(caught.value.fix)


@every_kind
def test_an_unfinished_or_damaged_run_is_refused_with_the_way_out(kind: str, tmp_path: Path) -> None:
    folder = FOLDERS[kind](tmp_path / "run", "posts")
    again = f": unseen x.csv -o {folder}"
    changed(folder, command="unseen x.csv --out old", finished=None)
    with pytest.raises(InputError, match="is not finished") as caught:
        report(folder)
    assert str(caught.value.fix).endswith(again)
    changed(folder, finished="2026-11-01T00:00:00+00:00", files=manifest(folder))
    report(folder)
    for name in ("measurements.csv", "findings.csv"):
        content = (folder / name).read_bytes()
        for damage in (content + b"x", content[: len(content) // 2]):
            (folder / name).write_bytes(damage)
            with pytest.raises(InputError, match="are damaged") as caught:
                report(folder)
            assert (caught.value.problems, str(caught.value.fix)[-len(again) :]) == (
                (f"{name} was changed after the run",), again,
            )  # fmt: skip
        (folder / name).unlink()
        with pytest.raises(InputError, match="is not a whole run folder") as caught:
            report(folder)
        assert (caught.value.problems, str(caught.value.fix)[-len(again) :]) == ((f"{name} is missing",), again)
        (folder / name).write_bytes(content)
    (folder / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="are damaged") as caught:
        report(folder)
    assert f"-o {folder}" in str(caught.value.fix)


@every_kind
def test_whatever_run_json_does_not_say_is_no_crash(kind: str, tmp_path: Path) -> None:
    folder = FOLDERS[kind](tmp_path / "run", "posts")
    about, refused = read_json(folder / "run.json"), {}
    for name in about.keys() - {"kind"}:
        for wrong in ({}, {name: "x"}):
            write_json(folder / "run.json", {key: value for key, value in about.items() if key != name} | wrong)
            try:
                report(folder)
            except InputError as error:
                refused[name, str(wrong)] = error
    assert refused, "something is needed"
    assert all(error.fix for error in refused.values())


@pytest.mark.browser
@pytest.mark.skipif(not browser.CHROMIUM.exists(), reason="no browser: chromium is missing")
@every_kind
def test_it_fits_a_telephone_and_runs_nothing(
    kind: str, tmp_path: Path, browse: Callable[..., str], probe: Callable[..., dict[str, Any]]
) -> None:
    page = written(FOLDERS[kind](tmp_path / "run", HOSTILE))
    assert page.stat().st_size < 1_000_000
    dom = browse(page)
    assert "<title>it ran</title>" not in dom
    assert "<script" not in without_own_script(dom)
    content = page.read_text(encoding="utf-8")
    for width in (browser.PHONE, 1200):
        for shown in (content, content.replace("<details", "<details open")):
            found = probe(shown, width)
            assert_fits_and_runs_nothing(found)
            assert found["scrolls"] == width


@every_kind
def test_a_notebook_shows_verdict_table_and_of_a_stress_run_the_chart(kind: str, tmp_path: Path) -> None:
    shown = report(FOLDERS[kind](tmp_path / "run", "posts"))._repr_html_()
    assert shown.count("<strong>") >= 1
    assert "<table" in shown
    assert ("<svg" in shown) == (kind == "stress")
    assert "<img" not in report(FOLDERS[kind](tmp_path / "evil", EVIL))._repr_html_()
