from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import unseen
from unseen.errors import InputError, UnknownNameError
from unseen.representations import ENCODERS, encode_texts
from unseen.representations.tfidf import TfidfEncoder
from unseen.roles import Encoder

WORDS = ["sun", "rain", "wind", "snow", "storm", "cloud", "frost", "hail", "fog", "dew"]


def texts(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(2, 9))) for _ in range(n)]


def test_one_finite_vector_per_text():
    vectors = TfidfEncoder(dimensions=4).encode(texts())
    assert vectors.shape == (150, 4)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert vectors.any(axis=1).all()


def test_dimensions_are_as_many_as_texts_and_words_allow():
    assert TfidfEncoder(dimensions=50).encode(texts()).shape == (150, len(WORDS) - 1)
    assert TfidfEncoder(dimensions=50).encode(["sun rain", "wind snow", "fog"]).shape == (3, 2)


def test_with_nearly_all_dimensions_similarities_are_those_of_tfidf():
    given = texts(60)
    exact = TfidfVectorizer(sublinear_tf=True).fit_transform(given)
    vectors = TfidfEncoder(dimensions=9).encode(given)
    assert np.corrcoef((vectors @ vectors.T).ravel(), (exact @ exact.T).toarray().ravel())[0, 1] > 0.98


def test_the_same_vectors_every_time_and_others_for_another_seed():
    given = texts()
    assert (TfidfEncoder(4).encode(given) == TfidfEncoder(4).encode(given)).all()
    assert not (TfidfEncoder(4).encode(given) == TfidfEncoder(4, seed=7).encode(given)).all()


def test_the_order_of_a_dataset_decides_nothing(tiny):
    data = tiny(ids=[f"{row:03}" for row in range(150)], texts=texts())
    order = np.random.default_rng(1).permutation(150)
    straight, shuffled = unseen.encode(data, dimensions=5), unseen.encode(data.take(order), dimensions=5)
    assert (straight.vectors[order] == shuffled.vectors).all()


def test_a_text_without_a_known_word_gets_the_mean():
    vectors = TfidfEncoder(4).encode([*texts(), "", "?!", "a"])
    assert np.allclose(vectors[150:], vectors[:150].mean(axis=0), atol=1e-6)


def test_in_many_texts_a_word_must_occur_twice():
    vectors = TfidfEncoder(4).encode([*texts(210), "unheard", "unseen"])
    assert np.allclose(vectors[210:], vectors[:210].mean(axis=0), atol=1e-6)


def digest_with(threads):
    program = (
        "import hashlib, numpy as np; from unseen.representations.tfidf import TfidfEncoder\n"
        "rng = np.random.default_rng(0); words = np.array([f'word{i}' for i in range(800)])\n"
        "texts = [' '.join(words[np.minimum(rng.zipf(1.3, 12), 799)]) for _ in range(900)]\n"
        "print(hashlib.sha256(TfidfEncoder(30).encode(texts).tobytes()).hexdigest())"
    )
    threaded = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED"), threads)
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | threaded, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_one_thread_and_two_give_identical_vectors():
    assert digest_with("1") == digest_with("2") != hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize(
    ("given", "message"),
    [(["", " ", "?"], "share no words"), ([], "share no words"), (["sun", "sun"], "too few texts or words"),
     (["sun rain"], "too few texts or words")],
)  # fmt: skip
def test_texts_that_say_too_little_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        TfidfEncoder().encode(given)


def test_wrong_settings_are_refused():
    with pytest.raises(InputError, match="dimensions must be at least 1"):
        TfidfEncoder(0).encode(texts())
    with pytest.raises(InputError, match="did you mean 'dimensions'"):
        encode_texts(texts(), "tfidf", dimension=3)
    with pytest.raises(UnknownNameError, match="did you mean 'tfidf'"):
        encode_texts(texts(), "tf-idf")


def test_every_encoder_satisfies_the_role():
    for name in ENCODERS:
        assert isinstance(ENCODERS.make(name), Encoder)
