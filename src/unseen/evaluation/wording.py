"""Names and differences of metrics as people write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from unseen.errors import UnseenError
from unseen.types import Measurement
from unseen.types.numbers import bounds, number, percent, points, scored

if TYPE_CHECKING:
    from unseen.evaluation.metrics import Metric
    from unseen.evaluation.weighting import Weighting

SCORES = {
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "roc_auc": "ROC AUC",
    "average_precision": "average precision",
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ece": "calibration error",
}
SCHEMES = {
    "binary": "",
    "ovo": "one-vs-one",
    "ovr": "one-vs-rest",
    "ovo.macro": "one-vs-one",
    "ovr.macro": "one-vs-rest",
    "15": "15-bin",
}
INTERVAL = re.compile(r"\[([−+.\d]+), ([−+.\d]+)\]")
OF_LABEL = re.compile(r"^(?P<score>[a-z_0-9]+)\[(?P<label>.+)\]$", re.DOTALL)


def called(metric: str) -> str:
    """A metric's name in a sentence.

    >>> called("f1.macro"), called("f1[spam]"), called("roc_auc.ovo"), called("log_loss")
    ('macro F1', 'F1 of “spam”', 'one-vs-one ROC AUC', 'log loss')
    >>> called("f1.macro(exclude=none)"), called("recall.mix(hate=0.01,no=0.99)")
    ('macro F1 without “none”', 'recall in a mix of 1.0 % “hate”, 99.0 % “no”')
    """
    if metric.endswith(")"):
        weighting = getattr(_known(metric), "weighting", None)
        return metric if weighting is None else _weighted(SCORES[metric.partition(".")[0]], weighting)
    of_label = OF_LABEL.match(metric)
    if of_label:
        return f"{SCORES.get(of_label['score'], of_label['score'])} of “{of_label['label']}”"
    score, _, scheme = metric.partition(".")
    words = [SCHEMES.get(scheme, scheme.replace(".", " ")), SCORES.get(score, score.replace("_", " "))]
    return " ".join(filter(None, words))


def _weighted(score: str, weighting: Weighting) -> str:
    """The score of all labels by a weighting with parameters, in words."""
    if weighting.mix:
        return f"{score} in a mix of {', '.join(f'{percent(share)} “{name}”' for name, share in weighting.mix)}"
    power = "" if weighting.power is None else f" weighted by rows to the power of {weighting.power:g}"
    words = f"{score}{power}" if power else f"{weighting.scheme} {score}"
    words += f" without {' and '.join(f'“{name}”' for name in weighting.excluded)}" if weighting.excluded else ""
    return words + (" (N of the rest)" if weighting.total == "included" else "")


def capital(sentence: str) -> str:
    """The sentence with a capital at its start; the rest stays as it is."""
    return sentence[:1].upper() + sentence[1:]


def _known(metric: str) -> Metric | None:
    """The metric; None where nobody knows it."""
    from unseen.evaluation.metrics import metric as known

    try:
        return known(metric)
    except UnseenError:
        return None


def higher_is_better(metric: str) -> bool:
    """Whether more of this metric is better; yes for metrics nobody knows."""
    known = _known(metric)
    return known is None or known.higher_is_better


def farthest(metric: str) -> float:
    """How far apart two scores of this metric can be; 1 for metrics nobody knows."""
    known = _known(metric)
    return 1.0 if known is None else float(known.high - known.low)


def is_score(metric: str) -> bool:
    """Whether it is a metric of which it is known which way is better."""
    return _known(metric) is not None or metric == "pass_rate"


def in_points(metric: str) -> bool:
    """Whether differences of this metric are said in hundredths."""
    return not metric.startswith(("log_loss", "brier"))


def amount(metric: str, difference: float | None) -> str:
    """A difference of a metric with its unit."""
    return f"{points(difference)} points" if in_points(metric) else number(difference)


def writer(metric: str) -> Callable[[float | None], str]:
    """What writes a difference of a metric without its unit."""
    return points if in_points(metric) else number


def fallen(metric: str, row: Measurement) -> str:
    """A difference of a metric with its interval, without its unit."""
    return scored(row, writer(metric))


def amount_within(metric: str, row: Measurement) -> str:
    """A difference of a metric with its unit and its interval."""
    return " ".join(filter(None, [amount(metric, row.value), bounds(row, writer(metric))]))


def duration(seconds: float) -> str:
    """A time as one would say it.

    >>> duration(0.42), duration(59.6), duration(754), duration(7384)
    ('0.4 s', '1 min 0 s', '12 min 34 s', '2 h 3 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def unbroken(sentence: str) -> str:
    """The sentence with intervals and shares that no line break divides."""
    return INTERVAL.sub("[\\1,\u00a0\\2]", sentence).replace(" %", "\u00a0%")


def shortened(name: str, most: int) -> str:
    """The name, or both of its ends when it is longer than a picture has room for; control characters left out.

    >>> shortened("posts.minilm.closest", 13), shortened("posts.minilm.novel", 13)
    ('posts.…losest', 'posts.….novel')
    """
    clean = "".join(letter if letter.isprintable() else " " for letter in name)
    end = (most - 1) // 2
    return clean if len(clean) <= most else f"{clean[: most - 1 - end]}…{clean[len(clean) - end :]}"
