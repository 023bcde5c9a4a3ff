from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from unseen.data.sample import sample_corpus
from unseen.errors import InputError
from unseen.inference import predict
from unseen.progress import reporting
from unseen.roles import Classifier, Encoder, Recipe
from unseen.training import CLASSIFIERS, RECIPES
from unseen.training.features import BUCKETS, HASHED_PIECES, HashedTerms, HashedTexts
from unseen.training.labelled_texts import labelled_texts
from unseen.training.neural import HashedNetwork, NeuralClassifier, _bags, _Part, _RowAdam, weighted_loss

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def parts():
    data = sample_corpus(800)
    order = np.random.default_rng(0).permutation(len(data))
    return data.take(order[:600]), data.take(order[600:700]), data.take(order[700:])


@pytest.fixture(scope="module")
def trained(parts):
    return HashedNetwork().fit(parts[0], parts[1], 42)


def test_the_recipe_gives_a_classifier_that_has_learnt(parts, trained):
    assert isinstance(RECIPES.make("neural"), Recipe)
    assert isinstance(trained, Classifier)
    assert isinstance(trained, Encoder)
    found = predict(trained, parts[2])
    assert (found.probabilities.argmax(axis=1) == parts[2].labels).mean() > 0.65
    assert found.origin.params == {"model": "neural.v1", "hard": False}


def test_the_bottleneck_is_what_is_encoded(parts, trained):
    texts = parts[2].texts.to_pylist()
    vectors = trained.encode(texts)
    assert vectors.shape == (len(texts), 50)
    assert vectors.dtype == np.float32
    scores = trained.network.head[1:](torch.from_numpy(vectors)).detach().double().softmax(1).numpy()
    np.testing.assert_allclose(scores, trained.predict_proba(texts), atol=1e-6)


def test_the_same_seed_gives_the_same_model(parts, trained):
    train, dev, test = parts
    texts = test.texts.to_pylist()
    expected = trained.predict_proba(texts)
    torch.manual_seed(5)
    again = HashedNetwork().fit(train.take(np.arange(len(train))[::-1]), dev, 42)
    assert np.array_equal(again.predict_proba(texts), expected)
    assert not np.array_equal(HashedNetwork().fit(train, dev, 43).predict_proba(texts), expected)


def test_nobody_elses_random_numbers_or_threads_change(parts):
    train, dev, _ = parts
    torch.set_num_threads(2)
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    HashedNetwork(epochs=1).fit(train, dev, 42).predict_proba(["a text"])
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == 2


def test_texts_may_be_asked_in_any_company(parts, trained):
    texts = parts[2].texts.to_pylist()
    alone = np.vstack([trained.predict_proba([each]) for each in texts[:20]])
    np.testing.assert_allclose(alone, trained.predict_proba(texts)[:20], atol=1e-6)


def test_texts_of_nothing_known_get_finite_answers(trained):
    texts = ["", " ", "ζζζζζ", "\U0001f600"]
    assert np.isfinite(trained.encode(texts)).all()
    np.testing.assert_allclose(trained.predict_proba(texts).sum(axis=1), 1)
    assert trained.predict_proba([]).shape == (0, 3)
    assert trained.encode([]).shape == (0, 50)


def test_a_saved_model_says_the_same(parts, trained, tmp_path):
    trained.save(tmp_path / "model")
    again = CLASSIFIERS.get("neural").load(tmp_path / "model")
    texts = [*parts[2].texts.to_pylist(), "", "zzzz"]
    assert np.array_equal(again.predict_proba(texts), trained.predict_proba(texts))
    assert np.array_equal(again.encode(texts), trained.encode(texts))
    assert {each.name for each in (tmp_path / "model").iterdir()} == {"unseen.json", "model.safetensors"}
    said = json.loads((tmp_path / "model" / "unseen.json").read_text())
    assert said["classifier"] == "neural.v1"
    assert said["label_names"] == list(parts[0].label_names)


@pytest.mark.parametrize("damage", ["model.safetensors", "unseen.json", "cut", "settings"])
def test_a_damaged_folder_is_refused(trained, tmp_path, damage):
    trained.save(tmp_path)
    if damage == "cut":
        whole = (tmp_path / "model.safetensors").read_bytes()
        (tmp_path / "model.safetensors").write_bytes(whole[:-10])
    elif damage == "settings":
        path = tmp_path / "unseen.json"
        path.write_text(path.read_text().replace('"bottleneck": 50', '"bottleneck": 49'))
    else:
        (tmp_path / damage).unlink()
    with pytest.raises(InputError):
        NeuralClassifier.load(tmp_path)


def test_the_best_epoch_on_dev_is_kept(parts):
    train, dev, _ = parts

    def loss(classifier):
        said = predict(classifier, dev).probabilities
        return -np.log(said[np.arange(len(dev)), dev.labels]).mean()

    found = HashedNetwork(epochs=12, patience=2).fit(train, dev, 1)
    losses = [loss(HashedNetwork(epochs=n, patience=99).fit(train, dev.take([]), 1)) for n in range(1, 13)]
    best = 1 + next(n for n in range(12) if losses[n] < min(losses[n + 1 : n + 3], default=np.inf))
    assert found.settings["best_epoch"] == best
    assert loss(found) == pytest.approx(losses[best - 1], rel=1e-5)


def test_without_dev_all_epochs_are_trained(parts):
    seen = []
    with reporting(lambda now: seen.append((now.done, now.total))):
        found = HashedNetwork(epochs=2).fit(parts[0], parts[1].take([]), 1)
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert found.settings["best_epoch"] == 2


def test_class_weights_move_the_answers(parts):
    train, dev, test = parts
    plain = predict(HashedNetwork(epochs=3).fit(train, dev, 1), test).probabilities.mean(axis=0)
    heavy = predict(HashedNetwork(epochs=3, class_weights={"praise": 20}).fit(train, dev, 1), test)
    column = train.label_names.index("praise")
    assert heavy.probabilities.mean(axis=0)[column] > plain[column] + 0.1


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_of_a_batch_is_weighted_by_row(parts, trained, smoothing):
    """Neither divided by the weights of the batch nor smoothed towards rare labels; without weights torch's own."""
    part, rows = _Part(trained.terms, labelled_texts(parts[0])), np.arange(37)
    trained.network.eval()
    scores = trained.network.head(_bags(trained.network, part.rows[rows]))
    labels, cross_entropy = part.labels[rows], torch.nn.functional.cross_entropy
    plain = cross_entropy(scores, labels, torch.ones(3), label_smoothing=smoothing)
    assert torch.equal(weighted_loss(scores, labels, torch.ones(3), smoothing), plain)
    weights = torch.tensor([0.5, 9.0, 1.5])
    each = cross_entropy(scores, labels, label_smoothing=smoothing, reduction="none")
    found = weighted_loss(scores, labels, weights, smoothing)
    torch.testing.assert_close(found, (each * weights[labels]).mean())


def test_a_label_without_training_texts_is_still_a_column(parts):
    train, dev, test = parts
    found = predict(HashedNetwork(epochs=2).fit(train.take(np.flatnonzero(train.labels != 1)), dev, 1), test)
    assert found.probabilities.shape == (len(test), 3)
    assert (found.probabilities.argmax(axis=1) != 1).all()


def test_settings_that_are_wrong_are_all_said():
    with pytest.raises(InputError) as caught:
        HashedNetwork(bottleneck=0, dropout=1, rate=0)
    assert [each.split()[0] for each in caught.value.problems] == ["bottleneck", "rate", "dropout"]


def test_hashes_are_the_same_on_every_machine():
    terms = HashedTerms.of(HashedTexts(["rain", "rain falls"]))
    words = terms.seen[terms.seen < BUCKETS]
    assert words.tolist() == [1374644, 2190596, 2895492]  # falls, rain falls, rain


def test_hashed_terms_are_tfidf_of_scikit_learn(parts):
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = parts[0].texts.to_pylist()
    hashed = HashedTexts(texts)
    terms = HashedTerms.of(hashed)
    rows = terms.transform(hashed).toarray()
    weigh = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2), token_pattern=r"\b\w+\b")
    expected = weigh.fit_transform(texts)
    words = rows[:, : np.searchsorted(terms.seen, BUCKETS)]
    differences = np.abs(words @ words.T - (expected @ expected.T).toarray())
    assert (differences > 1e-3).mean() < 0.01  # a few terms of thousands share a bucket
    assert differences.mean() < 1e-4


@pytest.mark.parametrize("texts", [["Rain\u00a0 falls, rain FALLS", "", " \t", "ΟΔΟΣ Σ\x1cİstanbul"], ["", " "]])
def test_hashed_pieces_are_those_of_scikit_learn(texts):
    from sklearn.feature_extraction.text import HashingVectorizer

    hasher = HashingVectorizer(n_features=BUCKETS, alternate_sign=False, norm=None, dtype=np.float32, **HASHED_PIECES)
    expected, (start, counts) = hasher.transform(texts), HashedTexts(texts).blocks[1]
    assert (start, counts.shape, counts.dtype) == (BUCKETS, expected.shape, np.float32)
    for name in ("indptr", "indices", "data"):
        assert getattr(counts, name).tolist() == getattr(expected, name).tolist()


def test_the_optimiser_of_the_bag_is_that_of_torch_to_the_last_bit(parts):
    part = _Part(HashedTerms.of(HashedTexts(parts[0].texts.to_pylist())), labelled_texts(parts[0]))
    width, random = 8, torch.Generator().manual_seed(3)
    ours, torchs = (
        torch.nn.EmbeddingBag(part.rows.shape[1], width, mode="sum", sparse=sparse) for sparse in (False, True)
    )
    ours.load_state_dict(torchs.state_dict())
    optimiser, expected = _RowAdam(ours.weight, 0.01), torch.optim.SparseAdam(torchs.parameters(), lr=0.01)
    for start in (0, 40, 20, 70):
        rows, gradient = part.rows[start : start + 64], torch.randn(64, width, generator=random)
        optimiser.step(rows, gradient)
        expected.zero_grad()
        (_bags(SimpleNamespace(bag=torchs), rows) * gradient).sum().backward()
        expected.step()
        assert torch.equal(ours.weight, torchs.weight)
