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
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.content import known_encoding, reading, recognise
from unseen.data.delimited import read_delimited
from unseen.data.labels import label_strings
from unseen.data.records import read_json
from unseen.data.tables import column_names
from unseen.errors import InputError, MismatchError, TableError, UnknownNameError, UnseenWarning
from unseen.functional.agreement import agreement, majority
from unseen.functional.links import template_links
from unseen.functional.outcomes import Codes, units
from unseen.functional.suite import MAIN
from unseen.types import Dataset, Measurement, some

REASONS = (None, "votes", "template", "reference")
"""Why a case goes; None: it stays."""


@dataclass(frozen=True, eq=False)
class Annotations:
    """What each annotator said about each case."""

    ids: tuple[str, ...]
    annotators: tuple[str, ...]
    values: tuple[str, ...]
    codes: Codes
    """Place in `values` [cases, annotators]; -1 where an annotator said nothing."""

    @cached_property
    def counts(self) -> npt.NDArray[np.intp]:
        """How often each case got each value [cases, values]."""
        return np.stack([(self.codes == code).sum(axis=1) for code in range(len(self.values))], axis=1)

    def majority(self) -> list[str | None]:
        """The value most annotators gave; None where there is no single one."""
        named = np.array([*self.values, None], dtype=object)
        return majority(named[self.codes])

    def said(self, row: int) -> str:
        """What annotators said about one case, for a reader: `rude 3, fine 2`."""
        order = sorted(zip(-self.counts[row], self.values, strict=True))
        return ", ".join(f"{value} {-n}" for n, value in order if n) or "nothing"

    def renamed(self, labels: Mapping[str, str], suite: Dataset) -> Annotations:
        """The annotations in the words of the suite, {theirs: ours}; several of theirs may become one of ours."""
        for theirs, ours in labels.items():
            if theirs not in self.values:
                raise UnknownNameError.of("value of the annotators", theirs, self.values)
            if ours not in suite.label_names:
                raise UnknownNameError.of(f"label of {suite.name} (for {theirs!r})", ours, suite.label_names)
        named = [labels.get(value, value) for value in self.values]
        values = sorted(set(named))
        places = np.array([*map(values.index, named), -1], dtype=np.intp)  # the last is for those who said nothing
        return Annotations(self.ids, self.annotators, tuple(values), places[self.codes])

    def of(self, suite: Dataset) -> Annotations:
        """The annotations of the suite's cases, in their order; refuses cases that nobody was asked about."""
        place = {name: row for row, name in enumerate(self.ids)}
        ids = suite.ids.to_pylist()
        lacking = [name for name in ids if name not in place]
        if lacking:
            raise MismatchError(
                f"{len(lacking)} of {len(ids)} cases of {suite.name} have no annotations", got=f"ids {some(lacking)}"
            )
        if len(self.ids) > len(ids):
            warnings.warn(f"{len(self.ids) - len(ids)} annotated cases are not in {suite.name}", UnseenWarning, 2)
        rows = np.array([place[name] for name in ids], dtype=np.intp)
        return Annotations(tuple(ids), self.annotators, self.values, self.codes[rows])


@dataclass(frozen=True, eq=False)
class Removal:
    """Which cases annotators do not confirm."""

    reasons: tuple[str | None, ...]
    """Of each case: None where it stays, otherwise `votes`, `template` or `reference`."""
    votes: npt.NDArray[np.intp]
    """Annotators who gave each case its gold label."""

    @property
    def kept(self) -> Codes:
        """Rows that stay."""
        return np.array([row for row, why in enumerate(self.reasons) if why is None], dtype=np.intp)


def load_annotations(
    path: str | Path,
    *,
    annotators: Sequence[str] = (),
    prefix: str | None = None,
    id: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Annotations:
    """The annotations in a table: a row per case, a column per annotator, blank where one said nothing.

    `annotators` names the columns; `prefix` takes those called PREFIX and a number, as in label_1, label_2.
    """
    names = column_names(path, delimiter, encoding)
    columns = _annotator_columns(path, names, annotators, prefix)
    key = id or next((each for each in MAIN["id"] if each in names), "id")
    with reading(Path(path)):
        file = recognise(Path(path), known_encoding(encoding))
        if file.format not in ("delimited", "json"):
            raise InputError(f"{path} is not a CSV or JSON file", fix="write the annotations as CSV")
        rows = (
            read_delimited(file, [key, *columns], delimiter)
            if file.format == "delimited"
            else read_json(file, [key, *columns])
        )
    said = [label_strings(rows.table[name], f"the column {name!r} of {path}") for name in columns]
    values = pa.array(sorted({value for each in said for value in each.unique().to_pylist() if value is not None}))
    if len(values) == 0:
        raise TableError(f"{path} holds no annotations", got=f"only blanks in {some(columns)}")
    found = [pc.fill_null(pc.index_in(each, value_set=values.cast(each.type)), -1) for each in said]
    ids = _ids(label_strings(rows.table[key], f"the column {key!r} of {path}"), path)
    codes = np.stack([each.to_numpy().astype(np.intp) for each in found], axis=1)
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
    _refuse_other_words(suite, annotations)
    _tell_strange_values(suite, annotations)
    place = {value: code for code, value in enumerate(annotations.values)}
    gold = np.array([place.get(name, -2) for name in suite.label_names])[suite.labels]
    votes = (annotations.codes == gold[:, None]).sum(axis=1)
    why = np.where(votes < least, REASONS.index("votes"), 0)
    template, (referring, referred) = units(suite), template_links(suite)
    _close(why, template, "template")
    while (more := _losing(referring, referred, template[why > 0], template[why == 0])).any():
        why[np.isin(template, referring[more])] = REASONS.index("reference")
    return Removal(tuple(REASONS[each] for each in why), votes)


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
    return agreement(of_suite.counts, of_suite.values, level=level, order=order, units=units(suite), seed=seed)


def _annotator_columns(
    path: str | Path, names: Sequence[str], annotators: Sequence[str], prefix: str | None
) -> list[str]:
    if bool(annotators) == (prefix is not None):
        raise InputError(
            "name the columns of the annotators, or give their prefix", got="both" if annotators else "neither"
        )
    for name in annotators:
        if name not in names:
            raise UnknownNameError.of(f"column of {path}", name, names)
    found = list(annotators) or [
        name for name in names if name.removeprefix(prefix or "").isdigit() and name.startswith(prefix or "")
    ]
    if len(set(found)) < 2:
        raise InputError(
            f"{path} has {len(set(found))} columns of annotators",
            expected="at least two",
            got=f"columns {some(names, 20)}",
        )
    return list(dict.fromkeys(found))


def _ids(column: pa.ChunkedArray, path: str | Path) -> tuple[str, ...]:
    if column.null_count:
        raise TableError(f"{column.null_count} rows of {path} have no id")
    repeated = len(column) - pc.count_distinct(column).as_py()
    if repeated:
        raise TableError(f"{repeated} rows of {path} have the id of another row", expected="one row per case")
    return tuple(column.to_pylist())


def _refuse_other_words(suite: Dataset, annotations: Annotations) -> None:
    if not {*annotations.values} & {*suite.label_names}:
        raise MismatchError(
            f"nothing that annotators said is a label of {suite.name}",
            expected=f"some of {some(suite.label_names, 20)}",
            got=some(annotations.values, 20),
            fix="say what each stands for: renamed({'theirs': 'ours'}, suite) (--map theirs=ours on the command line)",
        )


def _tell_strange_values(suite: Dataset, annotations: Annotations) -> None:
    strange = [value for value in annotations.values if value not in suite.label_names]
    if strange:
        said = f"annotators also said {some(strange)}, which are not labels of {suite.name}: they confirm no case"
        warnings.warn(said, UnseenWarning, 3)


def _close(why: Codes, template: Codes, reason: str) -> None:
    """Let every case go that is of a template with a case that goes."""
    why[np.isin(template, template[why > 0]) & (why == 0)] = REASONS.index(reason)


def _losing(referring: Codes, referred: Codes, gone: Codes, staying: Codes) -> npt.NDArray[np.bool_]:
    """Links from a template that stays to one that goes."""
    return np.isin(referring, staying) & np.isin(referred, gone)
