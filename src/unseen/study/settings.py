"""What a stress run does, settled before it begins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.metrics import metric as metric_of
from unseen.models import PIPELINES
from unseen.naming import recipe_of
from unseen.registry import VERSION
from unseen.representations.reduction import REDUCTIONS
from unseen.splits import SPLITTERS
from unseen.training import RECIPES

BUDGETS: Mapping[str, Mapping[str, Any]] = {
    "small": {"seeds": (42,), "params": {}},
    "thesis": {"seeds": (42, 55, 83), "crossed": True, "params": {"preset": "thesis"}},
}
"""`small`: one training per split. `thesis`: three seeds on every split, with the published settings."""
REPRESENTATION = re.compile(r"full|pretrained|bottleneck-(\d+)|(pretrained-)?(pca|umap)-(\d+)")


@dataclass(frozen=True)
class Settings:
    """The settings of one run; everything that decides a number is in here."""

    model: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe."""
    representation: str = ""
    """full, bottleneck-D, pca-D, umap-D, pretrained, pretrained-pca-D, pretrained-umap-D; empty: the default."""
    splits: tuple[str, ...] = ("random", "subset-sum", "closest")
    random_splits: int = 3
    test: float = 0.1
    dev: float = 0.1
    """Share of the training rows that serves as validation data."""
    independent: float | str = 0.1
    """A share of all rows, or a file."""
    seeds: tuple[int, ...] = (42,)
    crossed: bool = False
    """Every seed on every random split; else each random split has a seed of its own where there are enough."""
    seed: int = 42
    """Of everything but the trainings on the splits."""
    metric: str = "f1.macro"
    groups: str | None = None
    slices: tuple[str, ...] = ()
    agreement: str | None = None
    """Attribute that says how far annotators agreed."""
    neutral: str | None = None
    """The label that means nothing is there, for the properties that compare class words."""
    limit: int | None = None
    texts: bool = False

    def __post_init__(self) -> None:
        problems = []
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            problems.append("seeds must be there, each once")
        if self.random_splits < 1:
            problems.append(f"random_splits must be at least 1, not {self.random_splits}")
        if len(set(self.splits)) < len(self.splits):
            problems.append("a split is named twice")
        for name in ("test", "dev"):
            if not 0 < getattr(self, name) < 1:
                problems.append(f"{name} must be a share between 0 and 1, not {getattr(self, name)}")
        if not isinstance(self.independent, str) and not 0 < self.independent < 1:
            problems.append(f"independent must be a share between 0 and 1, or a file, not {self.independent}")
        if self.limit is not None and self.limit < 50:
            problems.append(f"limit must be at least 50, not {self.limit}")
        if problems:
            raise InputError("a run cannot be set up like this", problems=problems)
        if "random" not in self.splits:
            raise InputError("a fall is measured against random splits", fix="keep random among the splits")
        for name in self.splits:
            self._check_splitter(name)
        metric_of(self.metric)
        if self.representation and not REPRESENTATION.fullmatch(self.representation):
            raise UnknownNameError.of(
                "representation", self.representation,
                ("full", "bottleneck-50", "pca-50", "umap-50", "pretrained", "pretrained-umap-50"),
            )  # fmt: skip

    def _check_splitter(self, name: str) -> None:
        """Refuse what would fail only after the model is trained."""
        made, bare = SPLITTERS.get(name), VERSION.sub("", name)
        if getattr(made, "reads", "vectors") == "column":
            raise InputError(f"the splitter {name!r} reads an attribute, which a stress run does not name")
        if bare == "deployment":
            raise InputError("the splitter 'deployment' needs texts from deployment", fix="unseen split has it")
        if bare == "grouped" and self.groups is None:
            raise InputError("the splitter 'grouped' needs groups", fix="name the attribute: groups (--groups)")
        if ":" not in name and SPLITTERS.make(name).get_n_splits() != 1:
            raise InputError(f"the splitter {name!r} gives several splits", fix="take those that give one")

    @property
    def is_transformer(self) -> bool:
        """Whether the model is a transformer to fine-tune."""
        known = VERSION.sub("", self.model)
        elsewhere = ":" in self.model or Path(self.model).suffix in PIPELINES
        return known == "transformer" or (not elsewhere and known not in RECIPES)

    @property
    def vectors_name(self) -> str:
        """How the representation is called in file names."""
        return f"{Path(self.model).name.replace(':', '.')}-{self.resolved_representation}"

    @property
    def resolved_representation(self) -> str:
        """The representation that is meant when none is named."""
        return self.representation or ("bottleneck-50" if self.is_transformer else "own")

    @property
    def bottleneck(self) -> int | None:
        """Numbers in the bottleneck of the model, None without one."""
        found = re.fullmatch(r"bottleneck-(\d+)", self.resolved_representation)
        return int(found.group(1)) if found else None

    @property
    def reduction(self) -> tuple[str, int] | None:
        """The reduction of the vectors and its dimensions."""
        found = re.fullmatch(rf"(?:pretrained-)?({'|'.join(REDUCTIONS)})-(\d+)", self.resolved_representation)
        return (found.group(1), int(found.group(2))) if found else None

    @property
    def is_pretrained(self) -> bool:
        """Whether the vectors are those of the model before any training."""
        return self.resolved_representation.startswith("pretrained")

    def recipe(self) -> Any:
        """A new recipe object."""
        narrow = {"bottleneck": self.bottleneck} if self.bottleneck else {}
        return recipe_of(self.model, **dict(self.params) | narrow)

    @property
    def runs(self) -> list[tuple[str, str, int]]:
        """Trainings on splits: name of the split, its family, seed."""
        found = []
        for family in self.splits:
            for number, name in enumerate(self.split_names(family)):
                paired = family == "random" and not self.crossed and len(self.seeds) == self.random_splits
                for seed in (self.seeds[number],) if paired else self.seeds:
                    found.append((name, family, seed))
        return found

    @property
    def families(self) -> list[tuple[str, str]]:
        """Every split with its family."""
        return [(name, family) for family in self.splits for name in self.split_names(family)]

    def split_names(self, family: str) -> list[str]:
        """The splits of one family."""
        return [f"random-{number}" for number in range(1, self.random_splits + 1)] if family == "random" else [family]

    def described(self) -> dict[str, Any]:
        """The settings as plain values, the recipe's resolved ones included."""
        recipe = self.recipe()
        resolved = getattr(recipe, "settings", None)
        own = asdict(resolved) if resolved is not None else {k: v for k, v in vars(recipe).items() if k[0] != "_"}
        return asdict(self) | {"representation": self.resolved_representation, "recipe": own}


def settled(model: str, budget: str = "small", *, params: Mapping[str, Any] | None = None, **given: Any) -> Settings:
    """Settings from a budget and what was given beside it; None means not given."""
    if budget not in BUDGETS:
        raise UnknownNameError.of("budget", budget, BUDGETS)
    chosen = dict(BUDGETS[budget])
    defaults = chosen.pop("params") if Settings(model).is_transformer else (chosen.pop("params") and {})
    given = {name: value for name, value in given.items() if value is not None}
    for name in ("seeds", "splits", "slices"):
        if name in given:
            given[name] = tuple(given[name]) if isinstance(given[name], Sequence) else given[name]
    return Settings(model, dict(defaults) | dict(params or {}), **chosen | given)
