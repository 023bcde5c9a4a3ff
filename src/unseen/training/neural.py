"""A small neural network that trains in seconds and has a latent space of its own.

::

    hashed words and pieces of words  [terms]
      -> embedding bag                [width]     weighted sum; only the rows of a batch are touched
      -> bottleneck, linear           [d]         what `encode` returns
      -> tanh -> dropout -> linear    [labels]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.inference import matched
from unseen.progress import track
from unseen.registry import BelowOne, Count, Positive, check_numbers
from unseen.seeding import child_seed, generator
from unseen.store import atomic, read_json, write_json
from unseen.store.files import door
from unseen.training import kernels
from unseen.training.features import HashedTerms, HashedTexts
from unseen.training.labelled_texts import (
    ClassWeights,
    LabelledTexts,
    check_class_weights,
    label_weights,
    training_texts,
    warn_if_worse_than_a_constant,
)
from unseen.training.warm_start import check_start
from unseen.types import Dataset

TEXTS_AT_ONCE = 2048


class NeuralClassifier:
    """A trained hashed network; `encode` gives its bottleneck."""

    source = name = "neural.v1"

    def __init__(self, classes: Sequence[str], terms: HashedTerms, network: Any, settings: dict[str, Any]) -> None:
        self.classes_ = tuple(classes)
        self.terms = terms
        self.network = network
        self.settings = settings

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        return self._run(texts, len(self.classes_), lambda bags: self.network.head(bags).double().softmax(1))

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Output of the bottleneck [texts, d]."""
        return self._run(texts, self.settings["bottleneck"], self.network.head[0]).astype(np.float32)

    def _run(self, texts: Sequence[str], width: int, upper: Any) -> npt.NDArray[np.float64]:
        import torch

        outputs = np.empty((len(texts), width))
        self.network.eval()
        with one_thread(), torch.no_grad():
            for start in range(0, len(texts), TEXTS_AT_ONCE):
                rows = self.terms.transform(HashedTexts(texts[start : start + TEXTS_AT_ONCE]))
                outputs[start : start + rows.shape[0]] = upper(_bags(self.network, rows)).numpy()
        return outputs

    def save(self, folder: Path) -> None:
        """Write the model as safetensors and JSON."""
        import torch
        from safetensors.torch import save_file

        tensors = {name: tensor.contiguous() for name, tensor in self.network.state_dict().items()}
        tensors["terms.seen"] = torch.from_numpy(self.terms.seen)
        tensors["terms.weights"] = torch.from_numpy(self.terms.weights)
        with atomic(Path(folder) / "model.safetensors") as path:
            save_file(tensors, path)
        content = {"classifier": "neural.v1", "label_names": list(self.classes_), "settings": self.settings}
        write_json(Path(folder) / "unseen.json", content)

    @classmethod
    def load(cls, folder: Path) -> NeuralClassifier:
        """The model saved in `folder`; gives the same probabilities."""
        from safetensors.torch import load_file

        about = read_json(Path(folder) / "unseen.json")
        with door(folder, "a whole neural model"):
            tensors = load_file(Path(folder) / "model.safetensors")
            terms = HashedTerms(tensors.pop("terms.seen").numpy(), tensors.pop("terms.weights").numpy())
            label_names, settings = about["label_names"], about["settings"]
            network = _network(len(terms), settings["width"], settings["bottleneck"], len(label_names), dropout=0.0)
            network.load_state_dict(tensors)
            return cls(label_names, terms, network, settings)


@dataclass(eq=False)
class HashedNetwork:
    """Hashed n-grams, embedding bag, bottleneck, classifier: seconds for thousands of texts, on one core.

    Trains until the log loss on dev has not fallen for `patience` epochs and keeps the best weights; without
    dev texts it trains for all `epochs`. `word_dropout` is the share of terms hidden at each step.
    """

    bottleneck: Count = 50
    _: KW_ONLY
    width: Count = 32
    epochs: Count = 20
    patience: Count = 3
    batch: Count = 64
    rate: Positive = 3e-3
    dropout: BelowOne = 0.3
    word_dropout: BelowOne = 0.5
    smoothing: BelowOne = 0.1
    class_weights: ClassWeights = None

    def fit(
        self, train: Dataset, dev: Dataset, seed: int = 42, *, start: NeuralClassifier | None = None
    ) -> NeuralClassifier:
        """The classifier trained on `train`, stopped by `dev`; the same for the same seed.

        With `start` training goes on from that classifier: its terms keep their vectors and weights, terms that
        only `train` has get new ones, and the labels of its head are matched by name.
        """
        import torch

        if start is not None:
            check_start(start, NeuralClassifier, {"width": self.width, "bottleneck": self.bottleneck})
        texts, dev_texts = training_texts(train, dev)
        hashed = HashedTexts(texts.texts)
        terms = HashedTerms.of(hashed)
        if start is not None:
            terms = _joined(start.terms, terms)
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(child_seed(seed, "neural"))
            network = _network(len(terms), self.width, self.bottleneck, len(train.label_names), self.dropout)
            if start is not None:
                _copy(start, network, terms, train.label_names)
            weights = torch.from_numpy(label_weights(texts, self.class_weights)).float()
            train_part, dev_part = _Part(terms, texts, hashed), _Part(terms, dev_texts)
            best_epoch = self._train(network, train_part, dev_part, weights, seed)
        settings = {name: value for name, value in vars(self).items() if name != "class_weights"}
        settings |= {"recipe": "neural.v1", "class_weights": self.class_weights, "seed": seed, "best_epoch": best_epoch}
        settings |= {} if start is None else {"went_on": True}
        classifier = NeuralClassifier(train.label_names, terms, network, settings)
        warn_if_worse_than_a_constant(classifier.predict_proba, texts, dev_texts, self.class_weights)
        return classifier

    def _train(self, network: Any, train: _Part, dev: _Part, weights: Any, seed: int) -> int:
        """Train `network` in place; returns the epoch whose weights it holds, counted from one."""
        import torch

        bag, head = _RowAdam(network.bag.weight, self.rate), torch.optim.AdamW(network.head.parameters(), lr=self.rate)

        def epoch(number: int) -> None:
            assert train.rows is not None
            network.train()
            for places in _shuffled(len(train), self.batch, generator(seed, "neural", "order", number)):
                rows = train.rows[places]
                rows.data = torch.nn.functional.dropout(torch.from_numpy(rows.data), self.word_dropout).numpy()
                with torch.no_grad():
                    bags = _bags(network, rows)
                bags.requires_grad_()
                loss = weighted_loss(network.head(bags), train.labels[places], weights, self.smoothing)
                head.zero_grad()
                loss.backward()
                head.step()
                bag.step(rows, bags.grad)

        dev_loss = (lambda: _mean_loss(network, dev, weights)) if len(dev) else None
        return keep_best(network, epoch, dev_loss, self.epochs, self.patience, "train neural.v1")

    def __post_init__(self) -> None:
        check_numbers("the neural recipe", type(self), vars(self))
        check_class_weights(self.class_weights)


class _Part:
    """Weighted terms and labels of one part."""

    def __init__(self, terms: HashedTerms, texts: LabelledTexts, hashed: HashedTexts | None = None) -> None:
        import torch

        self.rows = terms.transform(hashed or HashedTexts(texts.texts)) if len(texts) else None
        self.labels = torch.from_numpy(texts.labels)

    def __len__(self) -> int:
        return len(self.labels)


class _RowAdam:
    """Adam on the rows of an embedding that a batch touches, to the last bit what torch's SparseAdam does.

    torch puts sparse tensors together and takes them apart again, several times in each step. Its order of sums, that
    of `torch.sort`, and its roots are kept: those of others differ in the last bit.
    """

    def __init__(self, weight: Any, rate: float, betas: tuple[float, float] = (0.9, 0.999), tiny: float = 1e-8) -> None:
        self.weight, self.rate, self.betas, self.tiny = weight.detach().numpy(), rate, betas, np.float32(tiny)
        self.mean, self.square = np.zeros_like(self.weight), np.zeros_like(self.weight)
        self.steps = 0

    def step(self, rows: Any, gradient: Any) -> None:
        """Move the weights, given the weighted terms of a batch and the gradient of its bags [texts, width]."""
        import torch

        self.steps += 1
        terms, order = (ordered.numpy() for ordered in torch.sort(torch.from_numpy(rows.indices.astype(np.int64))))
        starts = np.flatnonzero(np.diff(terms, prepend=-1, append=-1))
        texts = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[order]
        rates = np.array([1 - beta for beta in self.betas], np.float32)
        squares = kernels.move_moments(
            starts, terms, texts, rows.data[order], gradient.numpy(), rates, self.mean, self.square
        )
        by_mean, by_square = (1 - beta**self.steps for beta in self.betas)
        size = np.float32(self.rate * math.sqrt(by_square) / by_mean)
        roots = torch.from_numpy(squares).sqrt().numpy()
        kernels.move_weights(terms[starts[:-1]], roots, self.mean, size, self.tiny, self.weight)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for torch inside the block: the same sums everywhere, and faster for layers this small."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def keep_best(
    network: Any,
    epoch: Callable[[int], None],
    dev_loss: Callable[[], float] | None,
    epochs: int,
    patience: int,
    work: str,
) -> int:
    """Run epochs until the loss on dev has not fallen for `patience` of them; returns the one whose weights are kept.

    Epochs are counted from one. Without dev texts (None) all are run, and the last weights are kept.
    """
    best_loss, best_epoch, best_weights = np.inf, epochs, None
    for number in track(range(1, epochs + 1), work, epochs):
        epoch(number)
        if dev_loss is None:
            continue
        loss = dev_loss()
        if loss < best_loss:
            best_loss, best_epoch = loss, number
            best_weights = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        elif number - best_epoch >= patience:
            break
    if best_weights is not None:
        network.load_state_dict(best_weights)
    return best_epoch


def _network(terms: int, width: int, bottleneck: int, labels: int, dropout: float) -> Any:
    from torch import nn

    network = nn.Module()
    network.bag = nn.EmbeddingBag(terms, width, mode="sum")
    nn.init.normal_(network.bag.weight, std=0.01)
    network.head = nn.Sequential(
        nn.Linear(width, bottleneck), nn.Tanh(), nn.Dropout(dropout), nn.Linear(bottleneck, labels)
    )
    return network


def _joined(known: HashedTerms, new: HashedTerms) -> HashedTerms:
    """The terms of both; those that were known keep their weights."""
    seen = np.union1d(known.seen, new.seen)
    weights = np.empty(len(seen), np.float32)
    for terms in (new, known):
        weights[np.searchsorted(seen, terms.seen)] = terms.weights
    return HashedTerms(seen, weights)


def _copy(start: NeuralClassifier, network: Any, terms: HashedTerms, label_names: Sequence[str]) -> None:
    """Put what `start` has learnt into `network`, whose terms are those of `start` and others."""
    import torch

    rows = torch.from_numpy(np.searchsorted(terms.seen, start.terms.seen))
    labels = torch.from_numpy(matched(start.classes_, label_names))
    with torch.no_grad():
        network.bag.weight[rows] = start.network.bag.weight
        network.head[0].load_state_dict(start.network.head[0].state_dict())
        network.head[3].weight.copy_(start.network.head[3].weight[labels])
        network.head[3].bias.copy_(start.network.head[3].bias[labels])


def _bags(network: Any, rows: Any) -> Any:
    """Weighted sums of embeddings [rows, width]."""
    import torch

    weights = torch.from_numpy(rows.data)
    terms, starts = (torch.from_numpy(places.astype(np.int64)) for places in (rows.indices, rows.indptr[:-1]))
    return network.bag(terms, starts, per_sample_weights=weights)


def weighted_loss(scores: Any, labels: Any, weights: Any, smoothing: float = 0.0) -> Any:
    """Log loss of a batch in which each row counts by the weight of its label.

    Not torch's weighted and smoothed cross entropy, which undoes class weights twice: it divides by the weights of
    the batch, and it smooths every row towards the labels by *their* weights, mostly towards the rarest.
    """
    import torch

    logs = scores.log_softmax(1)
    per_row = weights[labels]
    right = torch.nn.functional.nll_loss(logs, labels, weights) * per_row.mean()
    all_labels = -(logs.sum(1) * per_row).sum() / len(labels)
    return (1 - smoothing) * right + smoothing / len(weights) * all_labels


def _mean_loss(network: Any, part: _Part, weights: Any) -> float:
    """Log loss on a part, as it counts for early stopping: no dropout, no smoothing."""
    import torch

    assert part.rows is not None
    network.eval()
    with torch.no_grad():
        starts = range(0, len(part), TEXTS_AT_ONCE)
        scores = torch.cat([network.head(_bags(network, part.rows[at : at + TEXTS_AT_ONCE])) for at in starts])
    return float(torch.nn.functional.cross_entropy(scores, part.labels, weights))


def _shuffled(n: int, batch: int, random: np.random.Generator) -> Iterator[npt.NDArray[np.intp]]:
    order = random.permutation(n)
    for start in range(0, n, batch):
        yield order[start : start + batch]
