"""How fast the viewer's map moves, by number of points: docs/results/viewer.md.

python -m benchmarks.viewer [POINTS …]

The page is opened in Debian's chromium by playwright; it draws by WebGL2 in software here, and by the canvas that
stands in for it.
"""

from __future__ import annotations

import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.setting import ROOT, machine, table, write_measured
from unseen.reports.page import gzipped, scripts
from unseen.reports.points import Column, RunPoints, packed

PAGE = ROOT / "docs" / "results" / "viewer.md"
COUNTS = (20_000, 200_000, 1_000_000)
MOVES = 40
CLUSTERS = 30


def made_up(count: int, seed: int = 42) -> RunPoints:
    """Points in clusters, with the columns that a run of a few splits has."""
    draw = np.random.default_rng(seed)
    cluster = draw.integers(0, CLUSTERS, count)
    centres = draw.integers(8_000, 57_000, (CLUSTERS, 2))
    places = np.clip(centres[cluster] + draw.normal(0, 2_500, (count, 2)), 0, 65_535).astype(np.uint16)
    columns = [Column("cluster", cluster.astype(np.uint8), tuple(map(str, range(CLUSTERS))))]
    for number in range(6):
        parts = draw.choice(4, count, p=(0.8, 0.1, 0.05, 0.05)).astype(np.uint8)
        columns.append(Column(f"part in split {number}", parts, ("train", "test", "dev", "independent")))
    columns.append(Column.of_numbers("sureness", draw.random(count)))
    ids = pa.chunked_array([pa.array(np.char.add("id-", np.arange(count).astype(str)))])
    return RunPoints(ids, places, columns, np.arange(count), np.full((count, 3), -1))


def page_of(points: RunPoints, folder: Path) -> None:
    """A page with the map alone, which asks for its points as the viewer does."""
    (folder / "points.bin").write_bytes(packed(points, id_bytes=0))
    script = scripts("points.js") + (
        "fetch('points.bin').then(answer => answer.arrayBuffer()).then(buffer => {"
        "window.panel = new Panel(document.getElementById('live-map'), new Points(buffer)); });"
    )
    content = f"<style>{scripts('run.css')}</style>{scripts('live_map.html')}<script>{script}</script>"
    (folder / "index.html").write_text(f"<!doctype html><meta charset=utf-8>{content}", encoding="utf-8")


MOVE = f"""async () => {{
  const {{ map }} = panel, times = [], counts = [];
  const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let move = 0; move < {MOVES}; move++) {{
    map.hold(true);
    map.move(move % 2 ? 7 : -5, 3);
    await frame();
    times.push(map.took);
    counts.push(Math.min(map.most, panel.points.count));
  }}
  clearTimeout(map.rest);
  map.moving = false;
  map.most = panel.points.count;
  map.draw();
  await frame();
  const begun = performance.now();
  map.painter.draw(map.view, 2, panel.points.count, true);
  const whole = performance.now() - begun;
  const picked = performance.now();
  map.at(300, 200, 1e5);
  const pick = performance.now() - picked, filtered = performance.now();
  panel.points.only(panel.points.columns[1], [1]);
  panel.refresh();
  return {{ painter: map.canvas.dataset.painter, times, counts, whole, pick, filter: performance.now() - filtered }};
}}"""


def measured(browser: Any, address: str) -> dict[str, Any]:
    """Times of one map."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(address)
    page.wait_for_function("() => window.panel && !window.panel.root.hidden", timeout=120_000)
    result: dict[str, Any] = page.evaluate(MOVE)
    page.close()
    return result


def main() -> None:
    """Measure all sizes by both ways of drawing, write the page."""
    from playwright.sync_api import sync_playwright

    rows = []
    with sync_playwright() as playwright, TemporaryDirectory() as scratch:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for count in map(int, sys.argv[1:] or COUNTS):
            folder = Path(scratch) / str(count)
            folder.mkdir()
            points = made_up(count)
            page_of(points, folder)
            server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for more in ("", "?webgl", "?canvas"):
                times = measured(browser, f"http://127.0.0.1:{server.server_port}/index.html{more}")
                half = times["times"][MOVES // 2 :]
                shown = int(np.median(times["counts"][MOVES // 2 :]))
                figures = [float(np.median(half)), times["whole"], times["pick"], times["filter"]]
                size = f"{len(gzipped(packed(points))) / 1000:,.0f} kB"
                drawn_by = {"Gpu": "WebGL2, in software", "Pixels": "canvas"}[times["painter"]]
                drawn_by += ", asked for" if more else ""
                rows.append([f"{count:,}", drawn_by, size, f"{shown:,}", *(f"{value:,.0f} ms" for value in figures)])
                print(*rows[-1], flush=True)
            server.shutdown()
        browser.close()
    header = ["points", "drawn by", "weight in a page", "points drawn while it moves", "a picture while it moves",
              "a picture of all", "finding the nearest point", "a filter, legend counted anew"]  # fmt: skip
    write_measured(PAGE, "The viewer's map", f"{machine()}; Chromium without a graphics card.\n\n{table(header, rows)}")


class Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    main()
