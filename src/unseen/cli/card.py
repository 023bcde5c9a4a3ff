"""`unseen data card`: what is known about a dataset, by whom, and what is still open about people."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.console import print_table, printable, say
from unseen.cli.data_options import takes_data
from unseen.cli.frame import Reply, gives_reply
from unseen.cli.options import ExampleTexts, Seed, Split, Terms, split_of
from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.cards import CardAudit


app = typer.Typer(
    help="Dataset cards: measured facts, who said the rest, and what nobody has documented.", no_args_is_help=True
)

Annotations = Annotated[
    Path | None, typer.Option(help="Labels of single annotators: a table with item, annotator, label[, group].")
]
Checked = Annotated[Path | None, typer.Option(help="The sample of --to-check with yes or no in the column right.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 while a required social field is unknown.")]


@app.command("init")
@takes_data
@gives_reply
def init_card(
    data: Any,
    out: Annotated[Path, typer.Option("-o", "--out", help="The card: .json, .yaml.")] = Path("card.json"),
    readme: Annotated[Path | None, typer.Option(help="A README or page about the dataset to start from.")] = None,
    split: Split = None,
    annotations: Annotations = None,
    terms: Terms = None,
    to_check: Annotated[
        Path | None, typer.Option(help="Write ids with personal data here (.csv), to check by hand.")
    ] = None,
    texts: ExampleTexts = False,
    checked: Checked = None,
    seed: Seed = 42,
) -> Reply:
    """Write a dataset card: what can be measured is filled in, what only people know is asked for.

    A card that is there keeps what people wrote in it; its measured fields are brought up to date.

    Example: unseen data card init posts.csv --text text --label label --id id -o card.json
    """
    from unseen.cards import audit_card, measure_card, write_card
    from unseen.cards.card import check_name
    from unseen.cards.drafts import start_card
    from unseen.cards.facts import read_ratings
    from unseen.cards.personal_data import write_sample
    from unseen.subgroups.groups import read_terms

    if texts and to_check is None:
        raise InputError("--texts has no effect without --to-check", fix="name the file of the sample: --to-check FILE")
    check_name(out)
    begun = start_card(data, out, readme)
    measured = measure_card(
        data,
        split=split_of(data, split),
        ratings=None if annotations is None else read_ratings(annotations),
        terms=None if terms is None else read_terms(terms),
        checked=checked,
        seed=seed,
        date=datetime.date.today().isoformat(),
    )
    audited = audit_card(begun, data, measured)
    if to_check is not None:
        write_sample(measured.personal, to_check, texts=texts, seed=seed)
    write_card(audited.card, out)

    def show() -> None:
        _tell(audited)
        _ask(audited)
        say(f"written: {out}" + (f" and {to_check}" if to_check else ""))

    return Reply(_content(audited) | {"card": out, "to_check": to_check}, show)


@app.command("audit")
@functools.partial(takes_data, optional=True)
@gives_reply
def audit(
    card: Annotated[Path, typer.Argument(metavar="CARD", help="A card of ours, or a README or page about a dataset.")],
    data: Any,
    split: Split = None,
    strict: Strict = False,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write a readable card here (.md).")] = None,
) -> Reply:
    """Judge a card: coverage of the three groups, how it is made up, and with DATA its numbers against the data.

    Example: unseen data card audit card.json posts.csv --text text --label label --id id -o card.md
    """
    from unseen.cards import audit_card, measure_card, read_document

    if out is not None and out.suffix != ".md":
        raise InputError(f"{out} is no name for a readable card", expected="a name that ends in .md")
    if split is not None and data is None:
        raise InputError("--split has no effect without DATA", fix="name the data after the card")
    document = read_document(card)
    measured = None if data is None else measure_card(data, split=split_of(data, split))
    audited = audit_card(document, data, measured, strict=strict)
    if out is not None:
        _write_page(audited, out)

    def show() -> None:
        _tell(audited)
        if out is not None:
            say(f"written: {out}")

    content = _content(audited) | {"platform": document.platform, "page": out}
    return Reply(content, show, passed=audited.passed)


@app.command("survey")
@gives_reply
def survey_pages(
    pages: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Cards, READMEs or pages about datasets.")
    ] = None,
    builtin: Annotated[bool, typer.Option("--builtin", help="The four platforms of Park and Jeoung (2022).")] = False,
) -> Reply:
    """Count what pages about datasets have a place for: descriptive, social and administrative items.

    Example: unseen data card survey --builtin
    """
    from unseen.cards import survey
    from unseen.cards.pages import builtin_pages

    if bool(pages) == builtin:
        raise InputError("name pages to survey, or give --builtin", got="both" if builtin else "neither")
    surveyed = survey(builtin_pages() if builtin else pages or ())
    names = [Path(page.page).name if builtin else page.page for page in surveyed]
    table = [["page", "platform", "descriptive", "social", "administrative", "say something"]]
    for name, page in zip(names, surveyed, strict=True):
        answered = " + ".join(str(count) for count in page.answered.values())
        table.append([name, page.platform, *map(str, page.counts), answered])
    content = [{**asdict(page), "page": name} for name, page in zip(names, surveyed, strict=True)]
    return Reply(content, lambda: print_table(table, numbers_from=2))


def _content(audited: CardAudit) -> dict[str, Any]:
    return {
        "name": audited.card.name,
        "coverage": audited.coverage,
        "undocumented": audited.undocumented,
        "findings": audited.findings,
        "measurements": audited.measurements,
        "passed": audited.passed,
    }


def _tell(audited: CardAudit) -> None:
    rows = [
        [covered.group, str(covered.required), str(covered.filled), str(covered.substantive)]
        for covered in audited.coverage.values()
    ]
    print_table([["group", "required", "answered", "substantive"], *rows], numbers_from=1)
    _personal(audited)
    say("")
    for finding in audited.findings:
        say(printable(f"{finding.level:<7} {finding.check}: {finding.message}"))
        if finding.advice and finding.level in ("warn", "fail"):
            say(printable(f"        what to do: {finding.advice}"))


def _personal(audited: CardAudit) -> None:
    from unseen.types.numbers import bounds, number

    rates = [row for row in audited.measurements if row.metric == "personal_texts_per_1000"]
    right = {row.slice: row for row in audited.measurements if row.metric == "personal_precision"}
    if not rates:
        return
    rows = [[row.slice.removeprefix("category="), number(row.value), bounds(row),
             _precision(right.get(row.slice))] for row in rates]  # fmt: skip
    say("")
    print_table([["personal data", "texts per 1,000", "95 % interval", "right when checked"], *rows], numbers_from=1)
    say("names of people: not measured")


def _precision(row: Any) -> str:
    from unseen.types.numbers import scored

    return "not checked" if row is None else f"{scored(row)} (n = {row.n})"


def _ask(audited: CardAudit) -> None:
    from unseen.cards import fields

    lacking: Sequence[str] = audited.undocumented
    if lacking:
        say("\nonly people can answer:")
        rows = [[name, " or ".join(fields()[name].who), fields()[name].write] for name in lacking]
        print_table([["field", "by", "what to write"], *rows])


def _write_page(audited: CardAudit, out: Path) -> None:
    from unseen.reports.dataset_card import as_markdown
    from unseen.store import write_text

    write_text(out, as_markdown(audited))
