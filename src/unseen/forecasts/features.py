"""What is known of a target before anybody has tested on it: features of it, of the sources, and of both together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from unseen.data.delimited import read_delimited
from unseen.data.files import reading, recognise
from unseen.data.tables import column_names
from unseen.errors import InputError, TableError
from unseen.forecasts.score_table import ScoreTable, amounts_of, numeric
from unseen.store.files import door
from unseen.types import some

XLMR_LANGUAGES = """
    af am ar as az be bg bn br bs ca cs cy da de el en es et eu fa fi fr fy ga gd gl gu ha he hi hu hy id is it ja jv
    ka kk km kn ko ku ky lo lt lv mg mk ml mr ms my ne nl no om or pa pl ps pt ro ru sd si sk sl so sq su sv sw ta te
    th tl tr ug uk ur uz vi xh yi zh
"""
"""The languages of XLM-R in the order of LITMUS, whose file has some features without names."""
SIZE = "size"
"""How the names of columns begin that hold amounts of training data."""
PIECE = 4
"""Characters of a piece of a word."""
WORDS = 10_000
"""Words among which different ones are counted: in a longer text a smaller share of words is new."""


@dataclass(frozen=True)
class Features:
    """Numbers by name: of each source and target, and of each source with each target."""

    of_name: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    of_pair: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    """By source and target."""

    def __or__(self, other: Features) -> Features:
        names, pairs = {*self.of_name, *other.of_name}, {*self.of_pair, *other.of_pair}
        return Features(
            {name: {**self.of_name.get(name, {}), **other.of_name.get(name, {})} for name in names},
            {pair: {**self.of_pair.get(pair, {}), **other.of_pair.get(pair, {})} for pair in pairs},
        )


def with_features(table: ScoreTable, features: Features, sources: Sequence[str] | None = None) -> ScoreTable:
    """The table with sizes and `features` as columns (Ahuja et al. 2022; several sources as in LITMUS).

    There is a column for each of `sources` (those of the table unless others are named): the logarithm of its amount,
    and each feature that it has with the target, used or not. Beside them stand the features of the target, and those
    of the sources, alone and with the target, as means weighted by amounts. Amounts of the target's own data have a
    column too.
    """
    sources = table.sources if sources is None else sources
    _refuse_unknown(table, features, sources)
    rows = zip(table.configurations, table.targets.tolist(), strict=True)
    own = [configuration.get(target, 0.0) for configuration, target in rows]
    amounts = amounts_of(table.configurations, sources)
    shares = amounts / amounts.sum(axis=1, keepdims=True)
    columns = [*(f"{SIZE}[{source}]" for source in sources), f"{SIZE}.own", f"{SIZE}.all"]
    blocks = [np.log10(1 + np.column_stack([amounts, own, amounts.sum(axis=1)]))]
    for name in _shared(features.of_name[key] for key in {*table.targets.tolist(), *sources} if features.of_name):
        columns += [f"target.{name}", f"source.{name}"]
        targets = np.array([features.of_name[target][name] for target in table.targets.tolist()])
        blocks += [targets[:, None], (shares @ [features.of_name[source][name] for source in sources])[:, None]]
    pairs = [(source, target) for source in sources for target in set(table.targets.tolist())]
    for name in _shared(features.of_pair[pair] for pair in pairs if features.of_pair):
        columns += [*(f"{name}[{source}]" for source in sources), name]
        known = {
            target: [features.of_pair[source, target][name] for source in sources]
            for target in set(table.targets.tolist())
        }
        values = np.array([known[target] for target in table.targets.tolist()])
        blocks += [values, (shares * values).sum(axis=1, keepdims=True)]
    return table.with_features(columns, np.hstack(blocks))


def _shared(known: Iterator[Mapping[str, float]]) -> list[str]:
    """Names of features that all have."""
    names = [set(values) for values in known]
    return sorted(set.intersection(*names)) if names else []


def _refuse_unknown(table: ScoreTable, features: Features, sources: Sequence[str]) -> None:
    targets = sorted(set(table.targets.tolist()))
    problems = [f"{name!r} is none of the sources of the scores" for name in table.sources if name not in sources]
    if features.of_name:
        problems += [f"{name!r} has none" for name in sorted({*targets, *sources} - {*features.of_name})]
    if features.of_pair:
        pairs = [(source, target) for source in sources for target in targets]
        problems += [f"{source!r} with {target!r} has none" for source, target in pairs
                     if (source, target) not in features.of_pair]  # fmt: skip
    if problems:
        raise InputError("not everything has the features that are needed", problems=problems)


# -- languages ---------------------------------------------------------------------------------------------------------


def read_language_features(path: str | Path) -> Features:
    """The features of languages for XLM-R in a file of LITMUS.

    Of a language: how much of it was pre-trained on (log10 of bytes), and how common its typological features are
    there. Of two: the share of sub-words in common, and their syntactic distance.
    """
    with door(path, "the language features of LITMUS"):
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        overlap, syntax, alone = (
            content[name]["xlmr"] for name in ("type_overlap", "syntactic_distance", "regression_feats")
        )
        languages = XLMR_LANGUAGES.split()
        if not len(alone) == len(syntax) == len(languages):
            raise InputError(f"{path} has features of {len(alone)} languages", expected=f"{len(languages)}")
        return Features(
            {
                language: {"pretraining": float(size), "typology": float(common)}
                for language, (size, common) in zip(languages, alone, strict=True)
            },
            {
                (source, target): {"overlap": float(overlap[source][target]), "syntax": float(distance)}
                for source, distances in zip(languages, syntax, strict=True)
                for target, distance in zip(languages, distances, strict=True)
            },
        )


# -- texts -------------------------------------------------------------------------------------------------------------


def text_features(
    texts: Mapping[str, Sequence[str]], priors: Mapping[str, Mapping[str, float]] | None = None
) -> Features:
    """Features of datasets, by their texts: words per text, share of different words, words and pieces in common.

    `priors` is the share of each label in each dataset; only whoever has labels of the target knows it.
    """
    words = {name: [text.casefold().split() for text in own] for name, own in texts.items()}
    vocabularies = {name: {word for text in own for word in text} for name, own in words.items()}
    empty = [name for name, vocabulary in vocabularies.items() if not vocabulary]
    if empty:
        raise InputError("datasets without words have no features", got=some(empty))
    pieces = {name: set().union(*map(_pieces, vocabulary)) for name, vocabulary in vocabularies.items()}
    pairs = {
        (source, target): {
            "vocabulary": _in_common(vocabularies[source], vocabularies[target]),
            "pieces": _in_common(pieces[source], pieces[target]),
        }
        | ({} if priors is None else {"priors": _prior_distance(priors[source], priors[target])})
        for source in texts
        for target in texts
    }
    alone = {
        name: {"length": float(np.mean([*map(len, own)])), "variety": _variety(own)} for name, own in words.items()
    }
    return Features(alone, pairs)


def _pieces(word: str) -> set[str]:
    padded = f" {word} "
    return {padded[start : start + PIECE] for start in range(max(1, len(padded) - PIECE + 1))}


def _in_common(some_words: set[str], others: set[str]) -> float:
    return len(some_words & others) / len(some_words | others)


def _prior_distance(shares: Mapping[str, float], others: Mapping[str, float]) -> float:
    """Half the sum of differences: the share of rows that would need another label."""
    return sum(abs(shares.get(label, 0.0) - others.get(label, 0.0)) for label in {*shares, *others}) / 2


def _variety(texts: Sequence[Sequence[str]]) -> float:
    words = list(islice((word for text in texts for word in text), WORDS))
    return len(set(words)) / len(words)


# -- files -------------------------------------------------------------------------------------------------------------


def read_features(path: str | Path) -> Features:
    """Features in a file: those of LITMUS as JSON, or CSV with the column name, or the columns source and target."""
    path = Path(path)
    if path.suffix == ".json":
        return read_language_features(path)
    names = column_names(path)
    keys = ["name"] if "name" in names else ["source", "target"]
    columns = [name for name in names if name not in keys]
    with reading(path):
        lines = read_delimited(recognise(path), [*keys, *columns], None)
    of: dict[tuple[str, ...], dict[str, float]] = {}
    problems = []
    for line, cells in zip(lines.all_numbers().tolist(), lines.table.to_pylist(), strict=True):
        key = tuple((cells[name] or "").strip() for name in keys)
        try:
            if not all(key) or key in of:
                raise InputError(f"{' and '.join(keys)} must be there, and only once")
            of[key] = {name: numeric(cells[name], name) for name in columns}
        except InputError as cause:
            problems.append(f"line {line}: {cause.message}")
    if problems or not of:
        raise TableError(f"{path} has wrong rows", problems=problems or ["there is no row"])
    if len(keys) == 1:
        return Features({name: values for (name,), values in of.items()})
    return Features(of_pair={(source, target): values for (source, target), values in of.items()})
