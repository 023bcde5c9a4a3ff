"""What a validation study says: what was claimed, and what is left on new authors."""

from __future__ import annotations

from unseen.evaluation.wording import amount, called
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, counted, sorted_findings, with_lines
from unseen.reports.record import RunRecord
from unseen.types import Measurement
from unseen.types.numbers import bounds, number, points, scored

PROTOCOLS = {
    "published": "as published, leaking",
    "random": "corrected, random folds",
    "authors": "new authors",
    "enriched": "new authors, enriched training",
    "foreign": "another dataset",
    "foreign-enriched": "another dataset, enriched training",
}
ONCE = "once"
"""Slice of the scores of a published protocol in which no row counts twice."""
ONCE_NAME = "as published, each text once, classes as in the data"
PRICES = {
    "leak": "the leak",
    "authors": "known authors",
    "total": "leak and known authors together",
    "foreign": "another dataset",
}
SCORES_NOTE = (
    "95 % intervals over authors, drawn whole, and seeds. As published, a row copied before the split counts each "
    "time; each text once means by its mean probabilities, with as many texts of each class as its share of the data "
    "allows. Enriched training has the strictest cap that leaves anything out."
)
PRICES_NOTE = (
    "Positive: the second protocol gives less, so the first flatters. Negative: it gives more. Where rows were copied "
    "before the split, the leak is priced without the copies and with the class mix of the data: another mix changes a "
    "score, too, and is no leak. A cap leaves texts out. For models its price is against as many random texts of the "
    "same labels left out; for pipelines, whose cost that would double, it is against all texts, and also counts "
    "learning from fewer."
)
ENRICHING = {"enriched": "enriching", "foreign-enriched": "enriching, on another dataset"}


BADGES = {"ok": "holds", "warn": "flatters", "fail": "look closer"}


def page(record: RunRecord) -> Page:
    """Scores by protocol, prices, and whether the sides are apart."""
    about = record.about
    data, settings = about["data"], about["settings"]
    tables = {"scores": score_table(record), "prices": price_table(record), "capped-tests": capped_table(record)}
    shown = with_lines(tables)
    more = [(data["added"], "texts to enrich"), (data["foreign"], "foreign texts")]
    seeds = len(settings["seeds"])
    note = (
        f"{settings['folds']} folds, {seeds} {'seed' if seeds == 1 else 'seeds'}; every seed draws its own folds. All "
        "folds of a seed are scored together."
    )
    return Page(
        "validation",
        about["title"],
        validation_verdict(record),
        f"{data['name']}: {data['rows']:,} texts by {data['authors']:,} authors ({counted(data['counts'])})"
        + "".join(f"; {count:,} {what}" for count, what in more if count),
        note + (" With one seed the intervals say nothing about training again." if seeds == 1 else ""),
        [
            *(Section(table.title, tables=[table]) for table in shown.values()),
            Section(
                "Are the sides apart?",
                "Counted on the rows that were trained on and tested, not on what was asked for.",
                findings=sorted_findings(record.findings),
            ),
        ],
        shown,
        files={"what the models said": "predictions/"},
    )  # fmt: skip


def _row(record: RunRecord, metric: str, model: str, family: str, slice: str = "all") -> Measurement | None:
    """One number over all seeds; None when it was not measured."""
    return record.row(metric, slice, model=model, family=family, split=None)


def validation_verdict(record: RunRecord) -> Verdict:
    """fail: a gate or a training failed, or authors are on both sides where they must not be; warn: a price is sure."""
    sentences = [sentence for learner in record.about["learners"] if (sentence := _sentence(record, learner))]
    broken = any(finding.level == "fail" and finding.check != "copied before the split" for finding in record.findings)
    fall = f"fall.{record.metric}"
    prices = [
        _row(record, fall, learner, "total") or _row(record, fall, learner, "authors")
        for learner in record.about["learners"]
    ]
    sure = any(row is not None and row.low is not None and row.low > 0 for row in prices)
    level = "fail" if broken or not record.gates_hold else "warn" if sure else "ok"
    first, *rest = sentences or ["Nothing could be measured."]
    return Verdict(first, rest, level, badge=BADGES[level])


def _sentence(record: RunRecord, learner: str) -> str:
    metric = record.metric
    published, random, authors = (_row(record, metric, learner, name) for name in ("published", "random", "authors"))
    before = published or random
    if before is None or authors is None:
        return ""
    price = _row(record, f"fall.{metric}", learner, "total" if published else "authors")
    claim = "The published protocol says" if published else "Random folds say"
    once = _row(record, metric, learner, "published", ONCE)
    without = f", {number(once.value)} with each text once and the data's class mix" if once else ""
    return (
        f"{learner}: {claim} {number(before.value)} ({called(metric)}){without}; on new authors the same model has "
        f"{scored(authors)}{_flatters(record, price, ' than that' if once else '')}."
    )


def _flatters(record: RunRecord, price: Measurement | None, than: str) -> str:
    if price is None or price.value is None:
        return ""
    sure = price.low is not None and price.low > 0
    sentence = f", {amount(record.metric, price.value)} less{than} {bounds(price, points)}"
    return sentence if sure else f"{sentence}, which may be chance"


def protocol_name(protocol: str) -> str:
    """A protocol in words."""
    if protocol.startswith("capped-"):
        return f"new authors, at most {protocol.removeprefix('capped-')} texts per author and class"
    if protocol.startswith("thinned-"):
        return f"new authors, random texts left out, as many as the cap of {protocol.removeprefix('thinned-')} does"
    return PROTOCOLS.get(protocol, protocol)


def price_name(record: RunRecord, price: str, before: str) -> str:
    """What is priced, in words: all that differs from the protocol before."""
    if price.startswith("capped-"):
        return f"the cap of {price.removeprefix('capped-')}"
    caps = [name.removeprefix("capped-") for name in record.about["protocols"] if name.startswith("capped-")]
    if price in ENRICHING and caps and not before.startswith("capped-"):
        return f"the cap of {caps[-1]} and {ENRICHING[price]}"
    return ENRICHING.get(price) or PRICES.get(price, price)


def score_table(record: RunRecord) -> Table:
    """Every learner under every protocol."""
    labels = record.about["data"]["label_names"]
    metrics = list(dict.fromkeys([record.metric, *(f"f1[{name}]" for name in labels)]))
    lines: list[tuple[Cell, ...]] = []
    for learner in record.about["learners"]:
        for protocol in record.about["protocols"]:
            rows = [_row(record, metric, learner, protocol) for metric in metrics]
            if rows[0] is not None:
                lines.append((learner, protocol_name(protocol), *map(scored, rows), rows[0].n))
            once = [_row(record, metric, learner, protocol, ONCE) for metric in metrics]
            if once[0] is not None:
                lines.append((learner, ONCE_NAME, *map(scored, once), once[0].n))
    columns = ("learner", "protocol", *map(called, metrics), "rows tested")
    return Table("Scores", columns, tuple(lines), SCORES_NOTE)


def price_table(record: RunRecord) -> Table:
    """What each step from one protocol to the next takes from the score."""
    lines: list[tuple[Cell, ...]] = []
    for learner in record.about["learners"]:
        for price in record.about["prices"]:
            row = _row(record, f"fall.{record.metric}", learner, price)
            if row is not None:
                before, after = str(row.tags["from"]), str(row.tags["to"])
                first = ONCE_NAME if row.tags.get("counted") == ONCE else protocol_name(before)
                cells = f"{first} → {protocol_name(after)}", f"{points(row.value)} {bounds(row, points)}".strip()
                lines.append((learner, price_name(record, price, before), *cells))
    columns = ("learner", "price of", "from → to", f"points of {called(record.metric)}")
    return Table("Prices", columns, tuple(lines), PRICES_NOTE)


def capped_table(record: RunRecord) -> Table:
    """New authors, tested only on texts that a cap leaves: no author weighs much."""
    lines: list[tuple[Cell, ...]] = []
    slices = dict.fromkeys(row.slice for row in record.measurements if row.slice.startswith("cap="))
    for learner in record.about["learners"]:
        for protocol in record.about["protocols"]:
            rows = {part: _row(record, record.metric, learner, protocol, part) for part in slices}
            for name, row in rows.items():
                if row is not None:
                    lines.append((learner, protocol_name(protocol), name.removeprefix("cap="), scored(row), row.n))
    columns = (
        "learner",
        "protocol",
        "texts tested per author and class, at most",
        called(record.metric),
        "rows tested",
    )
    return Table("Tested under the cap", columns, tuple(lines))
