"""The axes of a GenBench evaluation card, as far as the way a split was made settles them.

Hupkes et al., A taxonomy and review of generalization research in NLP, Nature Machine Intelligence 5, 2023. There,
a covariate shift is one of the inputs, a label shift one of what the inputs are labelled as, a full shift both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unseen.audits.hardness import MIX
from unseen.registry import VERSION
from unseen.reports.facts import CardFacts
from unseen.reports.record import BASELINE, SplitFile
from unseen.training import RECIPES
from unseen.types import Measurement
from unseen.types.numbers import percent, points

CONSTRUCTION, MEASURED, AUTHOR = "by construction", "measured", "to be stated by the author"
LATENT = ("subset-sum", "closest", "novel", "difficulty", "deployment", "hard-kfold")
NATURAL = ("length", "time", "attribute", *LATENT)
"""Methods that choose the test part by a property of the texts."""


@dataclass(frozen=True)
class Axis:
    """One axis of the taxonomy; an empty value is a blank."""

    name: str
    value: str
    basis: str
    """By construction, measured, or to be stated."""
    why: str


@dataclass(frozen=True)
class WrongLabels:
    """Share of wrong test labels, as far as it can be told."""

    here: Measurement
    random: Measurement | None
    """The same in random test parts."""

    @property
    def notable(self) -> bool:
        """Whether it is certainly more than in random test parts."""
        usual = 0.0 if self.random is None else self.random.high or 0.0
        return (self.here.low or 0.0) > usual

    def __str__(self) -> str:
        beside = "" if self.random is None else f", {percent(self.random.value)} in random test parts"
        return f"about {percent(self.here.value)} of the test labels are wrong{beside}"


def axes(facts: CardFacts) -> dict[tuple[str, ...], tuple[Axis, ...]]:
    """The five axes of every family of splits; families of which the same is to be said stand together."""
    families_of: dict[tuple[Axis, ...], list[str]] = {}
    for family in facts.families:
        families_of.setdefault(_of_family(facts, family), []).append(family)
    return {tuple(families): axes_of_family for axes_of_family, families in families_of.items()}


def _of_family(facts: CardFacts, family: str) -> tuple[Axis, ...]:
    splits = [split for split in facts.splits if split.family == family]
    methods = {split.method for split in splits}
    if methods == {BASELINE}:
        return _control()
    return (_motivation(), _kind(methods), _shift(facts, family, splits, methods), _source(methods), _locus(facts))


def _control() -> tuple[Axis, ...]:
    drawn = "rows are drawn at random, so both parts come from one distribution"
    return (
        Axis("motivation", "none: the control", CONSTRUCTION, "the other splits are compared with it"),
        Axis("generalisation type", "none: the control", CONSTRUCTION, drawn),
        Axis("shift type", "no shift", CONSTRUCTION, drawn),
        Axis("shift source", "none", CONSTRUCTION, drawn),
        Axis("shift locus", "none", CONSTRUCTION, drawn),
    )


def _motivation() -> Axis:
    why = (
        "assumed, because the splits look for where a classifier in use would fail; no file can say what a study is for"
    )
    return Axis("motivation", "practical", AUTHOR, why)


def _kind(methods: set[str]) -> Axis:
    if methods <= {*LATENT}:
        why = (
            "task, labels, language and dataset are the same on both sides; only a region of a model's latent space is "
            "kept from training. No domain, structure or composition is named, so it is none of the other types"
        )
        return Axis("generalisation type", "robustness", CONSTRUCTION, why)
    return Axis("generalisation type", "", AUTHOR, "it depends on what the attribute stands for that divides the texts")


def _shift(facts: CardFacts, family: str, splits: list[SplitFile], methods: set[str]) -> Axis:
    if not methods <= {*NATURAL}:
        return Axis("shift type", "", AUTHOR, "the method does not say in what the parts differ")
    gap = max(_mix_gap(split, facts) for split in splits)
    mix = f"a label's share in the test part is at most {points(gap)} points from its share in all rows"
    kept = (
        f"the inputs are divided, and {mix}" if gap <= MIX else f"the inputs are divided, but the class mix too: {mix}"
    )
    wrong = wrong_labels(facts, family)
    if wrong is None:
        return Axis("shift type", "covariate", MEASURED, f"{kept}; whether labels are right is not known")
    value = "covariate, label shift not excluded" if wrong.notable else "covariate"
    return Axis("shift type", value, MEASURED, f"{kept}; {wrong}")


def _mix_gap(split: SplitFile, facts: CardFacts) -> float:
    """Largest difference between a label's share in the test part and its share in all rows."""
    data, got = facts.datasets[facts.keys[split.name]], split.certificate.got
    tested, rows = max(1, sum(got.values())), max(1, sum(data.counts.values()))
    return max(abs(got.get(label, 0) / tested - count / rows) for label, count in data.counts.items())


def wrong_labels(facts: CardFacts, family: str) -> WrongLabels | None:
    """The highest share of wrong labels in the family, beside the highest in its controls; None if it is not known."""
    here, usual = (_highest(facts, family, name) for name in ("label_noise", "label_noise.control"))
    return None if here is None else WrongLabels(here, usual)


def _highest(facts: CardFacts, family: str, metric: str) -> Measurement | None:
    rows = [
        row for row in facts.record.measurements
        if row.metric == metric and row.slice == "all" and row.tags.get("family") == family and row.value is not None
    ]  # fmt: skip
    return max(rows, key=lambda row: row.value or 0.0, default=None)


def _source(methods: set[str]) -> Axis:
    if not methods <= {*NATURAL, "grouped"}:
        return Axis("shift source", "", AUTHOR, "the parts were not divided by this tool")
    why = "one set of texts was divided and no text was changed; that the texts are natural is for the author to say"
    return Axis("shift source", "partitioned natural data", CONSTRUCTION, why)


def _locus(facts: CardFacts) -> Axis:
    model = VERSION.sub("", str(facts.about.get("model") or ""))
    if facts.recipe.get("encoder"):
        why = "a pretrained model is fine-tuned on the training part and tested on the test part"
        return Axis("shift locus", "finetune train–test", CONSTRUCTION, why)
    if model in RECIPES and model != "transformer":
        return Axis("shift locus", "train–test", CONSTRUCTION, "the model is trained on the training part alone")
    return Axis("shift locus", "", AUTHOR, "the run does not say whether its model was pretrained")


def unstated(by_families: Mapping[tuple[str, ...], tuple[Axis, ...]]) -> list[str]:
    """The axes a person has to state or confirm, each once, with the families it concerns."""
    concerned: dict[tuple[str, str], list[str]] = {}
    for families, axes_of_families in by_families.items():
        for axis in axes_of_families:
            if axis.basis == AUTHOR:
                concerned.setdefault((axis.name, axis.value), []).extend(families)
    return [
        f"GenBench {name} of {', '.join(families)}" + (f": {value} is assumed, confirm or change it" if value else "")
        for (name, value), families in concerned.items()
    ]
