"""Names that want to run, and the assertion that a page only shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from html_page import Page

from unseen.reports.page import scripts

RUNS = "document.title='it ran'"
EVIL = f'"><img src=x onerror="{RUNS}"></script><script>{RUNS}</script>'


def without_own_script(content: str) -> str:
    """A page without the points that it draws and the one script that draws them; whatever else runs stays."""
    content = re.sub(r'<script type="text/plain" id="points">[A-Za-z0-9+/=]*</script>', "", content)
    return content.replace(f"<script>{scripts('points.js', 'page.js')}</script>", "")


def assert_harmless(page: Path, shown: str = RUNS) -> None:
    """Nothing of a run became markup, though `shown` is there to be read, and the policy forbids what might."""
    content = without_own_script(page.read_text(encoding="utf-8"))
    parsed = Page(content)
    assert not {"script", "img", "iframe"} & set(parsed.tags)
    assert not [name for name, _ in parsed.attributes if name.startswith("on")]
    assert any(shown in text for text in parsed.texts)
    assert content.count("default-src 'none'") == 1
    assert parsed.open == []


def assert_fits_and_runs_nothing(found: Mapping[str, Any]) -> None:
    """What a browser saw of a page: nothing sticks out of a telephone's screen, and no name ran."""
    assert found["over"] == []
    assert found["scrolls"] <= found["width"]
    assert found["ran"] != "it ran"
