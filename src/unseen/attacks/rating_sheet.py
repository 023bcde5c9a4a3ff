"""Blind ratings of changed texts by people who did not make them: the sheet, its key, and the file of answers.

::

    sheet.csv       what raters see: an id that tells nothing, the original, the changed text, the label; shuffled
    key.json        what they do not see: who or what changed each text, and every attack that failed
    ratings.jsonl   what they answer, append-only, one line an answer
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from unseen.attacks.session_log import QUALITY, QUESTIONS, SESSION, LoggedSession, read_sessions
from unseen.errors import InputError
from unseen.seeding import generator
from unseen.store import read_json, write_json
from unseen.store.files import door, harmless, read_rows, unharmed, write_rows
from unseen.store.journal import append_entry, now, read_entries
from unseen.store.run_folder import read_about

SHEET, KEY, RATED = "sheet.csv", "key.json", "ratings.jsonl"
COLUMNS = ("id", "original", "changed", "label")
ATTEMPTS, EXAMPLES = "attacks.csv", "examples.json"
"""What a run of `unseen attack run` writes: a line for each attack, and the texts that flipped."""
SOURCES = ("person", "program")
ASKED = {
    "label": ("Does the changed text still deserve the label “{label}”?", ("yes", "no", "cannot tell")),
    **{name: (f"{QUESTIONS[name]}: from 1, not at all, to 5, fully", ("1", "2", "3", "4", "5")) for name in QUALITY},
    "source": ("Who changed it?", SOURCES),
}
"""What a rater is asked about each text, and the answers."""


@dataclass(frozen=True)
class AttackedText:
    """One text that was attacked, by whom, and what came of it."""

    item: str
    label: str
    flipped: bool
    mode: str
    source: str
    """person or program."""
    attack: str
    model: str
    queries: int
    original: str = ""
    changed: str = ""
    attempts: int = 1
    seconds: float | None = None
    person: str = ""
    """A hash of a name."""
    ratings: dict[str, int] = field(default_factory=dict)
    """What its author thinks of it."""
    simulated: bool = False
    sheet: str = ""
    """Its id on the sheet, where it is on it."""


def attacked_texts(folders: Sequence[str | Path]) -> list[AttackedText]:
    """Every attack of runs and sessions, but for texts that the model got wrong anyway."""
    attacked: list[AttackedText] = []
    for folder in map(Path, folders):
        if (folder / SESSION).is_file():
            attacked += [one for log in read_sessions(folder / SESSION) for one in of_session(log)]
        elif (folder / ATTEMPTS).is_file():
            attacked += _of_run(folder)
        else:
            raise InputError(
                f"{folder} holds no attacks", expected=f"{SESSION} of a session, or {ATTEMPTS} of a run",
                fix="unseen attack session …, or unseen attack run … --texts -o FOLDER",
            )  # fmt: skip
    return attacked


def of_session(log: LoggedSession) -> Iterator[AttackedText]:
    """What came of the texts of a session that were handed in or given up."""
    for (mode, id), end in log.ends.items():
        item, tries = log.item(id), log.attempts.get((mode, id), [])
        yield AttackedText(
            id, item.label, end.flipped, mode, "program" if mode == "auto" or log.simulated else "person", log.attack,
            log.model, tries[-1].queries if tries else 1, item.text,
            item.text if end.attempt is None else tries[end.attempt - 1].text, len(tries),
            sum(one.milliseconds for one in tries) / 1000, log.participant, dict(end.ratings), log.simulated,
        )  # fmt: skip


def _of_run(folder: Path) -> list[AttackedText]:
    about = read_about(folder)
    if not (folder / EXAMPLES).is_file():
        raise InputError(f"{folder} did not keep its texts", fix="unseen attack run … --texts")
    examples = read_json(folder / EXAMPLES).get("examples")
    if not isinstance(examples, list) or not all(isinstance(one, dict) for one in examples):
        raise InputError(f"{folder / EXAMPLES} does not hold examples")
    texts = {(one.get("attack"), one.get("id")): one for one in examples}

    def made(row: dict[str, str]) -> AttackedText | None:
        if row["status"] == "skipped":
            return None
        key, flipped = (row["attack"], unharmed(row["id"])), row["status"] == "flipped"
        if flipped and key not in texts:
            raise ValueError(f"{EXAMPLES} has no text of it")
        example = texts.get(key, {}) if flipped else {}
        original, changed = str(example.get("original", "")), str(example.get("changed", ""))
        return AttackedText(
            key[1], unharmed(row["label"]), flipped, "auto", "program", row["attack"], str(about.get("model")),
            int(row["queries"]), original, changed,
        )  # fmt: skip

    rows = read_rows(folder / ATTEMPTS, "attacks", ("attack", "id", "label", "status"), made)
    return [row for row in rows if row is not None]


def write_sheet(folder: str | Path, attacked: Sequence[AttackedText], limit: int | None = None, seed: int = 42) -> Path:
    """Write the sheet and its key: flips in an order drawn with the seed; with `limit` equally many of every kind."""
    folder, draw = Path(folder), generator(seed, "sheet of attacks")
    if (folder / KEY).exists() or (folder / SHEET).exists():
        raise InputError(f"{folder} has a sheet already", fix="another folder")
    kinds: dict[tuple[str, ...], list[int]] = {}
    for at in draw.permutation(len(attacked)).tolist():
        one = attacked[at]
        if one.flipped:
            kinds.setdefault((one.source, one.mode, one.attack, one.model), []).append(at)
    in_turn = [at for round_ in zip_longest(*kinds.values()) for at in round_ if at is not None][:limit]
    if not in_turn:
        raise InputError("no attack flipped a label, so there is nothing to rate")
    ids = {in_turn[at]: f"t{place:04}" for place, at in enumerate(draw.permutation(len(in_turn)).tolist(), start=1)}
    keyed = [replace(one, sheet=ids.get(at, "")) for at, one in enumerate(attacked)]
    shown = sorted((one for one in keyed if one.sheet), key=lambda one: one.sheet)
    rows = [[one.sheet, *map(harmless, (one.original, one.changed, one.label))] for one in shown]
    write_json(folder / KEY, {"seed": seed, "limit": limit, "attacked": [asdict(one) for one in keyed]})
    return write_rows(folder / SHEET, COLUMNS, rows)


def read_sheet(folder: str | Path) -> list[dict[str, str]]:
    """What raters see, in order."""
    path = Path(folder) / SHEET
    with door(path, "a sheet of attacks"):
        return read_rows(
            path, "a sheet of attacks", COLUMNS, lambda row: {name: unharmed(row[name]) for name in COLUMNS}
        )


def read_key(folder: str | Path) -> list[AttackedText]:
    """Every attack, with its id on the sheet where it is on it."""
    path = Path(folder) / KEY
    with door(path, "the key of a sheet"):
        return [
            AttackedText(**{one.name: entry[one.name] for one in fields(AttackedText) if one.name in entry})
            for entry in read_json(path)["attacked"]
        ]


@dataclass(frozen=True)
class Rating:
    """One answer of one rater about one text."""

    item: str
    question: str
    answer: str
    rater: str
    """A hash of a name."""
    seconds: float = 0.0
    simulated: bool = False
    """Whether a program gave it, and nobody."""
    at: str = ""

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.item, self.question, self.answer, self.rater, self.at)):
            raise InputError("a rating says which text, which question, which answer and who gave it")
        if self.question not in ASKED or self.answer not in ASKED[self.question][1] or not self.item or not self.rater:
            raise InputError("a rating is no answer to a question", got=f"{self.question!r}: {self.answer!r}")
        if not isinstance(self.seconds, int | float) or not 0 <= self.seconds < math.inf:
            raise InputError("a rating takes some seconds", got=repr(self.seconds))
        if not isinstance(self.simulated, bool):
            raise InputError("a rating is simulated or not", got=repr(self.simulated))


def append_rating(path: str | Path, rating: Rating) -> None:
    """Add an answer; it is on the disk when this returns."""
    append_entry(path, asdict(rating) | {"at": rating.at or now()})


def undo_rating(path: str | Path, item: str, question: str, rater: str) -> None:
    """Take back a rater's answer to a question about a text."""
    append_entry(path, {"undo": [item, question], "rater": rater, "at": now()})


def read_ratings(path: str | Path) -> list[Rating]:
    """The last answer of each rater to each question about each text, in order; none without a file."""
    answers: dict[tuple[str, str, str], Rating] = {}

    def take(entry: Mapping[str, Any]) -> None:
        if "undo" in entry:
            if not isinstance(entry["undo"], list) or len(entry["undo"]) != 2:
                raise InputError("it takes back nothing that could be told")
            item, question = entry["undo"]
            answers.pop((str(item), str(question), str(entry.get("rater"))), None)
            return
        given: dict[str, Any] = {"item": "", "question": "", "answer": "", "rater": ""}
        given |= {one.name: entry[one.name] for one in fields(Rating) if one.name in entry}
        rating = Rating(**given)
        key = (rating.item, rating.question, rating.rater)
        answers.pop(key, None)
        answers[key] = rating

    if Path(path).exists():
        read_entries(path, "ratings", take)
    return list(answers.values())
