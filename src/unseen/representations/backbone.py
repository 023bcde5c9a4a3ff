"""A pretrained transformer without a task: texts to tokens, tokens to one vector per text."""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, UnknownNameError, UnseenError
from unseen.representations.checkpoints import (
    Checkpoint,
    find_checkpoint,
    not_found,
    open_masked_lm,
    open_pretrained,
)
from unseen.seeding import generator
from unseen.types import ROWS_AT_ONCE, bounded

POOLINGS = ("class", "mean", "last")
"""The first token's vector, the mean over tokens, or the last token's vector (for models that read forwards only)."""
PRECISIONS = ("auto", "fp32", "bf16")
PRECISION = "UNSEEN_PRECISION"
"""The variable of the environment that says what `auto` is: with fp32, machines of every kind give the same numbers."""
DECODERS = ("llama", "gpt2", "qwen2", "mistral")
KERNELS_KEPT = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
"""How many compiled products torch keeps on a CPU, one for each shape: those of a batch. Its own 1,024 take up to a
gigabyte after batches of many lengths, and save no time."""
TOKENS_AT_ONCE = 4_096
TEXTS_AT_ONCE = 256
POOL = 50
"""Batches whose texts are sorted by length together: enough to leave little padding, few enough to stay random."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Token ids of many texts in one array; text i is `ids[starts[i]:starts[i + 1]]`."""

    ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens per text."""
        return np.diff(self.starts)

    def padded(self, rows: npt.NDArray[np.intp], padding: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Token ids of `rows`, as wide as the longest of them, and which of them are real."""
        lengths = self.lengths[rows]
        real = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(real.shape, padding, np.int64)
        ids[real] = np.concatenate([self.ids[self.starts[row] : self.starts[row + 1]] for row in rows])
        return ids, real

    def batches(self) -> list[npt.NDArray[np.intp]]:
        """All rows in batches of like length and bounded size, the longest first."""
        order = np.argsort(-self.lengths, kind="stable")
        lengths, batches, begin = self.lengths[order], [], 0
        while begin < len(order):
            size = max(1, min(TEXTS_AT_ONCE, TOKENS_AT_ONCE // max(1, int(lengths[begin]))))
            batches.append(order[begin : begin + size])
            begin += size
        return batches

    def shuffled_batches(self, size: int, seed: int) -> list[npt.NDArray[np.intp]]:
        """All rows in random batches of `size`; texts of like length meet, so little is padding."""
        draw = generator(seed, "batches")
        order = draw.permutation(len(self))
        batches = []
        for begin in range(0, len(order), size * POOL):
            pool = order[begin : begin + size * POOL]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            batches += [pool[at : at + size] for at in range(0, len(pool), size)]
        return [batches[place] for place in draw.permutation(len(batches))]


class Backbone:
    """The tokenizer and the network of one checkpoint, on the fastest device there is."""

    def __init__(
        self,
        checkpoint: str,
        *,
        pooling: str | None = None,
        max_tokens: int = 128,
        precision: str = "auto",
        eager: bool = False,
        masked: bool = False,
        trust: bool = False,
    ) -> None:
        """`eager` computes attention in the way that can be looked at, not the fastest.

        With `masked` the network has its masked-LM head on; a checkpoint without one is refused.
        """
        import torch

        if pooling is not None and pooling not in POOLINGS:
            raise UnknownNameError.of("pooling", pooling, POOLINGS)
        if precision == "auto":
            precision = os.environ.get(PRECISION) or "auto"
        if precision not in PRECISIONS:
            raise UnknownNameError.of("precision", precision, PRECISIONS)
        if max_tokens < 3:
            raise InputError("max_tokens must be at least 3", got=str(max_tokens))
        self.checkpoint = find_checkpoint(checkpoint)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer, self.network = _loaded(self.checkpoint, trust, eager, masked)
        self.network.to(self.device)
        self.width = int(self.network.config.hidden_size)
        self.pooling = pooling or ("last" if reads_forwards(self.network.config) else "class")
        if self.pooling == "class" and not eager and not masked:
            read_class_token_only(self.network)
        self.max_tokens = min(max_tokens, _longest(self.network.config))
        self.padding = _padding(self.tokenizer)
        self.use_bf16 = precision == "bf16" or (precision == "auto" and bf16_helps(self.device))

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The texts as token ids, cut at `max_tokens`."""
        lists: list[npt.NDArray[np.int32]] = []
        for begin in range(0, len(texts), ROWS_AT_ONCE):
            block = bounded(texts[begin : begin + ROWS_AT_ONCE])
            ids = self.tokenizer(block, truncation=True, max_length=self.max_tokens)["input_ids"]
            lists += [np.asarray(of_text or [self.padding], np.int32) for of_text in ids]
        starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return Tokens(np.concatenate(lists) if lists else np.empty(0, np.int32), starts)

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Where each token of `tokens` is in its text; special tokens are nowhere, (0, 0)."""
        if not self.tokenizer.is_fast:
            raise InputError(f"the tokenizer of {self.checkpoint.name} does not say where its tokens are")
        options = {"truncation": True, "max_length": self.max_tokens, "return_offsets_mapping": True}
        spans: list[list[tuple[int, int]]] = []
        for begin in range(0, len(texts), ROWS_AT_ONCE):
            block = bounded(texts[begin : begin + ROWS_AT_ONCE])
            spans += [of_text or [(0, 0)] for of_text in self.tokenizer(block, **options)["offset_mapping"]]
        return spans

    def pooled(self, tokens: Tokens, rows: npt.NDArray[np.intp]) -> Any:
        """One vector per row as a tensor, with its gradient."""
        return self._pooled(tokens, rows)[0]

    def attended(self, tokens: Tokens, rows: npt.NDArray[np.intp]) -> tuple[Any, Any]:
        """One vector per row, and what the first token attends to in the last layer [rows, heads, tokens]."""
        pooled, attentions = self._pooled(tokens, rows, output_attentions=True)
        if not attentions:
            raise InputError(f"{self.checkpoint.name} does not show its attention")
        return pooled, attentions[-1][:, :, 0]

    def _pooled(self, tokens: Tokens, rows: npt.NDArray[np.intp], **options: bool) -> tuple[Any, Any]:
        import torch

        ids, real = tokens.padded(rows, self.padding)
        mask = torch.from_numpy(real).to(self.device)
        output = self.network(input_ids=torch.from_numpy(ids).to(self.device), attention_mask=mask.long(), **options)
        return self.pool(output.last_hidden_state, mask), getattr(output, "attentions", None)

    def pool(self, hidden: Any, mask: Any) -> Any:
        """One vector per text of the last hidden layer, given which of its tokens are real."""
        import torch

        if self.pooling == "class":
            return hidden[:, 0]
        if self.pooling == "last":
            return hidden[torch.arange(len(mask), device=self.device), mask.sum(1) - 1]
        return (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)

    @contextlib.contextmanager
    def vocabulary_of(self, *texts: Tokens) -> Iterator[list[Tokens]]:
        """The block with the embeddings of those tokens alone that the texts have; the texts in their numbering.

        A step of training reads and writes every embedding, most of which no text needs. Those that are trained come
        out as they would of the whole matrix; the others are as before, where weight decay would have shrunk them.
        """
        import torch

        try:
            weight = self.network.get_input_embeddings().weight
        except (AttributeError, RuntimeError):  # transformers does not know where this network has its embeddings
            yield [*texts]
            return
        whole = weight.data
        # padding and what stands before it keep their numbers, which some networks know
        used = np.unique(np.concatenate([np.arange(self.padding + 1), *(tokens.ids for tokens in texts)]))
        rows = torch.from_numpy(used).to(self.device)
        weight.data = whole[rows]
        try:
            yield [Tokens(np.searchsorted(used, tokens.ids).astype(np.int32), tokens.starts) for tokens in texts]
        finally:
            whole[rows] = weight.data
            weight.data, weight.grad = whole, None

    def freeze(self, layers: int) -> None:
        """Leave so many of the lowest layers, and the embeddings, as they are in training; 0 leaves nothing."""
        from torch import nn

        if not layers:
            return
        stacks = [part for part in self.network.modules() if isinstance(part, nn.ModuleList)]
        stack: Any = max(stacks, key=len, default=[])
        if not 0 < layers < len(stack):
            fix = f"from 0 to {len(stack) - 1}" if stack else "frozen=0"
            raise InputError(f"so many layers of {self.checkpoint.name} cannot be frozen", got=str(layers), fix=fix)
        lowest_trained = next(stack[layers].parameters())
        for weight in self.network.parameters():
            if weight is lowest_trained:
                break
            weight.requires_grad_(False)

    @contextlib.contextmanager
    def arithmetic(self) -> Iterator[None]:
        """The block in bf16 where that is faster on this machine, else in fp32."""
        import torch

        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.use_bf16):
            yield


def read_class_token_only(network: Any) -> None:
    """Let the last layer of a BERT-like network compute the class token alone, which is all that is read of it.

    The same vector for less work. Nothing changes where a trial shows another vector
    or the layer is built otherwise; a network that is set to show its attention computes everything again.
    """
    import torch

    layer = next(reversed(getattr(getattr(network, "encoder", None), "layer", None) or [None]))
    if layer is None:
        return
    training = layer.training
    draw = torch.Generator().manual_seed(0)
    hidden = torch.randn(2, 4, int(network.config.hidden_size), generator=draw).to(network.device)
    with torch.no_grad():
        try:
            whole = layer.eval()(hidden)
            layer.returns_tuple = isinstance(whole, tuple)
            layer.forward = MethodType(_class_token, layer)
            first = layer(hidden)
            whole, first = (whole[0], first[0]) if layer.returns_tuple else (whole, first)
            same = torch.allclose(whole[:, :1], first, atol=1e-4)
        except (AttributeError, TypeError, RuntimeError):
            same = False
    layer.train(training)
    if not same:
        layer.__dict__.pop("forward", None)


def _class_token(layer: Any, hidden: Any, mask: Any = None, *others: Any, **options: Any) -> Any:
    """What a layer of BERT makes of the first token [texts, 1, width]; of all tokens where attention is looked at."""
    from torch.nn.functional import scaled_dot_product_attention

    attention = layer.attention.self
    if attention.config._attn_implementation != "sdpa":
        return type(layer).forward(layer, hidden, mask, *others, **options)
    first, size = hidden[:, :1], attention.attention_head_size
    query, key, value = (
        of(vectors).unflatten(-1, (-1, size)).transpose(1, 2)
        for of, vectors in ((attention.query, first), (attention.key, hidden), (attention.value, hidden))
    )
    seen = scaled_dot_product_attention(
        query, key, value,
        attn_mask=None if mask is None else mask[:, :, :1],
        dropout_p=attention.dropout.p if layer.training else 0.0,
    )  # fmt: skip
    read = layer.feed_forward_chunk(layer.attention.output(seen.transpose(1, 2).flatten(2), first))
    return (read,) if layer.returns_tuple else read


def bf16_helps(device: Any) -> bool:
    """Whether the device multiplies bf16 in hardware; where it does not, bf16 is many times slower than fp32."""
    import torch

    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    has = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in has)


def reads_forwards(config: Any) -> bool:
    """Whether the model is a decoder: its first token has seen nothing, its last token everything."""
    architectures = map(str, getattr(config, "architectures", None) or [])
    return any(name.endswith("CausalLM") for name in architectures) or config.model_type in DECODERS


def _longest(config: Any) -> int:
    """Tokens the model has positions for; RoBERTa's first two positions are taken."""
    positions = int(getattr(config, "max_position_embeddings", 0) or 10**6)
    return positions - 2 if config.model_type in ("roberta", "xlm-roberta", "camembert") else positions


def _padding(tokenizer: Any) -> int:
    tokens = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
    return int(next(token for token in tokens if token is not None))


def _loaded(checkpoint: Checkpoint, trust: bool, eager: bool, masked: bool) -> tuple[Any, Any]:
    """The tokenizer and the network, without chatter."""
    import torch

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    os.environ.setdefault(*KERNELS_KEPT)
    with quiet_transformers():
        options = {"trust": trust, **checkpoint.options}
        try:
            tokenizer = open_pretrained("AutoTokenizer", checkpoint.place, **options)
            options |= {"attn_implementation": "eager"} if eager else {}
            options |= {"dtype": torch.float32}
            if masked:
                network = open_masked_lm(checkpoint.place, **options)
            else:
                network = open_pretrained("AutoModel", checkpoint.place, **options)
        except (UnseenError, Warning, MemoryError):
            raise
        except Exception as cause:
            raise not_found(checkpoint, cause) from cause
    if checkpoint.gguf:  # the weights are plain numbers now, and may be written as such
        network.hf_quantizer = None
        network.config.__dict__.pop("quantization_config", None)
    if getattr(network, "pooler", None) is not None:
        network.pooler = None  # a head of its own that nothing here reads
    return tokenizer, network


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """The block without the log lines and bars of `transformers`; what it raises tells enough."""
    from transformers.utils import logging as theirs

    before, bars = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.ERROR)
    theirs.disable_progress_bar()
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the bar of a GGUF file heeds nobody
            yield
    finally:
        theirs.set_verbosity(before)
        if bars:
            theirs.enable_progress_bar()
