from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression as Reference
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_union

from unseen.data.sample import sample_corpus
from unseen.errors import InputError, MismatchError, UnknownNameError
from unseen.inference import predict
from unseen.roles import Classifier, Recipe
from unseen.seeding import child_seed
from unseen.training import CLASSIFIERS, RECIPES
from unseen.training.features import Vocabulary, pieces
from unseen.training.labelled_texts import label_weights, labelled_texts
from unseen.training.linear import TEMPERATURES, CharacterLogistic, LinearClassifier, LinearSVM, LogisticRegression

RECIPE_NAMES = ["logistic", "svm"]
"""Those whose C dev chooses."""


@pytest.fixture(scope="module")
def parts():
    data = sample_corpus(600)
    order = np.random.default_rng(0).permutation(len(data))
    return data.take(order[:400]), data.take(order[400:500]), data.take(order[500:])


def lengths(texts):
    """Vectors of a user's own: how long a text is, and what it asks."""
    return np.array([[len(each), each.count("?"), each.count("thank"), 1.0] for each in texts])


def accuracy(classifier, data):
    return (predict(classifier, data).probabilities.argmax(axis=1) == data.labels).mean()


@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_a_recipe_gives_a_classifier_that_has_learnt(parts, name):
    train, dev, test = parts
    recipe = RECIPES.make(name)
    classifier = recipe.fit(train, dev, 42)
    assert isinstance(recipe, Recipe)
    assert isinstance(classifier, Classifier)
    assert classifier.classes_ == train.label_names
    assert accuracy(classifier, test) > 0.7
    assert not hasattr(classifier, "encode")
    assert predict(classifier, test).origin.params["model"] == f"{name}.v1"


def test_logistic_regression_is_that_of_scikit_learn(parts):
    train, dev, test = parts
    found = LogisticRegression(C=3).fit(train, dev, 42).predict_proba(test.texts.to_pylist())
    weigh = make_union(
        TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2), token_pattern=r"\b\w+\b"),
        TfidfVectorizer(sublinear_tf=True, min_df=2, analyzer="char_wb", ngram_range=(2, 5)),
    )
    rows = weigh.fit_transform(train.texts.to_pylist())
    reference = Reference(C=3, max_iter=2000, tol=1e-6).fit(rows, train.labels)
    expected = reference.predict_proba(weigh.transform(test.texts.to_pylist()))
    np.testing.assert_allclose(found, expected, atol=0.015)


@pytest.mark.parametrize("labels", [2, 4])
def test_character_ngrams_are_those_of_scikit_learn(parts, labels, tmp_path):
    """The published classifier: grid search by micro F1 in five folds, balanced, over character TF-IDF."""
    train, dev, test = (part.take(np.flatnonzero(part.labels < labels)) for part in parts)
    texts = labelled_texts(train)
    weigh = TfidfVectorizer(analyzer="char", ngram_range=(2, 6), sublinear_tf=True, min_df=0.001, max_df=0.8)
    rows = weigh.fit_transform(texts.texts)
    solver = Reference(solver="liblinear" if labels == 2 else "newton-cg", class_weight="balanced", max_iter=1000)
    dealt = StratifiedKFold(5, shuffle=True, random_state=child_seed(7, "folds"))
    grid = GridSearchCV(solver, {"C": sorted(CharacterLogistic.choices)}, scoring="f1_micro", cv=dealt)
    grid.fit(rows, texts.labels)
    classifier = CharacterLogistic().fit(train, dev, 7)
    assert classifier.settings["C"] == grid.best_params_["C"]
    asked = test.texts.to_pylist()
    expected = np.zeros((len(asked), len(train.label_names)))
    expected[:, :labels] = grid.predict_proba(weigh.transform(asked))
    np.testing.assert_allclose(classifier.predict_proba(asked), expected, atol=1e-3)
    classifier.save(tmp_path / "model")
    assert np.array_equal(
        LinearClassifier.load(tmp_path / "model").predict_proba(asked), classifier.predict_proba(asked)
    )


def test_character_ngrams_of_too_few_texts_take_the_default(tiny):
    three = tiny(list("abc"), ["tea tea", "tea rain", "rain rain"], ["no", "yes", "yes"])
    assert CharacterLogistic().fit(three, three, 1).settings["C"] == CharacterLogistic.default


def test_two_labels_are_those_of_scikit_learn(tiny):
    texts = [f"{'tea' if i % 2 else 'rain'} number {i % 7}" for i in range(40)]
    data = tiny([str(i) for i in range(40)], texts, ["yes" if i % 2 else "no" for i in range(40)])
    found = LogisticRegression(lambda said: lengths([each.replace("tea", "?") for each in said]), C=1.0)
    classifier = found.fit(data, data.take([]), 1)
    probabilities = classifier.predict_proba(["tea number 1", "rain number 1"])
    assert probabilities.argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    vectors = lengths([each.replace("tea", "?") for each in texts])
    spread = np.where(vectors.std(axis=0) > 0, vectors.std(axis=0), 1)
    reference = Reference(C=1.0).fit((vectors - vectors.mean(axis=0)) / spread, data.labels)
    scaled = (lengths(["? number 1", "rain number 1"]) - vectors.mean(axis=0)) / spread
    np.testing.assert_allclose(probabilities, reference.predict_proba(scaled), atol=1e-3)


@pytest.mark.filterwarnings("ignore::unseen.errors.UnseenWarning")  # of values of C that are too high
@pytest.mark.parametrize("class_weights", [None, {"praise": 5}])
@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_dev_chooses_c_by_log_loss(parts, name, class_weights):
    """Weighted as in training: the best C by plain log loss is another one."""
    train, dev, _ = parts
    recipe = RECIPES.make(name, class_weights=class_weights)
    chosen = recipe.fit(train, dev, 42)
    per_row = label_weights(labelled_texts(train), class_weights)[dev.labels]

    def loss(classifier):
        return log_loss(dev.labels, predict(classifier, dev).probabilities, sample_weight=per_row)

    tried = {C: loss(RECIPES.make(name, C=C, class_weights=class_weights).fit(train, dev, 42)) for C in recipe.choices}
    assert chosen.settings["C"] == min(tried, key=tried.get)
    assert loss(chosen) == pytest.approx(min(tried.values()), rel=1e-6)


@pytest.mark.parametrize("class_weights", [None, "balanced", {"praise": 0.05}])
def test_the_factor_of_the_margins_has_the_lowest_weighted_log_loss(parts, class_weights):
    train, dev, _ = parts
    texts = dev.texts.to_pylist()
    per_row = label_weights(labelled_texts(train), class_weights)[dev.labels]
    margins = np.log(LinearSVM(C=1.0, class_weights=class_weights).fit(train, dev.take([]), 42).predict_proba(texts))
    losses = [log_loss(dev.labels, softmax(margins * each, axis=1), sample_weight=per_row) for each in TEMPERATURES]
    found = LinearSVM(C=1.0, class_weights=class_weights).fit(train, dev, 42).predict_proba(texts)
    assert log_loss(dev.labels, found, sample_weight=per_row) == pytest.approx(min(losses), rel=1e-9)


def test_margins_are_scaled_on_dev(parts):
    train, dev, _ = parts
    scaled = LinearSVM(C=1.0).fit(train, dev, 42)
    raw = LinearSVM(C=1.0).fit(train, dev.take([]), 42)
    texts = dev.texts.to_pylist()
    before, after = raw.predict_proba(texts), scaled.predict_proba(texts)
    assert (before.argmax(axis=1) == after.argmax(axis=1)).all()
    assert log_loss(dev.labels, after) < log_loss(dev.labels, before)


@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_without_dev_there_is_a_default(parts, name):
    train, dev, test = parts
    recipe = RECIPES.make(name)
    classifier = recipe.fit(train, dev.take([]), 42)
    assert classifier.settings["C"] == recipe.default
    assert accuracy(classifier, test) > 0.7


@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_a_saved_model_says_the_same(parts, name, tmp_path):
    train, dev, test = parts
    classifier = RECIPES.make(name).fit(train, dev, 42)
    classifier.save(tmp_path / "model")
    again = CLASSIFIERS.get("linear").load(tmp_path / "model")
    texts = [*test.texts.to_pylist(), "", "zzzz", "ünïcode \u2028 \ud83d\ude00"]
    assert np.array_equal(again.predict_proba(texts), classifier.predict_proba(texts))
    assert again.classes_ == classifier.classes_
    assert again.settings == classifier.settings
    assert {each.name for each in (tmp_path / "model").iterdir()} == {"unseen.json", "vocabulary.json", "weights.npz"}


@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_the_order_of_rows_decides_nothing(parts, name):
    train, dev, test = parts
    texts = test.texts.to_pylist()
    backwards = np.arange(len(train))[::-1]
    first = RECIPES.make(name).fit(train, dev, 42).predict_proba(texts)
    second = RECIPES.make(name).fit(train.take(backwards), dev, 42).predict_proba(texts)
    assert np.array_equal(first, second)


THREADS = """
import hashlib, numpy as np
from unseen.data.sample import sample_corpus
from unseen.training.linear import LogisticRegression, LinearSVM
data = sample_corpus(300)
random = np.random.default_rng(0).normal(size=(1000, 60))
vectors = lambda texts: np.array([random[len(t)] + random[t.count("e") * 7] for t in texts])
for features in ("tfidf", vectors):
    for recipe in (LogisticRegression, LinearSVM):
        said = recipe(features).fit(data.take(np.arange(200)), data.take(np.arange(200, 250)), 1)
        print(hashlib.sha256(said.predict_proba(data.texts.to_pylist()).tobytes()).hexdigest())
"""


def test_one_and_two_threads_say_the_same():
    said = [
        subprocess.run(
            [sys.executable, "-c", THREADS],
            env=os.environ | {"OMP_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in ("1", "2")
    ]
    assert len(said[0].split()) == 4
    assert said[0] == said[1]


def test_class_weights_move_the_answers(parts):
    train, dev, test = parts
    plain = predict(LogisticRegression(C=1).fit(train, dev, 1), test).probabilities.mean(axis=0)
    heavy = LogisticRegression(C=1, class_weights={"praise": 20}).fit(train, dev, 1)
    column = train.label_names.index("praise")
    assert predict(heavy, test).probabilities.mean(axis=0)[column] > plain[column] + 0.1
    balanced = predict(LogisticRegression(C=1, class_weights="balanced").fit(train, dev, 1), test).probabilities
    assert balanced.mean(axis=0)[column] > plain[column]
    assert heavy.settings["class_weights"] == {"praise": 20}


def test_weights_average_one_over_the_rows(tiny):
    examples = labelled_texts(tiny(list("abcdef"), labels=["no"] * 4 + ["yes"] * 2, label_names=("no", "yes", "never")))
    balanced = label_weights(examples, "balanced")
    np.testing.assert_allclose(balanced, [0.75, 1.5, 0])
    root = label_weights(examples, "root")
    np.testing.assert_allclose(root[:2] / root[1], np.sqrt(balanced[:2] / balanced[1]))
    assert label_weights(examples, {"yes": 3})[examples.labels].mean() == pytest.approx(1)
    assert label_weights(examples, None).tolist() == [1, 1, 1]
    assert label_weights(examples, False).tolist() == [1, 1, 1]
    assert label_weights(examples, True).tolist() == balanced.tolist()


@pytest.mark.parametrize("name", RECIPE_NAMES)
def test_a_label_without_training_texts_gets_nothing(parts, name):
    train, dev, test = parts
    without = train.take(np.flatnonzero(train.labels != 1))
    found = predict(RECIPES.make(name).fit(without, dev, 42), test).probabilities
    assert found[:, 1].tolist() == [0] * len(test)
    assert (found[:, [0, 2]] > 0).all()


def test_features_of_your_own(parts, tmp_path):
    train, dev, test = parts

    class Mine:
        encode = staticmethod(lengths)

    by_function = LogisticRegression(lengths).fit(train, dev, 42)
    by_object = LogisticRegression(Mine()).fit(train, dev, 42)
    assert accuracy(by_function, test) > (test.labels == 0).mean()
    assert np.array_equal(predict(by_function, test).probabilities, predict(by_object, test).probabilities)
    with pytest.raises(InputError, match="cannot be saved"):
        by_object.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_encoder_by_its_registered_name(parts, tmp_path, monkeypatch):
    from unseen.representations import ENCODERS

    class Named:
        def encode(self, texts):
            return lengths(texts)

    module = type(sys)("named_encoder")
    module.Named = Named
    monkeypatch.setitem(sys.modules, "named_encoder", module)
    monkeypatch.setitem(ENCODERS._places, "lengths.v1", "named_encoder:Named")
    train, dev, test = parts
    classifier = LogisticRegression("lengths").fit(train, dev, 42)
    assert classifier.settings["features"] == "lengths.v1"
    classifier.save(tmp_path)
    texts = test.texts.to_pylist()
    assert np.array_equal(LinearClassifier.load(tmp_path).predict_proba(texts), classifier.predict_proba(texts))


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ("tfidf.v1", InputError, "cannot be features by its name"),
        ("os:getcwd", InputError, "cannot be features by its name"),
        ("no-such-encoder", UnknownNameError, "no encoder is called"),
        (3, InputError, "features are wrong"),
        (lambda texts: np.zeros((2, 3)), InputError, "wrong shape"),
        (lambda texts: np.full((len(texts), 3), np.nan), InputError, "not finite"),
    ],
)
def test_features_that_are_wrong(parts, features, error, message):
    with pytest.raises(error, match=message):
        LogisticRegression(features).fit(parts[0], parts[1], 42)


@pytest.mark.parametrize("name", [*RECIPE_NAMES, "neural"])
def test_parts_nothing_can_be_learnt_from(parts, tiny, name):
    train, dev, _ = parts
    recipe = RECIPES.make(name)
    with pytest.raises(InputError, match="no texts to train on"):
        recipe.fit(train.take([]), dev, 42)
    with pytest.raises(InputError, match="a single label"):
        recipe.fit(train.take(np.flatnonzero(train.labels == 0)), dev, 42)
    with pytest.raises(MismatchError, match="different labels"):
        recipe.fit(train, tiny(), 42)
    with pytest.raises(InputError, match="share no words"):
        recipe.fit(tiny(texts=["", " ", "  ", ""]), tiny().take([]), 42)
    with pytest.raises(UnknownNameError, match="did you mean 'praise'"):
        RECIPES.make(name, class_weights={"prase": 2}).fit(train, dev, 42)
    for wrong in ({"praise": 0}, {"praise": -1}, {"praise": np.inf}, "even"):
        with pytest.raises(InputError, match="class_weights"):
            RECIPES.make(name, class_weights=wrong)


def test_c_must_be_above_zero():
    with pytest.raises(InputError, match="C must be above zero"):
        LogisticRegression(C=0)


@pytest.mark.parametrize("damage", ["weights.npz", "vocabulary.json", "unseen.json", "empty", "features", "shorter"])
def test_a_damaged_folder_is_refused(parts, tmp_path, damage):
    LogisticRegression(C=1).fit(parts[0], parts[1], 42).save(tmp_path)
    if damage == "empty":
        (tmp_path / "weights.npz").write_bytes(b"")
    elif damage == "features":
        path = tmp_path / "unseen.json"
        path.write_text(path.read_text().replace('"tfidf"', '"os:getcwd"'))
    elif damage == "shorter":
        (tmp_path / "vocabulary.json").write_text('{"words": ["a"], "pieces": []}')
    else:
        (tmp_path / damage).unlink()
    with pytest.raises(InputError):
        LinearClassifier.load(tmp_path)


def test_the_vocabulary_needs_terms_in_two_of_many_texts():
    few = Vocabulary.of(["rain falls", "sun shines"])
    assert few.terms["words"] == ["falls", "rain", "rain falls", "shines", "sun", "sun shines"]
    many = Vocabulary.of(["rain falls"] * 199 + ["sun shines"])
    assert many.terms["words"] == ["falls", "rain", "rain falls"]


@pytest.mark.parametrize("text", ["Rain\u00a0 falls, a FALL", "", " \t", "ΟΔΟΣ Σ\x1cİstanbul", "x ab abc abcd abcde"])
def test_pieces_are_those_of_scikit_learn_in_its_order(text):
    assert pieces(text) == TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5)).build_analyzer()(text)
