"""The map, the table and the review as a person meets them, in Debian's chromium."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unseen
from unseen.reports.page import scripts
from unseen.reports.points import Column, RunPoints, packed
from unseen.store import read_json, write_json
from unseen.store.reviews import read_reviews
from unseen.viewer.export import export_site
from unseen.viewer.opened import opened

pytestmark = pytest.mark.browser
FAST: dict[str, Any] = {
    "random_splits": 1, "splits": ["random", "closest"], "seeds": [42], "seen_folds": 0, "space_seeds": 0,
}  # fmt: skip


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """`look(address, width)` opens a page; whatever goes wrong in it fails the test."""
    opened_pages, problems = [], list[str]()

    def start(address: str, width: int = 1200, **options: Any) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(address)
        opened_pages.append(page)
        return page

    yield start
    for page in opened_pages:
        page.close()
    assert not problems


def counted(page: Any) -> str:
    return page.locator(".count").inner_text()


def test_the_map_of_a_report_is_coloured_filtered_and_linked_with_its_tables(
    run: Path, look: Callable[..., Any]
) -> None:
    page = look((run / "report.html").as_uri())
    page.wait_for_selector("#live-map:not([hidden])")
    assert counted(page) == "120 of 120 texts"
    page.select_option(".by", "part in closest")
    test = page.locator(".legend button", has_text="test")
    inside = int(test.locator(".soft").inner_text())
    test.click()
    assert counted(page) == f"{120 - inside} of 120 texts"
    page.locator(".chips button").click()
    assert counted(page) == "120 of 120 texts"
    page.locator("button.link", has_text="closest").first.click()  # a split in a table
    assert counted(page) == f"{inside} of 120 texts"
    assert page.locator("tr.linked").count() > 0
    page.locator(".chips button").click()
    assert page.locator("tr.linked").count() == 0
    page.locator("td, th").get_by_role("button", name="loud", exact=True).first.click()  # a class
    assert page.locator(".chips button").inner_text() == "label: loud ×"
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.locator("button.link", has_text="source=").first.click()  # a slice
    assert page.locator(".chips button").last.inner_text().startswith("source: ")


@pytest.mark.parametrize("painter", ["Gpu", "Pixels"])
def test_a_click_on_a_point_tells_what_is_known_of_it(run: Path, look: Callable[..., Any], painter: str) -> None:
    page = look((run / "report.html").as_uri() + ("?canvas" if painter == "Pixels" else "?webgl"))
    page.wait_for_selector("#live-map:not([hidden])")
    assert page.locator("canvas").get_attribute("data-painter") == painter
    page.locator(".frame").scroll_into_view_if_needed()
    page.locator(".frame").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".details h3")
    chosen = page.locator(".details h3").inner_text()
    ring = page.locator(".ring").bounding_box()
    page.keyboard.press("Escape")
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.wait_for_timeout(300)
    page.mouse.click(ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2)
    assert page.locator(".details h3").inner_text() == chosen
    assert page.locator(".details dt", has_text="label").count() >= 1
    drawn = page.evaluate(
        """() => { const canvas = document.querySelector("canvas"), copy = document.createElement("canvas");
        copy.width = canvas.width; copy.height = canvas.height;
        const context = copy.getContext("2d"); context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, copy.width, copy.height); let inked = 0;
        for (let at = 3; at < data.length; at += 4) if (data[at]) inked++; return inked; }"""
    )
    assert drawn > 120  # every point has more than a pixel


def chosen_in_the_middle(page: Any) -> tuple[str, dict[str, str]]:
    """The id of the text that Enter chooses, and what is told of it."""
    page.wait_for_selector("#live-map:not([hidden])")
    page.locator(".frame").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".details h3")
    names, values = (page.locator(f".details {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return page.locator(".details h3").inner_text(), dict(zip(names, values, strict=True))


@pytest.mark.parametrize("more", [1, 7])
def test_a_point_tells_the_probabilities_of_all_labels(run: Path, look: Callable[..., Any], more: int) -> None:
    draw = np.random.default_rng(3)
    names = ["calm", "loud", *(f"other {number}" for number in range(more))]
    for path in (run / "predictions").glob("*-seed*.parquet"):
        ids = pq.read_table(path)["id"]
        shares = draw.dirichlet(np.full(len(names), 0.6), len(ids))
        pq.write_table(pa.table({"id": ids} | dict(zip(names, shares.T, strict=True))), path)
    write_json(run / "run.json", read_json(run / "run.json") | {"files": {}})
    unseen.report(run)
    (viewed,) = opened([run])
    site = export_site([viewed], run.parent / "site")
    for address in (run / "report.html", site.parent / "run-0" / "texts.html"):
        page = look(address.as_uri())
        page.wait_for_selector("#live-map:not([hidden])")
        page.select_option(".by", "tested by")
        page.locator(".legend button", has_text="–").click()  # texts that no model was asked about
        key, known = chosen_in_the_middle(page)
        answers = viewed.details(viewed.places[key])["answers"]
        exact = next(one["probabilities"] for one in answers if one["by"].startswith(known["tested by"] + "-seed"))
        likely = sorted(exact, key=exact.get, reverse=True)
        pieces = [piece.rsplit(" ", 1) for piece in known["probabilities"].split(", ")]
        given = {name: float(value) for name, value in pieces}
        rest = {} if more == 1 else {"5 other labels": sum(exact[name] for name in likely[4:])}
        expected = {name: exact[name] for name in likely[: 4 if rest else None]} | rest
        assert list(given) == list(expected)
        assert [*given.values()] == pytest.approx([*expected.values()], abs=0.016)


def test_a_point_names_the_suite_that_it_is_a_case_of(
    run: Path, served: Callable[..., Any], look: Callable[..., Any]
) -> None:
    posts = pq.read_table(run / "texts.parquet").to_pylist()
    suite = run.parent / "kitchen.csv"
    lines = [f"{post['id']},{post['text'].upper()}!,{post['label']},told_{post['label']}" for post in posts[:100]]
    suite.write_text("\n".join(["id,text,label,functionality", *lines]) + "\n", encoding="utf-8")
    out = run.parent / "with-suite"
    unseen.stress(pa.Table.from_pylist(posts), id="id", model="logistic", suite=str(suite), out=out, **FAST)
    labels = {post["id"]: post["label"] for post in posts}
    address, _ = served(out)
    for place in ((out / "report.html").as_uri(), address):
        page = look(place)
        page.wait_for_selector("#live-map:not([hidden])")
        page.select_option(".by", "case of kitchen")
        page.locator(".legend button", has_text="–").click()
        assert counted(page) == "100 of 120 texts"
        key, known = chosen_in_the_middle(page)
        assert known["case of kitchen"] == f"told_{labels[key]}"


def test_escape_forgets_the_text_that_was_chosen(run: Path, look: Callable[..., Any]) -> None:
    page = look((run / "report.html").as_uri())
    page.wait_for_selector("#live-map:not([hidden])")
    hint = page.locator(".details").inner_text()
    page.locator(".frame").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".details h3")
    page.keyboard.press("Escape")
    assert page.locator(".details").inner_text() == hint


def test_keys_show_one_name_of_the_legend_alone_and_stay_on_it(run: Path, look: Callable[..., Any]) -> None:
    page = look((run / "report.html").as_uri())
    page.wait_for_selector("#live-map:not([hidden])")
    page.select_option(".by", "part in closest")
    last = page.locator(".legend button").last
    kept, name = last.locator(".soft").inner_text(), last.inner_text()
    last.focus()
    page.keyboard.press("Shift+Enter")
    assert counted(page) == f"{kept} of 120 texts"
    assert page.evaluate("document.activeElement.innerText") == name


def test_without_scripts_the_map_is_a_picture(run: Path, look: Callable[..., Any]) -> None:
    page = look((run / "report.html").as_uri(), java_script_enabled=False)
    assert page.locator(".maps figure svg").first.is_visible()
    assert not page.locator("#live-map").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_telephone_shows_the_viewer_without_scrolling_sideways(
    run: Path, served: Callable[..., Any], look: Callable[..., Any], scheme: str
) -> None:
    address, _ = served(run, size=5, reviewer="ann")
    base = address.removesuffix("task") + "run/0/"
    for place in (address, base, base + "pairs"):
        page = look(place, 400, color_scheme=scheme)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, place


def test_the_table_follows_the_map_search_and_keys(
    run: Path, served: Callable[..., Any], look: Callable[..., Any]
) -> None:
    address, _ = served(run)
    page = look(address)
    page.wait_for_selector("#table tbody tr")
    assert page.locator("#table tbody tr").count() == 25
    page.keyboard.press("/")
    page.keyboard.type("rain")
    page.wait_for_function("() => document.querySelector('.count').textContent !== '120 of 120 texts'")
    page.wait_for_load_state("networkidle")
    texts = page.locator("#table tbody td.text").all_inner_texts()
    assert texts
    assert all("rain" in text for text in texts)
    page.keyboard.press("Enter")  # leaves the search box
    page.keyboard.press("j")
    assert page.locator("#table tr.chosen").inner_text() == page.locator("#table tbody tr").first.inner_text()
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("#table tr.chosen").inner_text() == page.locator("#table tbody tr").first.inner_text()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(".details .text")
    page.wait_for_selector(".details dt:has-text('-seed')")
    page.locator("#table thead button", has_text="sureness").click()
    page.locator("#table thead button", has_text="sureness").click()
    page.wait_for_load_state("networkidle")
    assert page.locator("#table th[aria-sort=descending]").count() == 1


def test_a_review_by_keys_survives_the_death_of_the_server(run: Path, look: Callable[..., Any]) -> None:
    with served_by_itself(run) as (address, process):
        page = look(address)
        page.wait_for_function("() => document.querySelector('#text').textContent.length > 0")
        first = page.locator("#text").inner_text()
        page.keyboard.press("y")
        page.wait_for_function("before => document.querySelector('#text').textContent !== before", arg=first)
        second = page.locator("#text").inner_text()
        page.keyboard.press("u")
        page.wait_for_function("before => document.querySelector('#text').textContent !== before", arg=second)
        page.keyboard.press("z")
        page.wait_for_function("before => document.querySelector('#text').textContent === before", arg=second)
        assert "1 of 10 texts" in page.locator("#progress").inner_text()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        page.close()
    assert [one.answer for one in read_reviews(run / "reviews.jsonl")] == ["right"]
    with (run / "reviews.jsonl").open("a") as file:
        file.write('{"id": "cut')
    with served_by_itself(run) as (address, process):
        page = look(address)
        page.wait_for_function("before => document.querySelector('#text').textContent === before", arg=second)
        for _ in range(9):
            before = page.locator("#progress").inner_text()
            page.keyboard.press("x")
            page.wait_for_function("before => document.querySelector('#progress').textContent !== before", arg=before)
        assert "All of them are read" in page.locator("#text").inner_text()
    said = process.stderr.read()
    assert said.count("note: the last line") == 1, said  # what is odd is told once, in plain words
    assert "UnseenWarning" not in said
    assert [one.answer for one in read_reviews(run / "reviews.jsonl")] == ["right", *["invalid"] * 9]


@contextmanager
def served_by_itself(run: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "unseen",
        "view",
        str(run),
        "--review",
        "--size",
        "10",
        "--reviewer",
        "ann",
        "--no-browser",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.wait()


def test_hostile_texts_stay_texts(run: Path, served: Callable[..., Any], look: Callable[..., Any]) -> None:
    table = pq.read_table(run / "texts.parquet")
    evil = "<script>document.title='it ran'</script><img src=x onerror=\"document.title='it ran'\"></script>"
    texts = pa.array([f"{evil} {text}" for text in table["text"].to_pylist()])
    pq.write_table(table.set_column(table.column_names.index("text"), "text", texts), run / "texts.parquet")
    site = export_site(opened([run]), run.parent / "site")
    address, _ = served(run, size=5, reviewer=evil)
    base = address.removesuffix("task") + "run/0/"
    for place in (address, base, base + "pairs", (site.parent / "run-0" / "texts.html").as_uri()):
        page = look(place)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        assert "it ran" not in page.title()
        assert "<script>document" in page.locator("body").inner_text()


def test_an_exported_site_works_from_files(run: Path, look: Callable[..., Any], tmp_path: Path) -> None:
    site = export_site(opened([run]), tmp_path / "site")
    page = look(site.as_uri())
    page.click("text=Texts")
    page.wait_for_selector("#table tbody tr")
    page.fill("#search", "rain")
    page.wait_for_function("() => document.querySelector('.count').textContent !== '120 of 120 texts'")
    assert all("rain" in text for text in page.locator("#table tbody td.text").all_inner_texts())


def many_points(path: Path, count: int) -> Path:
    """A page with so many points and nothing else, which reads them from a file beside it as the viewer does."""
    draw = np.random.default_rng(5)
    centres = draw.integers(8_000, 57_000, (30, 2))
    cluster = draw.integers(0, 30, count)
    places = np.clip(centres[cluster] + draw.normal(0, 2_500, (count, 2)), 0, 65_535).astype(np.uint16)
    columns = [Column("label", cluster.astype(np.uint8), tuple(map(str, range(30))))]
    ids, nothing = pa.chunked_array([pa.array(np.arange(count).astype(str))]), np.full((count, 3), -1)
    (path / "points.bin").write_bytes(packed(RunPoints(ids, places, columns, np.arange(count), nothing), id_bytes=0))
    script = scripts("points.js") + (
        "fetch('points.bin').then(answer => answer.arrayBuffer()).then(buffer => {"
        "window.panel = new Panel(document.getElementById('live-map'), new Points(buffer)); });"
    )
    body = scripts("live_map.html")
    css = scripts("run.css")
    (path / "index.html").write_text(
        f"<!doctype html><meta charset=utf-8><style>{css}</style>{body}<script>{script}</script>"
    )
    return path


@pytest.mark.slow
def test_a_million_points_move(browser: Any, tmp_path: Path) -> None:
    import http.server
    import threading
    from functools import partial

    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(many_points(tmp_path, 1_000_000)))
    handler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
    page.wait_for_function("() => window.panel && !window.panel.root.hidden", timeout=60_000)
    assert counted(page) == "1,000,000 of 1,000,000 texts"
    box = page.locator(".frame").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 340, box["y"] + 240, steps=30)
    page.wait_for_function("() => window.panel.map.most < 1000000 || window.panel.map.took < 40")
    thinned = page.evaluate("[panel.map.most, panel.map.took]")
    page.mouse.up()
    page.wait_for_function("() => !window.panel.map.moving")
    assert thinned[0] >= 2_000
    page.close()
    server.shutdown()
