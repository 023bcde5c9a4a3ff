"""Continued masked-LM training: an encoder that has such a head reads unlabelled texts.

15 % of the tokens are picked to be told (Devlin et al. 2019, section 3.1): of these 80 % are masked, 10 % are another
token, 10 % stay. Masks are drawn anew for every batch, from the seed and the number of the step. Training can be killed
at any step, as fine-tuning can.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from unseen.errors import InputError
from unseen.progress import track
from unseen.registry import BelowOne, Positive, check_numbers
from unseen.release import __version__
from unseen.representations.backbone import POOL, Backbone, Tokens, quiet_transformers
from unseen.representations.checkpoints import open_pretrained
from unseen.seeding import child_seed, generator
from unseen.store.files import content_of
from unseen.training.transformer import SavedTraining, State, decaying, own_randomness, rate_factor
from unseen.types.arrays import Rows

PICKED, MASKED, SWAPPED = 0.15, 0.8, 0.1
"""Share of the tokens that are picked to be told; of these, the shares that are masked and that are another token."""
IGNORED = -100
"""The target of a token that is not picked; torch leaves it out of the loss."""
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PretrainingSettings:
    """How masked-LM training goes on."""

    epochs: Positive = 3.0
    """How often each text is read."""
    batch_tokens: int = 4_096
    learning_rate: Positive = 5e-5
    weight_decay: float = 0.01
    warmup: BelowOne = 0.06
    """Share of all steps over which the rate rises; afterwards it falls linearly to zero."""
    clip: Positive = 1.0
    max_tokens: int = 128
    precision: str = "auto"

    def __post_init__(self) -> None:
        check_numbers("masked-LM training", type(self), vars(self), self._small_batches)

    def _small_batches(self) -> Iterator[str]:
        if self.batch_tokens < 2 * self.max_tokens:
            yield f"batch_tokens must be at least twice max_tokens, {2 * self.max_tokens}, not {self.batch_tokens}"

    def steps(self, tokens: int) -> int:
        """Batches that read texts of so many tokens as often as is asked for."""
        return max(1, round(self.epochs * tokens / self.batch_tokens))


class MaskedLoss(NamedTuple):
    """Mean loss of the picked tokens, and how many these were."""

    value: float
    tokens: int


class MaskedLM:
    """An encoder with its masked-LM head; one that has no such head is refused."""

    def __init__(self, encoder: str, settings: PretrainingSettings | None = None, *, trust: bool = False) -> None:
        self.encoder, self.settings, self.trust = encoder, settings or PretrainingSettings(), trust
        self.backbone = Backbone(
            encoder, max_tokens=self.settings.max_tokens, precision=self.settings.precision, masked=True, trust=trust
        )
        if self.backbone.tokenizer.mask_token_id is None:
            raise InputError(f"the tokenizer of {encoder!r} has no mask, so nothing can be hidden from the model")

    @property
    def uniform_loss(self) -> float:
        """The loss of a head that gives every token the same probability."""
        return math.log(len(self.backbone.tokenizer))

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The texts as token ids, cut at `max_tokens`."""
        return self.backbone.tokens(texts)

    def train(self, tokens: Tokens, steps: int, seed: int, scratch: str | Path | None = None) -> int:
        """Go on for so many steps; how many tokens were read. With `scratch` an interrupted training goes on."""
        settings, network = self.settings, self.backbone.network
        batches = token_batches(tokens.lengths, steps, settings.batch_tokens, child_seed(seed, "batches"))
        saved = None if scratch is None else SavedTraining(Path(scratch), self._fingerprint(tokens, steps, seed))
        rates = decaying(network, settings.weight_decay)
        optimiser = torch.optim.AdamW(rates, settings.learning_rate, fused=True)
        with own_randomness(child_seed(seed, "pretraining")):
            done = (saved.read(network, optimiser) if saved else None) or State()
            network.train()
            to_do = range(done.step, steps)
            for step in track(to_do, f"pretraining {self.backbone.checkpoint.name}", len(to_do)):
                loss = self._batch_loss(tokens, batches[step], child_seed(seed, "masks", step), "mean")[0]
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
                for group in optimiser.param_groups:
                    group["lr"] = settings.learning_rate * rate_factor(step, steps, settings.warmup)
                optimiser.step()
                optimiser.zero_grad(set_to_none=True)
                if saved and saved.due:
                    saved.write(network, optimiser, State(step=step + 1))
        return int(sum(tokens.lengths[rows].sum() for rows in batches))

    def loss(self, tokens: Tokens, seed: int) -> MaskedLoss:
        """On texts it was not trained on; the same texts and seed have the same masks, whatever the weights."""
        self.backbone.network.eval()
        total, picked = 0.0, 0
        with torch.inference_mode():
            for place, rows in enumerate(tokens.batches()):
                loss, count = self._batch_loss(tokens, rows, child_seed(seed, "held out", place), "sum")
                total, picked = total + float(loss), picked + count
        return MaskedLoss(total / picked, picked)

    def _batch_loss(self, tokens: Tokens, rows: Rows, seed: int, reduction: str) -> tuple[torch.Tensor, int]:
        """The loss of one batch, and the number of picked tokens."""
        backbone = self.backbone
        ids, real = tokens.padded(rows, backbone.padding)
        maskable = real & ~np.isin(ids, backbone.tokenizer.all_special_ids)
        inputs, targets = masks(ids, maskable, len(backbone.tokenizer), backbone.tokenizer.mask_token_id, seed)
        on = [torch.from_numpy(array).to(backbone.device) for array in (inputs, real.astype(np.int64), targets)]
        with backbone.arithmetic():
            logits = backbone.network(input_ids=on[0], attention_mask=on[1]).logits
        picked = on[2] != IGNORED
        loss = nn.functional.cross_entropy(logits[picked].float(), on[2][picked], reduction=reduction)
        return loss, int(picked.sum())

    def _fingerprint(self, tokens: Tokens, steps: int, seed: int) -> str:
        """Names one training: from which weights, on which tokens, for how long."""
        read = [hashlib.sha256(array.tobytes()).hexdigest() for array in (tokens.ids, tokens.starts)]
        parts = [self.encoder, content_of(self.encoder), asdict(self.settings), read, steps, seed]
        return hashlib.sha256(json.dumps([*parts, torch.__version__, __version__]).encode()).hexdigest()

    def save(self, folder: str | Path) -> str:
        """Write weights, head and tokenizer as `transformers` does; returns a hash of the tokenizer's files.

        The tokenizer is opened anew, because one that has been used remembers where it cut.
        """
        checkpoint = self.backbone.checkpoint
        with quiet_transformers():
            self.backbone.network.save_pretrained(folder)
            tokenizer = open_pretrained("AutoTokenizer", checkpoint.place, trust=self.trust, **checkpoint.options)
            files = sorted(Path(name) for name in tokenizer.save_pretrained(folder) if Path(name).is_file())
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.name}:{file.stat().st_size}:".encode() + file.read_bytes())
        return digest.hexdigest()


def masks(ids: Ids, maskable: npt.NDArray[np.bool_], vocabulary: int, mask: int, seed: int) -> tuple[Ids, Ids]:
    """What the model reads and what it is to tell, of `ids` [texts, tokens]; only `maskable` tokens are picked.

    At least one is, so that every batch has a loss.
    """
    draw = generator(seed, "masks")
    picked = maskable & (draw.random(ids.shape) < PICKED)
    if not picked.any():
        places = np.flatnonzero(maskable)
        if not len(places):
            raise InputError("texts have no token that the model knows, so there is nothing to learn from them")
        picked.flat[draw.choice(places)] = True
    how, others = draw.random(ids.shape), draw.integers(vocabulary, size=ids.shape)
    read = np.where(how < MASKED, mask, np.where(how < MASKED + SWAPPED, others, ids))
    return np.where(picked, read, ids), np.where(picked, ids, IGNORED)


def token_batches(lengths: npt.NDArray[np.int64], steps: int, size: int, seed: int) -> list[Rows]:
    """So many batches of about `size` tokens, over as many passes through the texts as that takes.

    The texts of all passes are laid end to end, and a text goes where its first token falls. So whatever the texts,
    as many steps read as many tokens, give or take one text. Texts of like length meet, so little is padding. No batch
    is empty as long as no text is longer than half of `size`.
    """
    passes = math.ceil(steps * size / int(lengths.sum()))
    order = np.concatenate([generator(seed, "pass", number).permutation(len(lengths)) for number in range(passes)])
    starts, batches = _starts(lengths[order]), list[Rows]()
    for first in range(0, steps, POOL):
        count = min(POOL, steps - first)
        begin, end = np.searchsorted(starts, [first * size, (first + count) * size])
        pool = order[begin:end]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        places = np.minimum(_starts(lengths[pool]) // size, count - 1)
        parts = np.split(pool, np.searchsorted(places, np.arange(1, count)))
        batches += [parts[place] for place in generator(seed, "order", first).permutation(count)]
    return batches


def _starts(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each begins when they are laid end to end."""
    return np.cumsum(lengths) - lengths
