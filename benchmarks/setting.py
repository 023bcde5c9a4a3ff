"""What all benchmarks need: data, a clock, a description of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path | None:
    """Real data: $UNSEEN_DATA or the folder shared/data beside the checkout."""
    folder = Path(os.environ.get("UNSEEN_DATA", ROOT.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


def real_file(*path: str) -> Path:
    """A file of the real data; ends the program where there is none."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("there is no real data: set UNSEEN_DATA")
    return folder.joinpath(*path)


def write_measured(page: Path, title: str, measured: str, name: str = "measured") -> None:
    """Put `measured` between the two marks of this name; what people wrote around them, and other marks, stay."""
    begin, end = f"<!-- {name} -->", "<!-- end -->"
    text = page.read_text(encoding="utf-8") if page.exists() else f"# {title}\n"
    if begin not in text:
        text += f"\n{begin}\n{end}\n"
    before, _, rest = text.partition(begin)
    page.write_text(f"{before}{begin}\n{measured}{end}{rest.partition(end)[2]}", encoding="utf-8")


def hatexplain() -> tuple[list[str], np.ndarray[Any, Any], str]:
    """17,305 texts and labels: HateXplain, or as many synthetic ones when it is not here."""
    import unseen

    folder = data_folder()
    if folder is None:
        from unseen.data.sample import sample_corpus

        data, name = sample_corpus(17_305), "synthetic sample"
    else:
        data, name = (
            unseen.load(folder / "hatexplain" / "train_test.csv", text="example", label="label"),
            "HateXplain",
        )
    return data.texts.to_pylist(), data.labels, name


def seconds(function: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """The shortest of `repeat` runs, and what the last one returned."""
    best, result = float("inf"), None
    for _ in range(repeat):
        begun = perf_counter()
        result = function()
        best = min(best, perf_counter() - begun)
    return best, result


def processor_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """What a call costs this process, whatever else the machine does, and what it returned."""
    begun = process_time()
    result = function()
    return process_time() - begun, result


def in_fresh_process(*arguments: str, python: str = sys.executable) -> str:
    """Stdout of `python arguments` in a process of its own."""
    run = subprocess.run([python, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    if run.returncode:
        raise SystemExit(f"{arguments} failed:\n{run.stderr[-2000:]}")
    return run.stdout


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def machine() -> str:
    """One line: date, cores, processor, versions. No names of people or hosts."""
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor)
        wide = "AVX-512" if "avx512f" in Path("/proc/cpuinfo").read_text(encoding="utf-8") else "AVX2"
        processor = f"{processor} ({wide})"
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "ortools", "numba"))
    return f"{date.today().isoformat()}; {len(os.sched_getaffinity(0))} cores, {processor}; Python {platform.python_version()}, {packages}"
