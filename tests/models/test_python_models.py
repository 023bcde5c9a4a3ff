from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

from unseen.errors import InputError, MismatchError, UnknownNameError
from unseen.inference import predict
from unseen.models import open_model

MODULE = """
import numpy as np

def array(texts):
    return np.array([[0.3, 0.7]] * len(texts))

def lists(texts):
    return [[0.3, 0.7] for _ in texts]

def dicts(texts):
    return [{"yes": 0.7, "no": 0.3} for _ in texts]

def sure(texts):
    return [{"yes": np.float32(1)} for _ in texts]

def labels(texts):
    return ["yes" if "2" in each else "no" for each in texts]

def label_array(texts):
    return np.array(labels(texts))

def declared(texts):
    return array(texts)

declared.classes_ = ("yes", "no")

def short(texts):
    return labels(texts)[1:]

def nothing(texts):
    return None

def breaks(texts):
    raise KeyError("oops")

def finer(texts):
    return [{"yep": 0.5, "sure": 0.25, "nope": 0.25} for _ in texts]

class Model:
    classes_ = ["yes", "no"]
    def predict_proba(self, texts):
        return array(texts)
    def encode(self, texts):
        return np.ones((len(texts), 2), dtype=np.float32)

class Numbered(Model):
    classes_ = [0, 1]

class Nameless:
    def predict_proba(self, texts):
        return array(texts)

class Needy(Model):
    def __init__(self, path):
        pass

model = Model()
numbered = Numbered()
nothing_callable = 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "mine_for_tests.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine_for_tests", raising=False)


def opened(name, **options):
    return open_model(f"mine_for_tests:{name}", **options)


@pytest.mark.parametrize("name", ["array", "lists"])
def test_columns_need_names(tiny, name):
    found = predict(opened(name, label_names=["yes", "no"]), tiny())
    assert found.probabilities.tolist() == [[0.7, 0.3]] * 4
    assert found.origin.params == {"model": f"mine_for_tests:{name}", "hard": False}
    with pytest.raises(MismatchError, match="which column is which label"):
        predict(opened(name), tiny())
    with pytest.raises(MismatchError, match="2 columns for 3 labels"):
        predict(opened(name, label_names=["a", "b", "c"]), tiny(label_names=("a", "b", "c")))


@pytest.mark.parametrize(
    ("name", "yes"), [("dicts", 0.7), ("sure", 1.0), ("declared", 0.3), ("model", 0.3), ("Model", 0.3)]
)
def test_names_in_the_answer_or_on_the_object(tiny, name, yes):
    found = predict(opened(name), tiny())
    assert found.probabilities[:, 1].tolist() == [yes] * 4
    assert not found.origin.params["hard"]


@pytest.mark.parametrize("name", ["labels", "label_array"])
def test_labels_only_are_marked_hard(tiny, name):
    found = predict(opened(name), tiny())
    assert found.probabilities.tolist() == [[1, 0], [0, 1], [1, 0], [1, 0]]
    assert found.origin.params["hard"] is True


def test_labels_that_are_not_declared(tiny):
    with pytest.raises(UnknownNameError, match="no label is called"):
        predict(opened("labels"), tiny(label_names=("non", "oui")))
    with pytest.raises(UnknownNameError, match="no label is called"):
        predict(opened("dicts"), tiny(label_names=("non", "oui")))
    renamed = opened("labels", rename={"no": "non", "yes": "oui"})
    found = predict(renamed, tiny(label_names=("oui", "non")))
    assert found.probabilities.argmax(axis=1).tolist() == [1, 0, 1, 1]
    assert found.origin.params == {"model": "mine_for_tests:labels", "hard": True}


def test_several_labels_may_become_one(tiny):
    renamed = opened("finer", rename={"yep": "yes", "sure": "yes", "nope": "no"})
    assert predict(renamed, tiny()).probabilities.tolist() == [[0.25, 0.75]] * 4


def test_renaming_what_is_not_there(tiny):
    with pytest.raises(UnknownNameError, match="no label of this model is called 'yess'; did you mean 'yes'"):
        opened("model", rename={"yess": "oui"})
    assert opened("model", rename={"yes": "oui"}).classes_ == ("oui", "no")


def test_numbers_as_labels_can_be_named(tiny):
    assert predict(opened("numbered", label_names=["no", "yes"]), tiny()).probabilities[0].tolist() == [0.3, 0.7]
    with pytest.raises(MismatchError, match="has names for its labels"):
        opened("model", label_names=["a", "b"])
    with pytest.raises(MismatchError, match="has 2 labels, label_names has 3"):
        opened("numbered", label_names=["a", "b", "c"])


def test_a_latent_space_is_passed_on():
    assert opened("model").encode(["a"]).tolist() == [[1, 1]]
    assert opened("model", rename={"yes": "oui"}).encode(["a"]).tolist() == [[1, 1]]
    assert not hasattr(opened("labels", rename={"yes": "oui"}), "encode")
    assert not hasattr(opened("Nameless", label_names=["no", "yes"]), "encode")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("short", "3 rows for 4 texts"),
        ("nothing", "did not answer with a list"),
        ("breaks", "failed on 4 texts: KeyError: 'oops'"),
        ("Nameless", "does not say its labels"),
        ("Needy", "cannot be made without arguments"),
        ("nothing_callable", "is not a model"),
        ("absent", "cannot be imported"),
    ],
)
def test_what_cannot_be_used_says_why(tiny, name, message):
    with pytest.raises(InputError, match=message):
        predict(opened(name), tiny())


def test_a_module_that_is_not_there():
    with pytest.raises(InputError, match="cannot be imported"):
        open_model("no_such_module_here:function")


def test_a_function_asked_without_labels_says_so():
    with pytest.raises(InputError, match="does not say its labels"):
        opened("labels").predict_proba(["a"])


def test_named_answers_are_arrays_of_floats(tiny):
    found = opened("dicts").for_labels(("no", "yes")).predict_proba(["a", "b"])
    assert found.dtype == np.float64
    assert opened("labels").for_labels(("no", "yes")).predict_proba([]).shape == (0, 2)
