"""Write the pictures of the viewer's pages, of a stress run on the bundled sample that kept its texts.

python docs/write_screenshots.py RUN

RUN is what `unseen stress sample --model logistic --texts -o RUN` left. Needs Debian's chromium.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from queue import Queue

from playwright.sync_api import sync_playwright

from unseen.viewer.opened import opened
from unseen.viewer.server import Viewer, serve
from unseen.viewer.tasks import task_of

DOCS = Path(__file__).parent


def main(run: str) -> None:
    """Serve the run, look at its texts and at its review."""
    runs, addresses = opened([run]), Queue[str]()
    viewer = Viewer(runs, task_of(runs[0], "somebody", 100, 42))
    threading.Thread(target=serve, args=(viewer, 0, addresses.put), daemon=True).start()
    address = addresses.get(timeout=120)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 820})
        page.goto(address.removesuffix("task") + "run/0/")
        page.wait_for_selector("#table tbody tr")
        page.select_option(".by", "right or wrong")
        page.locator(".legend button", has_text="–").click()
        page.locator(".frame").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".details dt:has-text('-seed')")
        page.screenshot(path=DOCS / "viewer.png")
        page.goto(address)
        page.wait_for_function("() => document.querySelector('#text').textContent.length > 0")
        page.set_viewport_size({"width": 1100, "height": 560})
        page.screenshot(path=DOCS / "review.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
