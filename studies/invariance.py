"""What becomes of gender and age in translation and paraphrase, on TrustPilot: docs/results/invariance.md.

python -m studies.invariance FOLDER [gender] [age] [page]

The classifiers of five languages are trained once each, and again without each of three folds; what is done is kept in
FOLDER. The real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, machine, real_file, table, write_measured

from unseen.api import load
from unseen.evaluation.invariance import IDENTITY, SIDES
from unseen.functional.transformations import perturbed_texts, with_texts
from unseen.runs.invariance import FLOORS, ORIGINAL, Asked, Instrument, judge, versions_of
from unseen.store.results import Results
from unseen.types import Dataset, Measurement
from unseen.types.numbers import magnitude, number, percent, points, scored

SEED, FOLDS, MARGIN = 42, 3, 0.05
PAGE = ROOT / "docs" / "results" / "invariance.md"
PROPERTIES = {"gender": "gender", "age": "age_cat"}
LANGUAGES = ("it", "de", "fr", "nl")
ENGINES = ("google", "bing", "deepl")
AGES = ("15-24", "25-54", "55-64", "65+")
PUBLISHED = {
    ("de", "google"): ("37:63", ".034**"), ("fr", "google"): ("49:51", ".000"), ("it", "google"): ("37:63", ".026**"),
    ("nl", "google"): ("47:53", ".001"), ("de", "bing"): ("35:65", ".045**"), ("fr", "bing"): ("48:52", ".001"),
    ("it", "bing"): ("43:57", ".006"), ("nl", "bing"): ("47:53", ".002"), ("de", "deepl"): ("35:65", ".045**"),
    ("fr", "deepl"): ("49:51", ".000"), ("it", "deepl"): ("36:64", ".033**"), ("nl", "deepl"): ("44:56", ".007"),
}  # fmt: skip
"""F:M after translation into English, and KL of the gold distribution from it, by Hovy et al. (2020)."""


def trustpilot(file: str, column: str, **options: Any) -> Dataset:
    """A file of TrustPilot."""
    return load(real_file("trustpilot", f"{file}.csv"), label=column, **options)


def asked_sets(data: Dataset) -> dict[str, Dataset]:
    """What the classifier of the originals is asked about: the texts, again, and what should change nothing."""
    floors = {name: with_texts(data, perturbed_texts(data, name, SEED), name) for name in FLOORS}
    return {ORIGINAL: data, IDENTITY: data, **floors}


def classifier(language: str, column: str, labels: tuple[str, ...]) -> Instrument:
    """What tells the property in one language."""
    train = trustpilot(f"{language}_train", column, labels=list(labels), drop=["empty"])
    return Instrument(language, "char-ngrams", train, {"C": 1.0}, FOLDS)


def measure(name: str, folder: Path) -> None:
    """Write every number and outcome of one property, language by language."""
    column, store = PROPERTIES[name], Results(folder / "steps")
    texts = {language: trustpilot(f"{language}_test", column, attributes=list(ENGINES)) for language in LANGUAGES}
    english = trustpilot("en_paraphrased", column, attributes=["pegasus"])
    versions = {language: versions_of(data, {}, ENGINES, (), SEED) for language, data in texts.items()}
    paraphrased = versions_of(english, {}, ["pegasus"], (), SEED)
    translated = {f"{of} {engine}": one.data for of, made in versions.items() for engine, one in made.items()}
    answers, again, held = classifier("en", column, english.label_names).ask(
        {**asked_sets(english), "pegasus": paraphrased["pegasus"].data, **translated}, store, 1, SEED
    )
    asked = Asked(answers, again, held, answers, again, held, two=False)
    keep(folder / f"{name} en.json", judge(english, paraphrased, list(FLOORS), asked, None, MARGIN, SEED))
    for folds, (language, data) in product((0, FOLDS), texts.items()):  # what needs no second training comes first
        instrument = replace(classifier(language, column, data.label_names), folds=folds)
        source = instrument.ask(asked_sets(data), store, 1, SEED)
        after, *after_again = (
            {engine: part[f"{language} {engine}"] for engine in ENGINES} for part in (answers, *again)
        )
        asked = Asked(*source, after, after_again, held, two=True)
        judged = judge(data, versions[language], list(FLOORS), asked, None, MARGIN, SEED)
        keep(folder / f"{name} {language}.json", judged)


def keep(path: Path, judged: tuple[list[Measurement], dict[str, Any], Any]) -> None:
    """Write the numbers and outcomes of one language."""
    rows, outcomes, _ = judged
    content = {"rows": [asdict(row) for row in rows], "outcomes": {of: one._asdict() for of, one in outcomes.items()}}
    path.write_text(json.dumps(content, default=float), encoding="utf-8")


@dataclass(frozen=True)
class Measured:
    """The numbers of one property and language."""

    rows: Sequence[Measurement]
    outcomes: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Measured | None:
        """What was measured; None where nothing was yet."""
        if not path.exists():
            return None
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls([Measurement(**row) for row in content["rows"]], content["outcomes"])

    def row(self, metric: str, engine: str, **tags: str) -> Measurement:
        """The number of a translation or paraphrase, over all texts."""
        of_row = {"transformation": engine, **tags}
        return next(
            row for row in self.rows
            if row.metric == metric and row.slice == "all" and "seed" not in row.tags
            and of_row.items() <= dict(row.tags).items()
        )  # fmt: skip

    def again(self, metric: str, engine: str) -> str:
        """The range of a shift over classifiers that were trained again."""
        values = [
            row.value or 0.0 for row in self.rows
            if row.metric == metric and row.tags.get("transformation") == engine and "seed" in row.tags
        ]  # fmt: skip
        return f"{points(min(values))} to {points(max(values))}" if values else "–"

    def floors(self, engine: str) -> str:
        """The flips that mean nothing."""
        rows = [row for row in self.rows if row.metric == "flip_rate.floor" and row.tags["transformation"] == engine]
        return ", ".join(f"{row.tags['floor']} {percent(row.value)}" for row in rows)

    def verdict(self, engine: str) -> str:
        """What can be said, and of which classes."""
        outcome = self.outcomes[engine]
        return " ".join([outcome["kind"], f"({', '.join(outcome['labels'])})" if outcome["labels"] else ""]).strip()


def kl(row: Measurement) -> str:
    """A divergence with its interval and the star that the published test would give."""
    p = float(row.tags.get("p.chi2", 1))
    return scored(row, lambda value: number(value, 3)) + ("**" if p <= 0.01 else "*" if p <= 0.05 else "")


def p_value(row: Measurement) -> str:
    """The p-value of the paired test of before and after."""
    name = next(name for name in ("p.mcnemar", "p.bhapkar") if name in row.tags)
    return magnitude(float(row.tags[name]))


def pairs_of(folder: Path, name: str) -> list[tuple[str, str, Measured]]:
    """Language, engine and numbers of every pair that was measured."""
    pairs = [(language, engine) for engine in ENGINES for language in LANGUAGES] + [("en", "pegasus")]
    read = {language: Measured.read(folder / f"{name} {language}.json") for language, _ in pairs}
    return [(language, engine, one) for language, engine in pairs if (one := read[language]) is not None]


def gender_tables(folder: Path) -> str:
    """The published figures beside ours, then what stands with paired statistics."""
    pairs, published = pairs_of(folder, "gender"), []
    for language, engine, one in pairs:
        female, male = (one.row(f"share[{label}]", engine, side="transformed").value or 0 for label in "FM")
        theirs = PUBLISHED.get((language, engine), ("–", ".018**" if engine == "pegasus" else "–"))
        before, after = (one.row("kl.gold", engine, side=side) for side in SIDES)
        published.append((
            f"{language} → en, {engine}", theirs[0], f"{100 * female:.0f}:{100 * male:.0f}", theirs[1], kl(after), kl(before),
            scored(one.row("difference.kl.gold", engine), lambda value: number(value, 3)),
        ))  # fmt: skip
    header = ["pair", "F:M published", "F:M here", "KL published", "KL(gold, p(B))", "KL(gold, p(A))", "KL_B − KL_A"]
    paired = [
        (
            f"{language} → en, {engine}", scored(one.row("share[M]", engine, side="original")),
            scored(one.row("share[M]", engine, side="transformed")),
            scored(one.row("difference.skew[M]", engine), points), one.again("difference.skew[M]", engine),
            p_value(one.row("kl.answers", engine)), scored(one.row("flip_rate", engine), percent), one.floors(engine),
            percent(one.row("flip_rate.independent", engine).value), one.verdict(engine),
        )
        for language, engine, one in pairs
    ]  # fmt: skip
    columns = [
        "pair", "male before", "male after", "moved, points", "trained again", "McNemar p", "flips", "floors",
        "if independent", "verdict",
    ]  # fmt: skip
    return f"## Gender: published and here\n\n{table(header, published)}\n## Gender: paired\n\n{table(columns, paired)}"


def age_table(folder: Path) -> str:
    """Where authors of four age classes go."""
    lines = []
    for language, engine, one in pairs_of(folder, "age"):
        moved = [scored(one.row(f"difference.skew[{label}]", engine), points) for label in AGES]
        oldest = [percent(one.row(f"share[{AGES[-1]}]", engine, side=side).value) for side in ("gold", *SIDES)]
        lines.append((
            f"{language} → en, {engine}", *moved, ", ".join(oldest), p_value(one.row("kl.answers", engine)),
            *(kl(one.row("kl.gold", engine, side=side)) for side in SIDES), percent(one.row("flip_rate", engine).value),
            one.verdict(engine),
        ))  # fmt: skip
    header = [
        "pair",
        *AGES,
        "65+: gold, before, after",
        "Bhapkar p",
        "KL(gold, p(A))",
        "KL(gold, p(B))",
        "flips",
        "verdict",
    ]
    return f"## Age: points by which shares move\n\n{table(header, lines)}" if lines else ""


def classifier_table(folder: Path) -> str:
    """How good the instruments are on texts that they did not learn from."""
    lines = []
    for name in PROPERTIES:
        for language in ("en", *LANGUAGES):
            one = Measured.read(folder / f"{name} {language}.json")
            if one is not None:
                row = next((row for row in one.rows if row.tags.get("classifier") == "original"), None)
                scores = ("–", "not yet") if row is None else (f"{row.n:,}", number(row.value))
                lines.append((name, language, *scores))
    return f"## Classifiers\n\n{table(['property', 'language', 'texts', 'held-out macro F1'], lines)}"


def write_page(folder: Path) -> None:
    """Write the tables of whatever is measured into the page."""
    lacking = [
        f"{name} of {language}" for name in PROPERTIES for language in ("en", *LANGUAGES)
        if not (folder / f"{name} {language}.json").exists()
    ]  # fmt: skip
    setting = (
        f"{machine()}. Seed {SEED}, {FOLDS} folds, C = 1, margin {MARGIN}; intervals over texts, 95 %. Stars are those of "
        "the published χ² of gold and p(B): * p ≤ .05, ** p ≤ .01."
        + (f" Not measured yet: {', '.join(lacking)}." if lacking else "")
    )
    parts = [setting + "\n", gender_tables(folder), age_table(folder), classifier_table(folder)]
    write_measured(PAGE, "Invariance", "\n" + "\n".join(filter(None, parts)))


if __name__ == "__main__":
    place, *chosen = sys.argv[1:]
    Path(place).mkdir(parents=True, exist_ok=True)
    for part in chosen or [*PROPERTIES, "page"]:
        if part == "page":
            write_page(Path(place))
        else:
            measure(part, Path(place))
