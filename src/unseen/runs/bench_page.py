"""What a benchmark says: verdict, tables, page."""

from __future__ import annotations

from collections.abc import Iterator

from unseen.evaluation.wording import called, duration
from unseen.reports.board_page import (
    BoardView,
    agreement_section,
    flip_table,
    gain_section,
    leader_headline,
    leader_sentences,
    outcome_table,
    rank_section,
    rank_table,
    score_section,
    score_table,
    sweep_section,
)
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, sorted_findings, with_lines
from unseen.reports.record import RunRecord
from unseen.reports.stress_tables import SPEED_COLUMNS, SPEED_NOTE, speed_cells
from unseen.runs.bench import ELSEWHERE, HARD, ORDINARY, VIEWS
from unseen.store.files import file_name
from unseen.types.numbers import DASH, number, points, scored

NAMES = {
    ORDINARY: "The ordinary score",
    ELSEWHERE: "Where it was not trained",
    HARD: "On latent-hard splits",
}
TEXTS = {
    ORDINARY: "On the published test part, or on every row once, in folds.",
    ELSEWHERE: (
        "Trained on one dataset of a family, tested on another (trained → tested), in the labels of the family. Test "
        "texts that another dataset of the family has too are left out."
    ),
    HARD: "One split of each dataset, cut in one latent space and the same for all models.",
}


def page(record: RunRecord) -> Page:
    """Which model, by which number, and where."""
    boards = {view: BoardView(record.where(view=view)) for view in VIEWS}
    boards = {view: board for view, board in boards.items() if board.datasets}
    shown = tables(record, boards)
    settings = record.about["settings"]
    return Page(
        "benchmark",
        record.about["title"],
        verdict(record, boards),
        f"{len(record.about['datasets'])} datasets · {', '.join(record.about['models'])} · {called(record.metric)}",
        "In brackets: 95 % intervals. Ranks and tests are of these datasets; families of alike ones count as often as "
        "they have members.",
        list(_sections(record, boards, shown, str(settings["reference"]))),
        shown,
        [score_table(boards[ORDINARY])] if ORDINARY in boards else [],
        [finding for finding in record.findings if finding.level != "ok"],
        {"which text is where": "splits/"},
    )


def _sections(
    record: RunRecord, boards: dict[str, BoardView], shown: dict[str, Table], reference: str
) -> Iterator[Section]:
    for view, board in boards.items():
        yield score_section(board, NAMES[view], TEXTS[view])
        if f"falls-{view}" in shown:
            yield Section(f"{NAMES[view]}: falls", tables=[shown[f"falls-{view}"]])
        yield rank_section(board, f"{NAMES[view]}: ranks")
    if ORDINARY in boards:
        board = boards[ORDINARY]
        yield from filter(None, [gain_section(board, reference), agreement_section(board), sweep_section(board)])
    yield Section("Data", tables=[shown["data"]], findings=sorted_findings(record.findings))
    yield Section("What it cost", tables=[shown["costs"]])


def verdict(record: RunRecord, boards: dict[str, BoardView]) -> Verdict:
    """Who leads, whether that is more than chance, and whether it stays so where models were not trained.

    `warn`: the leader is not told apart, or another one leads in another view; `fail`: a training failed.
    """
    if ORDINARY not in boards or not boards[ORDINARY].models:
        return Verdict("No verdict: no model was tested.", [], "fail")
    ordinary = boards[ORDINARY]
    alone = len(ordinary.leaders) == 1
    sentences, changed = ([], []) if len(ordinary.models) == 1 else _where_it_leads(boards)
    failed = [finding for finding in record.findings if finding.check.startswith("failed[")]
    if failed:
        sentences.append(f"{len(failed)} steps failed: their cells are empty.")
    headline = leader_headline(ordinary)
    if failed:
        return Verdict(headline, sentences, "fail", badge="incomplete")
    if len(ordinary.models) == 1:
        return Verdict(headline, sentences, "ok", badge="one model")
    if changed or not alone:
        return Verdict(headline, sentences, "warn", badge="not everywhere" if alone else "no clear winner")
    return Verdict(headline, sentences, "ok", badge="a clear winner")


def _where_it_leads(boards: dict[str, BoardView]) -> tuple[list[str], list[str]]:
    """Sentences about the leader in every view, and the views in which another one leads."""
    ordinary = boards[ORDINARY]
    leader, sentences = ordinary.models[0], list(leader_sentences(ordinary))
    changed = []
    for view, board in boards.items():
        if view == ORDINARY:
            continue
        first = board.models[0]
        if board.first == [leader]:
            sentences.append(f"{NAMES[view]}, it leads too.")
        elif leader in board.first:
            others_first = ", ".join(model for model in board.first if model != leader)
            sentences.append(f"{NAMES[view]}, it shares the best average rank with {others_first}.")
        elif leader in board.leaders:
            sentences.append(f"{NAMES[view]}, {first} leads, and {leader} is not told apart from it.")
        else:
            changed.append(view)
            sentences.append(f"{NAMES[view]}, {first} leads, and {leader} falls behind.")
    best = {data: ordinary.best(data) for data in ordinary.datasets}
    sentences.append(f"It has the best score on {list(best.values()).count(leader)} of {len(best)} datasets.")
    flips = [line for line in flip_table(ordinary).rows if line[4]]
    if flips:
        sentences.append(f"By another metric another model is better for certain in {len(flips)} cases.")
    return sentences, changed


def tables(record: RunRecord, boards: dict[str, BoardView]) -> dict[str, Table]:
    """Every table by the name of its file."""
    named: dict[str, Table] = {}
    for view, board in boards.items():
        named |= {
            f"{view}-{file_name(metric)}": score_table(board, metric) for metric in (board.metrics or [record.metric])
        }
        named |= {f"ranks-{view}": rank_table(board), f"outcomes-{view}": outcome_table(board)}
        if view != ORDINARY:
            named |= with_lines({f"falls-{view}": fall_table(board, view)})
    if ORDINARY in boards:
        named |= with_lines({"flips": flip_table(boards[ORDINARY])})
    return named | {"data": data_table(record), "costs": cost_table(record)}


def fall_table(board: BoardView, view: str) -> Table:
    """By how much each model falls from the ordinary score, or from a model that was trained at home."""
    metric = f"fall.{board.record.metric}"
    lines = [
        (
            data,
            *(scored(board.record.row(metric, data=data, model=model), points) for model in board.models),
        )
        for data in board.datasets
    ]
    known = [line for line in lines if any(cell != DASH for cell in line[1:])]
    against = "the same model on its ordinary test texts" if view == HARD else "the same model trained on that dataset"
    note = f"Points below {against}."
    return Table(f"Falls of {called(board.record.metric)}", ("dataset", *board.models), tuple(known), note)


def data_table(record: RunRecord) -> Table:
    """What each dataset is."""
    lines: list[tuple[Cell, ...]] = []
    for name, about in record.about["datasets"].items():
        floor = record.value(f"chance.{record.metric}", data=name)
        sizes = (DASH if about["published"] is None else f"{about['published']:,}", f"{about['loaded']:,}")
        split = f"{about['splits']} folds" if about["split"] == "folds" else f"published ({about['split']})"
        lines.append((
            name, about["family"] or DASH, about["unit"], *sizes, f"{about['rows']:,}", f"{about['together']:,}",
            len(about["label_names"]), about["groups"] or DASH, split, number(floor),
        ))  # fmt: skip
    columns = (
        "dataset", "family", "unit", "rows as published", "as loaded", "used", "units", "labels", "groups", "split",
        "guessing",
    )  # fmt: skip
    note = (
        "Units: what stays on one side of a fold, rows of a group and rows with nearly the same text. "
        f"Guessing: {called(record.metric)} of guesses by the class mix."
    )
    return Table("Data", columns, tuple(lines), note)


def cost_table(record: RunRecord) -> Table:
    """What the trainings of each model took, testing included."""
    lines = []
    for cost in record.about["costs"]:
        one = cost["cpu_seconds"] / max(1, cost["trainings"])
        own = {"model": cost["model"], "view": ORDINARY}
        wide = [record.row(record.metric, **own, **more) for more in ({"family": "all"}, {"data": None}, {})]
        score = next(filter(None, wide), None)  # over all datasets, over the only family, of the only dataset
        spent = (cost["trainings"], duration(cost["cpu_seconds"]), duration(one))
        lines.append((cost["model"], scored(score), *spent, *speed_cells(cost.get("speeds"))))
    columns = ("model", called(record.metric), "trainings", "processor time", "of one", *SPEED_COLUMNS)
    return Table("Cost", columns, tuple(lines), f"Training and testing, on the machine of this run. {SPEED_NOTE}")
