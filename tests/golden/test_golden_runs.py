"""Every kind of run gives the files, numbers and sentences that are stored here.

When a change is meant to move them: `pytest tests/golden --write-golden`, and look at what git says has changed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from records import differences, read_records, records_of, write_records

from finished_runs import KINDS

EXPECTED = Path(__file__).with_name("expected")


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_what_it_was(kind: str, finished: Callable[[str], Path], request: pytest.FixtureRequest) -> None:
    got = records_of(finished(kind))
    if request.config.getoption("--write-golden"):
        shutil.rmtree(EXPECTED / kind, ignore_errors=True)
        write_records(got, EXPECTED / kind)
    found = differences(read_records(EXPECTED / kind), got)
    assert not found, "\n".join(["not what is stored:", *map(str, found)])


def test_nothing_is_stored_that_no_run_is_compared_with() -> None:
    assert sorted(path.name for path in EXPECTED.iterdir()) == sorted(KINDS)


def test_what_is_stored_is_small() -> None:
    assert sum(path.stat().st_size for path in EXPECTED.rglob("*") if path.is_file()) < 812_000
