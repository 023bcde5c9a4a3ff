"""The stress report in a real browser: it renders, asks nobody, runs nothing, fits a telephone, and can be read."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser
import numpy as np
import pytest
from fake_run import FakeRun
from harmless import without_own_script
from hostile_run import MESSAGE, NAME, hostile_run
from html_page import written

pytestmark = browser.pytestmark
browse, probe = browser.browse, browser.probe
Browse = Callable[..., str]
Probe = Callable[..., dict[str, Any]]

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


@pytest.fixture(scope="module")
def stress(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(FakeRun(texts=True).write(tmp_path_factory.mktemp("stress") / "run"))


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(hostile_run(tmp_path_factory.mktemp("hostile") / "run"))


def edited(page: Path, target: Path, *changes: Callable[[str], str]) -> Path:
    content = page.read_text(encoding="utf-8")
    for change in changes:
        content = change(content)
    target.write_text(content, encoding="utf-8")
    return target


def without_policy(content: str) -> str:
    assert POLICY.search(content)
    return POLICY.sub("", content, count=1)


def title_of(dom: str) -> str:
    return html.unescape(re.search(r"<title>(.*?)</title>", dom, re.DOTALL)[1])  # type: ignore[index]


def test_it_renders_and_nothing_hostile_runs(hostile_page: Path, browse: Browse) -> None:
    dom = browse(hostile_page)
    assert title_of(dom) == f"unseen: {MESSAGE} on {NAME}"
    assert "<script" not in without_own_script(dom)
    assert dom.count("<svg") == 2 + 2 + 1 + 3
    assert "Files and how to repeat it" in dom


def test_hostile_text_would_be_stopped_twice(hostile_page: Path, browse: Browse, tmp_path: Path) -> None:
    """Were nothing escaped, the page's policy would still forbid it; without both it runs."""
    unescaped = edited(hostile_page, tmp_path / "unescaped.html", html.unescape)
    assert title_of(browse(unescaped)) != "it ran"
    unguarded = edited(hostile_page, tmp_path / "unguarded.html", without_policy, html.unescape)
    assert title_of(browse(unguarded)) == "it ran"


def test_nothing_is_asked_of_the_network(stress: Path, browse: Browse, tmp_path: Path) -> None:
    def ask(content: str) -> str:
        return content.replace("</body>", '<img src="https://example.invalid/x.png"></body>')

    def asked(page: Path) -> set[str]:
        log = tmp_path / f"{page.stem}.json"
        browse(page, "--dump-dom", f"--log-net-log={log}")
        return browser.requested(log)

    assert asked(stress) == set()
    assert asked(edited(stress, tmp_path / "guarded.html", ask)) == set()
    assert asked(edited(stress, tmp_path / "asking.html", without_policy, ask)) == {"https://example.invalid/x.png"}


@pytest.mark.parametrize("width", [browser.PHONE, 700, 1200])
@pytest.mark.parametrize("folded", [True, False], ids=["folded", "open"])
def test_nothing_is_wider_than_the_page(
    stress: Path, hostile_page: Path, probe: Probe, width: int, folded: bool
) -> None:
    for page in (stress, hostile_page):
        content = page.read_text(encoding="utf-8")
        found = probe(content if folded else content.replace("<details", "<details open"), width)
        assert found["width"] == found["scrolls"] == width
        assert found["over"] == []
        assert found["height"] > 2000


def test_what_is_too_wide_would_be_noticed(stress: Path, probe: Probe) -> None:
    content = stress.read_text(encoding="utf-8").replace("<main>", '<main><p style="min-width:900px">too wide</p>')
    assert probe(content, browser.PHONE)["over"] == ["P: too wide"]


def test_tables_scroll_on_a_telephone_and_fit_a_desk(stress: Path, probe: Probe) -> None:
    content = stress.read_text(encoding="utf-8")
    assert max(probe(content, browser.PHONE)["tables"]) > 0
    assert max(probe(content, 1200)["tables"]) == 0


def with_table(page: Path, width: int) -> str:
    """The page, and at its top a table of one empty cell that is so wide."""
    cell = f'<div class="wide"><table><tr><td style="min-width:{width}px;height:100px"></td></tr></table></div>'
    return page.read_text(encoding="utf-8").replace("<main>", f'<main><section style="margin:0">{cell}</section>')


def test_a_table_may_be_wider_than_the_column_of_the_text(stress: Path, probe: Probe) -> None:
    found = {width: probe(with_table(stress, width), 1200) for width in (1100, 1500)}
    assert [found[width]["tables"][0] for width in found] == [0, 1500 - (1200 - 2 * 16)]
    assert all(each["over"] == [] and each["scrolls"] == 1200 for each in found.values())


@pytest.mark.parametrize(("scheme", "flag"), [("dark", 0), ("light", 1)])
def test_a_table_that_scrolls_has_a_shadow_at_its_edge(
    stress: Path, browse: Browse, tmp_path: Path, scheme: str, flag: int
) -> None:
    from PIL import Image

    contrasts = []
    for width in (400, 3000):
        page, target = tmp_path / "page.html", tmp_path / "page.png"
        page.write_text(with_table(stress, width), encoding="utf-8")
        look = f"--blink-settings=preferredColorScheme={flag}"
        browse(page, f"--screenshot={target}", "--window-size=800,300", look)
        picture = np.asarray(Image.open(target).convert("L"), dtype=float)
        contrasts.append(abs(picture[150, 783] - picture[150, 600]))
    assert contrasts[0] == 0, scheme
    assert contrasts[1] > 30, scheme


@pytest.mark.parametrize(("scheme", "flag"), [("dark", 0), ("light", 1)])
def test_light_and_dark_can_be_read(stress: Path, probe: Probe, scheme: str, flag: int) -> None:
    found = probe(stress.read_text(encoding="utf-8"), 1000, f"--blink-settings=preferredColorScheme={flag}")
    colours = {name: browser.luminance(colour) for name, colour in found["colours"].items()}
    assert (colours["paper"] < 0.5) == (scheme == "dark")
    for name in ("ink", "soft", "heads"):
        assert browser.contrast(colours[name], colours["paper"]) >= 4.5, name


def test_pictures_of_light_and_dark_differ(stress: Path, browse: Browse, tmp_path: Path) -> None:
    from PIL import Image

    for flag, dark in ((0, True), (1, False)):
        target = tmp_path / f"{flag}.png"
        look = f"--blink-settings=preferredColorScheme={flag}"
        browse(stress, f"--screenshot={target}", "--window-size=1200,2400", look)
        picture = np.asarray(Image.open(target).convert("L"), dtype=float)
        assert (np.median(picture) < 60) == dark
        assert (np.abs(picture - np.median(picture)) > 60).mean() > 0.01, "hardly anything is drawn"


def test_it_prints(stress: Path, browse: Browse, tmp_path: Path) -> None:
    target = tmp_path / "report.pdf"
    browse(stress, f"--print-to-pdf={target}", "--no-pdf-header-footer")
    pages = len(re.findall(rb"/Type\s*/Page\b", target.read_bytes()))
    assert 3 <= pages <= 25
