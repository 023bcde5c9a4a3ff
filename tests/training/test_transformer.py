"""Fine-tuning: it learns, it can be killed, and what it writes others can load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tiny_data import build
from tiny_transformer import ARCHITECTURES, write_transformer
from unseen import api
from unseen.errors import InputError, UnknownNameError, UnseenWarning
from unseen.representations.backbone import Backbone, Tokens
from unseen.training import transformer
from unseen.training.transformer import PRESETS, Transformer, TransformerClassifier, TransformerSettings
from unseen.types import Dataset

WORDS = {"calm": ["rain", "cloud", "leaf", "river"], "loud": ["drum", "horn", "crowd", "siren"]}
FILLERS = ["the", "a", "on", "by", "of", "near", "old", "new"]


def texts_of(number: int, seed: int = 0) -> Dataset:
    """Texts of one to nine words, two of which tell the label."""
    draw = np.random.default_rng(seed)
    labels = ["calm" if code else "loud" for code in draw.integers(2, size=number)]
    texts = [
        " ".join(draw.permutation([*draw.choice(WORDS[label], 2), *draw.choice(FILLERS, draw.integers(8))]).tolist())
        for label in labels
    ]
    return build([f"t{seed}-{each}" for each in range(number)], texts, labels, ("calm", "loud"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    made: dict[str, str] = {}

    def folder(architecture: str) -> str:
        if architecture not in made:
            path = tmp_path_factory.mktemp(architecture) / architecture
            made[architecture] = str(write_transformer(path, [*WORDS["calm"], *WORDS["loud"], *FILLERS], architecture))
        return made[architecture]

    return folder


def recipe(folder: str, **settings: Any) -> Transformer:
    return Transformer(folder, **{"epochs": 4, "batch": 8, "learning_rate": 3e-3, **settings})


def weights(classifier: TransformerClassifier) -> dict[str, torch.Tensor]:
    return {name: each.clone() for name, each in classifier.modules.state_dict().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("bottleneck", [None, 5])
def test_it_learns(folders: Callable[[str], str], bottleneck: int | None) -> None:
    train, dev, fresh = texts_of(200), texts_of(40, 1), texts_of(100, 2)
    classifier = recipe(folders("bert"), bottleneck=bottleneck).fit(train, dev, 42)
    found = classifier.predict_proba(fresh.texts.to_pylist())
    assert (found.argmax(1) == fresh.labels).mean() > 0.95
    np.testing.assert_allclose(found.sum(1), 1)
    assert classifier.encode(fresh.texts.to_pylist()).shape == (100, bottleneck or 32)
    assert classifier.encode(fresh.texts.to_pylist(), "full").shape == (100, 32)


@pytest.mark.parametrize("architecture", list(ARCHITECTURES))
def test_every_architecture_trains_and_comes_back(
    folders: Callable[[str], str], architecture: str, tmp_path: Path
) -> None:
    from transformers import AutoModel

    train, dev = texts_of(24), texts_of(8, 1)
    classifier = recipe(folders(architecture), bottleneck=4, epochs=1).fit(train, dev, 42)
    assert classifier.backbone.pooling == ("last" if architecture == "llama" else "class")
    classifier.save(tmp_path / "model")
    again = TransformerClassifier.load(tmp_path / "model")
    texts = dev.texts.to_pylist()
    np.testing.assert_array_equal(again.predict_proba(texts), classifier.predict_proba(texts))
    np.testing.assert_array_equal(again.encode(texts), classifier.encode(texts))
    assert again.name == classifier.name == f"{architecture}-bottleneck-4"
    for layer, width in ((None, 4), ("full", 32)):
        found = api.encode(dev, tmp_path / "model", **{} if layer is None else {"layer": layer})
        assert found.vectors.shape == (8, width)
    theirs = AutoModel.from_pretrained(tmp_path / "model").state_dict()
    ours = classifier.backbone.network.state_dict()
    assert all(torch.equal(theirs[name], each) for name, each in ours.items())
    assert not list(tmp_path.glob(".*"))


def test_a_head_that_is_cut_is_an_error_about_its_folder(folders: Callable[[str], str], tmp_path: Path) -> None:
    TransformerClassifier.untrained(TransformerSettings(encoder=folders("bert")), ("calm", "loud")).save(
        tmp_path / "model"
    )
    head = tmp_path / "model" / "head.safetensors"
    head.write_bytes(head.read_bytes()[:-4])
    with pytest.raises(InputError, match="model does not hold a whole transformer"):
        TransformerClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
@pytest.mark.parametrize("bottleneck", [None, 4])
def test_transformers_loads_the_whole_classifier(
    folders: Callable[[str], str], architecture: str, bottleneck: int | None, tmp_path: Path
) -> None:
    """The bottleneck is linear, so it folds into the dense layer that these architectures have."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    dev = texts_of(8, 1)
    classifier = recipe(folders(architecture), bottleneck=bottleneck, epochs=1).fit(texts_of(24), dev, 42)
    classifier.save(tmp_path / "model")
    theirs = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").eval()
    given = AutoTokenizer.from_pretrained(tmp_path / "model")(dev.texts.to_pylist(), padding=True, return_tensors="pt")
    given.pop("token_type_ids", None)
    with torch.no_grad():
        found = theirs(**given).logits.softmax(-1).numpy()
    np.testing.assert_allclose(found, classifier.predict_proba(dev.texts.to_pylist()), atol=1e-6)
    assert theirs.config.id2label == {0: "calm", 1: "loud"}


def test_a_text_alone_and_among_longer_ones_gets_the_same_answer(folders: Callable[[str], str]) -> None:
    """Padding is masked."""
    classifier = recipe(folders("bert"), bottleneck=4, epochs=1).fit(texts_of(24), texts_of(8, 1), 42)
    texts = ["rain", "rain by the old river near a leaf on the new cloud", "drum of the crowd"]
    together = classifier.predict_proba(texts), classifier.encode(texts)
    alone = (np.concatenate([ask([each]) for each in texts]) for ask in (classifier.predict_proba, classifier.encode))
    for first, second in zip(together, alone, strict=True):
        np.testing.assert_allclose(first, second, atol=1e-5)


def test_the_same_seed_gives_the_same_model_and_leaves_the_generator_alone(folders: Callable[[str], str]) -> None:
    train, dev = texts_of(32), texts_of(8, 1)
    before = torch.get_rng_state()
    fit = [weights(recipe(folders("bert"), epochs=1).fit(train, dev, seed)) for seed in (1, 1, 2)]
    assert same(fit[0], fit[1])
    assert not same(fit[0], fit[2])
    assert torch.equal(torch.get_rng_state(), before)


class KilledError(Exception):
    """As if the process had ended here."""


@pytest.mark.parametrize("moment", [1, 4, 5, 6, 10])
def test_a_killed_training_goes_on_to_the_same_weights(
    folders: Callable[[str], str], moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five steps an epoch: killed at the first, in mid-epoch, at the end, at the beginning and in the second epoch."""
    train, dev = texts_of(40), texts_of(8, 1)
    whole = weights(recipe(folders("bert"), bottleneck=4, epochs=2).fit(train, dev, 42))
    steps, step = [], transformer._step

    def counted(*given: Any) -> None:
        steps.append(1)
        if len(steps) == moment:
            raise KilledError
        step(*given)

    monkeypatch.setattr(transformer, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(transformer, "_step", counted)
    with pytest.raises(KilledError):
        recipe(folders("bert"), bottleneck=4, epochs=2).fit(train, dev, 42, scratch=tmp_path)
    again = recipe(folders("bert"), bottleneck=4, epochs=2).fit(train, dev, 42, scratch=tmp_path)
    assert same(weights(again), whole)
    assert len(steps) == 11  # ten, and the one in which it was killed: nothing was done twice


def test_a_state_is_written_when_it_is_due_and_not_before(
    folders: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, dev = texts_of(40), texts_of(8, 1)
    monkeypatch.setattr(transformer, "CHECKPOINT_SECONDS", np.inf)
    kept = recipe(folders("bert"), epochs=2).fit(train, dev, 42, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert same(weights(kept), weights(recipe(folders("bert"), epochs=2).fit(train, dev, 42)))


def test_what_another_training_left_is_not_taken_up(
    folders: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, dev = texts_of(40), texts_of(8, 1)
    monkeypatch.setattr(transformer, "CHECKPOINT_SECONDS", 0)
    recipe(folders("bert"), epochs=1).fit(train, dev, 41, scratch=tmp_path)
    again = recipe(folders("bert"), epochs=1).fit(train, dev, 42, scratch=tmp_path)
    assert same(weights(again), weights(recipe(folders("bert"), epochs=1).fit(train, dev, 42)))


def test_a_damaged_half_training_is_named(folders: Callable[[str], str], tmp_path: Path) -> None:
    train, dev = texts_of(40), texts_of(8, 1)
    (tmp_path / "last.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match=r"last\.safetensors does not hold a training that can go on"):
        recipe(folders("bert"), epochs=1).fit(train, dev, 42, scratch=tmp_path)


@pytest.mark.parametrize("stop_on", ["loss", "accuracy"])
def test_the_best_epoch_is_kept_and_training_stops_when_it_gets_no_better(
    folders: Callable[[str], str], stop_on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels of the validation data are turned round, so every epoch is worse than the one before."""
    train, dev = texts_of(60), texts_of(20, 1)
    turned = build(
        dev.ids.to_pylist(), dev.texts.to_pylist(), [("loud", "calm")[code] for code in dev.labels], ("calm", "loud")
    )
    looked: list[dict[str, torch.Tensor]] = []
    look = transformer._look

    def watched(classifier: TransformerClassifier, *given: Any) -> Any:
        looked.append({name: weight.clone() for name, weight in classifier.head.state_dict().items()})
        return look(classifier, *given)

    monkeypatch.setattr(transformer, "_look", watched)
    classifier = recipe(folders("bert"), epochs=9, patience=2, stop_on=stop_on).fit(train, turned, 42)
    assert len(looked) < 9
    assert any(same(classifier.head.state_dict(), each) for each in looked[:-2])
    assert not same(weights(classifier), looked[-1])


def test_without_validation_data_the_last_weights_stay(folders: Callable[[str], str]) -> None:
    train = texts_of(40)
    classifier = recipe(folders("bert"), epochs=1).fit(train, train.take([]), 42)
    assert not same(weights(classifier), weights(recipe(folders("bert"), epochs=2).fit(train, train.take([]), 42)))


def test_class_weights_give_the_share_of_each_class(folders: Callable[[str], str]) -> None:
    """Words tell nothing: what is learnt is the share of each class, and balanced they have the same."""
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.choice(FILLERS, 4)) for _ in range(400)]
    labels = ["loud" if each % 10 == 0 else "calm" for each in draw.permutation(400)]
    train = build([str(each) for each in range(400)], texts, labels, ("calm", "loud"))
    shares = [
        recipe(folders("bert"), class_weights=weighted, clip=1e9)
        .fit(train, train.take([]), 42)
        .predict_proba(texts)[:, 1]
        .mean()
        for weighted in (False, True)
    ]
    np.testing.assert_allclose(shares, [0.1, 0.5], atol=0.05)


def test_class_weights_that_lead_to_less_than_a_constant_are_told_of(folders: Callable[[str], str]) -> None:
    train = texts_of(60)
    opposite = [("loud", "calm")[code] for code in train.labels]
    turned = build(train.ids.to_pylist(), train.texts.to_pylist(), opposite, ("calm", "loud"))
    with pytest.warns(UnseenWarning, match="worse on its validation part"):
        recipe(folders("bert"), epochs=2, class_weights="balanced").fit(train, turned, 42)


@pytest.mark.parametrize("given", [(1.0, 1.0), (0.6, 4.0)])
@pytest.mark.parametrize("clip", [1e9, 0.01])
def test_a_step_follows_the_weighted_sum_even_when_it_is_clipped(
    folders: Callable[[str], str], given: tuple[float, float], clip: float
) -> None:
    """Beside the loop of the textbook; without weights to the last bit."""
    data, rows, given_weights = texts_of(40), np.arange(11), torch.tensor(given)
    moved = []
    for by_hand in (False, True):
        torch.manual_seed(0)
        classifier = TransformerClassifier.untrained(
            recipe(folders("bert"), clip=clip, dropout=0.0).settings, data.label_names
        )
        tokens, parameters = classifier.backbone.tokens(data.texts.to_pylist()), [*classifier.modules.parameters()]
        optimiser = torch.optim.SGD(parameters, 1.0)
        classifier.modules.eval()
        if by_hand:
            gold = torch.from_numpy(data.labels[rows].astype(np.int64))
            logits = classifier.head(classifier.backbone.pooled(tokens, rows))
            torch.nn.functional.cross_entropy(logits, gold, given_weights).backward()
            torch.nn.utils.clip_grad_norm_(parameters, clip)
            for each in parameters:
                each.grad = None if each.grad is None else each.grad * given_weights[gold].mean()
            optimiser.step()
        else:
            transformer._step(classifier, optimiser, tokens, data.labels, rows, 1.0, given_weights)
        moved.append(weights(classifier))
    if given == (1.0, 1.0):
        assert same(*moved)
    for name, each in moved[0].items():
        torch.testing.assert_close(each, moved[1][name])


@contextmanager
def whole_vocabulary(backbone: Backbone, *texts: Tokens) -> Iterator[list[Tokens]]:
    """What `vocabulary_of` saves."""
    del backbone
    yield [*texts]


@pytest.mark.parametrize("architecture", ["bert", "roberta", "deberta-v2", "llama"])
def test_training_with_the_tokens_of_the_texts_alone_gives_the_same_weights(
    folders: Callable[[str], str], architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with all embeddings, but that embeddings of other tokens do not decay."""
    train, dev = texts_of(12), texts_of(2, 1)
    trained = recipe(folders(architecture), epochs=2, weight_decay=0.0).fit(train, dev, 42)
    monkeypatch.setattr(Backbone, "vocabulary_of", whole_vocabulary)
    oracle = recipe(folders(architecture), epochs=2, weight_decay=0.0).fit(train, dev, 42)
    for name, weight in weights(trained).items():
        torch.testing.assert_close(weight, weights(oracle)[name], msg=name)


def test_frozen_layers_and_embeddings_stay_and_the_others_learn(folders: Callable[[str], str]) -> None:
    before = weights(TransformerClassifier.untrained(recipe(folders("bert")).settings, ("calm", "loud")))
    after = weights(recipe(folders("bert"), frozen=1).fit(texts_of(24), texts_of(8, 1), 42))
    moved = {name for name in before if not torch.equal(before[name], after[name]) and "head" not in name}
    assert moved
    assert all("layer.1." in name for name in moved)
    assert any("layer.1." in name and "attention.self.query" in name for name in moved)
    with pytest.raises(InputError, match="cannot be frozen") as refused:
        recipe(folders("bert"), frozen=2).fit(texts_of(24), texts_of(8, 1), 42)
    assert "from 0 to 1" in str(refused.value)


def test_the_learning_rate_rises_and_falls() -> None:
    assert [round(transformer.rate_factor(step, 10, 0.2), 3) for step in range(10)] == [
        0.5, 1.0, 1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125,
    ]  # fmt: skip
    assert [transformer.rate_factor(step, 4, 0.0) for step in range(4)] == [1.0, 0.75, 0.5, 0.25]


def test_the_presets() -> None:
    thesis = Transformer(preset="thesis").settings
    assert (thesis.batch, thesis.learning_rate, thesis.epsilon, thesis.warmup) == (4, 2e-5, 1e-8, 0.0)
    assert (thesis.epochs, thesis.patience, thesis.max_tokens) == (10, 5, 512)
    assert Transformer(preset="fast").settings == TransformerSettings()
    assert Transformer(preset="thesis", epochs=20).settings.epochs == 20
    assert Transformer().settings == (Transformer(preset="thesis" if torch.cuda.is_available() else "fast").settings)
    with pytest.raises(UnknownNameError, match="'thesis'"):
        Transformer(preset="thesys")
    assert set(PRESETS) == {"fast", "thesis"}


def test_mistakes_are_named_all_at_once(folders: Callable[[str], str]) -> None:
    with pytest.raises(InputError) as caught:
        Transformer(epochs=0, batch=0, bottleneck=0, dropout=1.0, learning_rate=-1.0)
    assert len(caught.value.problems) == 5
    with pytest.raises(UnknownNameError):
        Transformer(stop_on="f1")
    with pytest.raises(InputError, match="no texts"):
        recipe(folders("bert")).fit(texts_of(20).take([]), texts_of(4, 1), 42)
    with pytest.raises(InputError, match="no bottleneck"):
        recipe(folders("bert"), epochs=1).fit(texts_of(20), texts_of(4, 1), 42).encode(["rain"], "bottleneck")


def test_speed_is_measured_without_changing_anything(folders: Callable[[str], str]) -> None:
    before = torch.get_rng_state()
    assert recipe(folders("bert")).speed(texts_of(60)) > 0
    assert recipe(folders("bert")).speed(texts_of(5)) > 0
    assert torch.equal(torch.get_rng_state(), before)
