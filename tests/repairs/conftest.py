"""Repairs without their audits, which have tests of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from unseen.repairs import procedure


@pytest.fixture
def unaudited() -> Iterator[None]:
    """Leave the audits out, for tests that repair hundreds of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(procedure, "audited", lambda *given: ())
        yield
