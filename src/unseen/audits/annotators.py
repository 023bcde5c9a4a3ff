"""Whether annotators agreed less on the test texts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.types import Dataset, Measurement, Split

SMALL = 0.2
"""Differences of means below so many standard deviations are small."""


def annotators(
    data: Dataset, split: Split, train: npt.NDArray[np.intp], agreement: str | None
) -> tuple[list[Measurement], str, str, str]:
    """Mean agreement in test and training, with a level, a sentence and advice.

    `agreement` names a numeric attribute, higher where annotators agreed more; rows without it are left out.
    """
    if agreement is None:
        return [], "skipped", "No attribute says how far annotators agreed.", ""
    column = data.attribute(agreement)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return [], "skipped", f"The attribute {agreement!r} is not numeric, but {column.type}.", ""
    values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    test, rest = (values[rows][np.isfinite(values[rows])] for rows in (split.rows("test"), train))
    if len(test) < 2 or len(rest) < 2:
        return [], "skipped", f"The attribute {agreement!r} is missing in nearly all rows.", ""
    rows = [_mean(each, {"split": split.name, "part": part}) for part, each in (("test", test), ("train", rest))]
    apart = float(rest.mean() - test.mean())
    error = float(np.sqrt(rest.var(ddof=1) / len(rest) + test.var(ddof=1) / len(test)))
    said = f"Mean {agreement!r} is {test.mean():.3f} in the test part and {rest.mean():.3f} in the training part"
    if apart > 1.96 * error and apart > SMALL * float(rest.std(ddof=1)):
        advice = "Score the texts on which annotators agreed on their own: disputed texts have no right answer."
        return rows, "warn", f"{said}: annotators agreed less on the test texts.", advice
    return rows, "ok", f"{said}: no less agreement on the test texts worth naming.", ""


def _mean(values: npt.NDArray[np.float64], tags: dict[str, str | int | float]) -> Measurement:
    mean, reach = float(values.mean()), 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5
    return Measurement("annotator_agreement", mean, len(values), mean - reach, mean + reach, tags=tags)
