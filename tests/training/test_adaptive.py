"""A transformer that stops early: it learns, layers really do not run, and answers are those of the full depth."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_transformer import FILLERS, WORDS, same, texts_of, weights

from tiny_transformer import write_transformer
from unseen import api, inference
from unseen.errors import InputError, UnknownNameError
from unseen.models import open_model
from unseen.models.label_names import RenamedClassifier
from unseen.representations.backbone import Backbone
from unseen.representations.checkpoints import POOLING_FILE
from unseen.representations.layers import LayerWalk, layers_of
from unseen.store import read_exits, read_predictions, write_exits, write_json, write_predictions
from unseen.training import transformer
from unseen.training.adaptive import Adaptive, AdaptiveClassifier, averaged
from unseen.training.halting import HALTING, Dact
from unseen.training.transformer import Transformer

TRAIN, DEV, TEST = texts_of(160), texts_of(60, seed=1), texts_of(120, seed=2)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    made: dict[str, str] = {}

    def folder(architecture: str) -> str:
        if architecture not in made:
            path = tmp_path_factory.mktemp(architecture) / architecture
            made[architecture] = str(write_transformer(path, [*WORDS["calm"], *WORDS["loud"], *FILLERS], architecture))
        return made[architecture]

    return folder


def recipe(folder: str, **given: Any) -> Adaptive:
    settings = {"epochs": 4, "halting_epochs": 4, "batch": 8, "learning_rate": 3e-3, "halting_rate": 2e-2}
    return Adaptive(folder, **settings | given)


@pytest.fixture(scope="module")
def trained(folders: Callable[[str], str]) -> dict[str, AdaptiveClassifier]:
    return {rule: recipe(folders("bert"), halting=rule, tau=0.05).fit(TRAIN, DEV, 0) for rule in HALTING}


@pytest.mark.parametrize("rule", HALTING)
def test_it_learns_and_a_trace_says_what_is_asked(trained: dict[str, AdaptiveClassifier], rule: str) -> None:
    model, texts = trained[rule], TEST.texts.to_pylist()
    probabilities, depths = model.predict_with_depth(texts)
    trace = model.trace(texts)
    assert (probabilities.argmax(axis=1) == TEST.labels).mean() > 0.8
    assert (trace.depths() == depths).all()
    assert (trace.at(depths) == probabilities.argmax(axis=1)).all()
    assert probabilities.sum(axis=1) == pytest.approx(1)


def test_halted_and_full_answers_agree_on_every_text_with_dact(trained: dict[str, AdaptiveClassifier]) -> None:
    model, texts = trained["dact"], texts_of(600, seed=9).texts.to_pylist()
    trace = model.trace(texts)
    assert (trace.depths() < trace.layers).any()
    assert (model.predict_proba(texts).argmax(axis=1) == trace.answers[:, -1]).all()


def test_layers_do_not_run_for_texts_that_have_stopped(trained: dict[str, AdaptiveClassifier]) -> None:
    model, ran = trained["dact"], list[int]()
    hooks = [
        layer.register_forward_hook(lambda module, given, output: ran.append(len(given[0])))
        for layer in model.backbone.network.encoder.layer
    ]
    _, depths = model.predict_with_depth(TEST.texts.to_pylist())
    for hook in hooks:
        hook.remove()
    assert 1 <= depths.mean() < 2
    assert sum(ran) == depths.sum()


def test_texts_give_the_same_answer_alone_and_among_others(trained: dict[str, AdaptiveClassifier]) -> None:
    texts = TEST.texts.to_pylist()[:20]
    among, depths = trained["patience"].predict_with_depth(texts)
    alone = [trained["patience"].predict_with_depth([text]) for text in texts]
    assert np.concatenate([answer for answer, _ in alone]) == pytest.approx(among, abs=1e-5)
    assert [int(depth[0]) for _, depth in alone] == depths.tolist()


@pytest.mark.parametrize("pooling", ["class", "mean"])
@pytest.mark.parametrize("architecture", ["bert", "roberta", "electra"])
def test_layer_by_layer_is_what_the_network_does_at_once(
    folders: Callable[[str], str], architecture: str, pooling: str
) -> None:
    backbone = Backbone(folders(architecture), precision="fp32", pooling=pooling)
    tokens, rows = backbone.tokens(TEST.texts.to_pylist()[:9]), np.arange(9)
    backbone.network.eval()
    with torch.no_grad():
        walked = list(LayerWalk(backbone, tokens, rows))
        ids, real = tokens.padded(rows, backbone.padding)
        output = backbone.network(
            input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(real).long(), output_hidden_states=True
        )
    assert len(walked) == layers_of(backbone) == 2
    for ours, hidden in zip(walked, output.hidden_states[1:], strict=True):
        read = zip(hidden, real, strict=True)
        theirs = (
            hidden[:, 0]
            if pooling == "class"
            else torch.stack([of[torch.from_numpy(mask)].mean(0) for of, mask in read])
        )
        assert torch.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("architecture", ["distilbert", "llama", "modernbert"])
def test_other_networks_are_refused(folders: Callable[[str], str], architecture: str) -> None:
    with pytest.raises(InputError, match="cannot be stopped after a layer"):
        recipe(folders(architecture)).fit(TRAIN, DEV, 0)


def test_the_loss_averages_probabilities_as_the_rule_does() -> None:
    draw = np.random.default_rng(0)
    logits, halting = draw.normal(size=(5, 4, 3)), draw.random((5, 4))
    rule = Dact(4)
    for layer in range(4):
        odds = np.exp(logits[:, layer])
        answers, _ = rule.after(odds / odds.sum(axis=1, keepdims=True), halting[:, layer])
    assert averaged(torch.from_numpy(logits), torch.from_numpy(halting)).numpy() == pytest.approx(answers)


def test_layers_are_read_as_the_makers_say_or_as_the_first_phase_did(
    folders: Callable[[str], str], trained: dict[str, AdaptiveClassifier], tmp_path: Path
) -> None:
    made = shutil.copytree(folders("bert"), tmp_path / "sentences")
    write_json(made / POOLING_FILE, {"pooling_mode_mean_tokens": True})
    short = {"epochs": 1, "halting_epochs": 1}
    assert trained["dact"].backbone.pooling == "class"
    model = recipe(str(made), **short).fit(TRAIN, DEV, 0)
    assert model.backbone.pooling == "mean"
    model.save(tmp_path / "model")
    assert AdaptiveClassifier.load(tmp_path / "model").backbone.pooling == "mean"
    first = Transformer(str(made), epochs=1).fit(TRAIN, DEV, 0)
    assert (
        recipe(str(made), **short).fit(TRAIN, DEV, 0, start=first).backbone.pooling == first.backbone.pooling == "class"
    )


def test_layers_that_are_read_by_the_mean_stop_early_and_answer_as_at_full_depth(
    folders: Callable[[str], str], trained: dict[str, AdaptiveClassifier]
) -> None:
    model = recipe(folders("bert"), halting="dact", tau=0.01, layer_loss=1.0, pooling="mean").fit(TRAIN, DEV, 0)
    trace = model.trace(TEST.texts.to_pylist())
    _, depths = model.predict_with_depth(TEST.texts.to_pylist())
    assert depths.tolist() == trace.depths().tolist()
    assert (trace.at(depths) == trace.answers[:, -1]).all()
    with pytest.raises(InputError, match="pooling is class there and mean here"):
        recipe(folders("bert"), pooling="mean").fit(TRAIN, DEV, 0, start=trained["dact"])


def test_a_higher_price_makes_it_stop_earlier(folders: Callable[[str], str]) -> None:
    texts = TEST.texts.to_pylist()
    low, high = (
        recipe(folders("bert"), tau=tau).fit(TRAIN, DEV, 0).predict_with_depth(texts)[1].mean() for tau in (0.0, 1.0)
    )
    assert high < low


def test_entropy_leaves_the_network_as_it_was_fine_tuned(folders: Callable[[str], str]) -> None:
    settings = {"epochs": 2, "batch": 8, "learning_rate": 3e-3}
    start = Transformer(folders("bert"), **settings).fit(TRAIN, DEV, 0)
    before = weights(start)
    frozen, tuned = (
        weights(recipe(folders("bert"), halting=rule, **settings).fit(TRAIN, DEV, 0, start=start))
        for rule in ("entropy", "dact")
    )
    assert same(before, {name: frozen[name] for name in before})
    assert not same(before, {name: tuned[name] for name in before})


def test_a_frozen_network_is_read_without_dropout(trained: dict[str, AdaptiveClassifier]) -> None:
    model = trained["entropy"]
    tokens, rows = model.backbone.tokens(TEST.texts.to_pylist()[:8]), np.arange(8)
    model.modules.train()
    first, second = (model._all_layers(tokens, rows)[0][:, 0] for _ in range(2))
    assert torch.equal(first, second)


def test_what_is_written_answers_the_same(trained: dict[str, AdaptiveClassifier], tmp_path: Path) -> None:
    for rule, model in trained.items():
        model.save(tmp_path / rule)
        again = open_model(str(tmp_path / rule))
        first, second = (of.predict_with_depth(TEST.texts.to_pylist()) for of in (model, again))
        assert first[0] == pytest.approx(second[0], abs=1e-6)
        assert (first[1] == second[1]).all()
        assert again.threshold == model.threshold


@pytest.mark.parametrize("phase", ["network", "halting"])
def test_killed_in_either_phase_it_ends_with_the_same_weights(
    folders: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    def fit() -> AdaptiveClassifier:
        return recipe(folders("bert"), epochs=2, halting_epochs=2).fit(TRAIN, DEV, 3, scratch=tmp_path)

    monkeypatch.setattr(transformer, "CHECKPOINT_SECONDS", 0.0)
    whole = weights(recipe(folders("bert"), epochs=2, halting_epochs=2).fit(TRAIN, DEV, 3))
    taken, step = 0, transformer._step

    def killed(classifier: AdaptiveClassifier, *given: Any) -> None:
        nonlocal taken
        taken += classifier.halts == (phase == "halting")
        if taken == 7:
            raise KeyboardInterrupt
        step(classifier, *given)

    monkeypatch.setattr(transformer, "_step", killed)
    with pytest.raises(KeyboardInterrupt):
        fit()
    monkeypatch.setattr(transformer, "_step", step)
    assert same(whole, weights(fit()))


def test_depth_is_in_the_predictions_and_survives_files(trained: dict[str, AdaptiveClassifier], tmp_path: Path) -> None:
    predictions = inference.predict(trained["dact"], TEST)
    expected = trained["dact"].predict_with_depth(TEST.texts.to_pylist())[1]
    assert predictions.depths is not None
    assert (predictions.depths == expected).all()
    for suffix in ("csv", "parquet"):
        again = read_predictions(write_predictions(predictions, tmp_path / f"p.{suffix}"), TEST)
        assert again.depths is not None
        assert (again.depths == expected).all()
    renamed = RenamedClassifier(trained["dact"], {"calm": "loud", "loud": "calm"})
    assert (inference.predict(renamed, TEST).depths == expected).all()
    assert (inference.predict(renamed, TEST).probabilities == predictions.probabilities[:, ::-1]).all()
    assert inference.predict(api.train(TRAIN, "logistic"), TEST).depths is None


def test_a_trace_survives_a_file_and_damage_is_one_message(
    trained: dict[str, AdaptiveClassifier], tmp_path: Path
) -> None:
    trace = trained["entropy"].trace(TEST.texts.to_pylist(), TEST.ids.to_pylist())
    again = read_exits(write_exits(trace, tmp_path / "exits.parquet"))
    assert (again.answers == trace.answers).all()
    assert (again.scores == trace.scores).all()
    assert (again.threshold, again.label_names) == (trace.threshold, trace.label_names)
    (tmp_path / "exits.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError):
        read_exits(tmp_path / "exits.parquet")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tau": -1}, "tau must be at least 0"),
        ({"threshold": 0.1, "disagreement": 0.1}, "both say when to stop"),
        ({"disagreement": 1.5}, "between 0 and 1"),
        ({"halting_epochs": 0}, "halting_epochs must be at least 1"),
        ({"halting_rate": 0.0}, "halting_rate must be above 0"),
    ],
    ids=["tau", "both", "disagreement", "epochs", "rate"],
)
def test_settings_that_cannot_be_meant(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Adaptive(**settings)  # type: ignore[arg-type]


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="dact"):
        Adaptive(halting="dcat")
    with pytest.raises(UnknownNameError, match="tight"):
        Adaptive(bound="tihgt")
