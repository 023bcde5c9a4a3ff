"""What this machine has: cores, threads, a graphics card."""

from __future__ import annotations

import os

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


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
