"""Joules: against integrals that are known, counters that begin anew, and several devices."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from unseen.costs import energy
from unseen.costs.energy import CounterGauge, PowerGauge, estimated_energy, gauges_here, measured_energy


def joules(times: list[float], watts: list[float]) -> float | None:
    return PowerGauge("card", lambda: None, times, watts).joules


def test_joules_are_the_integral_of_a_smooth_trace_sampled_at_any_times() -> None:
    times = np.sort(np.random.default_rng(1).uniform(0, 10, 2_000))
    times[0], times[-1] = 0.0, 10.0
    watts = 50 + 20 * np.sin(times)
    exact = 500 + 20 * (1 - math.cos(10))
    assert joules(times.tolist(), watts.tolist()) == pytest.approx(exact, rel=1e-4)
    assert watts.sum() / 1000 != pytest.approx(exact, rel=0.5)  # a sum of samples is no energy


def test_joules_are_exact_for_straight_lines() -> None:
    assert joules([0.0, 0.1, 2.0, 2.5], [0.0, 1.0, 20.0, 25.0]) == pytest.approx(10 * 2.5**2 / 2)
    assert joules([3.0], [100.0]) is None


def readings(values: list[Any]) -> Any:
    return iter(values).__next__


def test_a_counter_that_begins_anew_goes_on_counting() -> None:
    gauge = CounterGauge("package", readings([90.0, 95.0, 3.0, 98.0, 2.0]), wraps_at=100.0)
    for at in range(5):
        gauge.take(at)
    assert gauge.joules == 5 + 8 + 95 + 4


def test_a_counter_that_falls_and_does_not_say_where_it_begins_anew_gives_nothing() -> None:
    gauge = CounterGauge("package", readings([90.0, 3.0, 8.0]))
    for at in range(3):
        gauge.take(at)
    assert gauge.joules is None


def test_devices_are_summed_and_one_that_fails_takes_the_number_away() -> None:
    counter = CounterGauge("a", readings([10.0, 40.0]))
    power = PowerGauge("b", readings([5.0, 15.0]))
    broken = PowerGauge("c", readings([5.0, None]))
    for gauge in (counter, power, broken):
        gauge.take(0.0)
        gauge.take(2.0)
    both = measured_energy([counter, power], 3.0, 2.0)
    assert both is not None
    assert both.joules == 30 + 20
    assert both.idle == 6
    assert "a, b" in str(both)
    assert "44.0 J of it above idle" in str(both)
    assert measured_energy([counter, power, broken], None, 2.0) is None
    assert measured_energy([], None, 2.0) is None


def write_package(root: Path, number: int, microjoules: int) -> None:
    folder = root / f"intel-rapl:{number}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "energy_uj").write_text(f"{microjoules}\n")
    (folder / "max_energy_range_uj").write_text("10000000\n")
    (folder / f"intel-rapl:{number}:0").mkdir(exist_ok=True)


def test_every_package_and_every_card_is_read(tmp_path: Path) -> None:
    write_package(tmp_path, 0, 9_000_000)
    write_package(tmp_path, 1, 1_000_000)
    counts = {0: iter([1000, 1000, 5000])}  # millijoules; the first reading asks whether there is a counter

    def consumption(card: int) -> int:
        if card:
            raise RuntimeError("not supported")
        return next(counts[0])

    nvml = SimpleNamespace(
        nvmlInit=lambda: None, nvmlDeviceGetCount=lambda: 2, nvmlDeviceGetHandleByIndex=lambda number: number,
        nvmlDeviceGetTotalEnergyConsumption=consumption, nvmlDeviceGetPowerUsage=lambda card: 30_000,
    )  # fmt: skip
    gauges = gauges_here(tmp_path, nvml)
    assert [gauge.name for gauge in gauges] == ["RAPL intel-rapl:0", "RAPL intel-rapl:1", "NVML 0", "NVML 1"]
    for at in (0.0, 2.0):
        for gauge in gauges:
            gauge.take(at)
        write_package(tmp_path, 0, 500_000)  # it has begun anew at ten joules
        write_package(tmp_path, 1, 4_000_000)
    assert [gauge.joules for gauge in gauges] == pytest.approx([1.5, 3.0, 4.0, 60.0])


def test_what_is_inside_a_package_is_counted_there_and_one_that_cannot_be_read_spoils_all(tmp_path: Path) -> None:
    card = SimpleNamespace()
    write_package(tmp_path, 0, 2_000_000)
    inner = tmp_path / "intel-rapl:0:0"
    inner.mkdir()
    (inner / "energy_uj").write_text("900000\n")
    assert [gauge.name for gauge in gauges_here(tmp_path, card)] == ["RAPL intel-rapl:0"]
    write_package(tmp_path, 1, 1)
    (tmp_path / "intel-rapl:1" / "energy_uj").write_text("what")
    assert gauges_here(tmp_path, card) == []


def test_without_a_counter_there_is_a_range_that_says_what_it_is(tmp_path: Path) -> None:
    assert gauges_here(tmp_path, nvml=SimpleNamespace()) == []
    guessed = estimated_energy(10.0)
    assert guessed.joules is None
    assert (guessed.low, guessed.high) == (20, 150)
    assert "an estimate" in str(guessed)
    assert "W per busy core" in str(guessed)
    card = estimated_energy(10.0, has_card=True)
    assert (card.low, card.high, card.joules) == (None, None, None)
    assert "graphics card" in str(card)


def test_the_idle_machine_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(x / 2 for x in range(100))
    monkeypatch.setattr(energy, "monotonic", lambda: next(clock))
    monkeypatch.setattr(energy, "sleep", lambda seconds: None)
    assert energy.idle_watts(lambda: [PowerGauge("a", lambda: 8.0)], 2.0) == pytest.approx(8.0, rel=0.5)
    assert energy.idle_watts(list) is None
