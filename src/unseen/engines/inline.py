"""The engine that runs every step here, one after the other, with all threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unseen.engines.steps import Outcome, Step, Waiting, do_in
from unseen.store.results import Results


class Inline:
    """The process that asks."""

    def run(self, steps: Sequence[Step], results: Results, shared: Mapping[str, Any]) -> Iterator[Outcome]:
        """Do what is not done yet of `steps`, needs first and else in their order; yields every end as it comes.

        A step that fails does not keep others from being done; those that need it are never begun.
        """
        waiting = Waiting(steps, results)
        places = {step.key: place for place, step in enumerate(steps)}
        todo = waiting.ready()
        while todo:
            step = todo.pop(0)
            error: Exception | None = None
            try:
                do_in(results, step, shared)
            except Exception as raised:  # whatever a step raises is its own affair
                error = raised
            outcome = Outcome(step, error)
            waiting.ended(outcome)
            yield outcome
            todo = sorted(todo + waiting.ready(), key=lambda step: places[step.key])
