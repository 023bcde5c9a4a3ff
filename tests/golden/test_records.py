"""What is compared with stored records: a changed field is told with its place, rounding is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records import differences, read_records, records_of, seen_text, steady, write_records

TABLE = [["metric", "value", "n"], ["accuracy", "0.123456789012", "7"], ["f1.macro", "0.5", "7"]]
ABOUT: dict[str, Any] = {"settings": {"seed": 42, "share": 0.1, "names": ["a", "b"]}, "passed": True}


def told(name: str, before: Any, after: Any) -> list[str]:
    return [str(each) for each in differences({name: before}, {name: after})]


def test_rounding_is_no_difference(tmp_path: Path) -> None:
    records = {"m.csv": TABLE, "run.json": ABOUT | {"third": 1 / 3}, "lines.txt": ["a", "", "b"]}
    write_records(records, tmp_path)
    assert "0.123456789012" not in (tmp_path / "m.csv").read_text()
    assert differences(read_records(tmp_path), records) == []


@pytest.mark.parametrize(
    ("cell", "column", "said"),
    [
        ("0.1234578", 1, "m.csv: line 2 (accuracy), column value: expected '0.123456789012', got '0.1234578'"),
        ("", 1, "m.csv: line 2 (accuracy), column value: expected '0.123456789012', got ''"),
        ("8", 2, "m.csv: line 2 (accuracy), column n: expected '7', got '8'"),
    ],
)
def test_a_changed_cell_is_told_with_its_place(cell: str, column: int, said: str) -> None:
    changed = [list(row) for row in TABLE]
    changed[1][column] = cell
    assert told("m.csv", TABLE, changed) == [said]


def test_rows_columns_and_files_that_come_or_go_are_told() -> None:
    assert told("m.csv", TABLE, TABLE[:2]) == ["m.csv: number of rows: expected 2, got 1"]
    assert "header" in told("m.csv", TABLE, [row[:2] for row in TABLE])[0]
    assert [str(each) for each in differences({"a.csv": TABLE}, {"b.csv": TABLE})] == [
        "a.csv: the file: expected 'there', got 'missing'",
        "b.csv: the file: expected 'none', got 'there'",
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": 43}, "settings.seed: expected 42, got 43"),
        ({"share": 0.1001}, "settings.share: expected 0.1, got 0.1001"),
        ({"names": ["a", "c"]}, "settings.names[2]: expected 'b', got 'c'"),
        ({"names": ["a"]}, "settings.names length: expected 2, got 1"),
        ({"seed": 42.0000001}, None),
        ({"seed": True}, "settings.seed: expected 42, got True"),
        ({"new": 1}, "settings.new: expected 'none', got 1"),
    ],
)
def test_a_changed_setting_is_told_with_its_place(changed: dict[str, Any], said: str | None) -> None:
    after = ABOUT | {"settings": ABOUT["settings"] | changed}
    assert told("run.json", ABOUT, after) == ([] if said is None else [f"run.json: {said}"])


def test_times_versions_and_where_a_function_stands_are_left_out(tmp_path: Path) -> None:
    folders = []
    for name, second in (("one", 1), ("two", 2)):
        folder = tmp_path / name
        step = {"key": "k", "step": "split", "work": f"module{second}:cut", "seconds": second, "settings": {"a": 1}}
        files = {
            "answers.json": {
                "material": ["in.csv"],
                "answers": {"run": {"code": 0, "out": f"done in {second} s\n", "err": ""}},
            },
            "run/run.json": {"seed": 1, "finished": f"2026-01-01T00:00:0{second}", "versions": {"numpy": second}},
            "run/.steps/k/step.json": step | {"needs": {}},
        }
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(json.dumps(content))
        (folder / "in.csv").write_text(str(second))
        folders.append(records_of(folder))
    assert folders[0] == folders[1]
    assert folders[0]["run/run.json"] == {"seed": 1}
    assert folders[0]["steps.csv"][1][:2] == ["split", ""]


def test_durations_and_dates_are_masked_and_numbers_are_not() -> None:
    assert steady(["3 trainings, 2.6 s", "2026-11-17 10:02 UTC · 7 texts", "0.5 | 2024-03-01 | 1 min 4 s in all"]) == [
        "3 trainings, <time>",
        "<date> · 7 texts",
        "0.5 | 2024-03-01 | <time> in all",
    ]


def test_a_page_is_what_a_reader_sees() -> None:
    page = "<head><title>x</title></head><h2>A  b</h2><p>c <b>d</b></p><script>e</script><svg><text>f</text></svg>"
    table = "<table><tr><th>g</th><th>h</th></tr><tr><td>1</td><td>2</td></tr></table>"
    assert seen_text(page + table) == ["## A b", "c d", "g | h", "1 | 2"]
