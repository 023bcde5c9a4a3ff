"""Operations and tokens, by count: what a model does for a text, whatever machine it does it on.

Counted are the multiplications and additions of matrices (torch's own counter, attention included) and of features
with weights. Not counted: tokenising, activations, norms, softmax, reading embeddings, and whatever a server does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

NOT_COUNTED = "tokenising, activations, norms, softmax and reading embeddings"


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of some texts, and how many a network computes with."""

    texts: int
    true: int
    """Tokens of the texts, cut at the model's limit."""
    padded: int
    """With the padding that fills every batch up to its longest text."""
    batches: int

    @property
    def batch(self) -> float:
        """Texts per batch, on average: the batch that was used, whatever was asked for."""
        return self.texts / self.batches

    @property
    def padding(self) -> float:
        """Share of what is computed that is padding."""
        return 1 - self.true / self.padded


def token_counts(classifier: Any, texts: Sequence[str], batch: int) -> TokenCounts | None:
    """The tokens of texts that are asked about `batch` at a time; None for a model that reads none."""
    true, batches = 0, list[tuple[int, int]]()  # rows and longest of each batch
    for start in range(0, len(texts), batch):
        inner = _batches_of(classifier, list(texts[start : start + batch]))
        if inner is None:
            return None
        for rows in inner:
            true += sum(rows)
            batches.append((len(rows), max(rows)))
    padded = sum(rows * longest for rows, longest in batches)
    return TokenCounts(len(texts), true, padded, len(batches)) if batches else None


def _batches_of(classifier: Any, texts: list[str]) -> list[list[int]] | None:
    """The lengths of the texts in each batch that a network is given."""
    if hasattr(classifier, "backbone"):
        tokens = classifier.backbone.tokens(texts)
        return [tokens.lengths[rows].tolist() for rows in tokens.batches()]
    if hasattr(classifier, "tokenizer") and hasattr(classifier, "max_length"):
        read = classifier.tokenizer(texts, truncation=True, max_length=classifier.max_length)["input_ids"]
        lengths = sorted(map(len, read))
        size = int(classifier.batch)
        return [lengths[start : start + size] for start in range(0, len(lengths), size)]
    return None


def training_tokens(classifier: Any, texts: Sequence[str]) -> TokenCounts | None:
    """The tokens of one epoch of training on these texts, in random batches; None for a model that reads none."""
    if not hasattr(classifier, "backbone"):
        return None
    tokens = classifier.backbone.tokens(texts)
    batches = tokens.shuffled_batches(classifier.settings.batch, 0)
    padded = sum(len(rows) * int(tokens.lengths[rows].max()) for rows in batches)
    return TokenCounts(len(texts), int(tokens.lengths.sum()), padded, len(batches))


def operations(classifier: Any, texts: Sequence[str]) -> float | None:
    """Floating-point operations of asking about these texts; None where nothing can be counted, as at an endpoint."""
    if hasattr(classifier, "weights") and hasattr(classifier, "features"):
        rows = classifier.features.transform(list(texts))
        inner = operations(classifier.features, texts) if hasattr(classifier.features, "predict_proba") else 0.0
        filled = rows.nnz if hasattr(rows, "nnz") else rows.size
        return (inner or 0.0) + 2.0 * filled * classifier.weights.shape[1]
    bag = 0.0
    if hasattr(classifier, "terms") and hasattr(classifier, "network"):  # its embedding bag is no torch operation
        from unseen.training.features import HashedTexts

        filled = classifier.terms.transform(HashedTexts(list(texts))).nnz
        bag = 2.0 * filled * classifier.settings["width"]
    counted = counted_by_torch(lambda: classifier.predict_proba(list(texts)))
    return counted + bag if counted else None


def counted_by_torch(work: Callable[[], object]) -> float:
    """Operations of the matrix products and attentions that torch does in `work`; 0 where it does none."""
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        return 0.0
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False, custom_mapping=dict(_attention_of_processors())) as counter:
        work()
    return float(counter.get_total_flops())


def _attention_of_processors() -> Iterator[tuple[Any, Callable[..., int]]]:
    """Attention as torch does it on processors, which its counter does not know."""
    import torch
    from torch.utils.flop_counter import sdpa_backward_flop_count, sdpa_flop_count

    def forwards(query: Any, key: Any, value: Any, *others: Any, out_shape: Any = None, **options: Any) -> int:
        return int(sdpa_flop_count(query, key, value))

    def backwards(grad: Any, query: Any, key: Any, value: Any, *others: Any, out_shape: Any = None, **more: Any) -> int:
        return int(sdpa_backward_flop_count(grad, query, key, value))

    for name, count in (("", forwards), ("_backward", backwards)):
        operation = getattr(torch.ops.aten, f"_scaled_dot_product_flash_attention_for_cpu{name}", None)
        if operation is not None:
            yield operation, count
