"""Where words come from, which are allowed, and recipes that lack something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiny_transformer import SMALL, write_transformer
from unseen.attacks import ATTACKS, recipes
from unseen.attacks.recipes import TextFooler, cosines, same_part
from unseen.attacks.search import Informants, attack_texts
from unseen.attacks.sources import MaskedWords, Neighbours, read_neighbours
from unseen.attacks.worded_text import WordedText
from unseen.errors import InputError


def places(*words: str) -> list[tuple[WordedText, int]]:
    return [(WordedText.of(word), 0) for word in words]


def test_neighbours_are_the_nearest_by_brute_force() -> None:
    draw = np.random.default_rng(1)
    words, vectors = [f"w{row}" for row in range(40)], draw.normal(size=(40, 5))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = Neighbours(words, vectors, 6, 0.3).candidates(places("w3", "W7", "unknown"))
    for row, near in zip((3, 7), found, strict=False):
        similar = sorted((other for other in range(40) if other != row), key=lambda other: -unit[row] @ unit[other])
        assert near == [words[other] for other in similar[:6] if unit[row] @ unit[other] >= 0.3]
    assert found[2] == []


def test_vectors_are_read_with_and_without_a_first_line(tmp_path: Path) -> None:
    for head in ("", "3 2\n"):
        (tmp_path / "v.txt").write_text(f"{head}rain 1 0\nsnow 1 0.1\ngoal 0 1\n")
        assert read_neighbours(tmp_path / "v.txt", 5, 0.5).candidates(places("rain")) == [["snow"]]


@pytest.mark.parametrize("content", ["", "rain 1 2\nsnow 1\n", "rain one two\n", "rain nan 1\n"])
def test_what_are_no_vectors_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(InputError, match="vector"):
        read_neighbours(tmp_path / "v.txt", 5, 0.5)


def test_a_masked_model_gives_its_likeliest_whole_words(tmp_path: Path) -> None:
    import torch
    import transformers

    words = ["rain", "snow", "goal", "##ing", "42"]
    folder = write_transformer(tmp_path / "masked", words)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=5 + len(words), **SMALL)).eval()
    model.save_pretrained(folder)
    text = WordedText.of("snow rain goal")
    (near,) = MaskedWords(str(folder), 5).candidates([(text, 1)])
    with torch.inference_mode():
        logits = model(**tokenizer("snow [MASK] goal", return_tensors="pt")).logits[0, 2]
    order = tokenizer.convert_ids_to_tokens(logits.argsort(descending=True).tolist())
    assert near == [word for word in order if word in ("rain", "snow", "goal")]
    long = WordedText.of("snow " * 500)
    assert [len(near) for near in MaskedWords(str(folder), 5).candidates([(long, 1), (long, 499)])] == [3, 0]
    with pytest.raises(InputError, match="nowhere"):
        MaskedWords(str(tmp_path / "nowhere"), 5)


@pytest.mark.parametrize(
    ("name", "lacks"),
    [("pwws", "wordnet"), ("pwws-synonyms", "synonyms"), ("textfooler", "vectors"), ("bae", "masked")],
)
def test_a_recipe_says_what_it_lacks_before_anything_is_asked(name: str, lacks: str) -> None:
    with pytest.raises(InputError, match=f"the attack '{name}' needs {lacks}"):
        ATTACKS.make(name).prepare()


def test_textfooler_needs_its_encoder_and_tags_too(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("rain 1 0\nsnow 1 0.1\n")
    with pytest.raises(InputError, match="needs encoder"):
        TextFooler(vectors=str(tmp_path / "v.txt")).prepare()
    with pytest.raises(InputError, match="needs tags"):
        TextFooler(vectors=str(tmp_path / "v.txt"), encoder="tfidf").prepare()


def test_a_noun_may_become_a_verb_but_not_an_adjective() -> None:
    tags = {"rain": ("NN",), "pour": ("VB",), "wet": ("JJ",)}
    assert same_part(tags, "rain", "pour") is True
    assert same_part(tags, "Rain", "wet") is False
    assert same_part(tags, "rain", "unknown") is None


def test_similarity_is_the_cosine_or_the_angle(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {"a": [1.0, 0.0], "b": [1.0, 1.0]}
    monkeypatch.setattr(recipes, "encode_texts", lambda texts, encoder: np.array([vectors[text] for text in texts]))
    assert cosines("any", [("a", "b"), ("a", "a")]) == pytest.approx([0.5**0.5, 1.0])
    assert cosines("any", [("a", "b")], angular=True) == pytest.approx([0.75])


def test_textfooler_keeps_parts_of_speech_and_similar_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three neighbours one is another part of speech, one makes the sentence dissimilar, one is left."""
    (tmp_path / "v.txt").write_text("storm 1 0\nbreeze 1 0.1\nwindy 1 0.2\nball 1 0.3\n")
    (tmp_path / "tags.txt").write_text("storm NN\nbreeze NN\nwindy JJ\nball NN\n")
    monkeypatch.setattr(recipes, "encode_texts", _encoded)
    attack = TextFooler(vectors=str(tmp_path / "v.txt"), tags=str(tmp_path / "tags.txt"), encoder="any")
    attack.prepare()

    def ask(texts: Any) -> Any:
        calm = np.array([0.9 if "storm" in text else 0.1 for text in texts])
        return np.column_stack([calm, 1 - calm])

    text = "storm " + " ".join(f"word{place}" for place in range(14))
    (attempt,) = attack_texts([text], [0], attack.search, Informants(ask, attack.source.candidates, attack.similarity))
    assert attempt.text.split()[0] == "breeze"
    assert attempt.queries == 1 + 15 + 1  # the text, without each word, and the one candidate that is left


def _encoded(texts: Any, encoder: str) -> Any:
    return np.array([[0.0, 1.0] if "ball" in text else [1.0, 0.0] for text in texts])
