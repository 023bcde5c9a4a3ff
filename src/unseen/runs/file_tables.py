"""What files of several kinds say in the same way: texts to load, models to train, gates to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from unseen.data.catalogue import cards
from unseen.errors import InputError, hint
from unseen.evaluation.gates import FINDINGS, Gate, parsed_gates
from unseen.evaluation.metrics import find_metric
from unseen.evaluation.metrics import metric as metric_of
from unseen.registry import refuse_code
from unseen.runs.spaces import Model, refuse_function
from unseen.store.settings_file import Listed, Names, Problems, SettingsTable, Text


def _known_metric(name: str) -> str:
    return metric_of(name).id


Metric = Annotated[str, AfterValidator(_known_metric)]


class TextsTable(SettingsTable):
    """A table that names texts: `source`, and what `unseen.load` takes beside it."""

    source: Text = Field(default="", description="a file or a known dataset")
    text: Text | None = None
    label: Text | None = None
    id: Text | None = None
    attributes: Names = ()
    drop: Names = ()
    delimiter: str | None = None
    encoding: Text | None = None
    file: Text | None = None
    data_dir: Text | None = None

    @property
    def load(self) -> dict[str, Any]:
        """Parameters of `unseen.load` that the table names."""
        names = {*TextsTable.model_fields, "labels"} - {"source"}
        return self.model_dump(include=names, exclude_unset=True)


class LabelledTable(TextsTable):
    """Texts whose labels are declared or renamed as `unseen.load` does it."""

    labels: Listed[Any] | dict[str, str] | None = None


class ModelTable(SettingsTable):
    """A model: a recipe or a transformer, and its parameters."""

    model_config = ConfigDict(extra="allow")

    use: Text = Field(default="", description="a recipe or a transformer; the name of the table where nothing is said")

    def model(self, name: str, trust: bool, use: str | None = None, **others: str) -> Model:
        """The model under this name; `use` stands in where the table names no recipe. Code needs `trust`."""
        table = {"use": use or name} | self.model_dump(exclude_unset=True)
        refuse_code(table, trust)
        model = Model(table["use"], dict(self.model_extra or {}), name, **others)
        model = model.trusted() if trust else model
        refuse_function(model)
        return model


def file_beside(folder: Path, name: str) -> str:
    """The file of this name in the folder of the file that names it, if there is one; else the name."""
    return str(folder / name) if (folder / name).is_file() else name


def source_beside(folder: Path, name: str) -> str:
    """A source of texts, files beside the one that names it first; refuses what is neither a file nor known."""
    source = file_beside(folder, name)
    if source != "sample" and source not in cards() and not Path(source).is_file():
        raise InputError(f"source: {name!r} is no file and no known dataset{hint(name, ['sample', *cards()])}")
    return source


def read_gates(
    texts: Iterable[Gate | str], problems: Problems, choices: Callable[[Gate], Mapping[str, Sequence[str]]]
) -> tuple[Gate, ...]:
    """The gates of a file, and those given beside it; `choices` says which names a gate may have, by tag."""
    gates = []
    for text in texts:
        with problems.noted("gates:"):
            (gate,) = parsed_gates([text])
            name = gate.metric.removeprefix("fall.").removeprefix("difference.")
            if not name.startswith(FINDINGS) and find_metric(name) is None:
                raise InputError(f"{gate.metric!r} is no score, fall, difference or count of findings")
            gates.append(gate)
            for tag, known in choices(gate).items():
                name = gate.where.get(tag, "*")
                if "*" not in name and name not in known:
                    problems.add(f"gates: {tag}: {name!r} is not one of {', '.join(known)}{hint(name, known)}")
    return tuple(gates)
