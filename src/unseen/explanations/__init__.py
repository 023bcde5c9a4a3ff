"""Why a model decided so, and whether the why can be trusted.

::

    texts -> units (words, or the model's pieces) -> an explainer: a score for each unit
      -> faithfulness: does the model change its mind when the units with high scores are erased?
      -> plausibility: are they the words that people highlighted?
"""

from __future__ import annotations

from unseen.registry import Registry

EXPLAINERS = Registry(
    "explainer",
    {
        "occlusion.v1": "unseen.explanations.occlusion:Occlusion",
        "lime.v1": "unseen.explanations.lime:Lime",
        "partition-shap.v1": "unseen.explanations.partition_shap:PartitionShap",
        "sampling-occlusion.v1": "unseen.explanations.sampling_occlusion:SamplingOcclusion",
        "gradient.v1": "unseen.explanations.gradients:Gradient",
        "gradient-input.v1": "unseen.explanations.gradients:GradientInput",
        "integrated-gradients.v1": "unseen.explanations.gradients:IntegratedGradients",
        "attention.v1": "unseen.explanations.attention:Attention",
        "effective-attention.v1": "unseen.explanations.attention:EffectiveAttention",
        "random.v1": "unseen.explanations.baselines:Random",
        "rationale-lexicon.v1": "unseen.explanations.baselines:LexiconScores",
    },
    ("attributions",),
)

__all__ = ["EXPLAINERS"]
