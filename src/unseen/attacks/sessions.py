"""People attack texts, with the help of a recipe or without; every try is kept as it happens (You and Lowd 2022).

::

    auto       sees the text that the recipe made, nothing else, and rates it
    manual     sees the text and its label, writes freely; is told the label of each try
    select     up to five words that matter most, each with the recipe's candidates; is told label and probability
    saliency   a map of how much each word matters, made anew for every try; is told the label
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unseen import inference
from unseen.attacks import ATTACKS
from unseen.attacks.recipes import WordAttack, deletion_scores, prepare_for, stop_words
from unseen.attacks.search import Attempt, Informants, Search, attack_texts
from unseen.attacks.session_log import (
    MODES,
    QUESTIONS,
    RATINGS,
    SESSION,
    LoggedAttempt,
    LoggedSession,
    SessionItem,
    Turn,
    TurnEnd,
    check_ratings,
    read_sessions,
)
from unseen.attacks.worded_text import WordedText, placed_swaps
from unseen.errors import InputError, UnknownNameError
from unseen.seeding import generator
from unseen.store.journal import append_entry, now, pseudonym
from unseen.types import Dataset
from unseen.types.arrays import Floats

FIRST = ("auto", "manual")
"""Modes that come before the others: they teach what the task is."""
KEYWORDS = 5
"""Words that are offered in the mode select, and words that may be changed there."""
LONGEST, LONGEST_TRY = 2_000, 4_000
"""Letters of a text that is drawn, and of one that is tried: nobody reads more with care."""
AT_ONCE = 64
"""Texts that the model is asked about at once until enough are drawn."""


class Keyword(NamedTuple):
    """A word that matters, and what could stand in its place."""

    place: int
    word: str
    candidates: list[str]


class AttackSession:
    """A person, a model that is ready, a recipe that helps, and the file in which everything is kept."""

    def __init__(self, log: LoggedSession, path: Path, ask: Callable[[Sequence[str]], Floats], recipe: Any) -> None:
        self.log, self.path, self.ask, self.recipe = log, path, ask, recipe
        self.label_names: Sequence[str] = ()
        self._turn: Turn | None = None
        self._answers: dict[str, Floats] = {}
        self._keywords: list[Keyword] | None = None
        self._maps: dict[str, list[float]] = {}
        self._help_queries, self._clock = 0, time.monotonic()

    @classmethod
    def begin(
        cls,
        data: Dataset,
        classifier: Any,
        recipe: Any,
        *,
        out: str | Path,
        participant: str,
        modes: Sequence[str] = MODES,
        params: Mapping[str, Any] | None = None,
        limit: int = 10,
        seed: int = 42,
        model: str | None = None,
        simulated: bool = False,
        consent: bool = False,
    ) -> AttackSession:
        """A session in the folder `out`, or the rest of one that was begun there by the same participant.

        `recipe` is a name of `unseen.attacks.ATTACKS` with `params`, or such an object. `model` is the name under
        which the classifier is written down. Every participant gets the same texts for the same `seed`, each in every
        mode; the order of modes and of texts is drawn for each. `simulated` says that a program does it.
        """
        for mode in modes:
            if mode not in MODES:
                raise UnknownNameError.of("mode", mode, MODES)
        if limit < 1 or not modes:
            raise InputError("a session needs at least one text and one mode", got=f"{limit} texts, {len(modes)} modes")
        name = ATTACKS.full_name(recipe) if isinstance(recipe, str) else getattr(recipe, "name", type(recipe).__name__)
        made = ATTACKS.make(recipe, **dict(params or {})) if isinstance(recipe, str) else recipe
        classifier = inference.ready(classifier, data.label_names)
        prepare_for(made, classifier)
        columns = inference.matched(classifier.classes_, data.label_names)
        path, person = Path(out) / SESSION, pseudonym(participant)

        def ask(texts: Sequence[str]) -> Floats:
            return inference.answers(classifier, texts)[:, columns]

        settings: dict[str, Any] = {
            "participant": person, "data": data.name, "fingerprint": data.fingerprint,
            "model": model or inference.name_of(classifier), "attack": name, "params": dict(params or {}),
            "seed": seed, "simulated": simulated,
        }  # fmt: skip
        key = json.dumps([settings, sorted(set(modes)), limit], sort_keys=True, default=str)
        id = sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:12]
        sessions = read_sessions(path)
        log = next((one for one in sessions if one.session == id), None)
        if log is None:
            others = [one for one in sessions if (one.fingerprint, one.model) != (data.fingerprint, settings["model"])]
            if others:
                raise InputError(
                    f"{path} holds sessions with other data or another model",
                    got=f"{others[0].data}, {others[0].model}",
                    fix="another folder",
                )
            items = drawn_items(data, ask, limit, seed)
            draw = generator(seed, "order of a session", person)
            kinds = [[mode for mode in MODES if mode in modes and (mode in FIRST) == early] for early in (True, False)]
            order = [str(mode) for kind in kinds for mode in draw.permutation(kind)]
            orders = {mode: [items[at].id for at in draw.permutation(len(items))] for mode in order}
            log = LoggedSession(
                session=id, modes=order, items=items, orders=orders, started=now(), consent=consent, **settings
            )
            append_entry(path, log.entry())
        session = cls(log, path, ask, made)
        session.label_names = data.label_names
        return session

    @property
    def offers_words(self) -> bool:
        """Whether the recipe has words to offer; one that changes letters has none."""
        return isinstance(self.recipe, WordAttack)

    @property
    def turn(self) -> Turn | None:
        """The mode and the text that come next; None at the end."""
        return next((turn for turn in self.log.turns if turn not in self.log.ends), None)

    def state(self) -> dict[str, Any]:
        """What the person may see now, and how far the session is."""
        self._go_on()
        log, turn = self.log, self.turn
        state: dict[str, Any] = {"done": len(log.ends), "size": len(log.turns), "simulated": log.simulated}
        return state | {"item": None if turn is None else self._shown(turn)}

    def attempt(self, turn: str, text: str | None = None, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Try a text, or in the mode select the words of `changes` in their places; the state after it."""
        mode, item = self._asked_about(turn)
        if mode == "auto":
            raise InputError("in the mode auto the recipe makes the text", fix="rate it, or skip it")
        if (changes is None) != (mode != "select") or not isinstance(changes, Mapping | None):
            raise InputError(f"the mode {mode} takes {'words for places' if mode == 'select' else 'a whole text'}")
        text, edits = self._changed(item, text) if changes is None else self._with_words(item, changes)
        if text == item.text:
            raise InputError("nothing was changed", fix="change a word, then try")
        tries = self.log.attempts.get((mode, item.id), [])
        answer = self._answer(text)
        self._keep_attempt((mode, item), text, edits, answer, len({item.text, text, *(one.text for one in tries)}))
        return self.state()

    def submit(self, turn: str, ratings: Mapping[str, int] | None = None, n: int | None = None) -> dict[str, Any]:
        """Hand in a try, by default the last one, with what its author thinks of it; the state after it."""
        mode, item = self._asked_about(turn)
        tries = self.log.attempts.get((mode, item.id), [])
        if not tries:
            raise InputError("nothing was tried yet", fix="try a text, or skip this one")
        number = len(tries) if n is None else n
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(tries):
            raise InputError("there is no such try", expected=f"1 to {len(tries)}", got=repr(n))
        checked = check_ratings(ratings, RATINGS[mode])
        self._end(TurnEnd(item.id, mode, number, tries[number - 1].flipped, checked))
        return self.state()

    def skip(self, turn: str, reason: str = "") -> dict[str, Any]:
        """Give a text up; the state after it."""
        mode, item = self._asked_about(turn)
        self._end(TurnEnd(item.id, mode, reason=str(reason)[:500]))
        return self.state()

    # -- what is shown -------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Make the recipe's text where it comes next; where it finds none there is nothing to rate."""
        while True:
            turn = self.turn
            if turn != self._turn:
                self._turn, self._keywords, self._maps, self._clock = turn, None, {}, time.monotonic()
                tries = self.log.attempts.get(turn, []) if turn is not None else []
                self._answers, self._help_queries = {}, max((one.help_queries for one in tries), default=0)
            if turn is None or turn[0] != "auto":
                return
            item = self.log.item(turn[1])
            if not self.log.attempts.get(turn):
                result = self._searched(item.text, item.label, self.recipe.search)
                edits = _edits(placed_swaps(item.text, result.text), "recipe")
                self._keep_attempt(("auto", item), result.text, edits, np.array(result.after), result.queries)
            if self.log.attempts[turn][-1].flipped:
                return
            self._end(TurnEnd(item.id, "auto", reason="the recipe found no change"))

    def _shown(self, turn: Turn) -> dict[str, Any]:
        mode, item = turn[0], self.log.item(turn[1])
        tries = self.log.attempts.get(turn, [])
        current = tries[-1].text if tries else item.text
        ratings = {name: QUESTIONS[name] for name in RATINGS[mode]}
        shown: dict[str, Any] = {"turn": "/".join(turn), "mode": mode, "text": current, "ratings": ratings}
        if mode == "auto":
            return shown
        shown |= {"original": item.text, "label": item.label, "attempts": [_feedback(one, mode) for one in tries]}
        if mode == "select":
            shown |= {"keywords": [one._asdict() for one in self.keywords(item)], "most": KEYWORDS}
            shown |= {"p": item.p, "offers_words": self.offers_words}
        if mode == "saliency":
            worded = WordedText.of(current)
            shown |= {"words": worded.words, "gaps": worded.gaps, "scores": self.word_scores(item, current)}
        return shown

    def keywords(self, item: SessionItem) -> list[Keyword]:
        """The words that matter most by the recipe, and the recipe's candidates for each."""
        if self._keywords is None:
            self._keywords = []
            keywords = self._keywords

            def search(text: str, label: int, whole: Floats) -> Search:
                start = WordedText.of(text)
                places = [place for place, word in enumerate(start.words) if word.lower() not in stop_words()]
                if not self.offers_words:
                    scores = yield from deletion_scores(start, label, whole, places)
                    assert scores is not None  # nothing limits the queries
                    order = np.argsort(-scores, kind="stable").tolist()
                    keywords.extend(Keyword(places[at], start.words[places[at]], []) for at in order[:KEYWORDS])
                    return None
                for place in (yield from self.recipe.ranking(start, label, whole, places))[:KEYWORDS]:
                    made = yield from self.recipe.candidates(start, place, start)
                    keywords.append(Keyword(place, start.words[place], [one.words[place] for one in made]))
                return None

            self._help_queries += self._searched(item.text, item.label, search).queries - 1
        return self._keywords

    def word_scores(self, item: SessionItem, current: str) -> list[float]:
        """How much each word of the text matters for the right label, by the recipe; 0 where the recipe cannot tell."""
        if current not in self._maps:
            scores: list[float] = []

            def search(text: str, label: int, whole: Floats) -> Search:
                worded = WordedText.of(text)
                places = list(range(len(worded.words)))
                of_recipe = self.recipe.importance if self.offers_words else deletion_scores
                importance = yield from of_recipe(worded, label, whole, places)
                assert importance is not None  # nothing limits the queries
                scores.extend(0.0 if np.isnan(one) else round(float(one), 4) for one in importance)
                return None

            self._help_queries += self._searched(current, item.label, search).queries - 1
            self._maps[current] = scores
        return self._maps[current]

    # -- what is kept --------------------------------------------------------------------------------------------------

    def _searched(self, text: str, label: str, search: Callable[[str, int, Floats], Search]) -> Attempt:
        """What came of a search of one text by the engine, which counts what is asked.

        A text that is given another label already is searched all the same: its map is still of the right label.
        """
        code = list(self.label_names).index(label)
        find = self.recipe.source.candidates if self.offers_words else None
        compare = self.recipe.similarity if self.offers_words else None
        whole = self._answer(text)

        def of_label(text: str, _: int, whole: Floats) -> Search:
            return search(text, code, whole)

        (result,) = attack_texts([text], [int(whole.argmax())], of_label, Informants(self.ask, find, compare))
        return result

    def _answer(self, text: str) -> Floats:
        if text not in self._answers:
            self._answers[text] = self.ask([text])[0]
        return self._answers[text]

    def _asked_about(self, turn: str) -> tuple[str, SessionItem]:
        """The mode and the text that are asked about; refuses what was said about another one."""
        self._go_on()
        if self.turn is None:
            raise InputError("the session is at its end")
        if turn != "/".join(self.turn):
            raise InputError("this text is not the one that is asked about", fix="reload the page")
        return self.turn[0], self.log.item(self.turn[1])

    def _changed(self, item: SessionItem, text: str | None) -> tuple[str, list[dict[str, Any]]]:
        if not isinstance(text, str) or not text.strip():
            raise InputError("the text is empty")
        if len(text) > LONGEST_TRY or _unwritable(text):
            raise InputError("the text is too long, or cannot be written", expected=f"at most {LONGEST_TRY} letters")
        return text, _edits(placed_swaps(item.text, text), "typed")

    def _with_words(self, item: SessionItem, changes: Mapping[str, str]) -> tuple[str, list[dict[str, Any]]]:
        """The text with words in the places of keywords."""
        keywords = {str(one.place): one for one in self.keywords(item)}
        worded, edits, touched = WordedText.of(item.text), [], 0
        for place, word in changes.items():
            keyword = keywords.get(str(place))
            if keyword is None:
                raise InputError("this word is not among those that may be changed", got=repr(place))
            if not isinstance(word, str) or not word.strip() or len(word) > LONGEST or _unwritable(word):
                raise InputError(f"nothing that could be written stands for {keyword.word!r}")
            word = word.strip()
            if word == keyword.word:
                continue
            source = "candidate" if word in keyword.candidates else "typed"
            worded, touched = worded.with_word(keyword.place, word), touched + len(word.split())
            edits += _edits([(keyword.place, keyword.word, word)], source)
        if touched > KEYWORDS:
            raise InputError(f"at most {KEYWORDS} words may be changed", got=f"{touched} new words")
        return worded.text, edits

    def _keep_attempt(
        self, turn: tuple[str, SessionItem], text: str, edits: list[dict[str, Any]], answer: Floats, queries: int
    ) -> None:
        mode, item = turn
        predicted = self.label_names[int(answer.argmax())]
        p_label = float(answer[list(self.label_names).index(item.label)])
        tries = self.log.attempts.get((mode, item.id), [])
        elapsed = round(1000 * (time.monotonic() - self._clock))
        attempt = LoggedAttempt(
            item.id, mode, len(tries) + 1, text, edits, predicted, float(answer.max()), p_label,
            predicted != item.label, queries, self._help_queries, elapsed,
        )  # fmt: skip
        self._keep({"kind": "attempt"} | asdict(attempt))
        self._clock = time.monotonic()

    def _end(self, end: TurnEnd) -> None:
        kind = "skip" if end.attempt is None else "submission"
        content = {name: value for name, value in asdict(end).items() if value not in (None, "", {})}
        self._keep({"kind": kind} | content)

    def _keep(self, content: Mapping[str, Any]) -> None:
        """Write a line, then believe it: what is on the disk and what is in memory are the same."""
        entry = {"session": self.log.session, **content, "at": now()}
        append_entry(self.path, entry)
        self.log.take(entry)


def drawn_items(data: Dataset, ask: Callable[[Sequence[str]], Floats], limit: int, seed: int) -> list[SessionItem]:
    """Texts that the model gets right, drawn with the seed; the model is asked until there are enough."""
    items: list[SessionItem] = []
    order = generator(seed, "texts of a session").permutation(len(data))
    for start in range(0, len(order), AT_ONCE):
        some = data.take(order[start : start + AT_ONCE])
        answers = ask(some.texts.to_pylist())
        rows = zip(some.ids.to_pylist(), some.texts.to_pylist(), some.labels.tolist(), answers, strict=True)
        for id, text, label, answer in rows:
            if int(answer.argmax()) == label and len(text) <= LONGEST and WordedText.of(text).words:
                items.append(SessionItem(id, text, data.label_names[label], float(answer[label])))
            if len(items) == limit:
                return items
    if not items:
        raise InputError("the model gets none of these texts right, so there is nothing to attack")
    return items


def _edits(swaps: Sequence[tuple[int, str, str]], source: str) -> list[dict[str, Any]]:
    return [{"index": index, "from": old, "to": new, "source": source} for index, old, new in swaps]


def _feedback(attempt: LoggedAttempt, mode: str) -> dict[str, Any]:
    """What the person is told of a try: the probability in the mode select alone."""
    shown = {"n": attempt.n, "text": attempt.text, "predicted": attempt.predicted, "flipped": attempt.flipped}
    return shown | ({"p": attempt.p, "p_label": attempt.p_label} if mode == "select" else {})


def _unwritable(text: str) -> bool:
    """Whether a text has half a character, which no file can hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)
