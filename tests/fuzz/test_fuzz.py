"""A few hundred spoiled files; `make fuzz` tries as many as one likes."""

import pytest
from fuzzer import fuzz, told


@pytest.mark.slow
def test_spoiled_files_get_an_error_of_our_own(tmp_path):
    finds = fuzz(2_000, seed=7, folder=tmp_path)
    assert not finds, told(finds)


def test_the_fuzzer_finds_what_gets_through(tmp_path, monkeypatch):
    monkeypatch.setattr("doors.read_parts", lambda path, data: {}["no such part"] if "\0" in path.read_text() else None)
    finds = fuzz(150, seed=1, folder=tmp_path, only=["parts.csv", "d.csv"])
    assert {find.door for find in finds} == {"parts.csv"}
    assert all(find.error.startswith(("KeyError", "UnicodeDecodeError")) for find in finds)


def test_the_fuzzer_finds_what_takes_much_memory(tmp_path, monkeypatch):
    peaks = iter([500.0, 900.0, 900.0, 2_500.0])  # before and after each of two answers
    monkeypatch.setattr("fuzzer._peak", lambda: next(peaks))
    finds = fuzz(2, seed=1, folder=tmp_path, only=["parts.csv"])
    assert [find.error for find in finds] == ["MemoryError: 1600 MB for one answer"]
