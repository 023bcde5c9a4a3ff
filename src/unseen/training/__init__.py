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
)

CLASSIFIERS = Registry(
    "classifier",
    {
        "transformer.v1": "unseen.training.classifier:TransformerClassifier",
        "linear.v1": "unseen.training.linear:LinearClassifier",
        "neural.v1": "unseen.training.neural:NeuralClassifier",
    },
)

__all__ = ["CLASSIFIERS", "RECIPES"]
