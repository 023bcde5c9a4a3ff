"""An audit from data to report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.audits.audit import Audit, audit
from unseen.audits.pipelines import PipelineAudit, audit_pipeline, prepared
from unseen.audits.subject import Subject
from unseen.errors import InputError, UnknownNameError
from unseen.reports.audit_page import write_audit_page
from unseen.store import atomic, write_findings, write_measurements
from unseen.store.files import csv_rows, harmless
from unseen.study.about import used_versions
from unseen.study.folder import RunFolder
from unseen.types import Dataset, Split

FAIL_ON = {"fail": ("fail",), "warn": ("fail", "warn"), "never": ()}


@dataclass(frozen=True)
class Audited:
    """What came of an audit."""

    audit: Audit
    report: Path | None
    passed: bool


def audit_data(
    subject: Subject,
    *,
    checks: Sequence[str] | None = None,
    fail_on: str = "fail",
    out: str | Path | None = None,
    texts: bool = False,
    command: str | None = None,
) -> Audited:
    """Make the checks and, with `out`, write the folder of it: findings, measurements, leaks row by row, report.

    `fail_on` is the gravest level that does not pass: fail, warn (both), or never. `texts` puts the texts of leaked
    rows and of their counterparts into leaks.csv.
    """
    if fail_on not in FAIL_ON:
        raise UnknownNameError.of("level to fail on", fail_on, FAIL_ON)
    if out is None:
        found = _made(subject, checks)
        return Audited(found, None, _passed(found, fail_on))
    folder = RunFolder(out)
    with folder.locked():
        folder.begin(_about(subject, command))
        found = _made(subject, checks)
        write_findings(found.findings, folder / "findings.csv")
        write_measurements(found.measurements, folder / "measurements.csv")
        _write_leaks(found, subject, texts, folder / "leaks.csv")
        folder.finish(_about(subject, command))
        return Audited(found, write_audit_page(folder.path), _passed(found, fail_on))


def audit_pipeline_to(
    out: str | Path,
    fit: Any,
    data: Dataset,
    split: Split | None = None,
    *,
    name: str | None = None,
    command: str | None = None,
    seed: int = 42,
    **options: Any,
) -> tuple[PipelineAudit, Path]:
    """Audit a pipeline and write the folder of it: findings, measurements and report; the audit and the page's path.

    `name` is how the pipeline is called in the report; `options` are those of `audit_pipeline`. Nothing is written
    for a pipeline that cannot be audited as asked.
    """
    pipeline, experiments = prepared(fit, data, split, **options)
    called = name or pipeline.name
    about = _about(Subject(data, split, seed=seed), command or f"audit_pipeline({called!r}, {data.name!r})") | {
        "kind": "pipeline-audit", "pipeline": called, "shape": pipeline.shape, "experiments": experiments,
        "planted": options.get("planted"), "settings": pipeline.settings, "passed": None,
    }  # fmt: skip
    folder = RunFolder(out)
    with folder.locked():
        folder.begin(about)
        found = audit_pipeline(pipeline.fit, data, split, seed=seed, **options)
        write_findings(found.findings, folder / "findings.csv")
        write_measurements(found.measurements, folder / "measurements.csv")
        folder.finish(about | {"passed": found.passed})
        return found, write_audit_page(folder.path)


def _made(subject: Subject, checks: Sequence[str] | None) -> Audit:
    """The audit; refuses a check that was named and cannot be made, for a gate without it would always pass."""
    found = audit(subject, checks)
    made = [each for each in found.findings if each.level != "skipped"]
    skipped = [f"{each.check}: {each.message}" for each in found.findings if each.level == "skipped"]
    if checks is not None and len(made) < len(checks) and skipped:
        raise InputError("a check that was asked for cannot be made", problems=skipped)
    return found


def _passed(found: Audit, fail_on: str) -> bool:
    return not any(finding.level in FAIL_ON[fail_on] for finding in found.findings)


def _write_leaks(found: Audit, subject: Subject, texts: bool, path: Path) -> None:
    ids, content = subject.data.ids, subject.data.texts
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(["kind", "test_id", "train_id", "similarity", *(["test_text", "train_text"] if texts else [])])
        for leak in found.leaks:
            for test, train, similarity in zip(leak.test, leak.partner, leak.similarity, strict=True):
                rows = int(test), int(train)
                more = [harmless(content[row].as_py()) for row in rows] if texts else []
                write_row([leak.kind, *(harmless(ids[row].as_py()) for row in rows), f"{similarity:.4f}", *more])


def _about(subject: Subject, command: str | None) -> dict[str, Any]:
    data, split = subject.data, subject.split
    described: Mapping[str, Any] | None = None
    if split is not None:
        described = {"name": split.name, "sizes": split.sizes, "made_by": split.origin.step}
    return {
        "kind": "audit",
        "command": command or f"audit({data.name!r})",
        "data": {"name": data.name, "rows": len(data), "counts": data.label_counts, "fingerprint": data.fingerprint},
        "split": described,
        "columns": dict(subject.columns),
        "thresholds": {"near": subject.near, "semantic": subject.semantic},
        "seed": subject.seed,
        "versions": used_versions(),
    }
