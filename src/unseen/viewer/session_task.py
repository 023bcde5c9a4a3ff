"""A session of attacks as a task in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock
from typing import Any

from unseen.attacks.sessions import AttackSession
from unseen.viewer.tasks import Task


class SessionTask(Task):
    """Texts that a person changes until the model errs."""

    page, script = "session.html", "session.js"
    title = "Change the text so that the model errs"

    def __init__(self, session: AttackSession) -> None:
        self.session, self._lock = session, Lock()

    def state(self) -> dict[str, Any]:
        """What the mode allows to be seen."""
        with self._lock:
            return self.session.state()

    @property
    def actions(self) -> Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
        """A try, a try handed in with ratings, a text given up."""
        taken = {"attempt": ("text", "changes"), "submit": ("ratings", "n"), "skip": ("reason",)}

        def act(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
            given = {key: content[key] for key in taken[name] if key in content}
            with self._lock:
                after: dict[str, Any] = getattr(self.session, name)(str(content.get("turn")), **given)
            return after

        return {name: partial(act, name) for name in taken}
