"""Bias of a ranking by group: subgroup AUCs, equality gaps and their means (Borkan et al. 2019).

All five figures are shares of pairs: how often a row of one set scores above a row of another, ties half. A background
is everybody less the group, so its pairs are a difference, and one pass over the rows serves all groups, for many
resamples at once.

=============  ================================================================================================
subgroup_auc   share of pairs in which a positive row of the group is above a negative one of it
bpsn_auc       the same of positive rows of the background and negative rows of the group
bnsp_auc       the same of positive rows of the group and negative rows of the background
positive_aeg   ½ less the share of pairs in which a positive row of the group is above one of the background
negative_aeg   the same of negative rows
=============  ================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, times_drawn
from unseen.registry import require_known
from unseen.seeding import generator
from unseen.subgroups.bounds import bounds, chance, reflected, refusal
from unseen.subgroups.groups import Groups, drawn_together
from unseen.subgroups.positives import binary, shares
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Mask, Rows

BACKGROUNDS = ("all", "mentioned")
AUCS = ("subgroup_auc", "bpsn_auc", "bnsp_auc")
OWN_POSITIVE, OWN_NEGATIVE = "positive rows in the group", "negative rows in the group"
REST_POSITIVE, REST_NEGATIVE = "positive rows in the background", "negative rows in the background"
FIGURES: Mapping[str, tuple[str, str]] = {
    "subgroup_auc": (OWN_POSITIVE, OWN_NEGATIVE),
    "bpsn_auc": (REST_POSITIVE, OWN_NEGATIVE),
    "bnsp_auc": (OWN_POSITIVE, REST_NEGATIVE),
    "positive_aeg": (OWN_POSITIVE, REST_POSITIVE),
    "negative_aeg": (OWN_NEGATIVE, REST_NEGATIVE),
}
"""The two sets of rows whose pairs each figure is a share of."""
POWER = -5.0
"""Of the generalised mean: the lower a group's AUC, the more it counts."""


def subgroup_measurements(
    data: Dataset,
    predictions: Predictions,
    groups: Groups,
    rows: Rows,
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
    Where a group has fewer than ten texts there is neither, and the tag `few_texts` says so.
    """
    require_known("background", BACKGROUNDS, background)
    refuse_labels(predictions)
    members = groups.of_rows(data, rows)
    gold, scores = binary(data, predictions, rows, positive)
    everybody = np.asarray(members.any(axis=1) | (background == "all"))
    unit = drawn_together(data, rows, units)
    figures = _figures_by_times(scores, gold, members, everybody, unit)
    value, drawn = _resampled(figures, int(unit.max(initial=-1)) + 1, draws, seed)
    tags = {**(tags or {}), "grouping": groups.grouping, "background": background}
    rest = ~members & everybody[:, None]
    sets = {
        OWN_POSITIVE: members & gold[:, None],
        OWN_NEGATIVE: members & ~gold[:, None],
        REST_POSITIVE: rest & gold[:, None],
        REST_NEGATIVE: rest & ~gold[:, None],
    }
    sizes = {name: mask.sum(axis=0) for name, mask in sets.items()}
    drawable = {name: np.array([len(np.unique(unit[own])) for own in mask.T]) for name, mask in sets.items()}
    texts = np.stack([np.minimum(drawable[first], drawable[second]) for first, second in FIGURES.values()])
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


def _figures_by_times(
    scores: Floats, positive: Mask, members: Mask, everybody: Mask, unit: Rows
) -> Callable[[Codes], Floats]:
    """A function that gives the figures [figures, groups, draws] when each unit is there so many times [draws, units].

    `everybody` are the rows that may be background, members of groups among them. NaN where a set has no rows.
    """
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    row, group = np.nonzero(members[order])
    rows = unit[order], np.searchsorted(ascending, ascending, "right"), positive[order], everybody[order]
    starts = np.searchsorted(row, np.arange(len(order) + 1))

    def figures(times: Codes) -> Floats:
        from unseen.subgroups import kernels

        counts, totals = kernels.count_pairs(times, *rows, starts, group, members.shape[1])
        of_kind = counts.T.astype(np.float64)  # [counts, groups, draws]
        p, n, own = of_kind[kernels.POSITIVE], of_kind[kernels.NEGATIVE], of_kind[kernels.OWN]
        everybody_p, everybody_n = totals.T.astype(np.float64)
        rest_p, rest_n = everybody_p - p, everybody_n - n
        # pairs are counted twice
        return np.stack(
            [
                shares(own, 2 * (p * n)),
                shares(2 * everybody_p * n - of_kind[kernels.N_OVER_P] - own, 2 * (rest_p * n)),
                shares(of_kind[kernels.P_OVER_N] - own, 2 * (p * rest_n)),
                0.5 - shares(of_kind[kernels.P_OVER_P] - p * p, 2 * (p * rest_p)),
                0.5 - shares(of_kind[kernels.N_OVER_N] - n * n, 2 * (n * rest_n)),
            ]
        )

    return figures


def _resampled(figures: Callable[[Codes], Floats], units: int, draws: int, seed: int) -> tuple[Floats, Floats]:
    """The figures [figures, groups], and those of `draws` bootstrap samples [figures, groups, draws]."""
    value = figures(np.ones((1, units), np.int64))[:, :, 0]
    if not units:
        return value, np.empty((*value.shape, 0))
    blocks = times_drawn(units, draws, generator(seed, "bootstrap"))
    return value, np.concatenate([figures(times) for times in blocks], axis=2)


def _of_groups(
    groups: Groups, value: Floats, drawn: Floats, sizes: Mapping[str, Rows], texts: Rows, tags: Mapping[str, Any]
) -> list[Measurement]:
    measurements = []
    for group, slice_ in enumerate(groups.slices):
        of_group = {"positives": int(sizes[OWN_POSITIVE][group]), "negatives": int(sizes[OWN_NEGATIVE][group])}
        for number, (figure, sets) in enumerate(FIGURES.items()):
            metric, n = f"bias.{figure}", sum(int(sizes[name][group]) for name in sets)
            own_tags = {**tags, **of_group}
            if lacking := [f"no {name}" for name in sets if not sizes[name][group]]:
                own_tags["undefined"] = " and ".join(lacking)
                measurements.append(Measurement(metric, None, n, slice=slice_, tags=own_tags))
                continue
            fewest = int(texts[number, group])
            interval = bounds(drawn[number, group], fewest)
            own_tags |= refusal(interval, fewest)
            measurements.append(Measurement(metric, float(value[number, group]), n, *interval, slice_, own_tags))
    return measurements


def _of_means(value: Floats, drawn: Floats, texts: Rows, n: int, tags: Mapping[str, Any]) -> list[Measurement]:
    measurements = []
    for number, figure in enumerate(FIGURES):
        known = np.isfinite(value[number])
        own_tags: dict[str, Any] = {**tags, "groups": f"{int(known.sum())} of {len(known)}"}
        metric = f"bias.gmb_{figure}" if figure in AUCS else f"bias.mean_{figure}"
        values, resampled = value[number, known], drawn[number, known]
        fewest = int(texts[number, known].min()) if known.any() else 0
        if not known.any():
            own_tags["undefined"] = "no group has both sets of rows"
            measurements.append(Measurement(metric, None, n, tags=own_tags))
        elif figure in AUCS:
            mean = float(generalised_mean(values))
            interval = reflected(mean, generalised_mean(resampled), fewest)  # the lowest groups count most
            measurements.append(Measurement(metric, mean, n, *interval, tags=own_tags | refusal(interval, fewest)))
        else:
            noise = np.abs(resampled - values[:, None])
            own_tags |= chance(float(noise[np.isfinite(noise)].mean()) if np.isfinite(noise).any() else np.nan, fewest)
            measurements.append(Measurement(metric, float(np.abs(values).mean()), n, tags=own_tags))
    return measurements
