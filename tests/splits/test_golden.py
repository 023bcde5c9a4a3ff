"""Published names never change their meaning: `closest.v1` of this data is this file, for ever.

When a test here fails, the method has changed. Give the new one the name `….v2` and keep this one.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.splits import SPLITTERS
from unseen.store.splits import read_split, write_split

GOLDEN = Path(__file__).with_name("golden")
REQUESTS = {
    "random.v1": {},
    "grouped.v1": {"groups": "user"},
    "subset-sum.v1": {"n_clusters": [8, 11]},
    "closest.v1": {"n_clusters": [7, 8]},
    "novel.v1": {"n_clusters": [8, 16]},
}


@pytest.fixture(scope="module")
def small(tiny):
    """Sixty rows in five regions of a plane, made without a random generator."""
    rows = range(60)
    return tiny(
        ids=[f"row-{row:02}" for row in rows],
        labels=[("no", "yes", "so")[row * 7 % 11 % 3] for row in rows],
        label_names=("no", "yes", "so"),
        user=[f"user-{row * 13 % 17:02}" for row in rows],
    )


def vectors():
    angle = [2 * math.pi * (row % 5) / 5 for row in range(60)]
    spread = [row * 37 % 60 / 60 for row in range(60)]
    return np.array(
        [[math.cos(a) + 0.3 * s, math.sin(a) - 0.2 * s * s, 0.5 + s * 0.1] for a, s in zip(angle, spread, strict=True)],
        dtype=np.float32,
    )


def made(data, name):
    using = {"using": vectors()} if SPLITTERS.get(name).reads == "vectors" else {}
    return unseen.split(data, name, test=0.2, dev=6, independent=6, seed=42, **using, **REQUESTS[name])


@pytest.mark.parametrize("name", REQUESTS)
def test_a_published_name_keeps_its_meaning(small, name, tmp_path):
    split = made(small, name)
    write_split(split, tmp_path / "split.csv")
    golden = (GOLDEN / f"{name}.csv").read_text(encoding="utf-8")
    assert (tmp_path / "split.csv").read_text(encoding="utf-8").splitlines() == golden.splitlines()
    assert read_split(tmp_path / "split.csv", small).certificate.got == split.certificate.got


@pytest.mark.parametrize("name", REQUESTS)
def test_the_golden_files_are_splits_of_that_size(small, name):
    with (GOLDEN / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == small.ids.to_pylist()
    parts = [row["part"] for row in rows]
    assert parts.count("test") == 10
    assert parts.count("dev") == parts.count("independent") == 6
