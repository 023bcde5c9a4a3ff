"""Joules: from counters and power meters where there are some, else a range that is called an estimate.

A gauge is one device: a package of processors (RAPL) or a graphics card (NVML). All that can be read are summed, and
the source names them; where one of them fails on the way there is no number at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from unseen.types.numbers import digits

COUNTERS = "/sys/class/powercap"
"""Linux: one counter per processor package, readable by root or where the administrator allows it."""
WATTS = (2.0, 15.0)
"""Per busy core, from a core among many of a server to one of a desktop at full clock."""
ASSUMPTION = (
    f"{WATTS[0]:g} to {WATTS[1]:g} W per busy core times processor seconds; without memory, fans, power supply and "
    "what the machine draws when idle"
)
IDLE_SECONDS = 1.0
"""How long an idle machine is watched before the work."""


@dataclass
class CounterGauge:
    """A device that counts its joules; a count that falls has begun anew at `wraps_at`."""

    name: str
    read: Callable[[], float | None]
    wraps_at: float | None = None
    last: float | None = None
    used: float = 0.0
    failed: bool = False

    def take(self, at: float) -> None:
        """Read it; often enough, because of several wraps between two readings all but one are lost."""
        count = self.read()
        if count is None or (self.last is not None and count < self.last and self.wraps_at is None):
            self.failed = True
        elif self.last is not None:
            self.used += count - self.last + ((self.wraps_at or 0.0) if count < self.last else 0.0)
        self.last = count

    @property
    def joules(self) -> float | None:
        """Since the first reading; None where one failed."""
        return None if self.failed or self.last is None else self.used


@dataclass
class PowerGauge:
    """A device that says its watts."""

    name: str
    read: Callable[[], float | None]
    times: list[float] = field(default_factory=list)
    watts: list[float] = field(default_factory=list)
    failed: bool = False

    def take(self, at: float) -> None:
        """Read it; what happens between two readings is taken for a straight line."""
        power = self.read()
        if power is None:
            self.failed = True
        else:
            self.times.append(at)
            self.watts.append(power)

    @property
    def joules(self) -> float | None:
        """Between the first and the last reading; None where one failed."""
        from scipy.integrate import trapezoid

        return None if self.failed or len(self.times) < 2 else float(trapezoid(self.watts, self.times))


AnyGauge = CounterGauge | PowerGauge


def gauges_here(root: str | Path = COUNTERS, nvml: Any = None) -> list[AnyGauge]:
    """A gauge for every package and every graphics card of this machine that can be read."""
    return [*_packages(Path(root)), *_graphics_cards(nvml)]


def _packages(root: Path) -> list[AnyGauge]:
    """All packages of processors, what is inside them counted there; none where one of them cannot be read."""
    counters = [file for file in sorted(root.glob("intel-rapl:[0-9]*/energy_uj")) if file.parent.name.count(":") == 1]
    if any(_microjoules(file) is None for file in counters):
        return []
    return [
        CounterGauge(
            f"RAPL {file.parent.name}", partial(_microjoules, file),
            wraps_at=_microjoules(file.with_name("max_energy_range_uj")),
        )
        for file in counters
    ]  # fmt: skip


def _microjoules(file: Path) -> float | None:
    """Joules that stand in a file in millionths; None where nobody may read it."""
    try:
        return int(file.read_text()) / 1e6
    except (OSError, ValueError):
        return None


def _graphics_cards(nvml: Any) -> list[AnyGauge]:
    """All cards: by their counter where they have one, else by their power."""
    try:
        if nvml is None:
            nvml = import_module("pynvml")
        nvml.nvmlInit()
        handles = [nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())]
    except Exception:  # no card, no driver, no package: nvml has errors of its own for each
        return []

    def reader(read: Callable[[Any], float], handle: Any) -> Callable[[], float | None]:
        def value() -> float | None:
            try:
                return read(handle) / 1e3  # millijoules, milliwatts
            except Exception:
                return None

        return value

    gauges: list[AnyGauge] = []
    for number, handle in enumerate(handles):
        count = reader(nvml.nvmlDeviceGetTotalEnergyConsumption, handle)
        if count() is not None:
            gauges.append(CounterGauge(f"NVML {number}", count))
        else:
            gauges.append(PowerGauge(f"NVML {number}", reader(nvml.nvmlDeviceGetPowerUsage, handle)))
    return gauges


@dataclass(frozen=True)
class Energy:
    """Joules of some work: measured, or a range that was estimated; never both."""

    joules: float | None = None
    """Measured, of all devices; None where nothing can be read."""
    idle: float | None = None
    """Of these, what the machine would have drawn doing nothing; None where that was not watched."""
    low: float | None = None
    high: float | None = None
    source: str = ""
    """The devices, or what the estimate assumes; or why there is neither."""

    def __str__(self) -> str:
        if self.joules is not None:
            above = "" if self.idle is None else f", {digits(self.joules - self.idle)} J of it above idle"
            return f"{digits(self.joules)} J measured ({self.source}){above}"
        if self.low is not None and self.high is not None:
            return f"{digits(self.low)} to {digits(self.high)} J, an estimate: {self.source}"
        return f"unknown: {self.source}"


def measured_energy(gauges: Sequence[AnyGauge], idle_watts: float | None, seconds: float) -> Energy | None:
    """The sum over all gauges; None without gauges, or where one of them failed."""
    used = [gauge.joules for gauge in gauges]
    known = [value for value in used if value is not None]
    if not known or len(known) < len(used):
        return None
    idle = None if idle_watts is None else idle_watts * seconds
    return Energy(sum(known), idle, source=", ".join(gauge.name for gauge in gauges))


def estimated_energy(processor_seconds: float, *, has_card: bool = False) -> Energy:
    """A range by processor seconds alone; none where a graphics card may have worked."""
    if has_card:
        return Energy(source="a graphics card was there whose power could not be read (NVML: pip install nvidia-ml-py)")
    return Energy(low=WATTS[0] * processor_seconds, high=WATTS[1] * processor_seconds, source=ASSUMPTION)


def idle_watts(make: Callable[[], Sequence[AnyGauge]], seconds: float = IDLE_SECONDS) -> float | None:
    """What the machine draws now, watched for some seconds; None where nothing can be read."""
    gauges = make()
    if not gauges or seconds <= 0:
        return None
    begun = monotonic()
    for at in (begun, begun + seconds / 2, begun + seconds):
        sleep(max(0.0, at - monotonic()))
        for gauge in gauges:
            gauge.take(monotonic())
    spent = monotonic() - begun
    used = measured_energy(gauges, None, spent)
    return None if used is None or used.joules is None else used.joules / spent
