"""Training: a recipe turns labelled texts into a classifier."""

from __future__ import annotations

from unseen.registry import Registry

RECIPES = Registry(
    "recipe",
    {
        "transformer.v1": "unseen.training.transformer:Transformer",
        "logistic.v1": "unseen.training.linear:LogisticRegression",
        "svm.v1": "unseen.training.linear:LinearSVM",
        "neural.v1": "unseen.training.neural:HashedNetwork",
    },
    ("fit",),
    {"transformer.v1": "models", "neural.v1": "models"},
)

CLASSIFIERS = Registry(
    "classifier",
    {
        "transformer.v1": "unseen.training.transformer_classifier:TransformerClassifier",
        "linear.v1": "unseen.training.linear:LinearClassifier",
        "neural.v1": "unseen.training.neural:NeuralClassifier",
    },
    extras={"transformer.v1": "models", "neural.v1": "models"},
)

__all__ = ["CLASSIFIERS", "RECIPES"]
