"""A transformer that stops as soon as it knows: an answer after every layer, and a rule when to go no deeper.

Training has two phases. The first is ordinary fine-tuning of the whole network and its head. The second adds a linear
classifier after every layer but the last and trains by the rule (`halting.py`): `dact` trains everything with the loss
of the averaged answer and a price for every halting value; `entropy` freezes the network and trains the classifiers
alone; `patience` trains everything with the mean loss of all layers, later ones weighing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from unseen.errors import InputError, UnknownNameError
from unseen.progress import track
from unseen.registry import Count, NotNegative, Positive, Share
from unseen.representations.backbone import Backbone, Tokens
from unseen.representations.checkpoints import find_checkpoint, stated_pooling
from unseen.representations.layers import LayerWalk, layers_of
from unseen.seeding import child_seed, generator
from unseen.training.halting import AVERAGE, BOUNDS, EXITS, HALTING, LAYERS, NEVER, HaltingRule, promised_threshold
from unseen.training.labelled_texts import LabelledTexts, training_texts, warn_if_worse_than_a_constant
from unseen.training.transformer import (
    SavedTraining,
    Transformer,
    copy_weights,
    fingerprint,
    own_randomness,
    train_epochs,
    with_settings,
)
from unseen.training.transformer_classifier import TransformerClassifier, TransformerSettings
from unseen.types import Dataset, ExitTrace, string_array

TINY = 1e-12
DISAGREEMENT = 0.05
"""Share of answers that stopping early may change, where neither it nor a threshold is given."""


@dataclass(frozen=True)
class AdaptiveSettings(TransformerSettings):
    """How a transformer that stops early is trained, and when it stops."""

    halting: str = "dact"
    halting_epochs: Count = 2
    """Of the second phase."""
    halting_rate: Positive = 1e-3
    """Learning rate of what is new in the second phase, the classifiers and halting values of layers: they begin with
    nothing, while the network is trained already."""
    tau: NotNegative = 0.05
    """The price of a halting value of one, in units of the loss: the higher, the fewer layers (dact)."""
    layer_loss: NotNegative = 0.0
    """Weight of the mean loss of all layers beside that of the averaged answer (dact). 0 is as published; above it
    shallow layers learn to answer even while halting values leave them no weight, which few texts need."""
    bound: str = "published"
    """What later layers could still do to the answer (dact): as published, or the tighter one."""
    threshold: NotNegative | None = None
    """Where a text stops: at this entropy (entropy), after so many confirmations (patience), at this lack of a certain
    lead (dact, 0 by default: no answer changes)."""
    disagreement: Share | None = None
    """Instead: the share of texts whose answer may be another than at full depth; the threshold is chosen on dev."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.halting not in HALTING:
            raise UnknownNameError.of("halting", self.halting, HALTING)
        if self.bound not in BOUNDS:
            raise UnknownNameError.of("bound", self.bound, BOUNDS)
        if self.threshold is not None and self.disagreement is not None:
            raise InputError("threshold and disagreement both say when to stop", fix="leave one of them out")

    @property
    def promised(self) -> float | None:
        """The rate of disagreement by which the threshold is chosen; None where it is given, or nothing can change."""
        if self.threshold is not None or (self.disagreement is None and HALTING[self.halting].trains == AVERAGE):
            return None
        return self.disagreement or DISAGREEMENT


class AdaptiveClassifier(TransformerClassifier):
    """A transformer with an answer after every layer, which runs no deeper than it needs to for each text."""

    kind: ClassVar = "adaptive.v1"
    settings_type: ClassVar = AdaptiveSettings
    settings: AdaptiveSettings

    def __init__(self, backbone: Backbone, label_names: Sequence[str], settings: AdaptiveSettings) -> None:
        super().__init__(backbone, label_names, settings)
        self.layers = layers_of(backbone)
        exits = [nn.Linear(backbone.width, len(self.classes_)) for _ in range(self.layers - 1)]
        halts = [nn.Linear(backbone.width, 1) for _ in range(self.layers)]
        self.exits = nn.ModuleDict({"answer": nn.ModuleList(exits), "halt": nn.ModuleList(halts)}).to(backbone.device)
        self.halts = False
        """Whether the second phase of training has begun."""
        # beside the weights, so that it is written and read with them
        self.exits.register_buffer("threshold", torch.tensor(self.rule.sign * (settings.threshold or 0.0)))

    @classmethod
    def untrained(
        cls,
        settings: AdaptiveSettings,
        label_names: Sequence[str],
        checkpoint: str | None = None,
        *,
        trust: bool = False,
    ) -> Self:
        """As of a transformer, but pooled as the makers of the encoder say, unless the settings do.

        Lower layers have to answer, and of an encoder that was trained for the mean of its tokens those know nothing
        in their class token.
        """
        if settings.pooling is None:
            settings = replace(settings, pooling=stated_pooling(find_checkpoint(checkpoint or settings.encoder)))
        return super().untrained(settings, label_names, checkpoint, trust=trust)

    @property
    def rule(self) -> type[HaltingRule]:
        """When a text stops."""
        return HALTING[self.settings.halting]

    @property
    def threshold(self) -> float:
        """The score from which on a text stops."""
        return float(self.exits.threshold)

    @property
    def name(self) -> str:
        """The checkpoint it began as, its bottleneck, and how it stops."""
        return f"{super().name}-{self.settings.halting}"

    @property
    def modules(self) -> nn.ModuleDict:
        """Everything that is trained."""
        return nn.ModuleDict({"backbone": self.backbone.network, "head": self.head, "exits": self.exits})

    @property
    def heads(self) -> nn.Module:
        """What is trained besides the network."""
        return nn.ModuleDict({"head": self.head, "exits": self.exits})

    # -- training ------------------------------------------------------------------------------------------------------

    def loss(self, tokens: Tokens, rows: npt.NDArray[np.intp], gold: torch.Tensor, weights: torch.Tensor) -> Any:
        """In the first phase the loss of the last layer, in the second that of the halting rule."""
        if not self.halts:
            return super().loss(tokens, rows, gold, weights)
        return self._halting_loss(*self._all_layers(tokens, rows), gold, weights)

    def dev_loss(self, tokens: Tokens, gold: torch.Tensor, weights: torch.Tensor) -> float:
        """The same loss on dev texts; with `stop_on` accuracy, the accuracy at full depth."""
        if not self.halts:
            return super().dev_loss(tokens, gold, weights)
        self.modules.eval()
        batches, logits, halting = tokens.batches(), [], []
        with torch.inference_mode():
            for rows in batches:
                of_rows = self._all_layers(tokens, rows)
                logits.append(of_rows[0].cpu())
                halting.append(of_rows[1].cpu())
            order = torch.from_numpy(np.concatenate(batches))
            answers = torch.cat(logits), torch.cat(halting)
            if self.settings.stop_on == "accuracy":
                answer = averaged(*answers) if self.rule.trains == AVERAGE else answers[0][:, -1]
                return -float((answer.argmax(1) == gold[order]).float().mean())
            return float(self._halting_loss(*answers, gold[order], weights))

    def _all_layers(self, tokens: Tokens, rows: npt.NDArray[np.intp]) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [texts, layers, labels] and halting values [texts, layers] with their gradients.

        Where the exits alone are trained none reaches the network, which answers as it will be asked, without dropout.
        """
        frozen = self.rule.trains == EXITS
        if frozen:
            self.backbone.network.eval()
        with self.backbone.arithmetic():
            with torch.set_grad_enabled(torch.is_grad_enabled() and not frozen):
                vectors = list(LayerWalk(self.backbone, tokens, rows))
            answers = [self._answer(layer, of_layer) for layer, of_layer in enumerate(vectors)]
        return torch.stack([answer for answer, _ in answers], 1), torch.stack([halt for _, halt in answers], 1)

    def _answer(self, layer: int, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [texts, labels] and halting values [texts] of one layer, counted from 0."""
        head = self.head if layer + 1 == self.layers else self.exits["answer"][layer]
        return head(vectors).float(), torch.sigmoid(self.exits["halt"][layer](vectors).float()).squeeze(1)

    def _halting_loss(self, logits: torch.Tensor, halting: torch.Tensor, gold: torch.Tensor, weights: Any) -> Any:
        settings = self.settings
        losses = [nn.functional.cross_entropy(one, gold, weight=weights) for one in logits.unbind(1)]
        if self.rule.trains == EXITS:
            return torch.stack(losses[:-1]).sum()  # the last layer's head belongs to the frozen network
        shares = torch.arange(1, self.layers + 1, device=logits.device)
        of_layers = (shares * torch.stack(losses)).sum() / shares.sum()
        if self.rule.trains == LAYERS:
            return of_layers
        answer = torch.log(averaged(logits, halting).clamp_min(TINY))
        loss = nn.functional.nll_loss(answer, gold, weight=weights) + settings.tau * halting.sum(1).mean()
        return loss + settings.layer_loss * of_layers if settings.layer_loss else loss

    # -- asking --------------------------------------------------------------------------------------------------------

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, labels], each text stopped where the rule allows it."""
        return self.predict_with_depth(texts)[0]

    def predict_with_depth(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int16]]:
        """Probabilities [texts, labels], and the number of layers that ran for each text."""
        probabilities, scores = self._walked(texts, self.threshold)
        depths = (~np.isnan(scores)).sum(axis=1)
        return probabilities[np.arange(len(depths)), depths - 1], depths.astype(np.int16)

    def trace(self, texts: Sequence[str], ids: Sequence[str] | None = None) -> ExitTrace:
        """What every layer answers about the texts, and how ready it is to stop: all layers run."""
        probabilities, scores = self._walked(texts, NEVER)
        named = string_array(list(ids) if ids is not None else [str(place) for place in range(len(texts))])
        answers = probabilities.argmax(axis=2).astype(np.int16)
        return ExitTrace(named, answers, scores, self.threshold, self.classes_)

    def _walked(self, texts: Sequence[str], threshold: float) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32]]:
        """Answers [texts, layers, labels] and scores [texts, layers], NaN after the layer at which a text stopped."""
        self.modules.eval()
        tokens = self.backbone.tokens(texts)
        probabilities = np.full((len(tokens), self.layers, len(self.classes_)), np.nan)
        scores = np.full((len(tokens), self.layers), np.nan, np.float32)
        batches = tokens.batches()
        with torch.inference_mode(), self.backbone.arithmetic():
            for rows in track(batches, f"predicting with {self.name}", len(batches)):
                self._walk(LayerWalk(self.backbone, tokens, rows), rows, threshold, probabilities, scores)
        return probabilities, scores

    def _walk(
        self,
        walk: LayerWalk,
        rows: npt.NDArray[np.intp],
        threshold: float,
        probabilities: npt.NDArray[Any],
        scores: npt.NDArray[np.float32],
    ) -> None:
        """One batch through the layers; texts whose score reaches the threshold leave it."""
        rule = self.rule(self.layers, self.settings.bound)
        for layer, vectors in enumerate(walk):
            logits, halting = self._answer(layer, vectors)
            answers = torch.softmax(logits.double(), 1).cpu().numpy()
            probabilities[rows, layer], scores[rows, layer] = rule.after(answers, halting.double().cpu().numpy())
            going = scores[rows, layer] < threshold
            if not going.any():
                return
            if not going.all():
                rows = rows[going]
                walk.keep(going)
                rule.keep(going)


def averaged(logits: torch.Tensor, halting: torch.Tensor) -> torch.Tensor:
    """The answer of DACT after the last layer [texts, labels]: every layer moves it by the product of halting values.

    These are probabilities, and so is their average: its weights sum to one.
    """
    answers = torch.softmax(logits, 2)
    answer, weight = answers[:, 0], halting[:, :1]
    for layer in range(1, answers.shape[1]):
        answer = weight * answers[:, layer] + (1 - weight) * answer
        weight = weight * halting[:, layer : layer + 1]
    return answer


@with_settings
class Adaptive(Transformer):
    """Fine-tune a transformer that answers after any layer and stops as soon as `halting` allows it.

    `halting` is dact, entropy (DeeBERT) or patience (PABEE). With dact no answer is another than at full depth, and
    `tau` is the price of depth. The others stop where `disagreement` with the full depth, 5 % by default, is promised
    for texts like the dev texts: half of these choose the epoch, half the threshold. `threshold` says it outright.
    `encoder` is like BERT or RoBERTa: minilm, a folder or a hub name. `pooling`, class or mean, is what the makers of
    the encoder say, else class. Other parameters are those of `transformer`.
    """

    settings_type: ClassVar = AdaptiveSettings
    settings: AdaptiveSettings
    not_taken: ClassVar = (
        *Transformer.not_taken, "supervise", "supervision_weight", "supervision_scale", "supervised_heads", "frozen",
    )  # fmt: skip

    def fit(
        self,
        train: Dataset,
        dev: Dataset,
        seed: int,
        *,
        scratch: str | Path | None = None,
        start: TransformerClassifier | None = None,
    ) -> AdaptiveClassifier:
        """The classifier with the best validation result of both phases; an interrupted training goes on.

        `start`, a transformer that is fine-tuned already, stands for the first phase.
        """
        texts, looked_at = training_texts(train, dev)
        calibration, rate = LabelledTexts([], np.empty(0, np.int64), train.label_names), self.settings.promised
        if rate is not None:
            looked_at, calibration = _halves(looked_at, seed)
        key = fingerprint(self.settings, train, dev, seed)
        with own_randomness(child_seed(seed, "transformer")):
            settings = self.settings
            if start is not None and settings.pooling is None:
                settings = replace(settings, pooling=start.backbone.pooling)
            classifier = AdaptiveClassifier.untrained(settings, train.label_names, trust=self.trust)
            if start is None:
                train_epochs(classifier, texts, looked_at, seed, _saved(scratch, "network", key))
            else:
                key += copy_weights(start, classifier)
        classifier.halts = True
        for parameter in classifier.exits.parameters():
            parameter.rate_factor = self.settings.halting_rate / self.settings.learning_rate
        if classifier.rule.trains == EXITS:
            classifier.head.requires_grad_(False)  # of a gradient of zero, weight decay would be left
        with own_randomness(child_seed(seed, "halting")):
            epochs = replace(self.settings, epochs=self.settings.halting_epochs)
            classifier.settings = epochs
            train_epochs(classifier, texts, looked_at, child_seed(seed, "halting"), _saved(scratch, "halting", key))
            classifier.settings = self.settings
        if rate is not None:
            threshold = promised_threshold(classifier.trace(calibration.texts), rate)
            classifier.exits.threshold.fill_(threshold)
        warn_if_worse_than_a_constant(classifier.predict_proba, texts, looked_at, self.settings.class_weights)
        return classifier


def _saved(scratch: str | Path | None, phase: str, key: str) -> SavedTraining | None:
    return None if scratch is None else SavedTraining(Path(scratch) / phase, key)


def _halves(dev: LabelledTexts, seed: int) -> tuple[LabelledTexts, LabelledTexts]:
    """Two halves drawn at random, so that the texts of a promise have not chosen the model."""
    order = generator(seed, "calibration").permutation(len(dev))
    first, second = (
        LabelledTexts([dev.texts[row] for row in rows], dev.labels[rows], dev.label_names)
        for rows in (np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :]))
    )
    return first, second
