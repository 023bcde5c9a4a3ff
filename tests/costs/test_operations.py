"""Operations and tokens against counts by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from finished_runs import post
from tiny_data import build
from tiny_transformer import write_transformer
from unseen.costs.operations import counted_by_torch, operations, token_counts, training_tokens
from unseen.naming import recipe_of
from unseen.types import Dataset

TEXTS = ["rain wind cloud storm", "bread soup", "goal team ball", "drum"]


@pytest.fixture(scope="module")
def data() -> Dataset:
    rows = [[str(cell) for cell in post(number)] for number in range(60)]
    ids, texts, labels = ([row[place] for row in rows] for place in range(3))
    return build(ids, texts, labels, ("calm", "loud"))


@pytest.mark.parametrize("seeing", [None, "mask"])
def test_attention_and_products_are_counted(seeing: str | None) -> None:
    query, weight = torch.randn(2, 4, 16, 8), torch.randn(8, 8)
    mask = None if seeing is None else torch.zeros(2, 1, 16, 16)

    def work() -> None:
        with torch.inference_mode():
            torch.nn.functional.scaled_dot_product_attention(query, query, query, attn_mask=mask)
            query.reshape(-1, 8) @ weight

    attention = 2 * (2 * 2 * 4 * 16 * 16 * 8)  # queries times keys, and that times values
    assert counted_by_torch(work) == attention + 2 * 2 * 4 * 16 * 8 * 8
    assert counted_by_torch(lambda: sum(range(9))) == 0


def test_a_linear_model_does_two_operations_for_each_feature_and_label(data: Dataset) -> None:
    model = recipe_of("logistic", C=1).fit(data, data.take([]), 1)
    filled = model.features.transform(TEXTS).nnz
    assert filled
    assert operations(model, TEXTS) == 2 * filled * 2


def test_the_bag_of_the_small_network_is_counted_too(data: Dataset) -> None:
    from unseen.training.features import HashedTexts

    model = recipe_of("neural", epochs=1, width=8, bottleneck=4).fit(data, data.take([]), 1)
    filled = model.terms.transform(HashedTexts(TEXTS)).nnz
    assert operations(model, TEXTS) == 2 * filled * 8 + len(TEXTS) * 2 * (8 * 4 + 4 * 2)


def test_a_model_that_nobody_can_look_into_has_no_count() -> None:
    class Closed:
        def predict_proba(self, texts: list[str]) -> list[list[float]]:
            return [[0.5, 0.5]] * len(texts)

    assert operations(Closed(), TEXTS) is None
    assert token_counts(Closed(), TEXTS, 2) is None
    assert training_tokens(Closed(), TEXTS) is None


def test_padding_is_what_a_batch_is_filled_up_with(tmp_path: Path, data: Dataset) -> None:
    words = sorted({word for text in [*TEXTS, *data.texts.to_pylist()] for word in text.split()})
    folder = write_transformer(tmp_path / "bert", words)
    recipe = recipe_of("transformer", encoder=str(folder), epochs=1, batch=4, precision="fp32", max_tokens=8)
    model = recipe.fit(data, data.take([]), 1)
    lengths = [6, 4, 5, 3]  # two marks round the words
    counts = token_counts(model, TEXTS, 2)
    assert counts is not None
    assert (counts.true, counts.padded, counts.batches, counts.batch) == (sum(lengths), 2 * 6 + 2 * 5, 2, 2)
    assert counts.padding == pytest.approx(1 - 18 / 22)
    whole = token_counts(model, TEXTS, 4)
    assert whole is not None
    assert whole.padded == 4 * 6
    one = token_counts(model, ["rain " * 50], 1)
    assert one is not None
    assert one.true == 8
    epoch = training_tokens(model, TEXTS)
    assert epoch is not None
    assert (epoch.true, epoch.padded, epoch.batches) == (18, 24, 1)
    assert (operations(model, TEXTS) or 0) > 0
