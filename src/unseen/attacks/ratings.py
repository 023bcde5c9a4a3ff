"""What blind ratings say of attacks: which flips people accept, how the texts read, and who was taken for whom.

Nothing here knows where ratings come from. Where a program filled in a session or a sheet every measurement has the
tag `simulated`, and `notice` says so in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import combinations
from statistics import mean
from typing import Any

import numpy as np

from unseen.attacks.rating_sheet import ASKED, SOURCES, AttackedText, Rating
from unseen.attacks.session_log import QUALITY
from unseen.attacks.worded_text import WordedText
from unseen.evaluation.intervals import Bounds, Spread, product
from unseen.evaluation.measurements import share
from unseen.functional.agreement import agreement, majority, rating_counts
from unseen.types import Measurement

GRAMMAR = 4.0
"""Mean rating of grammar from which on a text counts as well written."""
SCALE = (1, 5)
"""What ratings lie between."""
Answers = Mapping[str, Mapping[str, list[str]]]
"""By id on the sheet and by question, what raters answered."""
Tags = dict[str, str | int | float]


def rating_measurements(
    attacked: Sequence[AttackedText], ratings: Sequence[Rating], *, grammar: float = GRAMMAR, seed: int = 42
) -> list[Measurement]:
    """Success raw and rated, ratings, cost and variety by mode; guesses of the source; agreement of raters."""
    answers = answers_of(ratings)
    groups: dict[tuple[str, str, str], list[AttackedText]] = {}
    for one in attacked:
        groups.setdefault((one.model, one.attack, one.mode), []).append(one)
    rows: list[Measurement] = []
    for (model, attack, mode), group in groups.items():
        tags: Tags = {"model": model, "attack": attack, "mode": mode, "source": group[0].source}
        rows += success(group, answers, grammar, tags)
        rows += mean_ratings(group, answers, tags)
        rows += costs(group, tags)
        rows += variety(group, tags)
    rows += source_guesses(attacked, answers)
    rows += agreements(answers, seed)
    if notice(attacked, ratings):
        rows = [replace(row, tags={**row.tags, "simulated": "yes"}) for row in rows]
    return rows


def notice(attacked: Sequence[AttackedText], ratings: Sequence[Rating]) -> str:
    """What must stand before everything that is shown; empty where people did all of it."""
    parts = [
        *(["attacks by people"] if any(one.simulated for one in attacked) else []),
        *(["ratings"] if any(one.simulated for one in ratings) else []),
    ]
    return f"Simulated: a program made up the {' and the '.join(parts)}; nothing here is about people." if parts else ""


def answers_of(ratings: Sequence[Rating]) -> dict[str, dict[str, list[str]]]:
    """What raters answered, by id on the sheet and by question."""
    answers: dict[str, dict[str, list[str]]] = {}
    for rating in ratings:
        answers.setdefault(rating.item, {}).setdefault(rating.question, []).append(rating.answer)
    return answers


def accepted(answers: Mapping[str, list[str]], grammar: float = GRAMMAR) -> bool | None:
    """Whether most raters say that the label is kept, and grammar is good enough on average; None without both."""
    if not answers.get("label") or not answers.get("grammar"):
        return None
    return majority([answers["label"]]) == ["yes"] and mean(map(int, answers["grammar"])) >= grammar


def success(group: Sequence[AttackedText], answers: Answers, grammar: float, tags: Tags) -> list[Measurement]:
    """Flips over attacked texts, and flips that people accept over attacked texts.

    Where only some flips were rated, the share that is accepted among them stands for all flips; the tag `rated` says
    how many there were, and the interval is of the product of both shares.
    """
    n, flips = len(group), [one for one in group if one.flipped]
    verdicts = [verdict for one in flips if (verdict := accepted(answers.get(one.sheet, {}), grammar)) is not None]
    rows = [share("success.raw", len(flips), n, tags)]
    more: Tags = {**tags, "rated": len(verdicts), "grammar": grammar}
    if flips and not verdicts:
        return [*rows, Measurement("success.rated", None, 0, tags=more)]
    if len(verdicts) == len(flips):
        return [*rows, share("success.rated", sum(verdicts), n, more)]
    low, high = product(len(flips), n, sum(verdicts), len(verdicts))
    value = len(flips) / n * sum(verdicts) / len(verdicts)
    return [*rows, Measurement("success.rated", value, n, low, high, tags=more)]


def mean_ratings(group: Sequence[AttackedText], answers: Answers, tags: Tags) -> list[Measurement]:
    """Every rating by peers, averaged over the raters of a text first, and by the authors themselves."""
    rows = []
    for name in QUALITY:
        of_texts = [answers[one.sheet][name] for one in group if answers.get(one.sheet, {}).get(name)]
        means = [mean(map(int, one)) for one in of_texts]
        rows.append(mean_row(f"rating.{name}", means, tags | {"rated_by": "peers"}, SCALE))
    for name in (*QUALITY, "effort", "helpfulness"):
        own = [one.ratings[name] for one in group if name in one.ratings]
        rows.append(mean_row(f"rating.{name}", own, tags | {"rated_by": "self"}, SCALE))
    return [row for row in rows if row.n]


def costs(group: Sequence[AttackedText], tags: Tags) -> list[Measurement]:
    """Questions to the model, tries and seconds for each text that was attacked."""
    rows = [mean_row("queries", [one.queries for one in group], tags)]
    timed = [one for one in group if one.seconds is not None]
    rows.append(mean_row("attempts", [one.attempts for one in timed], tags))
    rows.append(mean_row("seconds", [one.seconds or 0.0 for one in timed], tags))
    return [row for row in rows if row.n]


def variety(group: Sequence[AttackedText], tags: Tags) -> list[Measurement]:
    """How far the texts of different people for the same item differ: words that differ, averaged over pairs."""
    by_item: dict[str, dict[str, str]] = {}
    for one in group:
        if one.person and one.mode != "auto" and one.changed != one.original:
            by_item.setdefault(one.item, {})[one.person] = one.changed
    of_items = [
        mean(words_apart(*pair) for pair in combinations(texts.values(), 2))
        for texts in by_item.values()
        if len(texts) > 1
    ]
    return [mean_row("variety", of_items, tags, (0, 1))] if of_items else []


def words_apart(first: str, second: str) -> float:
    """Share of the words of the longer text that do not stand in the other one, in order."""
    left, right = WordedText.of(first).words, WordedText.of(second).words
    same = sum(block.size for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks())
    return 1 - same / max(1, len(left), len(right))


def source_guesses(attacked: Sequence[AttackedText], answers: Answers) -> list[Measurement]:
    """How often raters tell people from programs: by source, and the mean of both, which is 50 % for whoever guesses.

    The mean of both does not reward saying `program` of everything where most texts are a program's.
    """
    metric, rows = "source_guess.accuracy", []
    for source in SOURCES:
        of_texts = [
            mean(guess == source for guess in answers[one.sheet]["source"])
            for one in attacked
            if one.source == source and answers.get(one.sheet, {}).get("source")
        ]
        rows.append(mean_row(metric, of_texts, {"source": source, "chance": 0.5}, (0, 1)))
    known = [row for row in rows if row.value is not None]
    if len(known) < len(rows):
        return known
    value, n, tags = mean(row.value or 0.0 for row in rows), sum(row.n for row in rows), dict(rows[0].tags)
    spread: Spread | None = None
    tags["source"] = "both"
    if all("standard_error" in row.tags for row in rows):
        error = sum(float(row.tags["standard_error"]) ** 2 for row in rows) ** 0.5 / 2
        tags["standard_error"], spread = error, Spread(error, min(row.n for row in rows) - 1)
    low, high = _ends(value, spread, (0, 1))
    return [*rows, Measurement(metric, value, n, low, high, tags=tags)]


def agreements(answers: Answers, seed: int = 42) -> list[Measurement]:
    """How far raters agree, by question."""
    rows = []
    for question in ASKED:
        read: Callable[[str], Any] = int if question in QUALITY else str
        table = [[read(one) for one in of_text.get(question, [])] for of_text in answers.values()]
        if any(len(one) > 1 for one in table):
            counts, values = rating_counts(table)
            level = "ordinal" if question in QUALITY else "nominal"
            of_question = agreement(counts, values, level=level, seed=seed)
            rows += [replace(row, tags={**row.tags, "question": question}) for row in of_question]
    return rows


def mean_row(
    metric: str, values: Sequence[float], tags: Tags, bounds: tuple[float, float] = (0, np.inf)
) -> Measurement:
    """A mean with its standard error as a tag, and the interval by Student's t, within bounds."""
    n = len(values)
    if not n:
        return Measurement(metric, None, 0, tags=tags)
    value = float(np.mean(values))
    spread = Spread(float(np.std(values, ddof=1)) / n**0.5, n - 1) if n > 1 else None
    low, high = _ends(value, spread, bounds)
    more = {} if spread is None else {"standard_error": spread.standard_error} | spread.tags
    return Measurement(metric, value, n, low, high, tags=tags | more)


def _ends(value: float, spread: Spread | None, bounds: tuple[float, float]) -> Bounds:
    """The interval, within bounds; none without a spread."""
    if spread is None or not spread.standard_error:
        return None, None
    return max(bounds[0], value - spread.reach), min(bounds[1], value + spread.reach)
