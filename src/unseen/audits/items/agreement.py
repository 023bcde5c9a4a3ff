"""How far two people agree on hand labels: plainly, beyond chance, and how often each says yes.

Of a scheme with several labels each binary view is measured: some of the labels against all others. Cohen (1960).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unseen.audits.findings import share_of
from unseen.audits.items.hand_labels import LEFT_OUT, Gold
from unseen.audits.items.rule import Mask
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.bootstrap import DRAWS, percentiles
from unseen.seeding import generator
from unseen.types import Measurement


def cohen_kappa(first: Mask, second: Mask) -> float | None:
    """Agreement of two yes-or-no judgements beyond chance; None when chance alone agrees fully, or without items."""
    if not len(first):
        return None
    value = float(_kappas(_table(first, second)[None])[0])
    return value if np.isfinite(value) else None


def annotator_agreement(
    gold: Gold,
    views: Mapping[str, Sequence[str]] | None = None,
    *,
    left_out: Sequence[str] = LEFT_OUT,
    seed: int = 42,
) -> list[Measurement]:
    """`rater_agreement`, `cohen_kappa` and both `prevalence` of each view, tag `view`, with intervals over items.

    `views` names sets of labels that count as yes; by default each label is one, of two labels the first. Items
    that either annotator labelled one of `left_out`, or did not label, are left out.
    """
    if gold.second is None:
        raise InputError("there is one annotator only", fix="name the second's column: second='…' (--second)")
    both = [
        (one, other)
        for one, other in zip(gold.labels, gold.second, strict=True)
        if other is not None and one not in left_out and other not in left_out
    ]
    if not both:
        raise InputError("no item was labelled by both annotators")
    first, second = (np.array(labels, dtype=object) for labels in zip(*both, strict=True))
    measurements: list[Measurement] = []
    for name, labels in _views(gold, views, left_out).items():
        measurements += _view(name, np.isin(first, list(labels)), np.isin(second, list(labels)), seed)
    return measurements


def _views(
    gold: Gold, views: Mapping[str, Sequence[str]] | None, left_out: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    known = [name for name in gold.values if name not in left_out]
    for labels in (views or {}).values():
        for label in labels:
            if label not in known:
                raise UnknownNameError.of("hand label", label, known)
    return views or {name: (name,) for name in (known[:1] if len(known) == 2 else known)}


def _view(name: str, first: Mask, second: Mask, seed: int) -> list[Measurement]:
    tags: dict[str, str | int | float] = {"view": name}
    value, low, high = cohen_kappa(first, second), None, None
    if value is not None:
        table = _table(first, second)
        drawn = generator(seed, "annotators").multinomial(len(first), table / table.sum(), size=DRAWS)
        low, high = percentiles(_kappas(drawn)) or (None, None)
    return [
        share_of("rater_agreement", first == second, tags),
        Measurement("cohen_kappa", value, len(first) if value is not None else 0, low, high, tags=tags),
        share_of("prevalence", first, tags | {"annotator": "first"}),
        share_of("prevalence", second, tags | {"annotator": "second"}),
    ]


def _table(first: Mask, second: Mask) -> npt.NDArray[np.int64]:
    """How often: both yes, only the first, only the second, neither."""
    codes = 2 * (~first).astype(np.int64) + ~second
    return np.bincount(codes, minlength=4)


def _kappas(tables: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Kappa of many tables [tables, 4]; NaN where chance agrees fully."""
    n = tables.sum(axis=1)
    observed = (tables[:, 0] + tables[:, 3]) / n
    yes_first, yes_second = (tables[:, 0] + tables[:, 1]) / n, (tables[:, 0] + tables[:, 2]) / n
    chance = yes_first * yes_second + (1 - yes_first) * (1 - yes_second)
    return np.asarray((observed - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan))
