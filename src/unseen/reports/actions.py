"""What to do after a run, the most useful first, each with a file or a command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from unseen.evaluation.wording import amount, called, higher_is_better
from unseen.reports.case import VISIBLE, Case, cases, hardest_split, newest
from unseen.reports.record import BASELINE, RunRecord
from unseen.store.files import harmless, write_rows
from unseen.store.run_folder import with_option
from unseen.types.numbers import number, percent

ACTIONS, SUSPECTS = "actions.csv", "suspects.csv"
TO_READ = 50
"""Texts that people are asked to read where label noise cannot be told from the data."""
CLUSTERS, WORDS = 3, 5
"""Clusters that are named, and words of each."""
NOISY = 0.05
"""Share of wrong labels from which on they are worth checking anywhere."""
SLICES = 3
FEW = 30
"""Slices with fewer texts are weak by luck."""
LEAKS = re.compile(r"^(exact_duplicates|near_duplicates)\[(?P<split>.+)\]$")
SEEDS = "42,55,83"


@dataclass(frozen=True)
class Action:
    """One thing to do."""

    action: str
    """relabel, review, collect, slice, leak, seeds or control."""
    what: str
    """In a sentence."""
    points: float | None = None
    """How much of the main metric it is about; None where that is not known."""
    count: int = 0
    """Texts that it is about."""
    file: str = ""
    """In the run folder."""
    command: str = ""

    def __str__(self) -> str:
        return self.what + "".join(f" → {place}" for place in (self.file, self.command) if place)


def actions(run: RunRecord) -> list[Action]:
    """What to do, the most points first, then what has no points."""
    falls = cases(run)
    if not falls:
        return []
    todo = [*_labels(falls[0]), *_collect(run), *_slices(run), *_leaks(run), *_certainty(falls[0])]
    return sorted(todo, key=lambda action: (action.points is None, -(action.points or 0.0)))


def write_actions(folder: Path, actions: Sequence[Action]) -> None:
    """Write `actions.csv` into a run folder: rank, then the fields of an `Action`."""
    rows = (
        [rank, *("" if value is None else harmless(str(value)) for value in asdict(action).values())]
        for rank, action in enumerate(actions, start=1)
    )
    write_rows(folder / ACTIONS, ["rank", *(column.name for column in fields(Action))], rows)


def _labels(case: Case) -> Iterator[Action]:
    """Relabel what is suspect; where that cannot be told from the data, let people read it."""
    suspects = case.suspects
    if suspects is None or not suspects.value:
        return
    count = round(suspects.value * suspects.n)
    if case.noise is None:
        read = min(TO_READ, count)
        texts, are = ("row", "its text is") if read == 1 else (f"{read} rows", "their texts are")
        where = f"with {suspects.tags.get('split', case.family)} in the column test_of"
        what = f"Read the first {texts} of {SUSPECTS} {where}: whether {are} mislabelled or hard only people can tell"
        yield Action("review", what, None, read, SUSPECTS)
    elif case.is_noisier:
        gain = case.mislabelled if case.fell else None
        worth = "" if gain is None else f": wrong labels make up {amount(case.run.metric, gain)} of its fall"
        what = f"Check the {count} suspect labels in the test part of “{case.family}”{worth}"
        yield Action("relabel", what, gain, count, SUSPECTS)
    elif case.noise.low is not None and case.noise.low >= NOISY:
        what = (
            f"Check the {count} suspect labels in the test part of “{case.family}”, though they do not explain its fall"
        )
        yield Action("relabel", what, None, count, SUSPECTS)


def _collect(run: RunRecord) -> Iterator[Action]:
    """Collect texts like those that cost most by being unseen."""
    case = newest(run)
    if case is None or not case.is_new or case.novelty is None:
        return
    split = hardest_split(case)
    tested = sorted(
        (cluster for cluster in run.clusters if cluster.split == split.name and cluster.test),
        key=lambda cluster: -cluster.test,
    )
    words = "; ".join(", ".join(cluster.words[:WORDS]) for cluster in tested[:CLUSTERS] if cluster.words)
    of = f" like those of “{split.name}”" + (f", whose largest clusters speak of: {words}" if words else "")
    what = f"Collect and label more texts{of}; being unseen costs {amount(run.metric, case.novelty.value)} there"
    yield Action("collect", what, case.novelty.value, split.sizes["test"], f"splits/{split.name}.csv")


def _slices(run: RunRecord) -> Iterator[Action]:
    """Slices that are certainly weaker than the whole on random splits: even at the better end of their interval."""
    whole, sign = run.score(BASELINE), 1 if higher_is_better(run.metric) else -1
    names = dict.fromkeys(row.slice for row in run.measurements if row.metric == run.metric and "=" in row.slice)
    weak = []
    for name in names:
        row = run.score(BASELINE, slice=name)
        if whole is None or whole.value is None or row is None or row.value is None or row.n < FEW:
            continue
        at_best = row.high if sign > 0 else row.low
        if at_best is not None and sign * (whole.value - at_best) > 0:
            weak.append((sign * (whole.value - row.value), name, row))
    weak = [score for score in weak if score[0] >= VISIBLE]
    for loss, name, row in sorted(weak, key=lambda score: -score[0])[:SLICES]:
        what = f"{called(run.metric)} is {number(row.value)} there on random splits, {amount(run.metric, loss)} worse"
        yield Action("slice", f"Look at {name}: {what}", loss, row.n, "measurements.csv")


def _leaks(run: RunRecord) -> Iterator[Action]:
    """The random split whose test texts stand in training most often."""
    baselines = {split.name: split for split in run.of_family(BASELINE)}
    leaks = [
        (finding.count, match["split"])
        for finding in run.findings
        if finding.level in ("warn", "fail") and (match := LEAKS.match(finding.check)) and match["split"] in baselines
    ]
    if not leaks:
        return
    count, split = max(leaks)
    share = percent(count / max(1, baselines[split].sizes["test"]))
    what = f"Remove copies: {count} test texts of {split} ({share}) stand in training, which flatters the random score"
    yield Action("leak", what, None, count, "findings.csv", _repair(run, split))


def _repair(run: RunRecord, split: str) -> str:
    """The command that repairs a split; none where nobody typed its data, or only a part of that was split."""
    typed, limit = run.about.get("typed"), run.about["settings"].get("limit")
    if not typed or limit is not None:
        return ""
    file = shlex.quote(str(run.place / "splits" / f"{split}.csv"))
    return f"unseen split repair {typed} --split {file} --dedupe near -o repaired.csv"


def _again(run: RunRecord, option: str, value: str) -> str:
    """The command of the run with another value of an option, which takes its place."""
    typed = str(run.about.get("command") or "")
    changed = with_option(typed, option, value=value) if typed.startswith("unseen stress ") else None
    if changed is None:
        return f"unseen stress … {option} {value}"
    return changed if " --replace" in changed else f"{changed} --replace"


def _certainty(case: Case) -> Iterator[Action]:
    run = case.run
    if case.seeds < 2:
        what = "Train from more seeds: one training proves nothing"
        yield Action("seeds", what, command=_again(run, "--seeds", SEEDS))
    if case.novelty is None:
        what = "Score the same texts with the rest of their region in training, to tell new from hard"
        yield Action("control", what, command=_again(run, "--seen-folds", "2"))
