"""The numbers of the matrix: scores, falls to the diagonal, and both without texts that were seen in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.evaluation.falls import Run, fall, level
from unseen.evaluation.measurements import aligned
from unseen.evaluation.metrics import metric as metric_of
from unseen.progress import track
from unseen.runs.transfer.corpus import Corpus
from unseen.runs.transfer.members import ALL, MAJORITY, OTHERS, OWN, WITHOUT
from unseen.runs.transfer.overlap import Overlap
from unseen.runs.transfer.training_sets import TrainingSet
from unseen.types import Measurement, Predictions

Mask = npt.NDArray[np.bool_]
Cell = tuple[str, str]
"""What a model was trained on and what it was tested on."""
Answers = Mapping[tuple[str, int], Mapping[str, Predictions]]
"""By training set and seed, then by test set."""


@dataclass(frozen=True, eq=False)
class TransferMatrix:
    """The runs of every cell."""

    corpus: Corpus
    sets: Sequence[TrainingSet]
    runs: Mapping[Cell, list[Run]]
    overlaps: Mapping[Cell, Overlap]
    seed: int

    @property
    def metrics(self) -> list[str]:
        """Everything that is measured."""
        return ["accuracy", "f1.macro", *(f"f1[{label}]" for label in self.corpus.data.label_names)]

    @property
    def elsewhere(self) -> list[Cell]:
        """Trained on one dataset, tested on another."""
        return [(train, test) for train in self.corpus.names for test in self.corpus.names if train != test]

    def measurements(self) -> list[Measurement]:
        """All of it."""
        found = [row for each in self.overlaps.values() for row in each.measurements()]
        for metric in track(self.metrics, "measure", len(self.metrics)):
            found += [*self._scores(metric), *self._majority(metric), *self._falls(metric), *self._means(metric)]
        return found

    def _scores(self, metric: str) -> list[Measurement]:
        found: list[Measurement] = []
        for (train, test), runs in self.runs.items():
            tags = {"train": train, "test": test}
            for run in runs if len(runs) > 1 else ():
                found.append(_single(run, metric, tags))
            found += level(runs, metric, tags=tags, seed=self.seed)
            kept = ~self.overlaps[train, test].near
            if not kept.all():
                found += self._without(runs, kept, metric, tags)
        return found

    def _majority(self, metric: str) -> list[Measurement]:
        """What always giving the most frequent label of the dataset's own training part scores."""
        found: list[Measurement] = []
        for test in self.corpus.names:
            one = self.runs[test, test][0]
            rows = self.corpus.data.take(self.corpus.rows(test, "train"))
            most = int(np.bincount(rows.labels, minlength=len(rows.label_names)).argmax())
            said = np.tile(np.eye(len(rows.label_names))[most], (len(one.gold), 1))
            run = Run(test, MAJORITY, self.seed, one.gold, said, one.label_names, one.groups, one.sample)
            found += level([run], metric, tags={"train": MAJORITY, "test": test}, seed=self.seed)
        return found

    def _falls(self, metric: str) -> list[Measurement]:
        """From the diagonal: another training set for the same test, and another test for the same training set."""
        pairs: dict[tuple[Cell, Cell], None] = {}
        for each in self.sets:
            for test in self.corpus.names:
                cell, own = (each.name, test), (test, test)
                if cell != own:
                    pairs[own, cell] = None
                if each.uncapped is not None:
                    pairs[(each.uncapped, test), cell] = None
        for train, test in self.elsewhere:
            pairs[(train, train), (train, test)] = None
        return [row for before, after in pairs for row in self._fall([before], [after], metric, _tags(before, after))]

    def _means(self, metric: str) -> list[Measurement]:
        """Mean score and mean fall elsewhere, by training set, by test set, and of all; of merged sets on all tests."""
        names = self.corpus.names
        cells = {
            (each.name, OTHERS): [(each.name, test) for test in names if test not in each.of]
            for each in self.sets
            if len(each.of) == 1
        }
        cells |= {(OTHERS, name): [each for each in self.elsewhere if each[1] == name] for name in names}
        cells |= {(OTHERS, OTHERS): self.elsewhere}
        cells |= {(each.name, ALL): [(each.name, test) for test in names] for each in self.sets if len(each.of) > 1}
        found = []
        for place, chosen in cells.items():
            tags = {"train": place[0], "test": place[1]}
            found += level([run for cell in chosen for run in self.runs[cell]], metric, tags=tags, seed=self.seed)
            own = list(dict.fromkeys((test, test) for _, test in chosen))
            found += self._fall(own, chosen, metric, tags | {"than_train": OWN, "than_test": place[1]})
        return found

    def _without(self, runs: Sequence[Run], kept: Mask, metric: str, tags: Mapping[str, Any]) -> list[Measurement]:
        """The score on these of the test rows."""
        if not kept.any():
            return [Measurement(metric, None, 0, slice=WITHOUT, tags=tags)]
        rows = level([run.only(kept) for run in runs], metric, tags=tags, seed=self.seed)
        return [replace(row, slice=WITHOUT) for row in rows]

    def _fall(
        self, before: Sequence[Cell], after: Sequence[Cell], metric: str, tags: Mapping[str, Any]
    ) -> list[Measurement]:
        """The fall between cells, and where there is an overlap and the tests are the same, that without it."""
        first, second = ([run for cell in cells for run in self.runs[cell]] for cells in (before, after))
        rows = [fall(first, second, metric, tags=tags, seed=self.seed)]
        kept = self._unseen([*before, *after])
        if {test for _, test in before} == {test for _, test in after} and not all(map(np.all, kept.values())):
            rows.append(self._fall_without(before, after, kept, metric, tags))
        return rows

    def _fall_without(
        self,
        before: Sequence[Cell],
        after: Sequence[Cell],
        kept: Mapping[str, Mask],
        metric: str,
        tags: Mapping[str, Any],
    ) -> Measurement:
        if not all(map(np.any, kept.values())):
            return Measurement(f"fall.{metric}", None, 0, slice=WITHOUT, tags=tags)
        first, second = (
            [run.only(kept[cell[1]]) for cell in cells for run in self.runs[cell]] for cells in (before, after)
        )
        return replace(fall(first, second, metric, tags=tags, seed=self.seed), slice=WITHOUT)

    def _unseen(self, cells: Sequence[Cell]) -> dict[str, Mask]:
        """By test set, the rows that no training set of these cells has."""
        kept = {test: np.ones(len(self.corpus.tests[test]), bool) for _, test in cells}
        for cell in cells:
            kept[cell[1]] &= ~self.overlaps[cell].near
        return kept


def matrix(
    corpus: Corpus, sets: Sequence[TrainingSet], answers: Answers, overlaps: Mapping[Cell, Overlap], seed: int
) -> TransferMatrix:
    """The matrix of what the models of all training sets say about all test sets."""
    runs: dict[Cell, list[Run]] = {}
    for (name, trained), asked in answers.items():
        for test, predictions in asked.items():
            data = corpus.tests[test]
            p = aligned(data, predictions, np.arange(len(data)))
            run = Run(f"{name} → {test}", name, trained, data.labels, p, data.label_names, corpus.units(test), test)
            runs.setdefault((name, test), []).append(run)
    return TransferMatrix(corpus, sets, runs, overlaps, seed)


def _single(run: Run, metric: str, tags: Mapping[str, Any]) -> Measurement:
    """The score of one training, without an interval."""
    value = metric_of(metric)(run.gold, run.probabilities, run.label_names)
    return Measurement(metric, value, len(run.gold) if value is not None else 0, tags=dict(tags) | {"seed": run.seed})


def _tags(before: Cell, after: Cell) -> dict[str, str]:
    return {"train": after[0], "test": after[1], "than_train": before[0], "than_test": before[1]}
