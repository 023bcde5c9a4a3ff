"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ONE_INSTRUCTION_SET = {
    "OPENBLAS_CORETYPE": "Zen",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "NUMBA_CPU_NAME": "haswell",
    "UNSEEN_PRECISION": "fp32",
}
"""AVX2 and fp32 everywhere: wider vectors add in another order, and golden runs would differ between machines in a last
digit that k-means makes a large one; bf16, which some processors multiply, differs in the third digit."""
PROCESSOR = Path("/proc/cpuinfo")
has_avx2 = PROCESSOR.exists() and " avx2 " in PROCESSOR.read_text(encoding="utf-8")
for variable, value in (ONE_THREAD | (ONE_INSTRUCTION_SET if has_avx2 else {})).items():
    os.environ.setdefault(variable, value)  # read once, when numpy is first imported

from collections.abc import Callable, Iterator  # noqa: E402

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from finished_runs import finished_in  # noqa: E402
from tiny_data import build  # noqa: E402
from unseen.types import Dataset  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[1]

# fixtures such as `tiny` and `tmp_path` hold nothing that one example could leave to the next
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
settings.register_profile("default", relaxed)
settings.register_profile("ci", relaxed, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

Builder = Callable[..., Dataset]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--write-golden`: store what runs give now as what they shall give."""
    parser.addoption("--write-golden", action="store_true", help="write the records of tests/golden anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Deal out files with slow tests first, so that no worker is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`finished("price")` is the folder of a finished kind (finished_runs.py), made once for all tests and workers.

    Look, do not touch: whoever changes something in it takes a copy.
    """
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished"
    return lambda kind: finished_in(root, kind)


@pytest.fixture(scope="session")
def tiny() -> Builder:
    """`tiny()` is four rows; `tiny(ids=…, texts=…, labels=…, label_names=…, attribute=…)` is any."""
    return build


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the real datasets: UNSEEN_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("UNSEEN_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is not a folder; set UNSEEN_DATA to one")
    return folder


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """One local Ray with two workers for all tests: starting one takes seconds."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
