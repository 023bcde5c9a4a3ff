"""What the labels of a model probably mean in the words of the data, for advice; nothing is renamed by itself."""

from __future__ import annotations

from collections.abc import Iterable

NEGATIVE = {
    "0", "0.0", "false", "no", "none", "neither", "neutral", "normal", "negative", "ok", "fine", "clean", "safe",
    "benign", "ham", "other", "nothate", "label_0",
}  # fmt: skip
"""Labels that mean: nothing of the kind; so do those that begin with `non` or `not`."""


def guessed_map(theirs: Iterable[str], ours: Iterable[str]) -> dict[str, str] | None:
    """What each of their labels probably means among ours; None when that cannot be guessed.

    >>> guessed_map(["hateful", "non-hateful"], ["0", "1"])
    {'hateful': '1', 'non-hateful': '0'}
    >>> guessed_map(["cats", "dogs"], ["0", "1"])
    """
    theirs, ours = list(theirs), list(ours)
    folded = {each.casefold(): each for each in ours}
    if all(each.casefold() in folded for each in theirs):
        return {each: folded[each.casefold()] for each in theirs}
    sides = [
        {is_none: [each for each in names if _is_negative(each) == is_none] for is_none in (True, False)}
        for names in (theirs, ours)
    ]
    if any(len(each) != 1 for each in sides[1].values()) or (len(theirs) > 1 and not all(sides[0].values())):
        return None
    return {each: sides[1][_is_negative(each)][0] for each in theirs}


def _is_negative(label: str) -> bool:
    return label.casefold() in NEGATIVE or label.casefold().startswith(("non-", "non_", "non ", "not-", "not_", "not "))


def rename_hint(theirs: Iterable[str], ours: Iterable[str]) -> str:
    """How to say what the labels of a model mean, with a guess where there is one."""
    theirs = list(theirs)
    guess = guessed_map(theirs, ours)
    meant = guess or {"theirs": "ours"}
    said = ",".join(f"{each}={own}" for each, own in meant.items())
    maybe = ", if that is what they mean" if guess else ""
    return f"say what the model's labels mean: --map {said} of unseen check, rename={meant!r} in Python{maybe}"
