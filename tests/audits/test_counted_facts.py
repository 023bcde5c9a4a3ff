"""What was counted in published data by other means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from unseen import load, split
from unseen.audits import Audit, Subject, audit
from unseen.duplicates import same, same_forms
from unseen.types import Dataset


@pytest.fixture(scope="module")
def stormfront(shared_data: Path) -> Dataset:
    return load("stormfront", data_dir=shared_data)


def counts(found: Audit) -> dict[str, int]:
    return {finding.check: finding.count for finding in found.findings}


def test_stormfronts_published_split(stormfront: Dataset) -> None:
    published = split(stormfront, "predefined", by="sampled_split")
    assert published.sizes["test"] == 478
    columns = {"author": "user_id", "conversation": "comment_id"}
    found = counts(audit(Subject(stormfront, published, columns), ["author", "conversation", "exact_duplicates"]))
    assert found == {"author": 270, "conversation": 129, "exact_duplicates": 3}


def test_stormfronts_users_comments_and_repeats(shared_data: Path) -> None:
    path = next((shared_data / "stormfront").glob("*.csv"))
    whole = load(path, text="text", label="label", attributes=["user_id", "comment_id"])
    assert len(whole) == 10_944
    assert len(set(whole.attribute("user_id").to_pylist())) == 2_792
    assert len(set(whole.attribute("comment_id").to_pylist())) == 5_000
    assert len(whole) - len(np.unique(same(whole.texts))) == 184


def test_hatexplains_official_split(shared_data: Path) -> None:
    """But for emoji, 8 texts of dev and 10 of test are in train; with them, some say it with a laugh."""
    parts = {
        part: load(shared_data / "hatexplain" / "standard" / f"{part}_standard.csv", text="example", label="label")
        for part in ("train", "dev", "test")
    }
    for part, verbatim, normalised, contradicted in (("dev", 3, 7, None), ("test", 6, 8, 3)):
        joined = pa.chunked_array([*parts["train"].texts.chunks, *parts[part].texts.chunks])
        names = [name for each in ("train", part) for name in np.array(parts[each].label_names)[parts[each].labels]]
        n = len(parts["train"])
        for codes, expected in ((same(joined), verbatim), (same_forms(joined), normalised)):
            assert int(np.isin(codes[n:], codes[:n]).sum()) == expected
        if contradicted is not None:
            codes, label = same(joined), np.array(names)
            leaked = [row for row in range(n, len(codes)) if codes[row] < n]
            other = [row for row in leaked if (label[:n][codes[:n] == codes[row]] != label[row]).any()]
            assert len(other) == contradicted


def test_davidsons_duplicates_without_handles_links_and_punctuation(shared_data: Path) -> None:
    data = load("davidson", data_dir=shared_data)
    codes = same_forms(data.texts)
    groups, members = np.unique(codes, return_counts=True)
    repeated = groups[members > 1]
    conflicting = [group for group in repeated if len(set(data.labels[codes == group])) > 1]
    assert (int((members - 1).sum()), len(repeated), len(conflicting)) == (467, 237, 27)
    found = counts(audit(Subject(data), ["normalised_duplicates"]))
    assert found == {"normalised_duplicates": 467}
