"""What labels are in other words: as a map says, or, for advice, as they are probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from unseen.errors import MismatchError
from unseen.types import some

ALL_OTHERS = "*"
"""In a map of labels: all that it does not name."""
NEGATIVE = {
    "0", "0.0", "false", "no", "none", "neither", "neutral", "normal", "negative", "ok", "fine", "clean", "safe",
    "benign", "ham", "other", "nothate", "label_0",
}  # fmt: skip
"""Labels that mean: nothing of the kind; so do those that begin with `non` or `not`."""


def renamed(labels: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Labels in the words of a map; what it does not name keeps its name, unless the map says `*`.

    >>> renamed(["hate", "offensive", "neither"], {"neither": "fine", "*": "hateful"})
    ['hateful', 'hateful', 'fine']
    """
    other = names.get(ALL_OTHERS)
    return [names.get(label, other or label) for label in labels]


def refuse_other_labels(
    labels: Sequence[str], suite: str, of_suite: Sequence[str], suite_map: Mapping[str, str]
) -> None:
    """Refuse a suite unless the labels of the data are all of its labels, under the names that the map gives them."""
    ours = list(dict.fromkeys(renamed(labels, suite_map)))
    if set(ours) != set(of_suite):
        guess = guessed_map(labels, of_suite) or {"of the data": "of the suite"}
        typed = ",".join(f"{theirs}={own}" for theirs, own in guess.items())
        raise MismatchError(
            f"the labels of the data are not those of the suite {suite}",
            expected=some(of_suite, 20),
            got=some(ours, 20),
            fix=f"--map {typed} on the command line, suite_map={guess!r} in Python",
        )


def guessed_map(theirs: Iterable[str], ours: Iterable[str]) -> dict[str, str] | None:
    """What each of their labels probably means among ours; None when that cannot be guessed.

    >>> guessed_map(["hateful", "non-hateful"], ["0", "1"])
    {'hateful': '1', 'non-hateful': '0'}
    >>> guessed_map(["cats", "dogs"], ["0", "1"])
    """
    theirs, ours = list(theirs), list(ours)
    folded = {label.casefold(): label for label in ours}
    if all(label.casefold() in folded for label in theirs):
        return {label: folded[label.casefold()] for label in theirs}
    negative, positive = ([label for label in ours if _is_negative(label) == side] for side in (True, False))
    one_sided = len({_is_negative(label) for label in theirs}) < 2
    if len(negative) != 1 or len(positive) != 1 or (len(theirs) > 1 and one_sided):
        return None
    return {label: (negative if _is_negative(label) else positive)[0] for label in theirs}


def _is_negative(label: str) -> bool:
    return label.casefold() in NEGATIVE or label.casefold().startswith(("non-", "non_", "non ", "not-", "not_", "not "))


def rename_hint(theirs: Iterable[str], ours: Iterable[str]) -> str:
    """How to say what the labels of a model mean, with a guess where there is one."""
    theirs = list(theirs)
    guess = guessed_map(theirs, ours)
    meant = guess or {"theirs": "ours"}
    maybe = ", if that is what they mean" if guess else ""
    return f"say what the model's labels mean: rename={meant!r}{maybe}"
