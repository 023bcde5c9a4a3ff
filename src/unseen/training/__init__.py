"""Training: a recipe turns labelled texts into a classifier."""

from __future__ import annotations

from unseen.registry import Registry

RECIPES = Registry(
    "recipe",
    {
        "transformer.v1": "unseen.training.transformer:Transformer",
        "adaptive.v1": "unseen.training.adaptive:Adaptive",
        "logistic.v1": "unseen.training.linear:LogisticRegression",
        "char-ngrams.v1": "unseen.training.linear:CharacterLogistic",
        "svm.v1": "unseen.training.linear:LinearSVM",
        "neural.v1": "unseen.training.neural:HashedNetwork",
        "cnn-gru.v1": "unseen.training.recurrent:CNNGRU",
        "birnn.v1": "unseen.training.recurrent:BiRNN",
        "birnn-attention.v1": "unseen.training.recurrent:BiRNNAttention",
    },
    ("fit",),
    dict.fromkeys(
        ("transformer.v1", "adaptive.v1", "neural.v1", "cnn-gru.v1", "birnn.v1", "birnn-attention.v1"), "models"
    ),
)

CLASSIFIERS = Registry(
    "classifier",
    {
        "transformer.v1": "unseen.training.transformer_classifier:TransformerClassifier",
        "adaptive.v1": "unseen.training.adaptive:AdaptiveClassifier",
        "linear.v1": "unseen.training.linear:LinearClassifier",
        "neural.v1": "unseen.training.neural:NeuralClassifier",
        "words.v1": "unseen.training.recurrent:WordClassifier",
    },
    extras=dict.fromkeys(("transformer.v1", "adaptive.v1", "neural.v1", "words.v1"), "models"),
)

__all__ = ["CLASSIFIERS", "RECIPES"]
