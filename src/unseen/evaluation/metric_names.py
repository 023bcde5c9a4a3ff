"""Names of metrics as papers and tables write them, read without guessing.

A name is read when a run of its words is an alias of a metric (`metric_facts.toml`) and every other word is a
qualifier: a split, an averaging, a number of folds, a language, a statistic, or a name that the caller knows. The
longest alias counts. Otherwise the metric is undetermined: `F1@IoU=.3` is not F1, and `DVD` is no metric.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from unseen.evaluation.metric_facts import entries, fact, is_known, line_of, several_meanings

LONGEST = 200
"""Characters of a name; what is longer is a sentence."""
FILLED = {
    "k": r"\d+",
    "n": r"\d+",
    "beta": r"0?\.\d+|[02-9](?:\.\d+)?|1\.\d+",
    "iou": r"[01]?\.\d+(?::0?\.\d+)?",
    "part": r"precision|recall|f1|p|r|f",
}
"""What parameters in aliases look like."""
PARTS = {"p": "precision", "r": "recall", "f": "f1"}
SPLITS = {
    "dev": "dev", "development": "dev", "val": "dev", "valid": "dev", "validation": "dev", "test": "test",
    "train": "train", "training": "train",
}  # fmt: skip
STATISTICS = {
    "mean": "mean", "average": "mean", "avg": "mean", "averaged": "mean", "median": "median", "std": "std",
    "standard deviation": "std", "max": "max", "maximum": "max", "best": "max", "min": "min", "minimum": "min",
}  # fmt: skip
LANGUAGES = {
    "arabic": "ar", "bengali": "bn", "bulgarian": "bg", "catalan": "ca", "chinese": "zh", "croatian": "hr",
    "czech": "cs", "danish": "da", "dutch": "nl", "english": "en", "estonian": "et", "finnish": "fi", "french": "fr",
    "german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "indonesian": "id",
    "italian": "it", "japanese": "ja", "korean": "ko", "latvian": "lv", "lithuanian": "lt", "norwegian": "no",
    "persian": "fa", "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "slovak": "sk",
    "slovenian": "sl", "spanish": "es", "swahili": "sw", "swedish": "sv", "tamil": "ta", "thai": "th", "turkish": "tr",
    "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi",
}  # fmt: skip
CODES = set(LANGUAGES.values())
WORDS_TOO = {"he", "id", "it", "no"}
"""Codes that alone in brackets may be a word."""
LANGUAGE_CODES = re.compile(r"\b([A-Za-z]{2}) ?(?:-|–|→|->|>) ?([A-Za-z]{2})\b|[(\[]([A-Za-z]{2})[)\]]")
"""A pair of codes, or one in brackets."""
AVERAGES = "micro|macro|weighted|dodrans|entropy|samples|binary"
PHRASES = {
    "unit": re.compile(r"(?:in )?(?P<percent>%|percent)"),
    "split": re.compile(rf"(?:on )?(?:the )?(?P<split>{'|'.join(SPLITS)})(?: set| split)?"),
    "folds": re.compile(r"(?P<folds>\d+) ?fold(?: cv| cross validation| crossvalidation)?"),
    "training_fraction": re.compile(
        r"@(?P<at>\d+(?:\.\d+)?%)|(?P<fraction>\d+(?:\.\d+)?%) (?:of )?(?:the )?(?:training data|training|labels)"
    ),
    "average": re.compile(rf"(?P<average>{AVERAGES})(?: averaged| average| avg)?"),
    "statistic": re.compile(rf"(?P<statistic>{'|'.join(STATISTICS)})"),
    "over": re.compile(
        r"over (?:the )?(?P<over>(?:\d+ )?(?:seeds|runs|folds|datasets|tasks|labels|classes|languages|trainings))"
    ),
    "language": re.compile(rf"(?P<language>{'|'.join(LANGUAGES)})|<(?P<codes>[a-z]{{2}}(?:~[a-z]{{2}})?)>"),
    "domain": re.compile(r"(?P<domain>(?:in|out of|cross) domain)"),
    "class": re.compile(r"(?P<class>positive|negative)(?: class)?"),
    "filler": re.compile(r"(?P<filler>scores?)"),
}
"""Words beside the name of a metric, by what they qualify; a test sees that none is an alias."""
KNOWN_WORDS = {"split": SPLITS, "statistic": STATISTICS, "language": LANGUAGES, "unit": {"%": "percent"}}
"""How words of phrases are said."""
ANSWERED_BY = {"average": ("average", "class"), "label": ("class",), "classes": ("class",)}
"""Qualifiers that say a parameter, where it is not the one of the same name."""


@dataclass(frozen=True)
class MetricName:
    """What the name of a metric says."""

    text: str
    """As it was written."""
    id: str | None
    """The metric or family of `metric_facts`; None where it is undetermined."""
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    """What else it says: split, dataset, domain, class, k, n, beta, iou, part, language, folds, training_fraction,
    average, statistic, over, unit, direction."""
    missing: tuple[str, ...] = ()
    """Parameters without which it is not known which number this is."""
    unread: tuple[str, ...] = ()
    """Words that were not understood."""
    reason: str = ""
    """Why it is undetermined."""

    def __str__(self) -> str:
        qualified = [f"{name} {value}" for name, value in self.qualifiers.items()]
        if self.id is None:
            return "; ".join([f"undetermined: {self.reason}", *qualified])
        lacking = [f"does not say: {', '.join(self.missing)}"] if self.missing else []
        return "; ".join([self.id, *qualified, *lacking])


class Reading(NamedTuple):
    """An alias within a name."""

    id: str | None
    parameters: Mapping[str, str]
    first: int
    last: int
    meanings: str = ""


def normalise(name: str, names: Mapping[str, Iterable[str]] | None = None) -> MetricName:
    """What the name of a metric says. `names` are words that the caller knows: {"class": ["hate"], "dataset": ["DVD"]}.

    >>> print(normalise("Micro-F1@10% (dev)"))
    f1.micro; average micro; training_fraction 10%; split dev
    >>> print(normalise("F1"))
    f1; does not say: average
    >>> print(normalise("F1@IoU=.3"))
    undetermined: not understood: f1@iou=.3
    """
    exact = name.strip()
    if is_known(exact) and not fact(exact).is_group:
        return MetricName(name, exact, missing=fact(exact).required)
    if len(name) > LONGEST:
        return MetricName(name, None, reason=f"longer than {LONGEST} characters")
    direction = {"direction": "higher" if "↑" in name else "lower"} if ("↑" in name) != ("↓" in name) else {}
    words = key(_with_codes(name)).split()
    readings = _longest_aliases(words)
    if len({reading.id for reading in readings}) > 1:
        listed = ", ".join(str(reading.id) for reading in readings)
        return MetricName(name, None, direction, reason=f"several metrics are named: {listed}")
    if not readings:
        qualifiers, unread = _qualifiers([words], names)
        reason = f"not understood: {', '.join(unread)}" if unread else "no metric is named"
        return MetricName(name, None, direction | qualifiers, unread=unread, reason=reason)
    reading = readings[0]
    beside, unread = _qualifiers([words[: reading.first], words[reading.last :]], names, reading.id)
    qualifiers = {**direction, **beside, **reading.parameters}
    if reading.id is None:
        return MetricName(name, None, qualifiers, unread=unread, reason=f"may be {reading.meanings}")
    known = fact(reading.id)
    if "average" in qualifiers and "average" not in known.params:
        unread += (qualifiers["average"],)
    if "training_fraction" in qualifiers and "k" in known.params:
        unread += (qualifiers["training_fraction"],)
    if unread:
        return MetricName(name, None, qualifiers, unread=unread, reason=f"not understood: {', '.join(unread)}")
    missing = tuple(
        parameter
        for parameter in known.required
        if qualifiers.keys().isdisjoint((parameter, *ANSWERED_BY.get(parameter, ())))
    )
    if qualifiers.get("average") == "binary" and "class" not in qualifiers:
        missing += ("class",)
    if qualifiers.get("statistic") == "mean" and "over" not in qualifiers:
        missing += ("over",)
    return MetricName(name, _narrowed(reading.id, qualifiers), qualifiers, missing)


def key(name: str) -> str:
    """A name without case, brackets and the difference between blanks, hyphens and underscores."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    folded = re.sub(r"['’`´↑↓*$\\]", "", folded)
    folded = re.sub(r"(?<!\d)%", " % ", folded)
    folded = re.sub(r"@(?=\d+(?:\.\d+)?%)", " @", folded)
    folded = re.sub(r"[\s_\-‐–—−()\[\]{},;]+", " ", folded)
    return re.sub(r"[.:](?=\s|$)", "", folded).strip()


def _with_codes(name: str) -> str:
    """The name with codes of languages in angle brackets, where they stand in brackets or as a pair: `<en~de>`."""

    def marked(match: re.Match[str]) -> str:
        codes = [code.casefold() for code in match.groups() if code]
        allowed = CODES if len(codes) == 2 else CODES - WORDS_TOO
        return f" <{'~'.join(codes)}> " if allowed.issuperset(codes) else match[0]

    return LANGUAGE_CODES.sub(marked, name)


@cache
def _aliases() -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Ids by the key of each name, and by the form of names that hold a parameter."""
    exact: dict[str, str] = {}
    forms = []
    for entry in entries().values():
        if entry.is_group:
            continue
        for alias in filter(None, (entry.name, *entry.aliases)):
            if "{" not in alias:
                exact[key(alias)] = entry.id
                continue
            text = re.escape(key(re.sub(r"\{(\w+)\}", r"<\1>", alias)))
            form = re.sub(r"<(\w+)>", lambda match: f"(?P<{match[1]}>{FILLED[match[1]]})", text)
            forms.append((re.compile(form), entry.id))
    return exact, forms


def _longest_aliases(words: list[str]) -> list[Reading]:
    """The longest runs of words that are names of metrics; names of several meanings count where there is no other."""
    for length in range(len(words), 0, -1):
        places = range(len(words) - length + 1)
        readings = [reading for first in places if (reading := _alias(words, first, first + length)) is not None]
        if readings:
            return [reading for reading in readings if reading.id is not None] or readings
    return []


def _alias(words: list[str], first: int, last: int) -> Reading | None:
    text = " ".join(words[first:last])
    exact, forms = _aliases()
    if text in exact:
        return Reading(exact[text], {}, first, last)
    if text in several_meanings():
        return Reading(None, {}, first, last, several_meanings()[text])
    for form, name in forms:
        if match := form.fullmatch(text):
            return Reading(name, {at: PARTS.get(word, word) for at, word in match.groupdict().items()}, first, last)
    return None


def _qualifiers(
    runs: list[list[str]], names: Mapping[str, Iterable[str]] | None, metric: str | None = None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """What runs of words beside the name of a metric say, and the words that say nothing known, or another value.

    Another name of the metric, or of what it is a kind of, says nothing new: `Exact match (EM)`.
    """
    known = {key(one): (kind, one) for kind, several in (names or {}).items() for one in several}
    same = {metric, *line_of(metric)} if metric else set()
    qualifiers: dict[str, str] = {}
    unread: list[str] = []
    for words in runs:
        place = 0
        while place < len(words):
            for last in range(len(words), place, -1):
                phrase = " ".join(words[place:last])
                kind, value = known.get(phrase) or _phrase(phrase) or ("", "")
                if _aliases()[0].get(phrase) in same or (kind and qualifiers.setdefault(kind, value) == value):
                    place = last
                    break
            else:
                unread.append(words[place])
                place += 1
    qualifiers.pop("filler", None)
    return qualifiers, tuple(unread)


def _phrase(phrase: str) -> tuple[str, str] | None:
    """What a phrase qualifies, and how."""
    for kind, form in PHRASES.items():
        if match := form.fullmatch(phrase):
            word = next(group for group in match.groups() if group is not None)
            return kind, KNOWN_WORDS.get(kind, {}).get(word, word)
    return None


def _narrowed(name: str, qualifiers: Mapping[str, str]) -> str:
    """The metric that the averaging or the label makes of a family, where there is one."""
    of_label = f"{name}[{qualifiers.get('class', '')}]"
    if "class" in qualifiers and qualifiers["class"] not in ("positive", "negative") and is_known(of_label):
        return of_label
    averaged = f"{name}.{qualifiers.get('average', '')}"
    return averaged if averaged in entries() else name
