"""What people who read some texts of a stress run say, in a sentence and in a section of its page."""

from __future__ import annotations

from collections.abc import Iterator

from unseen.evaluation.wording import amount_within, fallen
from unseen.reports.case import Case
from unseen.reports.formats import Table
from unseen.reports.page import Section
from unseen.reports.record import BASELINE, RunRecord
from unseen.types import Measurement
from unseen.types.numbers import DASH, percent, scored

INTRO = (
    "Texts were drawn by a design and read without the model's opinion; those of which more were drawn count less, so "
    "that shares are those of all texts of a part. Label errors are among texts whose label can be told; the fall "
    "against right labels leaves out the others."
)
SHARES = ("label_errors", "unclear_texts", "invalid_texts")


def review_sentences(case: Case) -> Iterator[str]:
    """How many texts a person has read, and what came of it; nothing without reviews."""
    read, run = case.run.row("reviewed_texts", family=None), case.run
    if read is None:
        return
    people = int(read.tags["reviewers"])
    begin = f"{'one person has' if people == 1 else f'{people} people have'} read {read.value:.0f} of its texts"
    hard, usual = (run.measured("label_errors", family) for family in (case.family, BASELINE))
    shares = [] if hard is None else [f"{scored(hard, percent)} of the labels of “{case.family}” are wrong"]
    if usual is not None:
        shares.append(f"{scored(usual, percent)} {'in' if shares else 'of the labels of'} random parts")
    sentence = f"{begin}: {', '.join(shares)}" if shares else begin
    fall = case.reviewed
    if fall is not None and fall.value is not None:
        left = amount_within(run.metric, fall)
        if fall.value > 0:
            against = f"the fall is {left}"
        elif fall.high is not None and fall.high > case.limit:
            against = f"there may be no fall or a large one ({left})"
        else:
            against = f"there is no fall ({left})"
        sentence += f"; against the right labels {against}"
    yield f"{sentence}."


def review_section(run: RunRecord, case: Case | None) -> Iterator[Section]:
    """The table of what people read, and how far they agree; nothing without reviews."""
    read = run.row("reviewed_texts", family=None)
    if read is None or case is None:
        return
    rows = tuple(
        (
            family, DASH if read_there is None else f"{read_there.value:.0f} of {read_there.n:,}",
            *(scored(run.measured(name, family), percent) for name in SHARES),
            fallen(run.metric, case.fall) if family == case.family else DASH,
            fallen(run.metric, case.reviewed) if family == case.family and case.reviewed else DASH,
        )
        for family in (BASELINE, case.family)
        for read_there in [run.measured("reviewed_texts", family)]
    )  # fmt: skip
    columns = ("part", "texts read", "label errors", "cannot be told", "not valid", "fall", "against right labels")
    yield Section(
        "What people read", " ".join([INTRO, *_notes(run, read)]), tables=[Table("What people read", columns, rows)],
        short="Reviews",
    )  # fmt: skip


def _notes(run: RunRecord, read: Measurement) -> Iterator[str]:
    elsewhere = int(read.tags["elsewhere"])
    if elsewhere:
        yield (
            f"{elsewhere:,} of the texts were read for another run: until texts are drawn for this one, they stand for "
            "texts like them, though that run chose them."
        )
    plain, alpha = (run.row(name, of="reviews") for name in ("rater_agreement", "krippendorff_alpha.nominal"))
    if plain is not None:
        beyond = "" if alpha is None else f"; Krippendorff's alpha is {scored(alpha)}"
        yield f"On {plain.n:,} texts that several people read, pairs of them agree in {scored(plain, percent)}{beyond}."
    elif int(read.tags["reviewers"]) > 1:
        yield "No text was read by two people, so how far they agree is not known."
    else:
        yield "One person's reading is an opinion: how far people agree is not known."
