"""The long steps of stress runs and studies: learn a space, cut it, train on the split.

Of each kind of step, what decides its result (a function that makes the `Step`) stands beside what is done in it (a
function that takes a `Workspace` and leaves files). What is measured afterwards is in `measurement_steps.py`. Training
texts may be marked with the words by which another dataset's classes are known, a remedy for any model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen import api, inference
from unseen.analysis.words import Words, typical_words, words_of
from unseen.audits import FOLDS, seen_fold
from unseen.costs.meter import measure_cost, write_costs
from unseen.engines import Step, Workspace
from unseen.errors import InputError
from unseen.naming import content_of_name
from unseen.registry import VERSION
from unseen.representations.reduction import reduce as reduced
from unseen.runs.source import Source, joined
from unseen.runs.spaces import MODEL, Model, Space, fit
from unseen.splits import SPLITTERS
from unseen.splits.quotas import rows_asked
from unseen.splits.split_records import random_rows, split_records
from unseen.store import (
    read_embeddings,
    read_split,
    write_embeddings,
    write_exits,
    write_predictions,
    write_split,
)
from unseen.store.results import key_of
from unseen.types import Dataset, Embeddings, Split, string_array

TOP = 300
BASELINE = "random"
"""The splitter whose splits every other one is compared with."""
TRANSFORMER_FOLDS = 2
"""Folds of the seen control of a transformer when nothing is said: its trainings take minutes."""
VECTORS, SPLIT, PREDICTIONS, EXITS = "vectors.npy", "split.csv", "predictions.parquet", "exits.parquet"
"""The files that these steps leave."""


@dataclass(frozen=True)
class Lexicon:
    """Words that lean to a label."""

    words: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, data: Dataset, top: int = TOP) -> Lexicon:
        """The words of `data` most typical of each label."""
        content = Words.of(data).content
        rows = np.arange(len(data))
        typical = {
            name: typical_words(content, rows, data.labels == code)[:top] for code, name in enumerate(data.label_names)
        }
        return cls({name: frozenset(content.vocabulary[places].tolist()) for name, places in typical.items()})

    def mark(self, text: str) -> str:
        """The text with one mark per label that it has words of.

        >>> Lexicon({"praise": frozenset({"good", "fine"}), "blame": frozenset({"bad"})}).mark("A good one")
        'A good one lexicon0praise'
        """
        present = set(words_of(text))
        marks = [f"lexicon{place}{name}" for place, (name, words) in enumerate(self.words.items()) if present & words]
        return " ".join([text, *marks])

    def marked(self, data: Dataset) -> Dataset:
        """The same rows with marked texts."""
        return data.with_column("text", string_array([self.mark(text) for text in data.texts.to_pylist()]))


class MarkedClassifier:
    """A classifier that was trained on marked texts, and marks what it is asked about."""

    def __init__(self, classifier: Any, lexicon: Lexicon) -> None:
        self.classifier, self.lexicon = classifier, lexicon
        self.classes_ = classifier.classes_

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        return np.asarray(self.classifier.predict_proba([self.lexicon.mark(text) for text in texts]))


def step_on(
    source: Source,
    name: str,
    work: Callable[[Workspace], None],
    settings: Mapping[str, Any],
    needs: Mapping[str, Step] | None = None,
    *,
    uses_gpu: bool = False,
) -> Step:
    """A step that reads `source` and does `work`, which other processes find by its place.

    Of a model that rationales teach, these decide its result too.
    """
    taught = settings.get("model", {}).get("recipe", {}).get("supervise")
    if taught in source.data.attributes:
        settings = {**settings, "taught": source.content([taught])}
    place = f"{work.__module__}:{work.__name__}"
    return Step(name, place, settings, needs or {}, {"source": source.name}, uses_gpu=uses_gpu)


# -- the space ---------------------------------------------------------------------------------------------------------


def space_step(source: Source, space: Space, seed: int) -> Step:
    """Train the model of a space on all rows that are not set aside, and encode every row."""
    if space.reduction is not None:
        method, dimensions = space.reduction
        whole = "pretrained" if space.is_pretrained else "full" if space.of.is_transformer else ""
        settings = {"reduce": method, "dimensions": dimensions, "seed": seed}
        needs = {"vectors": space_step(source, Space(space.of, whole), seed)}
        return step_on(source, f"reduce {space.called}", reduce_vectors, settings, needs)
    settings = {"source": source.basis, "encoder": space.encoder, "seed": seed} | space.of.opening
    settings |= {"content": content_of_name(space.encoder)}
    if space.encodes_untrained:
        return step_on(source, f"encode {space.called}", encode, settings, uses_gpu=space.of.is_transformer)
    settings |= {"model": space.model.described}
    gpu = space.model.is_transformer
    return step_on(source, f"learn the space {space.called}", learn_space, settings, uses_gpu=gpu)


def encode(here: Workspace) -> None:
    """The vectors of an encoder that is taken as it comes."""
    _encode(here, here.settings["encoder"])


def learn_space(here: Workspace) -> None:
    """Train on all rows that are not set aside, validated on those that are, and encode every row."""
    model = trained_on_rest(here)
    if hasattr(model, "save"):
        model.save(here.folder / MODEL)
    _encode(here, model if hasattr(model, "encode") else here.settings["encoder"])


def trained_on_rest(here: Workspace) -> Any:
    """The model of a step, trained on all rows that are not set aside, validated on those that are."""
    source: Source = here.shared["source"]
    seed = here.settings["seed"]
    train, dev = source.rest, source.independent
    if not len(dev):
        drawn, _ = random_rows(train, "dev", 0.1, seed=seed)
        train, dev = train.take(np.flatnonzero(~drawn)), train.take(np.flatnonzero(drawn))
    return fit(here.settings["model"], train, dev, seed, here.scratch / "training")


def _encode(here: Workspace, encoder: Any) -> None:
    data = here.shared["source"].data
    opening = here.settings.get("opening", {}) if isinstance(encoder, str) else {}
    partial = here.scratch / "encoding" / VECTORS
    embeddings = api.encode(data, encoder, seed=here.settings["seed"], partial=partial, **opening)
    write_embeddings(embeddings, here.folder / VECTORS, data)


def reduce_vectors(here: Workspace) -> None:
    """Fewer numbers per vector."""
    data, settings, whole = here.shared["source"].data, here.settings, vectors(here)
    fewer = reduced(np.asarray(whole.vectors), settings["reduce"], settings["dimensions"], seed=settings["seed"])
    params = dict(whole.origin.params) | {"reduce": settings["reduce"], "dimensions": settings["dimensions"]}
    write_embeddings(Embeddings(whole.ids, fewer, replace(whole.origin, params=params)), here.folder / VECTORS, data)


def vectors(here: Workspace) -> Embeddings:
    """The vectors that a step needs."""
    return read_embeddings(here.need("vectors", VECTORS), here.shared["source"].data)


# -- the splits --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """One split that a run asks for."""

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


def split_step(source: Source, cut: Cut, seed: int) -> Step:
    """Cut the rows that are not set aside into train, validation and test; `seed` is that of the space."""
    takes = inspect.signature(SPLITTERS.get(cut.splitter)).parameters
    given = {"test_size": cut.test, "random_state": cut.random_state}
    rest = int((~source.aside).sum())
    settings: dict[str, Any] = {
        "source": source.basis,
        "splitter": SPLITTERS.full_name(cut.splitter),
        "content": content_of_name(cut.splitter),
        "knobs": {name: value for name, value in given.items() if name in takes} | dict(cut.knobs),
        "dev": round(cut.dev * (rest - rows_asked(cut.test, rest, "test"))),
        "seed": cut.seed,
        "groups": source.content(filter(None, [cut.groups])),
    }
    needs = {"vectors": space_step(source, cut.space, seed)} if cut.space is not None else {}
    return step_on(source, f"split {cut.name}", split, settings, needs)


def split(here: Workspace) -> None:
    """Cut the rows that are not set aside into train, validation and test."""
    source: Source = here.shared["source"]
    settings, name = here.settings, here.settings["splitter"]
    made = api.split(
        source.data,
        SPLITTERS.make(name, **settings["knobs"]),
        using=vectors(here) if "vectors" in here.needs else None,
        groups=next(iter(settings["groups"]), None),
        dev=settings["dev"],
        independent=source.aside if source.aside.any() else 0,
        seed=settings["seed"],
    )
    write_split(replace(made, origin=replace(made.origin, step=name)), here.folder / SPLIT)


def given_split_step(source: Source, name: str, dev: float, seed: int) -> Step:
    """A split that somebody else made; validation rows are drawn where it names none."""
    parts = key_of("parts", list(source.given[name]))
    settings = {"source": source.basis, "name": name, "parts": parts, "dev": dev, "seed": seed}
    return step_on(source, f"split {name}", take_given_split, settings)


def take_given_split(here: Workspace) -> None:
    """A split that somebody else made, with validation rows drawn where it names none."""
    source: Source = here.shared["source"]
    settings, name = here.settings, here.settings["name"]
    parts = source.given[name]
    dev = 0 if "dev" in parts else round(settings["dev"] * parts.count("train"))
    (made,) = split_records(
        SPLITTERS.make("predefined"), source.data, list(parts), dev=dev, independent=source.aside,
        seed=settings["seed"], name=name, step=SPLITTERS.full_name("predefined"),
    )  # fmt: skip
    write_split(made, here.folder / SPLIT)


def split_of(here: Workspace, role: str = "split", name: str | None = None) -> Split:
    """The split that a step needs, under the name that its run gives it."""
    made = read_split(here.need(role, SPLIT), here.shared["source"].data)
    return made if name is None else replace(made, name=name)


# -- the trainings -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlannedTraining:
    """A training on a split, as a run plans it."""

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


def train_step(
    source: Source, cut: Step, model: Model, seed: int, name: str, others: Mapping[str, Source] | None = None
) -> Step:
    """Train on one split from one seed, and predict every row that was not trained on.

    Of `others`, the rows of `added` are trained on too, and texts are marked by the telling words of `lexicon`.
    """
    others = others or {}
    settings = {"model": model.described, "seed": seed} | {role: other.basis for role, other in others.items()}
    step = step_on(source, name, train, settings, {"split": cut}, uses_gpu=model.is_transformer)
    return replace(step, shared={**step.shared} | {role: other.name for role, other in others.items()})


def train(here: Workspace) -> None:
    """Train on one split, and predict every row that was not trained on."""
    cut = split_of(here)
    unseen = np.concatenate([cut.rows(part) for part in ("dev", "test", "independent")])
    _train_and_ask(here, cut, cut.rows("train"), np.sort(unseen))


def seen_folds(model: Model) -> int:
    """Folds of the seen control of a model when nothing is said."""
    return TRANSFORMER_FOLDS if model.is_transformer else FOLDS


def kept_whole(source: Source, family: str, groups: str | None) -> dict[str, str]:
    """The attribute that folds of a seen control keep whole, with its content.

    None where a split holds the groups themselves out: then the control puts some texts of a group back into training.
    """
    return source.content([groups] if groups and VERSION.sub("", family) != "grouped" else [])


def seen_steps(training: Step, folds: int, groups: Mapping[str, str]) -> tuple[Step, ...]:
    """The seen control of a training: as many of its folds as asked for, a training each.

    `groups` are the attribute that is kept whole in folds and its content; nothing where there is none.
    """
    settings = {**training.settings, "folds": FOLDS, "groups": dict(groups)}
    return tuple(
        replace(
            training, name=f"{training.name} seen {fold + 1}", work=f"{__name__}:{train_seen.__name__}",
            settings=settings | {"fold": fold},
        )
        for fold in range(folds)
    )  # fmt: skip


def train_seen(here: Workspace) -> None:
    """Train as on the split, but with all folds of its test part but one, and predict that one."""
    cut, settings = split_of(here), here.settings
    fold = seen_fold(
        here.shared["source"].data, cut, settings["fold"], folds=settings["folds"],
        groups=next(iter(settings["groups"]), None), seed=settings["seed"],
    )  # fmt: skip
    _train_and_ask(here, cut, fold.train, fold.test)


def _train_and_ask(here: Workspace, cut: Split, rows: npt.NDArray[np.intp], asked: npt.NDArray[np.intp]) -> None:
    data, seed = here.shared["source"].data, here.settings["seed"]
    train = data.take(rows)
    if "added" in here.shared:
        train = joined(train, here.shared["added"].data)
    dev = data.take(cut.rows("dev"))
    lexicon = Lexicon.of(here.shared["lexicon"].data) if "lexicon" in here.shared else None
    if lexicon is not None:
        train, dev = lexicon.marked(train), lexicon.marked(dev)
    with measure_cost(idle_seconds=0) as training:
        model = fit(here.settings["model"], train, dev, seed, here.scratch)
    model = model if lexicon is None else MarkedClassifier(model, lexicon)
    with measure_cost(idle_seconds=0) as answering:
        predictions = inference.predict(model, data, asked)
    write_predictions(predictions, here.folder / PREDICTIONS)
    if hasattr(model, "trace"):
        some = data.take(asked)
        write_exits(model.trace(some.texts.to_pylist(), some.ids.to_pylist()), here.folder / EXITS)
    write_costs(here.folder, (len(train), training), (len(asked), answering))
