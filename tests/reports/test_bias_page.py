from __future__ import annotations

from typing import Any

import pytest

from unseen.reports.record import RunRecord
from unseen.runs.bias_page import page
from unseen.types import Measurement

FEW: dict[str, Any] = {"few_texts": 4}
COUNTS: dict[str, Any] = {"background": "all", "positives": 18, "negatives": 4}


@pytest.fixture
def record() -> RunRecord:
    rows = [
        Measurement("bias.subgroup_auc", 0.64, 22, slice="group=blacks", tags=COUNTS | FEW),
        Measurement("bias.bpsn_auc", 0.34, 22, slice="group=blacks", tags=COUNTS | FEW),
        Measurement("bias.bnsp_auc", 0.95, 22, 0.91, 0.98, "group=blacks", COUNTS),
        Measurement("bias.subgroup_auc", None, 17, slice="group=jews", tags=COUNTS | {"undefined": "no negatives"}),
        Measurement("bias.bnsp_auc", 0.87, 17, 0.77, 0.94, "group=jews", COUNTS),
        Measurement("bias.gmb_bnsp_auc", 0.79, 39, slice="all", tags=COUNTS | FEW | {"groups": "2 of 2"}),
    ]
    about = {
        "kind": "bias", "command": "x", "model": "m", "data": {"name": "d", "rows": 90, "counts": {"a": 90}},
        "settings": {"positive": ["a"]}, "versions": {},
    }  # fmt: skip
    return RunRecord(about, rows)


def test_the_headline_says_what_it_leaves_out_and_calls_groups_by_their_names(record: RunRecord) -> None:
    headline = page(record).verdict.headline
    assert headline.startswith(
        "Lowest AUC of a group, leaving out 2 with too few texts: BNSP AUC of “jews”, .87 [.77, .94]: "
    )


def test_a_column_where_nothing_is_known_is_left_out(record: RunRecord) -> None:
    tables = page(record).tables
    assert tables["means"].columns == ("mean", "value", "groups")
    assert tables["groups"].note == "Undefined: subgroup AUC of “jews”: no negatives."
