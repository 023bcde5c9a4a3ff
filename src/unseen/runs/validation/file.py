"""Study files of the kind `validation`: what they say, the pipelines they name, the protocols and prices that follow.

Of a published pipeline one form is run on some folds as a step.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field

from unseen.audits.pipelines import EXAMPLES
from unseen.engines import Workspace
from unseen.errors import InputError
from unseen.evaluation.gates import Gate
from unseen.registry import refuse_code
from unseen.runs.file_tables import LabelledTable, Metric, ModelTable, read_gates, source_beside
from unseen.runs.spaces import Model
from unseen.store import atomic
from unseen.store.results import Results
from unseen.store.settings_file import Names, Numbers, Problems, SettingsTable, Share, Text, read_content
from unseen.types import PARTS, Certificate, Dataset, Split
from unseen.types.arrays import Floats, Rows

ASK = f"{__name__}:ask"
TESTED, PROBABILITIES = "rows.npy", "probabilities.npy"
KIND = "validation"
OURS = "unseen.audits.pipelines."
"""Where pipelines of this package lie, which a file may name."""
PUBLISHED, RANDOM, AUTHORS = "published", "random", "authors"
ENRICHED, FOREIGN, FOREIGN_ENRICHED = "enriched", "foreign", "foreign-enriched"
LEAK, TOTAL = "leak", "total"
"""Names of prices: what leaking buys, and leaking and known authors together."""


class Fold(NamedTuple):
    """One division of rows: what may be learnt from and what is asked. Positions in the dataset at hand."""

    train: Rows
    test: Rows


def function(place: str) -> Callable[..., Any]:
    """The function at `package.module:function`, or the built-in example of this name."""
    named = EXAMPLES.get(place)
    if not callable(named):
        raise InputError(f"{place!r} is no function", expected="package.module:function")
    return named


def rows_given(place: str) -> str:
    """What a function is told of rows, as its parameter is called: a `split`, `folds`, or the share to `test`."""
    parameters = inspect.signature(function(place)).parameters
    return next((name for name in ("split", "folds") if name in parameters), "test")


def fold_answers(
    place: str, data: Dataset, folds: Sequence[Fold], seed: int, settings: Mapping[str, Any]
) -> list[tuple[Rows, Floats]]:
    """What a function says about the test rows of folds; one that takes a split is asked about each fold in turn."""
    run = function(place)
    if rows_given(place) == "folds":
        return list(run(data, folds, seed, **settings))
    return [(test, run(data, _as_split(data, train, test), seed, **settings)[test]) for train, test in folds]


def _as_split(data: Dataset, train: Rows, test: Rows) -> Split:
    parts = np.full(len(data), PARTS.index("unused"), np.int8)
    parts[train], parts[test] = PARTS.index("train"), PARTS.index("test")
    clusters = np.full(len(data), -1, np.int32)
    return Split("fold", data.ids, parts, clusters, Certificate({}, {}), data.fingerprint)


def ask(here: Workspace) -> None:
    """Run one form of a pipeline on some folds; the rows tested and their probabilities are written down.

    The function is handed the rows of these folds and no others, so that it cannot learn from what a protocol
    leaves out.
    """
    folds: Sequence[Fold] = here.shared["folds"]
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    data = here.shared["pool"].take(rows)
    place, settings, seed = (here.settings[name] for name in ("function", "settings", "seed"))
    if here.settings["test"] is None:
        divided = [Fold(np.searchsorted(rows, fold.train), np.searchsorted(rows, fold.test)) for fold in folds]
        parts = fold_answers(place, data, divided, seed, settings)
        if [np.sort(tested).tolist() for tested, _ in parts] != [np.sort(fold.test).tolist() for fold in divided]:
            raise InputError("a pipeline has answered about other rows than the test rows of its folds")
        answers = tuple(map(np.concatenate, zip(*parts, strict=True)))
    else:
        answers = function(place)(data, here.settings["test"], seed, **settings)
    tested, probabilities = np.asarray(answers[0], np.intp), np.asarray(answers[1], np.float64)
    _check(tested, probabilities, data, place)
    for name, values in ((TESTED, rows[tested]), (PROBABILITIES, probabilities)):
        with atomic(here.folder / name) as path, path.open("wb") as file:
            np.save(file, values, allow_pickle=False)


def answers_of(key: str, results: Results) -> tuple[Rows, Floats]:
    """The rows that a finished step has tested, and their probabilities."""
    return np.load(results.folder(key) / TESTED), np.load(results.folder(key) / PROBABILITIES)


def _check(tested: Rows, probabilities: Floats, data: Dataset, place: str) -> None:
    shape = (len(tested), len(data.label_names))
    if probabilities.shape != shape or not len(tested) or not 0 <= tested.min() <= tested.max() < len(data):
        raise InputError(f"{place} gave answers of a wrong shape", expected=str(shape), got=str(probabilities.shape))
    if (probabilities < 0).any() or not np.allclose(probabilities.sum(axis=1), 1, atol=1e-3):
        raise InputError(f"{place} gave numbers that are no probabilities", expected="rows that sum to one")


def capped_name(most: int) -> str:
    """How the protocol is called whose training rows are capped."""
    return f"capped-{most}"


def thinned_name(most: int) -> str:
    """How the control of a cap is called: as many training rows of the same labels left out, at random."""
    return f"thinned-{most}"


def _strictest_last(caps: tuple[int, ...]) -> tuple[int, ...]:
    if min(caps) < 1:
        raise InputError(f"a number of texts is at least 1, not {min(caps)}")
    return tuple(sorted(caps, reverse=True))


class ValidationTexts(LabelledTable):
    """[enrich], [foreign]: texts of the study, and how many of them."""

    model_config = ConfigDict(json_schema_extra={"required": ["source"]})

    limit: Annotated[int, Field(ge=50)] | None = None
    """At most so many rows, with the class mix of all."""
    per_label: Annotated[int, Field(ge=10)] | None = None
    """At most so many rows of each label, which makes the mix more even."""
    only: Names = ()
    """Rows of these labels alone; all when empty."""


class OwnTexts(ValidationTexts):
    """[data]: the texts of the study, and who wrote them."""

    model_config = ConfigDict(json_schema_extra={"required": ["source", "author"]})

    author: Text = ""
    """Attribute that says who wrote a text."""


class PublishedPipeline(SettingsTable):
    """[pipeline.NAME]: one experiment as it was published, with its leak, and as it should have been done.

    Each form is `package.module:function` or the name of a built-in example; what else is there is given to both.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra={"required": ["leaking", "corrected"]})

    leaking: Text = ""
    corrected: Text = ""
    test: Share | None = None
    """Share of the rows that a leaking form tests which makes its own test part; None: as many as a fold has."""

    @property
    def settings(self) -> dict[str, Any]:
        """What is given to both forms."""
        return dict(self.model_extra or {})

    @property
    def divides(self) -> bool:
        """Whether the leaking form makes its own test part; else it is given folds, as the corrected form always is."""
        return rows_given(self.leaking) == "test"

    def check(self) -> None:
        """Refuse functions that cannot be called as their kind is."""
        if rows_given(self.corrected) == "test":
            raise InputError(f"{self.corrected} does not take folds", expected="(data, folds, seed, …)")
        if self.test is not None and not self.divides:
            raise InputError("test has no effect: the leaking form is given folds", fix="leave it out")
        for place in (self.leaking, self.corrected):
            parameters = inspect.signature(function(place)).parameters
            takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
            arguments = ("data", rows_given(place), "seed", *self.settings)
            if lacking := [name for name in arguments if name not in parameters and not takes_any]:
                raise InputError(f"{place} does not take {', '.join(lacking)}")


class ValidateTable(SettingsTable):
    """[validate]: folds, seeds and caps."""

    seeds: Numbers | None = None
    folds: Annotated[int, Field(ge=2)] = 10
    cap: Annotated[Numbers, AfterValidator(_strictest_last)] = (250,)
    metric: Metric = "f1.macro"


class ValidationFile(SettingsTable):
    """What a file of this kind says."""

    model_config = ConfigDict(json_schema_extra={"required": ["kind", "data"]})

    kind: Literal["validation"] = "validation"
    title: str | None = None
    seed: Annotated[int, Field(ge=0)] = 42
    gates: Names = ()
    data: OwnTexts = OwnTexts()
    enrich: ValidationTexts | None = None
    foreign: ValidationTexts | None = None
    pipeline: dict[str, PublishedPipeline] = Field(default_factory=dict)
    model: dict[str, ModelTable] = Field(default_factory=dict)
    rules: ValidateTable = Field(default=ValidateTable(), alias="validate")


@dataclass(frozen=True)
class Validation:
    """A study file of the kind `validation`, checked."""

    path: Path
    file: ValidationFile
    """With the places of its texts."""
    pipelines: Mapping[str, PublishedPipeline]
    models: Mapping[str, Model]
    caps: tuple[int, ...]
    """Texts per author and class that are trained on, at most; the strictest last."""
    gates: tuple[Gate, ...] = ()

    @property
    def seeds(self) -> tuple[int, ...]:
        """Each draws its own folds, and trains from it."""
        return self.file.rules.seeds or (self.file.seed,)

    @property
    def learners(self) -> list[str]:
        """Pipelines and models, in the order of the file."""
        return [*self.pipelines, *self.models]

    @property
    def protocols(self) -> list[str]:
        """Ways of dividing rows that this study knows, in the order they are told."""
        names = [*([PUBLISHED] if self.pipelines else []), RANDOM, AUTHORS, *map(capped_name, self.caps)]
        names += map(thinned_name, self.caps) if self.models else []
        names += [ENRICHED] if self.file.enrich else []
        names += [FOREIGN] if self.file.foreign else []
        return names + ([FOREIGN_ENRICHED] if self.file.foreign and self.file.enrich else [])

    def protocols_of(self, learner: str) -> list[str]:
        """Those that a learner goes through.

        A model has no leaking form. The controls of caps are for models alone: for pipelines, which may train for
        hours, they would double the cost of every cap.
        """
        left_out = set(map(thinned_name, self.caps)) if learner in self.pipelines else {PUBLISHED}
        return [name for name in self.protocols if name not in left_out]

    @property
    def prices(self) -> list[str]:
        """Names of what is priced of any learner; most are those of the harder protocol."""
        return list(dict.fromkeys(price for learner in self.learners for price in self.prices_of(learner)))

    def prices_of(self, learner: str) -> dict[str, tuple[str, str]]:
        """What each price of a learner compares: the easier protocol and the harder one.

        A cap is compared with as many random rows left out where that was trained. Enriching is compared with the
        same cap without it; on the foreign texts there is no such training, and the price is that of both.
        """
        control = (lambda cap: AUTHORS) if learner in self.pipelines else thinned_name
        compared = {LEAK: (PUBLISHED, RANDOM), AUTHORS: (RANDOM, AUTHORS), TOTAL: (PUBLISHED, AUTHORS)}
        compared |= {capped_name(cap): (control(cap), capped_name(cap)) for cap in self.caps}
        compared[ENRICHED] = (capped_name(self.caps[-1]) if self.caps else AUTHORS, ENRICHED)
        compared |= {FOREIGN: (AUTHORS, FOREIGN), FOREIGN_ENRICHED: (FOREIGN, FOREIGN_ENRICHED)}
        protocols = set(self.protocols_of(learner))
        return {name: both for name, both in compared.items() if protocols.issuperset(both)}


def is_validation(path: str | Path) -> bool:
    """Whether a study file is of this kind; no for what cannot be read."""
    try:
        return read_content(path).get("kind") == KIND
    except InputError:
        return False


def read_validation(path: str | Path, *, gates: Sequence[Gate | str] = (), trust: bool = False) -> Validation:
    """The validation study in a file, with further `gates`; all its mistakes in one error.

    Code that the file names, other than pipelines of this package, is imported only with `trust`.
    """
    path, problems = Path(path), Problems()
    file = problems.read(ValidationFile, read_content(path)) or ValidationFile()
    texts = {name: _texts(name, getattr(file, name), path.parent, problems) for name in ("data", "enrich", "foreign")}
    if not file.data.author:
        problems.missing(("data", "author"), "the attribute that says who wrote a text")
    pipelines = {name: _pipeline(name, table, problems, trust) for name, table in file.pipeline.items()}
    models = {}
    for name, table in file.model.items():
        models[name] = Model(name)
        with problems.noted(f"[model.{name}]"):
            models[name] = table.model(name, trust)
    if not pipelines and not models:
        problems.add("[pipeline.NAME] or [model.NAME] is missing: define at least one")
    for name in pipelines.keys() & models.keys():
        problems.add(f"{name!r} is both a pipeline and a model")
    study = Validation(path, file.model_copy(update=texts), pipelines, models, file.rules.cap)
    bounds = read_gates([*file.gates, *gates], problems, lambda gate: _choices(gate, study))
    problems.refuse(f"{path} cannot be run as it is")
    return replace(study, gates=bounds)


def _texts(name: str, table: ValidationTexts | None, folder: Path, problems: Problems) -> ValidationTexts | None:
    if table is not None and not table.source:
        problems.missing((name, "source"), "a file or a known dataset")
    elif table is not None:
        with problems.noted(f"[{name}]"):
            return table.model_copy(update={"source": source_beside(folder, table.source)})
    return table


def _pipeline(name: str, table: PublishedPipeline, problems: Problems, trust: bool) -> PublishedPipeline:
    """The pipeline with the full names of its forms, checked."""
    full_names = {}
    for form in ("leaking", "corrected"):
        place = getattr(table, form)
        if not place:
            forms = f"package.module:function, or one of {', '.join(EXAMPLES)}"
            problems.missing(("pipeline", name, form), forms)
            continue
        with problems.noted(f"[pipeline.{name}] {form}:"):
            refuse_code({} if place.startswith(OURS) else {"place": place}, trust)
            full_names[form] = EXAMPLES.full_name(place)  # another version of an example is another pipeline
    pipeline = table.model_copy(update=full_names)
    if len(full_names) == 2:
        with problems.noted(f"[pipeline.{name}]"):
            pipeline.check()
    return pipeline


def _choices(gate: Gate, study: Validation) -> dict[str, list[str]]:
    """What a gate may name: learners, and what the learner that it names can have, or any."""
    is_price, learner = gate.metric.startswith("fall."), gate.where.get("model")
    if learner in study.learners:
        of_learner = study.prices_of(learner) if is_price else study.protocols_of(learner)
        return {"split": list(of_learner), "model": study.learners}
    return {"split": study.prices if is_price else study.protocols, "model": study.learners}
