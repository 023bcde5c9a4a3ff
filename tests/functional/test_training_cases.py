"""Failed cases as training material: so many of each functionality, of one model, from the suite that was checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning
from unseen.functional.suite import as_suite
from unseen.functional.training_cases import FailedCase, read_failures, sample_failures, write_training_cases
from unseen.types import Dataset

HEAD = "model,id,functionality,label,predicted,probability\n"


@pytest.fixture
def suite(tiny: Callable[..., Dataset]) -> Dataset:
    """Twelve cases, six of each functionality; `no` and `yes` in turn."""
    return as_suite(tiny([f"c{n:02}" for n in range(12)], functionality=["f"] * 6 + ["g"] * 6))


def failed(suite: Dataset, rows: range, model: str = "m") -> list[FailedCase]:
    ids = suite.ids.to_pylist()
    return [FailedCase(model, ids[row], suite.label_names[suite.labels[row]]) for row in rows]


def test_so_many_of_each_functionality_whatever_the_order(suite: Dataset) -> None:
    failures = failed(suite, range(1, 8)) + failed(suite, range(12), "other")
    drawn = sample_failures(suite, failures, 3, model="m")
    assert Counter(drawn.attribute("functionality").to_pylist()) == {"f": 3, "g": 2}
    assert set(drawn.ids.to_pylist()) <= {f"c{n:02}" for n in range(1, 8)}
    turned = suite.take(np.random.default_rng(1).permutation(12))
    assert set(sample_failures(turned, failures[::-1], 3, model="m").ids.to_pylist()) == set(drawn.ids.to_pylist())
    seeds = {tuple(sample_failures(suite, failures, 3, model="m", seed=seed).ids.to_pylist()) for seed in range(9)}
    assert len(seeds) > 1
    assert len(sample_failures(suite, failures, 99, model="other")) == 12


def test_cases_that_are_not_judged_by_their_label_are_left_out(tiny: Callable[..., Dataset]) -> None:
    kinds = ["functional", "invariance", None, "invariance"]
    suite = as_suite(tiny(functionality=["f"] * 4, reference=[None, "1", None, "3"], kind=kinds))
    with pytest.warns(UnseenWarning, match="2 failed invariance and directional cases are left out"):
        assert sample_failures(suite, failed(suite, range(4)), 9).ids.to_pylist() == ["1", "3"]
    with pytest.raises(InputError, match="no failed case is judged by its label"):
        sample_failures(suite, failed(suite, range(1, 2)), 9)


def test_what_does_not_fit_is_refused(suite: Dataset) -> None:
    two = failed(suite, range(3)) + failed(suite, range(3), "model-2")
    for call, error, said in (
        (lambda: sample_failures(suite, two, 1), InputError, "of several models"),
        (lambda: sample_failures(suite, two, 1, model="model2"), UnknownNameError, "did you mean 'model-2'"),
        (lambda: sample_failures(suite, two, 0, model="m"), InputError, "at least one"),
        (lambda: sample_failures(suite, [], 1), InputError, "no failed cases"),
        (lambda: sample_failures(suite, [FailedCase("m", "x", "no")], 1), MismatchError, "are not in tiny"),
        (lambda: sample_failures(suite, [FailedCase("m", "c00", "yes")], 1), MismatchError, "have another label"),
    ):
        with pytest.raises(error, match=said):
            call()


def test_a_table_of_failures_is_read_as_it_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "failures.csv"
    path.write_text(f"{HEAD}'=m,'-c,f,no,yes,0.9000\n", encoding="utf-8")
    assert read_failures(path) == [FailedCase("=m", "-c", "no")]
    path.write_text("id,label\n1,no\n", encoding="utf-8")
    with pytest.raises(InputError, match="does not hold failed cases"):
        read_failures(path)


def test_only_a_sample_is_written_over(suite: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "training.csv"
    for number in (2, 1):
        write_training_cases(sample_failures(suite, failed(suite, range(12)), number), path, {"failures": "f.csv"})
        assert len(path.read_text(encoding="utf-8").splitlines()) == 1 + 2 * number
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="was changed since unseen wrote it"):
        write_training_cases(suite, path, {"failures": "f.csv"})
    (tmp_path / "training.json").write_text('{"suite": "kitchen", "csv_sha256": ""}', encoding="utf-8")
    with pytest.raises(InputError, match="is not a file of unseen's"):
        write_training_cases(suite, path, {"failures": "f.csv"})
