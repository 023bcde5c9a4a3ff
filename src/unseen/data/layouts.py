"""Published layouts that are not a table with one text per row, turned into rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.data.rationales import written_spans
from unseen.errors import InputError, TableError
from unseen.store import read_json

NUMBERED = re.compile(r"^(\d+)\. ?", re.MULTILINE)
HATEXPLAIN_SOURCE = re.compile(r"_(gab|twitter)$")
HATEXPLAIN_PARTS = {"train": "train", "val": "dev", "test": "test"}
HATEXPLAIN_DIVISIONS = "post_id_divisions.json"
NOBODY = "None"
"""What an annotator of HateXplain writes who sees no target."""


def text_files(path: str | Path, texts: str) -> list[dict[str, Any]]:
    """Rows of the table in `path` with a column `text`, read from one file per row.

    `texts` is the place of that file beside the table, with columns in braces: `texts/{id}.txt`.
    """
    path = Path(path)
    folder = path.parent.resolve()
    rows, problems = [], []
    for line, row in _csv_rows(path):
        place = (folder / texts.format(**row)).resolve()
        if not place.is_relative_to(folder):
            raise TableError(f"line {line} of {path} names a text outside its folder", got=str(place))
        try:
            rows.append({**row, "text": place.read_text(encoding="utf-8").strip()})
        except (OSError, UnicodeDecodeError) as cause:
            problems.append(f"line {line}: {place.name}: {cause}")
    if problems:
        raise TableError(f"{len(problems)} texts of {path} cannot be read", problems=problems)
    return rows


def numbered_turns(path: str | Path, marked: str, labels: Sequence[str]) -> list[dict[str, Any]]:
    """One row per turn of the conversations in `path`: id, text, label, conversation, post_id.

    The columns `id` and `text` hold numbered lines, one per turn; the column `marked` lists the numbers of the
    turns with the second of `labels`, the others have the first. A row's id is conversation and turn.
    """
    rows: list[dict[str, Any]] = []
    for conversation, (_, row) in enumerate(_csv_rows(Path(path))):
        if not {"id", "text", marked} <= row.keys():
            raise InputError(
                f"{path} cannot be read as conversations",
                expected=f"the columns id, text, {marked}",
                got=", ".join(row),
                fix="a copy without texts holds ids only: get the revision with texts",
            )
        marked_turns = set(map(int, re.findall(r"\d+", row[marked])))
        post_ids = turns(row["id"])
        for number, text in turns(row["text"]).items():
            rows.append(
                {
                    "id": f"{conversation}.{number}",
                    "text": text,
                    "label": labels[number in marked_turns],
                    "conversation": str(conversation),
                    "post_id": post_ids.get(number, ""),
                }
            )
    return rows


def turns(numbered: str) -> dict[int, str]:
    """Text by number of `1. first` and `2. second` on lines of their own; a number out of turn is text."""
    starts: list[re.Match[str]] = []
    for start in NUMBERED.finditer(numbered):
        if int(start[1]) == len(starts) + 1:
            starts.append(start)
    ends = [start.start() for start in starts[1:]] + [len(numbered)]
    spans = zip(starts, ends, strict=False)
    return {number: numbered[start.end() : end].strip() for number, (start, end) in enumerate(spans, 1)}


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row, by column name."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            for row in reader:
                row.pop(None, None)
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        raise InputError(f"cannot read {path}: {cause}") from cause


def hatexplain_posts(path: str | Path, divisions: str | Path | None = None, least: int = 1) -> list[dict[str, Any]]:
    """One row per post of HateXplain's official file, in its order: id, text, label, target, source, part, rationales.

    A post has the label that at least two of its three annotators gave (Mathew et al. 2021, section 3). A post
    without a majority has the label None: load with `drop=["unlabelled"]`, which counts what it drops.
    `part` comes from the id lists in `divisions`, by default the file of that name beside `path`; it is empty
    when there are none, or when they do not name the post. `target` are the communities that at least `least`
    annotators name. `rationales` are the tokens that each annotator highlighted, a span of the text for each token;
    posts that most call normal have none.
    """
    if not isinstance(least, int) or least < 1:
        raise InputError("least must be a number of annotators, at least 1", got=repr(least))
    posts = read_json(path)
    beside = Path(path).with_name(HATEXPLAIN_DIVISIONS) if divisions is None else Path(divisions)
    parts = hatexplain_parts(beside) if divisions is not None or beside.is_file() else {}
    rows, problems = [], []
    for post_id, post in posts.items():
        try:
            row = {
                "id": post_id,
                "text": " ".join(post["post_tokens"]),
                "label": majority([annotator["label"] for annotator in post["annotators"]]),
                "target": targets(post["annotators"], least),
                "source": hatexplain_source(post_id),
                "part": parts.get(post_id, ""),
                "rationales": [written_spans(mask, post["post_tokens"]) for mask in post.get("rationales") or []],
            }
            rows.append(row)
        except (KeyError, TypeError, AttributeError) as cause:
            problems.append(f"post {post_id}: {type(cause).__name__} {cause}")
    if problems:
        raise TableError(
            f"{len(problems)} posts of {path} cannot be read",
            problems=problems,
            expected="post_tokens, and annotators with label and target",
        )
    return rows


def hatexplain_parts(path: str | Path) -> dict[str, str]:
    """Part of each post id, from the official id lists; the list `val` is the part dev."""
    lists = {name: ids for name, ids in read_json(path).items() if name in HATEXPLAIN_PARTS}
    return {post_id: HATEXPLAIN_PARTS[name] for name, ids in lists.items() for post_id in ids}


def hatexplain_source(post_id: str) -> str:
    """Where a post is from, by the end of its id; `unknown` for ids that do not say."""
    source = HATEXPLAIN_SOURCE.search(post_id)
    return source[1] if source else "unknown"


def majority(labels: list[str]) -> str | None:
    """The label that more than half of the annotators gave, or None."""
    label, votes = Counter(labels).most_common(1)[0] if labels else ("", 0)
    return label if votes * 2 > len(labels) else None


def targets(annotators: list[Mapping[str, Any]], least: int = 1) -> list[str]:
    """Every community that at least `least` annotators named, in alphabetical order; empty when there is none.

    The paper's bias figures count a community only when two annotators name it; the union of one is wider.
    """
    votes = Counter(name for annotator in annotators for name in set(annotator["target"]))
    return sorted(name for name, times in votes.items() if times >= least and name != NOBODY)
