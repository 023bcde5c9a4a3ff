"""A real browser for tests: opens a page, measures it, and tells what it asked of the network."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP * ~NOTFOUND",  # the browser itself asks nobody either
    "--virtual-time-budget=5000",
)
PHONE = 400

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser: {CHROMIUM} is missing (apt install chromium)"),
]

PROBE = """
<script>
const frame = document.getElementById("frame");
frame.addEventListener("load", () => {
  const page = frame.contentDocument, width = frame.contentWindow.innerWidth;
  const scrolls = each => each.closest(".wide") || each.closest("thead") || each.closest("svg");
  const over = [...page.body.querySelectorAll("*")].filter(
    each => !scrolls(each) && each.getBoundingClientRect().right > width + 1
  );
  const style = (selector, name) => getComputedStyle(page.querySelector(selector))[name];
  document.body.dataset.probe = JSON.stringify({
    width, scrolls: page.documentElement.scrollWidth, height: page.documentElement.scrollHeight,
    over: over.map(each => each.tagName + ": " + each.textContent.trim().slice(0, 40)),
    tables: [...page.querySelectorAll(".wide")].map(each => each.scrollWidth - each.clientWidth),
    colours: { paper: style("body", "backgroundColor"), ink: style("body", "color"), soft: style(".soft", "color"),
               heads: style("th", "color") },
    ran: page.title,
  });
});
</script>
"""


@pytest.fixture
def browse(tmp_path: Path) -> Callable[..., str]:
    """`browse(path, *flags)` opens a file and returns what the browser made of it."""

    def run(path: Path, *flags: str) -> str:
        profile = tmp_path / "profile"
        shutil.rmtree(profile, ignore_errors=True)
        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", *flags, path.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def probe(browse: Callable[..., str], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`probe(content, width)` measures a page in a frame of that width: a window may not be so narrow."""

    def run(content: str, width: int, *flags: str) -> dict[str, Any]:
        wrapper = tmp_path / "wrapper.html"
        frame = f'<iframe id="frame" width="{width}" height="800" style="border:0" srcdoc="{html.escape(content)}">'
        wrapper.write_text(
            f'<!doctype html><meta charset="utf-8"><body>{frame}</iframe>{PROBE}</body>', encoding="utf-8"
        )
        dom = browse(wrapper, "--dump-dom", "--window-size=1200,900", *flags)
        found = re.search(r'data-probe="([^"]*)"', dom)
        assert found, dom[-500:]
        return json.loads(html.unescape(found[1]))

    return run


def requested(log: Path) -> set[str]:
    """Addresses in a net log that a page asked for; what the browser asks for itself has no origin."""
    asked = [event.get("params", {}) for event in json.loads(log.read_text(encoding="utf-8"))["events"]]
    return {each["url"] for each in asked if each.get("initiator", "not an origin") != "not an origin"}


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(…)`, as in WCAG 2.1."""
    channels = np.array([int(each) for each in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
