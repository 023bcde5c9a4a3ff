from __future__ import annotations

import builtins
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from unseen.errors import InputError, MissingPackageError
from unseen.inference import predict
from unseen.models import open_model

skops_io = pytest.importorskip("skops.io")
joblib = pytest.importorskip("joblib")

TEXTS = ["warm tea", "cold rain", "more tea", "much rain"]
LABELS = ["yes", "no", "yes", "no"]


def shorten(texts):
    return [each[:50] for each in texts]


def pipeline(last=None, labels=LABELS):
    return make_pipeline(TfidfVectorizer(), last or LogisticRegression()).fit(TEXTS, labels)


def test_a_skops_file_says_what_the_pipeline_says(tiny, tmp_path):
    model = pipeline()
    skops_io.dump(model, tmp_path / "model.skops")
    data = tiny(texts=TEXTS)
    found = predict(open_model(tmp_path / "model.skops"), data)
    np.testing.assert_allclose(found.probabilities, model.predict_proba(TEXTS))
    assert found.origin.params == {"model": "model.skops", "hard": False}


def test_types_that_skops_does_not_know_are_listed(tiny, tmp_path):
    model = make_pipeline(FunctionTransformer(shorten), TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    skops_io.dump(model, tmp_path / "model.skops")
    with pytest.raises(InputError, match="not known to be harmless") as caught:
        open_model(tmp_path / "model.skops")
    assert [each.rpartition(".")[2] for each in caught.value.problems] == ["shorten"]
    assert "trust" in caught.value.fix
    assert len(predict(open_model(tmp_path / "model.skops", trust=True), tiny(texts=TEXTS)).ids) == 4


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (self.path,))


@pytest.mark.parametrize("suffix", [".joblib", ".pkl", ".pickle"])
def test_a_pickle_is_opened_only_with_trust(tiny, tmp_path, suffix):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(pickle.dumps(Bomb(str(tmp_path / "ran"))))
    with pytest.raises(InputError, match="runs any code"):
        open_model(path)
    assert not (tmp_path / "ran").exists()
    joblib.dump(pipeline(), path)
    found = predict(open_model(path, trust=True), tiny(texts=TEXTS))
    assert found.probabilities.argmax(axis=1).tolist() == [1, 0, 1, 0]


def test_without_probabilities_the_answers_are_hard(tiny, tmp_path):
    skops_io.dump(pipeline(LinearSVC()), tmp_path / "model.skops")
    found = predict(open_model(tmp_path / "model.skops"), tiny(texts=TEXTS))
    assert found.probabilities.tolist() == [[0, 1], [1, 0], [0, 1], [1, 0]]
    assert found.origin.params["hard"] is True


def test_labels_that_are_numbers_can_be_named(tiny, tmp_path):
    skops_io.dump(pipeline(labels=[1, 0, 1, 0]), tmp_path / "model.skops")
    found = predict(open_model(tmp_path / "model.skops", label_names=["no", "yes"]), tiny(texts=TEXTS))
    assert found.probabilities.argmax(axis=1).tolist() == [1, 0, 1, 0]


def test_what_is_no_pipeline_of_texts(tiny, tmp_path):
    skops_io.dump(TfidfVectorizer().fit(TEXTS), tmp_path / "words.skops")
    with pytest.raises(InputError, match="does not hold a fitted classifier"):
        open_model(tmp_path / "words.skops")
    skops_io.dump(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]), tmp_path / "numbers.skops")
    with pytest.raises(InputError, match="failed on texts"):
        predict(open_model(tmp_path / "numbers.skops"), tiny())
    (tmp_path / "broken.skops").write_bytes(b"not a zip")
    with pytest.raises(InputError, match="cannot be read"):
        open_model(tmp_path / "broken.skops")
    with pytest.raises(InputError, match="there is no file"):
        open_model(tmp_path / "absent.skops")


@pytest.mark.parametrize(("suffix", "package"), [(".skops", "skops"), (".joblib", "joblib")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, suffix, package):
    path = Path(tmp_path / f"model{suffix}")
    path.write_bytes(b"")
    whole = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return whole(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackageError, match=package):
        open_model(path, trust=True)
