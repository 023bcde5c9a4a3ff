"""What annotators said about the cases of a suite, and which cases it confirms.

A case that too few annotators give its gold label goes, and with it all cases of its template: they are the same
sentence with another word. Cases that refer to what is gone lose what they are compared with, so their templates
go too. Röttger et al. (2021) remove this way; the last step they do not tell, but the files of HateCheck show it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.tables import column_names, read_strings
from unseen.errors import InputError, MismatchError, TableError, UnseenWarning
from unseen.functional.agreement import agreement
from unseen.functional.suite import MAIN, template_codes, template_links
from unseen.registry import require_known
from unseen.types import Dataset, Measurement, some, string_array
from unseen.types.arrays import Rows, places_among

REASONS = (None, "votes", "template", "reference")
"""Why a case goes; None: it stays."""


@dataclass(frozen=True, eq=False)
class Annotations:
    """What each annotator said about each case."""

    ids: tuple[str, ...]
    annotators: tuple[str, ...]
    values: tuple[str, ...]
    codes: Rows
    """Place in `values` [cases, annotators]; -1 where an annotator said nothing."""

    @cached_property
    def counts(self) -> Rows:
        """How often each case got each value [cases, values]."""
        return np.stack([(self.codes == code).sum(axis=1) for code in range(len(self.values))], axis=1)

    def summary(self, row: int) -> str:
        """What annotators said about one case, for a reader: `rude 3, fine 2`."""
        order = sorted(zip(-self.counts[row], self.values, strict=True))
        return ", ".join(f"{value} {-n}" for n, value in order if n) or "nothing"

    def renamed(self, labels: Mapping[str, str], suite: Dataset) -> Annotations:
        """The annotations in the words of the suite, {theirs: ours}; several of theirs may become one of ours."""
        for theirs, ours in labels.items():
            require_known("value of the annotators", self.values, theirs)
            require_known(f"label of {suite.name} (for {theirs!r})", suite.label_names, ours)
        named = [labels.get(value, value) for value in self.values]
        values = sorted(set(named))
        places = np.array([*map(values.index, named), -1], dtype=np.intp)  # the last is for those who said nothing
        return Annotations(self.ids, self.annotators, tuple(values), places[self.codes])

    def of(self, suite: Dataset) -> Annotations:
        """The annotations of the suite's cases, in their order; refuses cases that nobody was asked about."""
        rows = places_among(suite.ids, string_array(self.ids), f"cases of {suite.name} have no annotations")
        if len(self.ids) > len(rows):
            warnings.warn(f"{len(self.ids) - len(rows)} annotated cases are not in {suite.name}", UnseenWarning, 2)
        return Annotations(tuple(suite.ids.to_pylist()), self.annotators, self.values, self.codes[rows])


@dataclass(frozen=True, eq=False)
class Removal:
    """Which cases annotators do not confirm."""

    reasons: tuple[str | None, ...]
    """Of each case: None where it stays, otherwise `votes`, `template` or `reference`."""
    votes: Rows
    """Annotators who gave each case its gold label."""

    @property
    def kept(self) -> Rows:
        """Rows that stay."""
        return np.array([row for row, why in enumerate(self.reasons) if why is None], dtype=np.intp)


def load_annotations(
    path: str | Path,
    *,
    annotators: Sequence[str] = (),
    prefix: str | None = None,
    id: str | None = None,
) -> Annotations:
    """The annotations in a table: a row per case, a column per annotator, blank where one said nothing.

    `annotators` names the columns; `prefix` takes those called PREFIX and a number, as in label_1, label_2.
    """
    names = column_names(path)
    columns = _annotator_columns(path, names, annotators, prefix)
    key = id or next((name for name in MAIN["id"] if name in names), "id")
    answers = read_strings(path, [key, *columns], "annotations")
    ratings = [answers[name] for name in columns]
    values = pa.array(sorted({value for rating in ratings for value in rating.drop_null().unique().to_pylist()}))
    if len(values) == 0:
        raise TableError(f"{path} holds no annotations", got=f"only blanks in {some(columns)}")
    places = [pc.fill_null(pc.index_in(rating, value_set=values.cast(rating.type)), -1) for rating in ratings]
    ids = _ids(answers[key], path)
    codes = np.stack([place.to_numpy().astype(np.intp) for place in places], axis=1)
    return Annotations(ids, tuple(columns), tuple(values.to_pylist()), codes)


def confirmed(suite: Dataset, annotations: Annotations, least: int = 4) -> Removal:
    """Which cases of the suite stay when at least `least` annotators must give a case its gold label.

    The others go, then all cases of their templates, then all templates with a case that refers to what is gone.
    Annotations none of which is a label of the suite are refused: they would confirm nothing.
    """
    annotations = annotations.of(suite)
    if not 1 <= least <= len(annotations.annotators):
        raise InputError(
            "least must be a number of annotators", expected=f"1 to {len(annotations.annotators)}", got=str(least)
        )
    strange = [value for value in annotations.values if value not in suite.label_names]
    if len(strange) == len(annotations.values):
        raise MismatchError(
            f"nothing that annotators said is a label of {suite.name}",
            expected=f"some of {some(suite.label_names, 20)}",
            got=some(annotations.values, 20),
            fix="say what each stands for: renamed({'theirs': 'ours'}, suite) (--map theirs=ours on the command line)",
        )
    if strange:
        note = f"annotators also said {some(strange)}, which are not labels of {suite.name}: they confirm no case"
        warnings.warn(note, UnseenWarning, 2)
    place = {value: code for code, value in enumerate(annotations.values)}
    gold = np.array([place.get(name, -2) for name in suite.label_names])[suite.labels]
    votes = (annotations.codes == gold[:, None]).sum(axis=1)
    reason = np.where(votes < least, REASONS.index("votes"), 0)
    template, (referring, referred) = template_codes(suite), template_links(suite)
    reason[np.isin(template, template[reason > 0]) & (reason == 0)] = REASONS.index("template")
    while True:
        gone, staying = template[reason > 0], template[reason == 0]
        losing = np.isin(referring, staying) & np.isin(referred, gone)  # links from what stays to what goes
        if not losing.any():
            return Removal(tuple(REASONS[code] for code in reason), votes)
        reason[np.isin(template, referring[losing])] = REASONS.index("reference")


def rater_agreement(
    suite: Dataset,
    annotations: Annotations,
    *,
    level: str = "nominal",
    order: Sequence[str] | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """Agreement, kappa and alpha on the suite's cases, with intervals from drawing whole templates.

    `level` and `order` say what the values are, as for `krippendorff_alpha`.
    """
    of_suite = annotations.of(suite)
    return agreement(
        of_suite.counts, of_suite.values, level=level, order=order, groups=template_codes(suite), seed=seed
    )


def _annotator_columns(
    path: str | Path, names: Sequence[str], annotators: Sequence[str], prefix: str | None
) -> list[str]:
    if bool(annotators) == (prefix is not None):
        raise InputError(
            "name the columns of the annotators, or give their prefix", got="both" if annotators else "neither"
        )
    require_known(f"column of {path}", names, *annotators)
    numbered = [name for name in names if name.removeprefix(prefix or "").isdigit() and name.startswith(prefix or "")]
    columns = list(dict.fromkeys(annotators or numbered))
    if len(columns) < 2:
        raise InputError(
            f"{path} has {len(columns)} columns of annotators",
            expected="at least two",
            got=f"columns {some(names, 20)}",
        )
    return columns


def _ids(column: pa.ChunkedArray, path: str | Path) -> tuple[str, ...]:
    if column.null_count:
        raise TableError(f"{column.null_count} rows of {path} have no id")
    repeated = len(column) - pc.count_distinct(column).as_py()
    if repeated:
        raise TableError(f"{repeated} rows of {path} have the id of another row", expected="one row per case")
    return tuple(column.to_pylist())
