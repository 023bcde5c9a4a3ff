"""Recipes of networks that read words in order: `cnn-gru`, `birnn` and `birnn-attention`, which rationales can teach.

The networks are those of HateXplain (Mathew et al. 2021); word vectors are random, or read from a file like GloVe's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file

from unseen.data.rationales import Span
from unseen.inference import matched
from unseen.registry import BelowOne, Count, NotNegative, Positive, check_numbers
from unseen.representations.backbone import Tokens
from unseen.representations.word_vectors import read_word_vectors
from unseen.seeding import child_seed
from unseen.store import atomic, read_json, write_json
from unseen.store.files import door, missing_file
from unseen.training.features import least_texts
from unseen.training.labelled_texts import (
    ClassWeights,
    LabelledTexts,
    check_class_weights,
    label_weights,
    training_texts,
    warn_if_worse_than_a_constant,
)
from unseen.training.neural import keep_best, one_thread, weighted_loss
from unseen.training.supervision import AttentionTargets, attention_loss
from unseen.training.warm_start import check_start
from unseen.training.word_networks import (
    NETWORKS,
    PADDING,
    UNKNOWN,
    KnownWords,
    SequenceNetwork,
    frequent_words,
    words_of,
)
from unseen.types import Dataset


class WordClassifier:
    """A trained network over words; `encode` gives the vector before the last layer.

    For gradients: `vectors_of` gives word vectors, and `network.logits_of_vectors` makes logits of them.
    """

    def __init__(
        self, classes: Sequence[str], words: KnownWords, network: SequenceNetwork, settings: dict[str, Any]
    ) -> None:
        self.classes_ = tuple(classes)
        self.words = words
        self.network = network.eval()
        self.settings = settings
        self.source = self.name = str(settings["recipe"])

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        logits = run(self.network, self.words.tokens(texts), self.network.logits_of_vectors)
        return logits.reshape(len(texts), len(self.classes_)).double().softmax(1).numpy()

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """What the last layer reads of each text [texts, d]."""
        vectors = run(self.network, self.words.tokens(texts), lambda *given: self.network.read(*given)[0])
        return np.asarray(vectors.reshape(len(texts), self.network.labels.in_features).numpy(), np.float32)

    def tokens_of(self, text: str) -> list[Span]:
        """Where the words are that the network reads of a text."""
        return self.words.spans(text)

    def vectors_of(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Word vectors [texts, longest, width] without a gradient of their own, and words per text."""
        places, lengths = _batch(self.words.tokens(texts), np.arange(len(texts)))
        return self.network.words(places).detach(), lengths

    def save(self, folder: Path) -> None:
        """Write the model as safetensors and JSON."""
        with atomic(Path(folder) / "model.safetensors") as path:
            save_file({name: tensor.contiguous() for name, tensor in self.network.state_dict().items()}, path)
        about = {"classifier": "words.v1", "label_names": self.classes_, "settings": self.settings}
        write_json(Path(folder) / "unseen.json", about | {"words": self.words.words})

    @staticmethod
    def load(folder: Path) -> WordClassifier:
        """The model saved in `folder`; gives the same probabilities."""
        about = read_json(Path(folder) / "unseen.json")
        with door(folder, "a whole network over words"):
            settings, label_names = about["settings"], about["label_names"]
            words = KnownWords(about["words"], int(settings["max_tokens"]))
            network = _network(settings, words, len(label_names), 0.0)
            network.load_state_dict(load_file(Path(folder) / "model.safetensors"))
            return _classifier(label_names, words, network, settings)


class AttentiveClassifier(WordClassifier):
    """A trained network over words that says how much it attended to each."""

    def attention(self, texts: Sequence[str]) -> list[tuple[list[Span], npt.NDArray[np.float32]]]:
        """For each text the spans of the words that are read, and the share of attention of each."""
        tokens = self.words.tokens(texts)
        shares = run(self.network, tokens, lambda *given: self.network.read(*given)[1])
        spans = [self.tokens_of(text) for text in texts]
        return [(places, shares[row][: len(places)].numpy()) for row, places in enumerate(spans)]


@dataclass(eq=False)
class WordRecipe:
    """How a network over words is trained; its subclasses say which.

    Trains until the log loss on dev has not fallen for `patience` epochs and keeps the best weights. It reads
    `max_tokens` words of a text and knows those that stand in `min_texts` training texts (two, where there are 200
    texts) or in the file `vectors`, at most `max_words` of them.
    """

    kind: ClassVar[str]
    hidden: Count
    _: KW_ONLY
    width: Count = 100
    vectors: str | None = None
    max_tokens: Count = 128
    min_texts: Count | None = None
    max_words: Count = 30_000
    dropout: BelowOne = 0.2
    epochs: Count = 20
    patience: Count = 3
    batch: Count = 32
    rate: Positive = 1e-3
    class_weights: ClassWeights = None

    def fit(
        self, train: Dataset, dev: Dataset, seed: int = 42, *, start: WordClassifier | None = None
    ) -> WordClassifier:
        """The classifier trained on `train`, stopped by `dev`; the same for the same seed.

        With `start` training goes on from that classifier: its words keep their vectors, words that only `train`
        has get new ones, and the labels of its last layer are matched by name.
        """
        texts, dev_texts = training_texts(train, dev)
        given = {} if self.vectors is None else read_word_vectors(self.vectors, words_of(texts.texts))
        settings = self._settings(seed, given)
        if start is not None:
            check_start(start, WordClassifier, {name: settings[name] for name in ("recipe", "width", "hidden")})
            settings["went_on"] = True
        least = self.min_texts or least_texts(texts.texts)
        known = () if start is None else start.words.words
        new = frequent_words(texts.texts, least, self.max_words, given)
        words = KnownWords([*known, *(word for word in new if word not in set(known))], self.max_tokens)
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(child_seed(seed, self.kind))
            network = _network(settings, words, len(train.label_names), self.dropout)
            with torch.no_grad():
                network.words.weight.mul_(0.1)
                network.words.weight[UNKNOWN] = 0
                for word in given.keys() & words.places.keys():
                    network.words.weight[words.places[word]] = torch.from_numpy(given[word])
            if start is not None:
                _copy(start, network, train.label_names)
            weights = torch.from_numpy(label_weights(texts, self.class_weights)).float()
            targets = self._targets(train, words, texts)
            settings["best_epoch"] = self._train(network, words, (texts, dev_texts), weights, targets, seed)
        classifier = _classifier(train.label_names, words, network, settings)
        warn_if_worse_than_a_constant(classifier.predict_proba, texts, dev_texts, self.class_weights)
        return classifier

    def _train(
        self,
        network: SequenceNetwork,
        words: KnownWords,
        parts: tuple[LabelledTexts, LabelledTexts],
        weights: torch.Tensor,
        targets: tuple[AttentionTargets, float] | None,
        seed: int,
    ) -> int:
        """Train `network` in place; returns the epoch whose weights it holds, counted from one."""
        tokens, dev_tokens = (words.tokens(part.texts) for part in parts)
        labels, dev_labels = (torch.from_numpy(part.labels) for part in parts)
        optimiser = torch.optim.Adam(network.parameters(), lr=self.rate)

        def epoch(number: int) -> None:
            network.train()
            for rows in tokens.shuffled_batches(self.batch, child_seed(seed, self.kind, "order", number)):
                places, lengths = _batch(tokens, rows)
                logits, attention = network(places, lengths)
                loss = weighted_loss(logits, labels[rows], weights)
                if targets is not None and attention is not None:
                    shares = targets[0].padded(rows, (places != PADDING).numpy())
                    loss = loss + targets[1] * attention_loss(attention[:, None], shares)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()

        def dev_loss() -> float:
            logits = run(network, dev_tokens, network.logits_of_vectors)
            return float(torch.nn.functional.cross_entropy(logits, dev_labels, weights))

        measured = dev_loss if len(dev_tokens) else None
        return keep_best(network, epoch, measured, self.epochs, self.patience, f"train {self.kind}.v1")

    def _targets(
        self, train: Dataset, words: KnownWords, texts: LabelledTexts
    ) -> tuple[AttentionTargets, float] | None:
        """What attention is to be taught, and how much that counts; nothing for most networks."""
        return None

    def _settings(self, seed: int, given: dict[str, npt.NDArray[np.float32]]) -> dict[str, Any]:
        own = dict(vars(self)) | {"recipe": f"{self.kind}.v1", "seed": seed}
        if given:
            own |= {"width": len(next(iter(given.values()))), "vectors": Path(str(self.vectors)).name}
        return own

    def __post_init__(self) -> None:
        check_numbers(f"the recipe {self.kind}", type(self), vars(self))
        check_class_weights(self.class_weights)
        if self.vectors is not None and not Path(str(self.vectors)).is_file():
            raise missing_file(self.vectors)


@dataclass(eq=False)
class CNNGRU(WordRecipe):
    """Windows of two to four words, read in order by a GRU; the largest values over time decide."""

    kind = "cnn-gru"
    hidden: Count = 100


@dataclass(eq=False)
class BiRNN(WordRecipe):
    """An LSTM that reads the words in both directions; its last states decide."""

    kind = "birnn"
    hidden: Count = 128


@dataclass(eq=False)
class BiRNNAttention(WordRecipe):
    """An LSTM that reads the words in both directions, with attention, which rationales can teach.

    `supervise` names the attribute with the rationales. The loss is then the log loss of the label plus
    `supervision_weight` times the cross-entropy between the attention and the softmax of `supervision_scale` times
    the mean mask of the annotators; choose both on dev texts.
    """

    kind = "birnn-attention"
    hidden: Count = 64
    _: KW_ONLY
    supervise: str | None = None
    supervision_weight: NotNegative = 1.0
    supervision_scale: Positive = 5.0

    def _targets(
        self, train: Dataset, words: KnownWords, texts: LabelledTexts
    ) -> tuple[AttentionTargets, float] | None:
        if self.supervise is None or not self.supervision_weight:
            return None
        spans = [words.spans(text) or [(0, 0)] for text in texts.texts]
        return AttentionTargets.of(train, self.supervise, spans, self.supervision_scale), self.supervision_weight


def run(network: SequenceNetwork, tokens: Tokens, last: Any) -> Any:
    """What `last` makes of the word vectors of each text: one tensor, as wide as the widest answer."""
    answers: list[Any] = [None] * len(tokens)
    network.eval()
    with one_thread(), torch.no_grad():
        for rows in tokens.batches():
            places, lengths = _batch(tokens, rows)
            for row, answer in zip(rows, last(network.words(places), lengths), strict=True):
                answers[row] = answer
    return torch.nn.utils.rnn.pad_sequence(answers, batch_first=True) if answers else torch.empty(0)


def _batch(tokens: Tokens, rows: npt.NDArray[np.intp]) -> tuple[torch.Tensor, torch.Tensor]:
    """Places of the words [rows, longest], and words per row."""
    return torch.from_numpy(tokens.padded(rows, PADDING)[0]), torch.from_numpy(tokens.lengths[rows])


def _network(settings: dict[str, Any], words: KnownWords, labels: int, dropout: float) -> SequenceNetwork:
    kind = NETWORKS[settings["recipe"].removesuffix(".v1")]
    return kind(len(words), settings["width"], settings["hidden"], labels, dropout)


def _classifier(
    label_names: Sequence[str], words: KnownWords, network: SequenceNetwork, settings: dict[str, Any]
) -> WordClassifier:
    attentive = settings["recipe"] == "birnn-attention.v1"
    return (AttentiveClassifier if attentive else WordClassifier)(label_names, words, network, settings)


def _copy(start: WordClassifier, network: SequenceNetwork, label_names: Sequence[str]) -> None:
    """Put what `start` has learnt into `network`, whose words begin with those of `start`."""
    learnt = {name: tensor.clone() for name, tensor in start.network.state_dict().items()}
    labels = torch.from_numpy(matched(start.classes_, label_names))
    for name in ("labels.weight", "labels.bias"):
        learnt[name] = learnt[name][labels]
    learnt["words.weight"] = torch.cat([learnt["words.weight"], network.words.weight[len(start.words) :].detach()])
    network.load_state_dict(learnt)
