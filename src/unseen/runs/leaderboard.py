"""A folder of predictions becomes a leaderboard: every measure of every model computed here, from what they answered.

Whoever sends predictions in cannot choose the measure, the rows or the averaging; and where measures disagree about who
is better, the page says so.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unseen.errors import InputError, UnknownNameError, UnseenError
from unseen.evaluation.boards import Board, board_measurements
from unseen.evaluation.falls import Run
from unseen.evaluation.gates import Gate
from unseen.evaluation.measurements import aligned, groups_of_rows
from unseen.evaluation.wording import called
from unseen.reports.board_page import (
    BoardView,
    agreement_section,
    flip_table,
    leader_headline,
    leader_sentences,
    outcome_table,
    rank_section,
    rank_table,
    score_section,
    score_table,
    sweep_section,
)
from unseen.reports.formats import Table
from unseen.reports.hub_results import write_model_indexes
from unseen.reports.page import Page, Section, Verdict, sorted_findings, with_lines
from unseen.reports.record import RunRecord
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.source import load_data, split_of
from unseen.store import read_predictions
from unseen.store.files import file_name
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Split, some
from unseen.types.arrays import Rows
from unseen.types.numbers import scored

METRICS = ("f1.macro", "accuracy", "f1.weighted", "f1.dodrans", "f1.entropy", "recall.macro")
OF_PROBABILITIES = ("log_loss", "ece.15")
SUFFIXES = (".csv", ".parquet")
SEED = re.compile(r"(?P<model>.+)\.seed-(?P<seed>\d+)")
HUB = "hub"
"""Folder of the result files for the hub."""


def leaderboard(
    folder: str | Path,
    data: Any,
    *,
    metrics: Sequence[str] = (),
    splits: Mapping[str, Split | str | Path] | None = None,
    groups: str | None = None,
    rename: Mapping[str, str] | None = None,
    reference: str | None = None,
    out: str | Path | None = None,
    seed: int = 42,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
) -> Result:
    """Measure every file of predictions in `folder` on the same rows, and rank the models by every metric.

    `data` is what `unseen.load` takes, or a Dataset; or several by name. A file is called like its model, `MODEL.csv`
    or `MODEL.seed-42.parquet` where there are several trainings of it; of several datasets the files of each lie in a
    folder of its name. `splits` names the rows to be tested, the test part of each; without one, every row. The first
    of `metrics` is the main one. A file that lacks rows is left out, and the page says so.
    """
    named = list(filter(None, [groups]))
    if isinstance(data, Mapping):
        datasets = {name: load_data(one, {}, named) for name, one in data.items()}
    else:
        single = load_data(data, {}, named)
        datasets = {single.name: single}
    files = _files(Path(folder), list(datasets))
    rows = {name: _tested(dataset, split_of(dataset, (splits or {}).get(name))) for name, dataset in datasets.items()}
    cells: dict[str, dict[str, list[Run]]] = {}
    findings: list[Finding] = []
    hard = False
    for name, dataset in datasets.items():
        group = groups_of_rows(dataset, rows[name], groups)
        for model, of_seeds in files[name].items():
            try:
                answers = {number: read_predictions(path, dataset, rename) for number, path in of_seeds.items()}
                runs = [
                    Run(
                        name, model, number, dataset.labels[rows[name]], aligned(dataset, own, rows[name]),
                        dataset.label_names, group, name,
                    )
                    for number, own in answers.items()
                ]  # fmt: skip
            except UnseenError as cause:
                why = "; ".join([cause.message, *cause.problems])
                findings.append(Finding(f"left out[{name}: {model}]", "fail", f"{model} on {name}: {why}"))
                continue
            hard |= any(own.origin.params.get("hard") for own in answers.values())
            cells.setdefault(name, {})[model] = runs
    if not cells:
        raise InputError("no file of predictions can be measured", problems=[finding.message for finding in findings])
    board = Board(cells)
    if reference is not None and reference not in board.models:
        raise UnknownNameError.of("model", reference, board.models)
    chosen = list(metrics) or [*METRICS, *(() if hard else OF_PROBABILITIES)]
    about = {
        "data": {name: described_data(dataset) | {"tested": len(rows[name])} for name, dataset in datasets.items()},
        "models": {model: sorted({run.seed for of in cells.values() for run in of.get(model, ())}) for model in
                   board.models},
        "settings": {"metric": chosen[0], "metrics": chosen, "groups": groups, "reference": reference, "seed": seed},
    }  # fmt: skip

    def work(place: RunFolder) -> Output:
        measurements = board_measurements(board, chosen, reference, seed)
        shutil.rmtree(place / HUB, ignore_errors=True)
        write_model_indexes(measurements, chosen, place / HUB)
        return Output(measurements, findings)

    return carry_through("leaderboard", about, work, out=out, gates=gates, command=command)


def _files(folder: Path, datasets: Sequence[str]) -> dict[str, dict[str, dict[int, Path]]]:
    """Files of predictions by dataset, model and seed."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    files: dict[str, dict[str, dict[int, Path]]] = {}
    for name in datasets:
        place = folder if len(datasets) == 1 and not (folder / name).is_dir() else folder / name
        files[name] = {}
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if path.suffix in SUFFIXES and path.is_file():
                named = SEED.fullmatch(path.stem)
                model, seed = (named["model"], int(named["seed"])) if named else (path.stem, 0)
                of_seeds = files[name].setdefault(model, {})
                if seed in of_seeds:
                    raise InputError(f"two files are of one training: {of_seeds[seed].name} and {path.name}")
                of_seeds[seed] = path
    if not any(files.values()):
        where = f"{folder}/NAME for each of {some(datasets)}" if len(datasets) > 1 else str(folder)
        raise InputError("there are no predictions", expected=f"MODEL.csv or MODEL.seed-42.parquet in {where}")
    return files


def _tested(data: Dataset, split: Split | None) -> Rows:
    return np.arange(len(data)) if split is None else split.of(data).rows("test")


def page(record: RunRecord) -> Page:
    """Models × measures, ranks, and where measures disagree."""
    board = BoardView(record)
    shown = tables(board)
    sections = [
        Section("Models and measures", tables=[shown[f"measures-{file_name(name)}"] for name in board.datasets]),
        *([score_section(board, "Datasets")] if len(board.datasets) > 1 else []),
        *([_ranked(board)] if len(board.models) > 1 else []),
        *filter(None, [agreement_section(board), sweep_section(board)]),
        Section("Files", findings=sorted_findings(record.findings) or None),
    ]
    datasets = ", ".join(f"{name} ({about['tested']:,} texts)" for name, about in record.about["data"].items())
    return Page(
        "leaderboard", "Leaderboard", verdict(board), f"{datasets} · {len(board.models)} models",
        "In brackets: 95 % intervals. Everything was computed from the predictions, on the same rows for all models.",
        [section for section in sections if section.tables or section.findings or section.pictures or section.text],
        shown, [shown[f"measures-{file_name(name)}"] for name in board.datasets],
        [finding for finding in record.findings if finding.level != "ok"],
        {"results for the Hugging Face hub": f"{HUB}/"},
    )  # fmt: skip


def _ranked(board: BoardView) -> Section:
    """Ranks over several datasets; of one, who is better than whom by more than chance."""
    if len(board.datasets) > 1:
        return rank_section(board, "Ranks")
    return Section("Who is better", tables=[outcome_table(board)])


def verdict(board: BoardView) -> Verdict:
    """Who leads by the main metric, who is not told apart from it, and which measures put another model first."""
    (first, *close), left_out = board.leaders, len(board.record.findings)
    sentences = list(leader_sentences(board))
    others = {name: min(board.models, key=lambda model: _rank(board, model, name)) for name in board.metrics}
    differing = [f"{model} by {called(name)}" for name, model in others.items() if model != first]
    if differing:
        sentences.append(f"Other measures put another model first: {', '.join(differing)}.")
    if left_out:
        sentences.append("1 file was left out." if left_out == 1 else f"{left_out} files were left out.")
    badge = "one model" if len(board.models) == 1 else "no clear winner" if close else "a clear winner"
    return Verdict(leader_headline(board), sentences, "warn" if close else "ok", badge=badge)


def _rank(board: BoardView, model: str, metric: str) -> float:
    row = board.average(model, metric)
    return float("inf") if row is None or row.value is None else row.value


def tables(board: BoardView) -> dict[str, Table]:
    """Every table by the name of its file."""
    named = {f"measures-{file_name(name)}": measure_table(board, name) for name in board.datasets}
    if len(board.datasets) > 1:
        metrics = board.metrics or [board.record.metric]
        named |= {f"scores-{file_name(metric)}": score_table(board, metric) for metric in metrics}
    if len(board.models) > 1:
        named |= {"ranks": rank_table(board), "outcomes": outcome_table(board)}
    return with_lines(named | {"flips": flip_table(board)})


def measure_table(board: BoardView, data: str) -> Table:
    """Every measure of every model on one dataset, with intervals."""
    metrics: list[str] = board.record.about["settings"]["metrics"]
    lines: list[tuple[Any, ...]] = [
        (model, *(scored(board.level(model, metric, data=data)) for metric in metrics)) for model in board.models
    ]
    note = "95 % intervals over training seeds, where there are several, and over texts."
    return Table(f"Models × measures on {data}", ("model", *map(called, metrics)), tuple(lines), note)
