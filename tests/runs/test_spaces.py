"""Models, and the latent spaces they are asked for."""

from __future__ import annotations

import pytest

from unseen.errors import InputError, UnknownNameError
from unseen.runs.spaces import Model, Space


@pytest.mark.parametrize(
    ("representation", "bottleneck", "reduction", "pretrained"),
    [
        ("", 50, None, False), ("full", None, None, False), ("bottleneck-10", 10, None, False),
        ("umap-50", None, ("umap", 50), False), ("pca-3", None, ("pca", 3), False),
        ("pretrained", None, None, True), ("pretrained-umap-10", None, ("umap", 10), True),
    ],
)  # fmt: skip
def test_representations(
    representation: str, bottleneck: int | None, reduction: tuple[str, int] | None, pretrained: bool
) -> None:
    space = Space(Model("minilm"), representation)
    assert (space.bottleneck, space.reduction, space.is_pretrained) == (bottleneck, reduction, pretrained)
    assert space.model.recipe().settings.bottleneck == bottleneck
    assert space.encodes_untrained == pretrained


def test_a_light_model_has_a_space_of_its_own_or_that_of_its_features() -> None:
    neural = Space(Model("neural"))
    assert not neural.of.is_transformer
    assert (neural.resolved, neural.called, neural.encodes_untrained) == ("own", "neural-own", False)
    linear = Space(Model("logistic"))
    assert linear.encodes_untrained
    assert linear.encoder == "tfidf"
    assert Model("some/hub-name").is_transformer


def test_names() -> None:
    named = Model("minilm", {"epochs": 1}, "short")
    assert (named.called, Model("path/to/bert").called) == ("short", "bert")
    assert Space(named).called == "short-bottleneck-50"
    assert Space(named).model.called == "short-bottleneck-50"
    assert Space(named, "full").model is named


def test_what_decides_a_model_has_its_resolved_settings() -> None:
    described = Model("minilm", {"epochs": 2}).described
    assert described["params"] == {"epochs": 2}
    assert described["recipe"]["epochs"] == 2
    assert described["recipe"]["batch"] > 0
    assert Model("minilm", {"epochs": 2}).epochs == 2


@pytest.mark.parametrize("name", ["minilm", "logistic", "neural"])
def test_only_models_with_class_weights_leave_older_results_alone(name: str) -> None:
    assert Model(name, {"class_weights": "balanced"}).described["weighting"] == 2
    assert "weighting" not in Model(name).described


def test_impossible_spaces_say_why() -> None:
    with pytest.raises(UnknownNameError, match="pretrained vectors have none"):
        Space(Model("minilm"), "pretrained-bottleneck-50")
    with pytest.raises(UnknownNameError, match="bottleneck-50"):
        Space(Model("minilm"), "bottleneck50")
    for representation in ("bottleneck-50", "full"):
        with pytest.raises(InputError, match="of transformers"):
            Space(Model("neural"), representation)
    with pytest.raises(InputError, match="epoch"):
        Model("minilm", {"epoch": 3}).recipe()


def test_a_reduction_that_reduces_nothing_is_refused_before_any_training() -> None:
    with pytest.raises(InputError, match="50 numbers"):
        Space(Model("neural"), "umap-50")
    with pytest.raises(InputError, match="50 numbers"):
        Space(Model("logistic"), "pca-60")
    with pytest.raises(InputError, match="8 numbers"):
        Space(Model("neural", {"bottleneck": 8}), "pca-8")
    assert Space(Model("neural", {"bottleneck": 8}), "pca-7").reduction == ("pca", 7)
