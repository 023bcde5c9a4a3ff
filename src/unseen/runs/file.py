"""Study files: TOML, one table per stage, everything checked before anything runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from unseen.audits import FOLDS
from unseen.data.catalogue import cards
from unseen.errors import InputError, UnseenError, nearest_name
from unseen.evaluation.gates import Gate
from unseen.evaluation.metrics import metric as metric_of
from unseen.registry import check_parameters, refuse_code
from unseen.runs.definition import OWN_MODEL, Data, Experiment, Splits, Study
from unseen.runs.spaces import Model, Space, refuse_function
from unseen.runs.training_steps import BASELINE, check_splitter, reads_vectors
from unseen.splits import SPLITTERS
from unseen.store.files import read_toml

Made = TypeVar("Made")
STANDS_FOR = {"data": "source", "model": "use", "split": "use"}
"""What the name of a table means when nothing else is said."""
RANGE = re.compile(r"(\d+)\.\.(\d+)")
TABLES = ("data", "model", "space", "split", "train", "measure", "experiment")
PLAIN = re.compile(r"[\w.+=,() -]+")


def read_study(path: str | Path, *, trust: bool = False) -> Study:
    """The study in a TOML file; all its mistakes in one error.

    Code that the file names is imported only with `trust`, looked at, and not called before the study runs.
    """
    reader = _StudyReader(Path(path), read_toml(path), trust)
    study = reader.study()
    if reader.problems or study is None:
        raise InputError(f"{path} cannot be run as it is", problems=reader.problems)
    return study


class _StudyReader:
    """Reads one file and collects what is wrong with it."""

    def __init__(self, path: Path, content: Mapping[str, Any], trust: bool) -> None:
        self.path, self.content, self.trust = path, content, trust
        self.problems: list[str] = []
        self.variants: dict[str, Mapping[str, Any]] = {}
        self.seed = int(content.get("seed", 42)) if isinstance(content.get("seed", 42), int) else 42

    def study(self) -> Study | None:
        self._known("the file", self.content, ["title", "seed", "gates", *TABLES])
        data = self._named("data", self._data)
        models = self._named("model", self._model)
        spaces = self._spaces(models)
        splits = self._named("split", self._split)
        train, measure = (self._table(name) for name in ("train", "measure"))
        self._known("[train]", train, ["seeds", "pair"])
        self._known("[measure]", measure, ["metric", "findings", "seen_folds"])
        seen_folds = measure.get("seen_folds")
        if seen_folds is not None and seen_folds not in range(FOLDS + 1):
            self.problems.append(f"[measure] seen_folds must be from 0 to {FOLDS}, not {seen_folds!r}")
        metric = measure.get("metric", "f1.macro")
        with self._noted("[measure] metric"):
            metric_of(metric)
        if not any(each.use == BASELINE for each in splits.values()):
            self.problems.append(f"[split.{BASELINE}] is missing: falls are measured against random splits")
        seeds = self._seeds("[train]", train.get("seeds"))
        defined: dict[str, Mapping[str, Any]] = {"data": data, "spaces": spaces, "splits": splits, "models": models}
        experiments = self._experiments(defined)
        gates = self._gates(defined)
        if self.problems:
            return None
        return Study(
            self.path, str(self.content.get("title", self.path.stem)), self.seed, data, models, spaces, splits, seeds,
            bool(train.get("pair", True)), metric, bool(measure.get("findings", True)), seen_folds, experiments,
            gates, self.variants,
        )  # fmt: skip

    # -- the stages ------------------------------------------------------------------------------------------------

    def _data(self, name: str, table: Mapping[str, Any], varied: Mapping[str, Any]) -> Data:
        own = {each.name for each in fields(Data)} - {"name", "load", "varied"}
        loading = {"text", "label", "id", "attributes", "labels", "drop", "delimiter", "encoding", "file", "data_dir"}
        self._known(f"[data.{name}]", table, [*own, *loading])
        source = str(table["source"])
        beside = self.path.parent / source
        if beside.is_file():
            source = str(beside)
        elif source != "sample" and source not in cards() and not Path(source).is_file():
            hint = _hint(source, ["sample", *cards()])
            raise InputError(f"source: {source!r} is no file and no known dataset{hint}")
        given = {key: value for key, value in table.items() if key in own and key != "source"}
        if isinstance(given.get("independent"), str) and (self.path.parent / given["independent"]).is_file():
            given["independent"] = str(self.path.parent / given["independent"])
        given["slices"] = tuple(_listed(given.get("slices", [])))
        if not isinstance(given.get("independent", 0.1), str) and not 0 <= given.get("independent", 0.1) < 1:
            raise InputError(f"independent must be a share below 1, or a file, not {given['independent']}")
        if given.get("limit", 50) < 50:
            raise InputError(f"limit must be at least 50, not {given['limit']}")
        load = {key: value for key, value in table.items() if key in loading}
        return Data(name, source, load, **given, varied=varied)

    def _model(self, name: str, table: Mapping[str, Any], varied: Mapping[str, Any]) -> Model:
        params = {key: value for key, value in table.items() if key not in ("use", "add", "lexicon")}
        refuse_code(table, self.trust)
        model = Model(str(table["use"]), params, name, str(table.get("add", "")), str(table.get("lexicon", "")))
        model = model.trusted() if self.trust else model
        for key, other in (("add", model.add), ("lexicon", model.lexicon)):
            if other and other not in self._table("data"):
                raise InputError(f"{key}: no [data.{other}] is defined")
        refuse_function(model)
        return model

    def _split(self, name: str, table: Mapping[str, Any], varied: Mapping[str, Any]) -> Splits:
        refuse_code(table, self.trust)
        use = str(table["use"])
        own = ("use", "seeds", "test", "dev")
        knobs = {key: _ranged(value) for key, value in table.items() if key not in own}
        for key, argument in (("test_size", "test"), ("random_state", "seeds")):
            if key in knobs:
                raise InputError(f"{key} is called {argument} here")
        grouped = any("groups" in each for each in self._table("data").values() if isinstance(each, Mapping))
        check_splitter(use, "named" if grouped else None)
        check_parameters(f"the splitter {use!r}", SPLITTERS.get(use), knobs)
        for share in ("test", "dev"):
            if not 0 < table.get(share, 0.1) < 1:
                raise InputError(f"{share} must be a share between 0 and 1, not {table[share]}")
        seeds = self._seeds(f"[split.{name}]", table.get("seeds"))
        return Splits(name, use, seeds, table.get("test", 0.1), table.get("dev", 0.1), knobs, varied)

    def _spaces(self, models: Mapping[str, Model]) -> dict[str, Space]:
        """Every space by its name; a table may cross several models with several representations."""
        found: dict[str, Space] = {}
        self.groups: dict[str, list[str]] = {}
        for name, table in self._table("space").items():
            place = f"[space.{name}]"
            if not isinstance(table, Mapping):
                self.problems.append(f"{place} must be a table")
                continue
            self._known(place, table, ["model", "as"])
            asked = self._chosen(f"{place} model", table.get("model", name), models, self._variants_of(models))
            for model, representation in itertools.product(asked, _listed(table.get("as", ""))):
                with self._noted(place):
                    space = Space(models[model], str(representation))
                    found[space.called] = space
                    self.groups.setdefault(name, []).append(space.called)
        return found

    def _experiments(self, defined: Mapping[str, Mapping[str, Any]]) -> tuple[Experiment, ...]:
        tables = self._array("experiment") or [{"name": "all"}]
        return tuple(found for each in tables if (found := self._experiment(each, defined)))

    def _experiment(self, table: Mapping[str, Any], defined: Mapping[str, Mapping[str, Any]]) -> Experiment | None:
        if not isinstance(table.get("name"), str):
            self.problems.append("[[experiment]] needs a name")
            return None
        place = f"[[experiment]] {table['name']}"
        self._known(place, table, ["name", *defined])
        chosen: dict[str, Any] = {}
        for kind, known in defined.items():
            groups = self._variants_of(known) | (self.groups if kind == "spaces" else {})
            also = [OWN_MODEL] if kind == "models" else []
            asked = table.get(kind, OWN_MODEL if kind == "models" else list(known))
            chosen[kind] = tuple(self._chosen(f"{place} {kind}", asked, [*known, *also], groups))
        experiment = Experiment(table["name"], **chosen)
        if not experiment.spaces:
            self._without_space(place, experiment, defined["splits"])
        return experiment

    def _without_space(self, place: str, experiment: Experiment, splits: Mapping[str, Splits]) -> None:
        if OWN_MODEL in experiment.models:
            self.problems.append(f"{place} has no space, so no model of its own: name its models")
        cutting = [name for name in experiment.splits if reads_vectors(splits[name].use)]
        if cutting:
            self.problems.append(f"{place} has no space, which {', '.join(cutting)} would cut")

    def _gates(self, defined: Mapping[str, Mapping[str, Any]]) -> tuple[Gate, ...]:
        gates = []
        for text in _listed(self.content.get("gates", [])):
            with self._noted("gates:"):
                gate = Gate.parsed(str(text))
                gate.refuse_unknown()
                gates.append(gate)
                for name, kind in (("data", "data"), ("space", "spaces"), ("split", "splits"), ("model", "models")):
                    if "*" not in gate.where.get(name, "*"):
                        self._chosen(f"gates: {name}", gate.where[name], defined[kind], {})
        return tuple(gates)

    # -- names, lists and variants ---------------------------------------------------------------------------------

    def _named(self, stage: str, make: Callable[[str, Mapping[str, Any], Mapping[str, Any]], Made]) -> dict[str, Made]:
        """What the tables [stage.NAME] define; one that varies something defines several."""
        found: dict[str, Made] = {}
        tables = self._table(stage)
        if not tables:
            self.problems.append(f"[{stage}.NAME] is missing: define at least one")
        for name, table in tables.items():
            place = f"[{stage}.{name}]"
            if not isinstance(table, Mapping) or not PLAIN.fullmatch(name):
                self.problems.append(f"{place} must be a table with a plain name")
                continue
            with self._noted(place):
                for called, content, varied in _variants(name, table):
                    if varied:
                        self.variants[called] = {"of": name} | dict(varied)
                    found[called] = make(called, {STANDS_FOR[stage]: name} | content, varied)
        return found

    def _variants_of(self, known: Mapping[str, Any] | Sequence[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for name in known:
            if name in self.variants:
                groups.setdefault(str(self.variants[name]["of"]), []).append(name)
        return groups

    def _chosen(
        self, place: str, asked: Any, known: Mapping[str, Any] | Sequence[str], groups: Mapping[str, Sequence[str]]
    ) -> list[str]:
        """The names that are meant, a name of several standing for all of them."""
        found: list[str] = []
        for name in _listed(asked):
            if name in groups:
                found += groups[name]
            elif name in known:
                found.append(name)
            else:
                near = nearest_name(str(name), [*known, *groups])
                self.problems.append(
                    f"{place}: {name!r} is not defined" + (f"; did you mean {near!r}?" if near else "")
                )
        return list(dict.fromkeys(found))

    def _table(self, name: str) -> Mapping[str, Any]:
        found = self.content.get(name, {})
        return found if isinstance(found, Mapping) else {}

    def _array(self, name: str) -> list[Mapping[str, Any]]:
        found = self.content.get(name, [])
        if not isinstance(found, list):
            self.problems.append(f"{name} must be written [[{name}]]")
            return []
        return found

    def _seeds(self, place: str, given: Any) -> tuple[int, ...]:
        seeds = [self.seed] if given is None else _listed(given)
        if not seeds or not all(isinstance(each, int) for each in seeds) or len(set(seeds)) < len(seeds):
            self.problems.append(f"{place} seeds must be whole numbers, each once")
            return (self.seed,)
        return tuple(seeds)

    def _known(self, place: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
        for key in table:
            if key not in keys:
                near = nearest_name(key, keys)
                self.problems.append(
                    f"{place}: {key!r} is not known here" + (f"; did you mean {near!r}?" if near else "")
                )

    @contextmanager
    def _noted(self, place: str) -> Iterator[None]:
        """What goes wrong inside is a problem of the file."""
        try:
            yield
        except (UnseenError, TypeError, ValueError, AttributeError) as cause:
            said = [cause.message, *cause.problems] if isinstance(cause, UnseenError) else [str(cause)]
            self.problems.append(f"{place} " + "; ".join(said))


def _variants(name: str, table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The table itself, or one for every combination of what its `vary` lists, each named by its values."""
    plain = {key: value for key, value in table.items() if key != "vary"}
    vary = table.get("vary", {})
    if not isinstance(vary, Mapping) or not all(isinstance(values, list) and values for values in vary.values()):
        raise InputError("vary must list values: vary.epochs = [1, 3]")
    for values in itertools.product(*vary.values()):
        varied = dict(zip(vary, values, strict=True))
        called = " ".join([name, *(f"{key}={_short(value)}" for key, value in varied.items())])
        yield called, plain | varied, varied


def _hint(name: Any, known: Sequence[str]) -> str:
    near = nearest_name(str(name), known)
    return f"; did you mean {near!r}?" if near else ""


def _short(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _ranged(value: Any) -> Any:
    """'3..50' is the whole numbers from 3 to 50."""
    found = RANGE.fullmatch(value) if isinstance(value, str) else None
    return list(range(int(found.group(1)), int(found.group(2)) + 1)) if found else value
