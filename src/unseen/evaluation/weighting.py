"""How the scores of labels become one number: the part of a metric's name that follows its score.

`macro`, `micro(exclude=none)`, `entropy(exclude=a|b,total=included)`, `power(0.5)`, `mix(hate=0.01,no=0.99)`. A label
with a comma, a bracket, an equals sign, a bar or a blank stands in quotes, as a JSON string: `exclude="a, b"|c`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.f_scores import SCHEMES, class_scores, pooled, scheme_weights
from unseen.types.arrays import Floats

FORMS = {
    "SCHEME(exclude=LABEL)": "without a label, or exclude=A|B; entropy also takes total=included",
    "power(ALPHA)": "labels weighted by rows^ALPHA, from 0 (macro) to 1 (weighted)",
    "mix(LABEL=SHARE,…)": "labels weighted by their shares in a mix",
}
"""How a weighting is written beside the plain schemes, and what that means."""
TOKEN = re.compile(r'\s*("(?:\\.|[^"\\])*"|[^,|=()"]+|[,|=])\s*', re.DOTALL)
BARE = re.compile(r"[^\s,|=()\[\]\"<>&\\]+")
"""A label that needs no quotes."""
WHOLE = 0.005
"""How far the shares of a mix may be from one: three thirds with two decimals are a whole."""


@dataclass(frozen=True)
class Weighting:
    """A scheme with its parameters; `str` gives the one way to write it, `parsed` reads every way."""

    scheme: str
    power: float | None = None
    excluded: tuple[str, ...] = ()
    """Labels that are left out of the average; texts of them that get another label are wrong all the same."""
    total: str = "all"
    """The N of the entropy scheme: `all` rows, or those of `included` labels only."""
    mix: tuple[tuple[str, float], ...] = ()

    @classmethod
    def parsed(cls, scheme: str, inside: str | None = None) -> Weighting:
        """The weighting of that scheme with what stands in its brackets; None where there are none.

        >>> str(Weighting.parsed("entropy", ' total = included, exclude = "b c" | a | a '))
        'entropy(exclude=a|"b c",total=included)'
        >>> str(Weighting.parsed("mix", "no=.99,hate=0.010"))
        'mix(hate=0.01,no=0.99)'
        """
        written = scheme if inside is None else f"{scheme}({inside})"
        if scheme not in (*SCHEMES, "power", "mix"):
            raise UnknownNameError.of("weighting", scheme, (*SCHEMES, *FORMS))
        items = [] if inside is None else list(_items(written, inside))
        if scheme == "mix":
            return cls.of_mix(_shares(written, items), written)
        power = None
        if scheme == "power":
            power = _number(written, items.pop(0)[0]) if items and not items[0][1] else None
            if power is None or not 0 <= power <= 1:
                raise InputError(f"{written} needs a power from 0 to 1", expected="power(0.5): weights rows^0.5")
        elif inside is not None and not items:
            raise InputError(f"{written} has nothing in its brackets", fix=f"{scheme}, or {scheme}(exclude=LABEL)")
        known = ("exclude", "total") if scheme == "entropy" else ("exclude",)
        given = dict(items)
        for name, values in items:
            if name not in known:
                raise UnknownNameError.of(f"parameter of {scheme}", name, known)
            if not values:
                raise InputError(f"{written} is not a weighting", expected=f"{scheme}(exclude=LABEL)")
        if len(given) < len(items):
            raise InputError(f"{written} says something twice", fix="several labels: exclude=A|B")
        total, excluded = given.get("total", ["all"]), tuple(sorted({_label(one) for one in given.get("exclude", [])}))
        if total not in (["all"], ["included"]):
            raise UnknownNameError.of("total", "|".join(total), ("all", "included"))
        return cls(scheme, power, excluded, total[0] if excluded else "all")

    @classmethod
    def of_mix(cls, shares: Mapping[str, float], written: str = "the mix") -> Weighting:
        """The weighting by shares of labels; refuses what is no mix. `written` is what was typed."""
        total = sum(shares.values())
        if any(not 0 <= share <= 1 for share in shares.values()) or abs(total - 1) > WHOLE:
            raise InputError(
                f"the shares of {written} must sum to one", expected="shares from 0 to 1", got=f"sum {total:.4f}"
            )
        return cls("mix", mix=tuple((name, float(share)) for name, share in sorted(shares.items()) if share > 0))

    def __str__(self) -> str:
        if self.mix:
            return f"mix({','.join(f'{_written(name)}={_digits(share)}' for name, share in self.mix)})"
        parts = [] if self.power is None else [_digits(self.power)]
        parts += [f"exclude={'|'.join(map(_written, self.excluded))}"] if self.excluded else []
        parts += ["total=included"] if self.total == "included" else []
        return f"{self.scheme}({','.join(parts)})" if parts else self.scheme

    def without(self, labels: Sequence[str]) -> Weighting:
        """The same without these labels too."""
        if not labels:
            return self
        if self.mix:
            raise InputError("a mix names the labels that count", got=str(self), fix="leave the label out of the mix")
        excluded = tuple(sorted({*self.excluded, *labels}))
        return Weighting(self.scheme, self.power, excluded, self.total)

    @property
    def pooled(self) -> bool:
        """Whether counts are added up instead of scores: then labels have no weights."""
        return self.scheme == "micro"

    def weights(self, counts: Floats, names: Sequence[str]) -> Floats:
        """The weights of labels with so many rows each [..., k]; they sum to one, unless no label counts.

        A label of a mix has its share whether or not there are rows of it.
        """
        excluded = _codes(self.excluded, names)
        if self.mix:
            shares = np.zeros(len(names))
            shares[_codes([name for name, _ in self.mix], names)] = [share for _, share in self.mix]
            return np.broadcast_to(shares / shares.sum(), counts.shape)
        included = np.array(counts, np.float64)
        included[..., excluded] = 0.0
        total = counts.sum(axis=-1) if self.total == "all" else None
        return scheme_weights(included, self.scheme if self.power is None else self.power, total)

    def averages(self, tallies: Floats, score: str = "f1", names: Sequence[str] = ()) -> Floats:
        """The score of all labels for each tally [..., 3, k] (see `f_scores`); NaN where no label counts.

        `names` are those of the labels, where the weighting names some.
        """
        if self.pooled:
            return pooled(tallies, score, _codes(self.excluded, names))
        return self.average(class_scores(tallies, score), tallies[..., 2, :], names)

    def average(self, scores: Floats, counts: Floats, names: Sequence[str]) -> Floats:
        """Any scores of labels [..., k] with so many rows each as one number.

        NaN where no label counts, and where a label of a mix has no rows: nobody knows how the model does on it.
        """
        weights = self.weights(counts, names)
        unknown = ((weights > 0) & (counts <= 0)).any(axis=-1) | (weights.sum(axis=-1) <= 0)
        return np.where(unknown, np.nan, (weights * scores).sum(axis=-1))


def _items(written: str, inside: str) -> Iterator[tuple[str, list[str]]]:
    """What stands between commas, each as it is written: what is before the equals sign, and the values after it."""
    wrong = InputError(
        f"{written} is not a weighting", expected="a scheme such as macro(exclude=LABEL), power(0.5), mix(A=0.2,B=0.8)",
        fix='a label with a comma, bracket, equals sign or bar stands in quotes: exclude="a, b"',
    )  # fmt: skip
    tokens, place = [], 0
    while place < len(inside):
        match = TOKEN.match(inside, place)
        if match is None:
            raise wrong
        tokens.append(match[1].strip())
        place = match.end()
    while tokens:
        end = tokens.index(",") if "," in tokens else len(tokens)
        item, tokens = tokens[:end], tokens[end + 1 :] or ([""] if end < len(tokens) else [])
        between = item[1::2]
        if len(item) % 2 == 0 or item[0] in ("", "|", "=") or between != (["="] + ["|"] * len(between))[: len(between)]:
            raise wrong
        if any(value in ("", "|", "=") for value in item[2::2]):
            raise wrong
        yield item[0], item[2::2]


def _shares(written: str, items: Sequence[tuple[str, list[str]]]) -> dict[str, float]:
    expected = "a share for each label, mix(hate=0.01,no=0.99)"
    if not items or any(len(values) != 1 for _, values in items):
        raise InputError(f"{written} is not a mix", expected=expected)
    shares = {_label(name): _number(written, values[0]) for name, values in items}
    if len(shares) < len(items):
        raise InputError(f"{written} gives a label twice", expected=expected)
    return shares


def _number(written: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as cause:
        raise InputError(f"{written} needs a number", got=repr(text)) from cause


def _label(token: str) -> str:
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token, strict=False))
    except ValueError as cause:
        raise InputError(f"{token} is not a label in quotes", expected='"a, b"; \\" and \\\\ for " and \\') from cause


def _written(label: str) -> str:
    return label if BARE.fullmatch(label) else json.dumps(label, ensure_ascii=False)


def _digits(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _codes(labels: Sequence[str], names: Sequence[str]) -> list[int]:
    """Where these labels stand in `names`."""
    known = {name: code for code, name in enumerate(names)}
    for label in labels:
        if label not in known:
            raise UnknownNameError.of("label", label, names)
    return [known[label] for label in labels]


PLAIN: dict[str, Weighting] = {scheme: Weighting(scheme) for scheme in SCHEMES}
"""The schemes without parameters."""
