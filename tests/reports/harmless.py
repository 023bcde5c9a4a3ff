"""Names that want to run, and the assertion that a page only shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from html_page import Page

RUNS = "document.title='it ran'"
EVIL = f'"><img src=x onerror="{RUNS}"></script><script>{RUNS}</script>'


def assert_harmless(page: Path, shown: str = RUNS) -> None:
    """Nothing of a run became markup, though `shown` is there to be read, and the policy forbids what might."""
    content = page.read_text(encoding="utf-8")
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
