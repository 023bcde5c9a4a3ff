"""A transformer with a head for the labels: what is trained, asked, written and read again."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from scipy.special import softmax
from torch import nn

from unseen.errors import InputError, UnknownNameError
from unseen.progress import track
from unseen.registry import BelowOne, Count, NotNegative, Positive, check_numbers
from unseen.representations.backbone import Backbone, Tokens, quiet_transformers
from unseen.store import read_json, write_json
from unseen.store.files import door
from unseen.training.labelled_texts import ClassWeights, check_class_weights

STOP_ON = ("loss", "accuracy")
FOLDED = {
    "bert": ("bert.pooler.dense", "classifier"),
    "roberta": ("classifier.dense", "classifier.out_proj"),
    "xlm-roberta": ("classifier.dense", "classifier.out_proj"),
    "camembert": ("classifier.dense", "classifier.out_proj"),
}
"""Architectures whose own head in `transformers` is dense, tanh, linear: ours folds into it exactly."""


@dataclass(frozen=True)
class TransformerSettings:
    """How a transformer is fine-tuned."""

    encoder: str = "minilm"
    bottleneck: Count | None = None
    pooling: str | None = None
    epochs: Count = 3
    batch: Count = 32
    learning_rate: Positive = 1e-4
    weight_decay: float = 0.01
    epsilon: float = 1e-8
    warmup: BelowOne = 0.06
    """Share of all steps over which the rate rises; afterwards it falls linearly to zero."""
    clip: Positive = 1.0
    dropout: BelowOne = 0.1
    patience: Count = 2
    """Epochs without a better validation result after which training stops."""
    stop_on: str = "loss"
    class_weights: ClassWeights = False
    max_tokens: int = 128
    precision: str = "auto"
    supervise: str | None = None
    """Attribute with the rationales that attention is taught by."""
    supervision_weight: NotNegative = 1.0
    """Of the attention's cross-entropy, beside the loss of the labels; 0 is no supervision at all."""
    supervision_scale: Positive = 5.0
    """What the mean mask of the annotators is multiplied by before its softmax is taken."""
    supervised_heads: int | None = None
    """Heads of the last layer that are taught, the first ones; half of them when it is not said."""
    frozen: int = 0
    """Lowest layers that stay as they were pretrained, the embeddings with them: faster, and less is learnt."""

    @property
    def supervised(self) -> bool:
        """Whether attention is taught."""
        return self.supervise is not None and self.supervision_weight > 0

    def __post_init__(self) -> None:
        check_numbers("a transformer", type(self), vars(self))
        check_class_weights(self.class_weights)
        if self.stop_on not in STOP_ON:
            raise UnknownNameError.of("stop_on", self.stop_on, STOP_ON)


class Head(nn.Module):  # type: ignore[misc]
    """From a text's pooled vector to the logits of its labels."""

    def __init__(self, width: int, bottleneck: int | None, labels: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.narrow = None if bottleneck is None else nn.Linear(width, bottleneck)
        self.dense = nn.Linear(bottleneck or width, width)
        self.classifier = nn.Linear(width, labels)

    def vectors(self, pooled: torch.Tensor) -> torch.Tensor:
        """The bottleneck's output, or what came in when there is none."""
        return pooled if self.narrow is None else self.narrow(pooled)

    def forward(self, pooled: torch.Tensor) -> torch.Tensor:
        """Logits."""
        return self.classifier(self.dropout(torch.tanh(self.dense(self.vectors(self.dropout(pooled))))))

    def folded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Weight and bias of the one dense layer that does what bottleneck and dense layer do together."""
        if self.narrow is None:
            return self.dense.weight, self.dense.bias
        return self.dense.weight @ self.narrow.weight, self.dense.weight @ self.narrow.bias + self.dense.bias


class TransformerClassifier:
    """A transformer with a head for the labels."""

    rowwise = True
    kind: ClassVar = "transformer.v1"
    """Its name in the registry of classifiers."""
    settings_type: ClassVar[type[TransformerSettings]] = TransformerSettings

    def __init__(self, backbone: Backbone, label_names: Sequence[str], settings: TransformerSettings) -> None:
        self.backbone = backbone
        self.classes_ = tuple(label_names)
        self.settings = settings
        self.head = Head(backbone.width, settings.bottleneck, len(self.classes_), settings.dropout).to(backbone.device)

    @property
    def name(self) -> str:
        """The checkpoint it began as, and its bottleneck."""
        narrow = self.settings.bottleneck
        return self.backbone.checkpoint.name + (f"-bottleneck-{narrow}" if narrow else "")

    @property
    def modules(self) -> nn.ModuleDict:
        """Everything that is trained."""
        return nn.ModuleDict({"backbone": self.backbone.network, "head": self.head})

    @property
    def heads(self) -> nn.Module:
        """What is trained besides the network."""
        return self.head

    def loss(self, tokens: Tokens, rows: npt.NDArray[np.intp], gold: torch.Tensor, weights: torch.Tensor) -> Any:
        """What training makes small: the mean cross-entropy of these rows, a weight for every label."""
        with self.backbone.arithmetic():
            logits = self.head(self.backbone.pooled(tokens, rows))
        return nn.functional.cross_entropy(logits.float(), gold, weight=weights)

    def dev_loss(self, tokens: Tokens, gold: torch.Tensor, weights: torch.Tensor) -> float:
        """What the best epoch is chosen by, the lower the better."""
        logits = torch.from_numpy(self.run(tokens, self.head, len(self.classes_), None))
        if self.settings.stop_on == "accuracy":
            return -float((logits.argmax(1) == gold).float().mean())
        return float(nn.functional.cross_entropy(logits, gold, weight=weights))

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, labels]."""
        logits = self.run(self.backbone.tokens(texts), self.head, len(self.classes_), "predicting")
        return np.asarray(softmax(logits.astype(np.float64), axis=1))

    def encode(self, texts: Sequence[str], layer: str | None = None) -> npt.NDArray[np.float32]:
        """One vector per text: the bottleneck's output, or the pooled last hidden layer (`full`)."""
        layer = layer or ("full" if self.head.narrow is None else "bottleneck")
        if layer not in ("full", "bottleneck"):
            raise UnknownNameError.of("layer", layer, ("full", "bottleneck"))
        if layer == "bottleneck" and self.head.narrow is None:
            raise InputError("this model has no bottleneck", fix="train it with bottleneck=50, or take layer='full'")
        tokens = self.backbone.tokens(texts)
        if layer == "full":
            return self.run(tokens, nn.Identity(), self.backbone.width, "encoding")
        return self.run(tokens, self.head.vectors, self.settings.bottleneck or 0, "encoding")

    def run(self, tokens: Tokens, last: Any, width: int, work: str | None) -> npt.NDArray[np.float32]:
        """What `last` makes of every pooled vector, in batches of like length."""
        self.modules.eval()
        outputs = np.empty((len(tokens), width), np.float32)
        batches = tokens.batches()
        with torch.inference_mode(), self.backbone.arithmetic():
            for rows in batches if work is None else track(batches, f"{work} with {self.name}", len(batches)):
                outputs[rows] = last(self.backbone.pooled(tokens, rows)).float().cpu().numpy()
        return outputs

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` reads, and from which `transformers` loads the network.

        For BERT's and RoBERTa's families that is the whole classifier: the bottleneck folds into their head.
        """
        folder = Path(folder)
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        with quiet_transformers():
            self._for_transformers().save_pretrained(part)
            self.backbone.tokenizer.save_pretrained(part)
        weights = {name: tensor.contiguous() for name, tensor in self.heads.state_dict().items()}
        save_file(weights, part / "head.safetensors")
        about = {
            "classifier": self.kind,
            "name": self.name,
            "label_names": self.classes_,
            "settings": asdict(self.settings) | {"pooling": self.backbone.pooling},
        }
        write_json(part / "unseen.json", about)
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)

    def _for_transformers(self) -> Any:
        network = self.backbone.network
        places = FOLDED.get(network.config.model_type)
        if places is None or self.backbone.pooling != "class":
            return network
        from transformers import AutoModelForSequenceClassification

        names = dict(enumerate(self.classes_))
        config = type(network.config).from_dict(network.config.to_dict())
        config.id2label, config.label2id = names, {name: code for code, name in names.items()}
        whole = AutoModelForSequenceClassification.from_config(config)
        whole.base_model.load_state_dict(network.state_dict(), strict=False)
        weight, bias = self.head.folded()
        values = ((weight, bias), (self.head.classifier.weight, self.head.classifier.bias))
        with torch.no_grad():
            for place, (weight, bias) in zip(places, values, strict=True):
                layer = whole.get_submodule(place)
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)
        return whole

    @classmethod
    def load(cls, folder: str | Path, *, trust: bool = False) -> Self:
        """The classifier that `save` wrote; `trust` runs code that came with its encoder."""
        about = read_json(Path(folder) / "unseen.json")
        with door(folder, "a whole transformer"):
            settings = cls.settings_type(**about["settings"])
            classifier = cls.untrained(settings, about["label_names"], str(folder), trust=trust)
            began_as = about["name"].partition("-bottleneck-")[0]
            classifier.backbone.checkpoint = replace(classifier.backbone.checkpoint, name=began_as)
            classifier.heads.load_state_dict(load_file(Path(folder) / "head.safetensors"))
            return classifier

    @classmethod
    def untrained(
        cls, settings: Any, label_names: Sequence[str], checkpoint: str | None = None, *, trust: bool = False
    ) -> Self:
        """The pretrained network that the settings name (or that lies at `checkpoint`), with new heads."""
        backbone = Backbone(
            checkpoint or settings.encoder,
            pooling=settings.pooling,
            max_tokens=settings.max_tokens,
            precision=settings.precision,
            eager=settings.supervised,
            trust=trust,
        )
        return cls(backbone, label_names, settings)
