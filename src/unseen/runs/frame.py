"""The frame of every run: lock, run.json, the work, its files, gates, page, and one result.

A kind of run is a function that settles its settings and hands its work to `carry_through`, and a function
`page(record)` that says what the page shows; `KINDS` names where the second is.
"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError
from markupsafe import Markup

from unseen.errors import InputError, UnknownNameError, UnseenError
from unseen.evaluation.gates import Gate, GateOutcome, judged, parsed_gates
from unseen.redaction import redacted
from unseen.reports.actions import ACTIONS, write_actions
from unseen.reports.page import Page, Verdict, drawn, sorted_findings, write_page
from unseen.reports.record import RunRecord, read_record
from unseen.reports.review import with_reviews
from unseen.reports.split_card import write_cards
from unseen.store import write_findings, write_measurements, write_predictions, write_split
from unseen.store.files import file_name, temporary_folder
from unseen.store.run_folder import OUTCOME, RunFolder, way_out
from unseen.types import Dataset, Finding, Measurement, Predictions, Split
from unseen.types.records import versions

KINDS = {
    "stress": "unseen.reports.stress_page:page",
    "study": "unseen.reports.study_page:page",
    "validation": "unseen.runs.validation.page:page",
    "transfer": "unseen.runs.transfer_page:page",
    "bench": "unseen.runs.bench_page:page",
    "leaderboard": "unseen.runs.leaderboard:page",
    "pretraining": "unseen.runs.pretraining_page:page",
    "learning": "unseen.runs.learning_page:page",
    "price": "unseen.runs.price:page",
    "authors": "unseen.runs.authors:page",
    "item-effect": "unseen.runs.item_effect:page",
    "bias": "unseen.runs.bias_page:page",
    "cost": "unseen.runs.cost_page:page",
    "check": "unseen.runs.check:page",
    "score": "unseen.runs.score:page",
    "forecast": "unseen.reports.forecast_page:page",
    "explain": "unseen.reports.explain_page:page",
    "attack": "unseen.reports.attack_page:page",
    "invariance": "unseen.reports.invariance_page:page",
    "audit": "unseen.runs.audit:page",
    "pipeline-audit": "unseen.runs.audit:page",
    "score-table": "unseen.runs.score_forecast:page",
}
"""Every kind of run, and the function that makes its page of a record."""


@dataclass(frozen=True, eq=False)
class Output:
    """What the work of a run gives."""

    measurements: Sequence[Measurement]
    findings: Sequence[Finding] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    """What run.json says besides, known only now."""
    data: Dataset | None = None
    """In which findings have their places."""
    splits: Mapping[str, Split] = field(default_factory=dict)
    """Put where people look for them, by name; what other settings left there is gone."""
    predictions: Mapping[str, Predictions] = field(default_factory=dict)
    """Likewise, by the names of their files, which may lie in folders."""


@dataclass(frozen=True, eq=False)
class Result:
    """What came of a run of any kind."""

    kind: str
    verdict: Verdict
    record: RunRecord = field(repr=False)
    page: Page = field(repr=False)
    gates: tuple[GateOutcome, ...] = ()
    report: Path | None = None
    """The page; None where nothing was written."""

    @property
    def folder(self) -> Path | None:
        """Where its files are."""
        return self.record.folder

    @property
    def measurements(self) -> Sequence[Measurement]:
        """Every number."""
        return self.record.measurements

    @property
    def findings(self) -> list[Finding]:
        """What checks found, the gravest first."""
        return sorted_findings(self.record.findings)

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the page, by name."""
        return self.page.tables

    @property
    def failures(self) -> Mapping[str, str]:
        """Steps that failed, with what they said."""
        return dict(self.record.about.get("failures") or {})

    @property
    def passed(self) -> bool:
        """Whether everything was done and every gate was kept."""
        return not self.failures and all(outcome.passed for outcome in self.gates)

    def row(self, metric: str, slice: str = "all", /, **tags: Any) -> Measurement | None:
        """The measurement with these tags, of several the first; None when it was not measured there.

        A metric or a tag that the run has nowhere is refused.
        """
        row = self.record.row(metric, slice, **tags)
        if row is None:
            self._refuse_unknown(metric, slice, tags)
        return row

    def value(self, metric: str, slice: str = "all", /, **tags: Any) -> float | None:
        """The number alone; None too where it is undetermined."""
        row = self.row(metric, slice, **tags)
        return None if row is None else row.value

    def _refuse_unknown(self, metric: str, slice: str, tags: Mapping[str, Any]) -> None:
        of_metric = [row for row in self.measurements if row.metric == metric]
        if not of_metric:
            raise UnknownNameError.of(
                "metric of this run", metric, dict.fromkeys(row.metric for row in self.measurements)
            )
        slices = dict.fromkeys(row.slice for row in self.measurements)
        if slice not in slices:
            raise UnknownNameError.of("slice of this run", slice, slices)
        for tag, value in tags.items():
            known = dict.fromkeys(row.tags[tag] for row in self.measurements if tag in row.tags)
            if not known:
                raise UnknownNameError.of(
                    "tag of this run", tag, dict.fromkeys(name for row in of_metric for name in row.tags)
                )
            for one in value if isinstance(value, tuple) else (value,):
                if one is not None and str(one) not in map(str, known):
                    raise UnknownNameError.of(f"{tag} of this run", str(one), map(str, known))

    def described(self) -> dict[str, Any]:
        """Plain values, as `--json` prints them."""
        return {
            "kind": self.kind,
            "level": self.verdict.level,
            "verdict": self.verdict.lines(),
            "actions": [asdict(action) for action in self.verdict.actions],
            "passed": self.passed,
            "gates": [asdict(outcome) for outcome in self.gates],
            "failures": self.failures,
            "findings": [asdict(finding) for finding in self.findings],
            "measurements": [asdict(row) for row in self.measurements],
            "folder": self.folder,
            "report": self.report,
        }

    def __str__(self) -> str:
        report = [] if self.report is None else ["", f"report: {self.report}"]
        return "\n".join([*self.verdict.lines(), *map(str, self.gates), *report])

    def _repr_html_(self) -> Markup:
        """How a notebook shows it: verdict, tables and the picture of its kind."""
        return drawn("notebook.html", result=self)


def carry_through(
    kind: str,
    about: Mapping[str, Any],
    work: Callable[[RunFolder], Output],
    *,
    out: str | Path | None,
    command: str | None = None,
    gates: Sequence[Gate | str] = (),
    replace: bool | None = None,
    cards: bool = False,
) -> Result:
    """Do the work of a run and, with `out`, write the folder of it: run.json, numbers, findings, tables, page.

    `about` is what decides the numbers; a folder that holds another run is refused, or with `replace` given over.
    `work` is called with the folder, whose `results` keep finished steps; without `out` it is a private one that is
    gone when the run is done. `cards` writes the cards of the splits too.
    """
    bounds = parsed_gates(gates)
    described = {"kind": kind, "command": redacted(command or f"unseen.{kind.replace('-', '_')}(…)"), **about}
    described |= {"versions": _used_versions(), "host": {"system": platform.system(), "machine": platform.machine()}}
    with _folder(out) as folder, folder.locked():
        if out is not None:
            folder.begin(described, replace)
        output = work(folder)
        outcomes = judged(bounds, output.measurements, output.findings)
        described |= {**output.about, OUTCOME: [*output.about], "gates": [asdict(outcome) for outcome in outcomes]}
        if out is None:
            record = RunRecord(described, tuple(output.measurements), tuple(output.findings))
            page = page_of(record)
            return Result(kind, page.verdict, record, page, tuple(outcomes))
        _publish(output, folder)
        folder.finish(described)
        if cards:
            write_cards(folder.path)
        return _as_measured(report(folder.path), output.measurements)


@contextmanager
def _folder(out: str | Path | None) -> Iterator[RunFolder]:
    if out is not None:
        yield RunFolder(out)
        return
    with temporary_folder() as private:
        yield RunFolder(private / "run")


def _publish(output: Output, folder: RunFolder) -> None:
    """Put what came of the work where people look for it, in place of what other settings left."""
    for name, content in (("splits", output.splits), ("predictions", output.predictions), ("tables", True)):
        if content:
            shutil.rmtree(folder / name, ignore_errors=True)
    for name, split in output.splits.items():
        write_split(split, folder / "splits" / f"{file_name(name)}.csv")
    for name, predictions in output.predictions.items():
        write_predictions(predictions, folder / "predictions" / f"{name}.parquet")
    write_measurements(output.measurements, folder / "measurements.csv")
    write_findings(output.findings, folder / "findings.csv", output.data)


def report(folder: str | Path, gates: Sequence[Gate | str] = ()) -> Result:
    """Write the page of a finished run anew, from the files of its folder alone, the reviews of its texts included.

    The result has the gates of the run, and `gates` beside them; the folder and its page have those of the run alone.
    """
    bounds, record = parsed_gates(gates), read_record(folder)
    try:
        record = with_reviews(record)
        page = page_of(record)
        outcomes = tuple(GateOutcome(**outcome) for outcome in record.about.get("gates") or ())
        path = write_page(record, page)
    except UnseenError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, UndefinedError) as cause:
        raise InputError(
            f"files of the run folder {record.place} are damaged",
            problems=[f"they do not say all that its page shows: {type(cause).__name__}: {cause}"],
            fix=way_out(record.place),
        ) from cause
    if ACTIONS in page.files.values():
        write_actions(record.place, page.verdict.actions)
    outcomes += tuple(judged(bounds, record.measurements, record.findings))
    return Result(record.kind, page.verdict, record, page, outcomes, path)


def _as_measured(result: Result, measurements: Sequence[Measurement]) -> Result:
    """The result with its measurements as they were made: tags that are numbers are text in a file.

    What reviews say comes after them.
    """
    reviewed = result.measurements[len(measurements) :]
    return replace(result, record=replace(result.record, measurements=(*measurements, *reviewed)))


def page_of(record: RunRecord) -> Page:
    """What the page of a run shows."""
    place = KINDS.get(record.kind)
    if place is None:
        fix = None if record.folder is None else way_out(record.folder)
        raise InputError(f"no kind of run is called {record.kind!r}", expected=", ".join(KINDS), fix=fix)
    module, _, name = place.partition(":")
    make: Callable[[RunRecord], Page] = getattr(import_module(module), name)
    return make(record)


def _used_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that decide numbers."""
    used = versions()
    for name in ("torch", "transformers"):
        with suppress(PackageNotFoundError):
            used[name] = version(name)
    return used | {"python": platform.python_version()}


def described_data(data: Dataset) -> dict[str, Any]:
    """A dataset as run.json names it."""
    return {
        "name": data.name,
        "rows": len(data),
        "label_names": data.label_names,
        "counts": data.label_counts,
        "fingerprint": data.fingerprint,
    }


def described_split(split: Split | None) -> dict[str, Any] | None:
    """A split as run.json names it."""
    return None if split is None else {"name": split.name, "sizes": split.sizes, "made_by": split.origin.step}
