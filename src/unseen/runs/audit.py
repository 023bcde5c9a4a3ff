"""Audits of data and splits, and of pipelines, with their page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unseen import api
from unseen.audits.audit import audit as made
from unseen.audits.pipelines import audit_pipeline as experimented
from unseen.audits.pipelines import default_split, open_pipeline, prepared
from unseen.audits.subject import NEAR, ROLES, SEMANTIC, Subject, with_links, write_leaks
from unseen.errors import InputError
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.reports.formats import Table
from unseen.reports.page import Page, Section, Verdict, counted, sorted_findings, with_lines
from unseen.reports.record import RunRecord
from unseen.runs.authors import concentration_table
from unseen.runs.frame import Output, Result, carry_through, described_data, described_split
from unseen.runs.source import load_data, named_settings, refuse_unknown, split_of
from unseen.store.run_folder import RunFolder
from unseen.types import Finding, Measurement, Split
from unseen.types.numbers import number

GATES = ("findings.fail<=0",)
"""What an audit must keep, unless told."""
LEAKED = {
    "exact": "same text",
    "normalised": "same but for trifles",
    "near": "near-duplicate",
    "semantic": "same vector",
    "author": "same author",
    "conversation": "same conversation",
    "template": "same template",
    "partner": "contrast partner",
    "source": "same source",
    "original": "copy of the same item",
}


def audit(
    data: Any,
    split: Split | str | Path | None = None,
    *,
    parts: str | None = None,
    using: api.Vectors = None,
    checks: Sequence[str] | None = None,
    near: float = NEAR,
    semantic: float = SEMANTIC,
    seed: int = 42,
    gates: Sequence[Gate | str] = GATES,
    out: str | Path | None = None,
    texts: bool = False,
    command: str | None = None,
    typed: str = "",
    **columns: str,
) -> Result:
    """Every check of data and of a split of it: leaks, conflicts, drift, shortcuts; findings, passes included.

    `data` is what `unseen.load` takes, or a Dataset; `split` a Split or a file of anybody's, or instead `parts`, the
    attribute that names each row's part. `columns` name attributes by their role: `author`, `conversation`, `template`,
    `partner`, `source`, `original` (of a copy), `time`. An attribute whose values are ids of other rows is taken for
    that of the partners where none is named, and a warning says so. With vectors (`using`), semantic neighbours are
    looked for too. With `out` there is a folder of it: findings, measurements, leaks row by row, report; `texts`
    puts the texts of leaked rows and of their counterparts into leaks.csv. A check that was named and cannot be
    made is refused, for a gate without it would always pass. `command` and `typed` are what was typed: all of it,
    and the data with how to read it.
    """
    refuse_unknown(columns, audit, ROLES)
    bounds = parsed_gates(gates)
    loaded = load_data(data, {}, [*columns.values(), *filter(None, [parts])])
    vectors = None if using is None else api.vectors_of(loaded, using, seed)
    cut, columns = split_of(loaded, split, parts), with_links(loaded, columns)
    subject = Subject(loaded, cut, columns, vectors, near, semantic, seed, typed)
    about = _about(subject) | {
        "columns": dict(subject.columns), "thresholds": {"near": subject.near, "semantic": subject.semantic},
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        audited = made(subject, checks)
        skipped = [f"{finding.check}: {finding.message}" for finding in audited.findings if finding.level == "skipped"]
        if checks is not None and len(audited.findings) - len(skipped) < len(checks) and skipped:
            raise InputError("a check that was asked for cannot be made", problems=skipped)
        write_leaks(subject.data, audited.leaks, folder / "leaks.csv", texts)
        return Output(audited.measurements, audited.findings)

    return carry_through("audit", about, work, out=out, command=command, gates=bounds)


def audit_pipeline(
    fit: Any,
    data: Any,
    split: Split | str | Path | None = None,
    *,
    parts: str | None = None,
    test: float | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = GATES,
    command: str | None = None,
    seed: int = 42,
    **options: Any,
) -> Result:
    """Change the test rows and see whether a pipeline notices, which proves a leak.

    `data` is what `unseen.load` takes, or a Dataset; `split` a Split or a file of anybody's, or instead `parts`, the
    attribute that names each row's part. A pipeline that needs a split and is given none has a random one, `test` of
    the rows for testing. `name` is how the pipeline is called in the report; `options` are those of
    `unseen.audits.pipelines.audit_pipeline`. Nothing is written for a pipeline that cannot be audited as asked.
    """
    refuse_unknown(options, audit_pipeline, named_settings(prepared))
    data = load_data(data, {}, [parts] if parts else [])
    split = split_of(data, split, parts)
    if split is not None and test is not None:
        raise InputError("test has no effect with a split", fix="leave one of them out")
    fit = open_pipeline(fit)
    if split is None:
        split = default_split(fit, data, shape=options.get("shape"), test=test, seed=seed)
    pipeline, experiments = prepared(fit, data, split, **options)
    about = _about(Subject(data, split, seed=seed)) | {
        "pipeline": name or pipeline.name, "shape": pipeline.shape, "experiments": experiments,
        "planted": options.get("planted"), "settings": pipeline.settings,
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        audited = experimented(pipeline.fit, data, split, seed=seed, **options)
        return Output(audited.measurements, audited.findings, data=data)

    return carry_through("pipeline-audit", about, work, out=out, command=command, gates=gates)


def _about(subject: Subject) -> dict[str, Any]:
    return {
        "data": described_data(subject.data), "split": described_split(subject.split), "seed": subject.seed,
    }  # fmt: skip


def page(record: RunRecord) -> Page:
    """What an audit found, the gravest first."""
    about, findings = record.about, sorted_findings(record.findings)
    data, split = about["data"], about["split"]
    tables = {"leaks": leak_table(record), "baselines": baseline_table(record), "authors": concentration_table(record)}
    shown = with_lines(tables)
    of_data = data["name"] + (f", split {split['name']}" if split else "")
    thresholds = about.get("thresholds")
    note = (
        f"Near-duplicates have at least {thresholds['near']} of their 5-character pieces in common; the same vector "
        f"is a cosine of at least {thresholds['semantic']}."
        if thresholds
        else ""
    )
    columns = about.get("columns") or {}
    if columns:
        note += f" Columns: {', '.join(f'{role} {column}' for role, column in columns.items())}."
    return Page(
        "audit",
        f"{about['pipeline']} on {of_data}" if "pipeline" in about else of_data,
        verdict(findings) if record.kind == "audit" else _proven(verdict(findings), findings),
        subtitle=f"{data['rows']:,} rows: {counted(data['counts'])}"
        + (f" · {counted(split['sizes'])}" if split else ""),
        sections=[
            Section("Findings", findings=findings, note=note),
            *(Section(table.title, tables=[table]) for table in shown.values()),
        ],
        tables=shown,
        printed=[finding_table(findings)],
        printed_findings=[
            finding
            for finding in findings
            if finding.advice and (finding.level in ("fail", "warn") or record.kind == "pipeline-audit")
        ],
        files={"leaked rows": "leaks.csv"} if split and record.kind == "audit" else {},
    )


def verdict(findings: Sequence[Finding]) -> Verdict:
    """The gravest level, the answer in a sentence, and how many checks it rests on."""
    counts = {level: sum(finding.level == level for finding in findings) for level in ("fail", "warn", "ok", "skipped")}
    made = len(findings) - counts["skipped"]
    rest = [f"{made} checks were made, of which {counts['ok']} passed; {counts['skipped']} could not be made."]
    if counts["fail"]:
        worst = next(finding for finding in findings if finding.level == "fail")
        others = "" if counts["fail"] == 1 else f" {counts['fail'] - 1} more failed."
        return Verdict(f"{worst.message}{others}", rest, "fail", badge="not sound")
    if counts["warn"]:
        checks = f"{counts['warn']} check" if counts["warn"] == 1 else f"{counts['warn']} checks"
        return Verdict(f"Nothing failed; {checks} found something to look at.", rest, "warn", badge="look closer")
    return Verdict("No check found anything.", rest, "ok", badge="sound")


def _proven(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """With how many experiments prove a leak."""
    failed = sum(finding.level == "fail" for finding in findings)
    proven = "1 experiment proves" if failed == 1 else f"{failed} experiments prove"
    sentence = f"{proven} that test rows are used." if failed else "No experiment proves a leak."
    return replace(verdict, sentences=[*verdict.sentences, sentence])


def finding_table(findings: Sequence[Finding]) -> Table:
    """Every finding, as the command line lists them."""
    lines = tuple((finding.level, finding.check, finding.message) for finding in findings)
    return Table("Findings", ("level", "check", "what was found"), lines)


def leak_table(record: RunRecord) -> Table:
    """How much of the test part each kind of tie gives away."""
    lines = [
        (LEAKED.get(kind, kind), round((row.value or 0) * row.n), row.n, number(row.value), _interval(row))
        for row in record.measurements
        if (kind := row.metric.removeprefix("leaked.")) != row.metric and row.value is not None
    ]
    note = "Test rows that are tied to a training or development row."
    return Table(
        "Ties between test and training", ("tie", "test rows", "of", "share", "95 % interval"), tuple(lines), note
    )


def baseline_table(record: RunRecord) -> Table:
    """What is scored without reading a text."""
    lines = [
        (str(row.tags["baseline"]), row.metric, number(row.value), _interval(row))
        for row in record.measurements
        if "baseline" in row.tags
    ]
    return Table("What needs no reading", ("what it knows", "metric", "score", "95 % interval"), tuple(lines))


def _interval(row: Measurement) -> str:
    return "" if row.low is None or row.high is None else f"{number(row.low)} to {number(row.high)}"
