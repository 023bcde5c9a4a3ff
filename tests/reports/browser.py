"""A real browser for tests: opens a page, measures it, and tells what it asked of the network.

Starting one takes seconds, so one stays open for all tests (`chromium` in conftest.py); what needs flags of its own
starts another.
"""

from __future__ import annotations

import fcntl
import html
import json
import os
import re
import select
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


class Chromium:
    """A browser that stays open, told by the DevTools protocol through a pair of pipes what to open."""

    def __init__(self, profile: Path) -> None:
        told, self._tell = os.pipe()
        self._heard, hears = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (told, hears)]  # out of the way of 3 and 4

        def place_pipes() -> None:
            for end, place in zip(ends, (3, 4), strict=True):
                os.dup2(end, place)

        flags = [flag for flag in FLAGS if not flag.startswith("--virtual-time")]
        self._process = subprocess.Popen(
            [str(CHROMIUM), *flags, f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            stderr=subprocess.DEVNULL, preexec_fn=place_pipes, pass_fds=(3, 4),
        )  # fmt: skip
        for end in (told, hears, *ends):
            os.close(end)
        self._number, self._rest = 0, b""

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(30)
        os.close(self._tell)
        os.close(self._heard)

    def dom(self, path: Path) -> str:
        """What the browser made of a file once everything in it was loaded and had its turn."""
        tab = self._ask("Target.createTarget", url="about:blank")["targetId"]
        session = self._ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        self._ask(
            "Emulation.setDeviceMetricsOverride", session, width=1200, height=900, deviceScaleFactor=1, mobile=False
        )
        self._ask("Page.enable", session)
        self._ask("Page.navigate", session, url=path.as_uri())
        self._hear(lambda message: message.get("method") == "Page.loadEventFired")
        page = "new Promise(done => setTimeout(() => done(document.documentElement.outerHTML), 100))"
        answer = self._ask("Runtime.evaluate", session, expression=page, awaitPromise=True, returnByValue=True)
        self._ask("Target.closeTarget", targetId=tab)
        return str(answer["result"]["value"])

    def _ask(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._tell, data) :]
        answer = self._hear(lambda message: message.get("id") == self._number)
        assert "error" not in answer, answer
        return answer["result"]

    def _hear(self, awaited: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message of this sort; others are passed over."""
        while True:
            while b"\0" not in self._rest:
                assert select.select([self._heard], [], [], 120)[0], "the browser does not answer"
                more = os.read(self._heard, 1 << 20)
                assert more, "the browser has gone"
                self._rest += more
            said, _, self._rest = self._rest.partition(b"\0")
            message = json.loads(said)
            if awaited(message):
                return message


@pytest.fixture
def browse(chromium: Chromium, tmp_path: Path) -> Callable[..., str]:
    """`browse(path)` opens a file and returns what the browser made of it; with flags, in a browser of its own."""

    def run(path: Path, *flags: str) -> str:
        if not flags:
            return chromium.dom(path)
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
        dom = browse(wrapper, *(("--dump-dom", "--window-size=1200,900", *flags) if flags else ()))
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
