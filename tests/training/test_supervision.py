"""Attention taught by rationales: what is asked for, of which texts, and that it is learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tiny_data import build
from tiny_transformer import write_transformer
from unseen.errors import InputError, UnknownNameError
from unseen.representations.backbone import Backbone
from unseen.training import RECIPES
from unseen.training.supervision import AttentionTargets, attention_loss, token_shares
from unseen.training.transformer import Transformer, TransformerClassifier
from unseen.types import Dataset

FILLERS = ["the", "a", "on", "by", "of", "old", "new"]
LABELS = ("calm", "loud")


def highlighted(number: int, seed: int = 0, span: str = "") -> Dataset:
    """Loud texts hold `drum`, but annotators highlight `near` (or `span`), which calm texts hold as well."""
    draw = np.random.default_rng(seed)
    labels = [LABELS[code] for code in draw.integers(2, size=number)]
    texts = [
        " ".join(draw.permutation(["near", "drum" if label == "loud" else "leaf", *draw.choice(FILLERS, 4)]))
        for label in labels
    ]
    starts = [text.index("near") for text in texts]
    loud = [label == "loud" for label in labels]
    spans = [[span or f"{start}-{start + 4}"] if tells else [] for start, tells in zip(starts, loud, strict=True)]
    return build([f"t{seed}-{row}" for row in range(number)], texts, labels, LABELS, rationales=spans)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_transformer(tmp_path_factory.mktemp("bert") / "bert", [*FILLERS, "near", "drum", "leaf"]))


def fine_tuned(folder: str, train: Dataset, scratch: Path | None = None, **settings: Any) -> TransformerClassifier:
    recipe = Transformer(folder, **{"epochs": 3, "batch": 8, "learning_rate": 3e-3, **settings})
    return recipe.fit(train, highlighted(16, 1), 42, scratch=scratch)


def attention_on_near(model: Any, data: Dataset) -> float:
    """Mean attention on `near` in loud texts."""
    texts = [text for text, label in zip(data.texts.to_pylist(), data.labels, strict=True) if label]
    if isinstance(model, TransformerClassifier):
        tokens, spans = model.backbone.tokens(texts), model.backbone.spans(texts)
        model.modules.eval()
        with torch.no_grad():
            rows = [model.backbone.attended(tokens, np.array([row]))[1][0, 0] for row in range(len(texts))]
        answers = list(zip(spans, rows, strict=True))
    else:
        answers = model.attention(texts)
    masses = [
        sum(float(share) for (start, end), share in zip(spans, shares, strict=True) if text[start:end] == "near")
        for text, (spans, shares) in zip(texts, answers, strict=True)
    ]
    return float(np.mean(masses))


def test_a_words_share_is_spread_over_its_tokens() -> None:
    text, rationales = "bad apples !", [[(0, 3)], [(0, 10)]]
    words = np.exp([2.0, 1.0, 0.0])
    pieces = [(0, 0), (0, 3), (4, 7), (7, 10), (11, 12), (0, 0)]
    first, second, third = words / words.sum()
    expected = [0, first, second / 2, second / 2, third, 0]
    np.testing.assert_allclose(token_shares(text, rationales, pieces, 2.0), expected)
    cut = token_shares(text, rationales, pieces[:3], 2.0)
    np.testing.assert_allclose(cut, [0, *(words[:2] / words[:2].sum())])
    np.testing.assert_allclose(token_shares(text, [], pieces, 2.0), [0, 1 / 3, 1 / 6, 1 / 6, 1 / 3, 0])
    assert token_shares(" ", [], [(0, 0), (0, 1)], 1.0).tolist() == [0, 0]


def test_texts_of_labels_with_rationales_teach_only_when_they_have_one() -> None:
    texts, labels = ["x y", "x y", "x y"], ["yes", "yes", "no"]
    data = build(["c", "a", "b"], texts, labels, rationales=[["0-1"], [], None])
    tokens = [[(0, 1), (2, 3)]] * 3
    targets = AttentionTargets.of(data, "rationales", tokens, 1.0)
    real = np.array([[True, True, False]] * 3)
    shares = targets.padded(np.arange(3), real).numpy()  # in the order of the ids
    np.testing.assert_allclose(shares, [[0, 0, 0], [0.5, 0.5, 0], [0.731, 0.269, 0]], atol=1e-3)
    with pytest.raises(InputError, match="no training text has rationales"):
        AttentionTargets.of(data.take([1, 2]), "rationales", tokens[:2], 1.0)


def test_the_loss_is_the_mean_of_the_heads_cross_entropies() -> None:
    torch.manual_seed(0)
    scores = torch.randn(2, 3, 4)
    shares = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.0, 0.0]])
    of_heads = [torch.nn.functional.cross_entropy(scores[0, head], shares[0]) for head in range(3)]
    torch.testing.assert_close(attention_loss(scores.softmax(2), shares), sum(of_heads) / 6)
    dropped = scores.softmax(2).requires_grad_()
    attention_loss(dropped * torch.tensor([0.0, 1, 1, 1]), shares).backward()
    assert torch.isfinite(dropped.grad).all()


def test_a_recurrent_network_learns_where_to_look() -> None:
    train, dev, fresh = highlighted(60), highlighted(16, 1), highlighted(30, 2)

    def fit(**settings: Any) -> Any:
        sizes = {"hidden": 8, "width": 8, "epochs": 5, "batch": 8, "rate": 2e-2}
        return RECIPES.make("birnn-attention", **sizes, **settings).fit(train, dev, 42)

    plain, taught = fit(), fit(supervise="rationales", supervision_weight=2.0)
    assert attention_on_near(taught, fresh) > 0.6 > attention_on_near(plain, fresh) + 0.2
    assert (taught.predict_proba(fresh.texts.to_pylist()).argmax(1) == fresh.labels).mean() > 0.8
    same = fit(supervise="rationales", supervision_weight=0.0).network.state_dict()
    assert all(torch.equal(tensor, same[name]) for name, tensor in plain.network.state_dict().items())
    with pytest.raises(UnknownNameError, match="attribute"):
        fit(supervise="reasons")


def test_a_transformer_learns_where_to_look(checkpoint: str, tmp_path: Path) -> None:
    train, fresh = highlighted(60), highlighted(20, 2)
    plain = fine_tuned(checkpoint, train)
    taught = fine_tuned(checkpoint, train, supervise="rationales", supervision_weight=2.0)
    assert attention_on_near(taught, fresh) > 0.6 > 0.3 + attention_on_near(_eager(plain, tmp_path), fresh)
    taught.save(tmp_path / "model")
    again, texts = TransformerClassifier.load(tmp_path / "model"), fresh.texts.to_pylist()
    np.testing.assert_array_equal(again.predict_proba(texts), taught.predict_proba(texts))
    same = fine_tuned(checkpoint, train, supervise="rationales", supervision_weight=0.0).modules.state_dict()
    assert all(torch.equal(tensor, same[name]) for name, tensor in plain.modules.state_dict().items())


def _eager(model: TransformerClassifier, folder: Path) -> TransformerClassifier:
    """The same network, so opened that its attention can be seen."""
    model.save(folder / "plain")
    backbone = Backbone(str(folder / "plain"), eager=True)
    return TransformerClassifier(backbone, model.classes_, model.settings)


def test_other_rationales_are_another_training(checkpoint: str, tmp_path: Path) -> None:
    settings = {"supervise": "rationales", "epochs": 1}
    first, second = highlighted(24), highlighted(24, span="0-1")
    assert first.fingerprint == second.fingerprint
    fine_tuned(checkpoint, first, tmp_path, **settings)
    resumed, fresh = fine_tuned(checkpoint, second, tmp_path, **settings), fine_tuned(checkpoint, second, **settings)
    expected = fresh.modules.state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in resumed.modules.state_dict().items())


def test_what_cannot_be_supervised_is_refused(checkpoint: str) -> None:
    train = highlighted(8)
    for settings, message in (({"pooling": "mean"}, "class token"), ({"supervised_heads": 3}, "from 1 to 2")):
        with pytest.raises(InputError, match=message):
            fine_tuned(checkpoint, train, supervise="rationales", **settings)
    with pytest.raises(InputError, match="supervision_scale"):
        Transformer(checkpoint, supervision_scale=0.0)
