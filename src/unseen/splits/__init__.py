"""Splits: which rows a model is trained on and which it is tested on.

Every splitter follows scikit-learn's protocol: knobs in the constructor, `split(X, y, groups)` yields
index pairs, usable as `cv=`. After a split `certificates_` says what was asked, got and proven.
"""

from unseen.registry import Registry

_PLACES = {
    "random.v1": "unseen.splits.random:RandomSplit",
    "grouped.v1": "unseen.splits.grouped:GroupedSplit",
    "subset-sum.v1": "unseen.splits.subset_sum:SubsetSumSplit",
    "closest.v1": "unseen.splits.closest:ClosestSplit",
    "novel.v1": "unseen.splits.novel:NovelSplit",
    "difficulty.v1": "unseen.splits.difficulty:DifficultySplit",
    "deployment.v1": "unseen.splits.deployment:DeploymentSplit",
    "hard-kfold.v1": "unseen.splits.hard_kfold:HardKFold",
    "length.v1": "unseen.splits.length:LengthSplit",
    "time.v1": "unseen.splits.time:TimeSplit",
    "attribute.v1": "unseen.splits.attribute:AttributeSplit",
    "predefined.v1": "unseen.splits.predefined:PredefinedSplit",
}
SPLITTERS = Registry("splitter", _PLACES, ("split", "get_n_splits"), stores=True)
_CLASSES = {place.rpartition(":")[2]: name for name, place in _PLACES.items()}

__all__ = ["SPLITTERS", *_CLASSES]


def __getattr__(name: str) -> object:
    if name in _CLASSES:
        return SPLITTERS.get(_CLASSES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
