"""What a `Result` answers when it is asked for a number."""

from __future__ import annotations

import pytest

from unseen.errors import InputError
from unseen.reports.page import Page, Verdict
from unseen.reports.record import RunRecord
from unseen.runs.frame import Result
from unseen.types import Measurement


def test_a_result_is_asked_by_names_that_it_has() -> None:
    rows = [
        Measurement("f1.macro", 0.8, 9, tags={"family": "random", "seed": 42}),
        Measurement("f1.macro", 0.7, 9, tags={"family": "closest", "seed": 42}),
        Measurement("fall.f1.macro", None, 0, tags={"family": "closest"}),
        Measurement("f1.macro", 0.9, 3, slice="site=a", tags={"family": "closest", "seed": 42}),
    ]
    record = RunRecord({"kind": "stress"}, rows)
    result = Result(
        "stress", Verdict("It holds.", [], "ok"), record, Page("a run", "a", Verdict("It holds.", [], "ok"))
    )
    assert result.value("f1.macro", family="closest") == 0.7
    assert result.value("f1.macro") == 0.8  # of several the first
    assert result.value("fall.f1.macro", family="closest") is None
    assert result.row("fall.f1.macro", family="closest") is rows[2]
    assert result.row("fall.f1.macro", family="random") is None
    for asked, tags, message in (
        (("fall.f1.makro",), {}, "'fall.f1.makro'; did you mean 'fall.f1.macro'"),
        (("fall.f1.macro",), {"famly": "closest"}, "'famly'; did you mean 'family'"),
        (("f1.macro",), {"family": "closets"}, "'closets'; did you mean 'closest'"),
        (("f1.macro", "site=b"), {}, "'site=b'; did you mean 'site=a'"),
    ):
        with pytest.raises(InputError, match=message):
            result.value(*asked, **tags)
