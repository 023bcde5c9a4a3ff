"""Scores that somebody measured: what was trained on, and with how much of it, where it was tested, what came of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.data.delimited import read_delimited
from unseen.data.files import reading, recognise
from unseen.data.tables import column_names
from unseen.errors import InputError, TableError
from unseen.store.files import door
from unseen.types import some

Floats = npt.NDArray[np.float64]
Names = npt.NDArray[np.str_]
Mask = npt.NDArray[np.bool_]
Configuration = Mapping[str, float]
"""The amount of training data of each source, without sources that were not used."""
HIDDEN = "x"
"""What SumEval writes for a score that is to be predicted."""
ROLES = ("configuration", "source", "size", "target", "score", "task")
"""Columns of a CSV file that are no features."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Rows of configuration, target and score, with a column of `features` for each name in `columns`."""

    configurations: tuple[Configuration, ...]
    targets: Names
    scores: Floats
    """NaN where a score is not known."""
    tasks: Names
    """Rows of one task are about one kind of score; each task has its own weights and intercept."""
    columns: tuple[str, ...] = ()
    features: Floats = field(default_factory=lambda: np.empty((0, 0)))
    names: Names = field(default_factory=lambda: np.empty(0, dtype=np.str_))
    """Of each row's configuration, made where they are not given: rows of one name were trained alike."""

    def __post_init__(self) -> None:
        if not self.columns:
            object.__setattr__(self, "features", np.empty((len(self.configurations), 0)))
        if not len(self.names):
            object.__setattr__(self, "names", np.array([*map(configuration_name, self.configurations)], dtype=np.str_))
        sizes = {len(part) for part in (self.configurations, self.targets, self.scores, self.tasks, self.features)}
        if len(sizes) > 1 or self.features.shape[1] != len(self.columns):
            raise InputError("a score table needs a target, a score, a task and all features for each configuration")
        if not np.isfinite(self.features).all():
            wrong = np.flatnonzero(~np.isfinite(self.features).all(axis=0))
            columns = [self.columns[place] for place in wrong]
            raise InputError("features must be finite numbers", got=f"others in {some(columns)}")

    def __len__(self) -> int:
        return len(self.configurations)

    def take(self, rows: Mask | npt.NDArray[np.intp]) -> ScoreTable:
        """Some of the rows."""
        places = np.flatnonzero(rows) if rows.dtype == bool else rows
        return ScoreTable(
            tuple(self.configurations[place] for place in places), self.targets[places], self.scores[places],
            self.tasks[places], self.columns, self.features[places], self.names[places],
        )  # fmt: skip

    def with_features(self, columns: Sequence[str], features: Floats) -> ScoreTable:
        """The same rows with more features."""
        return replace(self, columns=(*self.columns, *columns), features=np.hstack([self.features, features]))

    def with_task(self, task: str) -> ScoreTable:
        """The same rows as rows of another task."""
        return replace(self, tasks=np.full(len(self), task))

    @property
    def known(self) -> Mask:
        """Rows whose score is known."""
        return ~np.isnan(self.scores)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Everything that any row was trained on."""
        return tuple(sorted({source for configuration in self.configurations for source in configuration}))

    def trained_on(self, name: str) -> Mask:
        """Rows that were trained on `name`."""
        return np.array([name in configuration for configuration in self.configurations], dtype=bool)


def amounts_of(configurations: Sequence[Configuration], sources: Sequence[str]) -> Floats:
    """Training data of each configuration and source [configurations, sources]."""
    amounts = [[configuration.get(source, 0.0) for source in sources] for configuration in configurations]
    return np.array(amounts, dtype=np.float64).reshape(len(configurations), len(sources))


def joined(tables: Sequence[ScoreTable]) -> ScoreTable:
    """The rows of several tables that have the same features."""
    if len({table.columns for table in tables}) != 1:
        raise InputError("tables with other features cannot be joined", fix="give them the same features first")
    return ScoreTable(
        tuple(configuration for table in tables for configuration in table.configurations),
        np.concatenate([table.targets for table in tables]),
        np.concatenate([table.scores for table in tables]),
        np.concatenate([table.tasks for table in tables]),
        tables[0].columns,
        np.concatenate([table.features for table in tables]),
    )


def configuration_name(configuration: Configuration) -> str:
    """A configuration as it is typed.

    >>> configuration_name({"en": 5000, "de": 100.0})
    'de=100+en=5000'
    """
    return "+".join(f"{source}={amount:.12g}" for source, amount in sorted(configuration.items()))


def parse_configuration(text: str) -> dict[str, float]:
    """What was typed as a configuration.

    >>> parse_configuration("de=100+en=5000")
    {'de': 100.0, 'en': 5000.0}
    """
    amounts: dict[str, float] = {}
    for part in text.split("+"):
        source, middle, amount = (piece.strip() for piece in part.partition("="))
        if not (source and middle):
            raise InputError(f"{text!r} is no configuration", expected="SOURCE=AMOUNT, or A=100+B=5000")
        if source in amounts:
            raise InputError(f"{text!r} names {source!r} twice")
        amounts[source] = _amount(amount)
    return _used(amounts)


def read_scores(path: str | Path) -> ScoreTable:
    """The score table in a file: LITMUS and SumEval JSON, or CSV."""
    path = Path(path)
    return read_sumeval(path) if path.suffix == ".json" else read_csv(path)


def read_sumeval(path: str | Path) -> ScoreTable:
    """A list of {train_config: {source: amount}, eval_results: {target: score}}; hidden scores are NaN."""
    path, problems = Path(path), list[str]()
    with door(path, "a list of training configurations and scores"):
        entries = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list):
            raise InputError(f"{path} does not hold a list", expected="[{train_config: {…}, eval_results: {…}}, …]")
    rows: list[tuple[Configuration, str, float]] = []
    for place, entry in enumerate(entries, start=1):
        try:
            configuration = _used({source: _amount(amount) for source, amount in entry["train_config"].items()})
            rows += [(configuration, target, _score(score)) for target, score in entry["eval_results"].items()]
        except (KeyError, TypeError, AttributeError):
            problems.append(f"entry {place}: expected train_config and eval_results, each with names and numbers")
        except InputError as cause:
            problems.append(f"entry {place}: {cause.message}")
    return _table(path, rows, [path.stem] * len(rows), problems)


def read_csv(path: str | Path) -> ScoreTable:
    """A table with the columns configuration (or source and size), target and score; all others are features.

    A row without a score is to be predicted. A column `task` tells kinds of scores apart.
    """
    path = Path(path)
    names = column_names(path)
    columns = tuple(name for name in names if name not in ROLES)
    roles = [*(["configuration"] if "configuration" in names else ["source", "size"]), "target", "score"]
    with reading(path):
        lines = read_delimited(recognise(path), [*roles, *({"task"} & {*names}), *columns], None)
    numbers, problems = lines.all_numbers().tolist(), list[str]()
    rows, tasks, features = list[tuple[Configuration, str, float]](), list[str](), list[list[float]]()
    for line, cells in zip(numbers, lines.table.to_pylist(), strict=True):
        try:
            configuration = (
                parse_configuration(cells["configuration"] or "") if "configuration" in cells
                else _used({_filled(cells["source"], "source"): _amount(cells["size"])})
            )  # fmt: skip
            rows.append((configuration, _filled(cells["target"], "target"), _score(cells["score"])))
            tasks.append(_filled(cells.get("task", path.stem), "task"))
            features.append([numeric(cells[name], name) for name in columns])
        except InputError as cause:
            problems.append(f"line {line}: {cause.message}")
    table = _table(path, rows, tasks, problems)
    return table.with_features(columns, np.array(features)) if columns else table


def _table(
    path: Path, rows: Sequence[tuple[Configuration, str, float]], tasks: Sequence[str], problems: list[str]
) -> ScoreTable:
    if problems or not rows:
        raise TableError(f"{path} has wrong rows", problems=problems or ["there is no row"])
    configurations, targets, scores = zip(*rows, strict=True)
    table = ScoreTable(configurations, np.array(targets), np.array(scores, dtype=np.float64), np.array(tasks))
    _refuse_repeats(path, table)
    return table


def _refuse_repeats(path: Path, table: ScoreTable) -> None:
    places: dict[tuple[str, str, str], int] = {}
    for row in zip(table.tasks.tolist(), table.names.tolist(), table.targets.tolist(), strict=True):
        places[row] = places.get(row, 0) + 1
    twice = [f"{name} → {target}: {count} rows" for (_, name, target), count in places.items() if count > 1]
    if twice:
        raise TableError(
            f"{path} has several scores of one configuration and target", problems=twice, fix="write their mean"
        )


def _used(amounts: Mapping[str, float]) -> dict[str, float]:
    used = {source: amount for source, amount in amounts.items() if amount > 0}
    if not used:
        raise InputError("nothing was trained on", expected="an amount above 0 of some source")
    return used


def _amount(value: Any) -> float:
    amount = numeric(value, "amount")
    if amount < 0:
        raise InputError(f"{value!r} is no amount of training data", expected="0 or more")
    return amount


def _score(value: Any) -> float:
    if value is None or (isinstance(value, str) and value.strip() in ("", HIDDEN)):
        return math.nan
    return numeric(value, "score")


def numeric(value: Any, what: str) -> float:
    """A finite number, or an error that names it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(f"{what} {value!r} is no number")
    return number


def _filled(value: str | None, what: str) -> str:
    if value is None or not value.strip():
        raise InputError(f"{what} is empty")
    return value.strip()
