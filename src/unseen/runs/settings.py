"""What a stress run does, settled before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from unseen.audits import FOLDS
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.metrics import metric as metric_of
from unseen.runs.source import DataSettings
from unseen.runs.spaces import Model, Space
from unseen.runs.steps import check_splitter

BASELINE = "random"
"""The family that every other one is compared with."""
SEEDS = (42, 55, 83)
BUDGETS: Mapping[str, Mapping[str, Any]] = {
    "small": {"params": {}},
    "thesis": {"seeds": SEEDS, "crossed": True, "seen_folds": FOLDS, "space_seeds": 2, "params": {"preset": "thesis"}},
}
"""`small`: three trainings per split of light models, one of transformers. `thesis`: three seeds on every split, with
the published settings."""
TRANSFORMER: Mapping[str, Any] = {"seeds": SEEDS[:1], "seen_folds": 2, "space_seeds": 1}
"""What a transformer, whose trainings take minutes, does less of unless told otherwise."""


@dataclass(frozen=True)
class Settings(DataSettings):
    """The settings of one run; everything that decides a number is in here."""

    model: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe."""
    representation: str = ""
    """full, bottleneck-D, pca-D, umap-D, pretrained, pretrained-pca-D, pretrained-umap-D; empty: the default."""
    splits: tuple[str, ...] = (BASELINE, "subset-sum", "closest", "novel")
    random_splits: int = 3
    test: float = 0.1
    dev: float = 0.1
    """Share of the training rows that serves as validation data."""
    seeds: tuple[int, ...] = SEEDS
    seen_folds: int = FOLDS
    """Folds of every hard test part that are scored again with the rest of it in training; 0: none."""
    space_seeds: int = 2
    """Further seeds of the latent space, to see whether its splits would be the same."""
    crossed: bool = False
    """Every seed on every random split; else each random split has a seed of its own where there are enough."""
    seed: int = 42
    """Of everything but the trainings on the splits."""
    clusters: tuple[int, ...] = ()
    """Numbers of clusters that splits of the latent space try; empty: each splitter's own."""
    metric: str = "f1.macro"
    texts: bool = False
    bias: str | None = None
    """Attribute that says which groups a text is about."""
    positive: tuple[str, ...] = ()
    """Labels that count as positive when groups are compared."""
    fewest: int = 20
    """Texts that a group needs to be compared."""
    suite: str | None = None
    """Test cases that the model trained on all rows is asked about: a file, or a known suite."""
    suite_map: Mapping[str, str] = field(default_factory=dict)
    """The model's labels in the suite's words, where they differ."""

    def __post_init__(self) -> None:
        problems = []
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            problems.append("seeds must be there, each once")
        if not 0 <= self.seen_folds <= FOLDS:
            problems.append(f"seen_folds must be from 0 to {FOLDS}, not {self.seen_folds}")
        if self.space_seeds < 0:
            problems.append(f"space_seeds must be at least 0, not {self.space_seeds}")
        if self.random_splits < 1:
            problems.append(f"random_splits must be at least 1, not {self.random_splits}")
        if len(set(self.methods)) < len(self.splits) + len(self.split_files):
            problems.append("a split is named twice")
        for name in ("test", "dev"):
            if not 0 < getattr(self, name) < 1:
                problems.append(f"{name} must be a share between 0 and 1, not {getattr(self, name)}")
        if not isinstance(self.independent, str) and not 0 <= self.independent < 1:
            problems.append(f"independent must be a share below 1, 0 for none, or a file, not {self.independent}")
        if self.limit is not None and self.limit < 50:
            problems.append(f"limit must be at least 50, not {self.limit}")
        if bool(self.positive) != (self.bias is not None):
            problems.append("bias needs both: the attribute with the groups, and the labels that are positive")
        if self.suite_map and self.suite is None:
            problems.append("suite_map has no effect without a suite")
        if problems:
            raise InputError("a run cannot be set up like this", problems=problems)
        if BASELINE not in self.splits:
            raise InputError("a fall is measured against random splits", fix="keep random among the splits")
        for name in self.splits:
            check_splitter(name, self.groups)
        metric_of(self.metric)
        Space(Model(self.model), self.representation)

    @property
    def named(self) -> list[str]:
        """The attributes that are read."""
        return super().named + ([] if self.bias is None else [self.bias])

    @property
    def methods(self) -> tuple[str, ...]:
        """Every family of splits: those that are made, then those that were given."""
        return (*self.splits, *self.given_splits)

    @property
    def hard(self) -> tuple[str, ...]:
        """The families that are compared with random splits."""
        return tuple(family for family in self.methods if family != BASELINE)

    @property
    def space(self) -> Space:
        """The latent space that is split."""
        return Space(Model(self.model, self.params), self.representation)

    @property
    def runs(self) -> list[tuple[str, str, int]]:
        """Trainings on splits: name of the split, its family, seed."""
        found = []
        for family in self.methods:
            for number, name in enumerate(self.split_names(family)):
                paired = family == BASELINE and not self.crossed and len(self.seeds) == self.random_splits
                for seed in (self.seeds[number],) if paired else self.seeds:
                    found.append((name, family, seed))
        return found

    @property
    def families(self) -> list[tuple[str, str]]:
        """Every split with its family."""
        return [(name, family) for family in self.methods for name in self.split_names(family)]

    def split_names(self, family: str) -> list[str]:
        """The splits of one family."""
        return [f"random-{number}" for number in range(1, self.random_splits + 1)] if family == BASELINE else [family]

    def described(self) -> dict[str, Any]:
        """The settings as plain values, the recipe's resolved ones included."""
        space = self.space
        return asdict(self) | {"representation": space.resolved, "recipe": space.model.described["recipe"]}


def seen_folds(model: Model) -> int:
    """Folds of the seen control of a model when nothing is said."""
    return int(TRANSFORMER["seen_folds"]) if model.is_transformer else FOLDS


def settled(model: str, budget: str = "small", *, params: Mapping[str, Any] | None = None, **given: Any) -> Settings:
    """Settings from a budget and what was given beside it; None means not given."""
    if budget not in BUDGETS:
        raise UnknownNameError.of("budget", budget, BUDGETS)
    chosen, is_transformer = dict(BUDGETS[budget]), Model(model).is_transformer
    defaults = chosen.pop("params") if is_transformer else (chosen.pop("params") and {})
    chosen = (dict(TRANSFORMER) if is_transformer else {}) | chosen
    given = {name: value for name, value in given.items() if value is not None}
    for name in ("seeds", "splits", "slices", "positive", "split_files", "clusters"):
        if name in given:
            given[name] = tuple(given[name]) if isinstance(given[name], Sequence) else given[name]
    if given.get("split_files"):
        given.setdefault("splits", (BASELINE,))
    return Settings(model, dict(defaults) | dict(params or {}), **chosen | given)
