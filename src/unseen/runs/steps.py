"""The steps that studies are made of, and what decides each of them.

What is done in a step is in `unseen.runs.work`, and what is measured in `unseen.runs.measuring`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unseen.audits import FOLDS
from unseen.engines import Step
from unseen.engines.steps import key_of
from unseen.errors import InputError
from unseen.naming import content_of_name
from unseen.registry import VERSION
from unseen.runs.source import Source
from unseen.runs.spaces import Model, Space
from unseen.splits import SPLITTERS
from unseen.splits.quotas import rows_asked
from unseen.types import Dataset

SUITE = "the suite"
"""What steps call the suite that they share."""
WORK, MEASURING, DESCRIBING = (f"unseen.runs.{room}" for room in ("work", "measuring", "describing"))


@dataclass(frozen=True)
class Cut:
    """One split that a study asks for."""

    name: str
    splitter: str
    space: Space | None = None
    """None for splitters that read no vectors."""
    random_state: int = 42
    seed: int = 42
    """Of the validation part."""
    test: float = 0.1
    dev: float = 0.1
    """Share of the training rows that serves as validation data."""
    groups: str | None = None
    knobs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The method, whatever its seed."""
        return VERSION.sub("", self.splitter)


def reads_vectors(splitter: str) -> bool:
    """Whether a splitter cuts a latent space."""
    return getattr(SPLITTERS.get(splitter), "reads", "vectors") == "vectors"


def check_splitter(name: str, groups: str | None) -> None:
    """Refuse a splitter that would fail only after a model is trained."""
    made, bare = SPLITTERS.get(name), VERSION.sub("", name)
    if getattr(made, "reads", "vectors") == "column":
        raise InputError(f"the splitter {name!r} reads an attribute, which a study does not name")
    if bare == "deployment":
        raise InputError("the splitter 'deployment' needs texts from deployment", fix="unseen split make has it")
    if bare == "grouped" and groups is None:
        raise InputError("the splitter 'grouped' needs groups", fix="name the attribute: groups (--groups)")
    if ":" not in name and SPLITTERS.make(name).get_n_splits() != 1:
        raise InputError(f"the splitter {name!r} gives several splits", fix="take those that give one")


def space_cut(space: Space, splitter: str) -> Space | None:
    """The space that a splitter cuts when `space` is the model's; None for one that reads no vectors."""
    if not reads_vectors(splitter):
        return None
    untrained = getattr(SPLITTERS.get(splitter), "space", "own") == "untrained" and not space.encodes_untrained
    return Space(space.of, "pretrained") if untrained else space


def space_step(source: Source, space: Space, seed: int) -> Step:
    """Train the model of a space on all rows that are not set aside, and encode every row."""
    shared = {"source": source.name}
    if space.reduction is not None:
        method, dimensions = space.reduction
        whole = "pretrained" if space.is_pretrained else "full" if space.of.is_transformer else ""
        settings = {"reduce": method, "dimensions": dimensions, "seed": seed}
        needs = {"vectors": space_step(source, Space(space.of, whole), seed)}
        return Step(f"reduce {space.called}", f"{WORK}:reduce_vectors", settings, needs, shared)
    settings = {"source": source.basis, "encoder": space.encoder, "seed": seed} | space.of.opening
    settings |= {"content": content_of_name(space.encoder)}
    if space.encodes_untrained:
        return Step(f"encode {space.called}", f"{WORK}:encode", settings, {}, shared, uses_gpu=space.of.is_transformer)
    settings |= {"model": space.model.described}
    return Step(
        f"learn the space {space.called}",
        f"{WORK}:learn_space",
        settings,
        {},
        shared,
        uses_gpu=space.model.is_transformer,
    )


def split_step(source: Source, cut: Cut, seed: int) -> Step:
    """Cut the rows that are not set aside into train, validation and test; `seed` is that of the space."""
    takes = inspect.signature(SPLITTERS.get(cut.splitter)).parameters
    given = {"test_size": cut.test, "random_state": cut.random_state}
    knobs = {name: value for name, value in given.items() if name in takes} | dict(cut.knobs)
    rest = int((~source.aside).sum())
    settings: dict[str, Any] = {
        "source": source.basis,
        "splitter": SPLITTERS.full_name(cut.splitter),
        "content": content_of_name(cut.splitter),
        "knobs": knobs,
        "dev": round(cut.dev * (rest - rows_asked(cut.test, rest, "test"))),
        "seed": cut.seed,
        "groups": source.content(filter(None, [cut.groups])),
    }
    needs = {"vectors": space_step(source, cut.space, seed)} if cut.space is not None else {}
    return Step(f"split {cut.name}", f"{WORK}:split", settings, needs, {"source": source.name})


def given_split_step(source: Source, name: str, dev: float, seed: int) -> Step:
    """A split that somebody else made; validation rows are drawn where it names none."""
    parts = key_of("parts", list(source.given[name]))
    settings = {"source": source.basis, "name": name, "parts": parts, "dev": dev, "seed": seed}
    return Step(f"split {name}", f"{WORK}:take_given_split", settings, {}, {"source": source.name})


def stability_step(source: Source, cuts: Mapping[str, Sequence[Step]]) -> Step:
    """Compare the test parts that a family of splits has from several seeds of its space."""
    settings = {"families": {family: len(steps) for family, steps in cuts.items()}}
    needs = {f"{family}-{number}": step for family, steps in cuts.items() for number, step in enumerate(steps)}
    return Step("stability", f"{MEASURING}:write_stability", settings, needs, {"source": source.name})


def train_step(
    source: Source, cut: Step, model: Model, seed: int, name: str, others: Mapping[str, Source] | None = None
) -> Step:
    """Train on one split from one seed, and predict every row that was not trained on.

    Of `others`, the rows of `added` are trained on too, and texts are marked by the telling words of `lexicon`.
    """
    settings = {"model": model.described, "seed": seed}
    shared = {"source": source.name}
    for role, other in (others or {}).items():
        settings[role], shared[role] = other.basis, other.name
    return Step(name, f"{WORK}:train", settings, {"split": cut}, shared, uses_gpu=model.is_transformer)


def seen_steps(training: Step, folds: int, groups: Mapping[str, str]) -> tuple[Step, ...]:
    """The seen control of a training: as many of its folds as asked for, a training each.

    `groups` are the attribute that is kept whole in folds and its content; nothing where there is none.
    """
    settings = {**training.settings, "folds": FOLDS, "groups": dict(groups)}
    return tuple(
        replace(
            training, name=f"{training.name} seen {fold + 1}", work=f"{WORK}:train_seen",
            settings=settings | {"fold": fold},
        )
        for fold in range(folds)
    )  # fmt: skip


def kept_whole(source: Source, family: str, groups: str | None) -> dict[str, str]:
    """The attribute that folds of a seen control keep whole, with its content.

    None where a split holds the groups themselves out: then the control puts some texts of a group back into training.
    """
    return source.content([groups] if groups and VERSION.sub("", family) != "grouped" else [])


@dataclass(frozen=True)
class PlannedTraining:
    """A training on a split, as a study plans it."""

    split: str
    family: str
    seed: int
    cut: Step
    training: Step
    seen: tuple[Step, ...] = ()
    """Trainings of the seen control."""

    @property
    def called(self) -> dict[str, Any]:
        """What it is, in plain values."""
        return {"split": self.split, "family": self.family, "seed": self.seed, "seen": len(self.seen)}


@dataclass(frozen=True)
class Scoring:
    """What is measured."""

    metric: str = "f1.macro"
    slices: tuple[str, ...] = ()
    groups: str | None = None
    agreement: str | None = None
    seed: int = 42
    tags: Mapping[str, Any] = field(default_factory=dict)
    """Put on every row."""

    def of(self, family: str) -> str:
        """What is measured, in a few words."""
        return " ".join([family, *map(str, self.tags.values())])

    def described(self, source: Source) -> dict[str, Any]:
        """Plain values, the content of the attributes that are read included."""
        attributes = [*self.slices, *filter(None, [self.groups, self.agreement])]
        own = {name: getattr(self, name) for name in ("metric", "slices", "groups", "agreement", "seed", "tags")}
        return own | {"attributes": source.content(attributes)}


def _trials(
    runs: Sequence[PlannedTraining], control: Sequence[PlannedTraining]
) -> tuple[dict[str, Any], dict[str, Step]]:
    """Settings and needs of a step that reads trainings, and trainings to compare them with."""
    settings = {"runs": [run.called for run in runs], "control": [run.called for run in control]}
    needs: dict[str, Step] = {}
    for kind, some in (("runs", runs), ("control", control)):
        for number, run in enumerate(some):
            needs |= {f"{kind}-split-{number}": run.cut, f"{kind}-{number}": run.training}
            needs |= {f"{kind}-{number}-seen-{fold}": step for fold, step in enumerate(run.seen)}
    return settings, needs


def scores_step(
    source: Source, runs: Sequence[PlannedTraining], control: Sequence[PlannedTraining], asked: Scoring
) -> Step:
    """Score the trainings of one family of splits, and its fall against those of `control`, if any."""
    settings, needs = _trials(runs, control)
    name = f"scores {asked.of(runs[0].family)}"
    return Step(name, f"{MEASURING}:write_scores", settings | asked.described(source), needs, {"source": source.name})


def findings_step(
    source: Source, runs: Sequence[PlannedTraining], control: Sequence[PlannedTraining], asked: Scoring
) -> Step:
    """Ask whether a hard split is hard or broken."""
    settings, needs = _trials(runs, control)
    needs |= {"witness": label_noise_step(source, asked.seed)}
    name = f"findings {asked.of(runs[0].family)}"
    return Step(
        name, f"{MEASURING}:write_findings_of", settings | asked.described(source), needs, {"source": source.name}
    )


def label_noise_step(source: Source, seed: int) -> Step:
    """Ask a light model about the labels of the rows that are not set aside, none of which it has seen."""
    settings = {"source": source.basis, "seed": seed}
    return Step("label noise", f"{MEASURING}:write_label_noise", settings, {}, {"source": source.name})


def leaks_step(source: Source, cuts: Mapping[str, Step], groups: str | None, seed: int) -> Step:
    """Look for texts, and groups where an attribute names them, that lie on both sides of splits."""
    settings = {
        "source": source.basis, "splits": list(cuts), "groups": source.content(filter(None, [groups])), "seed": seed,
    }  # fmt: skip
    needs = {f"split-{number}": cut for number, cut in enumerate(cuts.values())}
    return Step("leaks", f"{MEASURING}:write_leaks", settings, needs, {"source": source.name})


def properties_step(
    source: Source, cut: Step, space: Step | None, name: str, neutral: str | None, tags: Mapping[str, Any] | None = None
) -> Step:
    """Measure the properties of one split."""
    settings = {
        "split": name,
        "neutral": neutral,
        "attributes": source.content(source.data.attributes),
        "tags": dict(tags or {}),
    }
    needs = {"split": cut} | ({} if space is None else {"vectors": space})
    return Step(f"properties {name}", f"{MEASURING}:write_properties", settings, needs, {"source": source.name})


def bias_step(
    source: Source,
    runs: Sequence[PlannedTraining],
    attribute: str,
    positive: Sequence[str],
    fewest: int,
    asked: Scoring,
) -> Step:
    """Compare groups on the parts of the splits of one family."""
    settings, needs = _trials(runs, [])
    settings |= {
        "bias": source.content([attribute]), "positive": list(positive), "fewest": fewest, "groups": asked.groups,
        "seed": asked.seed, "tags": dict(asked.tags),
    }  # fmt: skip
    name = f"bias {asked.of(runs[0].family)}"
    return Step(name, f"{MEASURING}:write_bias", settings, needs, {"source": source.name})


def behaviour_step(
    source: Source, suite: Dataset, space: Space, rename: Mapping[str, str], seed: int, tags: Mapping[str, Any]
) -> Step:
    """Ask the model that was trained on all rows that are not set aside about a suite."""
    settings: dict[str, Any] = {
        "suite": {"fingerprint": suite.fingerprint, "attributes": _hashes(suite), "name": suite.name},
        "rename": dict(rename), "seed": seed, "tags": dict(tags),
    }  # fmt: skip
    needs = {}
    if space.encodes_untrained:
        settings |= {"source": source.basis, "model": space.model.described}
    else:
        learnt = space_step(source, space, seed)
        needs = {"model": learnt.needs.get("vectors", learnt)}
        settings |= space.of.opening
    shared = {"source": source.name, "suite": SUITE}
    return Step(f"behaviour on {suite.name}", f"{MEASURING}:write_behaviour", settings, needs, shared)


def _hashes(data: Dataset) -> dict[str, str]:
    return {name: key_of("attribute", data.attribute(name).to_pylist()) for name in data.attributes}


def map_step(source: Source, space: Step, cuts: Mapping[str, Step], seed: int) -> Step:
    """Lay the texts out in the plane."""
    return Step(
        f"map of {space.name}", f"{DESCRIBING}:write_map", {"seed": seed, "splits": list(cuts)},
        {"vectors": space} | {f"split-{number}": cut for number, cut in enumerate(cuts.values())},
        {"source": source.name},
    )  # fmt: skip


def clusters_step(source: Source, space: Step, cuts: Mapping[str, Step], texts: bool) -> Step:
    """Say what the clusters of the splits hold."""
    settings = {"splits": list(cuts), "texts": texts}
    needs = {"vectors": space} | {f"split-{number}": cut for number, cut in enumerate(cuts.values())}
    return Step("clusters", f"{DESCRIBING}:write_clusters", settings, needs, {"source": source.name})
