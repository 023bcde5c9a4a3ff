"""Study files: a grid of experiments, one table per stage, everything checked before anything runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from unseen.audits import FOLDS
from unseen.errors import InputError, hint
from unseen.evaluation.gates import Gate
from unseen.registry import check_parameters, refuse_code
from unseen.runs.file_tables import LabelledTable, Metric, ModelTable, file_beside, read_gates, source_beside
from unseen.runs.source import DataSettings
from unseen.runs.spaces import Model, Space
from unseen.runs.training_steps import BASELINE, check_splitter, reads_vectors
from unseen.splits import SPLITTERS
from unseen.store.settings_file import (
    FileName,
    KeyPath,
    Listed,
    Names,
    Numbers,
    Problems,
    SettingsTable,
    Share,
    Text,
    read_content,
    toml_table,
)

OWN_MODEL = "own"
"""Trained on a split: the model whose space it cuts."""
RANGE = re.compile(r"(\d+)\.\.(\d+)")
PLAIN = re.compile(r"[\w.+=,() -]+")
RENAMED = {"test_size": "test", "random_state": "seeds"}
"""Parameters of splitters that a study calls otherwise."""
Varied = dict[str, Annotated[Listed[Any], Field(min_length=1)]]
"""Values that are tried one after the other, by key of the table."""


class StudyTexts(LabelledTable):
    """[data.NAME]: one dataset of a study, and what is wanted of it."""

    limit: Annotated[int, Field(ge=50)] | None = None
    independent: Annotated[float, Field(ge=0, lt=1)] | FileName = 0.1
    groups: Text | None = None
    slices: Names = ()
    agreement: Text | None = None
    neutral: Text | None = None
    split_files: Names = ()
    vary: Varied = Field(default_factory=dict)

    @property
    def wanted(self) -> DataSettings:
        """What a run says of its data."""
        return DataSettings(**self.model_dump(include={setting.name for setting in fields(DataSettings)}))


class StudyModel(ModelTable):
    """[model.NAME]: a model, and which other data of the study it learns from."""

    add: Text | None = None
    lexicon: Text | None = None
    vary: Varied = Field(default_factory=dict)


class SpaceTable(SettingsTable):
    """[space.NAME]: each of these models with each of these representations."""

    model: Names = ()
    representations: Names = Field(default=("",), alias="as")


class SplitTable(SettingsTable):
    """[split.NAME]: a splitter and its parameters."""

    model_config = ConfigDict(extra="allow")

    use: Text = Field(default="", description="a splitter; the name of the table where nothing is said")
    seeds: Numbers | None = None
    test: Share = 0.1
    dev: Share = 0.1
    vary: Varied = Field(default_factory=dict)


class TrainTable(SettingsTable):
    """[train]: the trainings on every split."""

    seeds: Numbers | None = None
    pair: bool = True
    """Where there are as many seeds as splits of one kind, each split has a seed of its own."""


class MeasureTable(SettingsTable):
    """[measure]: what is measured."""

    metric: Metric = "f1.macro"
    findings: bool = True
    seen_folds: Annotated[int, Field(ge=0, le=FOLDS)] | None = None
    """Folds of every hard test part that are scored again with the rest of it in training; None: as in a stress run."""


class ExperimentTable(SettingsTable):
    """[[experiment]]: what is crossed; all data, spaces and splits of the study unless some are named."""

    model_config = ConfigDict(json_schema_extra={"required": ["name"]})

    name: Text = ""
    data: Names = ()
    spaces: Names = ()
    splits: Names = ()
    models: Names = (OWN_MODEL,)
    """Trained on every split; `own` is the model of the split's space."""


class StudyFile(SettingsTable):
    """What a study file says."""

    title: str | None = None
    seed: int = 42
    """Of everything that has no seeds of its own."""
    gates: Names = ()
    data: dict[str, StudyTexts] = Field(default_factory=dict)
    model: dict[str, StudyModel] = Field(default_factory=dict)
    space: dict[str, SpaceTable] = Field(default_factory=dict)
    split: dict[str, SplitTable] = Field(default_factory=dict)
    train: TrainTable = TrainTable()
    measure: MeasureTable = MeasureTable()
    experiment: Listed[ExperimentTable] = ()


@dataclass(frozen=True)
class Splits:
    """One way of splitting, from several seeds."""

    name: str
    use: str
    seeds: tuple[int, ...]
    test: float = 0.1
    dev: float = 0.1
    knobs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """A study file, checked, with all that its names stand for."""

    path: Path
    title: str
    seed: int
    data: Mapping[str, StudyTexts]
    models: Mapping[str, Model]
    spaces: Mapping[str, Space]
    splits: Mapping[str, Splits]
    seeds: tuple[int, ...]
    """Of the trainings."""
    pair: bool
    measure: MeasureTable
    experiments: tuple[ExperimentTable, ...]
    """With the names of everything that they cross."""
    gates: tuple[Gate, ...]
    variants: Mapping[str, Mapping[str, Any]]
    """What was varied, by the name of the data, model or split that came of it."""

    @property
    def metric(self) -> str:
        """Id of the main metric."""
        return self.measure.metric

    @property
    def baseline(self) -> Splits:
        """The random splits that others are compared with."""
        return next(splits for splits in self.splits.values() if splits.use == BASELINE)


def read_study(path: str | Path, *, gates: Sequence[Gate | str] = (), trust: bool = False) -> Study:
    """The study in a file, with further `gates`; all its mistakes in one error.

    Code that the file names is imported only with `trust`, looked at, and not called before the study runs.
    """
    path = Path(path)
    content = read_content(path)

    def naming(at: KeyPath) -> str:
        """`[[experiment]] name` for a table of experiments that has one."""
        table = content["experiment"][at[1]] if at[:1] == ("experiment",) and len(at) > 1 else None
        named = isinstance(table, Mapping) and isinstance(table.get("name"), str)
        return f"[[experiment]] {table['name']}" if table and named else toml_table(at)

    problems = Problems(naming)
    file = problems.read(StudyFile, content)
    study = None if file is None else _Definitions(path, content, file, problems, trust).study(gates)
    problems.refuse(f"{path} cannot be run as it is")
    assert study is not None
    return study


class _Definitions:
    """What the tables of one file define, and what is wrong between them."""

    def __init__(
        self, path: Path, content: Mapping[str, Any], file: StudyFile, problems: Problems, trust: bool
    ) -> None:
        self.path, self.content, self.file, self.problems, self.trust = path, content, file, problems, trust
        self.variants: dict[str, Mapping[str, Any]] = {}
        self.space_groups: dict[str, list[str]] = {}
        """Spaces by the name of the table that defines them."""

    def study(self, gates: Sequence[Gate | str]) -> Study:
        """The study, as far as it can be made; every problem is noted."""
        file = self.file
        data, models, splits = self._data(), self._models(), self._splits()
        spaces = self._spaces(models)
        if not any(defined.use == BASELINE for defined in splits.values()):
            self.problems.add(f"[split.{BASELINE}] is missing: falls are measured against random splits")
        defined: dict[str, Mapping[str, Any]] = {"data": data, "spaces": spaces, "splits": splits, "models": models}
        tables = file.experiment or (ExperimentTable(name="all"),)
        experiments = tuple(self._experiment(number, table, defined) for number, table in enumerate(tables))
        choices = {
            tag: list(defined.get(tag, defined.get(f"{tag}s", {}))) for tag in ("data", "space", "split", "model")
        }
        bounds = read_gates([*file.gates, *gates], self.problems, lambda gate: choices)
        return Study(
            self.path, self.path.stem if file.title is None else file.title, file.seed, data, models, spaces, splits,
            file.train.seeds or (file.seed,), file.train.pair, file.measure, experiments, bounds, self.variants,
        )  # fmt: skip

    def _data(self) -> dict[str, StudyTexts]:
        data, folder = {}, self.path.parent
        for table_name, name, table in self._tables("data", self.file.data):
            with self.problems.noted(f"[data.{table_name}]"):
                aside = table.independent
                beside = {"independent": file_beside(folder, aside)} if isinstance(aside, str) else {}
                source = source_beside(folder, table.source or table_name)
                data[name] = table.model_copy(update={"source": source, **beside})
        return data

    def _models(self) -> dict[str, Model]:
        models = {}
        for table_name, name, table in self._tables("model", self.file.model):
            with self.problems.noted(f"[model.{table_name}]"):
                others = {key: str(getattr(table, key) or "") for key in ("add", "lexicon")}
                for key, other in others.items():
                    if other and other not in self.file.data:
                        raise InputError(f"{key}: no [data.{other}] is defined")
                models[name] = table.model(name, self.trust, table_name, **others)
        return models

    def _splits(self) -> dict[str, Splits]:
        grouped = "named" if any(table.groups for table in self.file.data.values()) else None
        splits = {}
        for table_name, name, table in self._tables("split", self.file.split):
            with self.problems.noted(f"[split.{table_name}]"):
                written = {"use": table_name} | table.model_dump(exclude_unset=True)
                refuse_code(written, self.trust)
                use, parameters = written["use"], {key: _ranged(value) for key, value in table.model_extra.items()}
                for key in RENAMED.keys() & parameters.keys():
                    raise InputError(f"{key} is called {RENAMED[key]} here")
                check_splitter(use, grouped)
                check_parameters(f"the splitter {use!r}", SPLITTERS.get(use), parameters)
                seeds = table.seeds or (self.file.seed,)
                splits[name] = Splits(name, use, seeds, table.test, table.dev, parameters)
        return splits

    def _spaces(self, models: Mapping[str, Model]) -> dict[str, Space]:
        """Every space by its name; a table may cross several models with several representations."""
        spaces: dict[str, Space] = {}
        for name, table in self.file.space.items():
            place = f"[space.{name}]"
            named = table.model or (name,)
            chosen = self._chosen(f"{place} model", named, models, self._variants_of(models), self.file.model)
            for model, representation in itertools.product(chosen, table.representations):
                with self.problems.noted(place):
                    space = Space(models[model], representation)
                    spaces[space.called] = space
                    self.space_groups.setdefault(name, []).append(space.called)
        return spaces

    def _experiment(
        self, number: int, table: ExperimentTable, defined: Mapping[str, Mapping[str, Any]]
    ) -> ExperimentTable:
        place = f"[[experiment]] {table.name or number + 1}"
        if not table.name:
            self.problems.add(f"{place} needs a name")
        chosen: dict[str, Any] = {}
        for kind, known in defined.items():
            groups = self._variants_of(known) | (self.space_groups if kind == "spaces" else {})
            is_said, own = kind in {"models", *table.model_fields_set}, [OWN_MODEL] if kind == "models" else []
            names = getattr(table, kind) if is_said else known
            tables = getattr(self.file, kind.removesuffix("s"))
            chosen[kind] = self._chosen(f"{place} {kind}", names, [*known, *own], groups, tables)
        experiment = table.model_copy(update=chosen)
        if not experiment.spaces and len(self.space_groups) == len(self.file.space):
            if OWN_MODEL in experiment.models:
                self.problems.add(f"{place} has no space, so no model of its own: name its models")
            if cutting := [name for name in experiment.splits if reads_vectors(defined["splits"][name].use)]:
                self.problems.add(f"{place} has no space, which {', '.join(cutting)} would cut")
        return experiment

    def _tables(self, stage: str, tables: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
        """Name, name in the study and content of the tables [stage.NAME]; one that varies something is several."""
        if not tables and (stage,) not in self.problems.omitted:
            self.problems.add(f"[{stage}.NAME] is missing: define at least one")
        for name, table in tables.items():
            if not PLAIN.fullmatch(name):
                self.problems.add(f"[{stage}.{name}] must have a plain name")
                continue
            if not table.vary:
                yield name, name, table
                continue
            plain = {key: value for key, value in self.content[stage][name].items() if key != "vary"}
            for values in itertools.product(*table.vary.values()):
                varied = dict(zip(table.vary, values, strict=True))
                called = " ".join([name, *(f"{key}={_short(value)}" for key, value in varied.items())])
                self.variants[called] = {"of": name} | varied
                yield name, called, self.problems.read(type(table), plain | varied, (stage, name)) or table

    def _variants_of(self, known: Iterable[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for name in known:
            if name in self.variants:
                groups.setdefault(str(self.variants[name]["of"]), []).append(name)
        return groups

    def _chosen(
        self, place: str, names: Iterable[str], known: Iterable[str], groups: Mapping[str, list[str]],
        tables: Collection[str],
    ) -> tuple[str, ...]:  # fmt: skip
        """The names that are meant, a name of several standing for all of them; what `tables` define was refused."""
        chosen: dict[str, None] = {}
        for name in names:
            if name not in groups and name not in known:
                if name in tables:  # its own problem is noted
                    continue
                self.problems.add(f"{place}: {name!r} is not defined{hint(name, [*known, *groups])}")
            else:
                chosen |= dict.fromkeys(groups.get(name, [name]))
        return tuple(chosen)


def _short(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _ranged(value: Any) -> Any:
    """'3..50' is the whole numbers from 3 to 50."""
    bounds = RANGE.fullmatch(value) if isinstance(value, str) else None
    return list(range(int(bounds.group(1)), int(bounds.group(2)) + 1)) if bounds else value
