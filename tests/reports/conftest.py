"""What the tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import browser
import pytest


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Chromium]:
    """One browser for all tests of this process."""
    opened = browser.Chromium(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()
