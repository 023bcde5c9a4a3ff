"""HateXplain's official file: posts with the judgement of three annotators each.

Mathew et al. 2021, section 3: a post has the label that at least two of its three annotators gave; a post with
three different labels has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unseen.errors import InputError, TableError
from unseen.store import read_json

SOURCE = re.compile(r"_(gab|twitter)$")
PARTS = {"train": "train", "val": "dev", "test": "test"}
DIVISIONS = "post_id_divisions.json"
NOBODY = "None"
"""What an annotator writes who sees no target."""


def read_posts(path: str | Path, divisions: str | Path | None = None, least: int = 1) -> list[dict[str, Any]]:
    """One row per post, in the order of the file: id, text, label, target, source, part.

    A post without a majority has the label None: load with `drop=["unlabelled"]`, which counts what it drops.
    `part` comes from the id lists in `divisions`, by default the file of that name beside `path`; it is empty
    when there are none, or when they do not name the post. `target` are the communities that at least `least`
    annotators name.
    """
    if not isinstance(least, int) or least < 1:
        raise InputError("least must be a number of annotators, at least 1", got=repr(least))
    posts = read_json(path)
    beside = Path(path).with_name(DIVISIONS) if divisions is None else Path(divisions)
    parts = read_parts(beside) if divisions is not None or beside.is_file() else {}
    rows, problems = [], []
    for post_id, post in posts.items():
        try:
            rows.append(_row(post_id, post, parts.get(post_id, ""), least))
        except (KeyError, TypeError, AttributeError) as cause:
            problems.append(f"post {post_id}: {type(cause).__name__} {cause}")
    if problems:
        raise TableError(
            f"{len(problems)} posts of {path} cannot be read",
            problems=problems,
            expected="post_tokens, and annotators with label and target",
        )
    return rows


def read_parts(path: str | Path) -> dict[str, str]:
    """Part of each post id, from the official id lists; the list `val` is the part dev."""
    return {post_id: PARTS[name] for name, ids in read_json(path).items() if name in PARTS for post_id in ids}


def majority(labels: list[str]) -> str | None:
    """The label that more than half of the annotators gave, or None."""
    label, votes = Counter(labels).most_common(1)[0] if labels else ("", 0)
    return label if votes * 2 > len(labels) else None


def targets(annotators: list[Mapping[str, Any]], least: int = 1) -> list[str]:
    """Every community that at least `least` annotators named, in alphabetical order; empty when there is none.

    The paper's bias figures count a community only when two annotators name it; the union of one is wider.
    """
    named = Counter(name for each in annotators for name in set(each["target"]))
    return sorted(name for name, times in named.items() if times >= least and name != NOBODY)


def source(post_id: str) -> str:
    """Where a post is from, by the end of its id; `unknown` for ids that do not say."""
    found = SOURCE.search(post_id)
    return found.group(1) if found else "unknown"


def _row(post_id: str, post: Mapping[str, Any], part: str, least: int) -> dict[str, Any]:
    return {
        "id": post_id,
        "text": " ".join(post["post_tokens"]),
        "label": majority([each["label"] for each in post["annotators"]]),
        "target": targets(post["annotators"], least),
        "source": source(post_id),
        "part": part,
    }
