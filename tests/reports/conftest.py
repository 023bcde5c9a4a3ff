"""A report about data whose every name is hostile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unseen
from unseen.reports import write_splits_page
from unseen.store.datasets import encode_labels
from unseen.types import Dataset, Embeddings, string_array

RUNS = "document.title='it ran'"
NAME = f"<script>{RUNS}</script> & co"
LABELS = (f'"><img src=x onerror="{RUNS}">', "it's “quoted” {{ 7 * 7 }} {% raw %}", "W" * 300)
SPLITS = (f"</title></svg><script>{RUNS}</script>", f'\'" onload="{RUNS}" x="', "long-" * 60)
COMMAND = f"unseen demo --out '</pre><script>{RUNS}</script>'"
HOSTILE = (NAME, *LABELS, *SPLITS, COMMAND)


@pytest.fixture(scope="session")
def hostile() -> tuple[str, ...]:
    """The strings a reader must see and a browser must not run."""
    return HOSTILE


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report as a file."""
    labels = [LABELS[row % 3] for row in range(120)]
    table = pa.table(
        {
            "id": string_array([f"p{row}" for row in range(120)]),
            "text": string_array([f"secret words {row}" for row in range(120)]),
            "label": encode_labels(string_array(labels), LABELS),
        }
    )
    data = Dataset(NAME, table, LABELS)
    vectors = Embeddings(data.ids, np.random.default_rng(0).normal(size=(120, 5)))
    splits = [
        unseen.split(data, "random", test=0.2, name=SPLITS[0]),
        unseen.split(data, "closest", using=vectors, n_clusters=range(8, 15), test=0.2, name=SPLITS[1]),
        unseen.split(data, "subset-sum", using=vectors, n_clusters=range(8, 15), test=0.2, name=SPLITS[2]),
    ]
    measured = [row for split in splits for row in unseen.analyse(data, split, vectors)]
    about = {"command": COMMAND, "version": "0", "dimensions": 5, "source": "made up"}
    return write_splits_page(tmp_path_factory.mktemp("report") / "report.html", data, vectors, splits, measured, about)
