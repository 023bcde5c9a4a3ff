"""Attacks that put other words in place of words, one place after the other, the most important first.

A published recipe has its published parts; where a resource is not there it is refused, and a recipe with something
else in its place has a name of its own that says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unseen.attacks.dictionaries import WordNet, Words, read_pairs, read_tags
from unseen.attacks.importance import deletion_importance, weighted_importance
from unseen.attacks.search import AskModel, CompareTexts, FindWords, Search
from unseen.attacks.sources import MaskedWords, Synonyms, WordSource, encoded_neighbours, read_neighbours
from unseen.attacks.worded_text import WordedText, like
from unseen.errors import InputError
from unseen.representations import encode_texts
from unseen.types.arrays import Floats

UNKNOWN = "qzxqz"
"""Stands for an unknown word where a model has no token for it."""
WINDOW = 15
"""Words around a change whose similarity counts; shorter texts are not compared."""
COARSE = {"NN": "noun or verb", "VB": "noun or verb", "JJ": "adjective", "RB": "adverb"}
"""Parts of speech by the beginning of their tags; a noun may become a verb."""


class WordAttack(ABC):
    """Greedy search by importance of words (Greedy-WIR): the best candidate of each place, until the label flips."""

    name: ClassVar[str]
    changes: ClassVar[str] = "words"
    against_original: ClassVar[bool] = True
    """Whether a candidate is compared with the original text, not with the text so far."""
    least: float | None = None
    """Similarity that a candidate must have, where the recipe asks for it."""

    @property
    @abstractmethod
    def source(self) -> WordSource:
        """Where candidates come from."""

    def prepare(self) -> None:
        """Read what is needed; refuses what is missing before anything is asked."""
        _ = self.source

    def allows(self, original: str, word: str) -> bool:
        """Whether a word may stand for another one."""
        return True

    def similarity(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """How similar two texts are, by the recipe's encoder."""
        raise InputError("this attack compares no texts")

    def importance(self, text: WordedText, label: int, whole: Floats, places: list[int]) -> Scores:
        """How much each place matters, by what deleting its word does; None when queries are used up."""
        return (yield from deletion_scores(text, label, whole, places))

    def ranking(self, text: WordedText, label: int, whole: Floats, places: list[int]) -> Ranking:
        """Places from the most important on, but for those that have no score; None when queries are used up."""
        scores = yield from self.importance(text, label, whole, places)
        if scores is None:
            return None
        return [places[at] for at in np.argsort(-scores, kind="stable") if not np.isnan(scores[at])]

    def search(self, text: str, label: int, whole: Floats) -> Search:
        """Try places in order; keep the best candidate of each if the label becomes less probable."""
        start = current = WordedText.of(text)
        places = [place for place, word in enumerate(start.words) if word.lower() not in stop_words()]
        order = yield from self.ranking(start, label, whole, places)
        reached = float(whole[label])
        for place in order or ():
            candidates = yield from self.candidates(current, place, start)
            answers = yield AskModel([candidate.text for candidate in candidates])
            flips = np.flatnonzero(answers.argmax(axis=1) != label)
            if len(flips):
                best = yield from self._closest(start, [candidates[at] for at in flips], answers[flips, label])
                return best.text
            if len(answers) < len(candidates):
                return None
            if len(answers) and float(answers[:, label].min()) < reached:
                best_at = int(answers[:, label].argmin())
                current, reached = candidates[best_at], float(answers[best_at, label])
        return None

    def candidates(self, current: WordedText, place: int, start: WordedText) -> Candidates:
        """The texts with an allowed word in a place, that are similar enough."""
        (words,) = yield FindWords(current, [place])
        original = start.words[place]
        made = [
            current.with_word(place, like(original, word))
            for word in dict.fromkeys(words)
            if word.lower() != original.lower() and self.allows(original, word)
        ]
        if self.least is None or len(start.words) < WINDOW or not made:
            return made
        reference = start if self.against_original else current
        similar = yield CompareTexts(reference.window(place, WINDOW), [one.window(place, WINDOW) for one in made])
        return [one for one, value in zip(made, similar, strict=True) if value >= self.least]

    def _closest(
        self, start: WordedText, flipped: list[WordedText], probabilities: Floats
    ) -> Generator[Any, Any, WordedText]:
        """Of several texts that flip the label the most similar one, or the one that leaves it least probable."""
        if self.least is None or len(flipped) == 1:
            return flipped[int(probabilities.argmin())]
        similar = yield CompareTexts(start.text, [one.text for one in flipped])
        return flipped[int(np.argmax(similar))]


Scores = Generator[Any, Any, "Floats | None"]
Ranking = Generator[Any, Any, "list[int] | None"]
Candidates = Generator[Any, Any, "list[WordedText]"]


def deletion_scores(text: WordedText, label: int, whole: Floats, places: list[int]) -> Scores:
    """What deleting the word of each place does to the label."""
    without = yield AskModel([text.without(place) for place in places])
    return None if len(without) < len(places) else deletion_importance(whole, without, label)


def stop_words() -> frozenset[str]:
    """Words that attacks leave alone: scikit-learn's list of English function words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS  # type: ignore[no-any-return]


def cosines(encoder: str, pairs: Sequence[tuple[str, str]], angular: bool = False) -> Floats:
    """How similar two texts are by an encoder: the cosine of their vectors, or one less its angle as a share of π."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = encode_texts(texts, encoder).astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    rows = {text: row for row, text in enumerate(texts)}
    left, right = (vectors[[rows[pair[side]] for pair in pairs]] for side in (0, 1))
    values = np.clip((left * right).sum(axis=1), -1.0, 1.0)
    return 1.0 - np.arccos(values) / np.pi if angular else values


class WeightedImportance(WordAttack):
    """Places in the order of PWWS (Ren et al. 2019)."""

    unknown: str

    def importance(self, text: WordedText, label: int, whole: Floats, places: list[int]) -> Scores:
        """Softmax(saliency) × what the best substitute gains, over all words; NaN where there is no substitute."""
        if not places:
            return np.empty(0)
        lists = yield FindWords(text, places)
        substitutes = [
            [text.with_word(place, like(text.words[place], word)).text for word in words]
            for place, words in zip(places, lists, strict=True)
        ]
        every = range(len(text.words))
        unknown = [text.with_word(place, self.unknown).text for place in every]
        asked = [*unknown, *(one for of_place in substitutes for one in of_place)]
        answers = yield AskModel(asked)
        if len(answers) < len(asked):
            return None
        gains, at = np.full(len(every), np.nan), len(every)
        for place, of_place in zip(places, substitutes, strict=True):
            if of_place:
                gains[place] = whole[label] - answers[at : at + len(of_place), label].min()
            at += len(of_place)
        return weighted_importance(whole[label] - answers[: len(every), label], gains)[places]


@dataclass
class Pwws(WeightedImportance):
    """PWWS (Ren et al. 2019): synonyms of WordNet by weighted saliency; named entities have no swap of their own."""

    name: ClassVar[str] = "pwws"
    wordnet: str = ""
    unknown: str = ""

    @cached_property
    def source(self) -> WordSource:
        """Words of WordNet."""
        return Synonyms(WordNet(needed(self, "wordnet", "WordNet's folder 'dict', or an archive with it")).synonyms)


@dataclass
class PwwsSynonyms(WeightedImportance):
    """PWWS with a list of synonyms (two words on each line) instead of WordNet."""

    name: ClassVar[str] = "pwws-synonyms"
    synonyms: str = ""
    unknown: str = ""

    @cached_property
    def source(self) -> WordSource:
        """Words of the list."""
        partners = read_pairs(needed(self, "synonyms", "a file with two words on each line"))
        return Synonyms(lambda word: partners.get(word, ()))


class SimilarSentences(WordAttack):
    """Words of the same part of speech, and sentences that an encoder finds similar."""

    tags: str
    encoder: str
    angular: ClassVar[bool] = False
    """Whether similarity is the angle, not the cosine."""
    own_tags: ClassVar[bool] = True
    """Whether parts of speech are part of the recipe; else they are compared where somebody gives them."""

    def prepare(self) -> None:
        """Read what is needed."""
        super().prepare()
        needed(self, "encoder", "the Universal Sentence Encoder as package.module:attribute, with encode(texts)")
        if self.own_tags:
            needed(self, "tags", "parts of speech: on each line a word and its tags")
        _ = self._known_tags

    @cached_property
    def _known_tags(self) -> Words:
        return read_tags(self.tags) if self.tags else {}

    def allows(self, original: str, word: str) -> bool:
        """Whether both can be the same part of speech, as far as that is known."""
        return same_part(self._known_tags, original, word) is not False

    def similarity(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """By the encoder of sentences."""
        return cosines(self.encoder, pairs, self.angular)


@dataclass
class TextFooler(SimilarSentences):
    """TextFooler (Jin et al. 2020): neighbours of counter-fitted vectors, same part of speech, similar sentences."""

    name: ClassVar[str] = "textfooler"
    angular: ClassVar[bool] = True
    against_original: ClassVar[bool] = False
    vectors: str = ""
    tags: str = ""
    encoder: str = ""
    most: int = 50
    nearest: float = 0.5
    least: float | None = 0.840845

    @cached_property
    def source(self) -> WordSource:
        """Neighbours of vectors."""
        path = needed(self, "vectors", "counter-fitted vectors: on each line a word and its numbers")
        return read_neighbours(path, self.most, self.nearest)


@dataclass
class TextFoolerMiniLM(SimilarSentences):
    """TextFooler with MiniLM in place of both its vectors (neighbours of common words) and its sentence encoder.

    Parts of speech are compared where `tags` are given. The thresholds are ours.
    """

    name: ClassVar[str] = "textfooler-minilm"
    own_tags: ClassVar[bool] = False
    against_original: ClassVar[bool] = False
    tags: str = ""
    encoder: str = "minilm"
    vocabulary: int = 20_000
    most: int = 50
    nearest: float = 0.5
    least: float | None = 0.8

    @cached_property
    def source(self) -> WordSource:
        """Neighbours by MiniLM."""
        return encoded_neighbours(self.encoder, self.vocabulary, self.most, self.nearest)


@dataclass
class Bae(SimilarSentences):
    """BAE's replacements (Garg and Ramakrishnan 2020): whole words of a masked language model, similar sentences."""

    name: ClassVar[str] = "bae"
    masked: str = ""
    trust: bool = False
    tags: str = ""
    encoder: str = ""
    most: int = 50
    least: float | None = 0.936338

    @cached_property
    def source(self) -> WordSource:
        """Words of the language model."""
        model = needed(self, "masked", "a masked language model: a folder or a hub name, e.g. bert-base-uncased")
        return MaskedWords(model, self.most, self.trust)


@dataclass
class BaeMiniLM(Bae):
    """BAE with MiniLM for the sentence encoder, at a threshold of ours; parts of speech where `tags` are given."""

    name: ClassVar[str] = "bae-minilm"
    own_tags: ClassVar[bool] = False
    encoder: str = "minilm"
    least: float | None = 0.8


def same_part(tags: Words, original: str, word: str) -> bool | None:
    """Whether two words can be the same part of speech; None where one is not known."""
    parts = [
        {COARSE.get(tag[:2], tag) for tag in tags.get(one) or tags.get(one.lower()) or ()} for one in (original, word)
    ]
    return bool(parts[0] & parts[1]) if all(parts) else None


def prepare_for(attack: Any, model: Any) -> None:
    """Read what an attack needs, and tell it the model's token for unknown words."""
    from unseen.explanations.networks import network_of

    if getattr(attack, "unknown", None) == "":
        tokenizer = getattr(network_of(model), "tokenizer", None)
        attack.unknown = getattr(tokenizer, "unk_token", None) or UNKNOWN
    attack.prepare()


def needed(attack: Any, name: str, what: str) -> str:
    """A resource of a recipe; refuses one that was not given."""
    value = getattr(attack, name)
    if not value:
        raise InputError(
            f"the attack {attack.name!r} needs {name}",
            expected=what,
            fix=f"params={{'{attack.name}': {{'{name}': …}}}} (--set {attack.name}.{name}=…); characters needs nothing",
        )
    return str(value)
