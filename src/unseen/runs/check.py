"""Models on a suite, from asking them to the report."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from unseen import inference
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.depth import MEAN, depth_measurements
from unseen.evaluation.gates import FINDINGS, Gate, parsed_gates
from unseen.evaluation.thresholds import at_threshold, check_threshold
from unseen.functional.pass_rates import (
    BOTH,
    EXPLAINED,
    FLIPPED,
    PASSED,
    TOLERANCE,
    WEIGHTED,
    check_tolerance,
    compare_on_suite,
    outcomes,
    refuse_slices,
    slices_of,
    weighting_of,
)
from unseen.functional.pass_rates import check as measured_on_suite
from unseen.functional.tables import suite_of
from unseen.models import as_classifier
from unseen.reports import behaviour
from unseen.reports.behaviour import Behaviour, behaviours, section
from unseen.reports.depth_section import depth_sections
from unseen.reports.page import Page, Section, Verdict, counted, drawn
from unseen.reports.record import RunRecord
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.store import read_predictions, write_predictions
from unseen.store.files import file_name, harmless, write_rows
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, ExitTrace, Measurement, Predictions, some

PREDICTIONS = (".csv", ".parquet")
MEASURED = (PASSED, BOTH, FLIPPED, EXPLAINED, f"difference.{PASSED}", MEAN)
"""What gates can be about."""
BADGES = {"ok": "passes", "warn": "look closer", "fail": "a gate failed"}


@dataclass(frozen=True)
class CheckedModel:
    """How one model is asked: its place, its labels in the words of the suite, and a threshold where it has one."""

    source: Any
    """A model's place, a file of predictions, or a classifier."""
    rename: Mapping[str, str] | None = None
    threshold: Mapping[str, float] | None = None
    opening: Mapping[str, Any] | None = None
    """Parameters of `unseen.models.open_model`."""

    def predictions(self, suite: Dataset, work: str) -> Predictions:
        """What the model says about every case."""
        predictions = self._asked(suite, work)
        for label, threshold in (self.threshold or {}).items():
            if predictions.origin.params.get("hard"):
                raise InputError(
                    f"a threshold has no effect on labels: {self.described()['source']} gives no probabilities"
                )
            predictions = at_threshold(predictions, label, threshold)
        return predictions

    def check(self, suite: Dataset) -> None:
        """Refuse thresholds that cannot be meant, before the model is asked."""
        if self.threshold:
            check_threshold(suite.label_names, self.threshold)

    def _asked(self, suite: Dataset, work: str) -> Predictions:
        if isinstance(self.source, str | Path) and Path(self.source).suffix in PREDICTIONS:
            if self.opening:
                raise InputError(f"{', '.join(self.opening)} has no effect on a file of predictions")
            return read_predictions(self.source, suite, self.rename)
        return inference.predict(as_classifier(self.source, self.rename, **(self.opening or {})), suite, work=work)

    def trace(self, suite: Dataset) -> ExitTrace | None:
        """What every layer of a model that stops early says; None of others, and where labels were renamed."""
        if self.rename or Path(str(self.source)).suffix in PREDICTIONS:
            return None
        model = as_classifier(self.source, **(self.opening or {}))
        return model.trace(suite.texts.to_pylist(), suite.ids.to_pylist()) if hasattr(model, "trace") else None

    def described(self) -> dict[str, Any]:
        """What decides the answers, as plain values."""
        return {"source": inference.name_of(self.source), "rename": self.rename, "threshold": self.threshold}


def check(
    models: Any,
    suite: Any,
    *,
    rename: Mapping[str, str] | None = None,
    threshold: Mapping[str, float] | None = None,
    opening: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    slices: Sequence[str] = (),
    metrics: Sequence[str] = (),
    gates: Sequence[Gate | str] = (),
    tolerance: float = TOLERANCE,
    texts: bool = False,
    command: str | None = None,
    seed: int = 42,
) -> Result:
    """Ask every model about every case, measure, compare each two, judge the gates, and write the folder of it.

    `models` is one, a list of them, or each by its name; a model is what `unseen.open_model` takes, a classifier, a
    file of predictions, or a CheckedModel, which has its own `rename`, `threshold` and `opening`: its labels in the
    words of the suite, the probability from which on it gives a label, parameters of `unseen.open_model`. `suite` is
    a file, the name of a known suite, or a Dataset.
    `metrics` are pass rates in which functionalities have weights, `pass_rate.macro`; those that gates name are
    measured too. Without `out` nothing is written. The answers of a model are on disk as soon as it has given them:
    its file in `predictions/` can stand for the model next time. `texts` puts the failed cases' texts into
    failures.csv.
    """
    asked_models = {
        name: model if isinstance(model, CheckedModel) else _checked(model, rename, threshold, opening)
        for name, model in _by_name(models).items()
    }
    check_tolerance(tolerance)
    cases = suite_of(suite, slices)
    refuse_slices(cases, slices)
    bounds = parsed_gates(gates)
    asked = [*metrics, *(gate.metric for gate in bounds if WEIGHTED.fullmatch(gate.metric))]
    weighted = list(dict.fromkeys(f"{PASSED}.{weighting_of(metric)}" for metric in asked))
    _refuse_idle(bounds, cases, slices, list(asked_models))
    for model in asked_models.values():
        model.check(cases)
    names = [file_name(name) for name in asked_models]
    if len(set(names)) < len(names):
        got = some(asked_models)
        raise InputError("the files of two models would have one name", got=got, fix="other names: NAME=MODEL")
    about = {
        "models": {name: model.described() for name, model in asked_models.items()},
        "suite": described_data(cases),
        "settings": {"slices": list(slices), "tolerance": tolerance, "seed": seed}
        | ({"metrics": weighted} if weighted else {}),
    }

    def work(folder: RunFolder) -> Output:
        shutil.rmtree(folder / "predictions", ignore_errors=True)
        predictions = _asked(asked_models, cases, folder)
        _write_failures(predictions, cases, tolerance, texts, folder / "failures.csv")
        measured = _measured(predictions, cases, slices, weighted, tolerance, seed)
        return Output(measured + _depths(asked_models, predictions, cases, slices, seed))

    return carry_through("check", about, work, out=out, command=command, gates=bounds)


def _by_name(models: Any) -> Mapping[str, Any]:
    """Models by name: as they were given, or the last parts of their places."""
    if isinstance(models, Mapping):
        named = models
    else:
        several = models if isinstance(models, list | tuple) else [models]
        names = [short_name(model) for model in several]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"two models are called {twice!r}", fix="give each a name of its own: {name: model}")
        named = dict(zip(names, several, strict=True))
    if not named:
        raise InputError("there is no model to check")
    return named


def short_name(model: Any) -> str:
    """How a model without a name is called: the last part of its place; an object by what it says, or its type."""
    place = inference.name_of(model)
    return place if "://" in place or not isinstance(model, str | Path) else Path(place).stem


def _checked(
    model: Any,
    rename: Mapping[str, str] | None,
    threshold: Mapping[str, float] | None,
    opening: Mapping[str, Any] | None,
) -> CheckedModel:
    """How a model is asked; a file of predictions is not opened."""
    is_file = isinstance(model, str | Path) and Path(model).suffix in PREDICTIONS
    return CheckedModel(model, rename, threshold, None if is_file else opening)


def _refuse_idle(gates: Sequence[Gate], suite: Dataset, slices: Sequence[str], models: Sequence[str]) -> None:
    """Refuse gates about numbers, slices or models that there will not be."""
    named = [(name, tags) for name, _, tags in slices_of(suite, slices)]
    for gate in (gate for gate in gates if not gate.metric.startswith(FINDINGS)):
        if gate.metric not in MEASURED and not WEIGHTED.fullmatch(gate.metric):
            raise UnknownNameError.of("number of a check", gate.metric, MEASURED)
        more = {name: gate.where[name] for name in ("other", "pairs") if name in gate.where}
        rows = (
            Measurement(gate.metric, None, 0, slice=name, tags={"suite": suite.name, "model": model, **tags, **more})
            for name, tags in named
            for model in models
        )
        if not any(map(gate.is_about, rows)):
            there = [*(name for name, _ in named), *(f"model={name}" for name in models)]
            raise InputError(f"no slice of the suite is what {str(gate)!r} asks for", expected=some(there, 40))


def _asked(models: Mapping[str, CheckedModel], suite: Dataset, folder: RunFolder) -> dict[str, Predictions]:
    answers = {}
    for name, model in models.items():
        answers[name] = model.predictions(suite, f"ask {name}")
        write_predictions(answers[name], folder / "predictions" / f"{file_name(name)}.parquet")
    return answers


def _measured(
    asked: Mapping[str, Predictions],
    suite: Dataset,
    slices: Sequence[str],
    weighted: Sequence[str],
    tolerance: float,
    seed: int,
) -> list[Measurement]:
    options: dict[str, Any] = {"slices": slices, "tolerance": tolerance}
    rows = [
        row
        for name, predictions in asked.items()
        for row in measured_on_suite(suite, predictions, weighted=weighted, tags={"model": name}, **options)
    ]
    for a, b in combinations(asked, 2):
        rows += compare_on_suite(suite, asked[a], asked[b], tags={"model": a, "other": b}, seed=seed, **options)
    return rows


def _depths(
    models: Mapping[str, CheckedModel],
    asked: Mapping[str, Predictions],
    suite: Dataset,
    slices: Sequence[str],
    seed: int,
) -> list[Measurement]:
    """How deep models that stop early went, by functionality and slice."""
    by = ("functionality", *slices)
    places = {name: some for name, some, tags in slices_of(suite, slices) if tags.get("axis") in by}
    return [
        row
        for name, predictions in asked.items()
        if predictions.depths is not None
        for row in depth_measurements(
            suite, predictions, np.arange(len(suite)), slices=places, trace=models[name].trace(suite),
            tags={"suite": suite.name, "model": name}, seed=seed,
        )
    ]  # fmt: skip


def _write_failures(
    asked: Mapping[str, Predictions], suite: Dataset, tolerance: float, texts: bool, path: Path
) -> None:
    """Every failed case: model, id, functionality, label, what was said, its probability."""
    from unseen.evaluation.measurements import aligned

    names, functionality = np.array(suite.label_names), suite.attribute("functionality").to_pylist()
    ids = suite.ids.to_pylist()
    columns = ["model", "id", "functionality", "label", "predicted", "probability", *(["text"] if texts else [])]
    lines = []
    for model, predictions in asked.items():
        p = aligned(suite, predictions, np.arange(len(suite)))
        for row in np.flatnonzero(outcomes(suite, predictions, tolerance) == 0).tolist():
            predicted = int(p[row].argmax())
            cells = [model, ids[row], functionality[row], names[suite.labels[row]], names[predicted]]
            more = [harmless(suite.texts[row].as_py())] if texts else []
            lines.append([*map(harmless, map(str, cells)), f"{p[row, predicted]:.4f}", *more])
    write_rows(path, columns, lines)


def page(record: RunRecord) -> Page:
    """What models pass of a suite."""
    suites, about = behaviours(record.measurements), record.about
    sections = [section(suite) for suite in suites]
    headline, *sentences = [
        sentence
        for suite, shown in zip(suites, sections, strict=True)
        for sentence in (*shown["headlines"], *behaviour.kinds_of_failure(suite))
    ] or ["No case was judged."]
    level = level_of(suites, about.get("gates") or [])
    models, suite = about["models"], about["suite"]
    tables = {name: table for suite in suites for name, table in behaviour.tables(suite).items()}
    first = [make(suite) for suite in suites for make in (behaviour.functionality_table, behaviour.comparison_table)]
    return Page(
        "behaviour",
        f"{', '.join(models)} on {suite['name']}",
        Verdict(headline, sentences, level, badge=BADGES[level]),
        subtitle=f"{suite['rows']:,} cases: {counted(suite['counts'])}",
        sections=[
            *(Section(shown["suite"], pictures=[drawn("suite.html", each=shown)]) for shown in sections),
            *depth_sections(record.measurements),
            Section("Models", "; ".join(f"{name}: {_asked_how(model)}" for name, model in models.items())),
        ],
        tables=tables,
        printed=[table for table in first if table is not None],
        files={"failed cases": "failures.csv", "what models said": "predictions/"},
    )


def level_of(suites: Sequence[Behaviour], gates: Sequence[Mapping[str, Any]]) -> str:
    """fail: a gate failed; warn: a functionality is passed less often than by guessing; else ok."""
    if not all(gate["passed"] for gate in gates):
        return "fail"
    rates = [of.rate(name, model) for of in suites for name in of.of_axis("functionality") for model in of.models]
    low = any(row is not None and row.value is not None and row.value < behaviour.LOW for row in rates)
    return "warn" if low else "ok"


def _asked_how(model: Mapping[str, Any]) -> str:
    renamed = ", ".join(f"{theirs} → {ours}" for theirs, ours in (model["rename"] or {}).items())
    thresholds = ", ".join(f"{label} from {value} on" for label, value in (model["threshold"] or {}).items())
    return "; ".join(filter(None, [str(model["source"]), renamed and f"labels {renamed}", thresholds]))
