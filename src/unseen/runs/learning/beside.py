"""The task after training on the suite: whether it was kept, and which texts are judged otherwise than before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from unseen.evaluation.bootstrap import DRAWS, percentiles, times_drawn
from unseen.evaluation.contrasts import paired_over_rows
from unseen.evaluation.measurements import aligned, measure
from unseen.functional.holdout import BOTH, TASK
from unseen.runs.learning.answers import Floats, LearningAnswers
from unseen.seeding import generator
from unseen.store.files import atomic, csv_rows, harmless
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Rows

METRICS = ("f1.macro", "accuracy")
SWAPS = 10_000
"""Ways of swapping for metrics of labels; for ranking, where each way costs a sort, as many as usual."""
MOST = 5
"""Texts shown of each label and direction."""
COLUMNS = ["label", "direction", "rank", "id", "part", "before", "after", "change"]


def task_scores(answers: LearningAnswers, seed: int = 42) -> list[Measurement]:
    """Macro F1, accuracy and ROC AUC on the test part of the task and elsewhere, every two models compared.

    `p` of a difference is from approximate randomisation (Yeh 2000) with ten thousand ways of swapping. Training on
    a suite with another mix of labels moves the threshold: macro F1 alone can rise while the texts of a label are no
    longer told apart, which the area under the ROC curve shows.
    """
    given, names = answers.materials, answers.configurations
    about_task = {each: said for each in names if (said := answers.of_task(each)) is not None}
    found = _scores(given.task, about_task, given.parts.rows("test"), {"part": "task test"}, seed)
    if given.elsewhere is not None:
        about = {each: said for each in names if (said := answers.of_elsewhere(each)) is not None}
        found += _scores(given.elsewhere, about, np.arange(len(given.elsewhere)), {"part": "elsewhere"}, seed)
    return found


def _scores(
    data: Dataset, said: Mapping[str, Predictions], rows: Rows, tags: Mapping[str, Any], seed: int
) -> list[Measurement]:
    if len(said) < 2:
        return []
    metrics = [*METRICS, *_ranking(data, said)]
    found = [
        row
        for each, predictions in said.items()
        for row in measure(data, predictions, rows, metrics, tags={**tags, "configuration": each}, seed=seed)
    ]
    for than, each in combinations(said, 2):
        about = {**tags, "configuration": each, "than": than}
        for name in metrics:
            draws = SWAPS if name in METRICS else DRAWS
            found.append(paired_over_rows(data, said[each], said[than], rows, name, tags=about, draws=draws, seed=seed))
    return found


def _ranking(data: Dataset, said: Mapping[str, Predictions]) -> list[str]:
    """The area under the ROC curve, where there are probabilities to rank by."""
    if any(each.origin.params.get("hard") for each in said.values()):
        return []
    return ["roc_auc.binary" if len(data.label_names) == 2 else "roc_auc.ovr"]


class Changes:
    """How the probability of the gold label changed on task rows that nothing was trained on, by training on `all`."""

    def __init__(self, answers: LearningAnswers) -> None:
        given = answers.materials
        after = answers.configurations[-1] if BOTH not in answers.configurations else BOTH
        both = [answers.of_task(each) for each in (TASK, after)]
        self.data, self.rows, self.configuration = given.task, given.judged, after
        self.gold = self.data.labels[self.rows]
        self.parts = np.where(np.isin(self.rows, given.parts.rows("dev")), "dev", "test")
        self.before, self.after = (self._of_gold(each) for each in both)

    def _of_gold(self, said: Predictions | None) -> Floats | None:
        return None if said is None else aligned(self.data, said, self.rows)[np.arange(len(self.rows)), self.gold]

    @property
    def known(self) -> bool:
        """Whether a model was trained on `all`, so that there is something to compare."""
        return self.after is not None

    @property
    def apart(self) -> Floats:
        """After less before, for each row."""
        assert self.before is not None
        assert self.after is not None
        return self.after - self.before

    def means(self, seed: int = 42) -> list[Measurement]:
        """`change.gold_probability`: the mean change, of each label too, with an interval over rows."""
        found = []
        for name, where in [("all", np.ones(len(self.gold), bool)), *self._by_label()]:
            values = self.apart[where]
            if not len(values):
                continue
            drawn = [times @ values / len(values) for times in times_drawn(len(values), DRAWS, generator(seed, "rows"))]
            low, high = percentiles(np.concatenate(drawn)) or (None, None)
            tags = {"part": "task", "configuration": self.configuration, "than": TASK}
            found.append(
                Measurement("change.gold_probability", float(values.mean()), len(values), low, high, name, tags)
            )
        return found

    def _by_label(self) -> list[tuple[str, Any]]:
        return [(f"label={name}", self.gold == code) for code, name in enumerate(self.data.label_names)]

    def largest(self, most: int = MOST) -> list[list[Any]]:
        """Rows of `COLUMNS`: for each label the largest falls and rises, none that is zero."""
        found = []
        for name, where in self._by_label():
            places = np.flatnonzero(where)
            order = places[np.argsort(self.apart[places], kind="stable")]
            falls = [place for place in order[:most] if self.apart[place] < 0]
            rises = [place for place in order[::-1][:most] if self.apart[place] > 0]
            for direction, chosen in (("fall", falls), ("rise", rises)):
                found += [
                    [name.removeprefix("label="), direction, rank + 1, *self._told(place)]
                    for rank, place in enumerate(chosen)
                ]
        return found

    def _told(self, place: int) -> list[Any]:
        assert self.before is not None
        assert self.after is not None
        numbers = [round(float(each[place]), 6) for each in (self.before, self.after, self.apart)]
        return [self.data.ids[int(self.rows[place])].as_py(), str(self.parts[place]), *numbers]

    def write(self, path: str | Path, texts: bool) -> Path:
        """Write the largest changes as CSV; the texts only when asked for."""
        lines: Sequence[Sequence[Any]] = self.largest()
        said = dict(zip(self.data.ids.to_pylist(), self.data.texts.to_pylist(), strict=True)) if texts else {}
        with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            write_row = csv_rows(file)
            write_row([*COLUMNS, "text"] if texts else COLUMNS)
            for line in lines:
                cells = [harmless(each) if isinstance(each, str) else each for each in line]
                write_row([*cells, harmless(said[line[3]])] if texts else cells)
        return Path(path)
