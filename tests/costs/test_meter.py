"""A known load: memory that is taken and processor time that is burnt, here and in a child."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

import unseen
from unseen.costs import meter
from unseen.costs.energy import CounterGauge
from unseen.costs.meter import Cost, measure_cost

MEGABYTE = 1_000_000
CHILD = (
    "import time; taken = bytearray({size}); end = time.process_time() + {burn}\nwhile time.process_time() < end: pass"
)


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_memory_and_processor_time_of_a_child_that_has_ended_are_counted() -> None:
    with unseen.measure_cost() as cost:
        burn(0.3)
        subprocess.run([sys.executable, "-c", CHILD.format(size=150 * MEGABYTE, burn=0.5)], check=True)
    assert cost.processor_seconds is not None
    assert 0.8 <= cost.processor_seconds < 1.6
    assert cost.peak_memory is not None
    assert cost.memory_before is not None
    assert 150 * MEGABYTE <= cost.peak_memory - cost.memory_before < 210 * MEGABYTE
    assert cost.seconds is not None
    assert cost.seconds > 0.3


def test_a_child_whose_program_has_not_begun_has_the_memory_of_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, starting, begun = os.getpid(), 1_000_001, 1_000_002
    families = {own: ("9000 500 80 1 0 70 0\n", f"{starting} {begun}"), starting: ("9000 500 80 1 0 70 0\n", ""),
                begun: ("4000 300 80 1 0 70 0\n", "")}  # fmt: skip
    for process, (sizes, children) in families.items():
        (tmp_path / str(process) / "task" / "1").mkdir(parents=True)
        (tmp_path / str(process) / "statm").write_text(sizes)
        (tmp_path / str(process) / "task" / "1" / "children").write_text(children)
    monkeypatch.setattr(meter, "PROC", tmp_path)
    assert meter.memory_now() == 800 * os.sysconf("SC_PAGE_SIZE")


def test_a_child_that_lives_on_is_counted_up_to_the_end_of_the_block() -> None:
    code = f"{CHILD.format(size=0, burn=0.5)}\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        with measure_cost() as cost:
            assert child.stdout
            child.stdout.readline()
        child.communicate(b"\n")
    assert cost.processor_seconds is not None
    assert 0.4 <= cost.processor_seconds < 1.0


def test_memory_that_was_given_back_counts_and_what_was_there_before_is_told() -> None:
    kept = bytearray(80 * MEGABYTE)
    with measure_cost() as cost:
        taken = bytearray(120 * MEGABYTE)
        del taken
    assert cost.peak_memory is not None
    assert cost.memory_before is not None
    assert cost.memory_before >= 80 * MEGABYTE
    assert len(kept)


def _failing() -> Cost:
    try:
        with measure_cost() as inner:
            burn(0.1)
            raise KeyError
    except KeyError:
        return inner


def test_blocks_may_stand_within_each_other_and_an_error_goes_on() -> None:
    with measure_cost() as outer:
        inner = _failing()
        assert outer.seconds is None
        assert str(outer) == "still being measured"
        burn(0.1)
    assert inner.failed
    assert "ended with an error" in str(inner)
    assert not outer.failed
    assert inner.processor_seconds is not None
    assert outer.processor_seconds is not None
    assert outer.processor_seconds >= inner.processor_seconds + 0.1 >= 0.2
    assert "processor time" in str(outer)


def test_energy_is_measured_where_it_can_be_and_estimated_where_it_cannot() -> None:
    joules = count(0.0, 2.0)
    with measure_cost(idle_seconds=0, gauges=lambda: [CounterGauge("meter", lambda: next(joules))]) as measured:
        time.sleep(0.1)
    assert measured.energy.source == "meter"
    assert measured.energy.joules is not None
    assert measured.energy.joules >= 4
    with measure_cost(gauges=list) as guessed:
        burn(0.1)
    assert guessed.energy.joules is None
    assert guessed.processor_seconds is not None
    assert guessed.energy.low == pytest.approx(2 * guessed.processor_seconds)
