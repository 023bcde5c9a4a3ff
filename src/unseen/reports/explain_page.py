"""The page of explanations: which method to believe, by faithfulness and plausibility, and the texts themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from unseen.reports.actions import Action
from unseen.reports.columns import score, table_of
from unseen.reports.formats import Cell, Table
from unseen.reports.page import BADGES, Page, Section, Verdict, drawn, sorted_findings
from unseen.reports.record import RunRecord
from unseen.store import read_json
from unseen.store.files import file_name
from unseen.types import Measurement
from unseen.types.numbers import number, percent, points, scored

HIGHLIGHTS = "highlights.json"
"""The texts that the page shows, in the folder of the run."""
MAIN, TAU = "comprehensiveness.aopc", "tau.leave_one_out"
FAITHFUL = {
    MAIN: "compr. ↑", "sufficiency.aopc": "suff. ↓",
    "comprehensiveness.normalised": "compr. norm. ↑", "sufficiency.normalised": "suff. norm. ↑",
    TAU: "τ ↑", "sign.leave_one_out": "signs ↑",
}  # fmt: skip
PLAUSIBLE = {
    "token_f1": "token F1", "iou_f1.merged": "IoU F1, merged", "iou_f1.released": "IoU F1, as released",
    "auprc": "AUPRC",
}  # fmt: skip
CHANCE = "random"
EXAMPLES = 10
"""Texts that the page of a stress run shows."""
STEPS = 5
"""Shades of a highlighted word."""
STRONG = 0.35
"""Of the largest score of a text: from here on a word is underlined."""
MISLEADING = 0.2
"""Share of texts in which single erasure misleads that is worth a warning."""


def page(record: RunRecord) -> Page:
    """What methods say about the texts, and whether to believe them."""
    about = record.about
    made = tables(record)
    return Page(
        "explanations",
        f"Why {about['model']} decides as it does, on {about['data']['name']}",
        verdict(record),
        subtitle=f"{about['texts']:,} texts; erased units are {about['erased']}; {about['asked']:,} texts asked about",
        sections=[
            *sections(record, made),
            *([Section("Findings", findings=sorted_findings(record.findings))] if record.findings else []),
        ],
        printed_findings=sorted_findings(record.findings),
        tables=made,
        printed=[made[name] for name in ("faithfulness", "plausibility", "terms") if name in made],
        files={
            name: file
            for name, file in {"attributions": "attributions.parquet", "texts with scores": HIGHLIGHTS}.items()
            if file != HIGHLIGHTS or record.file(file)
        },
    )


def methods_of(record: RunRecord) -> dict[str, RunRecord]:
    """The methods that were judged, each with its numbers, chance last."""
    names = sorted(record.names("method", MAIN), key=lambda name: name == CHANCE)
    return record.where(floor=None).by("method", names)


def verdict(record: RunRecord) -> Verdict:
    """Which method is faithful, whether it beats chance, and whether it is plausible."""
    judged = [row for row in _of_methods(record, MAIN) if row.value is not None]
    if not judged:
        return Verdict("No explanation could be judged.", [], "skipped", badge=BADGES["skipped"])
    best, chance = max(judged, key=lambda row: row.value or 0.0), record.row(MAIN, method=CHANCE, floor=None)
    beaten = chance is None or chance.high is None or (best.low is not None and best.low > chance.high)
    headline = (
        f"The most faithful method is {best.tags['method']}: without its top words the label is {points(best.value)} "
        f"points less probable; without as many words at random, {points(None if chance is None else chance.value)}."
        if beaten
        else f"No method is more faithful than chance for certain; the best, {best.tags['method']}, has {scored(best)}."
    )
    sentences = [*_not_faithful(judged, chance), *_plausible(record), *_shift(record), *_misled(record)]
    level = "ok" if beaten else "warn"
    look = Action("look", "See the texts with their words highlighted", command="--texts")
    actions = [] if record.file(HIGHLIGHTS) else [look]
    return Verdict(headline, sentences, level, actions, BADGES[level])


def _of_methods(record: RunRecord, metric: str) -> list[Measurement]:
    """A number of every method but chance."""
    rows = [own.row(metric) for name, own in methods_of(record).items() if name != CHANCE]
    return [row for row in rows if row is not None]


def _not_faithful(judged: Sequence[Measurement], chance: Measurement | None) -> list[str]:
    top = 0.0 if chance is None or chance.high is None else chance.high
    weak = [str(row.tags["method"]) for row in judged if row.low is not None and row.low <= top]
    return [f"Not told from chance: {', '.join(weak)}."] if weak else []


def _plausible(record: RunRecord) -> list[str]:
    """The most plausible method beside the constant and the annotators."""
    floors = {name: record.row("auprc", floor="yes", method=name) for name in ("constant", "annotator")}
    rows = [row for row in _of_methods(record, "auprc") if row.value]
    if not rows or floors["constant"] is None:
        return []
    best = max(rows, key=lambda row: row.value or 0.0)
    constant = floors["constant"].value or 0.0
    below = [str(row.tags["method"]) for row in rows if (row.value or 0.0) < constant]
    sentence = (
        f"Nearest to what people highlighted is {best.tags['method']}: AUPRC {scored(best)}; the same score for every "
        f"word has {number(constant)}, one annotator against the others {scored(floors['annotator'])}."
    )
    return [sentence, *([f"Less plausible than a constant: {', '.join(below)}."] if below else [])]


def _shift(record: RunRecord) -> list[str]:
    """Whether explanations are worse where the model is wrong."""
    sentences = []
    for name, own in methods_of(record).items():
        right, wrong = (own.row(MAIN, part) for part in ("right", "wrong"))
        if name == CHANCE or right is None or wrong is None or right.low is None or wrong.high is None:
            continue
        if wrong.high < right.low:
            sentences.append(f"{name} is less faithful where the model is wrong: {scored(wrong)} for {scored(right)}.")
    return sentences


def _misled(record: RunRecord) -> list[str]:
    rows = [row for row in record.rows("single_erasure_misleads") if row.value is not None]
    share = max((row.value or 0.0 for row in rows), default=0.0)
    if share < MISLEADING:
        return []
    return [
        f"In {percent(share)} of the texts two words together do something else than the sum of both alone: τ with "
        "leave-one-out misleads there, comprehensiveness does not."
    ]


# -- sections and tables -----------------------------------------------------------------------------------------------

FAITHFUL_TEXT = (
    "Comprehensiveness: how far the probability falls when the words with the highest scores are erased (1, 5, 10, 20, "
    "50 % of them). Sufficiency: how far it falls when they alone are kept. Normalised: between the worst and the best "
    "order of words that there is for this model and text, searched for the first texts alone. τ: whether the order "
    "of the scores is that of the falls when single words go. “Asks”: questions to the model for a text. 95 % "
    "intervals over texts."
)
PLAUSIBLE_TEXT = (
    "Against the words that any annotator highlighted, on the texts that have some; the five words with the highest "
    "scores, AUPRC by all. IoU F1 “as released” counts each word as a span of its own, “merged” joins neighbours. "
    "Below stand what chance, a constant, a lexicon of other texts, the best order and a person reach: without them "
    "a figure says nothing."
)
ATTENTION_TEXT = "Attention says what the model looks at, not why it decides: it is here to be compared."
SLICE_TEXT = (
    "The same methods on right and wrong answers and on every slice: do explanations get worse where the model does?"
)
PAIRS_TEXT = "Every two methods on the same texts; p by swapping them at random, corrected for all pairs (Holm)."
TERMS_TEXT = (
    "False alarms: innocent texts that are called positive, of all and of those that hold a term. Swaps: a term put in "
    "another's place."
)


def sections(record: RunRecord, made: dict[str, Table]) -> list[Section]:
    """The parts of the page."""
    attention = " " + ATTENTION_TEXT if any("attention" in name for name in methods_of(record)) else ""
    parts = [Section("Faithfulness", FAITHFUL_TEXT + attention, tables=[made["faithfulness"]])]
    for name, heading, text in (
        ("plausibility", "Plausibility", PLAUSIBLE_TEXT), ("slices", "By slice", SLICE_TEXT),
        ("differences", "Methods compared", PAIRS_TEXT), ("terms", "Terms", TERMS_TEXT),
    ):  # fmt: skip
        if name in made:
            folded = {"Methods two by two": [made[name]]} if name == "differences" else {}
            parts.append(Section(heading, text, tables=[] if folded else [made[name]], folded=folded))
    if path := record.file(HIGHLIGHTS):
        parts.append(Section("Texts", HIGHLIGHT_TEXT, pictures=[highlighted(read_json(path)["texts"])]))
    return parts


def tables(record: RunRecord) -> dict[str, Table]:
    """By the name of their file."""
    methods, about = methods_of(record), record.about
    metrics = {metric: title for metric, title in FAITHFUL.items() if any(own.row(metric) for own in methods.values())}
    explains, passes = about.get("explains") or {}, about.get("passes") or {}
    made = {
        "faithfulness": table_of(
            "Faithfulness",
            ("method", "explains", "asks"),
            [((name, str(explains.get(name, "given")), passes.get(name)), own) for name, own in methods.items()],
            {title: score(metric) for metric, title in metrics.items()},
        )
    }
    floors = record.where(floor="yes")
    if floors.row("auprc", method="constant") is not None:
        lines = {name: own for name, own in methods.items() if name != CHANCE}
        lines |= {f"– {name}": own for name, own in floors.by("method", floors.names("method", "auprc")).items()}
        columns = {title: score(metric) for metric, title in PLAUSIBLE.items()}
        columns["right for the wrong reason"] = _wrong_reason
        made["plausibility"] = table_of("Plausibility", "method", lines, columns)
    made |= _slice_table(record, methods)
    pairs = [row for row in record.measurements if row.metric.startswith("difference.")]
    if pairs:
        made["differences"] = Table(
            "Methods compared", ("metric", "method", "less", "difference", "p, corrected"),
            tuple((row.metric.removeprefix("difference."), str(row.tags["method"]), str(row.tags["reference"]),
                   scored(row), number(float(row.tags.get("p.holm", "nan")), 3)) for row in pairs),
        )  # fmt: skip
    return made | _term_table(record)


def _wrong_reason(own: RunRecord) -> str:
    row = own.row("right_for_the_wrong_reason")
    return "" if row is None else percent(row.value)


def _slice_table(record: RunRecord, methods: Mapping[str, RunRecord]) -> dict[str, Table]:
    slices = dict.fromkeys(row.slice for row in record.measurements if row.metric == MAIN and row.slice != "all")
    if not slices:
        return {}
    has_people = record.row("auprc", floor="yes", method="constant") is not None
    lines: tuple[tuple[Cell, ...], ...] = tuple(
        (name, method, row.n, scored(row), scored(own.row(TAU, name)),
         *([scored(own.row("auprc", name))] if has_people else []))
        for name in slices for method, own in methods.items() if (row := own.row(MAIN, name)) is not None
    )  # fmt: skip
    columns = ("slice", "method", "texts", FAITHFUL[MAIN], FAITHFUL[TAU])
    return {"slices": Table("By slice", (*columns, *(["AUPRC"] if has_people else [])), lines)}


def _term_table(record: RunRecord) -> dict[str, Table]:
    shown: dict[str, tuple[str, Any]] = {
        "false_alarms": ("false alarms", percent),
        "bias.mean_change": ("swapped: change of the probability, points", points),
        "bias.flip_rate": ("swapped: other label", percent),
        "attribution_shift": ("swapped: change of the explanation", number),
    }
    lines = tuple(
        (str(shown[row.metric][0]), row.slice, row.n, scored(row, shown[row.metric][1]))
        for metric in shown
        for row in record.measurements
        if row.metric == metric and not row.slice.startswith("swap=")
    )
    return {"terms": Table("Terms", ("what", "texts with", "texts", "value"), lines)} if lines else {}


UNDER_SHIFT_TEXT = (
    "Explanations of the same kind of model on the test part of every family of splits and on the independent part: do "
    "they get worse where the model does? Comprehensiveness: how far the probability falls without the top words."
)


def under_shift(record: RunRecord, worst: str | None) -> list[Section]:
    """Explanations on the parts of a stress run; nothing where they were not asked for."""
    rows = [row for row in record.measurements if row.metric == MAIN and row.slice == "all" and "split" in row.tags]
    if not rows:
        return []
    has_people = any(row.metric == "auprc" for row in record.measurements)

    def cells(row: Measurement) -> tuple[str, ...]:
        tags = {name: row.tags[name] for name in ("split", "part", "method")}
        others = [record.row(MAIN, "right", **tags), record.row(MAIN, "wrong", **tags), record.row(TAU, **tags)]
        others += [record.row("auprc", **tags, floor=None)] if has_people else []
        return (*map(str, tags.values()), scored(row), *map(scored, others))

    columns = ("split", "part", "method", FAITHFUL[MAIN], "… of right answers", "… of wrong ones", FAITHFUL[TAU])
    table = Table("Explanations", (*columns, *(["AUPRC"] if has_people else [])), tuple(map(cells, rows)))
    shown = record.file(f"explanations/{file_name(worst)}.json") if worst else None
    pictures = [highlighted(read_json(shown)["texts"][:EXAMPLES])] if shown else []
    text = UNDER_SHIFT_TEXT + (f" Below, texts of “{worst}”. {HIGHLIGHT_TEXT}" if pictures else "")
    return [Section("Explanations", text, parts=[table, *pictures])]


# -- highlighted texts -------------------------------------------------------------------------------------------------

HIGHLIGHT_TEXT = (
    "Orange speaks for the label, blue against it; the darker, the more. Strong words are underlined as well, those "
    "against with dots. A frame: people highlighted the word. Wrong answers come first."
)


def highlighted(texts: Sequence[dict[str, Any]]) -> Markup:
    """Texts with a line for each method, every word in a shade by its score."""
    return drawn("highlights.html", texts=[{**text, "lines": _lines(text)} for text in texts])


def _lines(text: dict[str, Any]) -> list[dict[str, Any]]:
    people = text["people"] or [False] * len(text["words"])
    lines = []
    for method, scores in text["scores"].items():
        if method == CHANCE:
            continue
        largest = max((abs(score) for score in scores), default=0.0) or 1.0
        words = [
            {"word": word, "class": _shade(score / largest) + (" people" if marked else ""), "score": number(score)}
            for word, score, marked in zip(text["words"], scores, people, strict=True)
        ]
        lines.append({"method": method, "words": words})
    return lines


def _shade(share: float) -> str:
    """The class of a word by its part of the largest score of the text."""
    step = min(STEPS, int(abs(share) * STEPS + 0.5))
    if not step:
        return "unit"
    side = "for" if share > 0 else "against"
    return f"unit {side} s{step}" + (" strong" if abs(share) >= STRONG else "")
