"""What domain pretraining says: whether the domain's texts helped, or any text would have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from markupsafe import Markup

from unseen.evaluation.wording import amount_within, called, fallen, in_points
from unseen.reports.figures import CurvePoint, Series, curve_chart
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, sorted_findings, two_widths, worst_level
from unseen.reports.record import MEAN, RunRecord
from unseen.runs.pretraining import ALL, AS_IT_COMES, CONTROL, DOMAIN, WITHOUT
from unseen.runs.transfer import KINDS
from unseen.types import Measurement
from unseen.types.numbers import DASH, number, percent, scored, turned

READING = (
    "Domain less control is the gain by the domain: both read as many tokens in as many steps, of texts of the domain "
    "and of other text. Domain less as it comes also holds what reading on does by itself. In brackets: 95 % intervals "
    "over seeds and test texts; each seed has masked-LM trainings of its own."
)
CURVE = (
    "Lines lead the eye: nothing was measured between their marks. Dashed: the encoder as it comes. Test texts that "
    "stand in a corpus are left out."
)
LOSS_NOTE = (
    "Mean cross-entropy of hidden tokens of texts that were held out of both trainings; the same tokens are hidden "
    "from every encoder. A lower loss says that the encoder knows the texts better, not that it classifies better."
)
CONTAMINATION_NOTE = (
    "Test texts that stand in a corpus, held-out texts included, whether or not the fewer texts of a smaller training "
    "had them; nearly: character 5-grams, Jaccard .8 or more, and the stricter kinds."
)


def page(record: RunRecord) -> Page:
    """Verdict, curve, differences, losses, contamination."""
    run = PretrainingRun(record)
    settings, corpora = record.about["settings"], record.about["corpora"]
    shown = {"scores": score_table(run), "differences": difference_table(run), "reading": reading_table(run)}
    shown |= {"contamination": contamination_table(run)}
    single = [run.main] if run.main != ALL else [ALL, *run.names]
    trainings = f"{settings['trainings']} {'training' if settings['trainings'] == 1 else 'trainings'} each"
    sources = f"domain {corpora[DOMAIN]['source']}, control {corpora[CONTROL]['source']}"
    findings = sorted_findings(record.findings)
    return Page(
        "domain pretraining",
        f"Does {PurePath(record.about['model']).name} gain by reading texts of the domain?",
        pretraining_verdict(run),
        f"{', '.join(run.names)} · {sources} · {trainings}",
        READING,
        [
            Section(
                "Over the number of unlabelled texts", pictures=[curve(run, name) for name in single],
                folded={"With intervals": [shown["scores"]]}, note=CURVE,
            ),
            Section("Differences", tables=[shown["differences"]]),
            Section("What was read, and what came of it", tables=[shown["reading"]]),
            Section("Test texts that were read", tables=[shown["contamination"]], findings=findings),
        ],
        shown,
        [shown["differences"]],
        [finding for finding in findings if finding.level != "ok"],
        {"encoders": "models/", "which text is where": "splits/", "what models said": "predictions/"},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class PretrainingRun:
    """The record of such a run, by dataset, encoder and number of texts."""

    record: RunRecord

    @property
    def names(self) -> list[str]:
        """The datasets."""
        return list(self.record.about["datasets"])

    @property
    def main(self) -> str:
        """What the verdict is about: the only dataset, or all together."""
        return self.names[0] if len(self.names) == 1 else ALL

    @property
    def sizes(self) -> list[int]:
        """Numbers of domain texts."""
        return [int(size) for size in self.record.about["settings"]["sizes"]]

    def score(self, data: str, encoder: str, texts: int, slice: str = "all") -> Measurement | None:
        """The score after reading, the mean over seeds."""
        tags = {"data": data, "encoder": encoder, "texts": texts, "seed": MEAN}
        return self.record.row(self.record.metric, slice, **tags)

    def difference(
        self, data: str, texts: int, slice: str = "all", encoder: str = DOMAIN, than: str = CONTROL
    ) -> Measurement | None:
        """How much better one encoder is than another; None when it was not measured."""
        tags = {"data": data, "encoder": encoder, "texts": texts, "than": than}
        return self.record.row(f"difference.{self.record.metric}", slice, **tags)

    def loss(self, encoder: str, texts: int, held_out: str) -> float | None:
        """Masked-LM loss on held-out texts."""
        return self.record.value("masked_loss", encoder=encoder, texts=texts, held_out=held_out)

    @property
    def contaminated(self) -> bool:
        """Whether any test text stands in a corpus."""
        return any(row.value for row in self.record.rows("contamination.near"))

    def unread(self, data: str) -> str:
        """The slice of test texts that stand in neither corpus: all, where none does."""
        return "all" if self.score(data, AS_IT_COMES, 0, WITHOUT) is None else WITHOUT


def pretraining_verdict(run: PretrainingRun) -> Verdict:
    """What the domain's texts gave beyond as much other text, by the largest number of them.

    Where test texts were read, the headline is about the others. `fail` where a check fails; `warn` where nothing is
    shown to be gained.
    """
    most, metric = run.sizes[-1], called(run.record.metric)
    row = run.difference(run.main, most, run.unread(run.main))
    if row is None or row.value is None:
        headline = "No verdict: on test texts that were not read, not all scores exist."
        return Verdict(headline, [], worst_level(run.record.findings), badge="not measured")
    gained, lost = (row.low or 0) > 0, (row.high or 0) < 0
    beginning = (
        "Texts of the domain help" if gained else "Texts of the domain hurt" if lost
        else "No gain by texts of the domain is shown"
    )  # fmt: skip
    where = ", on test texts that stand in neither corpus" if run.contaminated else ""
    size = _better(run.record.metric, row)
    headline = f"{beginning}: after {most:,} of them {metric} is {size} than after as much other text{where}."
    failed = worst_level(run.record.findings) == "fail"
    level = "fail" if failed else "ok" if gained else "warn"
    badge = "helps" if gained else "hurts" if lost else "no gain shown"
    badge = "contaminated" if failed else badge
    return Verdict(headline, [*_beside(run), *_loss(run), *_contaminated(run), *_head(run)], level, badge=badge)


def _better(metric: str, row: Measurement) -> str:
    """A difference as what it is: `3.0 points [1.0, 5.0] better`, or worse where it is below zero."""
    if row.value is not None and row.value < 0:
        return f"{amount_within(metric, turned(row))} worse"
    return f"{amount_within(metric, row)} better"


def _beside(run: PretrainingRun) -> Iterator[str]:
    """Both against the encoder as it comes."""
    metric, most, unread = run.record.metric, run.sizes[-1], run.unread(run.main)
    rows = [run.difference(run.main, most, unread, encoder, AS_IT_COMES) for encoder in (DOMAIN, CONTROL)]
    domain, control = (DASH if row is None else _better(metric, row) for row in rows)
    yield f"Against the encoder as it comes: {domain} after texts of the domain, {control} after the others."
    if run.record.about["settings"]["trainings"] == 1:
        yield "One training of each kind says nothing about training again."


def _loss(run: PretrainingRun) -> Iterator[str]:
    places = ((AS_IT_COMES, 0), (DOMAIN, run.sizes[-1]), (CONTROL, run.sizes[-1]))
    before, domain, control = (number(run.loss(*place, DOMAIN)) for place in places)
    yield (
        f"The masked-LM loss on held-out texts of the domain is {before} as it comes, {domain} after texts of the "
        f"domain, {control} after the others."
    )


def _contaminated(run: PretrainingRun) -> Iterator[str]:
    if not run.contaminated:
        yield "No test text stands in either corpus, not even nearly."
        return
    worst = max(run.record.rows("contamination.near"), key=lambda row: row.value or 0.0)
    share, all_texts = percent(worst.value), run.difference(run.main, run.sizes[-1])
    with_them = DASH if all_texts is None else _better(run.record.metric, all_texts)
    yield (
        f"Up to {share} of the test texts stand in a corpus ({worst.tags['data']}, {worst.tags['corpus']}); with them "
        f"it is {with_them}."
    )


def _head(run: PretrainingRun) -> Iterator[str]:
    for finding in run.record.findings:
        if finding.check in ("head", "control", "passes") and finding.level != "ok":
            yield finding.advice or finding.message


def curve(run: PretrainingRun, data: str) -> Markup:
    """Scores over the number of unlabelled texts, of the domain and of as much other text."""
    unread = run.unread(data)
    base = run.score(data, AS_IT_COMES, 0, unread)
    lines = [
        Series(encoder, tuple(
            CurvePoint(texts, row.value, row.low, row.high)
            for texts in run.sizes
            if (row := run.score(data, encoder, texts, unread)) is not None and row.value is not None
        ))
        for encoder in (DOMAIN, CONTROL)
    ]  # fmt: skip
    if base is not None and base.value is not None:
        ends = dict.fromkeys((run.sizes[0], run.sizes[-1]))
        lines.append(Series(AS_IT_COMES, tuple(CurvePoint(texts, base.value) for texts in ends), dashed=True))
    if not any(line.points for line in lines):
        return Markup("")
    several = f", {data}" if len(run.names) > 1 else ""
    axes = ("unlabelled texts of the domain", f"{called(run.record.metric)}{several}")
    return two_widths(lambda narrow: curve_chart(lines, *axes, logarithmic=len(run.sizes) > 1, narrow=narrow))


def score_table(run: PretrainingRun) -> Table:
    """Every score, and where test texts were read, without them."""
    lines: list[tuple[Cell, ...]] = []
    for data in _places(run):
        for encoder, texts in _doses(run):
            cells = [scored(run.score(data, encoder, texts, slice)) for slice in _slices(run)]
            lines.append((data, encoder, texts or None, *cells))
    heads = ("all test texts", "without contaminated")[: len(_slices(run))]
    return Table(f"{called(run.record.metric)}", ("data", "encoder", "texts", *heads), tuple(lines))


def difference_table(run: PretrainingRun) -> Table:
    """Domain less control, and both less the encoder as it comes."""
    lines: list[tuple[Cell, ...]] = []
    pairs = ((DOMAIN, CONTROL), (DOMAIN, AS_IT_COMES), (CONTROL, AS_IT_COMES))
    for slice in _slices(run):
        for data in _places(run):
            for texts in run.sizes if slice in ("all", run.unread(data)) else ():
                rows = [run.difference(data, texts, slice, *pair) for pair in pairs]
                cells = [DASH if row is None else fallen(run.record.metric, row) for row in rows]
                lines.append((data, "all" if slice == "all" else "not read", texts, *cells))
    unit = ", points" if in_points(run.record.metric) else ""
    heads = ("data", "test texts", "texts", *(f"{one} less {other}" for one, other in pairs))
    title = f"Differences of {called(run.record.metric)}{unit}"
    note = "Paired: the same seeds on the same test texts. Above zero, the first is better."
    return Table(title, heads, tuple(lines), note)


def reading_table(run: PretrainingRun) -> Table:
    """Steps, tokens and passes of each masked-LM training, and losses before and after."""
    lines: list[tuple[Cell, ...]] = []
    for encoder, texts in _doses(run):
        read = [run.record.value(f"pretraining.{name}", encoder=encoder, texts=texts) for name in ("steps", "tokens")]
        passes = run.record.value("pretraining.passes", encoder=encoder, texts=texts)
        losses = [number(run.loss(encoder, texts, of)) for of in (DOMAIN, CONTROL)]
        counts = [None if value is None else round(value) for value in read]
        lines.append((encoder, texts or None, *counts, number(passes, 1), *losses))
    heads = ("encoder", "texts", "steps", "tokens", "passes", "loss on domain", "loss on control")
    return Table("Masked-LM training", heads, tuple(lines), f"Means over seeds. {LOSS_NOTE}")


def contamination_table(run: PretrainingRun) -> Table:
    """How many test texts of each dataset stand in each corpus, by kind."""
    lines: list[tuple[Cell, ...]] = []
    for data in run.names:
        for corpus in (DOMAIN, CONTROL):
            rows = [run.record.row(f"contamination.{kind}", data=data, corpus=corpus) for kind in KINDS]
            cells = [DASH if row is None else f"{round((row.value or 0) * row.n):,}" for row in rows]
            near = rows[-1]
            lines.append((data, corpus, near.n if near else None, *cells, percent(near.value) if near else DASH))
    heads = ("data", "corpus", "test texts", "word for word", "normalised", "nearly", "share")
    return Table("Contamination", heads, tuple(lines), CONTAMINATION_NOTE)


def _places(run: PretrainingRun) -> list[str]:
    return [*run.names, *([ALL] if len(run.names) > 1 else [])]


def _slices(run: PretrainingRun) -> list[str]:
    return ["all", *([WITHOUT] if run.contaminated else [])]


def _doses(run: PretrainingRun) -> list[tuple[str, int]]:
    return [(AS_IT_COMES, 0), *((encoder, texts) for texts in run.sizes for encoder in (DOMAIN, CONTROL))]
