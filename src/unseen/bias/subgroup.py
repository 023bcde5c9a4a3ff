"""Bias of a ranking by group: subgroup AUCs, equality gaps and their means (Borkan et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.bias.binary import binary
from unseen.bias.bounds import bounds, reflected, refusal
from unseen.bias.groups import Groups, Mask, drawn_together
from unseen.bias.orderings import Figures, Floats, Orderings
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.counting import times_drawn
from unseen.evaluation.intervals import DRAWS
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, Predictions

BACKGROUNDS = ("all", "mentioned")
AUCS = ("subgroup_auc", "bpsn_auc", "bnsp_auc")
GAPS = ("positive_aeg", "negative_aeg")
POWER = -5.0
"""Of the generalised mean: the lower a group's AUC, the more it counts."""


def subgroup_measurements(
    data: Dataset,
    predictions: Predictions,
    groups: Groups,
    rows: npt.NDArray[np.intp],
    positive: Sequence[str],
    *,
    background: str = "all",
    units: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """Three AUCs and two equality gaps of every group, then their means over groups, with 95 % intervals.

    The score is the summed probability of the `positive` labels. The background of a group is `all` rows that do
    not mention it, or only those that do not but have some other group `mentioned`. A number whose rows lack a
    class has no value and says why in the tag `undefined`; a mean leaves it out and says in the tag `groups` over
    how many of how many groups it was taken. One bootstrap of the rows, or of the values of the attribute `units`,
    serves all intervals; a draw in which a group of the mean lacks a class says nothing about the mean. The mean size
    of the gaps has no interval, because resampling adds to it: the tag `by_chance` is how far resampling moves a gap.
    """
    if background not in BACKGROUNDS:
        raise UnknownNameError.of("background", background, BACKGROUNDS)
    refuse_labels(predictions)
    members = groups.of_rows(data, rows)
    gold, scores = binary(data, predictions, rows, positive)
    everybody = np.asarray(members.any(axis=1) | (background == "all"))
    unit = drawn_together(data, rows, units)
    orderings = Orderings(scores, gold, members, everybody, unit)
    value, drawn = _resampled(orderings, int(unit.max(initial=-1)) + 1, draws, seed)
    tags = {**(tags or {}), "grouping": groups.grouping, "background": background}
    sizes = _sizes(gold, members, everybody)
    texts = _texts(_sizes(gold, members, everybody, unit))
    means = _of_means(value, drawn, texts, int(everybody.sum()), tags)
    return _of_groups(groups, value, drawn, sizes, texts, tags) + means


def refuse_labels(predictions: Predictions) -> None:
    """Refuse predictions that are labels only: they rank nothing."""
    if predictions.origin.params.get("hard"):
        raise InputError(
            "subgroup AUCs need probabilities, but these predictions are labels",
            fix="ask the model for probabilities, or compare rates of the groups: metrics=['false_positive_rate'] "
            "of group_measurements (--metric false_positive_rate on the command line)",
        )


def generalised_mean(values: Floats, power: float = POWER) -> Floats:
    """The power mean over the first axis; zero when a value is, NaN when one is unknown."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    with np.errstate(divide="ignore"):
        return np.asarray(np.mean(np.asarray(values, np.float64) ** power, axis=0) ** (1 / power))


def _resampled(orderings: Orderings, units: int, draws: int, seed: int) -> tuple[Floats, Floats]:
    """The numbers [numbers, groups], and those of `draws` bootstrap samples [numbers, groups, draws]."""
    value = np.stack(orderings.figures(np.ones((1, units), np.int64)))[:, :, 0]
    if not units:
        return value, np.empty((*value.shape, 0))
    blocks = times_drawn(units, draws, generator(seed, "bootstrap"))
    return value, np.concatenate([np.stack(orderings.figures(times)) for times in blocks], axis=2)


def _texts(sizes: Mapping[str, list[tuple[str, npt.NDArray[np.intp]]]]) -> npt.NDArray[np.intp]:
    """The size of the smaller one of the two sets behind each number [numbers, groups]."""
    return np.stack([np.minimum(*(counts for _, counts in sizes[metric])) for metric in Figures._fields])


def _sizes(
    gold: Mask, members: Mask, everybody: Mask, unit: npt.NDArray[np.intp] | None = None
) -> dict[str, list[tuple[str, npt.NDArray[np.intp]]]]:
    """The two sets of rows that each number compares: what they are, and how many rows, or units, each group has."""

    def counted(which: Mask) -> npt.NDArray[np.intp]:
        if unit is None:
            return which.sum(axis=0)
        return np.array([len(np.unique(unit[column])) for column in which.T], np.intp)

    kinds = {"+": gold[:, None], "-": ~gold[:, None]}
    mine = {kind: counted(members & is_kind) for kind, is_kind in kinds.items()}
    rest = {kind: counted(~members & is_kind & everybody[:, None]) for kind, is_kind in kinds.items()}
    group_p, group_n = ("positive rows in the group", mine["+"]), ("negative rows in the group", mine["-"])
    rest_p, rest_n = ("positive rows in the background", rest["+"]), ("negative rows in the background", rest["-"])
    return {
        "subgroup_auc": [group_p, group_n],
        "bpsn_auc": [rest_p, group_n],
        "bnsp_auc": [group_p, rest_n],
        "positive_aeg": [group_p, rest_p],
        "negative_aeg": [group_n, rest_n],
    }


def _of_groups(
    groups: Groups,
    value: Floats,
    drawn: Floats,
    sizes: Mapping[str, list[tuple[str, npt.NDArray[np.intp]]]],
    texts: npt.NDArray[np.intp],
    tags: Mapping[str, Any],
) -> list[Measurement]:
    (_, positives), (_, negatives) = sizes["subgroup_auc"]
    found = []
    for group, name in enumerate(groups.slices):
        own = {**tags, "positives": int(positives[group]), "negatives": int(negatives[group])}
        for number, metric in enumerate(Figures._fields):
            lacking = [f"no {what}" for what, counts in sizes[metric] if not counts[group]]
            n = sum(int(counts[group]) for _, counts in sizes[metric])
            if lacking:
                said = {**own, "undefined": " and ".join(lacking)}
                found.append(Measurement(f"bias.{metric}", None, n, slice=name, tags=said))
            else:
                few = int(texts[number, group])
                around = bounds(drawn[number, group], few)
                said = {**own, **refusal(around, few)}
                found.append(Measurement(f"bias.{metric}", float(value[number, group]), n, *around, name, said))
    return found


def _of_means(
    value: Floats, drawn: Floats, texts: npt.NDArray[np.intp], n: int, tags: Mapping[str, Any]
) -> list[Measurement]:
    found = []
    for number, metric in enumerate(Figures._fields):
        known = np.isfinite(value[number])
        said: dict[str, Any] = {**tags, "groups": f"{int(known.sum())} of {len(known)}"}
        name = f"bias.gmb_{metric}" if metric in AUCS else f"bias.mean_{metric}"
        mine, resampled = value[number, known], drawn[number, known]
        if not known.any():
            found.append(Measurement(name, None, n, tags={**said, "undefined": "no group has both sets of rows"}))
        elif metric in AUCS:
            mean = float(generalised_mean(mine))
            few = int(texts[number, known].min())  # the lowest groups count most
            around = reflected(mean, generalised_mean(resampled), few)
            found.append(Measurement(name, mean, n, *around, tags={**said, **refusal(around, few)}))
        else:
            noise = np.abs(resampled - mine[:, None])
            said |= {"by_chance": float(np.nanmean(noise))} if np.isfinite(noise).any() else {}
            found.append(Measurement(name, float(np.abs(mine).mean()), n, tags=said))
    return found
