"""What is only looked at must not load what is only used for work."""

from __future__ import annotations

import subprocess
import sys

import pytest

import unseen

HEAVY = {"numpy", "pyarrow", "sklearn", "numba", "matplotlib", "ortools", "scipy"}
RUN_MAIN = (
    "import sys; sys.argv = {words!r}\nfrom unseen.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass"
)


def loaded_by(code: str) -> set[str]:
    """Heavy packages that are loaded after `code` has run in a fresh Python."""
    report = "import sys; print('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return HEAVY & {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["split", "--help"], ["demo", "-h"], ["data", "fetch", "-h"]], ids=" ".join
)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    assert loaded_by(RUN_MAIN.format(words=["unseen", *words])) == set()


def test_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import unseen; dir(unseen); unseen.__version__; unseen.UnseenError") == set()
    assert loaded_by("import unseen.splits, unseen.representations, unseen.registry") <= {"numpy"}


def test_heavy_packages_are_noticed() -> None:
    assert "pyarrow" in loaded_by("import unseen; unseen.Dataset")


def test_the_list_of_exports_is_true() -> None:
    assert unseen.__all__ == sorted(unseen.__all__)
    assert set(unseen.__all__) == set(unseen._PLACES)
    for name in unseen.__all__:
        found = getattr(unseen, name)
        assert found.__name__ == name
        assert found.__module__.startswith("unseen.")


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="'spilt'"):
        unseen.spilt  # noqa: B018
