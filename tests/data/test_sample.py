from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from unseen.data import sample
from unseen.data.sample import sample_corpus
from unseen.errors import InputError
from unseen.types import Dataset

MATERIAL: dict[str, Any] = tomllib.loads(Path(sample.__file__).with_name("sample.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def corpus() -> Dataset:
    return sample_corpus()


def column(data: Dataset, name: str) -> list[str]:
    return data.table[name].to_pylist()


def true_pairs(data: Dataset, *names: str) -> set[tuple[str, ...]]:
    rows = zip(*(column(data, name) for name in ("noisy", *names)), strict=True)
    return {row[1:] for row in rows if row[0] == "no"}


def test_the_corpus_is_the_one_we_know(corpus):
    first = "\n".join(column(corpus, "text")[:100])
    assert hashlib.sha256(first.encode()).hexdigest()[:16] == "9a2090954e8dc307"
    assert corpus.label_counts == {"complaint": 1523, "request": 874, "praise": 603}


def test_same_arguments_same_corpus_other_seed_another():
    assert sample_corpus(200, 7).table.equals(sample_corpus(200, 7).table)
    assert sample_corpus(200, 7).fingerprint != sample_corpus(200, 8).fingerprint


def test_the_record_says_what_it_is(corpus):
    assert (corpus.name, len(corpus)) == ("sample", 3000)
    assert (corpus.origin.step, corpus.origin.params, corpus.origin.seed) == ("sample", {"n": 3000}, 42)
    assert corpus.table.schema.field("id").type == corpus.table.schema.field("text").type == pa.large_string()
    assert column(corpus, "id")[42] == "sample-00042"


@pytest.mark.parametrize("seed", [0, 1, 42])
def test_shares_are_as_promised(seed):
    data = sample_corpus(3000, seed)
    for label, share in {"complaint": 0.5, "request": 0.3, "praise": 0.2}.items():
        assert data.label_counts[label] / 3000 == pytest.approx(share, abs=0.04)
    assert 0.03 < column(data, "noisy").count("yes") / 3000 < 0.05
    assert 0 < 1 - len(set(column(data, "text"))) / 3000 < 0.02


def test_every_text_has_5_to_30_words_and_no_open_slot(corpus):
    texts = column(corpus, "text")
    assert all(5 <= len(text.split()) <= 30 for text in texts)
    assert not [text for text in texts if re.search(r"[{}|]|\s\s", text) or text != text.strip()]


def test_every_topic_says_every_label_in_every_register(corpus):
    expected = set(product(MATERIAL["topics"], MATERIAL["labels"], MATERIAL["registers"]))
    assert true_pairs(corpus, "topic", "label", "register") == expected


def test_labels_are_said_in_the_manners_of_their_topic_and_no_other(corpus):
    expected = {
        (topic, label, manner)
        for topic, about in MATERIAL["topics"].items()
        for label, manners in about["manners"].items()
        for manner in manners
    }
    assert true_pairs(corpus, "topic", "label", "manner") == expected


def test_a_thread_has_one_topic_and_one_source(corpus):
    pairs = set(zip(*(column(corpus, name) for name in ("thread", "topic", "source")), strict=True))
    assert len(pairs) == len(set(column(corpus, "thread"))) < len(corpus)


def test_a_few_people_write_much_and_many_little(corpus):
    counts = sorted(Counter(column(corpus, "author")).values(), reverse=True)
    assert 140 <= len(counts) <= 150
    assert counts[0] > 0.05 * len(corpus) > 10 * counts[-1]


def test_two_years_oldest_first_and_topics_that_come_and_go(corpus):
    written = column(corpus, "written")
    assert written == sorted(written)
    assert "2023-01" in written[0]
    assert "2024-12" in written[-1]
    market = [day for day, topic in zip(written, column(corpus, "topic"), strict=True) if topic == "market"]
    assert min(market) > "2023-06"


def test_some_texts_nearly_repeat_another(corpus):
    texts = column(corpus, "text")
    heads = tuple(MATERIAL["phrases"]["intro"])
    assert 0.01 < sum(text.startswith(heads) for text in texts) / len(texts) < 0.06


@pytest.mark.parametrize("topic", MATERIAL["topics"])
def test_every_slot_has_phrases(topic):
    about = MATERIAL["topics"][topic]
    open_names = [f"{label}.{manner}" for label, manners in about["manners"].items() for manner in manners]
    open_names += ["aside", "opener", "closer", "intro"]
    for register in MATERIAL["registers"].values():
        phrases = {**MATERIAL["phrases"], **register["phrases"], **about["phrases"]}
        seen, waiting = set(), list(open_names)
        while waiting:
            seen.add(name := waiting.pop())
            slots = re.findall(r"\{([^{}|]+)\}", " ".join(phrases[name]))
            waiting += [slot for slot in slots if slot not in seen]


@pytest.mark.parametrize("n", [0, 99, -5, 250.0, "300", True, None])
def test_a_wrong_size_is_refused(n):
    with pytest.raises(InputError, match=r"this n\n.*at least 100"):
        sample_corpus(n)


@pytest.mark.parametrize("seed", [-1, 1.5, "42", True, None])
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(InputError, match=r"this seed\n.*at least 0"):
        sample_corpus(200, seed)


def test_the_smallest_corpus_has_every_label():
    assert all(sample_corpus(100).label_counts.values())
