"""The inside of models that read tokens: their pieces, word vectors, gradients and attention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.progress import track
from unseen.types.arrays import Floats, Rows

VALUES = ("value", "v_proj", "v_lin")
"""What the maps from hidden vectors to values are called in the networks of transformers."""


class Pieces(NamedTuple):
    """The tokens of one text as a model reads them."""

    ids: npt.NDArray[np.int32]
    spans: list[tuple[int, int] | None]
    """Their places in the text; None for special tokens."""


class Attended(NamedTuple):
    """What the token that decides attends to, in the last layer, of some texts."""

    weights: Any
    """[texts, heads, tokens]"""
    values: Any
    """[texts, heads, tokens, size], or None where the network does not show them."""


class Network(ABC):
    """A classifier that reads tokens; `logits` is its gradient's way from word vectors to labels."""

    mask: int | None
    """The token that stands for what is hidden, where there is one."""
    mask_name: str
    padding: int
    attends: bool = True
    """Whether it has attention to look at."""
    nothing: int
    """The token that is read of an empty text."""
    longest: int
    """Tokens of a text, at most; the rest is cut."""

    @abstractmethod
    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The tokens of each text."""

    @abstractmethod
    def vectors(self, ids: Any) -> Any:
        """Word vectors of token numbers."""

    @abstractmethod
    def logits(self, vectors: Any, real: Any) -> Any:
        """Logits of texts given as word vectors, of which some are padding."""

    def logits_of_pieces(self, ids: Any, real: Any) -> Any:
        """Logits of texts given as token numbers."""
        return self.logits(self.vectors(ids), real)

    @abstractmethod
    def attended(self, ids: Any, real: Any) -> Attended:
        """What the deciding token attends to."""

    @contextmanager
    def asking(self) -> Iterator[None]:
        """The block with the network ready to answer, not to learn."""
        yield

    def probabilities(self, pieces: Sequence[npt.NDArray[np.int32]]) -> Floats:
        """What the model says about texts given as token numbers, like lengths together."""
        import torch

        outputs: list[Floats] = []
        order: list[Rows] = []
        with torch.inference_mode(), self.asking():
            for rows, ids, real in self.batches(pieces, "ask about erased texts"):
                outputs.append(self.logits_of_pieces(ids, real).double().softmax(1).cpu().numpy())
                order.append(rows)
        return np.concatenate(outputs)[np.argsort(np.concatenate(order))]

    def batches(
        self, pieces: Sequence[npt.NDArray[np.int32]], work: str | None = None, copies: int = 1
    ) -> Iterator[tuple[Rows, Any, Any]]:
        """Rows, token numbers and which of them are real, in batches of like length; `copies` makes them smaller."""
        import torch

        from unseen.representations.backbone import Tokens

        starts = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        tokens = Tokens(np.concatenate(pieces) if len(pieces) else np.empty(0, np.int32), starts)
        parts = []
        for rows in tokens.batches():
            size = max(1, len(rows) // copies)
            parts += [rows[at : at + size] for at in range(0, len(rows), size)]
        for rows in parts if work is None else track(parts, work, len(parts)):
            ids, real = tokens.padded(rows, self.padding)
            yield rows, torch.from_numpy(ids).to(self.device), torch.from_numpy(real).to(self.device)

    @property
    @abstractmethod
    def device(self) -> Any:
        """Where the network is."""


class TransformerNetwork(Network):
    """A transformer of ours or of Hugging Face's, seen from inside."""

    def __init__(self, tokenizer: Any, network: Any, classify: Callable[..., Any], longest: int, reader: str) -> None:
        self.tokenizer, self.network, self.classify = tokenizer, network, classify
        self.longest, self.reader = longest, reader
        self.mask, self.mask_name = tokenizer.mask_token_id, str(tokenizer.mask_token)
        padding = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
        self.padding = self.nothing = int(next(token for token in padding if token is not None))

    @property
    def device(self) -> Any:
        """Where the network is."""
        return self.network.device

    @contextmanager
    def asking(self) -> Iterator[None]:
        """The block with dropout off."""
        before = self.network.training
        self.network.eval()
        try:
            yield
        finally:
            self.network.train(before)

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The tokens of each text, cut at the longest that the model reads."""
        read = self.tokenizer(
            list(texts), truncation=True, max_length=self.longest, return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )  # fmt: skip
        columns = (read["input_ids"], read["offset_mapping"], read["special_tokens_mask"])
        return [
            Pieces(
                np.asarray(ids or [self.padding], np.int32),
                [
                    None if special or start == end else (start, end)
                    for (start, end), special in zip(offsets, specials, strict=True)
                ]
                or [None],
            )
            for ids, offsets, specials in zip(*columns, strict=True)
        ]

    def vectors(self, ids: Any) -> Any:
        """The word vectors, before positions are added."""
        return self.network.get_input_embeddings()(ids)

    def logits(self, vectors: Any, real: Any) -> Any:
        """Logits [texts, labels]."""
        return self.classify(real, inputs_embeds=vectors).float()

    def logits_of_pieces(self, ids: Any, real: Any) -> Any:
        """Logits [texts, labels]."""
        return self.classify(real, input_ids=ids).float()

    def attended(self, ids: Any, real: Any) -> Attended:
        """The class token's row of the last layer (of a decoder the last token's, of a mean the mean of all)."""
        import torch

        kept: dict[str, Any] = {}
        layer = self._values()
        hook = None if layer is None else layer.register_forward_hook(lambda _m, _i, out: kept.update(values=out))
        before = self.network.config._attn_implementation
        self.network.set_attn_implementation("eager")  # others give no attention
        try:
            with torch.no_grad(), self.asking():
                attentions = self.network(input_ids=ids, attention_mask=real.long(), output_attentions=True).attentions
        finally:
            self.network.set_attn_implementation(before)
            if hook is not None:
                hook.remove()
        if not attentions:
            raise InputError("this model shows no attention", fix="another method")
        weights = attentions[-1]
        if self.reader == "mean":
            rows = (weights * real[:, None, :, None]).sum(2) / real.sum(1)[:, None, None]
        else:
            place = torch.zeros_like(real.sum(1)) if self.reader == "class" else real.sum(1) - 1
            rows = weights[torch.arange(len(ids)), :, place]
        heads = weights.shape[1]
        values = kept.get("values")
        if values is not None and values.shape[-1] % heads == 0:
            values = values.view(*values.shape[:2], heads, -1).transpose(1, 2)
        return Attended(rows, values)

    def _values(self) -> Any:
        named = [layer for name, layer in self.network.named_modules() if name.rpartition(".")[2] in VALUES]
        return named[-1] if named else None


class WordsNetwork(Network):
    """A network over words of ours (`cnn-gru`, `birnn`, `birnn-attention`), seen from inside."""

    def __init__(self, classifier: Any) -> None:
        from unseen.training.word_networks import PADDING, UNKNOWN

        self.words, self.network = classifier.words, classifier.network
        self.longest, self.padding = classifier.words.longest, PADDING
        self.mask = self.nothing = UNKNOWN
        self.attends = hasattr(classifier, "attention")
        self.mask_name = "an unknown word"

    @property
    def device(self) -> Any:
        """Where the network is."""
        return self.network.words.weight.device

    @contextmanager
    def asking(self) -> Iterator[None]:
        """The block on one thread, as it was trained."""
        from unseen.training.neural import one_thread

        self.network.eval()
        with one_thread():
            yield

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The words of each text that are read."""
        tokens = self.words.tokens(texts)
        return [
            Pieces(tokens.ids[start:end], list(self.words.spans(text)) or [None])
            for text, start, end in zip(texts, tokens.starts, tokens.starts[1:], strict=False)
        ]

    def vectors(self, ids: Any) -> Any:
        """Word vectors."""
        return self.network.words(ids)

    def logits(self, vectors: Any, real: Any) -> Any:
        """Logits [texts, labels]."""
        return self.network.logits_of_vectors(vectors, real.sum(1))

    def attended(self, ids: Any, real: Any) -> Attended:
        """What each word gets, in the one place where this network attends."""
        import torch

        with torch.no_grad(), self.asking():
            weights = self.network.read(self.vectors(ids), real.sum(1))[1]
        return Attended(weights[:, None], None)


def network_of(model: Any) -> Network | None:
    """The inside of a model of ours or of Hugging Face's; None for what can only be asked."""
    kind = type(model).__name__
    if kind in ("WordClassifier", "AttentiveClassifier"):
        return WordsNetwork(model)
    if kind == "TransformerClassifier" and getattr(model.backbone.tokenizer, "is_fast", False):
        backbone = model.backbone

        def ours(real: Any, **given: Any) -> Any:
            with backbone.arithmetic():
                hidden = backbone.network(attention_mask=real.long(), **given).last_hidden_state
                model.head.train(backbone.network.training)
                return model.head(backbone.pool(hidden, real))

        return TransformerNetwork(backbone.tokenizer, backbone.network, ours, backbone.max_tokens, backbone.pooling)
    if kind == "HuggingFaceClassifier" and getattr(model.tokenizer, "is_fast", False):
        from unseen.representations.backbone import reads_forwards

        if reads_forwards(model.model.config):
            return None  # it looks for its last token by number, and word vectors have none

        def theirs(real: Any, **given: Any) -> Any:
            import torch

            scores = model.model(attention_mask=real.long(), **given).logits
            return torch.nn.functional.pad(scores, (1, 0)) if scores.shape[1] == 1 else scores

        return TransformerNetwork(model.tokenizer, model.model, theirs, model.max_length, "class")
    return None
