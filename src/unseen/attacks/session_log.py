"""What people did in sessions: the lines of `session.jsonl`, written as they happen and read back.

A line is one of four kinds, and each names its session: `session` (who, with what, which texts in which order),
`attempt` (a text that was tried, whatever came of it), `submission` (the attempt that counts, and what its author
thinks of it) and `skip` (given up). Several people may write into one file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from unseen.errors import InputError
from unseen.store.journal import read_entries

SESSION = "session.jsonl"
MODES = ("auto", "manual", "select", "saliency")
QUALITY = ("grammar", "naturalness", "correctness", "appropriateness", "meaningfulness")
RATINGS = {
    "auto": QUALITY, "manual": (*QUALITY, "effort"), "select": (*QUALITY, "effort", "helpfulness"),
    "saliency": (*QUALITY, "effort", "helpfulness"),
}  # fmt: skip
"""What is rated from 1 to 5 in each mode; without help nothing can be helpful."""
QUESTIONS = {
    "grammar": "Grammar: it has no errors, and the meaning is kept",
    "naturalness": "Naturalness: a native speaker could have written it",
    "correctness": "Correctness: words are used as they should be",
    "appropriateness": "Appropriateness: it fits what it is about",
    "meaningfulness": "Meaningfulness: it makes sense",
    "effort": "Effort: how hard was it? 5 is hardest",
    "helpfulness": "Helpfulness: did what was shown help you?",
}
"""What each rating asks, on a scale from 1 to 5."""
Turn = tuple[str, str]
"""A mode, and the id of a text."""


@dataclass(frozen=True)
class SessionItem:
    """A text that the model gets right."""

    id: str
    text: str
    label: str
    p: float
    """How probable the model finds the label."""


@dataclass(frozen=True)
class LoggedAttempt:
    """A text that was tried."""

    item: str
    mode: str
    n: int
    """Which try of this text it is, from 1 on."""
    text: str
    edits: list[dict[str, Any]]
    """`index` of the word in the original, `from`, `to`, and `source`: candidate, typed, or recipe."""
    predicted: str
    p: float
    """How probable the model finds what it predicts."""
    p_label: float
    """How probable it finds the right label."""
    flipped: bool
    queries: int
    """Different texts that the model was asked about so far, the original included, as automatic attacks count."""
    help_queries: int
    """Those that the help cost: keywords, maps."""
    milliseconds: int
    """Since the try before it, or since the text was shown."""


@dataclass(frozen=True)
class TurnEnd:
    """What became of a text in a mode: an attempt that counts, or nothing."""

    item: str
    mode: str
    attempt: int | None = None
    """Number of the attempt that was submitted; None where the text was skipped."""
    flipped: bool = False
    ratings: dict[str, int] = field(default_factory=dict)
    reason: str = ""


@dataclass
class LoggedSession:
    """One person, one model, one recipe, some texts."""

    session: str
    participant: str
    """A hash of a name."""
    modes: list[str]
    """In the order in which they come."""
    items: list[SessionItem]
    orders: dict[str, list[str]]
    """The ids of the texts in their order, by mode."""
    data: str
    fingerprint: str
    model: str
    attack: str
    params: dict[str, Any]
    seed: int
    started: str
    simulated: bool = False
    """Whether a program did it all, and nobody."""
    consent: bool = False
    """Whether the participant agreed that this is kept and studied."""
    attempts: dict[Turn, list[LoggedAttempt]] = field(default_factory=dict)
    ends: dict[Turn, TurnEnd] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _refuse_unless(set(self.modes) <= set(MODES) and set(self.modes) == self.orders.keys(), "modes and orders")
        ids = {item.id for item in self.items}
        _refuse_unless(all(set(order) == ids and len(order) == len(ids) for order in self.orders.values()), "orders")

    @property
    def turns(self) -> list[Turn]:
        """What is to be done, in order."""
        return [(mode, item) for mode in self.modes for item in self.orders[mode]]

    def item(self, id: str) -> SessionItem:
        """The text with this id."""
        return next(item for item in self.items if item.id == id)

    def entry(self) -> dict[str, Any]:
        """The line that begins it."""
        return {"kind": "session"} | {
            name: value for name, value in asdict(self).items() if name not in ("attempts", "ends")
        }

    def take(self, entry: Mapping[str, Any]) -> None:
        """Add one of its lines; refuses one that does not fit."""
        turn = (str(entry.get("mode")), str(entry.get("item")))
        _refuse_unless(turn in self.turns, "mode and item")
        if entry["kind"] == "attempt":
            attempts = self.attempts.setdefault(turn, [])
            attempt = _made(LoggedAttempt, entry)
            _refuse_unless(attempt.n == len(attempts) + 1, "n")
            attempts.append(attempt)
        else:
            end = _made(TurnEnd, entry)
            tries = len(self.attempts.get(turn, ()))
            submitted = entry["kind"] == "submission"
            _refuse_unless(submitted == (end.attempt is not None), "attempt")
            _refuse_unless(end.attempt is None or 1 <= end.attempt <= tries, "attempt")
            _refuse_unless(all(_is_rating(value) for value in end.ratings.values()), "ratings")
            self.ends[turn] = end


def read_sessions(path: str | Path) -> list[LoggedSession]:
    """The sessions of a file with all that happened in them; none without a file."""
    sessions: dict[str, LoggedSession] = {}

    def take(entry: Mapping[str, Any]) -> None:
        kind, name = entry.get("kind"), str(entry.get("session"))
        if kind == "session":
            content = {key: value for key, value in entry.items() if key not in ("attempts", "ends")}
            items: Any = content.get("items")
            _refuse_unless(isinstance(items, list) and all(isinstance(item, dict) for item in items), "items")
            sessions.setdefault(name, _made(LoggedSession, content | {"items": [_made(SessionItem, i) for i in items]}))
        elif kind in ("attempt", "submission", "skip") and name in sessions:
            sessions[name].take(entry)
        else:
            raise InputError("it is no session, attempt, submission or skip of a session that was begun")

    if Path(path).exists():
        read_entries(path, "sessions", take)
    return list(sessions.values())


Made = TypeVar("Made", LoggedAttempt, TurnEnd, LoggedSession, SessionItem)
PLAIN: dict[str, Any] = {"str": str, "int": int, "bool": bool, "float": (int, float), "list": list, "dict": dict}


def _made(kind: type[Made], entry: Mapping[str, Any]) -> Made:
    """The record of a line, the types of its fields looked at."""
    given = {one.name: entry[one.name] for one in fields(kind) if one.name in entry}
    for one in fields(kind):
        plain = PLAIN[str(one.type).partition("[")[0].partition(" ")[0]]
        value = given.get(one.name)
        right = isinstance(value, plain) and isinstance(value, bool) == (plain is bool)
        empty = one.name not in given or (value is None and "None" in str(one.type))
        _refuse_unless(right or empty, one.name)
    try:
        return kind(**given)
    except (TypeError, AttributeError) as cause:
        raise InputError(f"it lacks something, or has it in another form: {cause}") from cause


def _is_rating(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 5


def check_ratings(ratings: Any, names: tuple[str, ...]) -> dict[str, int]:
    """The ratings as they are; refuses what is missing, not asked for, or not from 1 to 5."""
    if not isinstance(ratings, Mapping) or set(ratings) != set(names) or not all(map(_is_rating, ratings.values())):
        raise InputError(
            "each rating is a whole number from 1 to 5", expected=", ".join(names), got=repr(ratings)[:200]
        )
    return {name: ratings[name] for name in names}


def _refuse_unless(right: bool, what: str) -> None:
    if not right:
        raise InputError(f"its {what} cannot be right")
