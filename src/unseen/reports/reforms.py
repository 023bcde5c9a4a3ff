"""The items of the REFORMS checklist that a run folder can answer, and those that only a person can.

Kapoor et al., REFORMS: Consensus-based Recommendations for Machine-learning-based Science, Science Advances 10, 2024:
eight sections, 32 items. Numbers and order are theirs, the short names are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from unseen.evaluation.wording import called, duration
from unseen.reports.facts import CardFacts
from unseen.reports.record import BASELINE

FILLED, PARTLY, BLANK = "filled", "partly", "blank"
Answer = tuple[str, str]
"""State and what is said; of a blank, why the run cannot say it."""


@dataclass(frozen=True)
class ChecklistItem:
    """One item of the checklist."""

    number: str
    name: str
    state: str
    """One of filled, partly, blank."""
    answer: str


def items(facts: CardFacts) -> list[tuple[str, list[ChecklistItem]]]:
    """All 32 items by section, each filled as far as the run folder goes."""
    return [
        (section, [ChecklistItem(number, name, *answer(facts)) for number, name, answer in lines])
        for section, lines in SECTIONS
    ]


def tally(sections: Iterable[tuple[str, list[ChecklistItem]]]) -> dict[str, int]:
    """How many items are filled, partly filled and blank."""
    states = [item.state for _, items_of_section in sections for item in items_of_section]
    return {state: states.count(state) for state in (FILLED, PARTLY, BLANK)}


def _person(why: str = "only a person can say it") -> Callable[[CardFacts], Answer]:
    return lambda facts: (BLANK, why)


def _values(content: object) -> str:
    """Settings in one line."""
    if isinstance(content, Mapping):
        return ", ".join(f"{name} {value}" for name, value in content.items())
    return content if isinstance(content, str) else ""


def _data(facts: CardFacts) -> Answer:
    datasets = [f"{data.name}: {data.rows:,} rows, fingerprint {data.fingerprint}" for data in facts.datasets.values()]
    links = [data.known.homepage for data in facts.datasets.values() if data.known is not None]
    whole = len(links) == len(datasets)
    return FILLED if whole else PARTLY, "; ".join([*datasets, *links, *([] if whole else ["a link or DOI is missing"])])


def _code(facts: CardFacts) -> Answer:
    versions = _values(facts.about.get("versions"))
    return (
        (PARTLY, f"versions: {versions}; a link to the code is missing") if versions else (BLANK, "no versions noted")
    )


def _computer(facts: CardFacts) -> Answer:
    steps = facts.about.get("timings")
    times = [step.get("seconds") for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    seconds = sum(step for step in times if isinstance(step, int | float))
    host = _values(facts.about.get("host"))
    took = f"; the steps took {duration(seconds)}" if seconds else ""
    return (PARTLY, f"{host}{took}; memory and processor in full are missing") if host else (BLANK, "no host noted")


def _command(facts: CardFacts) -> Answer:
    command = facts.about.get("command")
    command_line = f"this makes the run again where the data is: {command}"
    return (
        (PARTLY, f"{command_line}; what else the paper reports is missing") if command else (BLANK, "no command noted")
    )


def _sources(facts: CardFacts) -> Answer:
    citations = [f"{data.name}: {data.known.citation}" for data in facts.datasets.values() if data.known is not None]
    if not citations:
        return (
            BLANK,
            "the run knows the name of the data only, not where, when and by whom it was collected and labelled",
        )
    return PARTLY, f"{'; '.join(citations)}; times of collection and the labelling process are missing"


def _outcome(facts: CardFacts) -> Answer:
    labels = [f"{data.name}: one label per text, one of {', '.join(data.counts)}" for data in facts.datasets.values()]
    return FILLED, f"{'; '.join(labels)}; counts in 3e"


def _sample(facts: CardFacts) -> Answer:
    datasets = facts.datasets.values()
    sizes = [f"{data.name}: {data.rows:,} rows; {_values(data.counts)}" for data in datasets]
    return FILLED, "; ".join(sizes)


def _representative(facts: CardFacts) -> Answer:
    hard = ", ".join(family for family in facts.families if not facts.record.is_random(family))
    parts = ["random test parts are like the rest of the data"] if BASELINE in facts.families else []
    parts += [f"test parts of {hard} are not like the rest, on purpose"] if hard else []
    return PARTLY, f"{'; '.join(parts)}. How the data relates to the population is missing"


def _excluded(facts: CardFacts) -> Answer:
    limit = facts.settings.get("limit")
    if not limit:
        return BLANK, "rows that were left out before or at loading are not noted in a run folder"
    return PARTLY, f"the rows to be split were limited to {limit}; rows left out before or at loading are not noted"


def _transformed(facts: CardFacts) -> Answer:
    representation = facts.settings.get("representation")
    if not representation:
        return BLANK, "no representation noted"
    tokens = facts.recipe.get("max_tokens")
    cut = f"texts are cut to {tokens} tokens; " if tokens else ""
    return PARTLY, f"{cut}splits are made in the vectors {representation}. What was done before loading is missing"


def _model(facts: CardFacts) -> Answer:
    model = facts.about.get("model")
    if not model:
        return BLANK, "no model noted"
    recipe = _values(facts.recipe)
    return FILLED, f"{model}, from a text to a label{': ' if recipe else ''}{recipe}"


def _evaluated(facts: CardFacts) -> Answer:
    seeds = sorted({str(row.tags["seed"]) for row in facts.record.measurements if "seed" in row.tags} - {"mean"})
    trained = f"; training seeds {', '.join(seeds)}" if seeds else ""
    return FILLED, f"held-out test parts of {len(facts.splits)} splits, their sizes in card.md{trained}"


def _selected(facts: CardFacts) -> Answer:
    if "patience" not in facts.recipe:
        return BLANK, "the run does not say how a model was chosen"
    chosen = {name: facts.recipe[name] for name in ("epochs", "stop_on", "patience") if name in facts.recipe}
    return FILLED, f"the epoch that is best on the dev part: {_values(chosen)}"


def _hyperparameters(facts: CardFacts) -> Answer:
    if not facts.recipe:
        return BLANK, "no settings of the training noted"
    return PARTLY, f"used: {_values(facts.recipe)}. Whether and how they were searched for is missing"


def _baselines(facts: CardFacts) -> Answer:
    names = {row.metric for row in facts.record.measurements}
    guessing = "; guessing by the class mix is measured" if f"chance.{facts.record.metric}" in names else ""
    if BASELINE not in facts.families:
        return BLANK, "there is no random split to compare with"
    return PARTLY, f"hard splits are compared with random ones{guessing}. Other models are missing"


def _separated(facts: CardFacts) -> Answer:
    apart = "each id is in one part only, checked when this was written"
    if any("vectors" in split.origin.inputs for split in facts.splits):
        pretrained = str(facts.settings.get("representation", "")).startswith("pretrained")
        saw = "was not trained on this data" if pretrained else "may have been trained on test rows"
        return (
            PARTLY,
            f"{apart}; the model whose vectors choose the split {saw}: score only models that are trained anew",
        )
    return FILLED, apart


def _dependent(facts: CardFacts) -> Answer:
    grouped = {str(split.certificate.groups.get("attribute", "?")) for split in facts.splits
               if split.certificate.groups}  # fmt: skip
    if not grouped:
        return BLANK, "no groups were kept together: texts of one author or thread, or repeated, may be on both sides"
    return PARTLY, f"groups were kept on one side: {', '.join(sorted(grouped))}. Near duplicates are not ruled out"


def _metrics(facts: CardFacts) -> Answer:
    names = sorted({row.metric for row in facts.record.measurements if "family" in row.tags and "[" not in row.metric})
    if not names:
        return BLANK, "nothing was measured in this run"
    return FILLED, f"the main one is {called(facts.record.metric)}; in measurements.csv: {', '.join(names)}"


def _uncertain(facts: CardFacts) -> Answer:
    known = [row for row in facts.record.measurements if row.value is not None]
    with_ends = sum(row.low is not None for row in known)
    if not with_ends:
        return BLANK, "no interval was computed"
    return FILLED, f"95 % bootstrap intervals for {with_ends:,} of {len(known):,} numbers in measurements.csv"


def _significance(facts: CardFacts) -> Answer:
    falls = any(row.metric.startswith("fall.") and row.low is not None for row in facts.record.measurements)
    return (
        (FILLED, "none is made; differences have intervals instead") if falls else (BLANK, "no difference was measured")
    )


def _external(facts: CardFacts) -> Answer:
    aside = facts.settings.get("independent")
    if not any(split.sizes.get("independent") for split in facts.splits):
        return BLANK, "no row was set aside"
    where = f"from the file {Path(aside).name}" if isinstance(aside, str) else "drawn from the same data"
    return PARTLY, f"an independent part, {where}, is in no training or test part. Data from elsewhere is missing"


def _beyond(facts: CardFacts) -> Answer:
    limit = "the hard parts are hard for the model that made them; see the limits in card.md"
    return PARTLY, f"{limit}. Where the claim of the study ends is missing"


SECTIONS: list[tuple[str, list[tuple[str, str, Callable[[CardFacts], Answer]]]]] = [
    ("Goals of the study", [
        ("1a", "whom or what the claim is about", _person()),
        ("1b", "why that population", _person()),
        ("1c", "why machine learning", _person()),
    ]),
    ("Reproducing the computation", [
        ("2a", "the data, with a link", _data),
        ("2b", "the code and its version, with a link", _code),
        ("2c", "the computers", _computer),
        ("2d", "instructions", _command),
        ("2e", "a script that makes every result", _command),
    ]),
    ("Quality of the data", [
        ("3a", "where, when and by whom collected and labelled", _sources),
        ("3b", "what the data was sampled from", _person()),
        ("3c", "why the data fits the task", _person()),
        ("3d", "what is predicted", _outcome),
        ("3e", "number of examples, in all and per class", _sample),
        ("3f", "missing values", _person("rows without text or label do not enter a run and are not counted")),
        ("3g", "whether the evaluation data is like the population", _representative),
    ]),
    ("Preparation of the data", [
        ("4a", "what was left out and why", _excluded),
        ("4b", "impossible or broken examples", _person("a run does not judge texts")),
        ("4c", "every transformation", _transformed),
    ]),
    ("Modelling", [
        ("5a", "the model", _model),
        ("5b", "why this kind of model", _person()),
        ("5c", "how it was evaluated", _evaluated),
        ("5d", "how a model was chosen", _selected),
        ("5e", "hyperparameters and their search", _hyperparameters),
        ("5f", "baselines", _baselines),
    ]),
    ("Leakage", [
        ("6a", "training and test kept apart", _separated),
        ("6b", "dependent or repeated examples", _dependent),
        ("6c", "inputs that may be used", _person("the input is the text; nothing checks whether it tells the label")),
    ]),
    ("Metrics and uncertainty", [
        ("7a", "every metric", _metrics),
        ("7b", "uncertainty", _uncertain),
        ("7c", "significance tests", _significance),
    ]),
    ("Generalising", [
        ("8a", "evidence from other data", _external),
        ("8b", "where the claim does not hold", _beyond),
    ]),
]  # fmt: skip
"""Section, then number, short name and what answers it."""
