"""What is kept belongs to the very weights and code that made it, not to their place."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiny_data import build
from tiny_transformer import write_transformer
from unseen import api
from unseen.engines import steps
from unseen.naming import content_of_name
from unseen.representations import partial_vectors
from unseen.runs.source import Source, load_source
from unseen.runs.spaces import Model, Space
from unseen.runs.stress import settled
from unseen.runs.training_steps import Cut, space_step, split_step
from unseen.training import transformer
from unseen.training.transformer_classifier import TransformerSettings

WORDS = ["rain", "wind", "soup", "salt"]


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(write_transformer(tmp_path / "bert", WORDS, seed=0))


@pytest.fixture
def source() -> Source:
    from unseen.data.sample import sample_corpus

    return load_source(sample_corpus(100), {}, settled("neural"), 42)


def test_other_weights_in_a_folder_are_another_model(place: str, source: Source) -> None:
    def keys() -> list[Any]:
        model, few = Model(place), build()
        spaces = [space_step(source, Space(model, each), 42).key for each in ("full", "pretrained")]
        return [model.described, *spaces, transformer.fingerprint(TransformerSettings(place), few, few, 1)]

    before = keys()
    assert keys() == before
    write_transformer(Path(place), WORDS, seed=1)
    assert all(old != new for old, new in zip(before, keys(), strict=True))


def test_a_run_of_other_weights_is_another_run(place: str) -> None:
    before = settled(place).described()
    assert settled(place).described() == before
    write_transformer(Path(place), WORDS, seed=1)
    assert settled(place).described() != before


def test_encoding_does_not_go_on_with_other_weights(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_vectors, "ROWS", 2)
    data, partial, write = build(), tmp_path / "partial.npy", partial_vectors.write_json

    def interrupted(note: Path, content: Any) -> None:
        write(note, content)
        raise KeyboardInterrupt

    monkeypatch.setattr(partial_vectors, "write_json", interrupted)
    with pytest.raises(KeyboardInterrupt):
        api.encode(data, place, partial=partial)
    monkeypatch.setattr(partial_vectors, "write_json", write)
    write_transformer(Path(place), WORDS, seed=1)
    found = api.encode(data, place, partial=partial).vectors
    np.testing.assert_allclose(found, api.encode(data, place).vectors, atol=1e-6)  # batches differ


def test_other_code_at_a_place_is_another_model_and_another_splitter(
    tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "changing_code.py"
    code = (
        "class Mine:\n    def fit(self, train, dev, seed): ...\n    def split(self, X): ...\n    get_n_splits = split\n"
    )

    def keys(written: str) -> list[Any]:
        file.write_text(written)
        importlib.invalidate_caches()
        sys.modules.pop("changing_code", None)
        cut = Cut("mine", "changing_code:Mine", Space(Model("neural")))
        return [Model("changing_code:Mine").described, split_step(source, cut, 42).key]

    before = keys(code)
    assert keys(code) == before
    assert all(old != new for old, new in zip(before, keys(code + "# changed\n"), strict=True))


def test_a_release_takes_up_no_results_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    before = steps.Step("name", "module:function").key
    monkeypatch.setattr(steps, "__version__", "0.0.0")
    assert steps.Step("name", "module:function").key != before


def test_vectors_that_an_encoder_gave_otherwise_before_are_not_taken_up() -> None:
    assert content_of_name("minilm") == {"version": "minilm.v2"}  # v1 was its class token
    assert content_of_name("tfidf") == {}
