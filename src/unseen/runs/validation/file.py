"""Study files of the kind `validation`: everything checked before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from unseen.audits.pipelines import EXAMPLES
from unseen.data.catalogue import cards
from unseen.errors import InputError, UnseenError, hint
from unseen.evaluation.gates import Gate
from unseen.evaluation.metrics import metric as metric_of
from unseen.registry import refuse_code
from unseen.runs.spaces import Model, refuse_function
from unseen.runs.validation.definition import PublishedPipeline, Validation, ValidationTexts, function, takes_folds
from unseen.store.files import read_toml

KIND = "validation"
TABLES = ["data", "enrich", "foreign", "pipeline", "model", "validate"]
LOADING = ["text", "label", "id", "attributes", "labels", "drop", "delimiter", "encoding", "file", "data_dir"]
OURS = ("unseen.audits.pipelines.", "unseen.runs.validation.")
"""Where pipelines of this package lie, which a file may name."""
SIZES = {"limit": 50, "per_label": 10}
"""Ways to take fewer rows, and the fewest."""


def is_validation(path: str | Path) -> bool:
    """Whether a study file is of this kind; no for what cannot be read."""
    try:
        return read_toml(path).get("kind") == KIND
    except InputError:
        return False


def read_validation(path: str | Path, *, trust: bool = False) -> Validation:
    """The validation study in a TOML file; all its mistakes in one error.

    Code that the file names, other than pipelines of this package, is imported only with `trust`.
    """
    reader = _ValidationReader(Path(path), read_toml(path), trust)
    study = reader.study()
    if reader.problems or study is None:
        raise InputError(f"{path} cannot be run as it is", problems=reader.problems)
    return study


class _ValidationReader:
    """Reads one file and collects what is wrong with it."""

    def __init__(self, path: Path, content: Mapping[str, Any], trust: bool) -> None:
        self.path, self.content, self.trust = path, content, trust
        self.problems: list[str] = []

    def study(self) -> Validation | None:
        self._known("the file", self.content, ["kind", "title", "seed", "gates", *TABLES])
        if self.content.get("kind") != KIND:
            self.problems.append(f'kind must be "{KIND}"')
        seed = self._whole("seed", self.content.get("seed", 42), 0)
        data, enrich, foreign = (self._texts(name) for name in ("data", "enrich", "foreign"))
        author = str(self._table("data").get("author", ""))
        if not author:
            self.problems.append("[data] author is missing: the attribute that says who wrote a text")
        pipelines = {name: self._pipeline(name, table) for name, table in self._named("pipeline")}
        models = {name: self._model(name, table) for name, table in self._named("model")}
        if not self._table("pipeline") and not self._table("model"):
            self.problems.append("[pipeline.NAME] or [model.NAME] is missing: define at least one")
        for name in pipelines.keys() & models.keys():
            self.problems.append(f"{name!r} is both a pipeline and a model")
        rules = self._rules(seed)
        study = Validation(
            self.path, str(self.content.get("title", self.path.stem)), seed, data or ValidationTexts(""), author,
            enrich, foreign, pipelines, models, **rules,
        )  # fmt: skip
        gates = self._gates(study)
        return None if self.problems else replace(study, gates=gates)

    def _rules(self, seed: int) -> dict[str, Any]:
        table = self._table("validate")
        self._known("[validate]", table, ["seeds", "folds", "cap", "metric"])
        seeds = _listed(table.get("seeds", seed))
        if not seeds or not all(_is_whole(each) for each in seeds) or len(set(seeds)) < len(seeds):
            self.problems.append("[validate] seeds must be whole numbers, each once")
        caps = _listed(table.get("cap", 250))
        if not all(_is_whole(each) and each > 0 for each in caps) or len(set(caps)) < len(caps):
            self.problems.append("[validate] cap must be a number of texts, or several, each once")
            caps = [each for each in caps if _is_whole(each) and each > 0]
        metric = table.get("metric", "f1.macro")
        with self._noted("[validate] metric"):
            metric_of(metric)
        folds = self._whole("[validate] folds", table.get("folds", 10), 2)
        return {
            "seeds": tuple(seeds), "folds": folds, "caps": tuple(sorted(caps, reverse=True)), "metric": metric,
        }  # fmt: skip

    def _texts(self, name: str) -> ValidationTexts | None:
        table = self.content.get(name)
        if table is None and name != "data":
            return None
        if not isinstance(table, Mapping) or not isinstance(table.get("source"), str):
            self.problems.append(f"[{name}] needs a source: a file or a known dataset")
            return ValidationTexts("")
        self._known(f"[{name}]", table, ["source", "only", *SIZES, *(["author"] if name == "data" else []), *LOADING])
        source = table["source"]
        beside = self.path.parent / source
        if beside.is_file():
            source = str(beside)
        elif source != "sample" and source not in cards() and not Path(source).is_file():
            near = hint(source, ["sample", *cards()])
            self.problems.append(f"[{name}] source: {source!r} is no file and no known dataset{near}")
        sizes = {key: self._whole(f"[{name}] {key}", table[key], SIZES[key]) for key in SIZES if key in table}
        only = tuple(map(str, _listed(table.get("only", []))))
        return ValidationTexts(source, {key: table[key] for key in LOADING if key in table}, only=only, **sizes)

    def _pipeline(self, name: str, table: Mapping[str, Any]) -> PublishedPipeline:
        places = {key: table.get(key) for key in ("leaking", "corrected")}
        settings = {key: value for key, value in table.items() if key not in (*places, "test")}
        if not all(isinstance(each, str) for each in places.values()):
            forms = f"package.module:function, or one of {', '.join(EXAMPLES)}"
            self.problems.append(f"[pipeline.{name}] needs leaking and corrected: {forms}")
            return PublishedPipeline(name, "", "", settings)
        before = len(self.problems)
        leaking, corrected = (self._place(f"[pipeline.{name}] {key}:", str(each)) for key, each in places.items())
        made = PublishedPipeline(name, leaking, corrected, settings, table.get("test"))
        if len(self.problems) == before:
            with self._noted(f"[pipeline.{name}]"):
                _check_functions(made)
        return made

    def _place(self, what: str, given: str) -> str:
        """A place as it is, the name of an example with its version: another version is another pipeline."""
        with self._noted(what):
            refuse_code({} if given.startswith(OURS) else {"place": given}, self.trust)
            return EXAMPLES.full_name(given)
        return given

    def _model(self, name: str, table: Mapping[str, Any]) -> Model:
        made = Model(str(table.get("use", name)), {key: value for key, value in table.items() if key != "use"}, name)
        with self._noted(f"[model.{name}]"):
            refuse_code(table, self.trust)
            made = made.trusted() if self.trust else made
            refuse_function(made)
        return made

    def _gates(self, study: Validation) -> tuple[Gate, ...]:
        gates = []
        for text in _listed(self.content.get("gates", [])):
            with self._noted("gates:"):
                gate = Gate.parsed(str(text))
                gate.refuse_unknown()
                gates.append(gate)
                for name, known in _choices(gate, study).items():
                    if "*" not in gate.where.get(name, "*") and gate.where[name] not in known:
                        self.problems.append(f"gates: {name}: {gate.where[name]!r} is not one of {', '.join(known)}")
        return tuple(gates)

    def _named(self, stage: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, table in self._table(stage).items():
            if isinstance(table, Mapping):
                yield name, table
            else:
                self.problems.append(f"[{stage}.{name}] must be a table")

    def _table(self, name: str) -> Mapping[str, Any]:
        found = self.content.get(name, {})
        if isinstance(found, Mapping):
            return found
        said = f"[{name}] must be a table, not {found!r}"
        self.problems += [said] if said not in self.problems else []
        return {}

    def _whole(self, what: str, given: Any, least: int) -> int:
        if _is_whole(given) and given >= least:
            return int(given)
        self.problems.append(f"{what} must be a whole number from {least} on, not {given!r}")
        return least

    def _known(self, place: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
        self.problems += [f"{place}: {key!r} is not known here{hint(key, keys)}" for key in table if key not in keys]

    @contextmanager
    def _noted(self, place: str) -> Iterator[None]:
        """What goes wrong inside is a problem of the file."""
        try:
            yield
        except (UnseenError, TypeError, ValueError) as cause:
            said = [cause.message, *cause.problems] if isinstance(cause, UnseenError) else [str(cause)]
            self.problems.append(f"{place} " + "; ".join(said))


def _check_functions(pipeline: PublishedPipeline) -> None:
    """Refuse functions that cannot be called as their kind is."""
    if not takes_folds(pipeline.corrected):
        raise InputError(f"{pipeline.corrected} does not take folds", expected="(data, folds, seed, …)")
    if pipeline.test is not None and not pipeline.divides:
        raise InputError("test has no effect: the leaking form is given folds", fix="leave it out")
    if pipeline.test is not None and not 0 < pipeline.test < 1:
        raise InputError(f"test must be a share between 0 and 1, not {pipeline.test}")
    for place, rows in ((pipeline.leaking, "test" if pipeline.divides else "folds"), (pipeline.corrected, "folds")):
        parameters = inspect.signature(function(place)).parameters
        given = ("data", rows, "seed", *pipeline.settings)
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        lacking = [name for name in given if name not in parameters and not takes_any]
        if lacking:
            raise InputError(f"{place} does not take {', '.join(lacking)}")


def _choices(gate: Gate, study: Validation) -> dict[str, list[str]]:
    """What a gate may name: learners, and what the learner that it names can have, or any."""
    learners, falls, learner = (
        [*study.pipelines, *study.models],
        gate.metric.startswith("fall."),
        gate.where.get("model"),
    )
    if learner in learners:
        return {"split": (study.prices_of if falls else study.protocols_of)(learner), "model": learners}
    return {"split": study.prices if falls else study.protocols, "model": learners}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
