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

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.pipelines.word_network import WordNetwork
from unseen.errors import InputError
from unseen.progress import track
from unseen.registry import Registry, check_parameters
from unseen.seeding import child_seed
from unseen.splits.random import RandomSplit
from unseen.types import Dataset, Split

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

Rows = npt.NDArray[np.intp]
Probabilities = npt.NDArray[np.float64]
Fold = tuple[Rows, Rows]
OutOfFold = list[tuple[Rows, Probabilities]]
"""For each fold the rows it tested and their probabilities, columns in the order of the data's labels."""

TREES = 100
COPIES = 3
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
