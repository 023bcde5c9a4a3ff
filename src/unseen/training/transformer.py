"""Fine-tuning a transformer: one file, one loop.

The head is the class token's: dropout, a dense layer, tanh, dropout, a linear classifier. With a bottleneck
the dense layer is two linear maps, hidden to d and d to hidden, with nothing between them; the d numbers in
the middle are the vector of a text. Training can be killed at any step: what it needs to go on, the state of
the random generator included, lies in a scratch folder, and the end is the same as without the interruption.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from unseen.errors import InputError, MismatchError, UnknownNameError
from unseen.inference import matched
from unseen.progress import track
from unseen.registry import check_parameters
from unseen.release import __version__
from unseen.representations.backbone import Tokens
from unseen.seeding import child_seed, generator
from unseen.store import atomic
from unseen.store.files import content_of, door
from unseen.training.labelled_texts import (
    LabelledTexts,
    label_weights,
    training_texts,
    warn_if_worse_than_a_constant,
)
from unseen.training.supervision import AttentionTargets, attention_loss
from unseen.training.transformer_classifier import TransformerClassifier, TransformerSettings
from unseen.training.warm_start import check_start
from unseen.types import Dataset

CHECKPOINT_SECONDS = 60.0
"""Between two states that an interrupted training may go on from: a state is three times the size of the model."""
HALF_TRAINED = "a training that can go on; without the file it begins anew"
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "fast": {},
    "thesis": {
        "epochs": 10, "batch": 4, "learning_rate": 2e-5, "warmup": 0.0, "patience": 5, "max_tokens": 512,
    },
}  # fmt: skip
"""`fast` is made for CPUs; `thesis` is what the published splits were made with."""
Recipe = TypeVar("Recipe", bound=Any)


def with_settings(recipe: type[Recipe]) -> type[Recipe]:
    """The class with the fields of its settings in its signature, where parameters are looked up and checked."""
    own = {
        name: parameter
        for name, parameter in signature(recipe.__init__).parameters.items()
        if name != "self" and parameter.kind is not Parameter.VAR_KEYWORD
    }
    settings = [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=None, annotation=field.type)
        for field in fields(recipe.settings_type)
        if field.name not in (*own, *recipe.not_taken)
    ]
    recipe.__signature__ = Signature([*own.values(), *settings])
    return recipe


@with_settings
class Transformer:
    """Fine-tune a transformer; the bottleneck, where there is one, gives the model's own vectors.

    `encoder` is minilm, smollm2, a folder or a hub name. `preset` is fast (default on a CPU) or thesis
    (default on a GPU); every other parameter overrides it. `trust` runs code that comes with the encoder.

    `supervise` names an attribute with rationales: the attention of the class token in the last layer is then taught
    to rest on them, with `supervision_weight`, which is to be chosen on dev texts.

    `frozen` lowest layers, and the embeddings with them, stay as they were pretrained: faster, and less is learnt.
    """

    settings_type: ClassVar[type[TransformerSettings]] = TransformerSettings
    """Its fields are the parameters besides `preset` and `trust`; None stands for what the preset says."""
    not_taken: ClassVar[tuple[str, ...]] = ("epsilon",)
    """Fields that are no parameters."""

    def __init__(
        self, encoder: str = "minilm", *, preset: str | None = None, trust: bool = False, **settings: Any
    ) -> None:
        check_parameters(f"the recipe {type(self).__name__}", type(self), settings)
        preset = preset or ("thesis" if torch.cuda.is_available() else "fast")
        if preset not in PRESETS:
            raise UnknownNameError.of("preset", preset, PRESETS)
        given = {name: value for name, value in {"encoder": encoder, **settings}.items() if value is not None}
        self.settings = self.settings_type(**{**PRESETS[preset], **given})
        self.trust = trust

    def fit(
        self,
        train: Dataset,
        dev: Dataset,
        seed: int,
        *,
        scratch: str | Path | None = None,
        start: TransformerClassifier | None = None,
    ) -> TransformerClassifier:
        """The classifier with the best validation result; with `scratch` an interrupted training goes on.

        With `start` training begins with the weights of that classifier, its labels matched by name.
        """
        texts = training_texts(train, dev)
        with own_randomness(child_seed(seed, "transformer")):
            classifier = TransformerClassifier.untrained(self.settings, train.label_names, trust=self.trust)
            classifier.backbone.freeze(self.settings.frozen)
            key = fingerprint(self.settings, train, dev, seed)
            if start is not None:
                key += copy_weights(start, classifier)
            targets = _targets(classifier, train, texts[0])
            if targets is not None:
                key += targets.digest
            saved = None if scratch is None else SavedTraining(Path(scratch), key)
            train_epochs(classifier, *texts, seed, saved, targets)
        warn_if_worse_than_a_constant(classifier.predict_proba, *texts, self.settings.class_weights)
        return classifier

    def speed(self, data: Dataset, batches: int = 3) -> float:
        """Texts per second in training on this machine, measured on a few random batches of `data`."""
        with own_randomness(0):
            classifier = TransformerClassifier.untrained(self.settings, data.label_names, trust=self.trust)
            classifier.backbone.freeze(self.settings.frozen)
            sample = data.take(generator(0, "speed").permutation(len(data))[: (batches + 1) * self.settings.batch])
            tokens = classifier.backbone.tokens(sample.texts.to_pylist())
            optimiser = torch.optim.AdamW(classifier.modules.parameters(), 0.0, fused=True)
            classifier.modules.train()
            equal = torch.ones(len(data.label_names), device=classifier.backbone.device)
            first, *others = tokens.shuffled_batches(self.settings.batch, 0)
            _step(classifier, optimiser, tokens, sample.labels, first, 0.0, equal)  # the first one is always slow
            begun = time.perf_counter()
            for rows in others or [first]:
                _step(classifier, optimiser, tokens, sample.labels, rows, 0.0, equal)
        return sum(map(len, others or [first])) / (time.perf_counter() - begun)


class SavedTraining:
    """What an interrupted training needs to go on, in a folder: the last state and the best weights."""

    def __init__(self, folder: Path, key: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.last, self.best = folder / "last.safetensors", folder / "best.safetensors"
        self.key = key
        self.kept: Mapping[str, torch.Tensor] | None = None
        self.written = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether the last state is old enough to be replaced."""
        return time.monotonic() - self.written >= CHECKPOINT_SECONDS

    def write(
        self,
        modules: nn.Module,
        optimiser: torch.optim.Optimizer,
        state: State,
        best: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        """Replace the last state, and before it the best weights where this process has found better ones."""
        if best is not None and best is not self.kept:
            _save(best, self.best, {})
            self.kept = best
        tensors = {f"weight/{name}": weight for name, weight in modules.state_dict().items()}
        for number, moments in optimiser.state_dict()["state"].items():
            tensors |= {f"moment/{number}/{name}": moment for name, moment in moments.items()}
        tensors["random/cpu"] = torch.get_rng_state()
        if next(modules.parameters()).is_cuda:
            tensors["random/cuda"] = torch.cuda.get_rng_state()
        _save(tensors, self.last, {"key": self.key, "state": json.dumps(asdict(state))})
        self.written = time.monotonic()

    def read(self, modules: nn.Module, optimiser: torch.optim.Optimizer) -> State | None:
        """Put the last state back, when there is one of this very training; remove what another left."""
        about = {}
        if self.last.is_file():
            with door(self.last, HALF_TRAINED), safe_open(self.last, "pt") as file:
                about = file.metadata()
        if about.get("key") != self.key:
            self.best.unlink(missing_ok=True)
            return None
        with door(self.last, HALF_TRAINED):
            tensors = load_file(self.last)
        weights: dict[str, torch.Tensor] = {}
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition("/")
            if kind == "weight":
                weights[rest] = tensor
            elif kind == "moment":
                number, _, moment = rest.partition("/")
                moments.setdefault(int(number), {})[moment] = tensor
        modules.load_state_dict(weights)
        optimiser.load_state_dict(optimiser.state_dict() | {"state": moments})
        torch.set_rng_state(tensors["random/cpu"])
        if "random/cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random/cuda"])
        return State(**json.loads(about["state"]))


@dataclass
class State:
    """How far a training has come."""

    epoch: int = 0
    step: int = 0
    """Steps done in this epoch."""
    best: float = math.inf
    waited: int = 0


def copy_weights(start: TransformerClassifier, classifier: TransformerClassifier) -> str:
    """Put the weights of one transformer into another, labels matched by name; returns a hash of them.

    What the other has besides, classifiers of inner layers for instance, stays as it is.
    """
    shape = {name: getattr(classifier.settings, name) for name in ("encoder", "bottleneck")}
    check_start(start, TransformerClassifier, shape)
    if start.backbone.pooling != classifier.backbone.pooling:
        raise MismatchError(
            "training cannot go on from a classifier that reads its network otherwise",
            problems=[f"pooling is {start.backbone.pooling} there and {classifier.backbone.pooling} here"],
        )
    tensors = {name: tensor.detach().clone() for name, tensor in start.modules.state_dict().items()}
    labels = matched(start.classes_, classifier.classes_)
    for name in ("head.classifier.weight", "head.classifier.bias"):
        tensors[name] = tensors[name][labels]
    classifier.modules.load_state_dict(tensors, strict=isinstance(start, type(classifier)))
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        digest.update(name.encode())
        digest.update(tensor.float().cpu().numpy().tobytes())
    return digest.hexdigest()


def _targets(classifier: TransformerClassifier, train: Dataset, texts: LabelledTexts) -> AttentionTargets | None:
    """The attention that the training texts teach; None without supervision."""
    settings, backbone = classifier.settings, classifier.backbone
    if settings.supervise is None or not settings.supervised:
        return None
    if backbone.pooling != "class":
        raise InputError(
            "attention can be supervised in models that pool by the class token", got=f"pooling by {backbone.pooling}"
        )
    heads = int(backbone.network.config.num_attention_heads)
    if not 1 <= _heads(classifier) <= heads:
        raise InputError(f"supervised_heads must be from 1 to {heads}", got=str(settings.supervised_heads))
    return AttentionTargets.of(train, settings.supervise, backbone.spans(texts.texts), settings.supervision_scale)


def _heads(classifier: TransformerClassifier) -> int:
    """Heads that are supervised."""
    asked = classifier.settings.supervised_heads
    return max(1, classifier.backbone.network.config.num_attention_heads // 2) if asked is None else asked


def train_epochs(
    classifier: TransformerClassifier,
    train: LabelledTexts,
    dev: LabelledTexts,
    seed: int,
    saved: SavedTraining | None,
    targets: AttentionTargets | None = None,
) -> None:
    """Train for epochs of length-bucketed batches, look at the validation data after each, keep the best."""
    backbone = classifier.backbone
    with backbone.vocabulary_of(backbone.tokens(train.texts), backbone.tokens(dev.texts)) as (tokens, dev_tokens):
        _train_tokens(classifier, train, tokens, dev, dev_tokens, seed, saved, targets)


def _train_tokens(
    classifier: TransformerClassifier,
    train: LabelledTexts,
    tokens: Tokens,
    dev: LabelledTexts,
    dev_tokens: Tokens,
    seed: int,
    saved: SavedTraining | None,
    targets: AttentionTargets | None,
) -> None:
    """As `train_epochs`, of texts that have been cut into tokens."""
    settings, backbone = classifier.settings, classifier.backbone
    weights = torch.tensor(label_weights(train, settings.class_weights), dtype=torch.float32, device=backbone.device)
    optimiser = torch.optim.AdamW(
        decaying(classifier.modules, settings.weight_decay), settings.learning_rate, eps=settings.epsilon, fused=True
    )
    steps = math.ceil(len(tokens) / settings.batch)
    state, best = (saved.read(classifier.modules, optimiser) if saved else None) or State(), None
    to_do = range(state.epoch * steps + state.step, settings.epochs * steps)
    batches: list[npt.NDArray[np.intp]] = []
    for at in track(to_do, f"fine-tuning {classifier.name}", len(to_do)):
        if state.waited >= settings.patience:
            break
        epoch, step = divmod(at, steps)
        if step == 0 or not batches:
            batches = tokens.shuffled_batches(settings.batch, child_seed(seed, "epoch", epoch))
            classifier.modules.train()
        rate = settings.learning_rate * rate_factor(at, settings.epochs * steps, settings.warmup)
        _step(classifier, optimiser, tokens, train.labels, batches[step], rate, weights, targets)
        ended = step + 1 == steps
        state.epoch, state.step = divmod(at + 1, steps)
        if ended and len(dev):
            best = _look(classifier, dev_tokens, dev.labels, weights, state) or best
        if saved and saved.due:
            saved.write(classifier.modules, optimiser, state, best)
    if saved and len(dev) and best is None:  # it went on, and nothing better came
        with door(saved.best, HALF_TRAINED):
            best = load_file(saved.best)
    if best is not None:
        classifier.modules.load_state_dict(best)


def _step(
    classifier: TransformerClassifier,
    optimiser: torch.optim.Optimizer,
    tokens: Tokens,
    labels: npt.NDArray[np.integer],
    rows: npt.NDArray[np.intp],
    rate: float,
    weights: torch.Tensor,
    targets: AttentionTargets | None = None,
) -> None:
    """One batch forwards and backwards.

    torch divides a weighted loss by the weights of the batch, so that a batch without rare labels would pull as
    hard as one with them; times their mean it is the sum that class weights ask for. The limit on the gradient grows
    with it: else clipping would take back what the weights gave.
    """
    backbone = classifier.backbone
    gold = torch.from_numpy(labels[rows].astype(np.int64)).to(backbone.device)
    weight = float(weights[gold].mean())  # exactly 1 without class weights
    if targets is None:
        loss = classifier.loss(tokens, rows, gold, weights) * weight
    else:
        with backbone.arithmetic():
            pooled, attention = backbone.attended(tokens, rows)
            logits = classifier.head(pooled)
        loss = nn.functional.cross_entropy(logits.float(), gold, weight=weights) * weight
        shares = targets.padded(rows, tokens.padded(rows, backbone.padding)[1]).to(backbone.device)
        taught = attention_loss(attention[:, : _heads(classifier)].float(), shares)
        loss = loss + classifier.settings.supervision_weight * taught
    loss.backward()
    nn.utils.clip_grad_norm_(classifier.modules.parameters(), classifier.settings.clip * weight)
    for group in optimiser.param_groups:
        group["lr"] = rate * group.get("rate_factor", 1.0)
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)


def _look(
    classifier: TransformerClassifier,
    tokens: Tokens,
    labels: npt.NDArray[np.integer],
    weights: torch.Tensor,
    state: State,
) -> dict[str, torch.Tensor] | None:
    """Measure on the validation data; the weights when they are the best so far."""
    result = classifier.dev_loss(tokens, torch.from_numpy(labels.astype(np.int64)), weights.cpu())
    if result >= state.best:
        state.waited += 1
        return None
    state.best, state.waited = result, 0
    return {name: tensor.detach().clone() for name, tensor in classifier.modules.state_dict().items()}


def decaying(modules: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Parameter groups: weight matrices decay, biases and norms do not; a parameter may have a `rate_factor`."""
    groups: dict[tuple[bool, float], list[nn.Parameter]] = {(True, 1.0): [], (False, 1.0): []}
    for parameter in modules.parameters():
        if parameter.requires_grad:
            key = parameter.ndim > 1, getattr(parameter, "rate_factor", 1.0)
            groups.setdefault(key, []).append(parameter)
    return [
        {"params": group, "weight_decay": decay if decays else 0.0, "rate_factor": factor}
        for (decays, factor), group in groups.items()
    ]


def rate_factor(step: int, steps: int, warmup: float) -> float:
    """Of the learning rate: a rise over the warm-up, then a straight fall to zero."""
    rising = math.ceil(steps * warmup)
    return (step + 1) / rising if step < rising else (steps - step) / max(1, steps - rising)


def fingerprint(settings: TransformerSettings, train: Dataset, dev: Dataset, seed: int) -> str:
    """Names one training: what is trained on what, from which weights and seed."""
    parts = [asdict(settings), train.fingerprint, train.order, dev.fingerprint, dev.order, seed, torch.__version__]
    parts += [content_of(settings.encoder), __version__]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def _save(tensors: Mapping[str, torch.Tensor], path: Path, about: Mapping[str, str]) -> None:
    """Write the tensors; one that shares its memory with an earlier one, as tied weights do, becomes a copy."""
    places, apart = set[int](), dict[str, torch.Tensor]()
    for name, tensor in tensors.items():
        apart[name] = tensor.clone() if tensor.data_ptr() in places else tensor.contiguous()
        places.add(tensor.data_ptr())
    with atomic(path) as temporary:
        save_file(apart, temporary, dict(about))


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """The block with torch's generators seeded, and as they were afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
