"""Networks over words: they learn, read exactly, come back from their folders and can be differentiated."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tiny_data import build
from unseen.errors import InputError, MismatchError
from unseen.models import open_model
from unseen.representations.word_vectors import read_word_vectors
from unseen.roles import Classifier, Encoder, Recipe
from unseen.training import RECIPES
from unseen.training.recurrent import WordClassifier
from unseen.training.word_networks import BothWays, KnownWords, frequent_words
from unseen.types import Dataset

WORDS = {"calm": ["rain", "cloud", "leaf", "river"], "loud": ["drum", "horn", "crowd", "siren"]}
FILLERS = ["the", "a", "on", "by", "of", "near", "old", "new"]
KINDS = ["cnn-gru", "birnn", "birnn-attention"]
ODD = ["", " ", "ζζζ", "rain", "the crowd of the old drum by a new horn, near the siren!!"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def texts_of(number: int, seed: int = 0, names: tuple[str, ...] = ("calm", "loud")) -> Dataset:
    draw = np.random.default_rng(seed)
    labels = ["calm" if code else "loud" for code in draw.integers(2, size=number)]
    texts = [
        " ".join(draw.permutation([*draw.choice(WORDS[label], 2), *draw.choice(FILLERS, draw.integers(6))]).tolist())
        for label in labels
    ]
    return build([f"t{seed}-{row}" for row in range(number)], texts, labels, names)


def small(kind: str, **settings: Any) -> Any:
    return RECIPES.make(kind, **{"hidden": 8, "width": 8, "epochs": 4, "batch": 8, "rate": 2e-2, **settings})


@cache
def trained(kind: str) -> Any:
    return small(kind).fit(texts_of(80), texts_of(20, 1), 42)


@each_kind
def test_it_learns_and_its_vectors_are_what_the_last_layer_reads(kind: str) -> None:
    assert isinstance(RECIPES.make(kind), Recipe)
    model, fresh = trained(kind), texts_of(60, 2)
    assert isinstance(model, Classifier)
    assert isinstance(model, Encoder)
    texts = fresh.texts.to_pylist()
    assert (model.predict_proba(texts).argmax(1) == fresh.labels).mean() > 0.9
    vectors = model.encode(texts)
    assert vectors.dtype == np.float32
    with torch.no_grad():
        scores = model.network.labels(torch.from_numpy(vectors)).double().softmax(1).numpy()
    np.testing.assert_allclose(scores, model.predict_proba(texts), atol=1e-6)


@each_kind
def test_the_same_seed_gives_the_same_model_and_changes_nobody_elses_state(kind: str) -> None:
    train, dev = texts_of(80), texts_of(20, 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    again = small(kind).fit(train.take(np.arange(80)[::-1]), dev, 42)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads + 1
    torch.set_num_threads(threads)
    assert np.array_equal(again.predict_proba(ODD), trained(kind).predict_proba(ODD))
    assert not np.array_equal(small(kind, epochs=1).fit(train, dev, 43).predict_proba(ODD), again.predict_proba(ODD))


@each_kind
def test_a_text_gets_the_same_answer_in_any_company(kind: str) -> None:
    model = trained(kind)
    for ask in (model.predict_proba, model.encode):
        together = ask(ODD)
        assert np.isfinite(together).all()
        np.testing.assert_allclose(np.vstack([ask([text]) for text in ODD]), together, atol=1e-6)
        assert ask([]).shape == (0, together.shape[1])


@each_kind
def test_a_saved_model_says_the_same_and_a_damaged_one_is_refused(kind: str, tmp_path: Path) -> None:
    trained(kind).save(tmp_path / "model")
    again = open_model(str(tmp_path / "model"))
    assert np.array_equal(again.predict_proba(ODD), trained(kind).predict_proba(ODD))
    assert np.array_equal(again.encode(ODD), trained(kind).encode(ODD))
    assert hasattr(again, "attention") == (kind == "birnn-attention")
    about = tmp_path / "model" / "unseen.json"
    about.write_text(about.read_text().replace('"hidden": 8', '"hidden": 9'))
    with pytest.raises(InputError, match="whole network over words"):
        WordClassifier.load(tmp_path / "model")


@each_kind
def test_gradients_can_be_taken_of_word_vectors(kind: str) -> None:
    model = trained(kind)
    vectors, lengths = model.vectors_of(ODD)
    scores = model.network.logits_of_vectors(vectors.requires_grad_(), lengths)
    np.testing.assert_allclose(scores.detach().double().softmax(1), model.predict_proba(ODD), atol=1e-6)
    scores[:, 0].sum().backward()
    felt = vectors.grad.abs().sum(2) > 0
    assert felt.any(1).all()
    assert not felt[torch.arange(felt.shape[1]) >= lengths[:, None]].any()


@each_kind
def test_training_goes_on_from_a_classifier(kind: str) -> None:
    start, turned = trained(kind), ("loud", "calm")
    before = start.predict_proba(ODD)
    other = build([f"x{row}" for row in range(8)], ["snow falls", "hail hits"] * 4, list(turned) * 4, turned)
    still = small(kind, epochs=1, rate=1e-12).fit(other, other.take([]), 7, start=start)
    assert still.words.words == (*start.words.words, "falls", "hail", "hits", "snow")
    np.testing.assert_allclose(still.predict_proba(ODD), before[:, ::-1], atol=1e-6)
    assert np.array_equal(start.predict_proba(ODD), before)
    with pytest.raises(MismatchError, match="hidden is 8 there and 4 here"):
        small(kind, hidden=4).fit(other, other, 7, start=start)


def test_attention_is_aligned_with_the_text() -> None:
    (spans, shares), (nothing, none) = trained("birnn-attention").attention(["Rain, <user> can't!!", ""])
    assert spans == [(0, 4), (4, 5), (6, 12), (13, 18), (18, 20)]
    assert shares.shape == (5,)
    assert shares.sum() == pytest.approx(1, abs=1e-6)
    assert (nothing, none.shape) == ([], (0,))


def test_words_are_known_by_how_many_texts_have_them() -> None:
    texts = ["B b b a", "İ a c", "c"]
    assert frequent_words(texts, 2, 9) == ["a", "c"]
    assert frequent_words(texts, 2, 9, {"b"}) == ["a", "c", "b"]
    assert frequent_words(texts, 1, 1) == ["a"]
    words = KnownWords(["a", "c"], 2)
    assert [words.tokens(texts).padded(np.arange(3), 0)[0].tolist(), words.spans(texts[1])] == [
        [[1, 1], [1, 2], [3, 0]],
        [(0, 1), (2, 3)],
    ]
    with pytest.raises(InputError, match="share no words"):
        frequent_words(["a", "b"], 2, 9)


def test_reading_both_ways_is_torchs_own_on_packed_texts() -> None:
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    torch.manual_seed(0)
    theirs, ours = torch.nn.LSTM(3, 4, batch_first=True, bidirectional=True), BothWays(3, 4)
    for layer, end in ((ours.forwards, "_l0"), (ours.backwards, "_l0_reverse")):
        layer.load_state_dict({f"{name}_l0": getattr(theirs, name + end) for name in
                               ("weight_ih", "weight_hh", "bias_ih", "bias_hh")})  # fmt: skip
    vectors, lengths = torch.randn(3, 5, 3), torch.tensor([5, 1, 3])
    states, (last, _) = theirs(pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False))
    found_states, found_last = ours(vectors, lengths)
    real = (torch.arange(5) < lengths[:, None])[:, :, None]
    torch.testing.assert_close(found_states * real, pad_packed_sequence(states, batch_first=True)[0])
    torch.testing.assert_close(found_last, torch.cat(list(last), dim=1))


def test_word_vectors_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\nrain 1 2\nsnow 3 4\nzebra x\n")
    model = small("birnn", epochs=1, rate=1e-9, vectors=str(path), min_texts=99).fit(texts_of(30), texts_of(5, 1), 1)
    assert model.words.words == ("rain",)
    assert model.vectors_of(["Rain"])[0].tolist() == [[pytest.approx([1, 2], abs=1e-6)]]
    assert (model.settings["width"], model.settings["vectors"]) == (2, "vectors.txt")
    wrong = {"snow 1 2": "any word", "": "any word", "a 1\nrain 1 2": "line 2", "rain inf": "line 1", "rain": "line 1"}
    for content, message in (wrong | {"rain 1 x": "does not hold word vectors"}).items():
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            read_word_vectors(path, {"rain", "a"})


def test_settings_that_are_wrong_are_all_said() -> None:
    with pytest.raises(InputError) as caught:
        small("cnn-gru", hidden=0, min_texts=-1, dropout=1, rate=0)
    assert [problem.split()[0] for problem in caught.value.problems] == ["hidden", "min_texts", "dropout", "rate"]
    with pytest.raises(InputError, match="supervision_weight"):
        small("birnn-attention", supervision_weight=-1)


@each_kind
def test_class_weights_move_the_answers(kind: str) -> None:
    heavy = small(kind, epochs=1, class_weights={"calm": 50}).fit(texts_of(80), texts_of(0, 1), 42)
    plain = small(kind, epochs=1).fit(texts_of(80), texts_of(0, 1), 42)
    assert heavy.predict_proba(ODD)[:, 0].mean() > plain.predict_proba(ODD)[:, 0].mean() + 0.1
