"""Learning from a suite: train on its cases, and see whether that helped or only passed the tests.

Covered and held-out scores are counted as Luz de Araujo and Roth (2022) do: covered is the mean over plans of the
accuracy on covered test cases; held-out is the accuracy over the held-out cases of all plans together. Intervals draw
whole templates, the same ones for both, so the fall from one to the other has one too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unseen import api
from unseen.engines.steps import timings
from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning
from unseen.evaluation.bootstrap import DRAWS, percentiles, times_drawn
from unseen.evaluation.contrasts import mcnemar, paired_over_rows, with_holm
from unseen.evaluation.gates import Gate
from unseen.evaluation.measurements import aligned, measure
from unseen.functional.holdout import BOTH, FOLDED, SCHEMES, SUITE, TASK, HoldoutPlan, leaks, plans, possible_schemes
from unseen.functional.rates import difference, rate
from unseen.functional.suite import judged_by_label, template_codes
from unseen.functional.tables import suite_of
from unseen.runs.experiment import Arm, Chosen, answers, relabelled, trainings_done
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.source import by_id, load_data
from unseen.runs.spaces import Model
from unseen.seeding import generator
from unseen.store.files import harmless, write_rows
from unseen.store.run_folder import RunFolder
from unseen.training.warm_start import require_warm_start
from unseen.types import Dataset, Measurement, Predictions, Split, some
from unseen.types.arrays import Floats, Mask, Rows

CONFIGURATIONS = (TASK, SUITE, BOTH)
"""What a model is trained on."""
COVERED, HELD_OUT, TESTED = "covered", "held-out", "test"
FOLDS = 5
METRICS = ("f1.macro", "accuracy")
SWAPS = 10_000
"""Ways of swapping for metrics of labels; for ranking, where each way costs a sort, as many as usual."""
MOST = 5
"""Changed texts shown of each label and direction."""
CHANGES = ("label", "direction", "rank", "id", "part", "before", "after", "change")
MAP = "labels={'theirs': 'ours'} (--map theirs=ours on the command line)"
Place = tuple[str, str]
"""What a model was trained on, and by which plan."""
Cases = tuple[Floats, Rows]
"""1 or 0 for each case, whether a model was right, and its template."""


@dataclass(frozen=True)
class LearningPlan:
    """What a run will do."""

    cases: int
    texts: int
    """Of the task."""
    schemes: Mapping[str, int]
    """Plans by scheme."""
    trainings: int
    done: int


def learn_from_suite(
    suite: Dataset | str | Path,
    task: Dataset | str | Path,
    *,
    model: str = "neural",
    params: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    elsewhere: Dataset | None = None,
    schemes: Sequence[str] | None = None,
    configurations: Sequence[str] = CONFIGURATIONS,
    strict: bool = True,
    folds: int | None = None,
    seed: int = 42,
    out: str | Path = "out",
    workers: int = 1,
    texts: bool = False,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[LearningPlan], None] | None = None,
) -> Result:
    """Train on the cases of a suite by the plans of each scheme, and measure what of it is more than passing the tests.

    `labels` says what the labels of the task data (and of `elsewhere`, which only tests) are in the suite,
    {theirs: ours}. `configurations` are what models are trained on: task, suite, task then suite; the task model is
    always trained, for all others are measured against it. `strict=False` pools validation as published. Without
    `schemes`, all that the suite has the attributes for. Called again with the same folder, it goes on where it
    stopped.
    """
    recipe = Model(model, dict(params or {}))
    _refuse_settings(recipe, schemes or (), configurations)
    cases, own, other = _loaded(suite, task, elsewhere, labels or {})
    parts = parts_of(own, seed)
    given = LearningMaterials(cases, own, parts, _plans(cases, schemes, strict, folds, seed), other)
    chosen = [name for name in CONFIGURATIONS if name in configurations]
    arms = given.arms(chosen, seed)
    trained = list(arms.values())

    def work(folder: RunFolder) -> Output:
        if announce is not None:
            schemes = {scheme: len(plans) for scheme, plans in given.schemes.items()}
            counts = trainings_done(trained, recipe, folder.results)
            announce(LearningPlan(len(given.suite), len(given.task), schemes, *counts))
        predictions = answers(trained, recipe, folder.results, workers=workers)
        lessons = Lessons(given, {place: predictions[arm.name] for place, arm in arms.items()})
        steps = [arm.step(recipe) for arm in trained]
        rows, more = lessons.written(folder, seed, texts), {"timings": timings(steps, folder.results)}
        return Output(rows, about=more, predictions=lessons.files)

    data = {"suite": given.suite, "task": given.task, "elsewhere": given.elsewhere}
    about = {
        "model": model,
        "settings": {
            "metric": "accuracy", "params": dict(params or {}), "schemes": list(given.schemes),
            "configurations": chosen, "strict": strict, "folds": FOLDS if folds is None else folds,
            "seed": seed, "texts": texts, "labels": dict(labels or {}),
        },
        "datasets": {role: described_data(content) for role, content in data.items() if content is not None},
        "task_parts": given.parts.sizes,
        "plans": {
            name: {"file": given.file_name(name)} | {part: len(rows) for part, rows in plan.parts.items()}
            for name, plan in given.plans.items()
        },
    }  # fmt: skip
    return carry_through("learning", about, work, out=out, command=command, gates=gates)


def _refuse_settings(model: Model, schemes: Sequence[str], configurations: Sequence[str]) -> None:
    names = {"configuration": (configurations, CONFIGURATIONS), "scheme": (schemes, SCHEMES)}
    for kind, (given, known) in names.items():
        for name in given:
            if name not in known:
                raise UnknownNameError.of(kind, name, known)
    if not {SUITE, BOTH} & {*configurations}:
        raise InputError("nothing is trained on the suite", expected=f"{SUITE!r} or {BOTH!r} among configurations")
    recipe = model.recipe()
    if BOTH in configurations:
        require_warm_start(recipe, f"the model {model.use!r}")


def _plans(
    suite: Dataset, schemes: Sequence[str] | None, strict: bool, folds: int | None, seed: int
) -> dict[str, HoldoutPlan]:
    """The plans of all schemes by name, in the order of `SCHEMES`; `folds` are those of `template` and `pair`."""
    chosen = [name for name in SCHEMES if name in (schemes or possible_schemes(suite))]
    if folds is not None and not {*FOLDED} & {*chosen}:
        raise InputError("folds has no effect on these schemes", expected=f"one of {', '.join(FOLDED)} among them")
    options: dict[str, Any] = {"strict": strict, "folds": FOLDS if folds is None else folds, "seed": seed}
    return {plan.name: plan for scheme in chosen for plan in plans(suite, scheme, **options)}


def _loaded(
    suite: Dataset | str | Path, task: Dataset | str | Path, elsewhere: Dataset | None, labels: Mapping[str, str]
) -> tuple[Dataset, Dataset, Dataset | None]:
    """The cases that are judged by their label, the texts of the task, and those from elsewhere, under their labels."""
    cases = suite_of(suite)
    judged = judged_by_label(cases)
    if not judged.all():
        left_out = f"{int((~judged).sum())} invariance and directional cases are left out: training needs labels"
        warnings.warn(left_out, UnseenWarning, stacklevel=3)
    cases = by_id(cases.take(np.flatnonzero(judged)))
    data = load_data(task, {}, ())
    _refuse_labels(labels, [data] if elsewhere is None else [data, elsewhere], cases.label_names)
    data = by_id(relabelled(data, labels, cases.label_names))
    other = None if elsewhere is None else by_id(relabelled(elsewhere, labels, cases.label_names))
    return cases, data, other


def _refuse_labels(labels: Mapping[str, str], datasets: Sequence[Dataset], label_names: Sequence[str]) -> None:
    """Refuse labels that nobody has, and data with labels of which nobody says what they are in the suite."""
    known = list(dict.fromkeys(name for data in datasets for name in data.label_names))
    for theirs, ours in labels.items():
        if theirs not in known:
            raise UnknownNameError.of("label of the task data", theirs, known)
        if ours not in label_names:
            raise UnknownNameError.of(f"label of the suite (for {theirs!r})", ours, label_names)
    for data in datasets:
        unsaid = [name for name in data.label_names if name not in labels and name not in label_names]
        if unsaid:
            raise MismatchError(
                f"the suite does not have all labels of {data.name}",
                problems=[f"{name!r} ({data.label_counts[name]:,} texts) is none of the suite's" for name in unsaid],
                expected=f"each to be one of {some(label_names, 20)}",
                fix=f"say what each stands for: {MAP}",
            )


def parts_of(data: Dataset, seed: int) -> Split:
    """80 % train, 10 % dev, 10 % test, with the class mix of all; refuses data without texts of a label to train on."""
    tenth = max(1, len(data) // 10)
    parts = api.split(data, "random", test=tenth, dev=tenth, seed=seed, name="task")
    counts = data.take(parts.rows("train")).label_counts
    if unseen := [name for name, n in counts.items() if not n]:
        raise MismatchError(
            f"no text of {data.name} to train on has the label {' or '.join(map(repr, unseen))}",
            expected="texts of every label of the suite",
            got=", ".join(f"{name!r} {n:,}" for name, n in counts.items()),
            fix=f"map the labels otherwise: {MAP}",
        )
    return parts


@dataclass(frozen=True, eq=False)
class LearningMaterials:
    """The data of a run, in the order of ids; the same labels everywhere."""

    suite: Dataset
    task: Dataset
    parts: Split
    """Train, dev and test of the task data."""
    plans: Mapping[str, HoldoutPlan]
    """By name."""
    elsewhere: Dataset | None = None
    """Other data of the same task, which only tests."""

    @cached_property
    def judged(self) -> Rows:
        """Rows of the task data that nothing is trained on."""
        return np.sort(np.concatenate([self.parts.rows("dev"), self.parts.rows("test")]))

    @cached_property
    def schemes(self) -> dict[str, list[HoldoutPlan]]:
        """Plans by scheme."""
        names = dict.fromkeys(plan.scheme for plan in self.plans.values())
        return {name: [plan for plan in self.plans.values() if plan.scheme == name] for name in names}

    def file_name(self, plan: str) -> str:
        """`all`, or the scheme and the number of the plan in it: values may hold what no file name can."""
        if plan == "all":
            return plan
        scheme = self.plans[plan].scheme
        return f"{scheme}-{self.schemes[scheme].index(self.plans[plan]) + 1:02}"

    def arms(self, configurations: Sequence[str], seed: int) -> dict[Place, Arm]:
        """The trainings: on the task alone, and on the suite by each plan, from the beginning or from the task model.

        All are asked about test cases, the first about all; those of the plan `all` about the task too.
        """
        beside = {"task": Chosen(self.task, self.judged)}
        beside |= {} if self.elsewhere is None else {"elsewhere": Chosen(self.elsewhere)}
        train, dev = (Chosen(self.task, self.parts.rows(part)) for part in ("train", "dev"))
        on_task = Arm(TASK, train, dev, {"suite": Chosen(self.suite), **beside}, seed, kept=BOTH in configurations)
        arms = {(TASK, "all"): on_task}
        for configuration in configurations:
            for name, plan in self.plans.items() if configuration != TASK else ():
                train, dev, test = (Chosen(self.suite, rows) for rows in (plan.train, plan.dev, plan.test))
                ask = {"suite": test, **(beside if name == "all" else {})}
                start = on_task if configuration == BOTH else None
                arms[configuration, name] = Arm(f"{configuration}: {name}", train, dev, ask, seed, start)
        return arms


@dataclass(frozen=True, eq=False)
class Lessons:
    """What the models of a run say, and what is measured of it."""

    given: LearningMaterials
    predictions: Mapping[Place, Mapping[str, Predictions]]
    """By training, then by test set: `suite`, `task`, `elsewhere`."""

    @cached_property
    def configurations(self) -> list[str]:
        """What models were trained on, the task alone first."""
        return list(dict.fromkeys(configuration for configuration, _ in self.predictions))

    @cached_property
    def templates(self) -> Rows:
        """The template of each case, as a number."""
        return template_codes(self.given.suite)

    def cases(self, configuration: str, plan: HoldoutPlan, part: str) -> Cases:
        """The test cases in a part of a plan."""
        place, rows, suite = "all" if configuration == TASK else plan.name, plan.parts[part], self.given.suite
        probabilities = aligned(suite, self.predictions[configuration, place]["suite"], rows)
        return (probabilities.argmax(axis=1) == suite.labels[rows]).astype(np.float64), self.templates[rows]

    def beside(self, test: str) -> dict[str, Predictions]:
        """What models say about `task` or `elsewhere`, by configuration; only those of the plan `all` are asked."""
        places = [(configuration, "all") for configuration in self.configurations]
        asked = {place[0]: self.predictions.get(place, {}).get(test) for place in places}
        return {configuration: predictions for configuration, predictions in asked.items() if predictions is not None}

    @property
    def files(self) -> dict[str, Predictions]:
        """What models say, by the names of files."""
        return {
            f"{configuration.replace(' ', '-')}/{self.given.file_name(plan)}.{test}": predictions
            for (configuration, plan), asked in self.predictions.items()
            for test, predictions in asked.items()
        }

    def written(self, folder: RunFolder, seed: int, texts: bool) -> list[Measurement]:
        """Every number; plans and the largest changes are put where people look for them."""
        given, suite = self.given, self.given.suite
        parts = np.full((len(suite), len(given.plans)), "", dtype=object)
        for column, plan in enumerate(given.plans.values()):
            for part, cases in plan.parts.items():
                parts[cases, column] = part
        lines = ([harmless(name), *line] for name, line in zip(suite.ids.to_pylist(), parts.tolist(), strict=True))
        write_rows(folder / "plans.csv", ["id", *map(harmless, given.plans)], lines)
        (folder / "changes.csv").unlink(missing_ok=True)
        rows = [row for plans in given.schemes.values() for row in self.suite_scores(plans, seed)]
        rows += self.task_scores(seed)
        if len(self.beside("task")) > 1:
            changes = Changes(self)
            rows += changes.means(seed)
            changes.write(folder / "changes.csv", texts)
        rows += [row for plans in given.schemes.values() for row in leaks(suite, plans)]
        repeated = pc.sum(pc.is_in(suite.texts, value_set=given.task.texts.combine_chunks())).as_py() or 0
        rows.append(Measurement("leak.task_text", repeated / len(suite), len(suite), tags={"part": "suite"}))
        return rows

    def suite_scores(self, plans: Sequence[HoldoutPlan], seed: int) -> Iterator[Measurement]:
        """Covered, held-out, the fall between them, and held-out against the task model, which saw no case.

        Of the scheme `all`, which holds nothing out: test cases, and every two configurations compared.
        """
        outcomes = {name: SuiteOutcomes(self, name, plans) for name in self.configurations}
        if plans[0].scheme == "all":
            tested = {name: outcomes[name].covered[0] for name in outcomes}
            tags = {"scheme": "all", "part": TESTED}
            for name, cases in tested.items():
                yield rate("accuracy", *cases, tags={**tags, "configuration": name})
            for than, name in combinations(tested, 2):
                yield compared(tested[name], tested[than], {**tags, "configuration": name, "than": than}, seed=seed)
            return
        before = outcomes.pop(TASK)
        yield from before.scores(seed)
        for after in outcomes.values():
            yield from after.scores(seed)
            yield from after.against(before, seed)

    def task_scores(self, seed: int) -> list[Measurement]:
        """Macro F1, accuracy and ROC AUC on the test part of the task and elsewhere, every two models compared.

        `p` of a difference is from approximate randomisation (Yeh 2000) with ten thousand ways of swapping. Training
        on a suite with another mix of labels moves the threshold: macro F1 alone can rise while the texts of a label
        are no longer told apart, which the area under the ROC curve shows.
        """
        given, measurements = self.given, list[Measurement]()
        tests = {"task": (given.task, given.parts.rows("test"), "task test")}
        if given.elsewhere is not None:
            tests["elsewhere"] = given.elsewhere, np.arange(len(given.elsewhere)), "elsewhere"
        for test, (data, rows, part) in tests.items():
            asked = self.beside(test)
            if len(asked) < 2:
                continue
            has_ranks = not any(predictions.origin.params.get("hard") for predictions in asked.values())
            ranking = "roc_auc.binary" if len(data.label_names) == 2 else "roc_auc.ovr"
            draws = dict.fromkeys(METRICS, SWAPS) | ({ranking: DRAWS} if has_ranks else {})
            for name, predictions in asked.items():
                tags = {"part": part, "configuration": name}
                measurements += measure(data, predictions, rows, list(draws), tags=tags, seed=seed)
            for than, name in combinations(asked, 2):
                both, tags = (asked[name], asked[than]), {"part": part, "configuration": name, "than": than}
                measurements += [
                    paired_over_rows(data, *both, rows, metric, tags=tags, draws=swaps, seed=seed)
                    for metric, swaps in draws.items()
                ]
        return measurements


def compared(after: Cases, before: Cases, tags: Mapping[str, Any], slice: str = "all", seed: int = 42) -> Measurement:
    """`difference.accuracy` on the same cases: interval and `p` by templates, `p.mcnemar` exact by cases.

    The exact binomial test is the published one; it takes cases to be independent, which siblings are not.
    """
    row = difference("accuracy", after[0], *before, slice=slice, tags=tags, seed=seed)
    return replace(row, tags=dict(row.tags) | {"p.mcnemar": mcnemar(after[0] == 1, before[0] == 1)})


@dataclass(frozen=True, eq=False)
class SuiteOutcomes:
    """Right or wrong on the test cases of all plans of a scheme, of one configuration."""

    lessons: Lessons
    configuration: str
    plans: Sequence[HoldoutPlan]

    @property
    def tags(self) -> dict[str, Any]:
        """What tells its rows apart."""
        return {"scheme": self.plans[0].scheme, "configuration": self.configuration}

    @cached_property
    def covered(self) -> list[Cases]:
        """Covered cases of each plan."""
        return [self.lessons.cases(self.configuration, plan, COVERED) for plan in self.plans]

    @cached_property
    def held_out(self) -> list[Cases]:
        """Held-out cases of each plan."""
        return [self.lessons.cases(self.configuration, plan, HELD_OUT) for plan in self.plans]

    def scores(self, seed: int) -> Iterator[Measurement]:
        """Covered, held-out, and the fall from one to the other."""
        held_out = rate("accuracy", *pooled(self.held_out), tags=self.tags | {"part": HELD_OUT})
        known = [float(right.mean()) for right, _ in self.covered if len(right)]
        if not known:
            yield held_out
            return
        score, all_covered, drawn = float(np.mean(known)), pooled(self.covered), self._drawn(seed)
        low, high = percentiles(drawn[0]) or (None, None)
        if score in (0.0, 1.0):  # resamples say nothing where all is alike
            alike = rate("accuracy", *all_covered)
            low, high = alike.low, alike.high
        yield Measurement("accuracy", score, len(all_covered[0]), low, high, tags=self.tags | {"part": COVERED})
        yield held_out
        low, high = percentiles(drawn[0] - drawn[1]) or (None, None)
        value, tags = score - (held_out.value or 0.0), self.tags | {"part": HELD_OUT, "than": COVERED}
        yield Measurement("fall.accuracy", value, held_out.n, low, high, tags=tags)

    def _drawn(self, seed: int) -> tuple[Floats, Floats]:
        """Covered and held-out scores of resampled templates, the same ones for both."""
        columns = [*self.covered, pooled(self.held_out)]
        n = max(int(groups.max(initial=0)) for _, groups in columns) + 1
        # right answers and cases [templates, plans and, last, all held-out cases]
        sums = np.column_stack([np.bincount(groups, right, minlength=n) for right, groups in columns])
        sizes = np.column_stack([np.bincount(groups, minlength=n) for _, groups in columns]).astype(np.float64)
        present = sizes.any(axis=1)
        covered, held_out = [], []
        for times in times_drawn(int(present.sum()), DRAWS, generator(seed, "templates")):
            with np.errstate(invalid="ignore"):  # no template of a plan was drawn
                shares = (times @ sums[present]) / (times @ sizes[present])
                known = np.isfinite(shares[:, :-1])
                covered.append(np.where(known, shares[:, :-1], 0).sum(axis=1) / known.sum(axis=1))
            held_out.append(shares[:, -1])
        return np.concatenate(covered), np.concatenate(held_out)

    def against(self, before: SuiteOutcomes, seed: int) -> Iterator[Measurement]:
        """The difference to the task model on all held-out cases; and of each value accuracy, before, and difference.

        `p.holm` is `p`, by whole templates, adjusted for all values; `p.mcnemar.holm` is the exact test, by cases.
        """
        tags = self.tags | {"part": HELD_OUT, "than": TASK}
        yield compared(pooled(self.held_out), pooled(before.held_out), tags, seed=seed)
        apart = []
        for plan, own, reference in zip(self.plans, self.held_out, before.held_out, strict=True):
            for outcomes, cases in ((self, own), (before, reference)):
                about = outcomes.tags | {"part": HELD_OUT, "of": self.configuration}
                yield rate("accuracy", *cases, slice=plan.name, tags=about)
            apart.append(compared(own, reference, tags, plan.name, seed))
        yield from with_holm(with_holm(apart), "p.mcnemar")


def pooled(parts: Sequence[Cases]) -> Cases:
    """The cases of several plans together."""
    rights, templates = zip(*parts, strict=True)
    return np.concatenate(rights), np.concatenate(templates)


class Changes:
    """How the probability of the gold label changed on task rows that nothing was trained on, by training on `all`."""

    def __init__(self, lessons: Lessons) -> None:
        given, asked = lessons.given, lessons.beside("task")
        self.data, self.rows = given.task, given.judged
        self.configuration = BOTH if BOTH in asked else SUITE
        self.gold = self.data.labels[self.rows]
        self.parts = np.where(np.isin(self.rows, given.parts.rows("dev")), "dev", "test")
        places, both = (np.arange(len(self.rows)), self.gold), (asked[TASK], asked[self.configuration])
        self.before, self.after = (aligned(self.data, predictions, self.rows)[places] for predictions in both)
        self.apart = self.after - self.before

    @property
    def by_label(self) -> dict[str, Mask]:
        """Which rows have each label."""
        return {name: self.gold == code for code, name in enumerate(self.data.label_names)}

    def means(self, seed: int = 42) -> list[Measurement]:
        """`change.gold_probability`: the mean change, of each label too, with an interval over rows."""
        measurements, tags = [], {"part": "task", "configuration": self.configuration, "than": TASK}
        slices = {"all": np.ones(len(self.gold), bool)} | {f"label={name}": at for name, at in self.by_label.items()}
        for name, where in slices.items():
            if n := int(where.sum()):
                values = self.apart[where]
                drawn = [times @ values / n for times in times_drawn(n, DRAWS, generator(seed, "rows"))]
                low, high = percentiles(np.concatenate(drawn)) or (None, None)
                mean = float(values.mean())
                measurements.append(Measurement("change.gold_probability", mean, n, low, high, name, tags))
        return measurements

    def write(self, path: Path, texts: bool) -> None:
        """For each label the largest falls and rises, none that is zero, as CSV; the texts only when asked for."""
        lines = []
        for label, where in self.by_label.items():
            places = np.flatnonzero(where)
            order = places[np.argsort(self.apart[places], kind="stable")]
            falls = [place for place in order[:MOST] if self.apart[place] < 0]
            rises = [place for place in order[::-1][:MOST] if self.apart[place] > 0]
            for direction, chosen in (("fall", falls), ("rise", rises)):
                for rank, place in enumerate(chosen, start=1):
                    row, numbers = int(self.rows[place]), (self.before, self.after, self.apart)
                    line = [label, direction, rank, self.data.ids[row].as_py(), str(self.parts[place])]
                    line += [round(float(values[place]), 6) for values in numbers]
                    line += [self.data.texts[row].as_py()] if texts else []
                    lines.append([harmless(cell) if isinstance(cell, str) else cell for cell in line])
        write_rows(path, [*CHANGES, *(["text"] if texts else [])], lines)
