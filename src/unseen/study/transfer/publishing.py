"""The files of a transfer, where people look for them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from unseen.store import write_findings, write_measurements, write_predictions, write_split
from unseen.store.files import file_name
from unseen.study.folder import RunFolder
from unseen.study.transfer.corpus import Corpus
from unseen.study.transfer.scores import Answers
from unseen.types import Finding, Measurement


def publish(
    corpus: Corpus, answers: Answers, rows: Sequence[Measurement], findings: Sequence[Finding], folder: RunFolder
) -> None:
    """Put numbers, findings, splits and predictions where people look for them; what other settings left is gone."""
    for stale in ("predictions", "splits", "tables"):
        shutil.rmtree(folder / stale, ignore_errors=True)
    for member in corpus.members:
        write_split(member.parts, folder / "splits" / f"{file_name(member.name)}.csv")
    for (name, seed), asked in answers.items():
        for test, predictions in asked.items():
            file = f"{file_name(test)}.seed-{seed}.parquet"
            write_predictions(predictions, folder / "predictions" / file_name(name) / file)
    write_measurements(rows, folder / "measurements.csv")
    write_findings(findings, folder / "findings.csv")
