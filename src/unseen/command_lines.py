"""Commands of this program as people type them, with something changed."""

from __future__ import annotations

import shlex


def with_option(command: str, *names: str, value: str) -> str | None:
    """The command with another value of an option, under the last of its names; None where it is none of ours.

    >>> with_option("unseen stress 'my posts.csv' --out=a --seeds 42", "--out", "-o", value="b c")
    "unseen stress 'my posts.csv' --seeds 42 -o 'b c'"
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words[:1] != ["unseen"]:
        return None
    before = ["", *words]
    kept = [
        word
        for word, last in zip(words, before, strict=False)
        if last not in names and word not in names and not word.startswith(tuple(f"{name}=" for name in names))
    ]
    return shlex.join([*kept, names[-1], value])
