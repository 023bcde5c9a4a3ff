"""What this machine has: cores, threads, a graphics card, counters of energy."""

from __future__ import annotations

import os
from pathlib import Path

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
COUNTERS = "/sys/class/powercap"
"""Linux: one counter per processor package, readable by root or where the administrator allows it."""


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_threads() -> int:
    """Threads this process may use: OMP_NUM_THREADS when set, else the cores it may run on."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(asked)) if asked.isdecimal() else cores()


def has_gpu() -> bool:
    """Whether this process can use a graphics card."""
    import torch

    return bool(torch.cuda.is_available())


def energy_counters(root: str | Path = COUNTERS) -> dict[str, tuple[Path, float | None]]:
    """The counter of each processor package, and the joules at which it begins anew; None where it does not say."""
    counters = {}
    for counter in sorted(Path(root).glob("intel-rapl:[0-9]*/energy_uj")):
        if counter.parent.name.count(":") == 1:  # packages; what is inside them is counted there
            counters[counter.parent.name] = (counter, microjoules(counter.with_name("max_energy_range_uj")))
    return counters


def joules(root: str | Path = COUNTERS) -> float | None:
    """What the processors have used since their counters were last at zero; None where nobody may read it."""
    used = [microjoules(counter) for counter, _ in energy_counters(root).values()]
    known = [value for value in used if value is not None]
    return sum(known) if known and len(known) == len(used) else None


def microjoules(file: Path) -> float | None:
    """Joules that stand in a file in millionths; None where nobody may read it."""
    try:
        return int(file.read_text()) / 1e6
    except (OSError, ValueError):
        return None
