"""The engine gives what one text at a time gives, and counts every query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.attacks.recipes import PwwsSynonyms, WordAttack
from unseen.attacks.search import AskModel, Informants, Search, attack_texts
from unseen.attacks.sources import Synonyms, WordSource
from unseen.attacks.worded_text import WordedText
from unseen.types.arrays import Floats

WEIGHTS = {"storm": 2.0, "rain": 1.0, "wind": 0.5, "goal": -2.0, "ball": -1.0, "breeze": -0.7, "drizzle": 0.1}
NEAR = {"storm": ["breeze", "gale"], "rain": ["drizzle"], "wind": ["breeze"], "goal": ["aim"], "ball": ["sphere"]}


class Asked:
    """A bag of words whose calls are kept."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> Floats:
        self.calls.append(list(texts))
        scores = np.array([sum(WEIGHTS.get(word, 0.0) for word in WordedText.of(text).words) for text in texts])
        return np.column_stack([1 / (1 + np.exp(-scores)), 1 / (1 + np.exp(scores))])

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]


class Near(WordAttack):
    """Deletion importance, words of a list, no further constraint."""

    name = "near"

    @property
    def source(self) -> WordSource:
        return Synonyms(lambda word: NEAR.get(word, ()))


def informants(model: Asked, attack: WordAttack) -> Informants:
    return Informants(model, attack.source.candidates)


def one_by_one(attack: WordAttack, text: str, label: int) -> tuple[str | None, set[str]]:
    """The greedy search of a text in plain loops: what the engine must give."""
    model = Asked()
    whole = model([text])[0]
    start = WordedText.of(text)
    without = model([start.without(place) for place in range(len(start.words))]) if start.words else np.empty((0, 2))
    order = np.argsort(-(whole[label] - without[:, label]), kind="stable") if len(without) else []
    flips = without.argmax(axis=1) != label
    gains = np.where(flips, without[:, 1 - label] - whole[1 - label], 0.0)
    order = np.argsort(-(whole[label] - without[:, label] + gains), kind="stable")
    current, reached = start, whole[label]
    for place in order:
        options = [current.with_word(place, word) for word in NEAR.get(start.words[place], ())]
        if not options:
            continue
        answers = model([option.text for option in options])
        if (answers.argmax(axis=1) != label).any():
            flipping = [at for at in range(len(options)) if answers[at].argmax() != label]
            return options[min(flipping, key=lambda at: answers[at, label])].text, set(model.texts)
        best = int(answers[:, label].argmin())
        if answers[best, label] < reached:
            current, reached = options[best], answers[best, label]
    return None, set(model.texts)


TEXTS = st.lists(st.sampled_from([*WEIGHTS, "gale", "aim"]), min_size=1, max_size=5).map(" ".join)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_many_at_once_are_as_one_by_one(texts: list[str]) -> None:
    labels = Asked()(texts).argmax(axis=1).tolist()
    attempts = attack_texts(texts, labels, Near().search, informants(Asked(), Near()))
    for text, label, attempt in zip(texts, labels, attempts, strict=True):
        changed, asked = one_by_one(Near(), text, label)
        assert attempt.status == ("failed" if changed is None else "flipped")
        assert attempt.text == (changed or text)
        assert attempt.queries == len(asked)


def test_questions_of_all_texts_go_to_the_model_at_once() -> None:
    model = Asked()
    texts = ["storm rain", "rain wind", "storm wind", "goal ball"]
    attack_texts(texts, [0, 0, 0, 1], Near().search, informants(model, Near()))
    alone = Asked()
    for text, label in zip(texts, [0, 0, 0, 1], strict=True):
        attack_texts([text], [label], Near().search, informants(alone, Near()))
    assert len(model.calls) < len(alone.calls) / 2


def test_a_text_that_two_searches_ask_about_counts_for_both_and_is_asked_once() -> None:
    model = Asked()
    attempts = attack_texts(["rain", "rain"], [0, 0], Near().search, informants(model, Near()))
    assert attempts[0].queries == attempts[1].queries > 1
    assert model.texts.count("drizzle") == 1


def test_what_the_model_gets_wrong_is_skipped_for_one_query() -> None:
    (attempt,) = attack_texts(["goal"], [0], Near().search, informants(Asked(), Near()))
    assert (attempt.status, attempt.queries, attempt.text) == ("skipped", 1, "goal")


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 5, 8])
def test_no_text_costs_more_than_its_budget(budget: int) -> None:
    model = Asked()
    (attempt,) = attack_texts(["storm rain wind"], [0], Near().search, informants(model, Near()), budget)
    assert attempt.queries <= budget
    assert len(set(model.texts)) <= budget


def test_a_flip_within_the_last_queries_counts() -> None:
    """Importance takes one query for the only word, the first candidate flips, the second is never asked."""
    (attempt,) = attack_texts(["storm"], [0], Near().search, informants(Asked(), Near()), 3)
    assert (attempt.status, attempt.text, attempt.queries) == ("flipped", "breeze", 3)


def test_repeated_questions_are_counted_apart() -> None:
    def twice(text: str, label: int, whole: Floats) -> Search:
        first = yield AskModel(["a", "b"])
        again = yield AskModel(["b", "c"])
        assert (first[1] == again[0]).all()
        return None

    (attempt,) = attack_texts(["rain"], [0], twice, Informants(Asked()))
    assert (attempt.queries, attempt.repeated) == (4, 1)


def test_pwws_takes_the_word_with_the_largest_weighted_saliency_first(tmp_path) -> None:
    """`wind` is least salient, `storm` most; only the weighted order tries `storm` first, and one change is enough."""
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("".join(f"{word} {other}\n" for word, others in NEAR.items() for other in others))
    attack = PwwsSynonyms(synonyms=str(pairs), unknown="qqq")
    (attempt,) = attack_texts(["wind storm"], [0], attack.search, informants(Asked(), attack))
    assert (attempt.status, attempt.text) == ("flipped", "wind breeze")
