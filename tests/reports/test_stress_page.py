"""The stress report is one small file that shows everything, runs nothing, asks nobody, and can be built again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import contrast, luminance
from fake_run import FakeRun
from harmless import assert_harmless, without_own_script
from hostile_run import EVERY, hostile_run
from html_page import Page, written

from unseen.reports import figures
from unseen.reports import stress_tables as tables
from unseen.reports.figures import FAINT, INK, PAPER, ScoreRow, class_map, part_map, score_chart
from unseen.reports.record import read_record
from unseen.types import Finding

SECTIONS = [
    "What the fall is made of",
    "How far it falls",
    "The latent space",
    "The splits, and what is proven about them",
    "What is different about them",
    "Results by class and slice",
    "Findings",
    "Clusters",
    "Costs",
    "Files and how to repeat it",
    "How every number was computed",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(FakeRun(texts=True).write(tmp_path_factory.mktemp("stress") / "run"))


@pytest.fixture(scope="module")
def content(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = hostile_run(tmp_path_factory.mktemp("hostile") / "run")
    return Page(without_own_script(written(folder).read_text(encoding="utf-8")))


def test_the_verdict_comes_first_and_every_section_follows(content: str) -> None:
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", content)
    assert heads[0] == (
        "Expect macro F1 of about .66 on texts like those it learnt from, .53 on kinds of text it has not seen "
        "(“subset-sum”), and .27 on the region it finds hardest (“closest”)."
    )
    assert heads[1:] == SECTIONS
    assert 'class="verdict fail"' in content


def test_the_table_has_the_numbers_of_the_chart(content: str) -> None:
    row = re.search(r'<tr><th scope="row">closest</th><td class="number">3.*?</tr>', content)
    assert row
    cells = re.sub(r"<[^>]+>", " ", row[0]).split()
    assert " ".join(cells) == "closest 3 .27 [.25, .29] 39 [36, 42] .65 [.63, .67] .68 [.66, .70] .26, .27, .28"


def test_pictures_have_descriptions(content: str) -> None:
    described = re.findall(r'<svg role="img" aria-label="([^"]+)"', content)
    assert len(described) == content.count("<svg") == 2 + 2 + 1 + 5
    assert "closest: selection 34, novelty 5.0" in described[0]
    assert "closest test .27" in described[2]
    assert "by class: complaint, question, praise" in described[4]
    assert "split closest: test rows in orange" in described[-1]


def test_ids_of_pictures_do_not_collide(content: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', content)
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', content)
    assert used
    assert set(used) <= set(ids)


def test_tables_say_what_their_heads_are_for(content: str) -> None:
    assert content.count("<table>") >= 8
    assert not re.findall(r"<th(?! scope=)[ >]", content)


def test_certificates_are_shown(content: str) -> None:
    assert "nearest possible, proven" in content
    assert "2 of 14" in content
    assert "The sweep over k stopped early." in content


def test_slices_are_sorted_by_fall_and_long_lists_are_folded(page: Path, content: str) -> None:
    rows = tables.slice_rows(read_record(page.parent, "stress"), "closest")
    falls = [row.fall for row in rows]
    assert falls == sorted(falls, reverse=True)
    assert len(rows) == 16
    assert "<summary>4 more slices</summary>" in content


def test_classes_count_their_own_rows(page: Path) -> None:
    run = read_record(page.parent, "stress")
    rows = tables.class_rows(run, "closest")
    assert [row.hard.n for row in rows if row.hard] == list(run.splits["closest"].certificate.got.values())


def test_few_texts_are_marked(page: Path) -> None:
    rows = tables.slice_rows(read_record(page.parent, "stress"), "closest")
    assert {row.few for row in rows} == {True, False}
    assert all(row.few == (min(row.random.n, row.hard.n) < 30) for row in rows if row.random and row.hard)


def test_other_metrics_are_in_a_table_of_their_own(page: Path) -> None:
    table = tables.metric_table(read_record(page.parent, "stress"))
    assert table is not None
    (row,) = table.rows
    assert row[0] == "accuracy"
    assert all(re.fullmatch(r"\.\d\d \[\.\d\d, \.\d\d\]", str(cell)) for cell in row[1:])
    assert len(row) == 4


def test_grave_findings_are_open_and_quiet_ones_folded(content: str) -> None:
    section = content[content.index('<section id="findings">') : content.index('<section id="clusters">')]
    seen, folded = section.split("<details>")
    assert re.findall(r'badge (\w+)"', seen) == ["fail", "warn"]
    assert re.findall(r'badge (\w+)"', folded) == ["ok", "skipped"]
    assert "2 checks without complaint or skipped" in folded


def test_properties_average_the_random_splits(page: Path) -> None:
    table, _ = tables.property_tables(read_record(page.parent, "stress"))
    assert table is not None
    assert table.columns[2:] == ("random, mean of 3", "subset-sum", "closest")
    by_name = {row[:2]: row[2:] for row in table.rows}
    assert by_name["under-represented values of channel", "test"] == ("0", "1", "2")
    assert by_name["words per text", "test"] == ("23.4", "27.9", "32.5")


def test_texts_are_there_only_when_asked_and_behind_a_click(content: str, tmp_path: Path) -> None:
    texts = re.findall(r"the parcel of t\d+ is login", content)
    assert texts
    outside = re.sub(r'<details class="texts">.*?</details>', "", content, flags=re.DOTALL)
    assert "the parcel of" not in outside
    assert "they may offend" in content
    without = written(FakeRun(rows=200).write(tmp_path / "run")).read_text(encoding="utf-8")
    assert "the parcel of" not in without
    assert "they may offend" not in without


def test_hostile_names_are_shown_as_they_are(hostile: Page) -> None:
    said = "".join(hostile.texts)
    for each in EVERY:
        assert each in said, each


def test_nothing_in_a_run_becomes_markup(tmp_path: Path) -> None:
    assert_harmless(written(hostile_run(tmp_path / "run")))


def test_hostile_names_become_no_element_and_no_attribute(hostile: Page) -> None:
    assert not {"script", "img", "iframe", "object", "embed", "form", "base", "b"} & set(hostile.tags)
    assert not [name for name, _ in hostile.attributes if name.startswith("on")]
    assert hostile.open == []


def test_everything_is_inside_the_file_but_what_its_links_lead_to(content: str, hostile: Page) -> None:
    asking = {"src", "srcset", "data", "action", "xlink:href"}
    addresses = [value for name, value in hostile.attributes if name in asking]
    assert addresses
    assert all(each.startswith(("data:image/png;base64,", "#")) for each in addresses)
    links = [value for name, value in hostile.attributes if name == "href"]
    assert not [each for each in links if not re.fullmatch(r"#[\w-]+|[\w-]+\.csv|[\w-]+/|tables/[\w.-]+", each)]
    assert "@import" not in content
    assert not re.search(r"url\((?!#|['\"]?data:)", content)
    assert set(re.findall(r"https?://[^\s\"'<]*", content)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_the_policy_forbids_everything_but_the_page_itself(content: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', content)
    assert policy
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert content.index("Content-Security-Policy") < content.index("<title>")


def test_the_page_is_the_same_bytes_every_time(page: Path) -> None:
    first = page.read_bytes()
    code = f"from unseen.runs.frame import report; report({str(page.parent)!r})"
    for seed in ("1", "2"):
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONHASHSEED": seed})
        assert page.read_bytes() == first


@pytest.mark.slow
def test_twenty_thousand_texts_and_many_splits_stay_small(tmp_path: Path) -> None:
    splits = {**{f"random-{n}": "random" for n in range(3)}, **{f"closest-{n}": "closest" for n in range(12)}}
    page = written(FakeRun(rows=20_000, splits=splits).write(tmp_path / "run"))
    content = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 2_000_000
    assert content.count("<svg") == 2 + 2 + 1 + 11
    assert "A random 4,000 of 20,000 points are drawn. 4 splits have no picture." in content


def test_the_chart_draws_what_it_is_given() -> None:
    rows = [ScoreRow("$a_1$", "test", 0.5, 0.4, 0.6, (0.45, 0.55)), ScoreRow("b", "independent", 0.7, None, None, ())]
    for narrow in (False, True):
        svg = score_chart(rows, "macro F1", 0.33, narrow=narrow)
        assert re.findall(r"<text[^>]*>([^<]*)</text>", svg)[-2:] == ["$a_1$", "b"]
        assert svg.count("stroke-opacity: 0.75") == 1, "one whisker"
        assert svg.count("stroke-opacity: 0.8;") == 2, "two ticks"
        assert "currentColor" in svg
        assert not {INK, FAINT, PAPER} & set(re.findall(r"#[0-9a-f]{6}", svg))


def test_maps_hold_one_picture_and_no_more_points_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).normal(size=(500, 2))
    labels = np.array(["a", "b"] * 250)
    whole = class_map(points, labels, ["a", "b"])
    assert whole.count("<image") == 1
    assert class_map(points, labels, ["b", "a"]) != whole
    monkeypatch.setattr(figures, "MOST_POINTS", 5)
    assert len(class_map(points, labels, ["a", "b"])) < len(whole) / 2
    assert part_map(points, np.array(["test"] * 500), "s") != part_map(points, np.array(["train"] * 500), "s")


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_can_be_read_on_every_ground(content: str, scheme: int) -> None:
    found = re.findall(r":root \{(.*?)\}", content)[scheme]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]+);", found))
    grounds = {name: luminance(rgb(colours[name])) for name in ("paper", "panel")}
    for name in ("ink", "soft", "ok", "warn", "fail", "link"):
        for ground in grounds.values():
            assert contrast(luminance(rgb(colours[name])), ground) >= 4.5, name


def rgb(colour: str) -> str:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    return str([int(digits[place : place + 2], 16) for place in (0, 2, 4)])


def test_copies_in_many_splits_are_one_line(tmp_path: Path) -> None:
    run = read_record(FakeRun().write(tmp_path / "run"), "stress")
    names = list(run.splits)
    copies = [
        Finding(f"near_duplicates[{name}]", "fail" if at else "warn", f"{at + 1} copies.", at + 1)
        for at, name in enumerate(names)
    ]
    alone = Finding(f"exact_duplicates[{names[0]}]", "warn", "One.", 1)
    learnt = Finding("learnt[closest]", "ok", "Learnt.")
    shown = tables.gathered(replace(run, findings=(*copies, alone, learnt)))
    assert [each.check for each in shown] == [f"near_duplicates, {len(names)} splits", alone.check, "learnt[closest]"]
    assert shown[0].level == "fail"
    said = f": {len(names)} copies. So it is in {len(names) - 1} more of {len(names)} splits, with no larger share"
    assert said in shown[0].message


def test_what_is_proven_of_a_completed_split_is_its_whole_clusters(tmp_path: Path) -> None:
    run = read_record(FakeRun().write(tmp_path / "run"), "stress")
    proofs = {row[0]: str(row[-1]) for row in tables.split_table(run).rows}
    proven = {name for name, split in run.splits.items() if split.certificate.optimal}
    singly = {name for name, split in run.splits.items() if split.certificate.completed}
    assert singly & proven
    assert {name for name in proven if proofs[name].startswith("whole clusters")} == singly & proven
