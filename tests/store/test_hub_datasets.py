"""Splits as configurations of a dataset folder, read by the package of the hub, without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finished_runs import posts, run_here
from unseen.errors import InputError
from unseen.store.foreign_splits import write_hub_dataset


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = pytest.importorskip("datasets")
    monkeypatch.setattr(module.config, "HF_DATASETS_OFFLINE", True)
    module.disable_progress_bars()
    return lambda folder, name: module.load_dataset(str(folder), name, cache_dir=str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    posts(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, options in (("closest", ["--test", "0.2", "--clusters", "3-8"]), ("random", ["--dev", "0.1"])):
        made = run_here("split", "make", "posts.csv", "--id", "id", "--with", name, "-o", f"{name}.csv", *options)
        assert made.code == 0, made.err
    return tmp_path


def export(*options: str) -> Any:
    splits = ["--split", "closest.csv", "--split", "random.csv"]
    return run_here("split", "export", "posts.csv", "--id", "id", *splits, "--format", "hub", *options)


def test_each_split_is_a_configuration_of_ids(folder: Path, datasets: Callable[..., Any]) -> None:
    done = export("-o", "hub")
    assert (done.code, done.out.splitlines()[0][:12]) == (0, "hub closest:"), done.err
    closest = datasets(folder / "hub", "closest")
    assert closest["test"].column_names == ["id", "cluster"]
    written = [line.split(",") for line in (folder / "closest.csv").read_text().splitlines()[1:]]
    for part in ("train", "test"):
        ours = {name: cluster for name, of, cluster in written if of == part}
        theirs = {row["id"]: "" if row["cluster"] is None else str(row["cluster"]) for row in closest[part]}
        assert theirs == ours
    assert {*datasets(folder / "hub", "random")} == {"train", "dev", "test"}
    assert b"rain" not in b"".join(path.read_bytes() for path in (folder / "hub").rglob("*.parquet"))


def test_texts_are_there_when_asked_for(folder: Path, datasets: Callable[..., Any]) -> None:
    assert export("--texts", "-o", "hub").code == 0
    test = datasets(folder / "hub", "closest")["test"]
    assert {"id", "text", "label", "cluster"} <= {*test.column_names}


def test_refusals(folder: Path, tiny: Any) -> None:
    words = ("split", "export", "posts.csv", "--id", "id", "--format", "indices", "-o", "rows")
    several = run_here(*words, "--split", "closest.csv", "--split", "random.csv")
    assert (several.code, "--format hub" in several.err) == (2, True)
    assert run_here(*words, "--split", "closest.csv", "--texts").code == 2
    with pytest.raises(InputError, match="one configuration"):
        write_hub_dataset(tiny(), {"a b": None, "a/b": None}, folder)  # type: ignore[dict-item]
