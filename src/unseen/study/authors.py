"""The author audit: concentration, what names alone give away, and the score on unseen authors, to the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen import api
from unseen.audits.authors import (
    Writers,
    author_findings,
    concentration,
    estimate_shared_authors,
    know_the_author,
    lorenz,
)
from unseen.audits.price import random_removals
from unseen.errors import InfeasibleError, InputError, UnknownNameError
from unseen.evaluation.metrics import metric as metric_of
from unseen.evaluation.runs import Run, fall, level
from unseen.reports.author_page import write_author_page
from unseen.seeding import generator
from unseen.splits.caps import within_cap
from unseen.store import write_findings, write_measurements
from unseen.store.results import Results
from unseen.study.about import used_versions
from unseen.study.arms import Arm, Chosen, answers
from unseen.study.audit import FAIL_ON
from unseen.study.folder import RunFolder
from unseen.study.spaces import Model
from unseen.types import Dataset, Finding, Measurement, Split

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
CAP = 250
"""Rows per author and class that a capped training part has at most, as in the published remedy."""
NEEDED = "Give the data with an author column, or --calibrate DATA with --calibrate-author COLUMN."


@dataclass(frozen=True)
class UnseenAuthors:
    """How the score on unseen authors is measured."""

    model: Model = field(default_factory=lambda: Model("logistic"))
    metric: str = "f1.macro"
    seeds: int = 3
    """Splits of each kind, each with a training of its own."""
    share: float = 0.2
    """Of the rows, for testing."""
    cap: int = CAP
    seed: int = 42

    def __post_init__(self) -> None:
        metric_of(self.metric)
        if self.seeds < 1 or self.cap < 1:
            raise InputError("seeds and cap are at least 1", got=f"{self.seeds} and {self.cap}")


@dataclass(frozen=True)
class AuthorAudit:
    """What is known of the authors of a dataset."""

    measurements: tuple[Measurement, ...]
    findings: tuple[Finding, ...]
    report: Path | None = None
    passed: bool = True
    """Whether no finding is of a level to fail on."""


def author_audit(
    data: Dataset,
    split: Split | None = None,
    author: str | None = None,
    how: UnseenAuthors | None = None,
    *,
    calibration: tuple[Dataset, str] | None = None,
    fail_on: str = "never",
    out: str | Path | None = None,
    workers: int = 1,
    command: str | None = None,
) -> AuthorAudit:
    """Everything about the authors that the attribute `author` names, or an estimate where there is none.

    `calibration` is another dataset and its author attribute: what the estimate learns style from. Without `how`
    nothing is trained. Without `out` nothing is written. `fail_on` is the gravest level that does not pass: fail, warn
    (both), or never.
    """
    if fail_on not in FAIL_ON:
        raise UnknownNameError.of("level to fail on", fail_on, FAIL_ON)
    if author is not None and calibration is not None:
        raise InputError("a calibration has no effect where the authors are known")
    if author is None and how is not None:
        raise InputError("a model has no effect where no author is known: there are no unseen authors to test on")
    _refuse_empty(data, split, author, how)
    if out is None:
        rows, findings = _audited(data, split, author, how, calibration, None, workers)
        return AuthorAudit(tuple(rows), tuple(findings), None, _passed(findings, fail_on))
    folder = RunFolder(out)
    with folder.locked():
        about = _about(data, split, author, how, calibration, command)
        folder.begin(about)
        rows, findings = _audited(data, split, author, how, calibration, folder.results, workers)
        write_measurements(rows, folder / "measurements.csv")
        write_findings(findings, folder / "findings.csv")
        folder.finish(about)
        page = write_author_page(folder.path)
        return AuthorAudit(tuple(rows), tuple(findings), page, _passed(findings, fail_on))


def _passed(findings: Iterable[Finding], fail_on: str) -> bool:
    return not any(each.level in FAIL_ON[fail_on] for each in findings)


def _refuse_empty(data: Dataset, split: Split | None, author: str | None, how: UnseenAuthors | None) -> None:
    """A split without a side, and trainings for authors that nobody knows."""
    if split is not None:
        cut = split.of(data)
        lacking = [part for part in ("train", "test") if not len(cut.rows(part))]
        if lacking:
            raise InputError(f"the split {split.name!r} has no {' and no '.join(lacking)} rows", got=str(cut.sizes))
    if author is not None and how is not None and not Writers.of(data, author).count:
        raise InputError(f"no row has a value in {author!r}: there are no unseen authors to test on")


def _audited(
    data: Dataset,
    split: Split | None,
    author: str | None,
    how: UnseenAuthors | None,
    calibration: tuple[Dataset, str] | None,
    results: Results | None,
    workers: int,
) -> tuple[list[Measurement], list[Finding]]:
    if author is None:
        return _estimated(data, split, calibration)
    writers = Writers.of(data, author)
    rows = [*concentration(data, author), *lorenz(data, author)]
    rows += know_the_author(data, split, author) if writers.count else []
    notes: list[Finding] = []
    known = data.take(np.flatnonzero(writers.known))
    if how is not None and len(np.unique(known.labels)) < 2:
        message = "The score on unseen authors was not measured: the rows with a known author have one label only."
        notes = [Finding("unseen_authors", "skipped", message, len(known))]
    elif how is not None:
        try:
            rows += unseen_authors(known, author, how, results, workers)
        except InfeasibleError as cause:
            message = f"The score on unseen authors was not measured: {cause.message}."
            notes = [Finding("unseen_authors", "skipped", message, advice="Collect more authors.")]
    return rows, [*author_findings(rows), *notes]


def _estimated(
    data: Dataset, split: Split | None, calibration: tuple[Dataset, str] | None
) -> tuple[list[Measurement], list[Finding]]:
    """The estimate without authors, or why there is none."""
    if calibration is None:
        message = (
            "Nothing is known about the authors, and no estimate was made: without calibration it would have no "
            "measured error."
        )
        return [], [Finding("estimated_authors", "skipped", message, advice=NEEDED)]
    cut = split or api.split(data, "random", test=UnseenAuthors.share)
    rows = estimate_shared_authors(data, cut, *calibration)
    return rows, author_findings(rows)


def unseen_authors(
    data: Dataset, author: str, how: UnseenAuthors, results: Results | None = None, workers: int = 1
) -> list[Measurement]:
    """Levels on random and on author-disjoint splits of equal size and mix, and the fall from one to the other.

    Every row needs an author. Splits are checked on their final rows: `authors_on_both_sides` counts authors in
    training and test. Where `cap` takes rows away, `capped` trains with at most so many per author and class, and
    `thinned` without as many random rows of the same labels: the fall from one to the other is what capping does.
    """
    writers = Writers.of(data, author)
    cuts = {name: cut for seed in range(how.seed, how.seed + how.seeds) for name, cut in _cuts(data, author, how, seed)}
    arms = {}
    for (family, seed), (train, dev, test) in cuts.items():
        asked = {"test": data.take(test)}
        arms[family, seed] = Arm(f"{family} {seed}", Chosen(data, train), Chosen(data, dev), asked, seed)
    said = answers(list(arms.values()), how.model, results, workers=workers)
    families: dict[str, list[Run]] = {}
    for (family, seed), (_, _, test) in cuts.items():
        run = Run.of(
            data, said[f"{family} {seed}"]["test"], test, split=f"{family}-{seed}", family=family, seed=seed,
            groups=author,
        )  # fmt: skip
        families.setdefault(family, []).append(run)
    found = [row for family, runs in families.items() for row in level(runs, how.metric, tags=_tags(family))]
    found.append(fall(families["random"], families["grouped"], how.metric, tags=_tags("grouped", "random")))
    if "capped" in families:
        found.append(fall(families["thinned"], families["capped"], how.metric, tags=_tags("capped", "thinned")))
    for (family, seed), (train, dev, test) in cuts.items():
        both = np.intersect1d(writers.code[np.concatenate([train, dev])], writers.code[test])
        tags: dict[str, str | int | float] = {**_tags(family), "seed": seed, "trained": len(train), "cap": how.cap}
        found.append(Measurement("authors_on_both_sides", float(len(both)), len(test), tags=tags))
    return found


def _cuts(
    data: Dataset, author: str, how: UnseenAuthors, seed: int
) -> list[tuple[tuple[str, int], tuple[Rows, Rows, Rows]]]:
    """Training, tuning and test rows of each family of splits."""
    grouped = api.split(data, "grouped", groups=author, test=how.share, dev=how.share / 2, seed=seed)
    sizes, got = grouped.sizes, grouped.certificate.got
    mix = {label: got[label] / sizes["test"] for label in got}
    random = api.split(data, "random", test=sizes["test"], dev=sizes.get("dev", 0), mix=mix, seed=seed)
    found = [((cut.name, seed), _parts(data, cut)) for cut in (random, grouped)]
    train, dev, test = found[1][1]
    dropped = over_cap(Writers.of(data, author).code[train], data.labels[train], how.cap, seed)
    if dropped.any():
        thinned = next(iter(random_removals(data.labels[train], dropped, 1, generator(seed, "thinned"))))[0]
        found += [(("capped", seed), (train[~dropped], dev, test)), (("thinned", seed), (train[~thinned], dev, test))]
    return found


def over_cap(author: Rows, labels: npt.NDArray[np.integer], most: int, seed: int) -> Mask:
    """Rows beyond the `most` that each author may have of each label; which of them stay is drawn."""
    cells = author * (int(labels.max(initial=0)) + 1) + labels
    return ~within_cap(cells, most, generator(seed, "cap"))


def _parts(data: Dataset, cut: Split) -> tuple[Rows, Rows, Rows]:
    """Rows of train, dev and test in the order of their ids, so that the order of the file decides nothing."""
    rank = np.argsort(np.argsort(np.asarray(data.ids.to_pylist(), dtype=object), kind="stable"))
    train, dev, test = (rows[np.argsort(rank[rows])] for rows in map(cut.rows, ("train", "dev", "test")))
    return train, dev, test


def _tags(family: str, than: str | None = None) -> dict[str, str]:
    return {"split": family, "part": "test", **({} if than is None else {"than": than})}


def _about(
    data: Dataset, split: Split | None, author: str | None, how: UnseenAuthors | None,
    calibration: tuple[Dataset, str] | None, command: str | None,
) -> dict[str, Any]:  # fmt: skip
    measured: Mapping[str, Any] = {} if how is None else {
        "model": how.model.described, "metric": how.metric, "seeds": how.seeds, "test": how.share, "cap": how.cap,
        "seed": how.seed,
    }  # fmt: skip
    other = None if calibration is None else {"name": calibration[0].name, "fingerprint": calibration[0].fingerprint}
    return {
        "kind": "authors",
        "command": command or f"author_audit({data.name!r}, {author!r})",
        "data": {"name": data.name, "rows": len(data), "fingerprint": data.fingerprint},
        "split": None if split is None else {"name": split.name, "sizes": split.sizes},
        "settings": {"author": author, "calibration": other, **measured},
        "versions": used_versions(),
    }
