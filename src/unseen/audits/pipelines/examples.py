"""Pipelines to learn from: leaking ones, two of them published, and what is wrong with them put right.

`features-…` is the pipeline of Badjatiya et al. (2017) as Arango, Pérez & Poblete (SIGIR 2019, section 3.1) took it
apart: a network learns word vectors with the labels, a text is the mean of its words' vectors, and boosted trees are
cross-validated on these means. With the vectors learnt on all rows every fold has seen its test labels.

`oversampled-…` is that of Agrawal & Awekar (2018) as they took it apart in section 3.2: rows of the smaller classes are
there three times, a BiLSTM is trained on one part and tested on the other. Copied before the split, most of the tested
minority texts are in the training part as well.

`words-chosen-…` and `vocabulary-of-all-data` choose words, or weigh them, on all rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, require
from unseen.progress import track
from unseen.registry import Registry, check_parameters
from unseen.seeding import child_seed, generator
from unseen.splits.random import RandomSplit
from unseen.training.neural import one_thread
from unseen.types import Dataset, Split
from unseen.types.arrays import Floats, Rows

WORD = re.compile(r"\w+")
PADDING, UNKNOWN = 0, 1
TEXTS_AT_ONCE = 1024
EXAMPLES = Registry(
    "pipeline",
    {
        "features-on-all-data.v1": "unseen.audits.pipelines.examples:features_on_all_data",
        "features-in-each-fold.v1": "unseen.audits.pipelines.examples:features_in_each_fold",
        "oversampled-before-split.v1": "unseen.audits.pipelines.examples:oversampled_before_split",
        "oversampled-in-training.v1": "unseen.audits.pipelines.examples:oversampled_in_training",
        "words-chosen-on-all-data.v1": "unseen.audits.pipelines.examples:words_chosen_on_all_data",
        "words-chosen-in-training.v1": "unseen.audits.pipelines.examples:words_chosen_in_training",
        "vocabulary-of-all-data.v1": "unseen.audits.pipelines.examples:vocabulary_of_all_data",
    },
)
Probabilities = Floats
Fold = tuple[Rows, Rows]
OutOfFold = list[tuple[Rows, Probabilities]]
"""For each fold the rows it tested and their probabilities, columns in the order of the data's labels."""
TREES = 100
COPIES = 3


def words_of(text: str, longest: int) -> list[str]:
    """The first `longest` words of a text, in lower case."""
    return WORD.findall(text.lower())[:longest]


@dataclass(frozen=True)
class WordNetwork:
    """Settings of a small recurrent network over words, as the examples need it; `fit` trains one.

    ::

        words                    [texts, longest]
          -> embedding, dropout  [texts, longest, embedding]
          -> LSTM                [texts, hidden] last state; both directions side by side when `both_ways`
          -> dropout -> linear   [texts, labels]
    """

    embedding: int = 200
    hidden: int = 50
    both_ways: bool = False
    dropout: tuple[float, float] = (0.25, 0.5)
    """After the embedding, and before the last layer."""
    epochs: int = 10
    batch: int = 128
    longest: int = 60
    """Words of a text that are read."""
    rate: float = 1e-3

    def __post_init__(self) -> None:
        whole = {name: getattr(self, name) for name in ("embedding", "hidden", "epochs", "batch", "longest")}
        problems = [f"{name} must be at least 1, not {value!r}" for name, value in whole.items() if value < 1]
        problems += [
            f"dropout must be from 0 to below 1, not {share!r}" for share in self.dropout if not 0 <= share < 1
        ]
        if not self.rate > 0:
            problems.append(f"rate must be above 0, not {self.rate!r}")
        if problems:
            raise InputError("settings of the network are wrong", problems=problems)

    def fit(self, texts: Sequence[str], labels: npt.NDArray[Any], n_labels: int, seed: int) -> TrainedWords:
        """The network trained on these texts; the same for the same seed."""
        require("models", "a network over words")
        import torch

        words = {word for text in texts for word in words_of(text, self.longest)}
        places = {word: place for place, word in enumerate(sorted(words), start=UNKNOWN + 1)}
        rows, sizes = _padded(texts, places, self.longest)
        gold = torch.from_numpy(np.asarray(labels, np.int64))
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(child_seed(seed, "word network"))
            network = self._network(len(places) + 2, n_labels)
            optimiser = torch.optim.Adam(network.parameters(), lr=self.rate)
            network.train()
            for epoch in track(range(self.epochs), "train word network", self.epochs):
                order = generator(seed, "word network", epoch).permutation(len(texts))
                for start in range(0, len(order), self.batch):
                    chosen = torch.from_numpy(order[start : start + self.batch])
                    scores = _scores(network, rows[chosen], sizes[chosen])
                    loss = torch.nn.functional.cross_entropy(scores, gold[chosen])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
        return TrainedWords(places, network.eval(), self.longest, n_labels)

    def _network(self, words: int, n_labels: int) -> Any:
        from torch import nn

        network = nn.Module()
        network.words = nn.Embedding(words, self.embedding, padding_idx=PADDING)
        network.after_words, network.before_labels = (nn.Dropout(share) for share in self.dropout)
        network.memory = nn.LSTM(self.embedding, self.hidden, batch_first=True, bidirectional=self.both_ways)
        network.labels = nn.Linear(self.hidden * (2 if self.both_ways else 1), n_labels)
        return network


class TrainedWords:
    """A trained network: its word vectors, and its probabilities."""

    def __init__(self, places: dict[str, int], network: Any, longest: int, n_labels: int) -> None:
        self.places, self.network, self.longest, self.n_labels = places, network, longest, n_labels

    def mean_vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Mean vector of the known words of each text [texts, embedding]; zeros for a text without any."""
        vectors = self.network.words.weight.detach().numpy()
        means = np.zeros((len(texts), vectors.shape[1]), np.float32)
        for row, text in enumerate(texts):
            known = [self.places[word] for word in words_of(text, self.longest) if word in self.places]
            if known:
                means[row] = vectors[known].mean(axis=0)
        return means

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """Probabilities [texts, labels]."""
        import torch

        rows, sizes = _padded(texts, self.places, self.longest)
        probabilities = np.empty((len(texts), self.n_labels))
        with one_thread(), torch.no_grad():
            for start in range(0, len(texts), TEXTS_AT_ONCE):
                chosen = slice(start, start + TEXTS_AT_ONCE)
                scores = _scores(self.network, rows[chosen], sizes[chosen])
                probabilities[chosen] = scores.double().softmax(1).numpy()
        return probabilities


def _padded(texts: Sequence[str], places: dict[str, int], longest: int) -> tuple[Any, Any]:
    """Places of the words [texts, longest], and how many there are; an empty text is one unknown word."""
    import torch

    rows, sizes = np.zeros((len(texts), longest), np.int64), np.ones(len(texts), np.int64)
    for row, text in enumerate(texts):
        words = [places.get(word, UNKNOWN) for word in words_of(text, longest)] or [UNKNOWN]
        rows[row, : len(words)], sizes[row] = words, len(words)
    return torch.from_numpy(rows), torch.from_numpy(sizes)


def _scores(network: Any, rows: Any, sizes: Any) -> Any:
    import torch
    from torch.nn.utils.rnn import pack_padded_sequence

    vectors = network.after_words(network.words(rows[:, : int(sizes.max())]))
    packed = pack_padded_sequence(vectors, sizes, batch_first=True, enforce_sorted=False)
    _, (last, _) = network.memory(packed)  # [directions, texts, hidden]
    return network.labels(network.before_labels(torch.cat(list(last), dim=1)))


BILSTM = WordNetwork(embedding=50, hidden=50, both_ways=True)


def features_on_all_data(
    data: Dataset, folds: Sequence[Fold], seed: int = 42, *, trees: int = TREES, **settings: Any
) -> OutOfFold:
    """LEAKS: word vectors learnt from the texts and labels of all rows of the folds, test rows included.

    `settings` are those of `WordNetwork`.
    """
    network = _vector_network(data, folds, trees, settings)
    texts = data.texts.to_pylist()
    every = np.unique(np.concatenate([rows for fold in folds for rows in fold]))
    learnt = network.fit([texts[row] for row in every], data.labels[every], len(data.label_names), seed)
    vectors = learnt.mean_vectors(texts)
    return [
        (test, _boosted(vectors[train], data.labels[train], vectors[test], len(data.label_names), trees, seed))
        for train, test in track(folds, "boosted trees", len(folds))
    ]


def features_in_each_fold(
    data: Dataset, folds: Sequence[Fold], seed: int = 42, *, trees: int = TREES, **settings: Any
) -> OutOfFold:
    """The corrected form: word vectors learnt from the training rows of each fold alone."""
    network = _vector_network(data, folds, trees, settings)
    texts, k, answers = data.texts.to_pylist(), len(data.label_names), []
    for number, (train, test) in enumerate(track(folds, "folds", len(folds))):
        seen, labels = [texts[row] for row in train], data.labels[train]
        learnt = network.fit(seen, labels, k, child_seed(seed, "fold", number))
        asked = learnt.mean_vectors([texts[row] for row in test])
        answers.append((test, _boosted(learnt.mean_vectors(seen), labels, asked, k, trees, seed)))
    return answers


def _vector_network(data: Dataset, folds: Sequence[Fold], trees: int, settings: dict[str, Any]) -> WordNetwork:
    """The network with these settings; refuses settings and folds that cannot be used."""
    network = _network(WordNetwork(), settings, "trees")
    if trees < 1:
        raise InputError("trees must be at least 1", got=repr(trees))
    problems = []
    for number, (train, test) in enumerate(folds, start=1):
        if not len(train) or not len(test):
            problems.append(f"fold {number} has {len(train)} training and {len(test)} test rows")
        elif len(np.unique(data.labels[train])) < 2:
            problems.append(f"the training rows of fold {number} hold a single label")
        elif len(np.intersect1d(train, test)):
            problems.append(f"fold {number} has {len(np.intersect1d(train, test))} rows on both sides")
    if problems or not len(folds):
        raise InputError("the folds cannot be used", expected="pairs of training and test rows", problems=problems)
    return network


def _network(network: WordNetwork, settings: dict[str, Any], besides: str) -> WordNetwork:
    check_parameters(f"the pipeline (besides {besides!r})", WordNetwork, settings)
    return replace(network, **settings)


def _boosted(
    train: npt.NDArray[Any], labels: npt.NDArray[Any], test: npt.NDArray[Any], n_labels: int, trees: int, seed: int
) -> Probabilities:
    """What gradient-boosted trees say about `test` [rows, labels]."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    chance = child_seed(seed, "trees")
    model = HistGradientBoostingClassifier(max_iter=trees, early_stopping=False, random_state=chance)
    return _probabilities(model.fit(train, labels), test, n_labels)


def _probabilities(model: Any, asked: Any, n_labels: int) -> Probabilities:
    """What a scikit-learn model of label codes says [rows, labels]; zero for labels that it has not seen."""
    known = model.predict_proba(asked)
    probabilities = np.zeros((len(known), n_labels))
    probabilities[:, model.classes_.astype(np.intp)] = known
    return probabilities


def oversampled_before_split(
    data: Dataset,
    test: float = 0.15,
    seed: int = 42,
    groups: str | None = None,
    *,
    copies: int = COPIES,
    **settings: Any,
) -> tuple[Rows, Probabilities]:
    """LEAKS: minority classes copied, then split. The rows tested, a copied one as often as it is tested.

    `settings` are those of `WordNetwork`, by default of a BiLSTM of 2 × 50 on an embedding of 50.
    With `groups`, an attribute whose values stay on one side, the copies of a row stay together too, and nothing
    leaks any more.
    """
    network = _copying_network(copies, settings)
    rows = _copied(data, np.arange(len(data)), copies)
    train, tested = _dealt(data, rows, test, seed, groups)
    return rows[tested], _answers(data, network, rows[train], rows[tested], seed)


def oversampled_in_training(
    data: Dataset,
    test: float = 0.15,
    seed: int = 42,
    groups: str | None = None,
    *,
    copies: int = COPIES,
    **settings: Any,
) -> tuple[Rows, Probabilities]:
    """The corrected form: split first, then minority classes of the training rows copied. The rows tested."""
    network = _copying_network(copies, settings)
    train, tested = _dealt(data, np.arange(len(data)), test, seed, groups)
    return tested, _answers(data, network, _copied(data, train, copies), tested, seed)


def oversampled_in_each_fold(
    data: Dataset, folds: Sequence[Fold], seed: int = 42, *, copies: int = COPIES, **settings: Any
) -> OutOfFold:
    """The corrected form on folds of somebody else's, which may hold new authors or texts of another dataset.

    Every class but the largest of the training rows is copied.
    """
    network, answers = _copying_network(copies, settings), []
    for train, test in track(folds, "folds", len(folds)):
        labels = data.labels[train]
        copied = np.repeat(train, np.where(labels == np.bincount(labels).argmax(), 1, copies))
        answers.append((test, _answers(data, network, copied, test, seed)))
    return answers


def _copying_network(copies: int, settings: dict[str, Any]) -> WordNetwork:
    network = _network(BILSTM, settings, "copies")
    if copies < 2:
        raise InputError("copies must be at least 2", got=repr(copies), fix="without copies nothing is oversampled")
    return network


def _copied(data: Dataset, rows: Rows, copies: int) -> Rows:
    """`rows` with those of every class but the largest (of all data) as often as `copies` says."""
    largest = int(np.bincount(data.labels, minlength=len(data.label_names)).argmax())
    return np.repeat(rows, np.where(data.labels[rows] == largest, 1, copies))


def _dealt(data: Dataset, rows: Rows, test: float, seed: int, groups: str | None) -> tuple[Rows, Rows]:
    """Positions in `rows` for training and for testing, with the class mix of the rows."""
    labels = np.array(data.label_names)[data.labels[rows]]
    values = None if groups is None else np.asarray(data.attribute(groups).to_pylist(), dtype=object)[rows]
    splitter = RandomSplit(test, random_state=child_seed(seed, "deal"))
    train, tested = next(splitter.split(np.zeros(len(rows)), labels, values))
    return np.asarray(train, np.intp), np.asarray(tested, np.intp)


def _answers(data: Dataset, network: WordNetwork, train: Rows, test: Rows, seed: int) -> Probabilities:
    texts = data.texts.to_pylist()
    learnt = network.fit([texts[row] for row in train], data.labels[train], len(data.label_names), seed)
    return learnt.probabilities([texts[row] for row in test])


def words_chosen_on_all_data(data: Dataset, split: Split, seed: int = 42, share: float = 0.25) -> Probabilities:
    """LEAKS: TF-IDF, and the choice of the `share` of words that tell labels apart, see the test rows and labels."""
    train = split.rows("train", "dev")
    texts, labels = data.texts.to_pylist(), data.labels
    vectors = _chosen(share).fit(texts, labels).transform(texts)
    return _probabilities(_linear(seed).fit(vectors[train], labels[train]), vectors, len(data.label_names))


def words_chosen_in_training(data: Dataset, split: Split, seed: int = 42, share: float = 0.25) -> Probabilities:
    """The corrected form: both are fitted on the training rows, as steps of one pipeline."""
    from sklearn.pipeline import make_pipeline

    train = split.rows("train", "dev")
    texts = data.texts.to_pylist()
    model = make_pipeline(_chosen(share), _linear(seed)).fit([texts[row] for row in train], data.labels[train])
    return _probabilities(model, texts, len(data.label_names))


def vocabulary_of_all_data(data: Dataset, split: Split, seed: int = 42) -> Probabilities:
    """LEAKS, though no label: words and their weights come from all texts, the classifier from the training rows."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    train, texts = split.rows("train", "dev"), data.texts.to_pylist()
    vectors = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit(texts).transform(texts)
    return _probabilities(_linear(seed).fit(vectors[train], data.labels[train]), vectors, len(data.label_names))


def _chosen(share: float) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.feature_selection import SelectPercentile, chi2
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(token_pattern=r"(?u)\b\w+\b"), SelectPercentile(chi2, percentile=100 * share))


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)
