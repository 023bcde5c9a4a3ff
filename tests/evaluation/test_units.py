"""What is drawn together."""

from __future__ import annotations

import pyarrow as pa

from unseen.evaluation.measuring import unit_codes


def test_rows_without_a_value_stand_alone() -> None:
    codes = unit_codes(pa.chunked_array([["ann", None, "", "ann", None, "row 1"]])).tolist()
    assert codes[0] == codes[3]
    assert len(set(codes)) == 5
